package bind

import (
	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// except takes the columns of EXCEPT out of an expanded star; a.f takes field f
// out of the struct a. The same column twice overlaps, but not, as in Spark, in
// another case.
func (b *Binder) except(s *ast.Star, cols []starCol, sc *scope) ([]starCol, bool) {
	taken := map[int][]exceptPath{}
	for _, n := range s.Except {
		k, rest := b.excepted(n.Parts, cols)
		if k < 0 {
			b.unresolved(n.Span, n.Parts, sc)
			return nil, false
		}
		p := exceptPath{column: n.Parts[len(n.Parts)-len(rest)-1].Name, fields: rest}
		if b.overlap(p, taken[k]) {
			b.fail(n.Span, "EXCEPT_OVERLAPPING_COLUMNS", "Columns in an EXCEPT list must be distinct and non-overlapping, but got %s twice.", quoteParts(n.Parts))
			return nil, false
		}
		taken[k] = append(taken[k], p)
	}
	var out []starCol
	for k, c := range cols {
		var fields [][]ast.Ident
		gone := false
		for _, p := range taken[k] {
			fields, gone = append(fields, p.fields), gone || len(p.fields) == 0
		}
		if gone {
			continue
		}
		if len(fields) > 0 {
			x, ok := b.withoutFields(s.Span, c.bound, fields)
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

// exceptPath is one name of EXCEPT: a column as written, and fields in it.
type exceptPath struct {
	column string
	fields []ast.Ident
}

// overlap reports a path that is another one, holds it or lies in it.
func (b *Binder) overlap(p exceptPath, others []exceptPath) bool {
	for _, o := range others {
		same := len(o.fields) != len(p.fields) || o.column == p.column
		for i := 0; i < min(len(p.fields), len(o.fields)); i++ {
			same = same && b.sameName(p.fields[i].Name, o.fields[i].Name)
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
