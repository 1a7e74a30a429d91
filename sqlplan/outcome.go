package sqlplan

import (
	"pipelines/spec/diag"
	"pipelines/sqlplan/bind"
	"pipelines/sqlplan/logical"
	"pipelines/sqlplan/parse"
	"pipelines/tables/schema"
)

func (o Options) session() *Session {
	if o.Session != nil {
		return o.Session
	}
	s, err := NewSession(Settings{})
	if err != nil {
		panic("bug: sqlplan: default session: " + err.Error())
	}
	return s
}

// outcome adds what a dataset asks for on top of its query: deduplication,
// then expectations.
func outcome(b *bind.Binder, n logical.Node, text *diag.Text, r diag.Range, opts Options) (logical.Node, diag.List) {
	var diags diag.List
	if d := opts.Deduplicate; d != nil {
		node := &logical.Deduplicate{Input: n, WithinWatermark: d.WithinWatermark}
		out := n.Output()
		for _, k := range d.Keys {
			i := logical.SchemaOf(out).Index(k)
			if i < 0 {
				names := logical.SchemaOf(out).Names()
				diags = append(diags, diag.At(text, r, "UNRESOLVED_COLUMN.WITH_SUGGESTION",
					"The deduplication key `"+k+"` is no column of the query.").WithHint(diag.DidYouMean(k, names)))
				continue
			}
			node.Keys = append(node.Keys, out[i].ID)
		}
		n = node
	}
	if len(opts.Checks) == 0 && !opts.DropErrors {
		return n, diags
	}
	ex := &logical.Expect{Input: n, DropErrors: opts.DropErrors}
	boolean := schema.Of(schema.Boolean)
	for _, x := range opts.Checks {
		e := x.Cond
		if e == nil {
			var more diag.List
			e, more = parse.Expr(x.Text)
			if diags = append(diags, more...); more.HasErrors() {
				continue
			}
		}
		eb := bind.New(x.Text, Empty{}, bind.Options{Session: opts.session(), Params: opts.Params, FirstID: b.NextID() + 1_000_000})
		cond, _, more := eb.Expression(e, n.Output(), &boolean)
		diags = append(diags, more...)
		if !more.HasErrors() {
			ex.Rules = append(ex.Rules, logical.Expectation{Name: x.Name, Cond: cond, Action: x.Action})
		}
	}
	return ex, diags
}

// ParseType reads a data type.
func ParseType(text *diag.Text) (schema.Type, diag.List) {
	t, diags := parse.Type(text)
	if diags.HasErrors() {
		return schema.Type{}, diags
	}
	return bind.TypeOf(text, t)
}

// ParseLiteral reads the text of a parameter as a constant of type t.
func ParseLiteral(s *Session, t schema.Type, value string) (*Literal, error) {
	return bind.ParseValue(s, t, value)
}
