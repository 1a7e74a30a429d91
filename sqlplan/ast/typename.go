package ast

// TypeName is a data type as written. Name is in lower case and is one of the
// words of Spark (aliases resolved: integer -> int, long -> bigint, byte ->
// tinyint, short -> smallint, real -> float, dec and numeric -> decimal;
// timestamp_ltz stays; "interval" covers all three kinds). The parser has checked
// the words and the arguments.
type TypeName struct {
	Pos
	Name      string
	Args      []int         // decimal(p, s), char(n), varchar(n), time(n)
	Elem      []TypeName    // array: element; map: key, value
	Fields    []StructField // struct
	Start     IntervalField // interval year, interval day to second; NoField: calendar
	End       IntervalField
	Collation string // string collate x
}

// StructField is a field of a struct type.
type StructField struct {
	Pos
	Name    Ident
	Type    TypeName
	NotNull bool
	Comment string
}

// ColumnDef is a column of a declared schema.
type ColumnDef struct {
	Pos
	Name      Ident
	Type      TypeName
	NotNull   bool
	Comment   string
	Default   Expr
	Generated Expr      // GENERATED ALWAYS AS (expr)
	Identity  *Identity // GENERATED ... AS IDENTITY
	Mask      *Name     // MASK f: refused by the product, not by the parser
	Untyped   bool      // only a name and perhaps a comment (views)
}

// Identity is GENERATED ALWAYS|BY DEFAULT AS IDENTITY (START WITH n INCREMENT BY m).
type Identity struct {
	Pos
	ByDefault bool
	Start     string
	Step      string
}

// MentionsType reports whether the type or a part of it has that name.
func MentionsType(t TypeName, name string) bool {
	if t.Name == name {
		return true
	}
	for _, e := range t.Elem {
		if MentionsType(e, name) {
			return true
		}
	}
	for _, f := range t.Fields {
		if MentionsType(f.Type, name) {
			return true
		}
	}
	return false
}
