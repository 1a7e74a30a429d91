package funcs

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"pipelines/tables/schema"
)

func overlayKernel(c *Ctx, args []*vector, out *vector) {
	v, rep, pos := args[0], args[1], args[2]
	c.appendRows(out, func(i int, b []byte) []byte {
		p := int64(pos.I32[pos.Row(i)])
		n := chars(rep, i)
		if len(args) == 4 {
			if l := int64(args[3].I32[args[3].Row(i)]); l >= 0 {
				n = l
			}
		}
		b = appendSlice(b, v, i, 0, p-1)
		b = append(b, rep.Str(i)...)
		return appendSlice(b, v, i, p-1+n, 1<<40)
	})
}

func levenshtein(a, b []rune) int32 {
	row := make([]int32, len(b)+1)
	for j := range row {
		row[j] = int32(j)
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = int32(i + 1)
		for j, y := range b {
			up := row[j+1]
			cost := diagonal
			if x != y {
				cost++
			}
			row[j+1] = min(cost, up+1, row[j]+1)
			diagonal = up
		}
	}
	return row[len(b)]
}

func luhn(s []byte) bool {
	if len(s) == 0 {
		return false
	}
	sum, double := 0, false
	for i := len(s) - 1; i >= 0; i-- {
		d := int(s[i]) - '0'
		if d < 0 || d > 9 {
			return false
		}
		if double {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
		double = !double
	}
	return sum%10 == 0
}

func maskFunction() *Function {
	return define("mask", "string", "mask(input[, upperChar, lowerChar, digitChar, otherChar])", "The string with its characters replaced by kind; NULL keeps a kind.", signature{
		params: []param{pString, pString, pString, pString, pString}, min: 1, result: tString, nulls: NullAware, check: checkMask,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.appendRows(out, func(i int, b []byte) []byte {
				if args[0].IsNull(i) {
					out.SetNull(i)
					return b
				}
				with := [4][]byte{[]byte("X"), []byte("x"), []byte("n"), nil}
				for k := 1; k < len(args); k++ {
					with[k-1] = nil
					if !args[k].IsNull(i) {
						with[k-1] = args[k].Str(i)
					}
				}
				return appendMasked(b, args[0].Str(i), with)
			})
		},
	}).example("SELECT mask('AbCD123-@$#')", "XxXXnnn-@$#")
}

// checkMask refuses what is no text, and what does not replace a character by
// one constant character.
func checkMask(_ *Session, call string, args []Arg) error {
	for i, a := range args {
		if a.Type.Kind != schema.String && a.Type.Kind != schema.Void {
			return errInputType(call, i, quoteType(tString), a)
		}
	}
	for i, a := range args[1:] {
		name := [...]string{"upperChar", "lowerChar", "digitChar", "otherChar"}[i]
		switch {
		case a.Const == nil:
			return errNotFoldable(call, name, tString, a)
		case !a.Const.IsNull(0) && charCount(a.Const.Str(0)) != 1:
			return errMismatch("INPUT_SIZE_NOT_ONE", call, "Length of "+name+" should be 1.", map[string]string{"exprName": name})
		}
	}
	return nil
}

func appendMasked(b, s []byte, with [4][]byte) []byte {
	for _, r := range string(s) {
		kind := 3
		switch {
		case r > 0xffff: // two characters to Java, neither of a kind
			if with[3] != nil {
				b = append(b, with[3]...)
			}
		case unicode.IsUpper(r):
			kind = 0
		case unicode.IsLower(r):
			kind = 1
		case unicode.IsDigit(r):
			kind = 2
		}
		if with[kind] == nil {
			b = utf8.AppendRune(b, r)
		} else {
			b = append(b, with[kind]...)
		}
	}
	return b
}

func eltFunction() *Function {
	f := define("elt", "string", "elt(n, input1, input2, ...)", "Input number n.", signature{
		params: []param{pInt, pText}, variadic: true, min: 2, infer: func(t []schema.Type) schema.Type { return t[1] }, nulls: NullAware, canFail: true,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.appendRows(out, func(i int, b []byte) []byte {
				if args[0].IsNull(i) {
					out.SetNull(i)
					return b
				}
				n := int(args[0].I32[args[0].Row(i)])
				if n < 1 || n >= len(args) {
					failOrNull(c.Session, c, out, i, errArrayIndex(n, len(args)-1))
					return b
				}
				if args[n].IsNull(i) {
					out.SetNull(i)
					return b
				}
				return append(b, args[n].Str(i)...)
			})
		},
	}).example("SELECT elt(1, 'scala', 'java')", "scala")
	bind := f.Bind
	f.Bind = func(s *Session, args []Arg) (*Bound, error) {
		b, err := bind(s, args)
		if err != nil {
			return nil, err
		}
		text := strings.EqualFold(s.conf("spark.sql.function.eltOutputAsString", "false"), "true")
		for _, t := range b.Args[1:] { // one text makes all of them texts
			text = text || t.Kind != schema.Binary
		}
		if text {
			b.Result = tString
			for i := range b.Args[1:] {
				b.Args[i+1] = tString
			}
		}
		return b, err
	}
	return f
}
