package funcs

import "pipelines/tables/schema"

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
	assertTrue(),
	sessionText("current_catalog", func(s *Session) string { return s.Catalog }),
	sessionText("current_database", func(s *Session) string { return s.Database }).alias("current_schema"),
	sessionText("current_path", func(s *Session) string { return "system.builtin,system.session," + s.Catalog + "." + s.Database }),
	custom("collation", "string", "collation(expr)", "Name of a text's collation.", bindCollation).example("SELECT collation('Spark')", "SYSTEM.BUILTIN.UTF8_BINARY"),
	sessionText("current_user", func(s *Session) string { return s.User }).alias("user", "session_user"),
	sessionText("current_timezone", func(s *Session) string { return s.zone().String() }),
	sessionText("version", func(*Session) string { return "4.3.0 pipelines" }),
	random("rand", "Random number in [0, 1).", (*javaRandom).double).alias("random"),
	random("randn", "Random number of the standard normal distribution.", (*javaRandom).gaussian),
	uniformFunction(), randstrFunction(),
	uuidFunction(),
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

// assertTrue is assert_true(expr[, message]): the message names the condition.
func assertTrue() *Function {
	f := define("assert_true", "misc", "assert_true(expr[, message])", "Fails unless the condition is true.", signature{
		params: []param{pOnlyBool, pString}, min: 1, result: tVoid, nulls: NullAware, canFail: true,
	}).volatility(Volatile).example("SELECT assert_true(0 < 1)", "NULL")
	bind := f.Bind
	f.Bind = func(s *Session, args []Arg) (*Bound, error) {
		b, err := bind(s, args)
		if err != nil {
			return nil, err
		}
		b.Kernel = assertKernel("'" + args[0].Text + "' is not true!")
		return b, nil
	}
	return f
}

func assertKernel(message string) Kernel {
	return func(c *Ctx, args []*vector, out *vector) {
		c.Each(func(i int) {
			if v := args[0]; !v.IsNull(i) && v.Bool[v.Row(i)] {
				out.SetNull(i)
				return
			}
			text := message
			if len(args) == 2 && !args[1].IsNull(i) {
				text = string(args[1].Str(i))
			}
			c.Fail(out, i, errRaised(text))
		})
	}
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
