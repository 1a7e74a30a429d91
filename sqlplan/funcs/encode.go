package funcs

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"pipelines/tables/schema"
)

var encodeFunctions = []*Function{
	define("base64", "string", "base64(bin)", "Base64 text, broken into lines of 76 characters.", signature{
		params: []param{pBinary}, result: tString,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.appendRows(out, func(i int, b []byte) []byte {
				return appendBase64(b, args[0].Str(i))
			})
		},
	}).example("SELECT base64('Spark SQL')", "U3BhcmsgU1FM"),
	define("unbase64", "string", "unbase64(str)", "Bytes of base64 text; characters that are none are skipped.", signature{
		params: []param{pString}, result: tBinary, canFail: true,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.appendRows(out, func(i int, b []byte) []byte {
				before := len(b)
				b, ok := appendUnbase64(b, args[0].Str(i))
				if !ok {
					c.Fail(out, i, NewError("CONVERSION_INVALID_INPUT", "The value "+quoteSQL(string(args[0].Str(i)))+" ('BASE64') cannot be converted to \"BINARY\" because it is malformed: its last unit does not have enough bits. Correct the value.", nil))
					return b[:before]
				}
				return b
			})
		},
	}).example("SELECT unbase64('U3BhcmsgU1FM')", "Spark SQL"),
	charsetFunction("encode", true).example("SELECT encode('abc', 'utf-8')", "abc"),
	charsetFunction("decode", false).example("SELECT decode(encode('abc', 'utf-8'), 'utf-8')", "abc"),
	toBinary("to_binary", false).example("SELECT to_binary('abc', 'utf-8')", "abc"),
	toBinary("try_to_binary", true).example("SELECT try_to_binary('a!', 'hex')", "NULL"),
}

// appendBase64 breaks lines after 76 characters, as MIME does.
func appendBase64(b, s []byte) []byte {
	start := len(b)
	b = base64.StdEncoding.AppendEncode(b, s)
	if len(b)-start <= 76 {
		return b
	}
	line := string(b[start:])
	b = b[:start]
	for ; len(line) > 76; line = line[76:] {
		b = append(append(b, line[:76]...), '\r', '\n')
	}
	return append(b, line...)
}

// appendUnbase64 appends the bytes of base64 text; not ok if its end has a
// single character, which is less than a byte.
func appendUnbase64(b, s []byte) (out []byte, ok bool) {
	acc, bits := uint32(0), 0
	for _, c := range s {
		d := strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", c)
		switch {
		case c == '=':
			return b, bits != 6
		case d < 0:
			continue
		}
		acc = acc<<6 | uint32(d)
		if bits += 6; bits >= 8 {
			bits -= 8
			b = append(b, byte(acc>>bits))
		}
	}
	return b, bits != 6
}

func validBase64(s []byte) bool {
	n, pad := 0, 0
	for i, c := range s {
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		case c == '=':
			if pad++; pad == 1 && n%4 == 2 && (i+1 == len(s) || s[i+1] != '=') {
				return false // the second one stands right behind
			}
		case pad > 0 || strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", c) < 0:
			return false
		default:
			n++
		}
	}
	return pad <= 2 && (n+pad)%4 == 0 && n%4 != 1
}

func toBinary(name string, try bool) *Function {
	format := param{pString.want, func(s *Session, t schema.Type) (schema.Type, bool) {
		if !Implicit(s, t, tString) {
			return t, true // check refuses it
		}
		return tString, true
	}}
	return define(name, "string", name+"(str[, fmt])", "Bytes of a text in a format: hex (default), utf-8 or base64.", signature{
		params: []param{pString, format}, min: 1, result: tBinary, canFail: true, try: try,
		check: func(s *Session, call string, args []Arg) error {
			if len(args) < 2 {
				return nil
			}
			if args[1].Const == nil {
				return errNotFoldable(call, "fmt", tString, args[1])
			}
			if args[1].Const.IsNull(0) || try && Implicit(s, args[1].Type, tString) {
				return nil
			}
			f, ok := constString(args[1])
			if !ok {
				f = args[1].Text
			}
			switch strings.ToLower(f) {
			case "hex", "utf8", "utf-8", "base64":
				return nil
			}
			return errMismatch("INVALID_ARG_VALUE", call, "The `fmt` value must to be a case-insensitive \"STRING\" literal of 'hex', 'utf-8', 'utf8', or 'base64', but got '"+f+"'.",
				map[string]string{"inputName": "`fmt`", "inputValue": "'" + f + "'"})
		},
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.appendRows(out, func(i int, b []byte) []byte {
				s, f := args[0].Str(i), "hex"
				if len(args) == 2 {
					f = strings.ToLower(string(args[1].Str(i)))
				}
				r, ok := b, true
				switch f {
				case "hex":
					r, ok = appendUnhex(b, s)
				case "base64":
					if ok = validBase64(s); ok {
						r, _ = appendUnbase64(b, s) // valid
					}
				case "utf8", "utf-8":
					r = append(b, s...)
				default:
					ok = false // of try_to_binary
				}
				if !ok {
					c.Fail(out, i, NewError("CONVERSION_INVALID_INPUT", "The value "+quoteSQL(string(s))+" ("+quoteSQL(f)+") cannot be converted to \"BINARY\" because it is malformed. Correct the value as per the syntax, or change its format. Use `try_to_binary` to tolerate malformed input and return NULL instead.",
						map[string]string{"str": quoteSQL(string(s)), "fmt": quoteSQL(f), "targetType": `"BINARY"`, "suggestion": "`try_to_binary`"}))
					return b
				}
				return r
			})
		},
	})
}

