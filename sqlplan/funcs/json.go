package funcs

import (
	"errors"
	"strings"

	"pipelines/tables/codec/json"
	"pipelines/tables/codec/record"
	"pipelines/tables/codec/variant"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

var jsonFunctions = []*Function{
	custom("from_json", "json", "from_json(jsonStr, schema[, options])", "Value of a JSON text by a schema.", bindFromJSON).
		example(`SELECT from_json('{"a":1, "b":0.8}', 'a INT, b DOUBLE')`, `{"a":1,"b":0.8}`),
	custom("to_json", "json", "to_json(expr[, options])", "JSON text of a struct, array, map or variant.", bindToJSON).
		example("SELECT to_json(named_struct('a', 1, 'b', 2))", `{"a":1,"b":2}`),
	custom("schema_of_json", "json", "schema_of_json(json[, options])", "Type of a JSON text in DDL.", bindSchemaOfJSON).
		example(`SELECT schema_of_json('[{"col":0}]')`, "ARRAY<STRUCT<col: BIGINT>>"),
	define("get_json_object", "json", "get_json_object(json_txt, path)", "What stands at a path in a JSON text.", signature{
		params: []param{pOnlyString, pOnlyString}, result: tString, mayNull: true, kernel: getJSONKernel,
	}).example(`SELECT get_json_object('{"a":"b"}', '$.a')`, "b"),
	define("json_array_length", "json", "json_array_length(jsonArray)", "Number of elements of a JSON array; NULL for anything else.", signature{
		params: []param{pOnlyString}, result: tInt, mayNull: true,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			r := c.jsonReader()
			c.live(out, func(i int) {
				n, ok := r.Length(args[0].Str(i))
				if out.I32[i] = int32(n); !ok {
					out.SetNull(i)
				}
			})
		},
	}).example("SELECT json_array_length('[1,2,3,4]')", "4"),
	define("json_object_keys", "json", "json_object_keys(json_object)", "Keys of a JSON object; NULL for anything else.", signature{
		params: []param{pOnlyString}, result: schema.ArrayOf(tString, true), mayNull: true,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			r, keys := c.jsonReader(), out.Children[0]
			c.appendLists(out, func(i int) {
				start := keys.Len
				if !r.Fields(args[0].Str(i), func(name, _ []byte, _ bool) { keys.AppendStr(name) }) {
					keys.Truncate(start)
					out.SetNull(i)
				}
			})
		},
	}).example(`SELECT json_object_keys('{"f1":"abc","f2":{"f3":"a"}}')`, `["f1","f2"]`),
}

// pathOptions is what the functions of paths take: single quotes and control
// characters in texts.
var pathOptions = &json.Options{AllowSingleQuotes: true, AllowUnquotedControlChars: true}

func (c *Ctx) jsonReader() *json.Reader {
	r, ok := c.Scratch.(*json.Reader)
	if !ok {
		r = json.NewReader(pathOptions)
		c.Scratch = r
	}
	return r
}

// pathReader is the scratch of get_json_object.
type pathReader struct {
	r     *json.Reader
	text  string
	path  json.Path
	valid bool // the text is a path
	used  bool
}

func getJSONKernel(c *Ctx, args []*vector, out *vector) {
	p, ok := c.Scratch.(*pathReader)
	if !ok {
		p = &pathReader{r: json.NewReader(pathOptions)}
		c.Scratch = p
	}
	c.appendRows(out, func(i int, b []byte) []byte {
		if s := args[1].Str(i); !p.used || p.text != string(s) {
			p.text, p.used = string(s), true
			p.path, p.valid = json.ParsePath(p.text)
		}
		if !p.valid {
			out.SetNull(i)
			return b
		}
		b, ok := p.r.Get(b, args[0].Str(i), p.path)
		if !ok {
			out.SetNull(i)
		}
		return b
	})
}

