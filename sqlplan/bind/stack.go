package bind

import (
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"strings"
)

// genCall is a generator in a select list. Several items may share one.
type genCall struct {
	fn    *funcs.BoundGenerator
	args  []logical.Expr
	attrs []logical.Attr
	outer bool
	at    logical.At
	done  bool
}

func (g *genCall) hasAgg() bool {
	for _, a := range g.args {
		if hasAgg(a) {
			return true
		}
	}
	return false
}

func (g *genCall) rewrite(f func(logical.Expr) logical.Expr) {
	if g.done {
		return
	}
	g.done = true
	for i, a := range g.args {
		g.args[i] = f(a)
	}
}

// generatorOf finds a generator; the _outer forms share the plain value.
func generatorOf(name string) *funcs.Generator {
	if g := lookupGenerator(name); g != nil {
		return g
	}
	if n, ok := strings.CutSuffix(name, "_outer"); ok {
		return lookupGenerator(n)
	}
	return nil
}

// isGenerator reports whether a call makes rows.
func (c *core) isGenerator(call *ast.Call) bool {
	if call.Over != nil || len(call.Name.Parts) != 1 {
		return false
	}
	name := strings.ToLower(call.Name.Parts[0].Name)
	g := generatorOf(name)
	return g != nil && !g.TableOnly && specialForm(name) == nil && lookupScalar(name) == nil
}

// generator binds an item that is a generator call.
func (c *core) generator(call *ast.Call, names []ast.Ident) (items []item, ok bool) {
	name := strings.ToLower(call.Name.Parts[0].Name)
	fn := generatorOf(name)
	v := *c.env
	v.clause = "generator"
	g, ok := c.b.genCall(call, name, fn, &v)
	if !ok {
		return nil, false
	}
	if len(names) > 0 && len(names) != len(g.attrs) {
		c.b.fail(call.Range(), "UDTF_ALIAS_NUMBER_MISMATCH",
			"The number of aliases supplied in the AS clause does not match the number of columns output by the UDTF. Expected %d aliases, but got %d.", len(g.attrs), len(names))
		return nil, false
	}
	for i := range g.attrs {
		if len(names) > 0 {
			g.attrs[i].Name = names[i].Name
		}
		it := item{bound: bound{e: g.attrs[i].Ref(), text: g.attrs[i].Name}, attr: g.attrs[i], gen: g}
		if len(names) > 0 {
			it.alias = names[i].Name
		}
		items = append(items, it)
	}
	return items, true
}

// genCall binds a generator's arguments and makes its columns.
func (b *Binder) genCall(e *ast.Call, name string, fn *funcs.Generator, v *env) (*genCall, bool) {
	args, ok := b.args(e, name, v)
	if !ok {
		return nil, false
	}
	fargs := make([]funcs.Arg, len(args))
	for i, a := range args {
		if a.lambda != nil {
			return nil, func() bool { b.misplaced(a.lambda); return false }()
		}
		fargs[i] = b.arg(a.bound)
	}
	bd, err := fn.Bind(b.session, fargs)
	if err != nil {
		b.failErr(e.Span, err)
		return nil, false
	}
	g := &genCall{fn: bd, outer: strings.HasSuffix(name, "_outer"), at: b.at(e.Span)}
	for i, a := range args {
		x := a.e
		if i < len(bd.Args) {
			if x, ok = b.cast(e.Span, x, bd.Args[i]); !ok {
				return nil, false
			}
		}
		g.args = append(g.args, x)
	}
	for _, f := range bd.Columns {
		g.attrs = append(g.attrs, b.attr(f.Name, f.Type, f.Nullable || g.outer))
	}
	return g, true
}

func (g *genCall) node(in logical.Node) logical.Node {
	return &logical.Generate{At: g.at, Input: in, Fn: g.fn, Args: g.args, Columns: g.attrs, Outer: g.outer}
}

// stackGenerators stacks a Generate for each generator of the select list.
func (c *core) stackGenerators() {
	for _, g := range c.genOrder {
		c.node = g.node(c.node)
	}
	for i := range c.items {
		if it := &c.items[i]; it.gen != nil {
			it.e = it.attr.Ref()
		}
	}
}

// stackWindows stacks Window nodes, innermost calls first, one node for each
// partitioning and ordering.
func (c *core) stackWindows() {
	for {
		var calls []*winExpr
		c.eachAbove(func(e logical.Expr) logical.Expr {
			collectWindows(e, &calls)
			return e
		})
		if len(calls) == 0 {
			return
		}
		done := map[string]logical.Attr{}
		for len(calls) > 0 {
			spec := calls[0].spec()
			n := &logical.Window{Input: c.node, PartitionBy: calls[0].partition, OrderBy: calls[0].order}
			var rest []*winExpr
			for _, w := range calls {
				switch k := key(w); {
				case w.spec() != spec:
					rest = append(rest, w)
				case done[k].ID == 0:
					call := w.call
					call.Attr = c.b.attr(windowName(w), w.Type(), w.Nullable())
					n.Calls = append(n.Calls, call)
					done[k] = call.Attr
				}
			}
			c.node, calls = n, rest
		}
		c.eachAbove(func(e logical.Expr) logical.Expr {
			return logical.MapExpr(e, func(x logical.Expr) logical.Expr {
				if w, ok := x.(*winExpr); ok {
					if a, ok := done[key(w)]; ok {
						return a.Ref()
					}
				}
				return x
			})
		})
	}
}

func windowName(w *winExpr) string {
	if w.call.Fn != nil {
		return w.call.Fn.Fn.Name
	}
	return w.call.Agg.Fn.Name
}

// collectWindows adds the window calls of e that hold no other one.
func collectWindows(e logical.Expr, out *[]*winExpr) {
	logical.WalkExpr(e, func(x logical.Expr) bool {
		w, ok := x.(*winExpr)
		if !ok {
			return true
		}
		for _, ch := range w.Children() {
			if hasWindow(ch) {
				return true
			}
		}
		*out = append(*out, w)
		return false
	})
}

// eachAbove maps the expressions that stand above the stacked nodes.
func (c *core) eachAbove(f func(logical.Expr) logical.Expr) {
	for i := range c.items {
		c.items[i].e = f(c.items[i].e)
	}
	if c.qual != nil {
		c.qual = f(c.qual)
	}
	for i := range c.order {
		if c.order[i].out < 0 {
			c.order[i].key.Expr = f(c.order[i].key.Expr)
		}
	}
}
