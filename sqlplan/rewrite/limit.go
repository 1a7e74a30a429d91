package rewrite

import "pipelines/sqlplan/logical"

// limits moves limits below projections, into the children of a union and into
// those sides of joins of which each row gives one at least. Over streams a
// limit counts over all epochs and stays where it is.
func limits(_ *Context, n logical.Node) logical.Node {
	return logical.MapNode(n, func(m logical.Node) logical.Node {
		l, ok := m.(*logical.Limit)
		if !ok || l.Count < 0 || l.Streaming() {
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
		return &logical.Project{Input: lower(&logical.Limit{Input: in.Input, Count: l.Count, Offset: l.Offset}), Exprs: in.Exprs}
	case *logical.Limit:
		if l.Offset == 0 && in.Count >= 0 && in.Count <= l.Count {
			return in
		}
	case *logical.Recursion:
		r := *in
		r.Wanted, r.MaxRows = want, -1
		return &logical.Limit{Input: &r, Count: l.Count, Offset: l.Offset}
	case *logical.Union:
		u := &logical.Union{Columns: in.Columns}
		for _, ch := range in.Children {
			u.Children = append(u.Children, atMost(ch, want))
		}
		return &logical.Limit{Input: u, Count: l.Count, Offset: l.Offset}
	case *logical.Join:
		j := *in
		if j.Lateral {
			return l
		}
		if j.Type == logical.LeftJoin || j.Type == logical.CrossJoin && j.Cond == nil {
			j.Left = atMost(j.Left, want)
		}
		if j.Type == logical.RightJoin || j.Type == logical.CrossJoin && j.Cond == nil {
			j.Right = atMost(j.Right, want)
		}
		if j.Left != in.Left || j.Right != in.Right {
			return &logical.Limit{Input: &j, Count: l.Count, Offset: l.Offset}
		}
	}
	return l
}

// atMost limits n to the wanted rows, unless it is so already.
func atMost(n logical.Node, want int64) logical.Node {
	if k, ok := n.(*logical.Limit); ok && k.Count >= 0 && k.Count <= want {
		return n
	}
	return lower(&logical.Limit{Input: n, Count: want})
}

// topN tells a sort under a limit how many rows are wanted: it keeps no others.
func topN(_ *Context, n logical.Node) logical.Node {
	return logical.MapNode(n, func(m logical.Node) logical.Node {
		l, ok := m.(*logical.Limit)
		if !ok || l.Count < 0 || l.Count+l.Offset < 0 || l.Streaming() {
			return m
		}
		s, ok := l.Input.(*logical.Sort)
		if !ok || s.Limit >= 0 && s.Limit <= l.Count+l.Offset {
			return m
		}
		return &logical.Limit{Input: &logical.Sort{Input: s.Input, Keys: s.Keys, Limit: l.Count + l.Offset}, Count: l.Count, Offset: l.Offset}
	})
}