func charsetFunction(name string, encode bool) *Function {
	sig := signature{params: []param{pBinary, pString}, result: tString, canFail: true}
	if encode {
		sig.params[0], sig.result = pString, tBinary
	}
	sig.kernel = func(c *Ctx, args []*vector, out *vector) {
		c.appendRows(out, func(i int, b []byte) []byte {
			charset := strings.ToUpper(string(args[1].Str(i)))
			r, state := convertCharset(b, args[0].Str(i), charset, encode)
			switch state {
			case charsetUnknown:
				c.Fail(out, i, errParam("CHARSET", "charset", name, "expects one of the iso-8859-1, us-ascii, utf-16, utf-16be, utf-16le, utf-32, utf-8, but got "+string(args[1].Str(i))+".",
					map[string]string{"charset": string(args[1].Str(i)), "charsets": "iso-8859-1, us-ascii, utf-16, utf-16be, utf-16le, utf-32, utf-8"}))
				return b
			case charsetMalformed:
				c.Fail(out, i, NewError("MALFORMED_CHARACTER_CODING", "Invalid value found when performing `"+name+"` with "+string(args[1].Str(i))+".",
					map[string]string{"function": "`" + name + "`", "charset": string(args[1].Str(i))}))
				return b
			}
			return r
		})
	}
	return define(name, "string", name+"(expr, charset)", "Text to bytes of a character set, or back.", sig)
}

const (
	charsetOK = iota
	charsetUnknown
	charsetMalformed
)

func convertCharset(b, s []byte, charset string, encode bool) ([]byte, int) {
	switch charset {
	case "UTF-8", "US-ASCII", "ISO-8859-1", "UTF-16", "UTF-16BE", "UTF-16LE", "UTF-32":
	default:
		return b, charsetUnknown
	}
	if encode {
		return encodeCharset(b, s, charset)
	}
	return decodeCharset(b, s, charset)
}

func encodeCharset(b, s []byte, charset string) ([]byte, int) {
	if charset == "UTF-8" {
		return append(b, strings.ToValidUTF8(string(s), "\uFFFD")...), charsetOK
	}
	if charset == "UTF-16" && len(s) > 0 {
		b = append(b, 0xfe, 0xff)
	}
	for _, r := range string(s) {
		switch charset {
		case "US-ASCII", "ISO-8859-1":
			if r > 0xff || charset == "US-ASCII" && r > 0x7f {
				return b, charsetMalformed
			}
			b = append(b, byte(r))
		case "UTF-32":
			b = binary.BigEndian.AppendUint32(b, uint32(r))
		default:
			for _, u := range utf16.AppendRune(nil, r) {
				if charset == "UTF-16LE" {
					b = binary.LittleEndian.AppendUint16(b, u)
				} else {
					b = binary.BigEndian.AppendUint16(b, u)
				}
			}
		}
	}
	return b, charsetOK
}

func decodeCharset(b, s []byte, charset string) ([]byte, int) {
	switch charset {
	case "UTF-8":
		if !utf8.Valid(s) {
			return b, charsetMalformed
		}
		return append(b, s...), charsetOK
	case "US-ASCII", "ISO-8859-1":
		for _, c := range s {
			if charset == "US-ASCII" && c > 0x7f {
				return b, charsetMalformed
			}
			b = utf8.AppendRune(b, rune(c))
		}
		return b, charsetOK
	case "UTF-32":
		if len(s)%4 != 0 {
			return b, charsetMalformed
		}
		for ; len(s) > 0; s = s[4:] {
			r := rune(binary.BigEndian.Uint32(s))
			if !utf8.ValidRune(r) {
				return b, charsetMalformed
			}
			b = utf8.AppendRune(b, r)
		}
		return b, charsetOK
	}
	return decodeUTF16(b, s, charset)
}

func decodeUTF16(b, s []byte, charset string) ([]byte, int) {
	if len(s)%2 != 0 {
		return b, charsetMalformed
	}
	little := charset == "UTF-16LE"
	if charset == "UTF-16" && len(s) >= 2 && (s[0] == 0xfe && s[1] == 0xff || s[0] == 0xff && s[1] == 0xfe) {
		little = s[0] == 0xff
		s = s[2:]
	}
	units := make([]uint16, 0, len(s)/2)
	for ; len(s) > 0; s = s[2:] {
		u := binary.BigEndian.Uint16(s)
		if little {
			u = binary.LittleEndian.Uint16(s)
		}
		units = append(units, u)
	}
	for _, r := range utf16.Decode(units) {
		if r == utf8.RuneError {
			return b, charsetMalformed
		}
		b = utf8.AppendRune(b, r)
	}
	return b, charsetOK
}
