package parse

import "pipelines/sqlplan/ast"

// sortItem reads x [ASC|DESC] [NULLS FIRST|LAST].
func (p *parser) sortItem() ast.SortItem {
	start := p.start()
	s := ast.SortItem{X: p.expr()}
	p.sortOrder(&s)
	s.Pos = p.pos(start)
	return s
}

// sortOrder reads the direction of a sort item.
func (p *parser) sortOrder(s *ast.SortItem) {
	if p.accept("DESC") {
		s.Desc = true
	} else if p.accept("ASC") {
		s.Asc = true
	}
	if p.accept("NULLS") {
		s.Nulls = ast.NullsFirst
		if p.expectAny("FIRST", "LAST") == "LAST" {
			s.Nulls = ast.NullsLast
		}
	}
}

// window reads what stands after OVER or after AS in WINDOW.
func (p *parser) window() *ast.Window {
	start := p.start()
	if !p.isOp("(") {
		id := p.declared()
		return &ast.Window{Pos: p.pos(start), Ref: id, Bare: true}
	}
	w := &ast.Window{}
	p.i++
	if p.isIdent() && p.at(1).isOp(")") {
		w.Ref = p.ident()
	}
	switch {
	case p.accept("CLUSTER", "BY"):
		w.PartitionBy = list(p, p.expr) // as Spark has it: no order
	default:
		if p.accept("PARTITION", "BY") || p.accept("DISTRIBUTE", "BY") {
			w.PartitionBy = list(p, p.expr)
		}
		if p.accept("ORDER", "BY") || p.accept("SORT", "BY") {
			w.OrderBy = list(p, p.sortItem)
		}
	}
	if p.isAny("ROWS", "RANGE") {
		w.Frame = p.frame()
	}
	p.expectOp(")")
	w.Pos = p.pos(start)
	return w
}

func (p *parser) frame() *ast.Frame {
	start := p.start()
	f := &ast.Frame{Unit: ast.Rows}
	if p.advance().up == "RANGE" {
		f.Unit = ast.RangeUnit
	}
	if p.accept("BETWEEN") {
		f.Start = p.bound()
		p.expect("AND")
		end := p.bound()
		f.End = &end
	} else {
		f.Start = p.bound()
	}
	f.Pos = p.pos(start)
	return f
}

func (p *parser) bound() ast.Bound {
	start := p.start()
	b := ast.Bound{}
	switch {
	case p.accept("UNBOUNDED"):
		b.Kind = ast.UnboundedPreceding
		if p.expectAny("PRECEDING", "FOLLOWING") == "FOLLOWING" {
			b.Kind = ast.UnboundedFollowing
		}
	case p.accept("CURRENT", "ROW"):
		b.Kind = ast.CurrentRow
	default:
		b.X = p.value(0)
		b.Kind = ast.Preceding
		if p.expectAny("PRECEDING", "FOLLOWING") == "FOLLOWING" {
			b.Kind = ast.Following
		}
	}
	b.Pos = p.pos(start)
	return b
}

// namedWindows reads the list of a WINDOW clause.
func (p *parser) namedWindows() []ast.NamedWindow {
	ws := list(p, func() ast.NamedWindow {
		start := p.start()
		id := p.declared()
		p.expect("AS")
		w := p.window()
		return ast.NamedWindow{Pos: p.pos(start), Name: id, Window: w}
	})
	p.checkWindows(ws)
	return ws
}

// checkWindows refuses names that come twice and references to no window.
func (p *parser) checkWindows(ws []ast.NamedWindow) {
	byName := map[string]*ast.Window{}
	for _, w := range ws {
		k := upper(w.Name.Name)
		if byName[k] != nil {
			p.failCode(w.Span, "INVALID_SQL_SYNTAX.REPETITIVE_WINDOW_DEFINITION",
				"Invalid SQL syntax: The definition of window `"+w.Name.Name+"` is repetitive.")
		}
		byName[k] = w.Window
	}
	for _, w := range ws {
		if w.Window.Ref.Name == "" {
			continue
		}
		switch of := byName[upper(w.Window.Ref.Name)]; {
		case of == nil:
			p.failCode(w.Span, "INVALID_SQL_SYNTAX.UNRESOLVED_WINDOW_REFERENCE",
				"Invalid SQL syntax: Cannot resolve window reference `"+w.Window.Ref.Name+"`.")
		case of.Ref.Name != "":
			p.failCode(w.Span, "INVALID_SQL_SYNTAX.INVALID_WINDOW_REFERENCE",
				"Invalid SQL syntax: Window reference `"+w.Window.Ref.Name+"` is not a window specification.")
		}
	}
}