// optionMap reads a constant map of options.
func optionMap(a Arg) (map[string]string, error) {
	if a.Const == nil || a.Type.Kind != schema.Map {
		return nil, NewError("INVALID_OPTIONS.NON_MAP_FUNCTION", "Invalid options: Must use the `map()` function for options.", nil)
	}
	if a.Type.Key.Kind != schema.String || a.Type.Elem.Kind != schema.String {
		return nil, NewError("INVALID_OPTIONS.NON_STRING_TYPE", "Invalid options: A type of keys and values in `map()` must be string, but got "+quoteType(a.Type)+".",
			map[string]string{"mapType": quoteType(a.Type)})
	}
	out := map[string]string{}
	if a.Const.IsNull(0) {
		return out, nil
	}
	from, to := a.Const.List(0)
	for k := from; k < to; k++ {
		if !a.Const.Children[1].IsNull(k) {
			out[string(a.Const.Children[0].Str(k))] = string(a.Const.Children[1].Str(k))
		}
	}
	return out, nil
}

// restOptions reads the options behind argument n, if there are any.
func restOptions(args []Arg, n int) (map[string]string, error) {
	if len(args) <= n {
		return nil, nil
	}
	return optionMap(args[n])
}

// textOptions adds to the options of a JSON or CSV function what the session
// sets for all of them.
func (s *Session) textOptions(options map[string]string) map[string]string {
	out := map[string]string{}
	for key, name := range map[string]string{
		"spark.sql.columnNameOfCorruptRecord":      "columnNameOfCorruptRecord",
		"spark.sql.jsonGenerator.ignoreNullFields": "ignoreNullFields",
	} {
		if v, ok := s.Conf[key]; ok {
			out[strings.ToLower(name)] = v
		}
	}
	for k, v := range options {
		out[strings.ToLower(k)] = v
	}
	return out
}

// parseMode checks the mode of from_json and from_csv.
func parseMode(name string, options map[string]string) error {
	for k, v := range options {
		if strings.EqualFold(k, "mode") && strings.EqualFold(v, "DROPMALFORMED") {
			return NewError("PARSE_MODE_UNSUPPORTED", "The function `"+name+"` doesn't support the DROPMALFORMED mode. Acceptable modes are PERMISSIVE and FAILFAST.",
				map[string]string{"funcName": "`" + name + "`", "mode": "DROPMALFORMED"})
		}
	}
	return nil
}

func errOption(err error) error {
	return NewError("INVALID_OPTIONS", "Invalid options: "+err.Error()+".", nil)
}

// schemaArg reads the type that a constant text gives.
func schemaArg(s *Session, a Arg) (schema.Type, error) {
	ddl, ok := constString(a)
	if !ok {
		return schema.Type{}, NewError("INVALID_SCHEMA.NON_STRING_LITERAL", `The input schema "`+a.Text+
			`" is not a valid schema string. The input expression must be string literal and not null.`, map[string]string{"inputSchema": `"` + a.Text + `"`})
	}
	return parseType(s, ddl)
}

func parseType(s *Session, ddl string) (schema.Type, error) {
	if strings.HasPrefix(strings.TrimSpace(ddl), "{") {
		if t, err := schema.ParseTypeJSON(ddl); err == nil {
			return t, nil
		}
	}
	if s.DDL == nil {
		return schema.Type{}, NewError("FEATURE_NOT_AVAILABLE", "A type as text cannot be read here.", nil)
	}
	t, err := s.DDL(ddl)
	if err != nil {
		return t, err
	}
	return t, nil
}

// nullable makes all that is inside t nullable.
func nullable(t schema.Type) schema.Type {
	switch t.Kind {
	case schema.Array:
		return schema.ArrayOf(nullable(*t.Elem), true)
	case schema.Map:
		return schema.MapOf(nullable(*t.Key), nullable(*t.Elem), true)
	case schema.Struct:
		fields := make([]schema.Field, len(t.Fields))
		for i, f := range t.Fields {
			f.Type, f.Nullable = nullable(f.Type), true
			fields[i] = f
		}
		t.Fields = fields
	}
	return t
}

// firstOnly prints a call whose other arguments are settings.
func firstOnly(name string) func([]string) string {
	return func(a []string) string { return name + "(" + a[0] + ")" }
}

// stringArg checks that argument 0 is a text.
func stringArg(name string, args []Arg) error {
	if t := args[0].Type; t.Kind != schema.String && t.Kind != schema.Void {
		return errInputType(callText(name, args), 0, `"STRING"`, args[0])
	}
	return nil
}

// textArgs are the types of a call of a text with settings.
func textArgs(args []Arg) []schema.Type {
	out := []schema.Type{tString}
	for _, a := range args[1:] {
		out = append(out, a.Type)
	}
	return out
}

