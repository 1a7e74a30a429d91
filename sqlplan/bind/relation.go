package bind

import (
	"errors"
	"math/rand"
	"strconv"
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// from binds a FROM clause; nil means none.
func (b *Binder) from(r ast.Relation, up enclosing) (logical.Node, *scope) {
	if r == nil {
		return oneRow(), up.over(&scope{absent: true})
	}
	n, s := b.relation(r, up)
	return n, up.over(&scope{cols: s.cols, broken: s.broken || n == nil})
}

// relation binds one relation. A broken scope comes with a nil node.
func (b *Binder) relation(r ast.Relation, up enclosing) (logical.Node, *scope) {
	b.depth++
	defer func() { b.depth-- }()
	if b.depth > maxExprDepth {
		b.fail(r.Range(), "EXPRESSION_TOO_DEEP", "The relation is nested too deeply.")
		return nil, &scope{broken: true}
	}
	switch r := r.(type) {
	case *ast.Table:
		n, s := b.table(r, up)
		return b.relTail(n, s, r.RelTail, up)
	case *ast.TableFunc:
		n, s := b.tableFunc(r, up)
		if a := r.Alias; n != nil && a != nil && len(a.Columns) > 0 && len(a.Columns) != len(s.visible()) {
			b.fail(a.Span, "NUM_TABLE_VALUE_ALIASES_MISMATCH", "Number of given aliases does not match number of output columns. Function name: `%s`; number of aliases: %d; number of output columns: %d.",
				r.Name.Last().Name, len(a.Columns), len(s.visible()))
			return nil, &scope{broken: true}
		}
		return b.relTail(n, s, r.RelTail, up)
	case *ast.SubqueryRel:
		if r.Stream {
			b.fail(r.Span, "PARSE_SYNTAX_ERROR", "STREAM is followed by a table, not by a query.")
			return nil, &scope{broken: true}
		}
		n, s := b.query(r.Query, up)
		if n != nil {
			s = &scope{cols: unqualified(s.visible())}
		}
		return b.relTail(n, s, r.RelTail, up)
	case *ast.Values:
		return b.values(r)
	case *ast.ParenRel:
		n, s := b.relation(r.Rel, up)
		return b.relTail(n, s, r.RelTail, up)
	case *ast.Join:
		return b.join(r, up)
	case *ast.Pivot:
		n, s := b.relation(r.Input, up)
		return b.pivot(r, n, s)
	case *ast.Unpivot:
		n, s := b.relation(r.Input, up)
		return b.unpivot(r, n, s)
	case *ast.LateralView:
		if r.Input == nil { // over one row, as a SELECT without FROM is
			return b.lateralView(r, oneRow(), &scope{}, up)
		}
		n, s := b.relation(r.Input, up)
		return b.lateralView(r, n, s, up)
	}
	panic("bug: bind: unknown relation")
}

func unqualified(cols []col) []col {
	out := make([]col, len(cols))
	for i, c := range cols {
		c.quals = nil
		out[i] = c
	}
	return out
}

// relTail applies TABLESAMPLE, WATERMARK and the alias.
func (b *Binder) relTail(n logical.Node, s *scope, t ast.RelTail, up enclosing) (logical.Node, *scope) {
	if n == nil {
		return nil, s
	}
	ok := true
	if t.Sample != nil {
		n, ok = b.sample(n, t.Sample)
	}
	if ok && t.Watermark != nil {
		n, s, ok = b.watermark(n, s, t.Watermark, up)
	}
	if !ok {
		return nil, &scope{broken: true}
	}
	if t.Alias != nil {
		return b.aliased(n, s, t.Alias)
	}
	return n, s
}

// aliased puts a relation under its alias.
func (b *Binder) aliased(n logical.Node, s *scope, a *ast.TableAlias) (logical.Node, *scope) {
	if len(a.Columns) > 0 {
		if n, s = b.renamed(n, s, a.Columns, a.Span); n == nil {
			return nil, s
		}
	}
	if a.Name.Name == "" {
		return n, s
	}
	out := &scope{}
	for _, c := range s.cols {
		if c.hidden {
			continue
		}
		c.quals = []string{a.Name.Name}
		out.cols = append(out.cols, c)
	}
	return n, out
}

// table binds a table, view, CTE or file path.
func (b *Binder) table(t *ast.Table, up enclosing) (logical.Node, *scope) {
	parts, ok := b.nameParts(t.Name, plain(&scope{}, "FROM"))
	broken := &scope{broken: true}
	if !ok {
		return nil, broken
	}
	if t.Changes != nil {
		b.notYet(t.Changes.Span, "CHANGES")
		return nil, broken
	}
	names := ast.Name{Parts: parts}.Strings()
	if c := b.ctes.find(names[0]); c != nil && len(parts) == 1 {
		// STREAM has no meaning for it, as in Spark: its query says what is read.
		if !b.count1(t.Span) {
			return nil, broken
		}
		if c.loop != nil {
			return b.recursionRef(c, t.Span)
		}
		n, s := b.cteReference(c, up)
		if n == nil {
			return nil, broken
		}
		out := &scope{}
		for _, k := range s.visible() {
			k.quals = []string{c.name}
			out.cols = append(out.cols, k)
		}
		return n, out
	}
	req := Request{Parts: names, Stream: t.Stream, Options: map[string]string{}, Place: b.text.Span(t.Name.Span), places: map[string]diag.Range{}}
	for _, p := range t.Options {
		key := strings.ToLower(p.Key)
		req.Options[key], req.places[key] = p.Text(), p.Span
	}
	if req.Version, ok = b.pin(t.Version); !ok {
		return nil, broken
	}
	if req.Timestamp, ok = b.pin(t.Time); !ok {
		return nil, broken
	}
	return b.lookup(req, t.Name.Span)
}

// pin evaluates the constant of VERSION AS OF and TIMESTAMP AS OF.
func (b *Binder) pin(e ast.Expr) (string, bool) {
	if e == nil {
		return "", true
	}
	x, ok := b.expr(e, plain(&scope{}, "AS OF"))
	if !ok {
		return "", false
	}
	v, ok := b.constant(x.e)
	if !ok || v.IsNull(0) {
		b.fail(e.Range(), "INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.NON_DETERMINISTIC", "The version or timestamp must be a constant.")
		return "", false
	}
	return b.literalText(v), true
}

// count1 counts a relation that is read or inlined, within the limit.
func (b *Binder) count1(r diag.Range) bool {
	if b.nodes++; b.nodes > maxPlanNodes {
		b.fail(r, "QUERY_TOO_LARGE", "The query reads more than %d relations after views and CTEs are inlined.", maxPlanNodes)
		return false
	}
	return true
}

// lookup asks the catalog and scans or inlines what it answers.
func (b *Binder) lookup(req Request, r diag.Range) (logical.Node, *scope) {
	broken := &scope{broken: true}
	if !b.count1(r) {
		return nil, broken
	}
	ans, err := b.catalog.Resolve(req)
	if err != nil {
		b.notFound(req, r, err)
		return nil, broken
	}
	if ans.View != nil {
		return b.view(ans.View, req, r)
	}
	rel := ans.Relation
	n := &logical.Scan{Relation: rel, Place: b.text.Span(r)}
	quals := rel.Name
	if !req.Function && (len(quals) == 0 || !strings.EqualFold(quals[len(quals)-1], req.Parts[len(req.Parts)-1])) {
		quals = req.Parts
	}
	s := &scope{}
	for i, f := range rel.Schema.Fields {
		a := b.attr(f.Name, f.Type, f.Nullable)
		a.Declared = declaration(f, i, ans.Declared)
		n.Columns, n.Fields = append(n.Columns, a), append(n.Fields, i)
		k := col{attr: a, quals: quals}
		if ans.Chars != nil {
			k.char = ans.Chars[i]
		}
		s.cols = append(s.cols, k)
	}
	if len(ans.Metadata) > 0 && rel.Schema.Index("_metadata") < 0 {
		m := &metaSource{scan: n, fields: ans.Metadata, made: map[string]logical.Attr{}}
		s.cols = append(s.cols, col{attr: logical.Attr{ID: -1, Name: "_metadata"}, quals: quals, unlisted: true, meta: m})
	}
	b.reads = append(b.reads, rel)
	return b.declaredWatermark(n, s, ans.EventTime, r)
}

// declaration is what the declaration of column i says beside its type in
// memory.
func declaration(f schema.Field, i int, declared *schema.Schema) *logical.Declaration {
	var d logical.Declaration
	d.Comment = f.Comment
	if declared != nil {
		if t := declared.Fields[i].Type; !t.SameShape(t.WithoutLength()) {
			d.Type = &t
		}
	}
	if d == (logical.Declaration{}) {
		return nil
	}
	return &d
}

func (b *Binder) notFound(req Request, r diag.Range, err error) {
	var nf *NotFound
	var bad *OptionError
	switch {
	case errors.As(err, &nf) && req.Function:
		hint := diag.DidYouMean(req.Parts[len(req.Parts)-1], []string{"range", "explode", "read_files", "read_kafka"})
		b.failHint(r, "UNRESOLVABLE_TABLE_VALUED_FUNCTION", hint,
			"Could not resolve "+quoteNames(req.Parts)+" to a table-valued function. Please make sure that it is defined and that all required parameters are provided correctly.")
	case errors.As(err, &nf):
		hint := diag.DidYouMean(strings.Join(req.Parts, "."), nf.Names)
		b.failHint(r, "TABLE_OR_VIEW_NOT_FOUND", hint, "The table or view "+quoteNames(req.Parts)+" cannot be found. Verify the spelling and correctness of the schema and catalog.")
	case errors.As(err, &bad):
		if at, ok := req.places[bad.Option]; ok {
			r = at
		}
		b.failErr(r, bad.Err)
	default:
		b.failErr(r, err)
	}
}

// view inlines a view, bound afresh.
func (b *Binder) view(v *View, req Request, r diag.Range) (logical.Node, *scope) {
	broken := &scope{broken: true}
	if v.Broken {
		b.silent = true
		return nil, broken
	}
	if b.views++; b.views > maxViewDepth {
		b.fail(r, "VIEW_EXCEED_MAX_NESTED_DEPTH", "The depth of view %s exceeds the maximum view resolution depth (%d).", quoteNames(v.Name), maxViewDepth)
		b.views--
		return nil, broken
	}
	text, ctes, session, catalog := b.text, b.ctes, b.session, b.catalog
	b.text, b.ctes = v.Text, nil
	if v.Session != nil {
		b.session = v.Session
	}
	if v.Catalog != nil {
		b.catalog = v.Catalog
	}
	n, s := b.query(v.Query, enclosing{})
	if n != nil && v.Binding != nil {
		n, s = b.boundView(v, n, s, r)
	}
	b.text, b.ctes, b.session, b.catalog = text, ctes, session, catalog
	b.views--
	if n == nil {
		return nil, broken
	}
	if !v.AnyRead && n.Streaming() != req.Stream {
		name := quoteNames(v.Name)
		if req.Stream {
			b.failHint(r, "INCOMPATIBLE_BATCH_VIEW_READ", "read it without STREAM", "View "+name+" is a batch view and must be referenced without the STREAM keyword.")
		} else {
			b.failHint(r, "INCOMPATIBLE_STREAMING_VIEW_READ", "write STREAM("+strings.Join(req.Parts, ".")+")", "View "+name+" is a streaming view and must be referenced using the STREAM keyword.")
		}
		return nil, broken
	}
	n, s, diags := b.outcome(v, n, s)
	for _, d := range diags {
		b.report(d)
	}
	if n == nil {
		return nil, broken
	}
	out := &scope{}
	cols := s.visible()
	if v.Columns != nil && len(v.Columns) != len(cols) {
		b.fail(r, "ASSIGNMENT_ARITY_MISMATCH", "The view %s names %d columns, but its query has %d.", quoteNames(v.Name), len(v.Columns), len(cols))
		return nil, broken
	}
	for i, c := range cols {
		c.quals = v.Name
		if v.Columns != nil {
			c.attr.Name = v.Columns[i]
		}
		if i < len(v.Comments) && v.Comments[i] != "" {
			c.attr.Declared = &logical.Declaration{Comment: v.Comments[i]}
		}
		out.cols = append(out.cols, c)
	}
	return n, out
}

// sample binds TABLESAMPLE.
func (b *Binder) sample(n logical.Node, t *ast.Sample) (logical.Node, bool) {
	out := &logical.Sample{Input: n, Rows: -1, Seed: int64(rand.NewSource(int64(t.Span.Start)).Int63())}
	if t.Seed != nil {
		v, ok := b.limitValue(t.Seed, "seed")
		if !ok {
			return nil, false
		}
		out.Seed = v
	}
	switch t.Kind {
	case ast.SampleRows:
		v, ok := b.limitValue(t.X, "sample")
		out.Rows = v
		return out, ok
	case ast.SampleBucket:
		if t.Of <= 0 {
			b.fail(t.Span, "PARSE_SYNTAX_ERROR", "The number of buckets must be positive.")
			return nil, false
		}
		out.Fraction = float64(t.Bucket) / float64(t.Of)
		return out, true
	}
	x, ok := b.expr(t.X, plain(&scope{}, "TABLESAMPLE"))
	if !ok {
		return nil, false
	}
	c, ok := b.cast(t.X.Range(), x.e, schema.Of(schema.Float64))
	if !ok {
		return nil, false
	}
	v, ok := b.constant(c)
	if !ok || v.IsNull(0) || v.F64[0] < 0 || v.F64[0] > 100 {
		b.fail(t.X.Range(), "_LEGACY_ERROR_TEMP_0064", "Sampling fraction (%s) must be on interval [0, 1].", x.text)
		return nil, false
	}
	out.Fraction = v.F64[0] / 100
	return out, true
}

// watermark binds WATERMARK column DELAY OF INTERVAL.
func (b *Binder) watermark(n logical.Node, s *scope, w *ast.Watermark, up enclosing) (logical.Node, *scope, bool) {
	x, alias := w.X, ""
	if a, ok := x.(*ast.Alias); ok && len(a.Names) == 1 {
		x, alias = a.X, a.Names[0].Name
	}
	y, ok := b.expr(x, plain(up.over(&scope{cols: s.cols, broken: s.broken}), "WATERMARK"))
	if !ok {
		return nil, s, false
	}
	if t := y.typ(); t.Kind != schema.Timestamp && !isWindowStruct(t) {
		b.fail(w.X.Range(), "EVENT_TIME_IS_NOT_ON_TIMESTAMP_TYPE", `The event time %s has the invalid type %q, but expected "TIMESTAMP".`, y.text, t.SQL())
		return nil, s, false
	}
	delay := w.Delay.Micros + int64(w.Delay.Days)*86_400_000_000 + int64(w.Delay.Months)*31*86_400_000_000
	if delay < 0 {
		b.fail(w.Delay.Span, "INVALID_WATERMARK_DELAY", "The delay threshold of a watermark should not be negative.")
		return nil, s, false
	}
	c, isCol := y.e.(*logical.Column)
	var a logical.Attr
	if isCol && alias == "" {
		a = c.Attr
		if n.Streaming() && redefines(n) {
			b.fail(w.Span, "STREAM_FAILED", "Redefining watermark is disallowed.")
			return nil, s, false
		}
	} else {
		a = b.attr(y.columnName(), y.typ(), y.e.Nullable())
		if alias != "" {
			a.Name = alias
		}
		p := &logical.Project{Input: n}
		for _, o := range n.Output() {
			p.Exprs = append(p.Exprs, logical.Alias{Expr: o.Ref(), Attr: o})
		}
		p.Exprs = append(p.Exprs, logical.Alias{Expr: y.e, Attr: a})
		n = p
		s = &scope{cols: append(append([]col(nil), s.cols...), col{attr: a, quals: firstQuals(s)})}
	}
	if !n.Streaming() {
		return n, s, true
	}
	b.warnDelay(w)
	out := &scope{}
	for _, k := range s.cols {
		if k.attr.ID == a.ID && k.meta == nil {
			k.attr.Watermark = delay
		}
		out.cols = append(out.cols, k)
	}
	return &logical.Watermark{Input: n, Column: a.ID, Delay: delay}, out, true
}

// warnDelay points at delays that surprise.
func (b *Binder) warnDelay(w *ast.Watermark) {
	switch {
	case w.Delay.Months != 0:
		b.report(diag.At(b.text, w.Delay.Span, "WATERMARK_DELAY_MONTH", "A month counts as 31 days in a watermark delay.").
			WithHint("write the delay in days").Warn())
	case w.Delay.Micros == 0 && w.Delay.Days == 0:
		b.report(diag.At(b.text, w.Delay.Span, "WATERMARK_DELAY_ZERO", "With a delay of zero, a row whose time equals the greatest time seen so far is late in the next batch.").
			WithHint("use a delay above the disorder of the source, at least 1 millisecond").Warn())
	}
}

// redefines reports a watermark below that no stateful operator separates.
func redefines(n logical.Node) bool {
	found := false
	logical.WalkNode(n, func(m logical.Node) bool {
		switch m.(type) {
		case *logical.Watermark:
			found = true
		case *logical.Aggregate, *logical.Distinct, *logical.Deduplicate, *logical.Join:
			return false
		}
		return !found
	})
	return found
}

func firstQuals(s *scope) []string {
	if len(s.cols) == 0 {
		return nil
	}
	return s.cols[0].quals
}

func isWindowStruct(t schema.Type) bool {
	return t.Kind == schema.Struct && len(t.Fields) == 2 && t.Fields[0].Name == "start" && t.Fields[1].Name == "end"
}

// tableFunc binds a function in FROM.
func (b *Binder) tableFunc(f *ast.TableFunc, up enclosing) (logical.Node, *scope) {
	broken := &scope{broken: true}
	if f.Name.Dynamic != nil {
		parts, ok := b.nameParts(f.Name, plain(&scope{}, "FROM"))
		if !ok {
			return nil, broken
		}
		named := *f
		named.Name = ast.Name{Pos: f.Name.Pos, Parts: parts}
		f = &named
	}
	name := strings.ToLower(f.Name.Last().Name)
	if k := Qualifiers(f.Name.Strings(), BuiltinSpace); k > 0 && k == len(f.Name.Parts)-1 {
		inner := *f
		inner.Name.Parts = f.Name.Parts[k:]
		f = &inner
	}
	if len(f.Name.Parts) == 1 {
		if name == "range" { // STREAM has no meaning for it, as in Spark
			return b.rangeFunc(f)
		}
		if fn := generatorOf(name); fn != nil {
			call := &ast.Call{Pos: f.Pos, Name: f.Name, Args: f.Args}
			g, ok := b.genCall(call, name, fn, plain(up.over(&scope{}), "FROM"))
			if !ok {
				return nil, broken
			}
			return g.node(oneRow()), scopeOf(g.attrs, []string{name})
		}
		if lookupScalar(name) != nil || lookupAggregate(name) != nil {
			b.fail(f.Name.Span, "NOT_A_TABLE_FUNCTION", "%s appears as a table function here, but the function was defined as a scalar function.", quoteNames(f.Name.Strings()))
			return nil, broken
		}
	}
	if u := b.userFunction(f.Name.Strings()); u != nil && !f.Stream {
		if u.Table {
			return b.userTable(f, u, up)
		}
		b.fail(f.Name.Span, "NOT_A_TABLE_FUNCTION", "%s appears as a table function here, but the function was defined as a scalar function.", quoteNames(f.Name.Strings()))
		return nil, broken
	}
	req := Request{Parts: f.Name.Strings(), Function: true, Stream: f.Stream, Options: map[string]string{}, Place: b.text.Span(f.Span), places: map[string]diag.Range{}}
	for i, a := range f.Args {
		if !b.option(a, i, &req) {
			return nil, broken
		}
	}
	return b.lookup(req, f.Name.Span)
}

// option evaluates one argument of a table function of the catalog.
func (b *Binder) option(a ast.Expr, i int, req *Request) bool {
	key, x := "path", a
	if i > 0 {
		key = "arg" + strconv.Itoa(i)
	}
	if n, ok := a.(*ast.NamedArg); ok {
		key, x = strings.ToLower(n.Name.Name), n.Value
	}
	if _, ok := x.(*ast.TableArg); ok {
		b.notYet(a.Range(), "a table as an argument")
		return false
	}
	y, ok := b.expr(x, plain(&scope{}, "FROM"))
	if !ok {
		return false
	}
	v, ok := b.constant(y.e)
	if !ok {
		b.fail(a.Range(), "NON_FOLDABLE_ARGUMENT", "The argument `%s` must be a constant.", key)
		return false
	}
	if v.Type.Kind == schema.Map && !v.IsNull(0) {
		from, to := v.List(0)
		for k := from; k < to; k++ {
			kk, isText := column.At(v.Children[0], k).(string)
			val, isText2 := column.At(v.Children[1], k).(string)
			if isText && isText2 {
				req.Options[strings.ToLower(kk)], req.places[strings.ToLower(kk)] = val, x.Range()
			}
		}
		return true
	}
	if !v.IsNull(0) {
		req.Options[key], req.places[key] = b.literalText(v), x.Range()
	}
	return true
}

// rangeFunc binds range([start,] end[, step[, partitions]]).
func (b *Binder) rangeFunc(f *ast.TableFunc) (logical.Node, *scope) {
	broken := &scope{broken: true}
	xs, ok := b.exprs(f.Args, plain(&scope{}, "FROM"))
	if !ok {
		return nil, broken
	}
	if len(xs) < 1 || len(xs) > 4 {
		b.fail(f.Span, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "The `range` requires [1, 2, 3, 4] parameters but the actual number is %d.", len(xs))
		return nil, broken
	}
	vals := make([]int64, len(xs))
	for i, x := range xs {
		if k := x.typ().Kind; !x.typ().IsNumeric() && k != schema.String && k != schema.Void {
			b.fail(f.Args[i].Range(), "UNEXPECTED_INPUT_TYPE", "The argument %d of the function `range` requires the \"BIGINT\" type, however \"%s\" has the type \"%s\".", i+1, x.text, x.typ().SQL())
			return nil, broken
		}
		c, ok := b.cast(f.Args[i].Range(), x.e, schema.Of(schema.Int64))
		if !ok {
			return nil, broken
		}
		v, err := fold(c, b.session)
		if err != nil {
			b.failErr(f.Args[i].Range(), err)
			return nil, broken
		}
		if v == nil {
			b.fail(f.Args[i].Range(), "NON_FOLDABLE_ARGUMENT", "The function `range` requires the parameter %d to be a foldable expression of the type \"BIGINT\", but the actual argument is a non-foldable.", i+1)
			return nil, broken
		}
		if v.IsNull(0) {
			b.fail(f.Args[i].Range(), "UNEXPECTED_INPUT_TYPE", "The arguments of `range` must be constant numbers.")
			return nil, broken
		}
		vals[i] = v.I64[0]
	}
	n := &logical.RangeScan{Step: 1, Column: b.attr("id", schema.Of(schema.Int64), false)}
	switch len(vals) {
	case 1:
		n.End = vals[0]
	default:
		n.Start, n.End = vals[0], vals[1]
	}
	if len(vals) > 2 {
		n.Step = vals[2]
	}
	if n.Step == 0 {
		b.fail(f.Span, "FAILED_FUNCTION_CALL", "Failed preparing of the function `range` for call: the step must not be 0.")
		return nil, broken
	}
	return n, scopeOf([]logical.Attr{n.Column}, []string{"range"})
}

// lateralView binds LATERAL VIEW.
func (b *Binder) lateralView(r *ast.LateralView, n logical.Node, s *scope, up enclosing) (logical.Node, *scope) {
	if n == nil {
		return nil, s
	}
	broken := &scope{broken: true}
	name := strings.ToLower(r.Call.Name.Last().Name)
	fn := generatorOf(name)
	if fn == nil {
		b.fail(r.Call.Span, "UNRESOLVED_ROUTINE", "Cannot resolve generator `%s`.", name)
		return nil, broken
	}
	g, ok := b.genCall(r.Call, name, fn, plain(up.over(&scope{cols: s.cols}), "LATERAL VIEW"))
	if !ok {
		return nil, broken
	}
	g.outer = g.outer || r.Outer
	return b.generated(r, n, s, g)
}

func (b *Binder) generated(r *ast.LateralView, n logical.Node, s *scope, g *genCall) (logical.Node, *scope) {
	if len(r.Columns) > 0 && len(r.Columns) != len(g.attrs) {
		b.fail(r.Span, "UDTF_ALIAS_NUMBER_MISMATCH",
			"The number of aliases supplied in the AS clause does not match the number of columns output by the UDTF. Expected %d aliases, but got %d.", len(g.attrs), len(r.Columns))
		return nil, &scope{broken: true}
	}
	out := &scope{cols: append([]col(nil), s.cols...)}
	var quals []string
	if r.Table != nil {
		quals = []string{r.Table.Name}
	}
	for i := range g.attrs {
		if len(r.Columns) > 0 {
			g.attrs[i].Name = r.Columns[i].Name
		}
		g.attrs[i].Nullable = g.attrs[i].Nullable || g.outer
		out.cols = append(out.cols, col{attr: g.attrs[i], quals: quals})
	}
	return g.node(n), out
}
