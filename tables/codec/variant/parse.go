package variant

import (
	"errors"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"pipelines/tables/text"
)

// ErrSyntax says that a text is not JSON.
var ErrSyntax = errors.New("the text is not JSON")

// Parser makes values of JSON texts. It takes JSON as the standard has it; of
// objects with equal names only the whole is refused. Text behind the first
// value is ignored.
type Parser struct {
	b     *Builder
	in    []byte
	at    int
	depth int
	buf   []byte
}

// NewParser returns a parser that appends to b.
func NewParser(b *Builder) *Parser { return &Parser{b: b} }

// Parse appends the value of a text to the builder. The error is ErrSyntax,
// ErrSize or a DuplicateError.
func (p *Parser) Parse(in []byte) error {
	p.in, p.at, p.depth = in, 0, 0
	p.blanks()
	if err := p.value(); err != nil {
		return err
	}
	if len(p.b.b) > MaxBytes || len(p.b.names) > MaxBytes {
		return ErrSize
	}
	return nil
}

// peek returns the next byte, or 0 at the end.
func (p *Parser) peek() byte {
	if p.at < len(p.in) {
		return p.in[p.at]
	}
	return 0
}

func (p *Parser) blanks() {
	for p.at < len(p.in) {
		switch p.in[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

func (p *Parser) value() error {
	switch c := p.peek(); c {
	case '{':
		return p.object()
	case '[':
		return p.array()
	case '"':
		s, err := p.str()
		if err == nil {
			p.b.String(s)
		}
		return err
	case 't', 'f', 'n':
		return p.word()
	}
	return p.number()
}

func (p *Parser) word() error {
	for _, w := range [...]string{"true", "false", "null"} {
		end := p.at + len(w)
		if end > len(p.in) || string(p.in[p.at:end]) != w {
			continue
		}
		if end < len(p.in) && (p.in[end] == '_' || p.in[end]|0x20 >= 'a' && p.in[end]|0x20 <= 'z' || p.in[end]-'0' <= 9) {
			return ErrSyntax
		}
		p.at = end
		switch w[0] {
		case 't':
			p.b.Bool(true)
		case 'f':
			p.b.Bool(false)
		default:
			p.b.Null()
		}
		return nil
	}
	return ErrSyntax
}

func (p *Parser) object() error {
	if p.depth++; p.depth > MaxDepth {
		return ErrSyntax
	}
	m := p.b.Object()
	p.at++
	p.blanks()
	if p.peek() == '}' {
		p.at++
		p.depth--
		return p.b.EndObject(m)
	}
	for {
		if p.peek() != '"' {
			return ErrSyntax
		}
		key, err := p.str()
		if err != nil {
			return err
		}
		p.b.Field(m, key)
		p.blanks()
		if p.peek() != ':' {
			return ErrSyntax
		}
		p.at++
		p.blanks()
		if err := p.value(); err != nil {
			return err
		}
		p.blanks()
		switch p.peek() {
		case ',':
			p.at++
			p.blanks()
		case '}':
			p.at++
			p.depth--
			return p.b.EndObject(m)
		default:
			return ErrSyntax
		}
	}
}

func (p *Parser) array() error {
	if p.depth++; p.depth > MaxDepth {
		return ErrSyntax
	}
	m := p.b.Array()
	p.at++
	p.blanks()
	if p.peek() == ']' {
		p.at++
		p.depth--
		p.b.EndArray(m)
		return nil
	}
	for {
		p.b.Element(m)
		if err := p.value(); err != nil {
			return err
		}
		p.blanks()
		switch p.peek() {
		case ',':
			p.at++
			p.blanks()
		case ']':
			p.at++
			p.depth--
			p.b.EndArray(m)
			return nil
		default:
			return ErrSyntax
		}
	}
}

// str reads a string; the bytes are valid until the next call.
func (p *Parser) str() ([]byte, error) {
	from := p.at + 1
	for i := from; i < len(p.in); i++ {
		switch c := p.in[i]; {
		case c == '"':
			p.at = i + 1
			if s := p.in[from:i]; utf8.Valid(s) {
				return s, nil
			}
			return nil, ErrSyntax
		case c == '\\':
			return p.escaped(from, i)
		case c < ' ':
			return nil, ErrSyntax
		}
	}
	return nil, ErrSyntax
}

// escaped goes on with a string whose first escape is at i.
func (p *Parser) escaped(from, i int) ([]byte, error) {
	b := append(p.buf[:0], p.in[from:i]...)
	for i < len(p.in) {
		c := p.in[i]
		switch {
		case c == '"':
			p.at, p.buf = i+1, b
			if !utf8.Valid(b) {
				return nil, ErrSyntax
			}
			return b, nil
		case c < ' ':
			return nil, ErrSyntax
		case c != '\\':
			b = append(b, c)
			i++
			continue
		}
		if i+1 >= len(p.in) {
			return nil, ErrSyntax
		}
		switch c := p.in[i+1]; c {
		case '"', '\\', '/':
			b = append(b, c)
		case 'b':
			b = append(b, '\b')
		case 'f':
			b = append(b, '\f')
		case 'n':
			b = append(b, '\n')
		case 'r':
			b = append(b, '\r')
		case 't':
			b = append(b, '\t')
		case 'u':
			r, n := p.unicode(i)
			if n == 0 {
				return nil, ErrSyntax
			}
			b = utf8.AppendRune(b, r)
			i += n
			continue
		default:
			return nil, ErrSyntax
		}
		i += 2
	}
	return nil, ErrSyntax
}

// unicode reads the escape \uxxxx, or a pair of them, at i; n is its length.
func (p *Parser) unicode(i int) (r rune, n int) {
	hex := func(i int) rune {
		if i+6 > len(p.in) || p.in[i] != '\\' || p.in[i+1] != 'u' {
			return -1
		}
		x, err := strconv.ParseUint(string(p.in[i+2:i+6]), 16, 32)
		if err != nil {
			return -1
		}
		return rune(x)
	}
	r = hex(i)
	if r < 0 {
		return 0, 0
	}
	if utf16.IsSurrogate(r) {
		if low := hex(i + 6); low >= 0 {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, 12
			}
		}
		return '?', 6 // as Java writes it in UTF-8
	}
	return r, 6
}

// number reads a number: an integer when it is a whole one that fits, a
// decimal when it is written without an exponent and fits, a DOUBLE else.
func (p *Parser) number() error {
	from, i := p.at, p.at
	digits := func() bool {
		start := i
		for i < len(p.in) && p.in[i]-'0' <= 9 {
			i++
		}
		return i > start
	}
	if p.peek() == '-' {
		i++
	}
	first := i
	if !digits() || p.in[first] == '0' && i > first+1 {
		return ErrSyntax
	}
	whole, exponent := true, false
	if i < len(p.in) && p.in[i] == '.' {
		i++
		if whole = false; !digits() {
			return ErrSyntax
		}
	}
	if i < len(p.in) && p.in[i]|0x20 == 'e' {
		whole, exponent = false, true
		if i++; i < len(p.in) && (p.in[i] == '+' || p.in[i] == '-') {
			i++
		}
		if !digits() {
			return ErrSyntax
		}
	}
	if i < len(p.in) && (p.in[i] == '_' || p.in[i]|0x20 >= 'a' && p.in[i]|0x20 <= 'z' || p.in[i] == '.') {
		return ErrSyntax
	}
	p.at = i
	return p.append(p.in[from:i], whole, exponent)
}

func (p *Parser) append(s []byte, whole, exponent bool) error {
	if whole {
		if x, ok := text.ParseInt64(s); ok {
			p.b.Int(x)
			return nil
		}
	}
	if !exponent && len(s) <= 40 {
		if x, precision, scale, ok := text.ParseDecimalAny(s); ok && precision <= 38 && scale <= 38 {
			p.b.Decimal(x, scale)
			return nil
		}
	}
	x, ok := text.ParseDouble(s)
	if !ok {
		return ErrSyntax
	}
	p.b.Double(x)
	return nil
}
