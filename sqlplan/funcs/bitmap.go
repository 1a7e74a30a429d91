package funcs

import (
	"math/bits"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// Bitmaps are binaries of 4096 bytes: one bit for each of the 32768 positions
// of a bucket.
const bitmapBits = 32768

var bitmapFunctions = []*Function{
	define("bitmap_bit_position", "misc", "bitmap_bit_position(child)", "Position of a number in its bucket's bitmap, from 0.", signature{
		params: []param{pBigint}, result: tBigint,
		kernel: unary(i64s, i64s, func(x int64) int64 {
			if x > 0 {
				return (x - 1) % bitmapBits
			}
			return -x % bitmapBits
		}),
	}).example("SELECT bitmap_bit_position(1)", "0"),
	define("bitmap_bucket_number", "misc", "bitmap_bucket_number(child)", "Number of the bucket of a number.", signature{
		params: []param{pBigint}, result: tBigint,
		kernel: unary(i64s, i64s, func(x int64) int64 {
			if x > 0 {
				return 1 + (x-1)/bitmapBits
			}
			return x / bitmapBits
		}),
	}).example("SELECT bitmap_bucket_number(123)", "1"),
	define("bitmap_count", "misc", "bitmap_count(child)", "Number of bits that are set.", signature{
		params: []param{{`"BINARY"`, func(_ *Session, t schema.Type) (schema.Type, bool) {
			return tBinary, t.Kind == schema.Binary || t.Kind == schema.Void
		}}}, result: tBigint,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.live(out, func(i int) {
				n := 0
				for _, x := range args[0].Str(i) {
					n += bits.OnesCount8(x)
				}
				out.I64[i] = int64(n)
			})
		},
	}).example("SELECT bitmap_count(X'1010')", "2"),
}

var bitmapAggregates = []*Aggregate{
	bitmapAggregate("bitmap_construct_agg", "Bitmap of the positions.", pBigint, func(b []byte, v *vector, r int) *Error {
		p := v.I64[r]
		if p < 0 || p >= bitmapBits {
			return NewError("INVALID_BITMAP_POSITION", "The 0-indexed bitmap position "+intLiteral(p, tInt)+" is out of bounds. The bitmap has 32768 bits (4096 bytes).",
				map[string]string{"bitPosition": intLiteral(p, tInt), "bitmapNumBytes": "4096", "bitmapNumBits": "32768"})
		}
		b[p/8] |= 1 << (p % 8)
		return nil
	}),
	bitmapAggregate("bitmap_or_agg", "Union of bitmaps.", exactly(tBinary), func(b []byte, v *vector, r int) *Error {
		for k, x := range v.Str(r) {
			if k < len(b) {
				b[k] |= x
			}
		}
		return nil
	}),
	bitmapAggregate("bitmap_and_agg", "Intersection of bitmaps.", exactly(tBinary), func(b []byte, v *vector, r int) *Error {
		s := v.Str(r)
		for k := range b {
			if k < len(s) {
				b[k] &= s[k]
			} else {
				b[k] = 0
			}
		}
		return nil
	}),
}

// bitmapAggregate folds values into one bitmap; bitmap_and_agg starts full.
func bitmapAggregate(name, doc string, p param, fold func(b []byte, v *vector, r int) *Error) *Aggregate {
	and := name == "bitmap_and_agg"
	start := make([]byte, bitmapBits/8)
	for i := range start {
		if and {
			start[i] = 0xff
		}
	}
	empty := column.FromValues(tBinary, string(start))
	bitmap := func(st *States, g int32) []byte {
		if st.Values[0].IsNull(g) {
			st.Values[0].Set(g, empty, 0)
		}
		v, r := st.Values[0].Value(g)
		return v.Str(r)
	}
	return aggregate(name, name+"(child)", doc, aggSpec{
		sig: signature{params: []param{p}},
		build: func(*Session, []Arg, []schema.Type) (*BoundAggregate, error) {
			return &BoundAggregate{
				Result: tBinary, State: []StateColumn{{"bitmap", tBinary, StateValue}, {"failed", tBigint, StateFixed}},
				Update: func(_ *Ctx, st *States, groups, rows []int32, vs []*vector) {
					each(vs[0], groups, rows, func(g, r int) {
						if err := fold(bitmap(st, int32(g)), vs[0], r); err != nil {
							st.Fixed[1].I64[g]++
						}
					})
				},
				Merge: func(_ *Ctx, st *States, groups, rows []int32, other *States) {
					for k, r := range rows {
						st.Fixed[1].I64[groups[k]] += other.Fixed[1].I64[r]
						v, at := other.Values[0].Value(r)
						if at < 0 {
							continue
						}
						b := bitmap(st, groups[k])
						for i, x := range v.Str(at) {
							if and {
								b[i] &= x
							} else {
								b[i] |= x
							}
						}
					}
				},
				Finish: func(_ *Ctx, st *States, groups []int32, out *vector) {
					for _, g := range groups {
						out.AppendStr(bitmap(st, g))
						if st.Fixed[1].I64[g] > 0 {
							out.Fail(out.Len-1, NewError("INVALID_BITMAP_POSITION", "A bitmap position is out of bounds. The bitmap has 32768 bits (4096 bytes).", nil))
						}
					}
				},
			}, nil
		},
	})
}
