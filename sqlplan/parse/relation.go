package parse

import (
	"strconv"
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
)

// from reads the relations after FROM.
func (p *parser) from() ast.Relation {
	x := p.relation()
	for n := 1; p.acceptOp(","); n++ {
		p.chain(n)
		r := p.relation()
		x = &ast.Join{Pos: ast.Pos{Span: x.Range().Join(r.Range())}, Kind: ast.CommaJoin, L: x, R: r, Lateral: isLateral(r)}
	}
	for p.i < p.end {
		switch {
		case p.isWords("LATERAL", "VIEW"):
			x = p.lateralView(x)
		case p.isWords("PIVOT") && p.at(1).isOp("("), p.unpivotAhead():
			// The relation took those that follow it: these follow a LATERAL VIEW.
			p.failCode(tokRange(p.tok()), diag.Code("NOT_ALLOWED_IN_FROM.LATERAL_WITH_"+p.tok().up),
				"Not allowed in the FROM clause: LATERAL together with "+p.tok().up+".")
		default:
			return x
		}
	}
	return x
}

func isLateral(r ast.Relation) bool {
	switch r := r.(type) {
	case *ast.SubqueryRel:
		return r.Lateral
	case *ast.TableFunc:
		return r.Lateral
	}
	return false
}

// relation reads a relation with the joins that follow it.
func (p *parser) relation() ast.Relation {
	p.enter()
	defer p.leave()
	lateral := p.isWords("LATERAL") && !p.at(1).isWord("VIEW")
	if lateral {
		p.i++
	}
	x := p.relPrimary(lateral)
	p.checkLateral(lateral, x)
	for n := 1; p.i < p.end; n++ {
		p.chain(n)
		switch {
		case p.isWords("PIVOT") && p.at(1).isOp("("):
			x = p.pivot(x)
		case p.unpivotAhead():
			x = p.unpivot(x)
		case p.joinAhead():
			x = p.join(x)
		default:
			return x
		}
	}
	return x
}

// joinAhead reports whether a join follows.
func (p *parser) joinAhead() bool {
	switch {
	case p.isAny("JOIN"), p.isWords("NATURAL"):
		return true
	case p.isAny("INNER", "CROSS", "SEMI", "ANTI"):
		return p.at(1).isWord("JOIN")
	case p.isAny("LEFT", "RIGHT", "FULL"):
		n := p.at(1)
		return n.isWord("JOIN") || n.isWord("OUTER") || n.isWord("SEMI") || n.isWord("ANTI")
	}
	return false
}

// join reads one join after its left side.
func (p *parser) join(left ast.Relation) *ast.Join {
	j := &ast.Join{L: left, Kind: ast.InnerJoin}
	start := p.start()
	if left != nil {
		start = left.Range().Start
	}
	j.Natural = p.accept("NATURAL")
	p.joinKind(j)
	p.expect("JOIN")
	j.Lateral = p.accept("LATERAL")
	j.R = p.relPrimary(j.Lateral)
	p.checkLateral(j.Lateral, j.R)
	switch {
	case j.Natural:
	case p.accept("ON"):
		j.On = p.expr()
	case p.isWords("USING") && p.at(1).isOp("("):
		p.i++
		j.Using = p.identList()
	case p.isAny("APPROX", "EXACT") && p.at(1).isWord("NEAREST"):
		j.Nearest = p.nearest()
	}
	j.Pos = p.pos(start)
	p.checkJoin(j)
	return j
}

