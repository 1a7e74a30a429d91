package sqlplan

import (
	"errors"

	"pipelines/spec/diag"
	"pipelines/sqlplan/bind"
	"pipelines/sqlplan/logical"
	"pipelines/sqlplan/rewrite"
	"pipelines/sqlplan/streaming"
	"pipelines/tables/schema"
)

// Wanted says which kind of query the caller can use.
type Wanted uint8

// The kinds of queries.
const (
	Either Wanted = iota
	Batch         // no streaming relation may be read
	Stream        // rows must keep arriving
)

// Options steer one compilation.
type Options struct {
	// Session holds the settings; nil is NewSession's default.
	Session *Session
	// Mode is the output mode of a streaming query.
	Mode logical.OutputMode
	// Wanted kind; what it is not is refused.
	Wanted Wanted
	// NoStream is what is said of a query that reads a stream; nil allows it.
	// It comes before all that is said of the stream.
	NoStream *diag.Diagnostic
	// Params are the values of parameter markers.
	Params map[string]*Literal
	// Name is the dataset's name, for ids of stateful operators and messages.
	Name string
	// StateTTL in microseconds drops state that was not touched; 0 never.
	StateTTL int64
	// Deduplicate drops repeated rows of the query's result.
	Deduplicate *Dedup
	// Checks are the expectations on the result, after deduplication.
	Checks []Check
	// DropErrors drops rows whose expressions fail (on_error: drop).
	DropErrors bool
	// Rules switches rewrite rules off by name, for tests and diagnosis.
	Rules map[string]bool
	// Trace, when set, is called after each rewrite rule.
	Trace func(rule string, before, after logical.Node)
}

// Check is one expectation: a condition that each row should meet.
type Check = bind.Check

// Plan is a compiled query.
type Plan struct {
	// Node is the optimised plan.
	Node logical.Node
	// Bound is the plan before rewriting, which EXPLAIN EXTENDED prints.
	Bound logical.Node
	// Schema is what the query gives.
	Schema schema.Schema
	// Declared is Schema with the comments and the lengths of texts of columns
	// that come as they are from a table or view.
	Declared schema.Schema
	// Streaming reports whether rows keep arriving.
	Streaming bool
	// Reads lists the relations that are scanned, once each, in order of
	// mention.
	Reads []*logical.Relation

	opts rewrite.Options
}

// Refine returns the plan as it should run over the data that the facts
// describe: it gives the same rows as Node.
func (p *Plan) Refine(f logical.Facts) logical.Node {
	opts := p.opts
	opts.Facts = f
	return rewrite.Refine(p.Node, opts)
}

// Compile parses, binds, checks and rewrites a query.
func Compile(text *diag.Text, cat Catalog, opts Options) (*Plan, diag.List) {
	opts.Session = opts.session()
	q, diags := dialect(opts.Session).Query(text)
	if diags.HasErrors() {
		return nil, diags
	}
	p, more := CompileQuery(q, text, cat, opts)
	return p, append(diags, more...)
}

// CompileQuery is Compile for a parsed query of the text.
func CompileQuery(q *Query, text *diag.Text, cat Catalog, opts Options) (*Plan, diag.List) {
	opts.Session = opts.session()
	b := bind.New(text, cat, bind.Options{Session: opts.Session, Params: opts.Params})
	node, diags := b.Query(q)
	if node == nil {
		return nil, diags
	}
	whole := q.Range()
	diags = append(diags, wanted(node, text, whole, opts)...)
	node, more := outcome(b, node, opts)
	diags = append(diags, more...)
	if diags.HasErrors() || node == nil {
		return nil, diags
	}
	steer := rewrite.Options{Session: opts.Session, Off: opts.Rules, FirstID: b.NextID(), Trace: opts.Trace}
	node, steer.FirstID = rewrite.StreamExistence(node, steer)
	node, more = streaming.Check(node, streaming.Options{
		Text: text, Place: text.Span(whole), Mode: opts.Mode, Name: opts.Name, TTL: opts.StateTTL, Zone: streaming.ZoneTag(opts.Session.Location),
	})
	diags = append(diags, more...)
	if diags.HasErrors() {
		return nil, diags
	}
	p := &Plan{Bound: node, Schema: logical.SchemaOf(node.Output()), Declared: logical.DeclaredSchema(node.Output()), Streaming: node.Streaming(), Reads: distinct(b.Reads()), opts: steer}
	var err error
	p.Node, err = rewrite.Run(node, p.opts)
	if err != nil {
		return nil, append(diags, refused(err, text, whole))
	}
	return p, diags
}

// refused turns what the rewriter cannot do into a finding.
func refused(err error, text *diag.Text, r diag.Range) diag.Diagnostic {
	const code = "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.UNSUPPORTED_CORRELATED_REFERENCE"
	var u *rewrite.Unsupported
	if errors.As(err, &u) && u.Place.IsValid() {
		if u.Class != "" {
			return diag.AtSpan(text.File(), u.Place, u.Class, u.What)
		}
		return diag.AtSpan(text.File(), u.Place, code, u.What)
	}
	return diag.At(text, r, code, err.Error())
}

func distinct(in []*logical.Relation) []*logical.Relation {
	var out []*logical.Relation
	seen := map[string]bool{}
	for _, r := range in {
		if !seen[r.ID] || r.ID == "" {
			seen[r.ID] = true
			out = append(out, r)
		}
	}
	return out
}

// wanted refuses a batch query for a stream and the other way round.
func wanted(n logical.Node, text *diag.Text, r diag.Range, opts Options) diag.List {
	switch {
	case opts.NoStream != nil && n.Streaming():
		return diag.List{*opts.NoStream}
	case opts.Wanted == Batch && n.Streaming():
		return diag.List{diag.At(text, r, "INVALID_FLOW_QUERY_TYPE.STREAMING_RELATION_FOR_MATERIALIZED_VIEW",
			"Dataset "+opts.Name+" is a materialized view or a batch query, but its query reads a stream.").
			WithHint("read the source without STREAM, or make it a streaming table")}
	case opts.Wanted == Stream && !n.Streaming():
		return diag.List{diag.At(text, r, "INVALID_FLOW_QUERY_TYPE.BATCH_RELATION_FOR_STREAMING_TABLE",
			"Dataset "+opts.Name+" is a streaming table, but its query reads no stream.").
			WithHint("read the source with STREAM(...), or make it a materialized view")}
	}
	return nil
}

// ParseQuery parses the query that is the whole of text under the settings of
// s.
func ParseQuery(s *Session, text *diag.Text) (*Query, diag.List) { return dialect(s).Query(text) }
