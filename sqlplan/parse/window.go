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
	return list(p, func() ast.NamedWindow {
		start := p.start()
		id := p.declared()
		p.expect("AS")
		w := p.window()
		return ast.NamedWindow{Pos: p.pos(start), Name: id, Window: w}
	})
}
