package sqlplan

import (
	"pipelines/spec/diag"
	"pipelines/sqlplan/bind"
	"pipelines/sqlplan/logical"
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
func outcome(b *bind.Binder, n logical.Node, opts Options) (logical.Node, diag.List) {
	var diags diag.List
	if opts.Deduplicate != nil {
		n, diags = opts.Deduplicate.Of(n)
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
			e, more = dialect(opts.session()).Expr(x.Text)
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

// ParseType reads a data type under the settings of s.
func ParseType(s *Session, text *diag.Text) (schema.Type, diag.List) {
	t, diags := dialect(s).Type(text)
	if diags.HasErrors() {
		return schema.Type{}, diags
	}
	return bind.TypeIn(s, text, t)
}

// ParseLiteral reads the text of a parameter as a constant of type t.
func ParseLiteral(s *Session, t schema.Type, value string) (*Literal, error) {
	return bind.ParseValue(s, t, value)
}
