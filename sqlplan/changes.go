package sqlplan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/bind"
	"pipelines/sqlplan/logical"
	"pipelines/sqlplan/parse"
	"pipelines/sqlplan/rewrite"
	"pipelines/sqlplan/streaming"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// The columns that a plan of CompileChanges gives after those of the target.
const (
	SequenceColumn  = "__spark_autocdc_sequence"
	OperationColumn = "__spark_autocdc_operation"
)

// reservedPrefix starts names that sources of AUTO CDC may not use.
const reservedPrefix = "__spark_autocdc_"

// historyColumns are those that SCD type 2 adds.
var historyColumns = []string{"__START_AT", "__END_AT"}

// Term is an expression: Expr of the text, or the whole Text if Expr is nil. A
// term without a text is absent.
type Term struct {
	Text *diag.Text
	Expr Expr
}

// IsSet reports whether there is an expression.
func (t Term) IsSet() bool { return t.Text != nil }

// ColumnWord is the name of a column with its place.
type ColumnWord struct {
	Name  string
	Place diag.Span
}

// Changes describes AUTO CDC to CompileChanges. Source, Keys and Sequence are
// never empty.
type Changes struct {
	Source []string
	// Query, of Text, reads the source; nil: STREAM of its name.
	Query *Query
	Text  *diag.Text
	// File and Place are where the source is named.
	File     *diag.File
	Place    diag.Span
	Keys     []ColumnWord
	Sequence Term
	Delete   Term
	Truncate Term
	// Columns, or all but Except, are those of the target.
	Columns, Except []ColumnWord
	History         bool // SCD type 2
	// Tracked, or all but TrackedExcept, open a new version when they change.
	HasTracked             bool
	Tracked, TrackedExcept []ColumnWord
	// KeepOld: NULL in an upsert keeps the value before it, in KeepColumns, or
	// in all but KeepExcept.
	KeepOld                 bool
	KeepColumns, KeepExcept []ColumnWord
}

// ChangesPlan is a compiled AUTO CDC. Its Schema has the target's columns; the
// rows have SequenceColumn and OperationColumn behind them (NULL is an upsert,
// 1 a delete, 2 a truncate).
type ChangesPlan struct {
	*Plan
	Sequence schema.Type
	// Order is what the sequence is computed from, in a normal form.
	Order string
	// Keys and Tracked are places in Schema, KeepOld is by column or nil.
	Keys, Tracked []int
	KeepOld       []bool
	// Zone is the session time zone, where keys or sequence are computed in it.
	Zone string
}

// CompileChanges compiles the reading of a stream of changes.
func CompileChanges(c Changes, cat Catalog, opts Options) (*ChangesPlan, diag.List) {
	opts.Session = opts.session()
	k := &changesCompiler{Changes: c, opts: opts}
	text, q := k.sourceQuery()
	if q == nil {
		return nil, k.diags
	}
	k.whole = q.Range()
	b := bind.New(text, cat, bind.Options{Session: opts.Session, Params: opts.Params})
	node, diags := b.Query(q)
	k.diags = append(k.diags, diags...)
	if node == nil {
		return nil, k.diags
	}
	k.in, k.next = node.Output(), b.NextID()
	plan := &ChangesPlan{}
	cols := k.columns(plan)
	node = k.computed(node)
	if k.diags.HasErrors() {
		return nil, k.diags
	}
	if node, diags = k.checked(node, b); diags.HasErrors() {
		return nil, append(k.diags, diags...)
	}
	k.diags = append(k.diags, diags...)
	p := &logical.Project{Input: node}
	for _, a := range append(cols, k.seq, k.op) {
		p.Exprs = append(p.Exprs, logical.Alias{Expr: a.Ref(), Attr: a})
	}
	plan.Sequence, plan.Zone = k.seq.Type, k.zone(p, cols, plan.Keys)
	plan.Order = streaming.Origin(p, k.seq)
	plan.Plan, diags = k.finish(p, b, text)
	return plan, append(k.diags, diags...)
}

