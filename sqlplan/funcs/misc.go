package funcs

import (
	"encoding/binary"
	"math"

	"pipelines/tables/schema"
)

var miscFunctions = []*Function{
	define("typeof", "misc", "typeof(expr)", "Name of the type.", signature{
		params: []param{pAny}, result: tString, nulls: NullAware, neverNull: true,
		pick: func(_ *Session, types []schema.Type) Kernel {
			name := types[0].String()
			return func(c *Ctx, _ []*vector, out *vector) {
				c.appendRows(out, func(_ int, b []byte) []byte { return append(b, name...) })
			}
		},
	}).example("SELECT typeof(1)", "int"),
	define("raise_error", "misc", "raise_error(message)", "Fails with the message.", signature{
		params: []param{pString}, result: tVoid, nulls: NullAware, canFail: true,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.Each(func(i int) {
				message := "null"
				if !args[0].IsNull(i) {
					message = string(args[0].Str(i))
				}
				c.Fail(out, i, errRaised(message))
			})
		},
	}).volatility(Volatile),
	define("assert_true", "misc", "assert_true(expr[, message])", "Fails unless the condition is true.", signature{
		params: []param{pBool, pString}, min: 1, result: tVoid, nulls: NullAware, canFail: true,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.Each(func(i int) {
				if v := args[0]; !v.IsNull(i) && v.Bool[v.Row(i)] {
					out.SetNull(i)
					return
				}
				message := "'expr' is not true!"
				if len(args) == 2 && !args[1].IsNull(i) {
					message = string(args[1].Str(i))
				}
				c.Fail(out, i, errRaised(message))
			})
		},
	}).volatility(Volatile).example("SELECT assert_true(0 < 1)", "NULL"),
	sessionText("current_catalog", func(s *Session) string { return s.Catalog }),
	sessionText("current_database", func(s *Session) string { return s.Database }).alias("current_schema"),
	sessionText("current_path", func(s *Session) string { return "system.builtin,system.session," + s.Catalog + "." + s.Database }),
	custom("collation", "string", "collation(expr)", "Name of a text's collation.", bindCollation).example("SELECT collation('Spark')", "SYSTEM.BUILTIN.UTF8_BINARY"),
	sessionText("current_user", func(s *Session) string { return s.User }).alias("user", "session_user"),
	sessionText("current_timezone", func(s *Session) string { return s.zone().String() }),
	sessionText("version", func(*Session) string { return "4.3.0 pipelines" }),
	random("rand", "Random number in [0, 1).", (*generator).float).alias("random"),
	random("randn", "Random number of the standard normal distribution.", (*generator).normal),
	uniformFunction(), randstrFunction(),
	define("uuid", "misc", "uuid()", "Random UUID.", signature{
		result: tString,
		kernel: func(c *Ctx, _ []*vector, out *vector) {
			c.appendRows(out, func(i int, b []byte) []byte {
				g := newGenerator(c, 0, i)
				return appendUUID(b, g.next(), g.next())
			})
		},
	}).volatility(Volatile),
	define("monotonically_increasing_id", "misc", "monotonically_increasing_id()", "Number that grows with the rows of a partition.", signature{
		result: tBigint,
		kernel: func(c *Ctx, _ []*vector, out *vector) {
			for i := range c.Rows {
				out.I64[i] = int64(c.Partition)<<33 + c.Row + int64(i)
			}
		},
	}).volatility(Volatile),
	define("spark_partition_id", "misc", "spark_partition_id()", "Number of the partition.", signature{
		result: tInt,
		kernel: func(c *Ctx, _ []*vector, out *vector) {
			for i := range c.Rows {
				out.I32[i] = int32(c.Partition)
			}
		},
	}).volatility(Volatile),
	define("input_file_name", "misc", "input_file_name()", "Path of the file that the row was read from.", signature{
		result: tString,
		kernel: func(c *Ctx, _ []*vector, out *vector) {
			c.appendRows(out, func(_ int, b []byte) []byte { return append(b, c.File.Path...) })
		},
	}).volatility(Volatile),
	fileNumber("input_file_block_start", func(f FileInfo) int64 { return f.Start }),
	fileNumber("input_file_block_length", func(f FileInfo) int64 { return f.Len }),
}

func errRaised(message string) *Error {
	return NewError("USER_RAISED_EXCEPTION", message, map[string]string{"errorMessage": message})
}

func sessionText(name string, f func(s *Session) string) *Function {
	return define(name, "misc", name+"()", "What the session says.", signature{
		result: tString,
		kernel: func(c *Ctx, _ []*vector, out *vector) {
			text := f(c.Session)
			c.appendRows(out, func(_ int, b []byte) []byte { return append(b, text...) })
		},
	}).volatility(Stable)
}

