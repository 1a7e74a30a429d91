package operator

import (
	"fmt"
	"strings"
	"sync"

	"pipelines/sqlplan/logical"
	"pipelines/tables/codec/display"
	"pipelines/tables/column"
)

// expect checks expectations on each row. A condition that is null is a
// violation. Of several violated rules the strictest action wins.
type expect struct {
	p     *Plan
	out   port
	n     *logical.Expect
	conds *program
	drop  bool // rows whose condition fails are dropped
	all   []rowNumbers

	mu             sync.Mutex // guards below
	passed, failed []int64
}

// ExpectationError says that rows violated expectations that fail the flow.
type ExpectationError struct {
	// Dataset is the view whose rows violate it, "" for the flow's own target.
	Dataset string
	// Name is the first violated expectation, Rows the number of rows of the
	// batch that violated one, Examples some of them.
	Name     string
	Rows     int
	Examples []string
}

func (e *ExpectationError) Error() string {
	of := ""
	if e.Dataset != "" {
		of = " of view " + e.Dataset
	}
	return fmt.Sprintf("expectation %s%s (on_violation: fail) is violated; rows of one batch that violate it: %d: %s", e.Name, of, e.Rows, strings.Join(e.Examples, "; "))
}

func (bd *builder) expectation(node logical.Node, out port) (port, watermarked, error) {
	n := node.(*logical.Expect)
	exprs := make([]logical.Expr, len(n.Rules))
	for i, r := range n.Rules {
		exprs[i] = r.Cond
	}
	conds, err := bd.program(exprs, n.Input.Output())
	if err != nil {
		return nil, nil, err
	}
	e := &expect{p: bd.p, out: out, n: n, conds: conds, drop: bd.drop, all: make([]rowNumbers, bd.env.Lanes),
		passed: make([]int64, len(n.Rules)), failed: make([]int64, len(n.Rules))}
	bd.p.expect = append(bd.p.expect, e)
	return e, nil, nil
}

func (e *expect) counts() []ExpectCount {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := make([]ExpectCount, len(e.n.Rules))
	for i, r := range e.n.Rules {
		out[i] = ExpectCount{Dataset: e.n.Dataset, Name: r.Name, Action: r.Action, Passed: e.passed[i], Failed: e.failed[i]}
	}
	return out
}

func (e *expect) end() error { return e.out.end() }

func (e *expect) push(lane int, b *column.Batch) error {
	conds, err := e.conds.run(lane, b)
	if err != nil {
		return err
	}
	defer releaseAll(conds)
	used := conds
	if e.n.DropErrors {
		used = append(append([]*column.Vector{}, conds...), b.Cols...)
	}
	rows, err := e.p.goodRows(used, b, &e.all[lane], e.drop)
	if err != nil {
		return err
	}
	keep, err := e.check(conds, b, rows)
	if err != nil {
		return err
	}
	switch {
	case len(keep) == b.Rows():
		return e.out.push(lane, b)
	case e.n.Deletes:
		return pushDeletes(e.p.env.Pool, e.out, lane, b, keep)
	case len(keep) == 0:
		return nil
	}
	nb := selected(e.p.env.Pool, b, keep)
	defer nb.Release()
	return e.out.push(lane, nb)
}

// check counts and returns the rows to keep.
func (e *expect) check(conds []*column.Vector, b *column.Batch, rows []int32) ([]int32, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	keep := make([]int32, 0, len(rows))
	var fail *ExpectationError
	for _, r := range rows {
		if b.Change != nil && b.Change[r] < 0 {
			keep = append(keep, r) // no row of the dataset
			continue
		}
		worst := logical.Warn
		for i, c := range conds {
			if isTrue(c, int(r)) {
				e.passed[i]++
				continue
			}
			e.failed[i]++
			worst = max(worst, e.n.Rules[i].Action)
			if e.n.Rules[i].Action == logical.FailFlow && fail == nil {
				fail = &ExpectationError{Dataset: e.n.Dataset, Name: e.n.Rules[i].Name}
			}
		}
		switch worst {
		case logical.Warn:
			keep = append(keep, r)
		case logical.FailFlow:
			fail.Rows++
			if len(fail.Examples) < 5 {
				fail.Examples = append(fail.Examples, e.rowText(b, int(r)))
			}
		}
	}
	if fail != nil {
		return nil, fail
	}
	return keep, nil
}

// rowText is a row for the message of a failed expectation.
func (e *expect) rowText(b *column.Batch, r int) string {
	var s []byte
	for i, a := range e.n.Output() {
		if i > 0 {
			s = append(s, ", "...)
		}
		s = append(append(s, a.Name...), '=')
		s = display.AppendJSON(s, b.Cols[i], r)
	}
	return string(s)
}