type changesCompiler struct {
	Changes
	opts    Options
	diags   diag.List
	in      []logical.Attr
	seq, op logical.Attr
	next    logical.ColumnID
	whole   diag.Range // of the query that reads the source
}

func (k *changesCompiler) fail(at diag.Span, code diag.Code, hint, format string, args ...any) {
	k.diags = append(k.diags, diag.AtSpan(k.File, at, code, fmt.Sprintf(format, args...)).WithHint(hint))
}

// sourceQuery is the query that reads the source; all of its text stands at the
// place where the source is named.
func (k *changesCompiler) sourceQuery() (*diag.Text, *Query) {
	if k.Query != nil {
		return k.Text, k.Query
	}
	var parts []string
	for _, p := range k.Source {
		parts = append(parts, "`"+strings.ReplaceAll(p, "`", "``")+"`")
	}
	body := "SELECT * FROM STREAM(" + strings.Join(parts, ".") + ")"
	at := []diag.Segment{{FileOffset: k.Place.Start.Offset, FileEnd: k.Place.End.Offset, Fixed: true}}
	text := diag.NewSubstituted(k.File, body, at)
	q, diags := parse.Query(text)
	k.diags = append(k.diags, diags...)
	if diags.HasErrors() {
		return text, nil
	}
	return text, q
}

// bare is a name as written without its backticks; ok is false where it is no
// single name.
func bare(name string) (string, bool) {
	if n := len(name); n > 1 && name[0] == '`' && name[n-1] == '`' {
		return strings.ReplaceAll(name[1:n-1], "``", "`"), true
	}
	return name, !strings.Contains(name, ".")
}

// find looks a listed column up, -1 if it is not there.
func (k *changesCompiler) find(w ColumnWord, in schema.Schema, code diag.Code, what string) int {
	name, single := bare(w.Name)
	if i := in.Index(w.Name); i >= 0 {
		return i
	}
	switch i := in.Index(name); {
	case i >= 0:
		return i
	case strings.ContainsAny(w.Name, "()+-*/ ") && name == w.Name:
		k.fail(w.Place, "AUTOCDC_NON_COLUMN_IDENTIFIER", "name a column", "%s is an expression; %s wants names of columns", w.Name, what)
	case !single:
		k.fail(w.Place, "AUTOCDC_MULTIPART_COLUMN_IDENTIFIER", "name a column of one part, or put backticks around it", "%s has several parts; %s wants names of columns", w.Name, what)
	default:
		hint := diag.DidYouMean(name, in.Names())
		if hint == "" {
			hint = "available: " + strings.Join(in.Names(), ", ")
		}
		k.fail(w.Place, code, hint, "%s: there is no column %s", what, name)
	}
	return -1
}

// places looks listed columns up and returns their places in order.
func (k *changesCompiler) places(ws []ColumnWord, in schema.Schema, what string) []int {
	var out []int
	for _, w := range ws {
		if i := k.find(w, in, "AUTOCDC_COLUMNS_NOT_FOUND_IN_SCHEMA", what); i >= 0 && !slices.Contains(out, i) {
			out = append(out, i)
		}
	}
	slices.Sort(out)
	return out
}

// chosen applies a list of columns, or of exceptions.
func (k *changesCompiler) chosen(list, except []ColumnWord, in schema.Schema, what string) []int {
	if list != nil {
		return k.places(list, in, what)
	}
	not := k.places(except, in, what)
	var out []int
	for i := range in.Fields {
		if !slices.Contains(not, i) {
			out = append(out, i)
		}
	}
	return out
}

