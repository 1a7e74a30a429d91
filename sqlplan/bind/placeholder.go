package bind

import (
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// bound is a bound expression with its texts.
type bound struct {
	e logical.Expr
	// text is Spark's printed form, which names columns without an alias.
	text string
	// name is the natural column name where it is not the text: a column's or
	// field's own.
	name string
	// alone is the column name of a whole item where that is not the text: the
	// aliases in struct(a AS b) do not print inside of other calls.
	alone string
	// computed says that a literal was not written as one: CAST(1 AS INT).
	computed bool
	// char is the length of a column of type CHAR: comparisons ignore blanks.
	char int
}

func (x bound) columnName() string {
	if x.name != "" {
		return x.name
	}
	if x.alone != "" {
		return x.alone
	}
	return x.text
}

func (x bound) typ() schema.Type { return x.e.Type() }

// aggExpr stands for an aggregate until the Aggregate node is made.
type aggExpr struct {
	logical.At
	call logical.AggCall
}

func (e *aggExpr) Type() schema.Type { return e.call.Fn.Result }
func (e *aggExpr) Nullable() bool    { return e.call.Fn.Nullable }

// Children are the arguments, the filter if there is one, the ordering keys.
func (e *aggExpr) Children() []logical.Expr {
	out := append([]logical.Expr(nil), e.call.Args...)
	if e.call.Filter != nil {
		out = append(out, e.call.Filter)
	}
	for _, k := range e.call.OrderBy {
		out = append(out, k.Expr)
	}
	return out
}

func (e *aggExpr) WithChildren(c []logical.Expr) logical.Expr {
	n := *e
	n.call.Args, c = c[:len(e.call.Args):len(e.call.Args)], c[len(e.call.Args):]
	if e.call.Filter != nil {
		n.call.Filter, c = c[0], c[1:]
	}
	n.call.OrderBy = withKeys(e.call.OrderBy, c)
	return &n
}

func (e *aggExpr) String() string { return key(e) }

func withKeys(old []logical.SortKey, c []logical.Expr) []logical.SortKey {
	if old == nil {
		return nil
	}
	out := make([]logical.SortKey, len(old))
	for i, k := range old {
		k.Expr = c[i]
		out[i] = k
	}
	return out
}

// winExpr stands for a window function until its Window node is made.
type winExpr struct {
	logical.At
	call      logical.WindowCall
	partition []logical.Expr
	order     []logical.SortKey
	// partTexts and keyTexts are the printed forms.
	partTexts, keyTexts []string
	// boundTexts are the printed offsets of a RANGE frame.
	boundTexts [2]string
}

func (e *winExpr) Type() schema.Type {
	if e.call.Fn != nil {
		return e.call.Fn.Result
	}
	return e.call.Agg.Result
}

func (e *winExpr) Nullable() bool {
	if e.call.Fn != nil {
		return e.call.Fn.Nullable
	}
	return e.call.Agg.Nullable
}

// Children are arguments, filter, partitioning, ordering. Frame offsets are
// constants and no children.
func (e *winExpr) Children() []logical.Expr {
	out := append([]logical.Expr(nil), e.call.Args...)
	if e.call.Filter != nil {
		out = append(out, e.call.Filter)
	}
	out = append(out, e.partition...)
	for _, k := range e.order {
		out = append(out, k.Expr)
	}
	return out
}

func (e *winExpr) WithChildren(c []logical.Expr) logical.Expr {
	n := *e
	k := len(e.call.Args)
	n.call.Args, c = c[:k:k], c[k:]
	if e.call.Filter != nil {
		n.call.Filter, c = c[0], c[1:]
	}
	k = len(e.partition)
	n.partition, c = c[:k:k], c[k:]
	n.order = withKeys(e.order, c)
	return &n
}

// spec is the key of partitioning and ordering: equal specs share a node.
func (e *winExpr) spec() string { return (&keyer{}).spec(e.partition, e.order) }

func (e *winExpr) String() string { return key(e) }

// groupingExpr stands for grouping(x) (one argument, not id) and grouping_id().
type groupingExpr struct {
	logical.At
	id   bool
	args []logical.Expr
}

func (e *groupingExpr) Type() schema.Type {
	if e.id {
		return schema.Of(schema.Int64)
	}
	return schema.Of(schema.Int8)
}

func (e *groupingExpr) Nullable() bool           { return false }
func (e *groupingExpr) Children() []logical.Expr { return e.args }
func (e *groupingExpr) WithChildren(c []logical.Expr) logical.Expr {
	n := *e
	n.args = c
	return &n
}

func (e *groupingExpr) String() string { return key(e) }

// hasAgg reports an aggregate (or grouping function) in e.
func hasAgg(e logical.Expr) bool {
	found := false
	logical.WalkExpr(e, func(x logical.Expr) bool {
		switch x.(type) {
		case *aggExpr, *groupingExpr:
			found = true
		}
		return !found
	})
	return found
}

// hasWindow reports a window function in e.
func hasWindow(e logical.Expr) bool {
	found := false
	logical.WalkExpr(e, func(x logical.Expr) bool {
		if _, ok := x.(*winExpr); ok {
			found = true
		}
		return !found
	})
	return found
}
