package schema

import (
	"fmt"
	"strings"
)

var kindNames = [...]string{
	Void: "void", Boolean: "boolean", Int8: "tinyint", Int16: "smallint", Int32: "int", Int64: "bigint",
	Float32: "float", Float64: "double", String: "string", Binary: "binary", Date: "date", Timestamp: "timestamp",
	TimestampNTZ: "timestamp_ntz", Variant: "variant", CalendarInterval: "interval",
}

var fieldNames = [...]string{Year: "year", Month: "month", Day: "day", Hour: "hour", Minute: "minute", Second: "second"}

func (f IntervalField) String() string { return fieldNames[f] }

// String returns Spark's short name ("array<int>", "struct<a:int>",
// "decimal(10,2)"), as DESCRIBE prints it.
func (t Type) String() string {
	var b strings.Builder
	t.write(&b, false)
	return b.String()
}

// SQL returns the upper-case DDL form ("ARRAY<INT>", "STRUCT<a: INT>") that
// Spark prints in error messages and column texts.
func (t Type) SQL() string {
	var b strings.Builder
	t.write(&b, true)
	return b.String()
}

func (t Type) write(b *strings.Builder, sql bool) {
	word := func(s string) {
		if sql {
			s = strings.ToUpper(s)
		}
		b.WriteString(s)
	}
	switch t.Kind {
	case Decimal:
		word("decimal")
		fmt.Fprintf(b, "(%d,%d)", t.Precision, t.Scale)
	case YearMonthInterval, DayTimeInterval:
		word("interval " + t.From.String())
		if t.To != t.From {
			word(" to " + t.To.String())
		}
	case Array:
		word("array<")
		t.Elem.write(b, sql)
		b.WriteByte('>')
	case Map:
		word("map<")
		t.Key.write(b, sql)
		if sql {
			b.WriteString(", ")
		} else {
			b.WriteByte(',')
		}
		t.Elem.write(b, sql)
		b.WriteByte('>')
	case Struct:
		word("struct<")
		for i, f := range t.Fields {
			t.writeField(b, i, f, sql)
		}
		b.WriteByte('>')
	case String:
		switch {
		case t.Length > 0 && t.Char:
			word(fmt.Sprintf("char(%d)", t.Length))
		case t.Length > 0:
			word(fmt.Sprintf("varchar(%d)", t.Length))
		default:
			word("string")
		}
	default:
		word(kindNames[t.Kind])
	}
}

func (t Type) writeField(b *strings.Builder, i int, f Field, sql bool) {
	if i > 0 {
		b.WriteByte(',')
		if sql {
			b.WriteByte(' ')
		}
	}
	if !sql {
		b.WriteString(f.Name)
		b.WriteByte(':')
		f.Type.write(b, sql)
		return
	}
	b.WriteString(QuoteIfNeeded(f.Name))
	b.WriteString(": ")
	f.Type.write(b, sql)
	if !f.Nullable {
		b.WriteString(" NOT NULL")
	}
}

// QuoteIfNeeded puts a name into backquotes unless it is a plain identifier.
func QuoteIfNeeded(name string) string {
	plain := name != ""
	for i := 0; i < len(name) && plain; i++ {
		c := name[i]
		plain = c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || i > 0 && c >= '0' && c <= '9'
	}
	if plain {
		return name
	}
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}

// Index returns the place of the column called name, ignoring case, or -1.
func (s Schema) Index(name string) int {
	for i, f := range s.Fields {
		if strings.EqualFold(f.Name, name) {
			return i
		}
	}
	return -1
}

// Names returns the column names in order.
func (s Schema) Names() []string {
	out := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		out[i] = f.Name
	}
	return out
}

// DDL returns the schema as a column list ("a INT, b STRING NOT NULL").
func (s Schema) DDL() string {
	var b strings.Builder
	for i, f := range s.Fields {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(QuoteIfNeeded(f.Name) + " " + f.Type.SQL())
		if !f.Nullable {
			b.WriteString(" NOT NULL")
		}
		if f.Comment != "" {
			b.WriteString(" COMMENT '" + strings.ReplaceAll(f.Comment, "'", "\\'") + "'")
		}
	}
	return b.String()
}

// Type returns the schema as a struct type.
func (s Schema) Type() Type { return StructOf(s.Fields...) }

// Equal reports whether both schemas have equal fields in the same order.
func (s Schema) Equal(o Schema) bool { return s.Type().Equal(o.Type()) }