// columns selects the target's columns and looks up all that is said of them.
func (k *changesCompiler) columns(p *ChangesPlan) []logical.Attr {
	source := logical.SchemaOf(k.in)
	for _, f := range source.Fields {
		if strings.HasPrefix(strings.ToLower(f.Name), reservedPrefix) {
			k.fail(k.Place, "AUTOCDC_RESERVED_COLUMN_NAME_PREFIX_CONFLICT", "give it another name in a view", "the source has a column %s; names that start with %s are reserved", f.Name, reservedPrefix)
		}
	}
	var cols []logical.Attr
	for _, i := range k.chosen(k.Columns, k.Except, source, "columns") {
		cols = append(cols, k.in[i])
	}
	target := logical.SchemaOf(cols)
	for _, f := range target.Fields {
		if k.History && slices.ContainsFunc(historyColumns, func(h string) bool { return strings.EqualFold(h, f.Name) }) {
			k.fail(k.Place, "AUTOCDC_RESERVED_COLUMN_NAME_PREFIX_CONFLICT", "leave it out with except_columns, or give it another name in a view", "the source has a column %s, which SCD type 2 adds itself", f.Name)
		}
	}
	for _, w := range k.Keys {
		i := k.find(w, target, "AUTOCDC_KEY_NOT_IN_SELECTED_SCHEMA", "keys")
		if i < 0 || slices.Contains(p.Keys, i) {
			continue
		}
		if t := target.Fields[i].Type; !groupable(t) {
			k.fail(w.Place, "UNSUPPORTED_FEATURE.SET_OPERATION_ON_MAP_TYPE", "use columns of other types", "the key %s has the type %s, whose values cannot be compared", w.Name, t.SQL())
		}
		p.Keys = append(p.Keys, i)
	}
	p.Tracked = k.chosen(k.Tracked, k.TrackedExcept, target, "track_history")
	if k.HasTracked && len(k.Tracked) == 0 && len(k.TrackedExcept) == 0 {
		p.Tracked = nil
	}
	if k.KeepOld {
		p.KeepOld = make([]bool, len(cols))
		for _, i := range k.chosen(k.KeepColumns, k.KeepExcept, target, "ignore null updates") {
			p.KeepOld[i] = true
		}
	}
	return cols
}

// groupable reports whether values of a type can be keys.
func groupable(t schema.Type) bool {
	switch t.Kind {
	case schema.Map, schema.Variant:
		return false
	case schema.Array:
		return groupable(*t.Elem)
	case schema.Struct:
		return !slices.ContainsFunc(t.Fields, func(f schema.Field) bool { return !groupable(f.Type) })
	}
	return true
}

// orderable reports whether values of a type have an order.
func orderable(t schema.Type) bool {
	switch t.Kind {
	case schema.Void, schema.CalendarInterval:
		return false
	case schema.Array:
		return orderable(*t.Elem)
	case schema.Struct:
		return !slices.ContainsFunc(t.Fields, func(f schema.Field) bool { return !orderable(f.Type) })
	}
	return groupable(t)
}

// bind binds a term over the source's columns.
func (k *changesCompiler) bind(t Term, in []logical.Attr, want *schema.Type) logical.Expr {
	e := t.Expr
	if e == nil {
		var diags diag.List
		e, diags = dialect(k.opts.session()).Expr(t.Text)
		if k.diags = append(k.diags, diags...); diags.HasErrors() {
			return nil
		}
	}
	b := bind.New(t.Text, Empty{}, bind.Options{Session: k.opts.Session, Params: k.opts.Params, FirstID: k.next + 1_000_000})
	x, _, diags := b.Expression(e, in, want)
	k.diags = append(k.diags, diags...)
	if diags.HasErrors() {
		return nil
	}
	return x
}

