package bind

import (
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// ViewMode is what a view does when the columns of its query change.
type ViewMode uint8

// The modes, as WITH SCHEMA names them.
const (
	ViewCompensation  ViewMode = iota // cast to the types that they had
	ViewStrict                        // BINDING: only casts that lose nothing
	ViewTypeEvolution                 // the types may change, the names may not
	ViewEvolution                     // everything may change
)

// ViewBinding is what a view's query gave when the view was made.
type ViewBinding struct {
	Mode   ViewMode
	Schema schema.Schema
}

// boundView gives the columns that the view had: by name, in their order, cast
// where the mode says so. What the query gives beside them is left out.
func (b *Binder) boundView(v *View, n logical.Node, s *scope, r diag.Range) (logical.Node, *scope) {
	if v.Binding.Mode == ViewEvolution {
		return n, s
	}
	cols := s.visible()
	byName := func(name string) (out []col) {
		for _, c := range cols {
			if strings.EqualFold(c.attr.Name, name) {
				out = append(out, c)
			}
		}
		return out
	}
	p := &logical.Project{Input: n}
	out := &scope{}
	seen, wanted := map[string]int{}, map[string]int{}
	for _, f := range v.Binding.Schema.Fields {
		wanted[strings.ToLower(f.Name)]++
	}
	for _, f := range v.Binding.Schema.Fields {
		key := strings.ToLower(f.Name)
		found := byName(f.Name)
		if len(found) != wanted[key] {
			b.fail(r, "INCOMPATIBLE_VIEW_SCHEMA_CHANGE", "The SQL query of view %s has an incompatible schema change and column %s cannot be resolved. Expected %d columns named %s but got %d.",
				quoteNames(v.Name), f.Name, wanted[key], f.Name, len(found))
			return nil, &scope{broken: true}
		}
		c := found[seen[key]]
		seen[key]++
		e, ok := b.viewColumn(v, c, f, r)
		if !ok {
			return nil, &scope{broken: true}
		}
		if e == nil {
			p.Exprs = append(p.Exprs, logical.Alias{Expr: c.attr.Ref(), Attr: c.attr})
			out.cols = append(out.cols, c)
			continue
		}
		a := b.attr(c.attr.Name, f.Type, e.Nullable())
		p.Exprs = append(p.Exprs, logical.Alias{Expr: e, Attr: a})
		out.cols = append(out.cols, col{attr: a})
	}
	return p, out
}

// viewColumn casts a column to the type that it had; nil when it has it.
func (b *Binder) viewColumn(v *View, c col, was schema.Field, r diag.Range) (logical.Expr, bool) {
	if v.Binding.Mode == ViewTypeEvolution || c.attr.Type.SameShape(was.Type) {
		return nil, true
	}
	if v.Binding.Mode == ViewStrict && !upCast(c.attr.Type, was.Type) {
		b.fail(r, "CANNOT_UP_CAST_DATATYPE", "Cannot up cast %s from %q to %q. The type of the view's column has changed; use ALTER VIEW or make the view anew.",
			quoteNames(append(append([]string(nil), v.Name...), c.attr.Name)), c.attr.Type.SQL(), was.Type.SQL())
		return nil, false
	}
	// The cast is ANSI's whatever the session says.
	x := c.attr.Ref()
	fn, err := funcs.BindCast(b.session, b.arg(bound{e: x}), was.Type, funcs.CastMode(logical.CastANSI))
	if err != nil {
		b.failErr(r, err)
		return nil, false
	}
	return &logical.Cast{At: b.at(r), Input: x, To: was.Type, Mode: logical.CastANSI, Implicit: true, Fn: fn}, true
}

// upCast reports whether a cast loses nothing.
func upCast(from, to schema.Type) bool {
	switch {
	case from.Kind == schema.Void, from.SameShape(to):
		return true
	case to.Kind == schema.String:
		return !from.IsNested() && from.Kind != schema.Binary
	case from.Kind == schema.Date:
		return to.Kind == schema.Timestamp || to.Kind == schema.TimestampNTZ
	case from.Kind == schema.Timestamp, from.Kind == schema.TimestampNTZ:
		return to.Kind == schema.Timestamp || to.Kind == schema.TimestampNTZ
	case from.Kind == schema.Array && to.Kind == schema.Array:
		return upCast(*from.Elem, *to.Elem)
	case from.Kind == schema.Map && to.Kind == schema.Map:
		return upCast(*from.Key, *to.Key) && upCast(*from.Elem, *to.Elem)
	case from.Kind == schema.Struct && to.Kind == schema.Struct && len(from.Fields) == len(to.Fields):
		for i := range from.Fields {
			if !upCast(from.Fields[i].Type, to.Fields[i].Type) {
				return false
			}
		}
		return true
	}
	return upCastNumber(from, to)
}

func upCastNumber(from, to schema.Type) bool {
	digits := map[schema.Kind]int{schema.Int8: 3, schema.Int16: 5, schema.Int32: 10, schema.Int64: 19}
	rank := map[schema.Kind]int{schema.Int8: 1, schema.Int16: 2, schema.Int32: 3, schema.Int64: 4, schema.Float32: 5, schema.Float64: 6}
	switch {
	case !from.IsNumeric() || !to.IsNumeric():
		return false
	case to.Kind == schema.Decimal && from.Kind == schema.Decimal:
		return to.Scale >= from.Scale && to.Precision-to.Scale >= from.Precision-from.Scale
	case to.Kind == schema.Decimal:
		return digits[from.Kind] > 0 && to.Precision-to.Scale >= digits[from.Kind]
	case from.Kind == schema.Decimal:
		return to.Kind == schema.Int64 && from.Scale == 0 && from.Precision <= 18 || to.Kind == schema.Int32 && from.Scale == 0 && from.Precision <= 9
	}
	return rank[from.Kind] <= rank[to.Kind]
}
