package rewrite

import (
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
)

// maxFirst bounds the rows a partition for which a window leaves out others as
// they come.
const maxFirst = 128

// firstRows tells a window under a filter on a rank how many rows of each
// partition are wanted. The filter stays. All calls must be ranks, which
// depend on the rows before alone. Over streams such a window is an operator of
// its own.
func firstRows(_ *Context, n logical.Node) logical.Node {
	return logical.MapNode(n, func(m logical.Node) logical.Node {
		f, ok := m.(*logical.Filter)
		if !ok || f.Streaming() {
			return m
		}
		w, rank, limit := logical.RankLimit(f)
		if limit == 0 || limit > maxFirst || w.First > 0 && w.First <= limit || !onlyRanks(w) {
			return m
		}
		marked := *w
		marked.First, marked.FirstBy = limit, rank
		return &logical.Filter{Input: replace(f.Input, w, &marked), Cond: f.Cond}
	})
}

// replace puts a node in the place of another below projections.
func replace(n, old, by logical.Node) logical.Node {
	if n == old {
		return by
	}
	return n.WithInputs([]logical.Node{replace(n.Inputs()[0], old, by)})
}

func onlyRanks(w *logical.Window) bool {
	for _, c := range w.Calls {
		if c.Fn == nil {
			return false
		}
		switch c.Fn.Kind {
		case funcs.RowNumber, funcs.Rank, funcs.DenseRank:
		default:
			return false
		}
	}
	return true
}
