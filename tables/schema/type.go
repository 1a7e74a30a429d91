package schema

// Kind is the kind of a data type.
type Kind uint8

// The kinds, in the order of Spark's type precedence inside each family.
const (
	Void Kind = iota
	Boolean
	Int8  // TINYINT
	Int16 // SMALLINT
	Int32 // INT
	Int64 // BIGINT
	Float32
	Float64
	Decimal
	String
	Binary
	Date         // days since 1970-01-01, int32
	Timestamp    // microseconds since the epoch, UTC instant, int64
	TimestampNTZ // microseconds of the local clock, int64
	YearMonthInterval
	DayTimeInterval
	Array
	Map
	Struct
	Variant
	// CalendarInterval is the result of make_interval and of mixed literals;
	// it can be computed with, but not stored.
	CalendarInterval
)

// IntervalField is the first or last field of an interval type.
type IntervalField uint8

// The interval fields. Year and Month belong to YearMonthInterval, the others
// to DayTimeInterval.
const (
	Year IntervalField = iota
	Month
	Day
	Hour
	Minute
	Second
)

// Type is a data type. The zero Type is VOID.
type Type struct {
	Kind      Kind
	Precision int           // Decimal: 1..38
	Scale     int           // Decimal: 0..Precision
	From, To  IntervalField // intervals
	// Elem is an Array's element or a Map's value; Key is a Map's key.
	Elem *Type
	Key  *Type
	// ElemNullable says whether array elements or map values may be null.
	ElemNullable bool
	Fields       []Field // Struct
	// Length is the n of CHAR(n) and VARCHAR(n) (String only); 0 is STRING.
	Length int
	// Char marks CHAR(n) among the strings with a Length.
	Char bool
}

// Field is a column, or a field of a struct.
type Field struct {
	Name     string
	Type     Type
	Nullable bool
	Comment  string
	// Metadata is kept for Delta's field metadata, as JSON values' text.
	Metadata map[string]string
}

// Schema is an ordered list of columns.
type Schema struct {
	Fields []Field
}

// Constructors for the types with parameters.

// DecimalOf returns DECIMAL(p,s).
func DecimalOf(p, s int) Type { return Type{Kind: Decimal, Precision: p, Scale: s} }

// ArrayOf returns ARRAY<elem>.
func ArrayOf(elem Type, nullable bool) Type {
	return Type{Kind: Array, Elem: &elem, ElemNullable: nullable}
}

// MapOf returns MAP<key,value>.
func MapOf(key, value Type, valueNullable bool) Type {
	return Type{Kind: Map, Key: &key, Elem: &value, ElemNullable: valueNullable}
}

// StructOf returns STRUCT<fields>.
func StructOf(fields ...Field) Type { return Type{Kind: Struct, Fields: fields} }

// Of returns the type of a kind that has no parameters.
func Of(k Kind) Type {
	switch k {
	case YearMonthInterval:
		return Type{Kind: k, From: Year, To: Month}
	case DayTimeInterval:
		return Type{Kind: k, From: Day, To: Second}
	case Decimal:
		return DecimalOf(10, 0)
	}
	return Type{Kind: k}
}

// Equal reports whether the types are the same, field names and nullability of
// nested values included (comments and metadata not).
func (t Type) Equal(o Type) bool { return t.equal(o, true) }

// SameShape is Equal without regard to nullability.
func (t Type) SameShape(o Type) bool { return t.equal(o, false) }

func (t Type) equal(o Type, nulls bool) bool {
	if t.Kind != o.Kind || t.Precision != o.Precision || t.Scale != o.Scale || t.From != o.From || t.To != o.To ||
		t.Length != o.Length || t.Char != o.Char || len(t.Fields) != len(o.Fields) {
		return false
	}
	if nulls && t.ElemNullable != o.ElemNullable {
		return false
	}
	if t.Elem != nil && !t.Elem.equal(*o.Elem, nulls) || t.Key != nil && !t.Key.equal(*o.Key, nulls) {
		return false
	}
	for i, f := range t.Fields {
		g := o.Fields[i]
		if f.Name != g.Name || nulls && f.Nullable != g.Nullable || !f.Type.equal(g.Type, nulls) {
			return false
		}
	}
	return true
}

// IsNumeric reports integers, floats and decimals.
func (t Type) IsNumeric() bool { return t.Kind >= Int8 && t.Kind <= Decimal }

// IsInteger reports TINYINT to BIGINT.
func (t Type) IsInteger() bool { return t.Kind >= Int8 && t.Kind <= Int64 }

// IsFloat reports FLOAT and DOUBLE.
func (t Type) IsFloat() bool { return t.Kind == Float32 || t.Kind == Float64 }

// IsNested reports arrays, maps and structs.
func (t Type) IsNested() bool { return t.Kind == Array || t.Kind == Map || t.Kind == Struct }

// WithoutLength returns the type with STRING for CHAR(n) and VARCHAR(n), as
// expressions have it: only columns of tables have lengths.
func (t Type) WithoutLength() Type {
	t.Length, t.Char = 0, false
	part := func(p *Type) *Type {
		if p == nil {
			return nil
		}
		x := p.WithoutLength()
		return &x
	}
	t.Key, t.Elem = part(t.Key), part(t.Elem)
	if t.Fields != nil {
		t.Fields = Schema{Fields: t.Fields}.WithoutLength().Fields
	}
	return t
}

// WithoutLength returns the schema with the types without lengths.
func (s Schema) WithoutLength() Schema {
	out := Schema{Fields: make([]Field, len(s.Fields))}
	for i, f := range s.Fields {
		f.Type = f.Type.WithoutLength()
		out.Fields[i] = f
	}
	return out
}
