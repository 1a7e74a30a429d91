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
		var bins []bin
		for _, r := range rows {
			bins = addToBins(bins, anyNumber(v, int(r)), int(n))
		}
		appendBins(out, bins)
	})
	return b, nil
}

// addToBins puts a value into the bins; when there are too many, the two
// nearest become one.
func addToBins(bins []bin, x float64, limit int) []bin {
	at := sort.Search(len(bins), func(i int) bool { return bins[i].x >= x })
	if at < len(bins) && bins[at].x == x {
		bins[at].y++
		return bins
	}
	bins = append(bins, bin{})
	copy(bins[at+1:], bins[at:])
	bins[at] = bin{x, 1}
	if len(bins) <= limit {
		return bins
	}
	best := 0
	for i := 1; i+1 < len(bins); i++ {
		if bins[i+1].x-bins[i].x < bins[best+1].x-bins[best].x {
			best = i
		}
	}
	a, b := bins[best], bins[best+1]
	bins[best] = bin{(a.x*a.y + b.x*b.y) / (a.y + b.y), a.y + b.y}
	return append(bins[:best+1], bins[best+2:]...)
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
