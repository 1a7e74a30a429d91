package schema

import (
	"errors"
	"strings"
	"testing"
)

// wide has one field of each kind.
func wide() Schema {
	var fields []Field
	add := func(t Type) {
		fields = append(fields, Field{Name: "c" + string(rune('a'+len(fields))), Type: t, Nullable: len(fields)%2 == 0})
	}
	for k := Void; k <= DayTimeInterval; k++ {
		add(Of(k))
	}
	add(DecimalOf(38, 38))
	add(Type{Kind: DayTimeInterval, From: Hour, To: Minute})
	add(Type{Kind: YearMonthInterval, From: Year, To: Year})
	add(Of(Variant))
	add(Type{Kind: String, Length: 3})
	add(Type{Kind: String, Length: 4, Char: true})
	add(ArrayOf(MapOf(Of(String), StructOf(Field{Name: "x y", Type: ArrayOf(Of(Int8), false)}), true), true))
	add(StructOf())
	fields[3].Comment = "a \"comment\" <b>"
	fields[4].Metadata = map[string]string{"delta.k": `{"a":[1,2]}`, "z": "null"}
	return Schema{Fields: fields}
}

func TestJSONRoundTrip(t *testing.T) {
	s := wide()
	text := s.JSON()
	got, err := ParseJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	if !got.Equal(s) || got.JSON() != text {
		t.Errorf("read back as\n%s\nwant\n%s", got.JSON(), text)
	}
	if got.Fields[3].Comment != s.Fields[3].Comment || got.Fields[4].Metadata["delta.k"] != `{"a":[1,2]}` {
		t.Errorf("comment or metadata lost: %+v", got.Fields[3:5])
	}
}

func TestJSONForm(t *testing.T) {
	s := Schema{Fields: []Field{
		{Name: "id", Type: Of(Int64)},
		{Name: "a", Type: ArrayOf(Of(Int32), true), Nullable: true, Comment: "c"},
		{Name: "v", Type: Type{Kind: String, Length: 5}, Nullable: true},
	}}
	want := `{"type":"struct","fields":[{"name":"id","type":"long","nullable":false,"metadata":{}},` +
		`{"name":"a","type":{"type":"array","elementType":"integer","containsNull":true},"nullable":true,"metadata":{"comment":"c"}},` +
		`{"name":"v","type":"string","nullable":true,"metadata":{"__CHAR_VARCHAR_TYPE_STRING":"varchar(5)"}}]}`
	if got := s.JSON(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestJSONErrors(t *testing.T) {
	deep := strings.Repeat(`{"type":"array","containsNull":true,"elementType":`, 200) + `"long"` + strings.Repeat("}", 200)
	for _, text := range []string{"", "1", `"long"`, `"string`, `{}`, `{"type":"struct","fields":[{"type":"long"}]}`,
		`{"type":"struct","fields":[{"name":"a","type":"lng"}]}`, `{"type":"struct","fields":[{"name":"a","type":"decimal(39,1)"}]}`,
		`{"type":"struct","fields":[{"name":"a","type":"decimal(1,2)"}]}`, `{"type":"struct","fields":[{"name":"a","type":"interval day to year"}]}`,
		`{"type":"struct","fields":[{"name":"a","type":"interval month to day"}]}`,
		`{"type":"struct","fields":[{"name":"a"}]}`, `{"type":"array"}`, `{"type":"map","keyType":"long"}`, deep} {
		if s, err := ParseJSON(text); err == nil {
			t.Errorf("%.60s was read as %s", text, s.DDL())
		}
	}
}

func FuzzParseJSON(f *testing.F) {
	f.Add(wide().JSON())
	f.Add(`{"type":"struct","fields":[{"name":"a","type":"decimal( 1,2)","nullable":true,"metadata":{"comment":null}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseJSON(text)
		if err != nil {
			return
		}
		again, err := ParseJSON(s.JSON())
		if err != nil || !again.Equal(s) {
			t.Errorf("%s\nbecame %s (%v)", text, s.JSON(), err)
		}
	})
}

func TestMerge(t *testing.T) {
	field := func(name string, t Type) Field { return Field{Name: name, Type: t} }
	of := func(fields ...Field) Schema { return Schema{Fields: fields} }
	f := func(l, r Schema, want string) {
		t.Helper()
		got, err := Merge(l, r)
		text := got.DDL()
		if e, ok := errors.AsType[*MergeError](err); ok {
			text = "error " + e.Error()
		}
		if text != want {
			t.Errorf("got  %s\nwant %s", text, want)
		}
	}
	st := func(fields ...Field) Type { return StructOf(fields...) }
	f(of(field("a", Of(Int32)), field("B", Of(String))), of(field("b", Of(String)), field("A", Of(Int32)), field("c", Of(Date))),
		"a INT NOT NULL, B STRING NOT NULL, c DATE")
	f(of(field("a", Of(Int32))), of(Field{Name: "a", Type: Of(Int32), Nullable: true}), "a INT")
	f(of(field("a", Of(Int32))), of(field("a", Of(Int64))), "error column a cannot change its type from INT to BIGINT")
	f(of(field("a", DecimalOf(5, 2))), of(field("a", DecimalOf(9, 2))), "a DECIMAL(9,2) NOT NULL")
	f(of(field("a", DecimalOf(9, 2))), of(field("a", DecimalOf(5, 2))), "a DECIMAL(9,2) NOT NULL")
	f(of(field("a", DecimalOf(9, 2))), of(field("a", DecimalOf(9, 3))), "error column a cannot change its type from DECIMAL(9,2) to DECIMAL(9,3)")
	f(of(field("s", st(field("x", Of(Int32))))), of(field("S", st(field("y", Of(Int32)), field("X", Of(Int32))))),
		"s STRUCT<x: INT NOT NULL, y: INT> NOT NULL")
	f(of(field("a", ArrayOf(st(field("x", Of(Int32))), false))), of(field("a", ArrayOf(st(field("x", Of(String))), false))),
		"error column a.element.x cannot change its type from INT to STRING")
	f(of(field("m", MapOf(Of(String), Of(Int32), false))), of(field("m", MapOf(Of(String), Of(Float32), false))),
		"error column m.value cannot change its type from INT to FLOAT")
	f(of(field("s", st(field("x", Of(Int32))))), of(field("s", Of(String))), "error column s cannot change its type from STRUCT<x: INT NOT NULL> to STRING")
}
