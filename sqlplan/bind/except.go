package bind

import (
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// except takes the columns of EXCEPT out of an expanded star; a.f takes field f
// out of the struct a.
func (b *Binder) except(s *ast.Star, cols []starCol, sc *scope) ([]starCol, bool) {
	gone := map[int]bool{}
	paths := map[int][][]ast.Ident{}
	for _, n := range s.Except {
		k, rest := b.excepted(n.Parts, cols)
		switch {
		case k < 0:
			b.unresolved(n.Span, n.Parts, sc)
			return nil, false
		case gone[k] || len(rest) == 0 && len(paths[k]) > 0 || overlap(rest, paths[k]):
			b.fail(n.Span, "EXCEPT_OVERLAPPING_COLUMNS", "Columns in an EXCEPT list must be distinct and non-overlapping, but got %s twice.", quoteParts(n.Parts))
			return nil, false
		case len(rest) == 0:
			gone[k] = true
		default:
			paths[k] = append(paths[k], rest)
		}
	}
	var out []starCol
	for k, c := range cols {
		if gone[k] {
			continue
		}
		if len(paths[k]) > 0 {
			x, ok := b.withoutFields(s.Span, c.bound, paths[k])
			if !ok {
				return nil, false
			}
			c.bound = x
		}
		out = append(out, c)
	}
	return out, true
}

// excepted finds the column that a name of EXCEPT means, the longest qualifier
// first, and the fields that follow it.
func (b *Binder) excepted(parts []ast.Ident, cols []starCol) (int, []ast.Ident) {
	for i := len(parts) - 1; i >= 0; i-- {
		for k := len(cols) - 1; k >= 0; k-- {
			if b.sameName(cols[k].name, parts[i].Name) && matches(cols[k].quals, parts[:i]) {
				return k, parts[i+1:]
			}
		}
	}
	return -1, nil
}

// overlap reports a path that is another one, holds it or lies in it.
func overlap(p []ast.Ident, others [][]ast.Ident) bool {
	for _, o := range others {
		same := true
		for i := 0; i < min(len(p), len(o)); i++ {
			same = same && strings.EqualFold(p[i].Name, o[i].Name)
		}
		if same {
			return true
		}
	}
	return false
}

// withoutFields makes the struct x anew without the fields at the paths.
func (b *Binder) withoutFields(r diag.Range, x bound, paths [][]ast.Ident) (bound, bool) {
	t := x.typ()
	if t.Kind != schema.Struct {
		p := paths[0][0]
		b.fail(p.Span, "INVALID_EXTRACT_BASE_FIELD_TYPE",
			`Can't extract a value from "%s". Need a complex type [STRUCT, ARRAY, MAP] but got "%s".`, x.text, t.SQL())
		return x, false
	}
	drop := map[int][][]ast.Ident{}
	for _, p := range paths {
		i, ok := b.fieldIndex(p[0].Span, t.Fields, p[0].Name)
		if !ok {
			return x, false
		}
		drop[i] = append(drop[i], p[1:])
	}
	var args []bound
	for i, f := range t.Fields {
		y := bound{e: &logical.FieldAccess{At: b.at(r), Input: x.e, Index: i}, text: x.text + "." + f.Name, name: f.Name}
		if inner, ok := drop[i]; ok {
			if len(inner[0]) == 0 {
				continue
			}
			if y, ok = b.withoutFields(r, y, inner); !ok {
				return x, false
			}
		}
		args = append(args, bound{e: stringLiteral(b.at(r), f.Name), text: f.Name}, y)
	}
	y, ok := b.function(r, "named_struct", args)
	y.text, y.name = x.text, x.name
	return y, ok
}
