package parse

import (
	"pipelines/sqlplan/ast"
)

// createDataset reads the rest of CREATE STREAMING TABLE or MATERIALIZED VIEW.
func (p *parser) createDataset(start int, kind ast.DatasetKind, c created) ast.Statement {
	d := &ast.CreateDataset{Kind: kind, Refresh: c.refresh, Replace: c.replace, Private: c.private, Temporary: c.temporary}
	if c.live {
		d.Legacy = ast.LiveTable
		if c.streaming {
			d.Legacy = ast.StreamingLive
		}
	}
	d.IfNotExists = p.ifNotExists()
	d.Name = p.define()
	p.tableSpec(&d.TableSpec)
	p.datasetClauses(d)
	switch {
	case p.accept("FLOW"):
		d.CDC = p.autoCDC(p.start())
	case p.accept("AS"):
		d.Query = p.queryExpr()
	case !p.ended():
		d.Query = p.queryExpr()
	case kind == ast.MaterializedView:
		p.failCode(tokRange(p.tok()), "_LEGACY_ERROR_TEMP_0035", "Operation not allowed: CREATE MATERIALIZED VIEW without AS and a query.")
	}
	d.Pos = p.pos(start)
	return d
}

// datasetClauses refuses what no dataset can have.
func (p *parser) datasetClauses(d *ast.CreateDataset) {
	if d.Location != nil {
		p.clauseError(d.Location.Span, "LOCATION")
	}
	if len(d.Options) > 0 {
		p.clauseError(d.Options[0].Span, "OPTIONS")
	}
}

// createFlow reads CREATE FLOW name [COMMENT 'x'] AS INSERT INTO ... | AUTO CDC INTO ...
func (p *parser) createFlow(start int) ast.Statement {
	p.i++
	f := &ast.CreateFlow{IfNotExists: p.ifNotExists()}
	f.Name = p.name()
	if p.accept("COMMENT") {
		f.Comment = p.stringLit()
	}
	p.expect("AS")
	s := p.start()
	switch {
	case p.isWords("INSERT"):
		f.Insert = p.insert(s, nil)
	case p.isWords("WITH"):
		w := p.with()
		f.Insert = p.insert(s, w)
	case p.isWords("AUTO", "CDC"), p.isWords("APPLY", "CHANGES"):
		f.CDC = p.autoCDC(s)
	default:
		p.fail("expected INSERT INTO or AUTO CDC INTO")
	}
	f.Pos = p.pos(start)
	return f
}

// autoCDC reads AUTO CDC [ONCE] [INTO t] FROM source KEYS (...) ... and the older
// APPLY CHANGES INTO.
//
//tidy:allow-long one case per clause
func (p *parser) autoCDC(start int) *ast.AutoCDC {
	c := &ast.AutoCDC{}
	if p.accept("APPLY", "CHANGES") {
		c.Legacy = ast.ApplyChanges
	} else {
		p.expect("AUTO", "CDC")
	}
	c.Once = p.accept("ONCE")
	if p.accept("INTO") {
		c.Target = p.name()
	}
	p.expect("FROM")
	c.Source = p.cdcSource()
	for !p.ended() {
		at := p.start()
		switch {
		case p.accept("KEYS"):
			p.duplicate(c.Keys != nil, "KEYS", at)
			c.Keys = parenList(p, p.expr)
		case p.accept("IGNORE", "NULL", "UPDATES"), p.accept("IGNORE", "NULL"):
			p.duplicate(c.IgnoreNulls != nil, "IGNORE NULL UPDATES", at)
			c.IgnoreNulls = &ast.ColumnList{All: true}
			if p.accept("ON") {
				c.IgnoreNulls = p.columnList(at)
			}
			c.IgnoreNulls.Pos = p.pos(at)
		case p.accept("APPLY", "AS", "DELETE", "WHEN"), p.accept("DELETE", "WHEN"):
			p.duplicate(c.DeleteWhen != nil, "APPLY AS DELETE WHEN", at)
			c.DeleteWhen = p.expr()
		case p.accept("APPLY", "AS", "TRUNCATE", "WHEN"), p.accept("TRUNCATE", "WHEN"):
			p.duplicate(c.TruncateWhen != nil, "APPLY AS TRUNCATE WHEN", at)
			c.TruncateWhen = p.expr()
		case p.accept("SEQUENCE", "BY"):
			p.duplicate(c.SequenceBy != nil, "SEQUENCE BY", at)
			c.SequenceBy = p.expr()
		case p.accept("COLUMNS"):
			p.duplicate(c.Columns != nil, "COLUMNS", at)
			c.Columns = p.columnList(at)
		case p.isWords("STORED", "AS", "SCD", "TYPE"):
			p.duplicate(c.SCDType != "", "STORED AS SCD TYPE", at)
			p.i += 4
			c.SCDType = p.scdType()
		case p.accept("TRACK", "HISTORY", "ON"):
			p.duplicate(c.TrackHistory != nil, "TRACK HISTORY", at)
			c.TrackHistory = p.columnList(at)
		default:
			p.fail("expected KEYS, SEQUENCE BY, COLUMNS, STORED AS SCD TYPE or another clause of AUTO CDC")
		}
	}
	p.cdcComplete(c, start)
	c.Pos = p.pos(start)
	return c
}

// cdcComplete refuses AUTO CDC without its required clauses.
func (p *parser) cdcComplete(c *ast.AutoCDC, start int) {
	if len(c.Keys) == 0 {
		p.report(p.since(start), "AUTOCDC_EMPTY_KEYS", "AUTO CDC needs KEYS with at least one column.")
	}
	if c.SequenceBy == nil {
		p.report(p.since(start), "AUTOCDC_MISSING_SEQUENCE_BY", "AUTO CDC needs SEQUENCE BY.")
	}
}

// cdcSource reads what AUTO CDC reads from.
func (p *parser) cdcSource() ast.Relation {
	p.cdcSourcing = true
	r := p.relPrimary(false)
	p.cdcSourcing = false
	return r
}

// columnList reads (a, b), a, b or * EXCEPT (a, b).
func (p *parser) columnList(start int) *ast.ColumnList {
	l := &ast.ColumnList{}
	switch {
	case p.acceptOp("*"):
		l.All = true
		if p.accept("EXCEPT") {
			l.Names = parenList(p, p.value0)
		}
	case p.isOp("("):
		l.Names = parenList(p, p.value0)
	default:
		l.Names = list(p, p.value0)
	}
	l.Pos = p.pos(start)
	return l
}

func (p *parser) value0() ast.Expr { return p.value(0) }

// scdType reads 1, 2 or BITEMPORAL.
func (p *parser) scdType() string {
	t := p.tok()
	s := upper(p.textOf(t))
	if t.kind == number && (s == "1" || s == "2") || t.isWord("BITEMPORAL") {
		p.i++
		return s
	}
	p.fail("expected 1 or 2")
	return ""
}
