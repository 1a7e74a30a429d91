package parquet

import (
	"errors"
	"fmt"
	"io"
	"strings"

	pqformat "github.com/parquet-go/parquet-go/format"

	"pipelines/tables/column"
	"pipelines/tables/format"
)

// scanner reads one file batch by batch.
type scanner struct {
	f      *file
	spec   format.ReadSpec
	cols   []*readNode
	leaves []*leafReader
	terms  []fileTerm
	pools  *pools
	codec  *codec // shared by the leaves; nil once closed
	late   *late  // nil: all columns are read together
	counts format.Counts

	group  int        // next row group
	base   int64      // rows of the file before the current row group
	first  int64      // row of the file at which the last batch begins
	row    int64      // in the current row group
	ranges []rowRange // of the current row group, still to read
	err    error
}

var errClosed = errors.New("parquet: the scanner is closed")

// rowRange is rows [from, to) of a row group.
type rowRange struct{ from, to int64 }

func newScanner(f *file, spec format.ReadSpec, p *pools) (*scanner, error) {
	if spec.BatchRows <= 0 {
		spec.BatchRows = column.BatchRows
	}
	s := &scanner{f: f, spec: spec, pools: p, codec: p.codec()}
	r := resolver{f: f, pool: spec.Pool, codec: s.codec, caseSensitive: spec.CaseSensitive}
	r.verify = !strings.EqualFold(spec.Options[verifyOption], "false")
	var leaves [][]*leafReader
	for _, c := range spec.Columns.Fields {
		before := len(r.leaves)
		n, err := r.find(f.root, c.Name)
		if err == nil {
			var col *readNode
			if col, err = r.resolve(c.Type, n); err == nil {
				s.cols = append(s.cols, col)
				if col.leaf != nil {
					col.leaf.asDict = true
				}
				leaves = append(leaves, r.leaves[before:])
				continue
			}
		}
		return nil, fmt.Errorf("parquet file %s: %w", f.name, err)
	}
	if spec.Unknown != nil {
		r.unknown(spec.Declared.Type(), f.root, "", spec.Unknown)
	}
	s.leaves = r.leaves
	s.terms = r.terms(spec.Terms)
	s.late = s.planLate(leaves)
	return s, nil
}

// Next returns the next batch.
func (s *scanner) Next() (b *column.Batch, err error) {
	if s.err != nil {
		return nil, s.err
	}
	defer func() {
		if p := recover(); p != nil { // of a library's decoder, on malformed pages
			b, err = nil, s.f.corruptf("malformed page: %v", p)
		}
		if err != nil {
			s.err = err
		}
	}()
	for {
		b, err := s.next()
		if b != nil || err != nil {
			return b, err
		}
	}
}

// next returns the next batch, or nil if it has no row that matches.
func (s *scanner) next() (*column.Batch, error) {
	for len(s.ranges) == 0 {
		if s.group == len(s.f.meta.RowGroups) {
			return nil, io.EOF
		}
		if s.group > 0 {
			s.base += s.f.meta.RowGroups[s.group-1].NumRows
		}
		if err := s.openGroup(&s.f.meta.RowGroups[s.group]); err != nil {
			return nil, err
		}
		s.group++
	}
	rg := &s.ranges[0]
	if err := s.skipTo(rg.from); err != nil {
		return nil, err
	}
	n := int(min(rg.to-rg.from, int64(s.spec.BatchRows)))
	var b *column.Batch
	var err error
	skipped := 0
	if s.late != nil {
		b, skipped, err = s.readLate(n)
	} else {
		b, err = s.read(n)
	}
	if err != nil {
		return nil, err
	}
	s.first = s.base + s.row + int64(skipped)
	s.row += int64(n)
	rg.from += int64(n)
	if rg.from == rg.to {
		s.ranges = s.ranges[1:]
	}
	s.counts.Records += int64(n)
	return b, nil
}

// openGroup readies the leaves for a row group, unless no row of it can match.
func (s *scanner) openGroup(g *pqformat.RowGroup) error {
	s.row = 0
	if s.late != nil {
		s.late.owed = 0
	}
	s.ranges = s.prune(g)
	if len(s.ranges) == 0 {
		return nil
	}
	for _, l := range s.leaves {
		if err := l.open(&g.Columns[l.node.leaf.column]); err != nil {
			return err
		}
		if l.node.rep == 0 && l.meta.NumValues != g.NumRows {
			return s.f.corruptf("column %s: %d values in %d rows", l.node.name, l.meta.NumValues, g.NumRows)
		}
	}
	return nil
}

func (s *scanner) skipTo(row int64) error {
	leaves := s.leaves
	if s.late != nil {
		leaves = s.late.first
		s.late.owed += row - s.row
	}
	err := skipAll(leaves, row-s.row)
	s.row = row
	return err
}

// read makes a batch of the next n rows.
func (s *scanner) read(n int) (*column.Batch, error) {
	b := s.spec.Pool.Batch()
	b.Len = n
	for _, c := range s.cols {
		v := s.spec.Pool.Vector(c.want)
		b.Cols = append(b.Cols, v)
		if err := s.readColumn(c, v, n); err != nil {
			b.Release()
			return nil, err
		}
	}
	return b, nil
}

func (s *scanner) readColumn(c *readNode, v *column.Vector, n int) error {
	if c.file == nil {
		setNull(v, n)
		return nil
	}
	c.bind(v)
	if c.leaf != nil {
		return c.leaf.flat(n)
	}
	if err := c.fetch(n); err != nil {
		return err
	}
	return c.build(v, place{}, n)
}

// FirstRow returns the row number, within the file, of the first row of the
// batch that Next returned last; the rows of a batch follow each other in the
// file. Deletion vectors need it, since terms let rows be skipped.
func (s *scanner) FirstRow() int64 { return s.first }

// Counts returns what was met so far.
func (s *scanner) Counts() format.Counts {
	c := s.counts
	c.Bytes = s.f.bytes
	return c
}

// Close releases the file.
func (s *scanner) Close() error {
	for _, l := range s.leaves {
		l.closeChunk()
	}
	if s.codec != nil {
		s.pools.codecs.Put(s.codec)
		s.codec, s.err = nil, errClosed
	}
	return s.f.obj.Close()
}
