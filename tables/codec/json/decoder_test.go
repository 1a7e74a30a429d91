package json

import (
	"fmt"
	"strings"
	"testing"

	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// show prints row i of v in the shell's nested form.
func show(v *column.Vector, i int) string {
	if v.IsNull(i) {
		return "null"
	}
	switch v.Type.Kind {
	case schema.Boolean:
		return fmt.Sprint(v.Bool[i])
	case schema.Int8:
		return fmt.Sprint(v.I8[i])
	case schema.Int16:
		return fmt.Sprint(v.I16[i])
	case schema.Int32:
		return fmt.Sprint(v.I32[i])
	case schema.Int64:
		return fmt.Sprint(v.I64[i])
	case schema.Float32:
		return string(text.AppendFloat(nil, v.F32[i]))
	case schema.Float64:
		return string(text.AppendDouble(nil, v.F64[i]))
	case schema.Decimal:
		if v.Type.Precision > 18 {
			return string(text.AppendDecimal(nil, v.I128[i], v.Type.Scale))
		}
		return string(text.AppendDecimal64(nil, v.I64[i], v.Type.Scale))
	case schema.Date:
		return string(text.AppendShellDate(nil, v.I32[i]))
	case schema.Timestamp, schema.TimestampNTZ:
		return string(text.AppendShellTimestamp(nil, v.I64[i]))
	case schema.String, schema.Binary:
		return `"` + string(v.Str(i)) + `"`
	case schema.Array:
		from, to := v.List(i)
		var parts []string
		for k := from; k < to; k++ {
			parts = append(parts, show(v.Children[0], k))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case schema.Map:
		from, to := v.List(i)
		var parts []string
		for k := from; k < to; k++ {
			parts = append(parts, show(v.Children[0], k)+":"+show(v.Children[1], k))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case schema.Struct:
		var parts []string
		for k, f := range v.Type.Fields {
			parts = append(parts, `"`+f.Name+`":`+show(v.Children[k], i))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	return "?"
}

// ddl reads the small part of Spark's type language that the cases use.
type ddl struct{ s string }

func (d *ddl) word() string {
	d.s = strings.TrimLeft(d.s, " \n")
	if strings.HasPrefix(d.s, "`") {
		end := strings.IndexByte(d.s[1:], '`') + 1
		w := d.s[1:end]
		d.s = d.s[end+1:]
		return w
	}
	n := 0
	for n < len(d.s) && (d.s[n] == '_' || d.s[n] >= '0' && d.s[n] <= '9' || d.s[n]|0x20 >= 'a' && d.s[n]|0x20 <= 'z') {
		n++
	}
	w := d.s[:n]
	d.s = d.s[n:]
	return w
}

func (d *ddl) skip(c string) bool {
	d.s = strings.TrimLeft(d.s, " \n")
	if strings.HasPrefix(d.s, c) {
		d.s = d.s[len(c):]
		return true
	}
	return false
}

func (d *ddl) typ() schema.Type {
	switch w := strings.ToUpper(d.word()); w {
	case "DECIMAL":
		var p, s int
		d.skip("(")
		fmt.Sscan(d.word(), &p)
		d.skip(",")
		fmt.Sscan(d.word(), &s)
		d.skip(")")
		return schema.DecimalOf(p, s)
	case "ARRAY":
		d.skip("<")
		e := d.typ()
		d.skip(">")
		return schema.ArrayOf(e, true)
	case "MAP":
		d.skip("<")
		k := d.typ()
		d.skip(",")
		e := d.typ()
		d.skip(">")
		return schema.MapOf(k, e, true)
	case "STRUCT":
		d.skip("<")
		t := d.fields()
		d.skip(">")
		return t
	default:
		k, ok := map[string]schema.Kind{"INT": schema.Int32, "BIGINT": schema.Int64, "STRING": schema.String, "DOUBLE": schema.Float64, "FLOAT": schema.Float32,
			"BOOLEAN": schema.Boolean, "DATE": schema.Date, "TIMESTAMP": schema.Timestamp, "TIMESTAMP_NTZ": schema.TimestampNTZ, "TINYINT": schema.Int8,
			"SMALLINT": schema.Int16, "BINARY": schema.Binary}[w]
		if !ok {
			panic("ddl " + w)
		}
		return schema.Of(k)
	}
}

func (d *ddl) fields() schema.Type {
	var out []schema.Field
	for {
		name := d.word()
		d.skip(":")
		t := d.typ()
		if d.skip("NOT") {
			d.word()
		}
		out = append(out, schema.Field{Name: name, Type: t, Nullable: true})
		if !d.skip(",") {
			return schema.StructOf(out...)
		}
	}
}

func parseDDL(s string) schema.Type {
	for _, p := range []string{"ARRAY", "MAP", "STRUCT"} {
		if strings.HasPrefix(s, p+"<") {
			return (&ddl{s}).typ()
		}
	}
	return (&ddl{s}).fields()
}

// check verifies the lengths of a vector of n rows and that fields of null
// structs are null.
func check(v *column.Vector, n int) error {
	have := n
	switch column.PhysicalOf(v.Type) {
	case column.PhysBool:
		have = len(v.Bool)
	case column.PhysI64:
		have = len(v.I64)
	case column.PhysF64:
		have = len(v.F64)
	case column.PhysBytes, column.PhysList:
		have = len(v.Offsets) - 1
	}
	if have != n || v.Len != n {
		return fmt.Errorf("%s: %d rows, payload %d, want %d", v.Type, v.Len, have, n)
	}
	for _, c := range v.Children {
		rows := n
		if v.Type.Kind != schema.Struct {
			rows = int(v.Offsets[n])
		}
		if err := check(c, rows); err != nil {
			return err
		}
		for i := 0; i < n && rows == n && v.Type.Kind == schema.Struct; i++ {
			if v.IsNull(i) && !c.IsNull(i) {
				return fmt.Errorf("row %d: a field of a null struct is not null", i)
			}
		}
	}
	return nil
}

// TestNullRows mixes rows of nulls with decoded ones, as from_json does.
func TestNullRows(t *testing.T) {
	for ddl, want := range map[string]string{"a INT": `null {"a":1} null {"a":null} {"a":2}`, "ARRAY<STRUCT<a: INT>>": `null [{"a":1}] null null [{"a":2}]`, "MAP<STRING,INT>": `null {"a":1} null null {"a":2}`} {
		typ := parseDDL(ddl)
		d, err := NewDecoder(typ, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		v := column.New(typ)
		d.Bind(v)
		for _, rec := range []string{"", `{"a":1}`, " ", "bad", `{"a":2}`} {
			if blank, _ := d.Decode([]byte(rec)); blank {
				d.AppendNull()
			}
		}
		d.Finish()
		var got []string
		for i := range v.Len {
			got = append(got, show(v, i))
		}
		if s := strings.Join(got, " "); s != want || v.Len != 5 {
			t.Errorf("%s: %s, want %s", ddl, s, want)
		}
	}
}