// checkJoin refuses combinations that no join can have.
func (p *parser) checkJoin(j *ast.Join) {
	r := diag.Range{Start: j.R.Range().Start, End: j.Span.End}
	switch {
	case j.Natural && j.Kind == ast.CrossJoin:
		p.failCode(r, "INCOMPATIBLE_JOIN_TYPES", "The join types NATURAL and CROSS are incompatible.")
	case !j.Lateral:
	case j.Natural:
		p.failCode(r, "INCOMPATIBLE_JOIN_TYPES", "The join types NATURAL and LATERAL are incompatible.")
	case j.Using != nil:
		p.failCode(r, "UNSUPPORTED_FEATURE.LATERAL_JOIN_USING", "The feature is not supported: JOIN USING with LATERAL correlation.")
	case j.Kind != ast.InnerJoin && j.Kind != ast.CrossJoin && j.Kind != ast.LeftJoin:
		p.failCode(r, "INVALID_LATERAL_JOIN_TYPE", "This kind of JOIN with LATERAL correlation is not allowed because an OUTER subquery cannot correlate to its join partner. Remove the LATERAL correlation or use an INNER JOIN, or LEFT OUTER JOIN instead.")
	}
}

// checkLateral refuses LATERAL before anything but a subquery or a function.
func (p *parser) checkLateral(lateral bool, r ast.Relation) {
	if lateral && !isLateral(r) {
		p.failCode(r.Range(), "INVALID_SQL_SYNTAX.LATERAL_WITHOUT_SUBQUERY_OR_TABLE_VALUED_FUNC",
			"Invalid SQL syntax: LATERAL can only be used with subquery and table-valued functions.")
	}
}

// joinKind reads the words before JOIN.
func (p *parser) joinKind(j *ast.Join) {
	switch p.acceptAny("INNER", "CROSS", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI") {
	case "CROSS":
		j.Kind = ast.CrossJoin
	case "LEFT":
		switch p.acceptAny("OUTER", "SEMI", "ANTI") {
		case "SEMI":
			j.Kind = ast.LeftSemiJoin
		case "ANTI":
			j.Kind = ast.LeftAntiJoin
		default:
			j.Kind = ast.LeftJoin
		}
	case "RIGHT":
		p.accept("OUTER")
		j.Kind = ast.RightJoin
	case "FULL":
		p.accept("OUTER")
		j.Kind = ast.FullJoin
	case "SEMI":
		j.Kind = ast.LeftSemiJoin
	case "ANTI":
		j.Kind = ast.LeftAntiJoin
	}
}

// nearest reads APPROX NEAREST [n] BY DISTANCE|SIMILARITY expr.
func (p *parser) nearest() *ast.Nearest {
	start := p.start()
	n := &ast.Nearest{Exact: p.advance().up == "EXACT"}
	p.i++
	if !p.isWords("BY") {
		n.Count = p.value(0)
	}
	p.expect("BY")
	n.Similarity = p.expectAny("DISTANCE", "SIMILARITY") == "SIMILARITY"
	n.By = p.expr()
	n.Pos = p.pos(start)
	return n
}

// relPrimary reads one relation without joins.
func (p *parser) relPrimary(lateral bool) ast.Relation {
	t := p.tok()
	switch {
	case p.i >= p.end:
		p.fail("expected a table")
	case t.isOp("("):
		return p.parenRel(lateral)
	case t.isWord("VALUES") && p.queryStart(p.i):
		return p.values()
	case t.isWord("STREAM") && p.streamAhead():
		return p.stream()
	case t.isWord("TABLE") && p.at(1).isOp("("):
		return p.tableFuncCall(lateral)
	case t.kind == word && noOperand[t.up] && !p.at(1).isOp("."):
		p.fail("expected a table")
	}
	return p.tableOrFunc(lateral, false)
}

// parenRel reads a query or a relation in parentheses.
func (p *parser) parenRel(lateral bool) ast.Relation {
	start := p.start()
	if p.isQuery(p.i) {
		q := p.parenQuery()
		s := &ast.SubqueryRel{Query: q, Lateral: lateral}
		p.relTail(&s.RelTail)
		s.Pos = p.pos(start)
		return s
	}
	open := p.advance()
	end := p.end
	if open.match > 0 {
		p.end = open.match
	}
	r := p.relation()
	for p.acceptOp(",") {
		y := p.relation()
		r = &ast.Join{Pos: ast.Pos{Span: r.Range().Join(y.Range())}, Kind: ast.CommaJoin, L: r, R: y}
	}
	p.end = end
	p.expectOp(")")
	s := &ast.ParenRel{Rel: r}
	p.relTail(&s.RelTail)
	s.Pos = p.pos(start)
	return s
}

