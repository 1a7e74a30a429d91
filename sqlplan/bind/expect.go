package bind

import (
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// Check is one expectation: a condition that each row should meet.
type Check struct {
	Name string
	// Text is where the condition stands. Cond is the parsed condition; for
	// Compile it may be nil: then the whole Text is it.
	Text   *diag.Text
	Cond   ast.Expr
	Action logical.OnViolation
}

// Rules binds expectations over columns. It returns the next free column id
// too.
func Rules(checks []Check, in []logical.Attr, opts Options) ([]logical.Expectation, logical.ColumnID, diag.List) {
	var out []logical.Expectation
	var diags diag.List
	boolean := schema.Of(schema.Boolean)
	for _, x := range checks {
		b := New(x.Text, Empty{}, opts)
		cond, _, more := b.Expression(x.Cond, in, &boolean)
		diags = append(diags, more...)
		if !more.HasErrors() {
			out = append(out, logical.Expectation{Name: x.Name, Cond: cond, Action: x.Action})
		}
		opts.FirstID = b.NextID()
	}
	return out, opts.FirstID, diags
}

// outcome puts on top of a view's query what the view asks for: deduplication,
// then expectations, then the columns as they are declared.
func (b *Binder) outcome(v *View, n logical.Node, s *scope) (logical.Node, *scope, diag.List) {
	if v.Dedup == nil && len(v.Checks) == 0 && !v.DropErrors && v.Declared == nil {
		return n, s, nil
	}
	n = b.named(n, s)
	if v.Dedup != nil {
		var diags diag.List
		if n, diags = v.Dedup.Of(n); diags.HasErrors() {
			return nil, nil, diags
		}
	}
	if len(v.Checks) > 0 || v.DropErrors {
		session := b.session
		if v.Session != nil {
			session = v.Session
		}
		rules, next, diags := Rules(v.Checks, n.Output(), Options{Session: session, Params: b.params, FirstID: b.next})
		if b.next = next; diags.HasErrors() {
			return nil, nil, diags
		}
		n = &logical.Expect{Input: n, Rules: rules, Dataset: strings.Join(v.Name, "."), DropErrors: v.DropErrors}
	}
	if v.Declared != nil {
		n, s = b.declared(v.Declared, n, s)
	}
	return n, s, nil
}

// declared gives the columns of a view in the order and under the names of its
// declaration; those that the query does not give are null.
func (b *Binder) declared(d *schema.Schema, n logical.Node, s *scope) (logical.Node, *scope) {
	cols, p, out := s.visible(), &logical.Project{Input: n}, &scope{}
	for i, f := range d.Fields {
		c := col{attr: b.attr(f.Name, f.Type, true)}
		var e logical.Expr = &logical.Literal{Value: column.Constant(f.Type, 1, nil)}
		for _, have := range cols {
			if strings.EqualFold(have.attr.Name, f.Name) {
				c = have
				e = have.attr.Ref()
			}
		}
		c.attr.Name, c.attr.Declared = f.Name, declaration(f, i, nil)
		p.Exprs = append(p.Exprs, logical.Alias{Expr: e, Attr: c.attr})
		out.cols = append(out.cols, c)
	}
	return p, out
}
