package funcs

import "encoding/base32"

var base32Functions = []*Function{
	define("to_base32", "string", "to_base32(bin)", "Base32 text (RFC 4648) of bytes.", signature{
		params: []param{pBinary}, result: tString,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.appendRows(out, func(i int, b []byte) []byte { return base32.StdEncoding.AppendEncode(b, args[0].Str(i)) })
		},
	}).example("SELECT to_base32('foobar')", "MZXW6YTBOI======"),
	define("from_base32", "string", "from_base32(str)", "Bytes of base32 text in either case, with or without the padding; a text that is none fails.", signature{
		params: []param{pString}, result: tBinary, canFail: true,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.appendRows(out, func(i int, b []byte) []byte {
				r, ok := appendUnbase32(b, args[0].Str(i))
				if !ok {
					s := quoteSQL(string(args[0].Str(i)))
					c.Fail(out, i, NewError("CONVERSION_INVALID_INPUT", "The value "+s+" ('base32') cannot be converted to \"BINARY\" because it is malformed. Correct the value as per the syntax, or change its format.",
						map[string]string{"str": s, "fmt": "'base32'", "targetType": `"BINARY"`}))
					return b
				}
				return r
			})
		},
	}).example("SELECT CAST(from_base32('MZXW6YTBOI======') AS STRING)", "foobar"),
}

// appendUnbase32 appends the bytes of a text; ok is false when it has other
// characters, or bits that belong to no byte.
func appendUnbase32(b, s []byte) (r []byte, ok bool) {
	for len(s) > 0 && s[len(s)-1] == '=' {
		s = s[:len(s)-1]
	}
	acc, bits := uint32(0), 0
	for _, c := range s {
		d := c - 'A'
		switch {
		case c >= 'a' && c <= 'z':
			d = c - 'a'
		case c >= '2' && c <= '7':
			d = c - '2' + 26
		case c < 'A' || c > 'Z':
			return b, false
		}
		acc = acc<<5 | uint32(d)
		if bits += 5; bits >= 8 {
			bits -= 8
			b = append(b, byte(acc>>bits))
		}
	}
	return b, bits < 5 && acc&(1<<bits-1) == 0
}
