package operator

import "pipelines/sqlplan/logical"

// worthSwapping is how much smaller the left side of a join must be to become
// the build side: guesses are rough.
const worthSwapping = 1 << 20

// buildsLeft reports whether a join of two batches shall keep its left side:
// the type of join allows it and the left side is clearly the smaller one.
func (bd *builder) buildsLeft(n *logical.Join) bool {
	switch n.Type {
	case logical.InnerJoin, logical.LeftJoin, logical.RightJoin, logical.FullJoin, logical.CrossJoin:
	default:
		return false
	}
	if bd.env.Size == nil || n.NullAware || n.Left.Streaming() || n.Right.Streaming() {
		return false
	}
	left, right := logical.GuessBytes(n.Left, bd.env.Size), logical.GuessBytes(n.Right, bd.env.Size)
	return left >= 0 && right >= 0 && left+worthSwapping < right/2
}
