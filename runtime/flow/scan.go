package flow

import (
	"context"
	"fmt"
	"slices"

	"pipelines/runtime/connector"
	"pipelines/runtime/operator"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// scanGroup is a set of plan inputs that one read of a relation feeds.
type scanGroup struct {
	scan   *logical.Scan // of all columns that the inputs want
	inputs []scanInput
}

// scanInput is a place in Plan.Scans. cols are its columns among the group's,
// nil when they are all of them in the same order.
type scanInput struct {
	at   int
	cols []int
}

// groupScans orders the inputs by phase and joins those that read the same
// relation: it is read once for all of them.
func groupScans(scans []operator.ScanInput) [][]scanGroup {
	var phases [][]scanGroup
	for i, s := range scans {
		for len(phases) <= s.Phase {
			phases = append(phases, nil)
		}
		groups := phases[s.Phase]
		joined := false
		for j := 0; j < len(groups) && !joined; j++ {
			joined = groups[j].join(i, s.Scan)
		}
		if joined {
			continue
		}
		phases[s.Phase] = append(groups, scanGroup{scan: s.Scan, inputs: []scanInput{{at: i}}})
	}
	return phases
}

// join adds an input to the group if the plan says that one read serves both.
// Filters, which let a reader skip rows, are given up for a stream.
func (g *scanGroup) join(at int, s *logical.Scan) bool {
	a := g.scan
	if s.Shared == 0 || a.Shared != s.Shared {
		return false
	}
	both := &logical.Scan{
		Relation: a.Relation, Columns: slices.Clone(a.Columns), Fields: slices.Clone(a.Fields), Metadata: map[int]string{}, Shared: a.Shared, Place: a.Place,
	}
	if !s.Relation.Streaming {
		both.Filters, both.Late = a.Filters, a.Late
	}
	for i, m := range a.Metadata {
		both.Metadata[i] = m
	}
	cols := make([]int, len(s.Columns))
	for i, c := range s.Columns {
		cols[i] = -1
		for k := range both.Columns {
			if both.Fields[k] != s.Fields[i] || both.Metadata[k] != s.Metadata[i] {
				continue
			}
			if !both.Columns[k].Type.Equal(c.Type) {
				panic("bug: flow: shared scans of " + s.Relation.ID + " with other types of " + c.Name)
			}
			cols[i] = k
			break
		}
		if cols[i] >= 0 {
			continue
		}
		cols[i] = len(both.Columns)
		both.Columns, both.Fields = append(both.Columns, c), append(both.Fields, s.Fields[i])
		if m := s.Metadata[i]; m != "" {
			both.Metadata[cols[i]] = m
		}
	}
	// Inputs that had all columns have only the first ones now.
	if len(both.Columns) > len(a.Columns) {
		for i := range g.inputs {
			if g.inputs[i].cols == nil {
				g.inputs[i].cols = firstN(len(a.Columns))
			}
		}
	}
	in := scanInput{at: at, cols: cols}
	if slices.Equal(cols, firstN(len(both.Columns))) {
		in.cols = nil
	}
	g.scan, g.inputs = both, append(g.inputs, in)
	return true
}

func firstN(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// push hands a batch of the group to each of its inputs.
func (e *Execution) push(lane int, g *scanGroup, b *column.Batch) error {
	for _, in := range g.inputs {
		if e.kept[in.at] {
			continue
		}
		if in.cols == nil {
			if err := e.plan.Push(lane, in.at, b); err != nil {
				return err
			}
			continue
		}
		nb := e.o.Pool.Batch()
		for _, c := range in.cols {
			nb.Cols = append(nb.Cols, b.Cols[c].Retain())
		}
		nb.Len, nb.Change = b.Len, b.Change
		if b.Sel != nil {
			nb.Sel = append(nb.SelBuffer(), b.Sel...)
		}
		err := e.plan.Push(lane, in.at, nb)
		nb.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// wanted reports whether more rows of the group can matter in this step.
func (e *Execution) wanted(g *scanGroup) bool {
	return slices.ContainsFunc(g.inputs, func(in scanInput) bool { return !e.kept[in.at] && e.plan.Wants(in.at) })
}

// listing is a static relation as an epoch found it.
type listing struct {
	splits      []connector.Split
	fingerprint string
}

// listStatic lists the static relations of the next step. Joins keep what they
// have read of those that are as they were.
func (e *Execution) listStatic(ctx context.Context) error {
	e.kept = map[int]bool{}
	before := e.static
	e.static = map[string]listing{}
	for _, groups := range e.phases {
		for _, g := range groups {
			id := g.scan.Relation.ID
			t, ok := e.o.Tables[id]
			if _, stream := e.o.Streams[id]; !ok || stream && g.scan.Relation.Streaming {
				continue
			}
			l, seen := e.static[id]
			if !seen {
				var err error
				if l.splits, l.fingerprint, err = t.Whole(ctx); err != nil {
					return fmt.Errorf("list %s: %w", id, err)
				}
				e.static[id] = l
			}
			if old, ok := before[id]; !ok || l.fingerprint == "" || old.fingerprint != l.fingerprint {
				continue
			}
			for _, in := range g.inputs {
				e.kept[in.at] = e.plan.Reuse(in.at)
			}
		}
	}
	return nil
}

// wide reports whether the static relations of the step are read by several
// lanes.
func (e *Execution) wide() bool {
	total := int64(0)
	for _, l := range e.static {
		for _, s := range l.splits {
			total += s.Bytes
		}
	}
	return e.o.Lanes > 1 && total >= inlineBytes
}

// fileReader is implemented by readers of files that rows can be traced to.
type fileReader interface {
	File() (path string, size int64)
}
