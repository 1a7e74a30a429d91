package diag

// SQLState returns the SQLSTATE of a code, or "" if the list has none. A
// subclass ("A.B") has the state of its class.
func (c Code) SQLState() string {
	for s := string(c); s != ""; {
		if st, ok := sqlStates[Code(s)]; ok {
			return st
		}
		i := len(s) - 1
		for i >= 0 && s[i] != '.' {
			i--
		}
		s = s[:max(i, 0)]
	}
	return ""
}

// sqlStates lists the classes that the product raises, with their SQLSTATE.
var sqlStates = map[Code]string{
	"PARSE_SYNTAX_ERROR":      "42601",
	"UNRESOLVED_COLUMN":       "42703",
	"TABLE_OR_VIEW_NOT_FOUND": "42P01",
	"DIVIDE_BY_ZERO":          "22012",
}
