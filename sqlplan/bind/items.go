package bind

import (
	"strings"

	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// starCol is one column of an expanded star.
type starCol struct {
	bound
	quals []string
}

// star expands *, t.* and s.*.
func (b *Binder) star(s *ast.Star, sc *scope) ([]starCol, bool) {
	if sc.broken {
		return nil, false
	}
	out, ok := b.starCols(s, sc)
	if !ok {
		return nil, false
	}
	return b.except(s, out, sc)
}

func (b *Binder) starCols(s *ast.Star, sc *scope) ([]starCol, bool) {
	at := b.at(s.Span)
	var out []starCol
	add := func(c col) {
		out = append(out, starCol{bound{e: &logical.Column{At: at, Attr: c.attr}, text: c.attr.Name, name: c.attr.Name, char: c.char}, c.quals})
	}
	if len(s.Qualifier) == 0 {
		for _, c := range sc.visible() {
			add(c)
		}
		if len(out) == 0 && sc.absent && sc.outer == nil {
			b.fail(s.Span, "INVALID_USAGE_OF_STAR_OR_REGEX", "Invalid usage of '*' without a FROM clause.")
			return nil, false
		}
		return out, true
	}
	// The keys of USING that only a qualifier reaches come first.
	for _, hidden := range []bool{true, false} {
		for _, c := range sc.cols {
			if !c.unlisted && c.hidden == hidden && len(c.quals) >= len(s.Qualifier) && matches(c.quals, s.Qualifier) {
				add(c)
			}
		}
	}
	if len(out) > 0 {
		return out, true
	}
	for at := sc.outer; at != nil; at = at.outer {
		for _, c := range at.cols {
			if c.unlisted || c.meta != nil || len(c.quals) < len(s.Qualifier) || !matches(c.quals, s.Qualifier) {
				continue
			}
			x, ok := b.columnOf(s.Span, []ast.Ident{{Name: c.attr.Name}}, found{col: c, name: ast.Ident{Name: c.attr.Name}, ok: true}, sc, at)
			if !ok {
				return nil, false
			}
			out = append(out, starCol{x, c.quals})
		}
		if len(out) > 0 {
			return out, true
		}
	}
	for at := sc; at != nil; at = at.outer {
		if f := at.find(s.Qualifier, b.session.CaseSensitive); f.ok {
			x, ok := b.columnOf(s.Span, s.Qualifier, f, sc, at)
			if !ok {
				return nil, false
			}
			return b.starStruct(s, x)
		}
	}
	b.fail(s.Span, "CANNOT_RESOLVE_STAR_EXPAND", "Cannot resolve %s.* given input columns %s.", quoteParts(s.Qualifier), columnList(sc))
	return nil, false
}

func columnList(sc *scope) string {
	var out []string
	for _, c := range sc.visible() {
		out = append(out, "`"+c.attr.Name+"`")
	}
	return strings.Join(out, ", ")
}

// starStruct expands the fields of a struct.
func (b *Binder) starStruct(s *ast.Star, x bound) ([]starCol, bool) {
	if x.typ().Kind != schema.Struct {
		b.fail(s.Span, "CANNOT_RESOLVE_STAR_EXPAND", "Can only star expand struct data types. %q is %s.", x.text, x.typ().SQL())
		return nil, false
	}
	var out []starCol
	for i, f := range x.typ().Fields {
		e := &logical.FieldAccess{At: b.at(s.Span), Input: x.e, Index: i}
		out = append(out, starCol{bound: bound{e: e, text: x.text + "." + f.Name, name: f.Name}})
	}
	return out, true
}

// expand makes the entries of the select list.
func (c *core) expand() {
	for _, x := range c.sel.Items {
		s, ok := ast.Unparen(x).(*ast.Star)
		if !ok {
			c.list = append(c.list, entry{x: x})
			continue
		}
		cols, ok := c.b.star(s, c.in)
		c.ok = c.ok && ok
		for i := range cols {
			c.list = append(c.list, entry{star: &cols[i]})
		}
	}
	if c.pipe == "" {
		return
	}
	// What only a qualifier reaches is still there after a pipe operator.
	for _, k := range c.in.cols {
		if k.hidden && k.meta == nil {
			x := bound{e: k.attr.Ref(), text: k.attr.Name, name: k.attr.Name}
			c.list = append(c.list, entry{star: &starCol{x, k.quals}, hidden: true})
		}
	}
}

// bindItems binds the select list in order; later items may use the aliases of
// earlier ones.
func (c *core) bindItems() {
	used := map[logical.ColumnID]bool{}
	for i, en := range c.list {
		if en.star != nil {
			c.addItem(item{bound: en.star.bound, quals: en.star.quals, hidden: en.hidden}, used)
			continue
		}
		x, names := en.x, []ast.Ident(nil)
		if a, ok := x.(*ast.Alias); ok {
			x, names = a.X, a.Names
		}
		if g := c.genAt(i); g != nil {
			c.ok = c.ok && g.ok
			c.items = append(c.items, g.items...)
			continue
		}
		y, ok := c.b.expr(x, c.env)
		c.ok = c.ok && ok
		if !ok {
			continue
		}
		it := item{bound: y}
		if k, ok := x.(*ast.Column); ok && len(names) == 0 && len(k.Name.Parts) > 1 {
			if _, bare := y.e.(*logical.Column); !bare {
				it.field = y.name // t.s.f is named f, as with AS f
			}
		}
		switch {
		case len(names) == 1:
			it.alias = names[0].Name
		case len(names) > 1:
			c.b.fail(en.x.Range(), "MULTI_ALIAS_WITHOUT_GENERATOR", "Multi part aliasing is not supported for an expression that is no generator.")
			c.ok = false
			continue
		default:
			it.quals = c.qualsOf(y.e)
		}
		c.addItem(it, used)
	}
}

// qualsOf gives a bare column its qualifier, so that ORDER BY t.a finds it.
func (c *core) qualsOf(e logical.Expr) []string {
	if x, ok := e.(*logical.Column); ok {
		for _, k := range c.in.cols {
			if k.attr.ID == x.Attr.ID {
				return k.quals
			}
		}
	}
	return nil
}

// addItem names the item and gives it an identity: a bare column keeps its
// own, once.
func (c *core) addItem(it item, used map[logical.ColumnID]bool) {
	name := it.alias
	if name == "" {
		name = it.columnName()
	}
	it.attr = logical.Attr{Name: name, Type: it.e.Type(), Nullable: it.e.Nullable(), Watermark: -1, Declared: logical.DeclarationOf(it.e)}
	x, bare := it.e.(*logical.Column)
	// A column of an outer query is another one here.
	bare = bare && it.alias == "" && !c.isOuter(x.Attr.ID)
	switch {
	case bare && !used[x.Attr.ID]:
		it.attr.ID, it.attr.Watermark = x.Attr.ID, x.Attr.Watermark
	case bare:
		it.attr.ID, it.repeats = c.b.id(), x.Attr.ID
	default:
		it.attr.ID = c.b.id()
	}
	used[it.attr.ID] = true
	c.items = append(c.items, it)
}

// isOuter reports a column of a query around this one.
func (c *core) isOuter(id logical.ColumnID) bool {
	if c.in.outers == nil {
		return false
	}
	_, ok := logical.Find(c.in.outers.attrs, id)
	return ok
}

// lateral resolves a name against the aliases of earlier items.
func (c *core) lateral(parts []ast.Ident) (bound, bool) {
	x, ok := c.aliasNamed(parts, true)
	if !ok {
		return c.generatedName(parts)
	}
	x.text = "lateralAliasReference(" + parts[len(parts)-1].Name + ")"
	return x, ok
}

// inlineLimit is the size up to which an alias is inlined where it is used.
const inlineLimit = 60

func (c *core) aliasNamed(parts []ast.Ident, explicit bool) (bound, bool) {
	at := -1
	for i, it := range c.items {
		name := it.alias
		if name == "" {
			name = it.field
		}
		if name == "" && !explicit {
			name = it.attr.Name
			if x, ok := it.e.(*logical.Column); ok && it.gen == nil && x.Attr.ID == it.attr.ID {
				continue // found as a column of FROM
			}
		}
		if name == "" || !strings.EqualFold(name, parts[0].Name) || explicit && it.gen != nil && len(it.gen.attrs) > 1 {
			continue
		}
		if at >= 0 && explicit {
			c.b.fail(parts[0].Span, "AMBIGUOUS_LATERAL_COLUMN_ALIAS", "Lateral column alias `%s` is ambiguous and has %d matches.", name, 2)
			return bound{}, true
		}
		at = i
	}
	if at < 0 || explicit && c.items[at].gen != nil {
		return bound{}, false
	}
	it := &c.items[at]
	if explicit {
		c.share(it)
	}
	x := bound{e: it.e, text: parts[0].Name, name: parts[0].Name}
	for _, p := range parts[1:] {
		var ok bool
		if x, ok = c.b.access(p.Span, x, p); !ok {
			return bound{}, true
		}
	}
	return x, true
}

// share moves an expression that should not be repeated into a node below.
func (c *core) share(it *item) {
	if _, ok := it.e.(*logical.Column); ok || hasAgg(it.e) || hasWindow(it.e) || c.readsGenerated(it.e) {
		return
	}
	if logical.Volatility(it.e) < funcs.Volatile && size(it.e) <= inlineLimit {
		return
	}
	a := c.b.attr(it.attr.Name, it.e.Type(), it.e.Nullable())
	c.pre = append(c.pre, logical.Alias{Expr: it.e, Attr: a})
	it.e = a.Ref()
}

func size(e logical.Expr) int {
	n := 0
	logical.WalkExpr(e, func(logical.Expr) bool {
		n++
		return n <= inlineLimit
	})
	return n
}
