package funcs

import (
	"sort"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

var histogramAggregates = []*Aggregate{
	aggregate("histogram_numeric", "histogram_numeric(expr, nb)", "Histogram of nb bins whose centres follow the data.", aggSpec{
		sig: signature{params: []param{pHistogram, pInt}}, build: buildHistogram,
	}),
}

// pHistogram takes what has a place on a line.
var pHistogram = param{`("NUMERIC" or "DATE" or "TIMESTAMP" or "ANSI INTERVAL")`, func(s *Session, t schema.Type) (schema.Type, bool) {
	if isTemporal(t) || t.Kind == schema.YearMonthInterval || t.Kind == schema.DayTimeInterval {
		return t, true
	}
	return pNumeric.take(s, t)
}}

// bin is one bin: the mean of its values and how many there are.
type bin struct{ x, y float64 }

func buildHistogram(_ *Session, args []Arg, types []schema.Type) (*BoundAggregate, error) {
	n, ok := constInt(args[1])
	if !ok {
		return nil, errNotFoldable(callText("histogram_numeric", args), "nb", tInt, args[1])
	}
	if n < 2 {
		return nil, errMismatch("VALUE_OUT_OF_RANGE", callText("histogram_numeric", args), "The `nb` must be at least 2 (current value = "+intLiteral(n, tInt)+").", nil)
	}
	item := schema.StructOf(schema.Field{Name: "x", Type: types[0], Nullable: true}, schema.Field{Name: "y", Type: tDouble, Nullable: true})
	b := collector(schema.ArrayOf(item, true), []int{0}, types, func(_ *Ctx, st *States, g int32, out *vector) {
		v, rows := st.Lists[0].Rows(g, nil)
		if len(rows) == 0 {
			out.AppendNull()
			return
		}
		h := newHistogram(int(n))
		for _, r := range rows {
			h.add(anyNumber(v, int(r)))
		}
		appendBins(out, h.bins)
	})
	return b, nil
}

// histogram is the one of Ben-Haim and Tom-Tov as Spark keeps it: ties between
// pairs are broken by a generator of a fixed seed.
type histogram struct {
	bins  []bin
	limit int
	r     *javaRandom
}

func newHistogram(limit int) *histogram { return &histogram{limit: limit, r: newJavaRandom(31183)} }

// add puts a value into the bins; when there are too many, the two nearest
// become one.
func (h *histogram) add(x float64) {
	at := sort.Search(len(h.bins), func(i int) bool { return h.bins[i].x >= x })
	if at < len(h.bins) && h.bins[at].x == x {
		h.bins[at].y++
		return
	}
	h.bins = append(h.bins, bin{})
	copy(h.bins[at+1:], h.bins[at:])
	h.bins[at] = bin{x, 1}
	for len(h.bins) > h.limit {
		h.join()
	}
}

// join makes one bin of the two that are nearest.
func (h *histogram) join() {
	best, least, ties := 0, h.bins[1].x-h.bins[0].x, 1
	for i := 1; i+1 < len(h.bins); i++ {
		d := h.bins[i+1].x - h.bins[i].x
		if d < least {
			best, least, ties = i, d, 1
			continue
		}
		if d == least {
			if ties++; h.r.double() <= 1/float64(ties) {
				best = i
			}
		}
	}
	a, b := h.bins[best], h.bins[best+1]
	n := a.y + b.y
	x := a.x * (a.y / n)
	x += b.x / n * b.y
	h.bins[best] = bin{x, n}
	h.bins = append(h.bins[:best+1], h.bins[best+2:]...)
}

func appendBins(out *vector, bins []bin) {
	item := out.Children[0]
	for _, b := range bins {
		x := item.Children[0]
		switch x.Type.Kind {
		case schema.Float64:
			column.AppendValue(x, b.x)
		case schema.Float32:
			column.AppendValue(x, float32(b.x))
		case schema.Decimal:
			x.AppendNull()
			if v, err := decimalOfFloat(b.x, x.Type); err == nil {
				x.Nulls.Unset(x.Len - 1)
				setDecimal(x, x.Len-1, v)
			}
		default:
			column.AppendValue(x, int64(b.x))
		}
		column.AppendValue(item.Children[1], b.y)
		item.EndStruct()
	}
	out.EndList()
}
