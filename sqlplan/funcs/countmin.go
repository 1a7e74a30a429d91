package funcs

import (
	"encoding/binary"
	"math"

	"pipelines/tables/schema"
)

var sketchAggregates = []*Aggregate{
	aggregate("count_min_sketch", "count_min_sketch(col, eps, confidence, seed)", "Count-min sketch of the values, as bytes.", aggSpec{
		sig: signature{params: []param{pCounted, pDouble, pDouble, pInt}}, build: buildCountMin,
	}),
}

var pCounted = param{`("INTEGRAL" or "STRING" or "BINARY")`, func(_ *Session, t schema.Type) (schema.Type, bool) {
	return t, t.IsInteger() || t.Kind == schema.String || t.Kind == schema.Binary
}}

// countMin is Spark's count-min sketch in its first serial version.
type countMin struct {
	depth, width int
	factors      []int64
	table        []int64
	total        int64
}

func buildCountMin(_ *Session, args []Arg, types []schema.Type) (*BoundAggregate, error) {
	call := callText("count_min_sketch", args)
	var num [4]float64
	for k, name := range [...]string{1: "eps", 2: "confidence", 3: "seed"} {
		if k == 0 {
			continue
		}
		a := args[k]
		if a.Const == nil {
			return nil, errNotFoldable(call, name, tDouble, a)
		}
		if a.Const.IsNull(0) || !a.Type.IsNumeric() {
			return nil, errMismatch("UNEXPECTED_NULL", call, "The `"+name+"` must not be null.", map[string]string{"exprName": "`" + name + "`"})
		}
		num[k] = anyNumber(a.Const, 0)
	}
	if !(num[1] > 0) {
		return nil, errValueRange(call, "eps", "(0.0, 1.79769313486231570e+308]", args[1].Text)
	}
	if !(num[2] > 0 && num[2] < 1) {
		return nil, errValueRange(call, "confidence", "(0.0, 1.0)", args[2].Text)
	}
	if cells := 2 / num[1] * -math.Log(1-num[2]) / math.Ln2; cells > maxElements>>2 {
		return nil, errTooManyElements("count_min_sketch", int64(min(cells, 1<<62)))
	}
	b := collector(tBinary, []int{0}, types, func(_ *Ctx, st *States, g int32, out *vector) {
		s := newCountMin(num[1], num[2], int64(num[3]))
		st.Lists[0].Each(g, s.add)
		out.AppendStr(s.bytes())
	})
	b.Nullable = false
	return b, nil
}

func newCountMin(eps, confidence float64, seed int64) *countMin {
	s := &countMin{width: int(math.Ceil(2 / eps)), depth: int(math.Ceil(-math.Log(1-confidence) / math.Ln2))}
	s.table = make([]int64, s.width*s.depth)
	state := (uint64(seed) ^ 0x5DEECE66D) & (1<<48 - 1) // Java's Random
	for len(s.factors) < s.depth {
		for {
			state = (state*0x5DEECE66D + 0xB) & (1<<48 - 1)
			bits := int32(state >> 17)
			v := bits % math.MaxInt32
			if bits-v+(math.MaxInt32-1) >= 0 {
				s.factors = append(s.factors, int64(v))
				break
			}
		}
	}
	return s
}

func (s *countMin) add(v *vector, r int) {
	s.total++
	if v.Type.IsInteger() {
		x := intAt(v, r)
		for i, f := range s.factors {
			h := f * x
			h += h >> 32
			h &= math.MaxInt32
			s.table[i*s.width+int(int32(h)%int32(s.width))]++
		}
		return
	}
	h1 := int32(murmur3{}.bytes(v.Str(r), 0))
	h2 := int32(murmur3{}.bytes(v.Str(r), int64(h1)))
	for i := range s.depth {
		at := (h1 + int32(i)*h2) % int32(s.width)
		s.table[i*s.width+int(max(at, -at))]++
	}
}

func (s *countMin) bytes() []byte {
	b := binary.BigEndian.AppendUint32(nil, 1)
	b = binary.BigEndian.AppendUint64(b, uint64(s.total))
	b = binary.BigEndian.AppendUint32(b, uint32(s.depth))
	b = binary.BigEndian.AppendUint32(b, uint32(s.width))
	for _, f := range s.factors {
		b = binary.BigEndian.AppendUint64(b, uint64(f))
	}
	for _, n := range s.table {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	return b
}
