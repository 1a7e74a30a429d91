package parquet

import (
	pqformat "github.com/parquet-go/parquet-go/format"

	"pipelines/tables/format"
)

// fileTerm is a term tied to a column of the file.
type fileTerm struct {
	format.Term
	leaf *leafReader // decodes bounds; nil: the column is missing, so null
}

func (s *resolver) terms(terms []format.Term) []fileTerm { return nil }

// prune returns the rows of g that may match all terms.
func (s *scanner) prune(g *pqformat.RowGroup) []rowRange {
	if g.NumRows == 0 {
		return nil
	}
	return []rowRange{{0, g.NumRows}}
}
