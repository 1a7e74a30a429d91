package rewrite

import "pipelines/sqlplan/logical"

// limits moves limits below projections and into the children of a union, and
// tells a sort how many rows are wanted (top-n). Over streams a limit counts
// over all epochs and stays where it is.
func limits(_ *Context, n logical.Node) logical.Node {
	return logical.MapNode(n, func(m logical.Node) logical.Node {
		l, ok := m.(*logical.Limit)
		if !ok || l.Count < 0 {
			return m
		}
		return lower(l)
	})
}

func lower(l *logical.Limit) logical.Node {
	want := l.Count + l.Offset
	if want < 0 {
		return l
	}
	switch in := l.Input.(type) {
	case *logical.Project:
		if in.Streaming() {
			return l
		}
		return &logical.Project{Input: lower(&logical.Limit{Input: in.Input, Count: l.Count, Offset: l.Offset}), Exprs: in.Exprs}
	case *logical.Sort:
		if in.Limit >= 0 && in.Limit <= want || in.Streaming() {
			return l
		}
		return &logical.Limit{Input: &logical.Sort{Input: in.Input, Keys: in.Keys, Limit: want}, Count: l.Count, Offset: l.Offset}
	case *logical.Recursion:
		r := *in
		r.Wanted, r.MaxRows = want, -1
		return &logical.Limit{Input: &r, Count: l.Count, Offset: l.Offset}
	case *logical.Union:
		if in.Streaming() {
			return l
		}
		u := &logical.Union{Columns: in.Columns}
		for _, ch := range in.Children {
			if k, ok := ch.(*logical.Limit); !ok || k.Count < 0 || k.Count > want {
				ch = lower(&logical.Limit{Input: ch, Count: want})
			}
			u.Children = append(u.Children, ch)
		}
		return &logical.Limit{Input: u, Count: l.Count, Offset: l.Offset}
	}
	return l
}
