package bind

import (
	"fmt"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// Options steer one binding.
type Options struct {
	Session *funcs.Session
	// Params are the values of :name and, under "0", "1", ..., of ? markers.
	Params map[string]*logical.Literal
	// FirstID is the first column id to use.
	FirstID logical.ColumnID
}

// Limits that keep a hostile query from exhausting the process.
const (
	maxViewDepth = 100
	maxPlanNodes = 20_000
	maxExprDepth = 500
)

// Binder binds one query or expression. It is used once, by one goroutine.
type Binder struct {
	catalog Catalog
	session *funcs.Session
	params  map[string]*logical.Literal
	text    *diag.Text
	next    logical.ColumnID
	diags   diag.List
	ctes    *cteScope
	views   int // depth of views and CTEs being inlined
	nodes   int // relations bound so far
	depth   int // of expressions
	loops   int // recursive queries so far
	// outerAggs are aggregates of an outer query that a subquery reads, by the
	// column that stands for them there.
	outerAggs map[logical.ColumnID]*aggExpr
	reads     []*logical.Relation
	silent    bool // something failed whose error was reported elsewhere
}

// New makes a Binder for a text.
func New(text *diag.Text, cat Catalog, opts Options) *Binder {
	if cat == nil {
		cat = Empty{}
	}
	s := opts.Session
	if s == nil {
		s = &funcs.Session{ANSI: true}
	}
	return &Binder{catalog: cat, session: s, params: opts.Params, text: text, next: max(opts.FirstID, 1)}
}

// Query binds a query. The plan is nil when there are errors.
func (b *Binder) Query(q *ast.Query) (logical.Node, diag.List) {
	n, s := b.query(q, enclosing{})
	b.diags.Sort()
	if b.diags.HasErrors() || b.silent {
		return nil, b.diags
	}
	if n == nil {
		panic("bug: bind: no plan and no error")
	}
	return b.named(n, s), b.diags
}

// named makes the plan give exactly the visible columns under their names.
func (b *Binder) named(n logical.Node, s *scope) logical.Node {
	out, cols := n.Output(), s.visible()
	same := len(out) == len(cols)
	for i := 0; same && i < len(cols); i++ {
		same = out[i].ID == cols[i].attr.ID && out[i].Name == cols[i].attr.Name
	}
	if same {
		return n
	}
	p := &logical.Project{Input: n}
	for _, c := range cols {
		p.Exprs = append(p.Exprs, logical.Alias{Expr: c.attr.Ref(), Attr: c.attr})
	}
	return p
}

// Reads lists the relations that the plan scans, each mention once.
func (b *Binder) Reads() []*logical.Relation { return b.reads }

// NextID is the first column id that is still free.
func (b *Binder) NextID() logical.ColumnID { return b.next }

// Failed reports whether an error was found.
func (b *Binder) Failed() bool { return b.silent || b.diags.HasErrors() }

func (b *Binder) id() logical.ColumnID {
	b.next++
	return b.next - 1
}

func (b *Binder) attr(name string, t schema.Type, nullable bool) logical.Attr {
	return logical.Attr{ID: b.id(), Name: name, Type: t, Nullable: nullable, Watermark: -1}
}

func (b *Binder) at(r diag.Range) logical.At { return logical.At{Place: b.text.Span(r)} }

// fail reports an error.
func (b *Binder) fail(r diag.Range, code diag.Code, format string, args ...any) {
	b.report(diag.At(b.text, r, code, fmt.Sprintf(format, args...)))
}

// failHint reports an error with a hint, which may be empty.
func (b *Binder) failHint(r diag.Range, code diag.Code, hint, message string) {
	b.report(diag.At(b.text, r, code, message).WithHint(hint))
}

// report adds a finding once: a CTE that is read twice has one error.
func (b *Binder) report(d diag.Diagnostic) {
	for _, o := range b.diags {
		if o.Code == d.Code && o.Span == d.Span && o.Message == d.Message {
			return
		}
	}
	b.diags = append(b.diags, d)
}

// failErr reports an error of funcs or of a catalog.
func (b *Binder) failErr(r diag.Range, err error) {
	if e, ok := err.(*funcs.Error); ok {
		d := diag.At(b.text, r, diag.Code(e.Class), e.Message)
		if d.SQLState == "" {
			d.SQLState = e.SQLState
		}
		b.report(d)
		return
	}
	b.fail(r, "INVALID_EXPRESSION", "%s", err.Error())
}

// notYet reports a part of the language that is parsed but not provided.
func (b *Binder) notYet(r diag.Range, what string) {
	b.fail(r, "FEATURE_NOT_AVAILABLE", "%s is not available yet", what)
}

// Expression binds an expression over columns; with want set it is cast to
// that type. It returns the automatic column name too.
func (b *Binder) Expression(e ast.Expr, in []logical.Attr, want *schema.Type) (logical.Expr, string, diag.List) {
	if at, found := subqueryIn(e); found {
		b.failHint(at, "INVALID_SUBQUERY_EXPRESSION", "join the other table in the query or in a view, and name its column here", "A subquery cannot stand here: the expression is evaluated for each row, over the columns of that row alone.")
		return nil, "", b.diags
	}
	x, ok := b.expr(e, plain(scopeOf(in, nil), "expression"))
	if !ok {
		return nil, "", b.diags
	}
	y := x.e
	if want != nil {
		if want.Kind == schema.Boolean {
			if y.Type().Kind != schema.Boolean {
				b.fail(e.Range(), "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN", `The condition "%s" of type %q is not a boolean.`, x.text, y.Type().SQL())
				return nil, "", b.diags
			}
		} else if y, ok = b.cast(e.Range(), y, *want); !ok {
			return nil, "", b.diags
		}
	}
	return y, x.columnName(), b.diags
}

// subqueryIn finds the first subquery of an expression.
func subqueryIn(e ast.Expr) (at diag.Range, found bool) {
	ast.Walk(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Subquery:
			at, found = n.Range(), true
		case *ast.Exists:
			at, found = n.Range(), true
		case *ast.In:
			if !found && n.Query != nil {
				at, found = n.Range(), true
			}
		}
		return !found
	})
	return at, found
}
