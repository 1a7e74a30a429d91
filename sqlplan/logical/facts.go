package logical

import "pipelines/tables/column"

// Facts is what whoever runs a plan knows of the data that it is about to
// read. Relations are named by their ID.
type Facts struct {
	// Bytes guesses the size of a relation, -1 for unknown; nil knows nothing.
	Bytes func(relation string) int64
	// Files describes the files of a relation that is read whole, all of them
	// and exactly as they will be read; nil, or a nil list, when it cannot.
	Files func(relation string) []FileFacts
}

// FileFacts describes one file.
type FileFacts struct {
	Rows int64 // -1: unknown
	// Column describes a column of the relation by its name.
	Column func(name string) ColumnFacts
}

// ColumnFacts describes a column in a file.
type ColumnFacts struct {
	Nulls int64 // -1: unknown
	// Min and Max are the least and the greatest value, exactly: one row each,
	// nil when unknown or when all values are null.
	Min, Max *column.Vector
	// Constant is the value of all rows (one row, maybe null), nil for a column
	// that may have several.
	Constant *column.Vector
}

// rowGuess is what a value of an inline relation is taken to have of bytes.
const rowGuess = 16

// GuessBytes guesses the bytes of a node's rows, -1 for unknown. What files
// take on disk stands for what rows take in memory, as long as all is guessed
// alike.
func GuessBytes(n Node, size func(relation string) int64) int64 {
	switch n := n.(type) {
	case *Scan:
		bytes := size(n.Relation.ID)
		if all := len(n.Relation.Schema.Fields); bytes > 0 && all > len(n.Columns) {
			bytes = bytes * int64(max(len(n.Columns), 1)) / int64(all)
		}
		return bytes
	case *Values:
		return int64(n.Rows) * rowGuess * int64(max(len(n.Columns), 1))
	case *RangeScan:
		return max(0, (n.End-n.Start)/max(n.Step, 1)) * rowGuess
	case *RecursionRef:
		return -1
	}
	total := int64(0)
	for _, in := range n.Inputs() {
		bytes := GuessBytes(in, size)
		if bytes < 0 {
			return -1
		}
		total += bytes
	}
	switch n := n.(type) {
	case *Filter:
		return total / 2
	case *Aggregate:
		if len(n.Groups) == 0 {
			return rowGuess
		}
		return total / 4
	case *Distinct:
		return total / 2
	case *Limit:
		if n.Count >= 0 {
			return min(total, n.Count*rowGuess*int64(max(len(n.Output()), 1)))
		}
	}
	return total
}
