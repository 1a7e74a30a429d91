package funcs

import (
	"errors"
	"strings"

	"pipelines/tables/codec/csv"
	"pipelines/tables/codec/record"
	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

var csvFunctions = []*Function{
	custom("from_csv", "csv", "from_csv(csvStr, schema[, options])", "Struct of a CSV text by a schema.", bindFromCSV).
		example("SELECT from_csv('1, 0.8', 'a INT, b DOUBLE')", `{"a":1,"b":0.8}`),
	custom("to_csv", "csv", "to_csv(struct[, options])", "CSV text of a struct.", bindToCSV).
		example("SELECT to_csv(named_struct('a', 1, 'b', 2))", "1,2"),
	custom("schema_of_csv", "csv", "schema_of_csv(csv[, options])", "Type of a CSV text in DDL.", bindSchemaOfCSV).
		example("SELECT schema_of_csv('1,abc')", "STRUCT<_c0: INT, _c1: STRING>"),
}

// csvOptions reads the options behind argument n.
func csvOptions(s *Session, name string, args []Arg, n int) (csv.Options, error) {
	options, err := restOptions(args, n)
	if err != nil {
		return csv.Options{}, err
	}
	if name == "from_csv" {
		if err := parseMode(name, options); err != nil {
			return csv.Options{}, err
		}
	}
	o, err := csv.ParseOptions(s.textOptions(options))
	if err != nil {
		return o, errOption(err)
	}
	if o.Zone == nil {
		o.Zone = s.zone()
	}
	o.Binary = text.BinaryStyle(strings.ToUpper(s.conf("spark.sql.binaryOutputStyle", "")))
	return o, nil
}

func bindFromCSV(s *Session, args []Arg) (*Bound, error) {
	const name = "from_csv"
	if err := checkCount(name, 2, 3, len(args)); err != nil {
		return nil, err
	}
	t, err := schemaArg(s, args[1])
	if err != nil {
		return nil, err
	}
	if err := stringArg(name, args); err != nil {
		return nil, err
	}
	if t.Kind != schema.Struct {
		return nil, NewError("INVALID_SCHEMA.NON_STRUCT_TYPE", `The input schema "`+args[1].Text+`" is not a valid schema string. The input expression should be evaluated to struct type, but got `+
			quoteType(t)+".", map[string]string{"inputSchema": `"` + args[1].Text + `"`, "dataType": quoteType(t)})
	}
	o, err := csvOptions(s, name, args, 2)
	if err != nil {
		return nil, err
	}
	o.Header = false
	t = nullable(t)
	columns := schema.Schema{Fields: t.Fields}
	if _, err := csv.NewDecoder(columns, columns, o); err != nil {
		return nil, errDecoder(err)
	}
	return &Bound{
		Args: textArgs(args), Result: t, Nullable: true, Nulls: NullAware, CanFail: true, Print: firstOnly(name), Kernel: fromCSVKernel(columns, o),
	}, nil
}

// csvReader is the scratch of from_csv.
type csvReader struct {
	d      *csv.Decoder
	failed []badRow
}

func fromCSVKernel(columns schema.Schema, o csv.Options) Kernel {
	return func(c *Ctx, args []*vector, out *vector) {
		r, ok := c.Scratch.(*csvReader)
		if !ok {
			d, err := csv.NewDecoder(columns, columns, o)
			if err != nil {
				panic("bug: funcs: a decoder that was planned cannot be made: " + err.Error())
			}
			r = &csvReader{d: d}
			c.Scratch = r
		}
		v := args[0]
		r.failed = r.failed[:0]
		place := c.Pool.Vector(tInt)
		place.Resize(c.Rows)
		for i := range place.I32 {
			place.I32[i] = -1
		}
		rows := c.Pool.Vector(out.Type)
		r.d.BindColumns(rows.Children)
		c.Each(func(i int) {
			if v.IsNull(i) {
				return
			}
			before := r.d.Rows()
			err := r.d.Decode(v.Str(i))
			var bad *record.Error
			switch {
			case errors.As(err, &bad):
				r.failed = append(r.failed, badRow{i, errMalformed(v.Str(i))})
			case err != nil:
				panic("bug: funcs: " + err.Error())
			case r.d.Rows() > before:
				place.I32[i] = int32(before)
			}
		})
		r.d.Finish()
		rows.Len = r.d.Rows()
		column.Gather(out, rows, place.I32)
		rows.Release()
		place.Release()
		for _, b := range r.failed {
			c.Fail(out, b.row, b.err)
		}
	}
}

func bindToCSV(s *Session, args []Arg) (*Bound, error) {
	const name = "to_csv"
	if err := checkCount(name, 1, 2, len(args)); err != nil {
		return nil, err
	}
	o, err := csvOptions(s, name, args, 1)
	if err != nil {
		return nil, err
	}
	t := args[0].Type
	unsupported := t.Kind != schema.Struct
	for _, f := range t.Fields {
		unsupported = unsupported || hasKind(f.Type, schema.Variant)
	}
	if unsupported {
		return nil, errMismatch("UNSUPPORTED_INPUT_TYPE", callText(name, args), "The input of `"+name+"` can't be "+quoteType(t)+" type data.",
			map[string]string{"functionName": "`" + name + "`", "dataType": quoteType(t)})
	}
	if _, err := csv.NewEncoder(o); err != nil {
		return nil, errOption(err)
	}
	return &Bound{
		Args: argTypes(args), Result: tString, Nullable: args[0].Nullable, Nulls: NullAware, Print: firstOnly(name),
		Kernel: func(c *Ctx, args []*vector, out *vector) {
			e, ok := c.Scratch.(*csv.Encoder)
			if !ok {
				var err error
				if e, err = csv.NewEncoder(o); err != nil {
					panic("bug: funcs: an encoder that was planned cannot be made: " + err.Error())
				}
				c.Scratch = e
			}
			c.nullWhere(out, args[0])
			v := args[0]
			if v.Const {
				v = column.Flatten(c.Pool, v)
				defer v.Release()
			}
			c.appendRows(out, func(i int, b []byte) []byte { return e.AppendRow(b, v.Children, i) })
		},
	}, nil
}

// hasKind reports whether a type of that kind is in t.
func hasKind(t schema.Type, k schema.Kind) bool {
	switch t.Kind {
	case k:
		return true
	case schema.Array:
		return hasKind(*t.Elem, k)
	case schema.Map:
		return hasKind(*t.Key, k) || hasKind(*t.Elem, k)
	case schema.Struct:
		for _, f := range t.Fields {
			if hasKind(f.Type, k) {
				return true
			}
		}
	}
	return false
}

func bindSchemaOfCSV(s *Session, args []Arg) (*Bound, error) {
	const name = "schema_of_csv"
	if err := checkCount(name, 1, 2, len(args)); err != nil {
		return nil, err
	}
	o, err := csvOptions(s, name, args, 1)
	if err != nil {
		return nil, err
	}
	rec, err := sampleArg(name, "csv", args)
	if err != nil {
		return nil, err
	}
	if rec == "" {
		return nil, NewError("INTERNAL_ERROR", "The text of `schema_of_csv` is empty.", nil)
	}
	t, err := csv.TypeOf([]byte(rec), o)
	if err != nil {
		return nil, errMalformed([]byte(rec))
	}
	return constantText(name, args, t.SQL()), nil
}
