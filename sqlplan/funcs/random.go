package funcs

import (
	"encoding/binary"
	"math"

	"pipelines/tables/schema"
)

// generator makes random numbers from a seed and a row number, so that a batch
// that runs again gives the same values.
type generator struct{ state uint64 }

func newGenerator(c *Ctx, seed int64, i int) generator {
	g := generator{uint64(c.Seed)*0x9E3779B97F4A7C15 ^ uint64(seed)}
	g.next()
	g.state ^= uint64(c.Row+int64(i)) * 0xD1B54A32D192ED03
	return g
}

func (g *generator) next() uint64 {
	g.state += 0x9E3779B97F4A7C15
	z := g.state
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// javaRandom is Spark's generator for calls with a seed: numbers follow each
// other as in java.util.Random over XORShift (or over Java's own steps).
type javaRandom struct {
	state uint64
	plain bool // Java's steps
	spare float64
	saved bool
}

// xorShift is Spark's generator of a seed.
func xorShift(seed int64) *javaRandom {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(seed))
	low := murmurBytes(b[:], 0x3c074a61)
	return &javaRandom{state: uint64(murmurBytes(b[:], low))<<32 | uint64(low)}
}

// newJavaRandom is java.util.Random of a seed.
func newJavaRandom(seed int64) *javaRandom {
	return &javaRandom{state: (uint64(seed) ^ 0x5DEECE66D) & (1<<48 - 1), plain: true}
}

// murmurBytes is the usual 32-bit Murmur3 of texts whose length is a multiple
// of four.
func murmurBytes(s []byte, seed uint32) uint32 {
	h, n := seed, uint32(len(s))
	for ; len(s) >= 4; s = s[4:] {
		h = mixH(h, mixK(binary.LittleEndian.Uint32(s)))
	}
	return uint32(fmix(h, n))
}

// next returns n random bits, at most 32.
func (r *javaRandom) next(n int) int32 {
	if r.plain {
		r.state = (r.state*0x5DEECE66D + 0xB) & (1<<48 - 1)
		return int32(r.state >> (48 - n))
	}
	x := r.state ^ r.state<<21
	x ^= x >> 35
	x ^= x << 4
	r.state = x
	return int32(uint32(x & (1<<n - 1)))
}

func (r *javaRandom) double() float64 {
	hi := int64(r.next(26)) << 27
	return float64(hi+int64(r.next(27))) / (1 << 53)
}

// gaussian is the polar method, which makes two numbers at a time.
func (r *javaRandom) gaussian() float64 {
	if r.saved {
		r.saved = false
		return r.spare
	}
	for {
		u, v := 2*r.double()-1, 2*r.double()-1
		if s := u*u + v*v; s < 1 && s != 0 {
			m := math.Sqrt(-2 * math.Log(s) / s)
			r.spare, r.saved = v*m, true
			return u * m
		}
	}
}

// randomSeed is the seed that a call was written with.
type randomSeed struct {
	value int64
	given bool
}

// readSeed reads argument i, which may be absent: without a seed each call
// draws other numbers, NULL is 0.
func readSeed(name string, args []Arg, i int) (randomSeed, error) {
	if i >= len(args) {
		return randomSeed{}, nil
	}
	a := args[i]
	if !a.Type.IsInteger() && a.Type.Kind != schema.Void {
		return randomSeed{}, errInputType(callText(name, args), i, `("INT" or "BIGINT")`, a)
	}
	if err := foldableSeed(callText(name, args), args[i:]); err != nil && i == 0 {
		return randomSeed{}, err
	}
	if a.Const == nil {
		return randomSeed{}, errNotFoldable(callText(name, args), "seed", tBigint, a)
	}
	v, _ := constInt(a)
	return randomSeed{v, true}, nil
}

// seededRows is what a call site keeps between batches of an epoch.
type seededRows[R any] struct {
	r    R
	site int64
}

// seededOf is the generator of a call site with a seed, which starts anew with
// each epoch and each round.
func seededOf[R any](c *Ctx, seed int64, start func(seed int64) R) R {
	kept, _ := c.Scratch.(*seededRows[R])
	if kept == nil || kept.site != c.Seed {
		kept = &seededRows[R]{start(seed + int64(c.Partition) + c.Round), c.Seed}
		c.Scratch = kept
	}
	return kept.r
}

// each calls f with the numbers of each row: those of a seed follow each other
// from the start of the epoch (as each micro-batch of Spark starts anew), the
// others come from the call site and the row, so that a batch that runs again
// gives the same.
func (s randomSeed) each(c *Ctx, rows func(f func(i int)), f func(i int, r *javaRandom)) {
	if !s.given {
		r := &javaRandom{}
		rows(func(i int) {
			g := newGenerator(c, 0, i)
			r.state = g.next() | 1
			f(i, r)
			r.saved = false
		})
		return
	}
	r := seededOf(c, s.value, xorShift)
	rows(func(i int) { f(i, r) })
}

func random(name, doc string, f func(*javaRandom) float64) *Function {
	return custom(name, "math", name+"([seed])", doc, func(_ *Session, args []Arg) (*Bound, error) {
		if err := checkCount(name, 0, 1, len(args)); err != nil {
			return nil, err
		}
		seed, err := readSeed(name, args, 0)
		if err != nil {
			return nil, err
		}
		b := &Bound{Result: tDouble, Nulls: NullAware}
		for _, a := range args {
			b.Args = append(b.Args, a.Type)
		}
		b.Kernel = func(c *Ctx, _ []*vector, out *vector) {
			seed.each(c, c.Each, func(i int, r *javaRandom) { out.F64[i] = f(r) })
		}
		return b, nil
	}).volatility(Volatile)
}

