package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// maxJSONDepth bounds the nesting of a schema that is read.
const maxJSONDepth = 100

// charVarcharKey is the field metadata by which Spark keeps CHAR and VARCHAR,
// which are strings in a schema's JSON.
const charVarcharKey = "__CHAR_VARCHAR_TYPE_STRING"

const commentKey = "comment"

// jsonNames are the names in a schema's JSON where they differ from String.
var jsonNames = map[Kind]string{Int8: "byte", Int16: "short", Int32: "integer", Int64: "long"}

// JSON returns the schema in Spark's JSON form, as Delta's metaData and
// Parquet footers of Spark hold it.
func (s Schema) JSON() string { return s.Type().JSON() }

// JSON returns the type in Spark's JSON form; a name is in quotes.
func (t Type) JSON() string {
	var b bytes.Buffer
	t.writeJSON(&b)
	return b.String()
}

func (t Type) writeJSON(b *bytes.Buffer) {
	switch t.Kind {
	case Array:
		b.WriteString(`{"type":"array","elementType":`)
		t.Elem.writeJSON(b)
		fmt.Fprintf(b, `,"containsNull":%t}`, t.ElemNullable)
	case Map:
		b.WriteString(`{"type":"map","keyType":`)
		t.Key.writeJSON(b)
		b.WriteString(`,"valueType":`)
		t.Elem.writeJSON(b)
		fmt.Fprintf(b, `,"valueContainsNull":%t}`, t.ElemNullable)
	case Struct:
		b.WriteString(`{"type":"struct","fields":[`)
		for i, f := range t.Fields {
			if i > 0 {
				b.WriteByte(',')
			}
			f.writeJSON(b)
		}
		b.WriteString(`]}`)
	case String:
		b.WriteString(`"string"`)
	default:
		name := jsonNames[t.Kind]
		if name == "" {
			name = t.String()
		}
		writeJSONString(b, name)
	}
}

func (f Field) writeJSON(b *bytes.Buffer) {
	b.WriteString(`{"name":`)
	writeJSONString(b, f.Name)
	b.WriteString(`,"type":`)
	f.Type.writeJSON(b)
	fmt.Fprintf(b, `,"nullable":%t,"metadata":{`, f.Nullable)
	meta := maps.Clone(f.Metadata)
	if meta == nil {
		meta = map[string]string{}
	}
	if f.Comment != "" {
		meta[commentKey] = QuoteJSON(f.Comment)
	}
	if f.Type.hasLength() {
		meta[charVarcharKey] = QuoteJSON(f.Type.String())
	}
	for i, k := range slices.Sorted(maps.Keys(meta)) {
		if i > 0 {
			b.WriteByte(',')
		}
		writeJSONString(b, k)
		b.WriteByte(':')
		b.WriteString(meta[k])
	}
	b.WriteString(`}}`)
}

// hasLength reports CHAR and VARCHAR in t, but not inside struct fields, which
// carry their own metadata.
func (t Type) hasLength() bool {
	switch t.Kind {
	case String:
		return t.Length > 0
	case Array:
		return t.Elem.hasLength()
	case Map:
		return t.Key.hasLength() || t.Elem.hasLength()
	}
	return false
}

// QuoteJSON returns s as a JSON string.
func QuoteJSON(s string) string {
	var b bytes.Buffer
	writeJSONString(&b, s)
	return b.String()
}

func writeJSONString(b *bytes.Buffer, s string) {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic("bug: schema: a string has no JSON form: " + err.Error())
	}
	b.Truncate(b.Len() - 1) // the encoder's newline
}

// ParseJSON reads a schema in Spark's JSON form.
func ParseJSON(text string) (Schema, error) {
	t, err := ParseTypeJSON(text)
	if err != nil {
		return Schema{}, err
	}
	if t.Kind != Struct {
		return Schema{}, fmt.Errorf("schema is %s, want a struct", t)
	}
	return Schema{Fields: t.Fields}, nil
}

// ParseTypeJSON reads a type in Spark's JSON form.
func ParseTypeJSON(text string) (Type, error) { return parseJSON([]byte(text), 0) }

type jsonType struct {
	Type              string          `json:"type"`
	ElementType       json.RawMessage `json:"elementType"`
	ContainsNull      bool            `json:"containsNull"`
	KeyType           json.RawMessage `json:"keyType"`
	ValueType         json.RawMessage `json:"valueType"`
	ValueContainsNull bool            `json:"valueContainsNull"`
	Fields            []jsonField     `json:"fields"`
}

type jsonField struct {
	Name     *string                    `json:"name"`
	Type     json.RawMessage            `json:"type"`
	Nullable bool                       `json:"nullable"`
	Metadata map[string]json.RawMessage `json:"metadata"`
}

