package bind

import (
	"unicode/utf8"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
	"pipelines/tables/schema"
)

// Columns of type CHAR(n) hold n characters, filled up with blanks. A
// comparison with another one, or with a constant text, fills up the shorter
// side; other texts are compared as they are.

var comparisons = map[ast.BinaryOp]bool{
	ast.Eq: true, ast.NotEq: true, ast.NullSafeEq: true, ast.Less: true, ast.LessEq: true, ast.Greater: true, ast.GreaterEq: true,
	ast.DistinctFrom: true, ast.NotDistinctFrom: true,
}

// padded fills up the shorter side of a comparison.
func (b *Binder) padded(e *ast.Binary, l, r bound) (x, y bound, ok bool) {
	if !comparisons[e.Op] {
		return l, r, true
	}
	n, m := b.charLength(l), b.charLength(r)
	if n < 0 || m < 0 {
		return l, r, true
	}
	if l, ok = b.pad(e.Span, l, n, m); !ok {
		return l, r, false
	}
	r, ok = b.pad(e.Span, r, m, n)
	return l, r, ok
}

// paddedList fills up the column and the constants of column IN (...).
func (b *Binder) paddedList(r diag.Range, all []bound) bool {
	lengths, most := make([]int, len(all)), 0
	for i, x := range all {
		if lengths[i] = b.charLength(x); lengths[i] < 0 {
			return true
		}
		most = max(most, lengths[i])
	}
	for i := range all {
		var ok bool
		if all[i], ok = b.pad(r, all[i], lengths[i], most); !ok {
			return false
		}
	}
	return true
}

// charLength is the length of a CHAR column or of a constant text, else -1.
func (b *Binder) charLength(x bound) int {
	if x.char > 0 {
		return x.char
	}
	if x.typ().Kind != schema.String {
		return -1
	}
	v, ok := b.constant(x.e)
	if !ok || v.IsNull(0) {
		return -1
	}
	return utf8.RuneCount(v.Str(0))
}

func (b *Binder) pad(r diag.Range, x bound, has, wants int) (bound, bool) {
	if has >= wants {
		return x, true
	}
	at := b.at(r)
	y, ok := b.function(r, "rpad", []bound{x, {e: intLiteral(at, int32(wants)), text: "n"}, {e: stringLiteral(at, " "), text: " "}})
	y.text, y.name = x.text, x.name
	return y, ok
}