// bindCollation is the one collation that texts have here.
func bindCollation(_ *Session, args []Arg) (*Bound, error) {
	if err := checkCount("collation", 1, 1, len(args)); err != nil {
		return nil, err
	}
	if err := stringArg("collation", args); err != nil {
		return nil, err
	}
	return &Bound{Args: []schema.Type{tString}, Result: tString, Nulls: NullAware, Kernel: func(c *Ctx, _ []*vector, out *vector) {
		c.appendRows(out, func(_ int, b []byte) []byte { return append(b, "SYSTEM.BUILTIN.UTF8_BINARY"...) })
	}}, nil
}

func fileNumber(name string, f func(FileInfo) int64) *Function {
	return define(name, "misc", name+"()", "Place of the file's part that is read.", signature{
		result: tBigint,
		kernel: func(c *Ctx, _ []*vector, out *vector) {
			for i := range c.Rows {
				out.I64[i] = f(c.File)
			}
		},
	}).volatility(Volatile)
}

// generator makes random numbers from a seed and a row number, so that a batch
// that runs again gives the same values.
type generator struct{ state uint64 }

func newGenerator(c *Ctx, seed int64, i int) *generator {
	g := &generator{uint64(c.Seed)*0x9E3779B97F4A7C15 ^ uint64(seed)}
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

func (g *generator) float() float64 { return float64(g.next()>>11) / (1 << 53) }

func (g *generator) normal() float64 {
	u, v := g.float(), g.float()
	return math.Sqrt(-2*math.Log(1-u)) * math.Cos(2*math.Pi*v)
}

func random(name, doc string, f func(*generator) float64) *Function {
	return custom(name, "math", name+"([seed])", doc, func(s *Session, args []Arg) (*Bound, error) {
		if err := checkCount(name, 0, 1, len(args)); err != nil {
			return nil, err
		}
		b := &Bound{Result: tDouble, Nulls: NullAware}
		seed := int64(0)
		if len(args) == 1 {
			t := args[0].Type
			if !t.IsInteger() && t.Kind != schema.Void {
				return nil, errInputType(callText(name, args), 0, `("INT" or "BIGINT")`, args[0])
			}
			seed, _ = constInt(args[0])
			b.Args = []schema.Type{t}
		}
		b.Kernel = func(c *Ctx, _ []*vector, out *vector) {
			c.Each(func(i int) { out.F64[i] = f(newGenerator(c, seed, i)) })
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
		t := tVoid
		for i, a := range args {
			if a.Const == nil {
				return nil, errNotFoldable(callText("uniform", args), [...]string{"min", "max", "seed"}[i], tInt, a)
			}
			if !a.Type.IsNumeric() && a.Type.Kind != schema.Void {
				return nil, errInputType(callText("uniform", args), i, `("INTEGRAL" or "FLOAT" or "DOUBLE")`, a)
			}
			b.Args = append(b.Args, a.Type)
			if i < 2 {
				t, _ = CommonType(s, t, a.Type)
			}
		}
		if b.Result = t; t.Kind == schema.Void {
			b.Result = tInt
		}
		seed := int64(0)
		if len(args) == 3 {
			seed, _ = constInt(args[2])
		}
		lo, hi := args[0].Const, args[1].Const
		if lo.IsNull(0) || hi.IsNull(0) {
			b.Kernel = func(c *Ctx, _ []*vector, out *vector) { c.Each(out.SetNull) }
			return b, nil
		}
		b.Kernel = uniformKernel(anyNumber(lo, 0), anyNumber(hi, 0), seed)
		return b, nil
	}).volatility(Volatile)
}

func uniformKernel(lo, hi float64, seed int64) Kernel {
	return func(c *Ctx, _ []*vector, out *vector) {
		c.Each(func(i int) {
			x := lo + newGenerator(c, seed, i).float()*(hi-lo)
			switch t := out.Type; {
			case t.Kind == schema.Float64:
				out.F64[i] = x
			case t.Kind == schema.Float32:
				out.F32[i] = float32(x)
			case t.Kind == schema.Decimal:
				if v, err := decimalOfFloat(x, t); err == nil {
					setDecimal(out, i, v)
				}
			default:
				setInt(out, i, int64(math.Floor(x)))
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
		n, ok := constInt(args[0])
		if !ok {
			return nil, errNotFoldable(callText("randstr", args), "length", tInt, args[0])
		}
		if n < 0 {
			return nil, errValueRange(callText("randstr", args), "length", "[0, 2147483647]", intLiteral(n, tInt))
		}
		if n > maxText {
			return nil, errTextSize(n)
		}
		seed := int64(0)
		b := &Bound{Args: []schema.Type{args[0].Type}, Result: tString, Nulls: NullAware}
		if len(args) == 2 {
			if seed, ok = constInt(args[1]); !ok {
				return nil, errNotFoldable(callText("randstr", args), "seed", tBigint, args[1])
			}
			b.Args = append(b.Args, args[1].Type)
		}
		const letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		b.Kernel = func(c *Ctx, _ []*vector, out *vector) {
			c.appendRows(out, func(i int, b []byte) []byte {
				g := newGenerator(c, seed, i)
				for range n {
					b = append(b, letters[g.next()%uint64(len(letters))])
				}
				return b
			})
		}
		return b, nil
	}).volatility(Volatile)
}