func bindFromJSON(s *Session, args []Arg) (*Bound, error) {
	const name = "from_json"
	if err := checkCount(name, 2, 3, len(args)); err != nil {
		return nil, err
	}
	t, err := schemaArg(s, args[1])
	if err != nil {
		return nil, err
	}
	options, err := restOptions(args, 2)
	if err != nil {
		return nil, err
	}
	if err := stringArg(name, args); err != nil {
		return nil, err
	}
	if err := checkJSONType(name, args, t); err != nil {
		return nil, err
	}
	if err := parseMode(name, options); err != nil {
		return nil, err
	}
	o, err := json.ParseOptions(s.textOptions(options))
	if err != nil {
		return nil, errOption(err)
	}
	if o.Zone == nil {
		o.Zone = s.zone()
	}
	t = nullable(t)
	b := &Bound{Args: textArgs(args), Result: t, Nullable: true, Nulls: NullAware, CanFail: true, Print: firstOnly(name)}
	if t.Kind == schema.Map {
		b.Print = func([]string) string { return "entries" }
	}
	if t.Kind == schema.Variant {
		b.Kernel = parseJSONKernel(o.Mode != record.FailFast)
		b.Nulls = NullIfAny
		return b, nil
	}
	if _, err := json.NewDecoder(t, o); err != nil {
		return nil, errDecoder(err)
	}
	b.Kernel = fromJSONKernel(t, o)
	return b, nil
}

func errUnsupportedType(message string) error {
	return NewError("UNSUPPORTED_DATATYPE", "Unsupported data type: "+message+".", nil)
}

// checkJSONType checks that JSON can stand for t at the top.
func checkJSONType(name string, args []Arg, t schema.Type) error {
	switch t.Kind {
	case schema.Struct, schema.Array, schema.Variant:
		return nil
	case schema.Map:
		if t.Key.Kind != schema.String {
			return errMismatch("INVALID_JSON_MAP_KEY_TYPE", callText(name, args), "Input schema "+quoteType(t)+" can only contain STRING as a key type for a MAP.",
				map[string]string{"schema": quoteType(t)})
		}
		return nil
	}
	return errMismatch("INVALID_JSON_SCHEMA", callText(name, args), "Input schema "+quoteType(t)+" must be a struct, an array, a map or a variant.",
		map[string]string{"schema": quoteType(t)})
}

func errMalformed(record []byte) *Error {
	bad := string(record)
	return NewError("MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION",
		"Malformed records are detected in record parsing: "+bad+". Parse Mode: FAILFAST. To process malformed records as null result, try setting the option 'mode' as 'PERMISSIVE'.",
		map[string]string{"badRecord": bad, "failFastMode": "FAILFAST"})
}

func fromJSONKernel(t schema.Type, o json.Options) Kernel {
	return func(c *Ctx, args []*vector, out *vector) {
		d, ok := c.Scratch.(*json.Decoder)
		if !ok {
			var err error
			if d, err = json.NewDecoder(t, o); err != nil {
				panic("bug: funcs: a decoder that was planned cannot be made: " + err.Error())
			}
			c.Scratch = d
		}
		out.Resize(0)
		d.Bind(out)
		var failed []badRow
		v, next := args[0], 0
		c.Each(func(i int) {
			for ; next < i; next++ {
				d.AppendNull()
			}
			next++
			if v.IsNull(i) {
				d.AppendNull()
				return
			}
			blank, err := d.Decode(v.Str(i))
			var bad *record.Error
			switch {
			case errors.As(err, &bad):
				failed = append(failed, badRow{i, errMalformed(v.Str(i))})
			case err != nil:
				panic("bug: funcs: " + err.Error())
			}
			if (blank || err != nil) && d.Rows() < next {
				d.AppendNull()
			}
		})
		for ; next < c.Rows; next++ {
			d.AppendNull()
		}
		d.Finish()
		for _, b := range failed {
			c.Fail(out, b.row, b.err)
		}
	}
}