func appendUUID(b []byte, hi, lo uint64) []byte {
	hi = hi&^0xf000 | 0x4000
	lo = lo&^(3<<62) | 2<<62
	var raw [16]byte
	binary.BigEndian.PutUint64(raw[:8], hi)
	binary.BigEndian.PutUint64(raw[8:], lo)
	const lower = "0123456789abcdef"
	for i, c := range raw {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			b = append(b, '-')
		}
		b = append(b, lower[c>>4], lower[c&15])
	}
	return b
}

// uniformFunction is uniform(min, max[, seed]): integers for integer bounds.
func uniformFunction() *Function {
	return custom("uniform", "math", "uniform(min, max[, seed])", "Random number between two constants.", func(s *Session, args []Arg) (*Bound, error) {
		if err := checkCount("uniform", 2, 3, len(args)); err != nil {
			return nil, err
		}
		b := &Bound{Nulls: NullAware, Nullable: true}
		for i, a := range args[:2] {
			if a.Const == nil {
				return nil, errNotFoldable(callText("uniform", args), [...]string{"min", "max"}[i], tInt, a)
			}
			if !a.Type.IsNumeric() && a.Type.Kind != schema.Void {
				return nil, errInputType(callText("uniform", args), i, `("INTEGRAL" or "FLOAT" or "DOUBLE")`, a)
			}
		}
		seed, err := readSeed("uniform", args, 2)
		if err != nil {
			return nil, err
		}
		for _, a := range args {
			b.Args = append(b.Args, a.Type)
		}
		b.Result = uniformType(s, args[0].Type, args[1].Type)
		lo, hi := args[0].Const, args[1].Const
		if lo.IsNull(0) || hi.IsNull(0) {
			b.Kernel = func(c *Ctx, _ []*vector, out *vector) { c.Each(out.SetNull) }
			return b, nil
		}
		b.Kernel = uniformKernel(anyNumber(lo, 0), anyNumber(hi, 0), seed)
		return b, nil
	}).volatility(Volatile)
}

// uniformType is the type of the numbers between two bounds: of NULL a double,
// beside a FLOAT or DECIMAL that type.
func uniformType(s *Session, a, b schema.Type) schema.Type {
	switch {
	case a.Kind == schema.Void || b.Kind == schema.Void || a.Kind == schema.Float64 || b.Kind == schema.Float64:
		return tDouble
	case a.Kind == schema.Float32 || b.Kind == schema.Float32:
		return typ(schema.Float32)
	case a.Kind == schema.Decimal && b.IsInteger():
		return a
	case b.Kind == schema.Decimal && a.IsInteger():
		return b
	}
	t, _ := CommonType(s, a, b)
	return t
}

func uniformKernel(lo, hi float64, seed randomSeed) Kernel {
	return func(c *Ctx, _ []*vector, out *vector) {
		seed.each(c, c.Each, func(i int, r *javaRandom) {
			x := lo + r.double()*(hi-lo)
			switch t := out.Type; t.Kind {
			case schema.Float64:
				out.F64[i] = x
			case schema.Float32:
				out.F32[i] = float32(x)
			case schema.Decimal:
				if v, err := decimalOfFloat(x, t); err == nil {
					setDecimal(out, i, v)
				}
			default:
				setInt(out, i, int64(x))
			}
		})
	}
}

// randstrFunction is randstr(length[, seed]).
func randstrFunction() *Function {
	return custom("randstr", "string", "randstr(length[, seed])", "Random text of letters and digits.", func(_ *Session, args []Arg) (*Bound, error) {
		if err := checkCount("randstr", 1, 2, len(args)); err != nil {
			return nil, err
		}
		n, err := randstrLength(args)
		if err != nil {
			return nil, err
		}
		seed, err := readSeed("randstr", args, 1)
		if err != nil {
			return nil, err
		}
		b := &Bound{Result: tString, Nulls: NullAware}
		for _, a := range args {
			b.Args = append(b.Args, a.Type)
		}
		b.Kernel = func(c *Ctx, _ []*vector, out *vector) {
			var to []byte
			rows := func(f func(i int)) {
				c.appendRows(out, func(i int, b []byte) []byte {
					to = b
					f(i)
					return to
				})
			}
			seed.each(c, rows, func(_ int, r *javaRandom) {
				for range n {
					v := r.next(32) % 62
					to = append(to, randomLetters[max(v, -v)])
				}
			})
		}
		return b, nil
	}).volatility(Volatile)
}

const randomLetters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

func randstrLength(args []Arg) (int64, error) {
	a := args[0]
	if !a.Type.IsNumeric() && a.Type.Kind != schema.Void {
		return 0, errInputType(callText("randstr", args), 0, `"INT"`, a)
	}
	if a.Const == nil {
		return 0, errNotFoldable(callText("randstr", args), "length", tInt, a)
	}
	if a.Const.IsNull(0) {
		return 0, nil
	}
	n := int64(anyNumber(a.Const, 0))
	if n < 0 {
		return 0, errParam("LENGTH", "length", "randstr", "the length must be non-negative, but got "+intLiteral(n, tInt)+".", map[string]string{"length": intLiteral(n, tInt)})
	}
	if n > maxText {
		return 0, errTextSize(n)
	}
	return n, nil
}
