package parse

import (
	"math/big"
	"strconv"
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
)

// number reads a number with its sign and suffix and checks its value.
func (p *parser) number(first token) ast.Expr {
	text := ""
	if first.up == "-" {
		p.i++
		text = "-"
	}
	t := p.advance()
	body := p.textOf(t)
	k := ast.Integer
	switch low := strings.ToLower(body); {
	case strings.HasSuffix(low, "bd"):
		k, body = ast.BigDecimal, body[:len(body)-2]
	case strings.HasSuffix(low, "l"):
		k, body = ast.BigintNum, body[:len(body)-1]
	case strings.HasSuffix(low, "s"):
		k, body = ast.SmallintNum, body[:len(body)-1]
	case strings.HasSuffix(low, "y"):
		k, body = ast.TinyintNum, body[:len(body)-1]
	case strings.HasSuffix(low, "d"):
		k, body = ast.DoubleNum, body[:len(body)-1]
	case strings.HasSuffix(low, "f"):
		k, body = ast.FloatNum, body[:len(body)-1]
	case strings.Contains(low, "e"):
		k = ast.Exponent
	case strings.Contains(low, "."):
		k = ast.Decimal
	}
	n := &ast.NumberLit{Pos: p.pos(first.start), Kind: k, Text: text + body}
	p.checkNumber(n)
	return n
}

// checkNumber refuses values that do not fit the type of the literal.
func (p *parser) checkNumber(n *ast.NumberLit) {
	switch n.Kind {
	case ast.TinyintNum, ast.SmallintNum, ast.BigintNum:
		t := intTypes[n.Kind]
		if _, err := strconv.ParseInt(n.Text, 10, t.bits); err != nil {
			p.outOfRange(n, t.name, t.low, t.high)
		}
	case ast.FloatNum:
		p.checkFloat(n, "float", "3.4028234663852886E+38")
	case ast.DoubleNum, ast.Exponent:
		p.checkFloat(n, "double", "1.7976931348623157E+308")
	default:
		if digits := precision(n.Text); digits > 38 {
			p.failCode(n.Span, "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION",
				"Decimal precision "+strconv.Itoa(digits)+" exceeds max precision 38.")
		}
	}
}

// intTypes are the integer types that have a suffix.
var intTypes = map[ast.NumberKind]struct {
	bits            int
	name, low, high string
}{
	ast.TinyintNum:  {8, "tinyint", "-128", "127"},
	ast.SmallintNum: {16, "smallint", "-32768", "32767"},
	ast.BigintNum:   {64, "bigint", "-9223372036854775808", "9223372036854775807"},
}

func (p *parser) checkFloat(n *ast.NumberLit, ty, limit string) {
	v, _, err := big.ParseFloat(n.Text, 10, 200, big.ToNearestEven)
	top, _, _ := big.ParseFloat(limit, 10, 200, big.ToNearestEven)
	if err != nil || v.IsInf() || v.Abs(v).Cmp(top) > 0 {
		p.outOfRange(n, ty, "-"+limit, limit)
	}
}

func (p *parser) outOfRange(n *ast.NumberLit, ty, lo, hi string) {
	panic(bailout{d: diag.At(p.text, n.Span, "INVALID_NUMERIC_LITERAL_RANGE",
		"Numeric literal "+clip(n.Text)+" is outside the valid range for "+ty+" with minimum value of "+lo+
			" and maximum value of "+hi+". Please adjust the value accordingly.")})
}

// precision is the number of digits that a decimal literal needs.
func precision(s string) int {
	s = strings.TrimPrefix(s, "-")
	exp := 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		e, err := strconv.Atoi(strings.TrimPrefix(s[i+1:], "+"))
		if err != nil || e > 1000 || e < -1000 {
			return 1000
		}
		s, exp = s[:i], e
	}
	whole, frac, _ := strings.Cut(s, ".")
	digits := strings.TrimLeft(whole+frac, "0")
	scale := len(frac) - exp
	n := len(digits)
	if scale < 0 {
		n -= scale // 1E3 is 1000
		scale = 0
	}
	return max(n, scale, 1)
}