// streamAhead reports whether STREAM is the keyword and not a table's name.
func (p *parser) streamAhead() bool {
	n := p.at(1)
	switch {
	case n.isOp("("):
		return true
	case n.kind == quoted:
		return true
	case n.kind != word || joinWords[n.up] || noAlias[n.up] || n.isWord("WATERMARK") || n.isWord("TABLESAMPLE"):
		return false
	}
	// "FROM stream s" is a table with an alias only if nothing says otherwise:
	// Spark reads STREAM before a name as the keyword.
	p.i++
	ok := !p.clauseStart(p.i)
	p.i--
	return ok
}

// stream reads STREAM t, STREAM(t), STREAM f(...) and STREAM (query).
func (p *parser) stream() ast.Relation {
	start := p.start()
	p.i++
	if !p.isOp("(") {
		return p.tableOrFunc(false, true)
	}
	if p.isQuery(p.i) {
		q := p.parenQuery()
		s := &ast.SubqueryRel{Query: q, Stream: true}
		p.relTail(&s.RelTail)
		s.Pos = p.pos(start)
		return s
	}
	p.i++
	n := p.name()
	if p.isOp("(") {
		f := p.tableCall(n)
		f.Stream = true
		p.expectOp(")")
		p.relTail(&f.RelTail)
		f.Pos = p.pos(start)
		return f
	}
	t := &ast.Table{Name: n, Stream: true}
	p.expectOp(")")
	p.tableOptions(t)
	p.relTail(&t.RelTail)
	t.Pos = p.pos(start)
	return t
}

// tableOrFunc reads a table or the call of a table function.
func (p *parser) tableOrFunc(lateral, stream bool) ast.Relation {
	start := p.start()
	if stream {
		start = p.toks[p.i-1].start
	}
	if !p.isIdent() {
		p.fail("expected a table")
	}
	n := p.name()
	if p.isOp("(") {
		f := p.tableCall(n)
		f.Stream, f.Lateral = stream, lateral
		p.relTail(&f.RelTail)
		f.Pos = p.pos(start)
		return f
	}
	t := &ast.Table{Name: n, Stream: stream}
	p.timeTravel(t)
	p.tableOptions(t)
	p.relTail(&t.RelTail)
	t.Pos = p.pos(start)
	return t
}

// tableFuncCall reads TABLE(f(...)).
func (p *parser) tableFuncCall(lateral bool) ast.Relation {
	start := p.start()
	p.i += 2
	n := p.name()
	if !p.isOp("(") {
		p.fail("expected the call of a table function")
	}
	f := p.tableCall(n)
	f.Table, f.Lateral = true, lateral
	p.expectOp(")")
	p.relTail(&f.RelTail)
	f.Pos = p.pos(start)
	return f
}

// tableCall reads the arguments of a table function.
func (p *parser) tableCall(n ast.Name) *ast.TableFunc {
	p.expectOp("(")
	f := &ast.TableFunc{Name: n}
	if !p.isOp(")") {
		f.Args = list(p, p.argument)
	}
	p.expectOp(")")
	return f
}

