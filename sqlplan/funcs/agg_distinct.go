package funcs

import (
	"math"
	"math/bits"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

var distinctAggregates = []*Aggregate{
	aggregate("approx_count_distinct", "approx_count_distinct(expr[, relativeSD])", "Estimated number of distinct values (HyperLogLog).", aggSpec{
		sig: signature{params: []param{pAny, pDouble}, min: 1}, build: buildApproxDistinct,
	}).anyOrder(),
}

func buildApproxDistinct(_ *Session, args []Arg, _ []schema.Type) (*BoundAggregate, error) {
	rsd := 0.05
	if len(args) == 2 {
		if args[1].Const == nil {
			return nil, errNotFoldable(callText("approx_count_distinct", args), "relativeSD", tDouble, args[1])
		}
		if args[1].Type.IsNumeric() && args[1].Type.Kind != schema.Float32 && !args[1].Const.IsNull(0) {
			rsd = numberAt(args[1].Const, 0)
		}
	}
	p := int(math.Ceil(2 * math.Log2(1.106/rsd)))
	if p < 4 || p > 24 {
		return nil, errMismatch("VALUE_OUT_OF_RANGE", callText("approx_count_distinct", args), "The `relativeSD` must allow at least 4 bits and at most 24.", nil)
	}
	empty := column.FromValues(tBinary, string(make([]byte, 1<<p)))
	registers := func(st *States, g int32) []byte {
		if st.Values[0].IsNull(g) {
			st.Values[0].Set(g, empty, 0)
		}
		v, r := st.Values[0].Value(g)
		return v.Str(r)
	}
	return &BoundAggregate{
		Result: tBigint, State: []StateColumn{{"registers", tBinary, StateValue}},
		Update: func(_ *Ctx, st *States, groups, rows []int32, vs []*vector) {
			for k, r := range rows {
				if vs[0].IsNull(int(r)) {
					continue
				}
				h := uint64(hashValue(xxhash{}, vs[0], int(r), 42))
				rank := byte(bits.LeadingZeros64(h<<p|1<<(p-1)) + 1)
				if reg := registers(st, groups[k]); reg[h>>(64-p)] < rank {
					reg[h>>(64-p)] = rank
				}
			}
		},
		Merge: func(_ *Ctx, st *States, groups, rows []int32, other *States) {
			for k, r := range rows {
				v, at := other.Values[0].Value(r)
				if at < 0 {
					continue
				}
				reg := registers(st, groups[k])
				for i, x := range v.Str(at) {
					reg[i] = max(reg[i], x)
				}
			}
		},
		Finish: func(_ *Ctx, st *States, groups []int32, out *vector) {
			for _, g := range groups {
				n := 0.0
				if v, at := st.Values[0].Value(g); at >= 0 {
					n = estimate(v.Str(at), p)
				}
				out.I64 = append(out.I64, int64(math.Round(n)))
				out.Len++
			}
		},
	}, nil
}

// estimate is linear counting while many registers are empty, and the
// improved estimator over the histogram of the registers beyond.
func estimate(reg []byte, p int) float64 {
	m := float64(len(reg))
	var count [66]float64
	for _, x := range reg {
		count[x]++
	}
	if count[0] > 0 {
		if n := m * math.Log(m/count[0]); n <= 2.5*m/4*3 {
			return n
		}
	}
	q := 64 - p
	z := m * tau(1-count[q+1]/m)
	for k := q; k >= 1; k-- {
		z = 0.5 * (z + count[k])
	}
	z += m * sigma(count[0]/m)
	return m * m / (2 * math.Ln2 * z)
}

func tau(x float64) float64 {
	if x == 0 || x == 1 {
		return 0
	}
	y, z := 1.0, 1-x
	for {
		x = math.Sqrt(x)
		before := z
		y *= 0.5
		z -= (1 - x) * (1 - x) * y
		if before == z {
			return z / 3
		}
	}
}

func sigma(x float64) float64 {
	if x == 1 {
		return math.Inf(1)
	}
	y, z := 1.0, x
	for {
		x *= x
		before := z
		z += x * y
		y += y
		if before == z {
			return z
		}
	}
}