func bindToJSON(s *Session, args []Arg) (*Bound, error) {
	const name = "to_json"
	if err := checkCount(name, 1, 2, len(args)); err != nil {
		return nil, err
	}
	options, err := restOptions(args, 1)
	if err != nil {
		return nil, err
	}
	t := args[0].Type
	switch t.Kind {
	case schema.Struct, schema.Array, schema.Map, schema.Variant:
	default:
		return nil, errMismatch("INVALID_JSON_SCHEMA", callText(name, args), "Input schema "+quoteType(t)+" must be a struct, an array, a map or a variant.",
			map[string]string{"schema": quoteType(t)})
	}
	texts := s.textOptions(options)
	pretty := strings.EqualFold(texts["pretty"], "true")
	if pretty {
		delete(texts, "pretty")
	}
	o, err := json.ParseOptions(texts)
	if err != nil {
		return nil, errOption(err)
	}
	if o.Zone == nil {
		o.Zone = s.zone()
	}
	if _, err := json.NewEncoder(t, o); err != nil {
		return nil, errMismatch("CANNOT_CONVERT_TO_JSON", callText(name, args), err.Error()+".", nil)
	}
	return &Bound{Args: argTypes(args), Result: tString, Nullable: args[0].Nullable, Nulls: NullAware, Print: firstOnly(name), Kernel: toJSONKernel(t, o, pretty)}, nil
}

// argTypes are the types of the arguments as they are.
func argTypes(args []Arg) []schema.Type {
	out := make([]schema.Type, len(args))
	for i, a := range args {
		out[i] = a.Type
	}
	return out
}

func toJSONKernel(t schema.Type, o json.Options, pretty bool) Kernel {
	return func(c *Ctx, args []*vector, out *vector) {
		e, ok := c.Scratch.(*json.Encoder)
		if !ok {
			var err error
			if e, err = json.NewEncoder(t, o); err != nil {
				panic("bug: funcs: an encoder that was planned cannot be made: " + err.Error())
			}
			zone := c.Session.zone()
			e.Variant = func(dst, value, metadata []byte) []byte { return variant.AppendJSON(dst, value, metadata, zone) }
			if pretty { // a variant is not laid out
				e.Variant = func(dst, value, metadata []byte) []byte {
					return append(variant.AppendJSON(append(dst, 0), value, metadata, zone), 0)
				}
			}
			c.Scratch = e
		}
		c.nullWhere(out, args[0])
		v := args[0]
		if v.Const {
			v = column.Flatten(c.Pool, v)
			defer v.Release()
		}
		if !pretty {
			c.appendRows(out, func(i int, b []byte) []byte { return e.Append(b, v, i) })
			return
		}
		var compact []byte
		c.appendRows(out, func(i int, b []byte) []byte {
			compact = e.Append(compact[:0], v, i)
			return json.AppendPretty(b, compact)
		})
	}
}

func bindSchemaOfJSON(s *Session, args []Arg) (*Bound, error) {
	const name = "schema_of_json"
	if err := checkCount(name, 1, 2, len(args)); err != nil {
		return nil, err
	}
	options, err := restOptions(args, 1)
	if err != nil {
		return nil, err
	}
	rec, err := sampleArg(name, "json", args)
	if err != nil {
		return nil, err
	}
	o, err := json.ParseOptions(options)
	if err != nil {
		return nil, errOption(err)
	}
	if o.Zone == nil {
		o.Zone = s.zone()
	}
	t, err := json.TypeOf([]byte(rec), o)
	if err != nil {
		return nil, errMalformed([]byte(rec))
	}
	return constantText(name, args, t.SQL()), nil
}

// sampleArg gives the constant text of schema_of_json and schema_of_csv.
func sampleArg(name, input string, args []Arg) (string, error) {
	a, call := args[0], callText(name, args)
	if a.Const == nil {
		return "", errNotFoldable(call, input, tString, a)
	}
	if a.Const.IsNull(0) {
		return "", errMismatch("UNEXPECTED_NULL", call, "The `"+input+"` must not be null.", map[string]string{"exprName": "`" + input + "`"})
	}
	if err := stringArg(name, args); err != nil {
		return "", err
	}
	return string(a.Const.Str(0)), nil
}

// constantText is a call whose value is known.
func constantText(name string, args []Arg, value string) *Bound {
	return &Bound{
		Args: argTypes(args), Result: tString, Nulls: NullAware, Print: firstOnly(name),
		Kernel: func(c *Ctx, _ []*vector, out *vector) {
			c.appendRows(out, func(_ int, b []byte) []byte { return append(b, value...) })
		},
	}
}