// timeTravel reads VERSION AS OF, TIMESTAMP AS OF and CHANGES.
func (p *parser) timeTravel(t *ast.Table) {
	if p.isWords("FOR") && (p.at(2).isWord("AS") && p.at(3).isWord("OF")) {
		p.i++
	}
	switch {
	case p.isAny("VERSION", "SYSTEM_VERSION") && p.at(1).isWord("AS") && p.at(2).isWord("OF"):
		p.i += 3
		t.Version = p.value(0)
	case p.isAny("TIMESTAMP", "SYSTEM_TIME") && p.at(1).isWord("AS") && p.at(2).isWord("OF"):
		p.i += 3
		t.Time = p.value(0)
	case p.isWords("CHANGES", "FROM"):
		start := p.start()
		p.i += 2
		c := &ast.Changes{ByTime: p.expectAny("VERSION", "TIMESTAMP") == "TIMESTAMP"}
		c.From = p.value(0)
		if p.accept("TO") {
			p.acceptAny("VERSION", "TIMESTAMP")
			c.To = p.value(0)
		}
		c.Pos = p.pos(start)
		t.Changes = c
	}
}

// tableOptions reads WITH (key = value, ...) after a table.
func (p *parser) tableOptions(t *ast.Table) {
	if p.isWords("WITH") && p.at(1).isOp("(") {
		p.i++
		t.Options = p.properties()
	}
}

// relTail reads TABLESAMPLE, WATERMARK and the alias.
func (p *parser) relTail(t *ast.RelTail) {
	if p.sampleAhead() {
		t.Sample = p.sample()
	}
	if p.watermarkAhead() {
		t.Watermark = p.watermark()
	}
	t.Alias = p.tableAlias()
	if t.Watermark == nil && p.watermarkAhead() {
		t.Watermark = p.watermark()
	}
	if t.Sample == nil && p.sampleAhead() {
		t.Sample = p.sample()
	}
}

// watermarkAhead reports whether WATERMARK x ... DELAY stands here.
func (p *parser) watermarkAhead() bool {
	if !p.isWords("WATERMARK") || p.i >= p.end {
		return false
	}
	n := p.at(1)
	return n.kind == word || n.kind == quoted || n.isOp("(")
}

// watermark reads WATERMARK expr [AS name] DELAY OF INTERVAL ...
func (p *parser) watermark() *ast.Watermark {
	start := p.start()
	p.i++
	w := &ast.Watermark{}
	x := p.expr()
	if p.accept("AS") {
		id := p.declared()
		x = &ast.Alias{Pos: p.pos(x.Range().Start), X: x, Names: []ast.Ident{id}}
	}
	w.X = x
	p.expect("DELAY", "OF")
	w.Delay = p.delay()
	w.Pos = p.pos(start)
	return w
}

// delay reads the interval of a watermark.
func (p *parser) delay() *ast.IntervalLit {
	if p.isWords("INTERVAL") {
		if k := p.at(1).kind; (k == str || k == rawStr) && unitWord(p.at(2).up) == "" {
			p.quotedDelay(p.at(1))
		}
		return p.interval()
	}
	p.fail("expected INTERVAL")
	return nil
}

// quotedDelay fails at the text of INTERVAL '10 seconds': the grammar wants the
// unit outside of the quotes here.
func (p *parser) quotedDelay(t token) {
	example := "10 SECONDS"
	if words := strings.Fields(strings.Trim(p.textOf(t), `'"`)); len(words) == 2 && unitWord(strings.ToUpper(words[1])) != "" {
		example = strings.ToUpper(strings.Join(words, " "))
	}
	d := diag.At(p.text, tokRange(t), "PARSE_SYNTAX_ERROR", "Syntax error at or near "+p.near(p.at(2))+": the unit of a delay stands outside of the quotes")
	panic(bailout{d: d.WithHint("write INTERVAL " + example)})
}

// tableAlias reads [AS] name [(columns)], or returns nil.
func (p *parser) tableAlias() *ast.TableAlias {
	start := p.start()
	if p.isWords("AS") && p.at(1).isOp("(") { // names for the columns alone
		p.i++
		a := &ast.TableAlias{Columns: p.identList()}
		a.Pos = p.pos(start)
		return a
	}
	as := p.isWords("AS") && (p.at(1).kind == word || p.at(1).kind == quoted)
	if as {
		p.i++
		if t := p.tok(); t.kind == word && joinWords[t.up] {
			p.fail("it needs back quotes as an alias")
		}
	} else if !p.aliasAhead(true) {
		return nil
	}
	a := &ast.TableAlias{Name: p.declared()}
	if p.isOp("(") {
		a.Columns = p.identList()
	}
	a.Pos = p.pos(start)
	return a
}

