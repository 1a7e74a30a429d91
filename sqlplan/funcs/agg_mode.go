package funcs

import (
	"math"
	"slices"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

func buildMode(_ *Session, args []Arg, types []schema.Type) (*BoundAggregate, error) {
	sign := 0
	if len(args) > 1 {
		var err error
		if sign, err = modeSign(args); err != nil {
			return nil, err
		}
	}
	return collector(types[0], []int{0}, types, func(_ *Ctx, st *States, g int32, out *vector) {
		v, rows := st.Lists[0].Rows(g, nil)
		if best := mostFrequent(v, rows, sign); best >= 0 {
			column.AppendRow(out, v, int(best))
			return
		}
		out.AppendNull()
	}), nil
}

// modeSign reads the second argument: true asks for the smallest of the most
// frequent values, false for any. A third one, which the binder makes of WITHIN
// GROUP, asks for the greatest.
func modeSign(args []Arg) (int, error) {
	a := args[1]
	switch {
	case a.Const == nil:
		return 0, errNotConstant("mode", "deterministic", tBool)
	case a.Const.IsNull(0):
		return 0, errMismatch("UNEXPECTED_NULL", callText("mode", args), "The `deterministic` must not be null.", map[string]string{"exprName": "`deterministic`"})
	case len(args) == 3 && args[2].Const.Bool[0]:
		return 1, nil
	case a.Const.Bool[0]:
		return -1, nil
	}
	return 0, nil
}

// mostFrequent is a row with the most frequent value, or -1: with sign the
// smallest or greatest of several, without the one that comes first in Spark's
// hash table.
func mostFrequent(v *vector, rows []int32, sign int) int32 {
	slices.SortStableFunc(rows, func(a, b int32) int { return column.Compare(v, int(a), v, int(b)) })
	var firsts, most []int32 // of the values, of the most frequent ones
	bestN := 0
	for i := 0; i < len(rows); {
		from := i
		for i++; i < len(rows) && column.Compare(v, int(rows[from]), v, int(rows[i])) == 0; i++ {
		}
		firsts = append(firsts, rows[from])
		if i-from > bestN {
			bestN, most = i-from, most[:0]
		}
		if i-from == bestN {
			most = append(most, rows[from])
		}
	}
	switch {
	case len(most) == 0:
		return -1
	case sign > 0:
		return most[len(most)-1]
	case sign < 0 || len(most) == 1 || !hasJavaHash(v.Type.Kind):
		return most[0]
	}
	isMost := map[int32]bool{}
	for _, r := range most {
		isMost[r] = true
	}
	for _, r := range openHashOrder(v, firsts) {
		if isMost[r] {
			return r
		}
	}
	panic("bug: funcs: mode lost its value")
}

// openHashOrder gives rows of different values in the order of Spark's
// OpenHashMap: a power of two of slots, at most 70 % full, squares as probes.
func openHashOrder(v *vector, rows []int32) []int32 {
	slots, used := make([]int32, 64), 0
	insert := func(r int32) {
		mask := uint32(len(slots) - 1)
		at := uint32(fmix(mixH(0, mixK(javaHash(v, int(r)))), 4)) & mask
		for step := uint32(1); slots[at] != 0; step++ {
			at = (at + step) & mask
		}
		slots[at] = r + 1
	}
	for _, r := range rows {
		insert(r)
		if used++; used > len(slots)*7/10 {
			old := slots
			slots = make([]int32, 2*len(old))
			for _, s := range old {
				if s != 0 {
					insert(s - 1)
				}
			}
		}
	}
	out := make([]int32, 0, used)
	for _, s := range slots {
		if s != 0 {
			out = append(out, s-1)
		}
	}
	return out
}

// hasJavaHash says whether javaHash knows values of a kind.
func hasJavaHash(k schema.Kind) bool {
	switch k {
	case schema.Boolean, schema.Int8, schema.Int16, schema.Int32, schema.Int64, schema.Date, schema.Timestamp, schema.TimestampNTZ,
		schema.Float32, schema.Float64, schema.String, schema.YearMonthInterval, schema.DayTimeInterval:
		return true
	default:
		return false
	}
}

// javaHash is the hash code of a boxed value, of text Spark's own.
func javaHash(v *vector, i int) uint32 {
	fold := func(x uint64) uint32 { return uint32(x ^ x>>32) }
	switch v.Type.Kind {
	case schema.Boolean:
		if v.Bool[i] {
			return 1231
		}
		return 1237
	case schema.Float32:
		return math.Float32bits(v.F32[i])
	case schema.Float64:
		return fold(math.Float64bits(v.F64[i]))
	case schema.String:
		return uint32(murmur3{}.bytes(v.Str(i), 42))
	case schema.Int64, schema.Timestamp, schema.TimestampNTZ, schema.DayTimeInterval:
		return fold(uint64(v.I64[i]))
	default:
		return uint32(intAt(v, i))
	}
}

// checkMode refuses what is no truth value in place of the second argument.
func checkMode(_ *Session, _ string, args []Arg) error {
	if len(args) < 2 || args[1].Type.Kind == schema.Boolean || args[1].Type.Kind == schema.Void {
		return nil
	}
	a := args[1]
	return NewError("UNEXPECTED_INPUT_TYPE", "The second parameter of function `mode` requires the \"BOOLEAN\" type, however \""+a.Text+"\" has the type "+quoteType(a.Type)+".",
		map[string]string{"functionName": "`mode`", "paramIndex": "second", "requiredType": `"BOOLEAN"`, "inputSql": `"` + a.Text + `"`, "inputType": quoteType(a.Type)})
}
