package sqlplan

import (
	"pipelines/spec/diag"
	"pipelines/sqlplan/bind"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
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
	checks, more := ParseChecks(opts.session(), opts.Checks)
	diags = append(diags, more...)
	rules, _, more := bind.Rules(checks, n.Output(), bind.Options{Session: opts.session(), Params: opts.Params, FirstID: b.NextID() + 1_000_000})
	return &logical.Expect{Input: n, Rules: rules, DropErrors: opts.DropErrors}, append(diags, more...)
}

// ParseChecks parses the conditions that are not yet, under the settings of s;
// it leaves out those that are no expressions.
func ParseChecks(s *Session, checks []Check) ([]Check, diag.List) {
	var out []Check
	var diags diag.List
	for _, x := range checks {
		if x.Cond == nil {
			e, more := dialect(s).Expr(x.Text)
			if diags = append(diags, more...); more.HasErrors() {
				continue
			}
			x.Cond = e
		}
		out = append(out, x)
	}
	return out, diags
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

// NullLiteral is NULL of a type.
func NullLiteral(t schema.Type) *Literal {
	return &Literal{Value: column.NullVector(nil, t, 1)}
}