// sampleAhead reports whether TABLESAMPLE [SYSTEM | BERNOULLI] (...) stands here.
func (p *parser) sampleAhead() bool {
	if !p.isWords("TABLESAMPLE") {
		return false
	}
	return p.at(1).isOp("(") || p.at(2).isOp("(") && (p.at(1).isWord("SYSTEM") || p.at(1).isWord("BERNOULLI"))
}

// sample reads TABLESAMPLE [SYSTEM | BERNOULLI] (...) [REPEATABLE (seed)]. Rows
// are sampled one by one; whole blocks (SYSTEM) are for tables that offer it.
func (p *parser) sample() *ast.Sample {
	start := p.start()
	p.i++
	if p.acceptAny("BERNOULLI", "SYSTEM") == "SYSTEM" {
		if end := p.tok().match; end > 0 && p.toks[end-1].isWord("ROWS") {
			p.failCode(p.since(start), "UNSUPPORTED_FEATURE.TABLESAMPLE_SYSTEM_SAMPLE_METHOD", "TABLESAMPLE SYSTEM takes a percentage only, and is not supported: rows are sampled one by one (BERNOULLI).")
		}
		p.failCode(p.since(start), "UNSUPPORTED_FEATURE.TABLESAMPLE_SYSTEM_NO_SCAN", "TABLESAMPLE SYSTEM is not supported: rows are sampled one by one (BERNOULLI).")
	}
	open := p.expectOp("(")
	s := &ast.Sample{}
	switch {
	case p.isOp(")"):
		p.failCode(diag.Range{Start: open.start, End: p.tok().end}, "_LEGACY_ERROR_TEMP_0014", "TABLESAMPLE does not accept empty inputs.")
	case p.isWords("BUCKET"):
		p.i++
		s.Kind = ast.SampleBucket
		s.Bucket = p.smallNumber()
		p.expect("OUT", "OF")
		s.Of = p.smallNumber()
		if p.isWords("ON") {
			p.failCode(p.since(start), "_LEGACY_ERROR_TEMP_0016", "TABLESAMPLE(BUCKET x OUT OF y ON column) is not supported.")
		}
		if s.Bucket > s.Of {
			p.failCode(p.since(start), "_LEGACY_ERROR_TEMP_0064", "Sampling fraction must be on interval [0, 1].")
		}
	default:
		s.X = p.value(0)
		switch {
		case p.accept("PERCENT"):
			s.Kind = ast.SamplePercent
			p.checkPercent(s.X)
		case p.accept("ROWS"):
			s.Kind = ast.SampleRows
		default:
			p.failCode(s.X.Range(), "_LEGACY_ERROR_TEMP_0015", "TABLESAMPLE(byteLengthLiteral) is not supported; write PERCENT or ROWS.")
		}
	}
	p.expectOp(")")
	if p.isWords("REPEATABLE") && p.at(1).isOp("(") {
		p.i += 2
		s.Seed = p.value(0)
		p.expectOp(")")
	}
	s.Pos = p.pos(start)
	return s
}

// checkPercent refuses percentages outside 0 to 100.
func (p *parser) checkPercent(x ast.Expr) {
	n, ok := x.(*ast.NumberLit)
	if !ok {
		return
	}
	if v, err := strconv.ParseFloat(n.Text, 64); err != nil || v < 0 || v > 100 {
		p.failCode(n.Span, "_LEGACY_ERROR_TEMP_0064", "The sampling percentage must be between 0 and 100.")
	}
}

func (p *parser) smallNumber() int {
	t := p.tok()
	n, err := strconv.Atoi(p.textOf(t))
	if t.kind != number || err != nil {
		p.fail("expected a whole number")
	}
	p.i++
	return n
}
