package funcs

import (
	"regexp"
	"strings"

	"pipelines/tables/schema"
)

var collateFunctions = []*Function{
	custom("collate", "string", "collate(expr, collationName)", "The text with a collation. There is one, UTF8_BINARY: texts compare by their bytes.", bindCollate).
		example("SELECT collate('Spark', 'UTF8_BINARY')", "Spark"),
}

// otherCollation matches the names of collations that Spark has and that are
// not available here.
var otherCollation = regexp.MustCompile(`^(UTF8_BINARY|UTF8_LCASE|(UNICODE|(` + languages + `)(_[A-Z]{4})?(_[A-Z]{3})?)((_CI|_CS)?(_AI|_AS)?|(_AI|_AS)(_CI|_CS)))(_[LR]?TRIM)?$`)

const languages = "AF|AM|AR|AS|AZ|BE|BG|BLO|BN|BO|BR|BS|CA|CEB|CHR|CS|CY|DA|DE|DSB|DZ|EE|EL|EN|EO|ES|ET|FA|FF|FI|FIL|FO|FR|FY|GA|GL|GU|HA|HAW|HE|HI|HR|HSB|HU|HY|ID|IG|IS|IT|JA|KA|KK|KL|KM|KN|KO|KOK|KU|" +
	"KY|LB|LIJ|LKT|LN|LO|LT|LV|MK|ML|MN|MR|MS|MT|MY|NB|NE|NL|NN|NO|NSO|OM|OR|PA|PL|PS|PT|RO|RU|SA|SE|SI|SK|SL|SMN|SQ|SR|ST|SV|SW|TA|TE|TH|TK|TN|TO|TR|UG|UK|UR|UZ|VI|WAE|WO|XH|YI|YO|ZH|ZU"

// CheckCollation reports a collation that is not UTF8_BINARY.
func CheckCollation(name string) *Error {
	plain := strings.ToUpper(name)
	switch {
	case plain == "UTF8_BINARY" || plain == "SYSTEM.BUILTIN.UTF8_BINARY":
		return nil
	case otherCollation.MatchString(strings.TrimPrefix(plain, "SYSTEM.BUILTIN.")):
		return NewError("FEATURE_NOT_AVAILABLE", "The collation "+name+" is not available: only UTF8_BINARY.", nil)
	}
	return NewError("COLLATION_INVALID_NAME", "The value "+name+" does not represent a correct collation name. Suggested valid collation names: [UTF8_BINARY].",
		map[string]string{"collationName": name, "proposals": "UTF8_BINARY"})
}

func bindCollate(_ *Session, args []Arg) (*Bound, error) {
	const name = "collate"
	if err := checkCount(name, 2, 2, len(args)); err != nil {
		return nil, err
	}
	switch a := args[1]; {
	case a.Const == nil:
		return nil, NewError("NON_FOLDABLE_ARGUMENT", "The function `collate` requires the parameter `collationName` to be a foldable expression of the type \"STRING\", but the actual argument is a non-foldable.",
			map[string]string{"funcName": "`collate`", "paramName": "`collationName`", "paramType": `"STRING"`})
	case a.Type.Kind != schema.String:
		return nil, NewError("UNEXPECTED_INPUT_TYPE", "Parameter second of function `collate` requires the \"STRING\" type, however \""+a.Text+"\" has the type "+quoteType(a.Type)+".",
			map[string]string{"functionName": "`collate`", "paramIndex": "second", "requiredType": `"STRING"`, "inputSql": `"` + a.Text + `"`, "inputType": quoteType(a.Type)})
	case a.Const.IsNull(0):
		return nil, errMismatch("UNEXPECTED_NULL", callText(name, args), "The collation must not be null.", map[string]string{"exprName": "`collation`"})
	}
	if err := stringArg(name, args); err != nil {
		return nil, err
	}
	if err := CheckCollation(string(args[1].Const.Str(0))); err != nil {
		return nil, err
	}
	return &Bound{
		Args: []schema.Type{tString, tString}, Result: tString, Nullable: args[0].Nullable,
		Kernel: func(c *Ctx, args []*vector, out *vector) {
			c.appendRows(out, func(i int, b []byte) []byte { return append(b, args[0].Str(i)...) })
		},
		Print: func(a []string) string {
			return "collate(" + a[0] + ", " + a[1][strings.LastIndexByte(a[1], '.')+1:] + ")"
		},
	}, nil
}
