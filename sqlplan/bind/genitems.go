package bind

import (
	"strings"

	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/logical"
)

// genItem is a generator of the select list, bound once: where it stands or
// where another item first reads its columns.
type genItem struct {
	items []item
	busy  bool // its arguments are being bound
	ok    bool
}

// generatorEntry takes an entry of the select list apart if it is a generator.
func (c *core) generatorEntry(en entry) (*ast.Call, []ast.Ident) {
	x, names := en.x, []ast.Ident(nil)
	if a, ok := x.(*ast.Alias); ok {
		x, names = a.X, a.Names
	}
	if call, ok := ast.Unparen(x).(*ast.Call); ok && c.isGenerator(call) {
		return call, names
	}
	return nil, nil
}

// genAt binds the generator at a place of the select list; nil: there is none.
func (c *core) genAt(i int) *genItem {
	if g := c.gens[i]; g != nil {
		return g
	}
	call, names := c.generatorEntry(c.list[i])
	if call == nil {
		return nil
	}
	if c.gens == nil {
		c.gens = map[int]*genItem{}
	}
	g := &genItem{busy: true}
	c.gens[i] = g
	g.items, g.ok = c.generator(call, names)
	g.busy = false
	if g.ok && len(g.items) > 0 {
		c.genOrder = append(c.genOrder, g.items[0].gen)
	}
	return g
}

// generatedName resolves a name against the columns of the generators of the
// select list, whichever side they stand.
func (c *core) generatedName(parts []ast.Ident) (bound, bool) {
	for i := range c.list {
		call, names := c.generatorEntry(c.list[i])
		if call == nil || len(names) > 0 && !named(names, parts[0].Name) {
			continue
		}
		g := c.genAt(i)
		if g.busy {
			continue
		}
		if !g.ok {
			return bound{}, true
		}
		for _, it := range g.items {
			if !strings.EqualFold(it.attr.Name, parts[0].Name) {
				continue
			}
			x, ok := bound{e: it.attr.Ref(), text: parts[0].Name, name: parts[0].Name}, true
			for _, p := range parts[1:] {
				if x, ok = c.b.access(p.Span, x, p); !ok {
					return bound{}, true
				}
			}
			return x, true
		}
	}
	return bound{}, false
}

func named(names []ast.Ident, name string) bool {
	for _, n := range names {
		if strings.EqualFold(n.Name, name) {
			return true
		}
	}
	return false
}

// readsGenerated reports whether an expression reads a generator's column.
func (c *core) readsGenerated(e logical.Expr) bool {
	if e == nil || len(c.genOrder) == 0 {
		return false
	}
	used := map[logical.ColumnID]bool{}
	logical.Columns(e, used)
	for _, g := range c.genOrder {
		for _, a := range g.attrs {
			if used[a.ID] {
				return true
			}
		}
	}
	return false
}

// checkGenerated refuses what cannot stand beside a generator in a grouped
// query: a second one, and items that read its columns.
func (c *core) checkGenerated() {
	if len(c.genOrder) == 0 || !c.aggregated() {
		return
	}
	if len(c.genOrder) > 1 {
		c.b.fail(c.sel.Span, "UNSUPPORTED_GENERATOR.MULTI_GENERATOR", "The generator is not supported: only one generator allowed per SELECT clause of a grouped query, but found %d.", len(c.genOrder))
		c.ok = false
		return
	}
	place := 0
	for i, en := range c.list {
		if call, _ := c.generatorEntry(en); call != nil {
			place += len(c.gens[i].items)
			continue
		}
		if place < len(c.items) && c.readsGenerated(c.items[place].e) {
			name := ast.Ident{Name: c.genOrder[0].attrs[0].Name}
			c.b.unresolved(c.list[i].x.Range(), []ast.Ident{name}, c.in)
			c.ok = false
			return
		}
		place++
	}
}

// groupGenerator groups by the arguments of a generator that are no constants.
func (c *core) groupGenerator(g *genCall, r ast.Expr) {
	for _, a := range g.args {
		if hasAgg(a) || hasWindow(a) || logical.IsConstant(a) {
			continue
		}
		c.addKey(bound{e: a, text: logical.Text(a)}, r.Range())
	}
}
