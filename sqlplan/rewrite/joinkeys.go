package rewrite

import "pipelines/sqlplan/logical"

// joinKeys splits the equalities of each join off its condition.
func joinKeys(_ *Context, n logical.Node) logical.Node {
	return logical.MapNode(n, func(m logical.Node) logical.Node {
		if j, ok := m.(*logical.Join); ok {
			return logical.SplitJoin(j)
		}
		return m
	})
}