// computed adds the sequence and the operation to the source's columns.
func (k *changesCompiler) computed(n logical.Node) logical.Node {
	seq := k.bind(k.Sequence, k.in, nil)
	if seq == nil {
		return n
	}
	if !orderable(seq.Type()) {
		at := diag.Range{End: len(k.Sequence.Text.Body)}
		if k.Sequence.Expr != nil {
			at = k.Sequence.Expr.Range()
		}
		k.diags = append(k.diags, diag.At(k.Sequence.Text, at, "AUTOCDC_MICROBATCH_VALIDATION.NON_ORDERABLE_SEQUENCE",
			fmt.Sprintf("The sequence has the type %s, whose values have no order.", seq.Type().SQL())))
		return n
	}
	op := &logical.Case{T: schema.Of(schema.Int8)}
	boolean := schema.Of(schema.Boolean)
	for _, x := range []struct {
		term Term
		op   int8
	}{{k.Truncate, 2}, {k.Delete, 1}} {
		if !x.term.IsSet() {
			continue
		}
		if cond := k.bind(x.term, k.in, &boolean); cond != nil {
			op.Branches = append(op.Branches, logical.Branch{When: cond, Then: constant(op.T, x.op)})
		}
	}
	var value logical.Expr = op
	if len(op.Branches) == 0 {
		value = constant(op.T, nil)
	}
	k.seq = logical.Attr{ID: k.next, Name: SequenceColumn, Type: seq.Type(), Nullable: true, Watermark: -1}
	k.op = logical.Attr{ID: k.next + 1, Name: OperationColumn, Type: op.T, Nullable: true, Watermark: -1}
	k.next += 2
	p := &logical.Project{Input: n}
	for _, a := range k.in {
		p.Exprs = append(p.Exprs, logical.Alias{Expr: a.Ref(), Attr: a})
	}
	p.Exprs = append(p.Exprs, logical.Alias{Expr: seq, Attr: k.seq}, logical.Alias{Expr: value, Attr: k.op})
	return p
}

func constant(t schema.Type, value any) *logical.Literal {
	return &logical.Literal{Value: column.Constant(t, 1, value)}
}

// checked adds deduplication and expectations; these look at upserts only, for
// a delete need not have values.
func (k *changesCompiler) checked(n logical.Node, b *bind.Binder) (logical.Node, diag.List) {
	n, diags := outcome(b, n, k.opts)
	ex, ok := n.(*logical.Expect)
	if !ok || diags.HasErrors() {
		return n, diags
	}
	isChange := k.bind(Term{Text: diag.NewText("operation", OperationColumn+" IS NOT NULL")}, []logical.Attr{k.op}, nil)
	boolean := schema.Of(schema.Boolean)
	for i, r := range ex.Rules {
		ex.Rules[i].Cond = &logical.Case{
			T: boolean, Branches: []logical.Branch{{When: isChange, Then: constant(boolean, true)}}, Else: r.Cond,
		}
	}
	return ex, diags
}

// zone is the session time zone if what orders and tells apart the changes is
// computed in it, or "".
func (k *changesCompiler) zone(n logical.Node, cols []logical.Attr, keys []int) string {
	by := []logical.Attr{k.seq}
	for _, i := range keys {
		by = append(by, cols[i])
	}
	if !streaming.ZonedColumns(n, by...) {
		return ""
	}
	return cmp.Or(strings.Trim(streaming.ZoneTag(k.opts.Session.Location), "@[]"), "utc")
}

// finish checks and rewrites the plan.
func (k *changesCompiler) finish(n logical.Node, b *bind.Binder, text *diag.Text) (*Plan, diag.List) {
	steer := rewrite.Options{Session: k.opts.Session, Off: k.opts.Rules, FirstID: k.next, Trace: k.opts.Trace}
	n, steer.FirstID = rewrite.StreamExistence(n, steer)
	n, diags := streaming.Check(n, streaming.Options{Text: text, Place: k.Place, Mode: k.opts.Mode, Name: k.opts.Name, TTL: k.opts.StateTTL, Zone: streaming.ZoneTag(k.opts.Session.Location)})
	if diags.HasErrors() {
		return nil, diags
	}
	out := n.Output()
	p := &Plan{Bound: n, Schema: logical.SchemaOf(out[:len(out)-2]), Streaming: n.Streaming(), Reads: distinct(b.Reads()), opts: steer}
	var err error
	p.Node, err = rewrite.Run(n, p.opts)
	if err != nil {
		return nil, append(diags, refused(err, text, k.whole))
	}
	return p, diags
}