func parseJSON(raw []byte, depth int) (Type, error) {
	if depth > maxJSONDepth {
		return Type{}, errors.New("schema is nested too deep")
	}
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && raw[0] == '"' {
		var name string
		if err := json.Unmarshal(raw, &name); err != nil {
			return Type{}, fmt.Errorf("schema: %w", err)
		}
		return typeNamed(name)
	}
	var j jsonType
	if err := json.Unmarshal(raw, &j); err != nil {
		return Type{}, fmt.Errorf("schema: %w", err)
	}
	switch j.Type {
	case "array":
		elem, err := parseJSON(j.ElementType, depth+1)
		return ArrayOf(elem, j.ContainsNull), err
	case "map":
		key, err := parseJSON(j.KeyType, depth+1)
		if err != nil {
			return Type{}, err
		}
		value, err := parseJSON(j.ValueType, depth+1)
		return MapOf(key, value, j.ValueContainsNull), err
	case "struct":
		return parseStruct(j.Fields, depth)
	}
	return Type{}, fmt.Errorf("schema: unknown type %q", j.Type)
}

func parseStruct(in []jsonField, depth int) (Type, error) {
	fields := make([]Field, len(in))
	for i, jf := range in {
		if jf.Name == nil {
			return Type{}, errors.New("schema: a field has no name")
		}
		t, err := parseJSON(jf.Type, depth+1)
		if err != nil {
			return Type{}, fmt.Errorf("field %s: %w", *jf.Name, err)
		}
		fields[i] = Field{Name: *jf.Name, Type: t, Nullable: jf.Nullable}
		fields[i].setMetadata(jf.Metadata)
	}
	return StructOf(fields...), nil
}

// setMetadata keeps what it does not turn into the comment or a length.
func (f *Field) setMetadata(meta map[string]json.RawMessage) {
	for k, raw := range meta {
		var s string
		isString := json.Unmarshal(raw, &s) == nil && string(raw) != "null"
		if k == commentKey && isString && s != "" {
			f.Comment = s
			continue
		}
		if k == charVarcharKey && isString && f.Type.Kind == String {
			if n, char, ok := lengthOf(s); ok {
				f.Type.Length, f.Type.Char = n, char
				continue
			}
		}
		if f.Metadata == nil {
			f.Metadata = map[string]string{}
		}
		f.Metadata[k] = string(raw)
	}
}

// lengthOf reads "char(3)" and "varchar(3)".
func lengthOf(s string) (n int, char, ok bool) {
	rest, char := strings.CutPrefix(s, "char(")
	if !char {
		if rest, ok = strings.CutPrefix(s, "varchar("); !ok {
			return 0, false, false
		}
	}
	n, err := strconv.Atoi(strings.TrimSuffix(rest, ")"))
	return n, char, err == nil && n > 0 && strings.HasSuffix(rest, ")")
}

// typeNamed returns the type of a name as it stands in a schema's JSON.
func typeNamed(name string) (Type, error) {
	if rest, ok := strings.CutPrefix(name, "decimal"); ok {
		if rest == "" {
			return Of(Decimal), nil
		}
		var p, s int
		n, err := fmt.Sscanf(rest, "(%d,%d)", &p, &s)
		if err != nil || n != 2 || p < 1 || p > 38 || s < 0 || s > p || rest != fmt.Sprintf("(%d,%d)", p, s) {
			return Type{}, fmt.Errorf("schema: %q is not a decimal type", name)
		}
		return DecimalOf(p, s), nil
	}
	if name == "null" { // Spark 2's word
		return Type{}, nil
	}
	if n, char, ok := lengthOf(name); ok {
		return Type{Kind: String, Length: n, Char: char}, nil
	}
	for k := Void; k <= Variant; k++ {
		if k == Decimal || Of(k).IsNested() || k == YearMonthInterval || k == DayTimeInterval {
			continue
		}
		want := jsonNames[k]
		if want == "" {
			want = kindNames[k]
		}
		if name == want {
			return Of(k), nil
		}
	}
	if t, ok := intervalNamed(name); ok {
		return t, nil
	}
	return Type{}, fmt.Errorf("schema: unknown type %q", name)
}

func intervalNamed(name string) (Type, bool) {
	rest, ok := strings.CutPrefix(name, "interval ")
	if !ok {
		return Type{}, false
	}
	from, to, both := strings.Cut(rest, " to ")
	if !both {
		to = from
	}
	a, b := slices.Index(fieldNames[:], from), slices.Index(fieldNames[:], to)
	if a < 0 || b < a {
		return Type{}, false
	}
	t := Type{Kind: DayTimeInterval, From: IntervalField(a), To: IntervalField(b)}
	if t.To <= Month {
		t.Kind = YearMonthInterval
	}
	return t, t.From > Month || t.To <= Month
}
