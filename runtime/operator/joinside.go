package operator

import "pipelines/sqlplan/logical"

// rowGuess is what a row of an inline relation is taken to have of bytes.
const rowGuess = 16

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
	left, right := bd.size(n.Left), bd.size(n.Right)
	return left >= 0 && right >= 0 && left+worthSwapping < right/2
}

// size guesses the bytes of a node's rows, -1 for unknown. What files take on
// disk stands for what rows take in memory, as long as both sides are guessed
// alike.
func (bd *builder) size(n logical.Node) int64 {
	switch n := n.(type) {
	case *logical.Scan:
		bytes := bd.env.Size(n.Relation.ID)
		if all := len(n.Relation.Schema.Fields); bytes > 0 && all > len(n.Columns) {
			bytes = bytes * int64(max(len(n.Columns), 1)) / int64(all)
		}
		return bytes
	case *logical.Values:
		return int64(n.Rows) * rowGuess * int64(max(len(n.Columns), 1))
	case *logical.RangeScan:
		return max(0, (n.End-n.Start)/max(n.Step, 1)) * rowGuess
	case *logical.RecursionRef:
		return -1
	}
	total := int64(0)
	for _, in := range n.Inputs() {
		bytes := bd.size(in)
		if bytes < 0 {
			return -1
		}
		total += bytes
	}
	switch n := n.(type) {
	case *logical.Filter:
		return total / 2
	case *logical.Aggregate:
		if len(n.Groups) == 0 {
			return rowGuess
		}
		return total / 4
	case *logical.Distinct:
		return total / 2
	case *logical.Limit:
		if n.Count >= 0 {
			return min(total, n.Count*rowGuess*int64(max(len(n.Output()), 1)))
		}
	}
	return total
}
