package operator

import (
	"fmt"
	"sync"

	"pipelines/runtime/stream"
	"pipelines/sqlplan/expr"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// recursion runs a recursive query: the rows of the anchor are the first
// round; the step is a plan of its own that runs once a round over the rows of
// the round before. The tables that the step reads are kept.
type recursion struct {
	p    *Plan
	mem  *memory
	out  port
	n    *logical.Recursion
	step *Plan
	kept []*rowStore // by scan of the step

	mu        sync.Mutex // guards below while the anchor is read
	now, next *rowStore
	all       rowNumbers
	total     int64
	epoch     stream.Step
}

func (bd *builder) recursion(n *logical.Recursion, out port, phase int) (int, *mark, error) {
	r := &recursion{p: bd.p, out: out, n: n, now: newRowStore(bd.env.Pool, n.Columns), next: newRowStore(bd.env.Pool, n.Columns)}
	var err error
	if r.step, err = bd.nested(n.Step, r); err != nil {
		return phase, nil, err
	}
	bd.add(r)
	bd.divide(0, division{kind: oneLane})
	bd.divide(1, division{kind: oneLane})
	r.mem = bd.memory("recursive query")
	for _, s := range r.step.scans {
		store := newRowStore(bd.env.Pool, s.Scan.Columns)
		r.kept = append(r.kept, store)
		bd.p.scans = append(bd.p.scans, ScanInput{Scan: s.Scan, Phase: phase})
		bd.p.ports = append(bd.p.ports, scanPort{out: &keepPort{r: r, store: store}})
	}
	last, m, err := bd.build(n.Anchor, &anchorPort{r}, phase+1)
	return last, m, err
}

// nested builds the plan of a step, whose rows r takes.
func (bd *builder) nested(root logical.Node, r *recursion) (*Plan, error) {
	env := bd.env
	env.Lanes, env.Output = 1, r.take
	p := &Plan{env: env, static: map[int]*join{}, divided: map[logical.Node][]division{}, evals: []*expr.Evaluation{{Session: env.Session, Pool: env.Pool}}}
	inner := &builder{env: env, p: p, drop: bd.drop, limits: map[*logical.Window]int{}, loops: map[int]*recursion{r.n.Loop: r}}
	for k, v := range bd.loops {
		inner.loops[k] = v
	}
	_, m, err := inner.build(root, &output{p: p, drop: bd.drop}, 0)
	if err != nil {
		p.Close()
		return nil, err
	}
	p.root = m
	return p, nil
}

// recursionRef is a leaf that gives the rows of the round before.
func (bd *builder) recursionRef(n *logical.RecursionRef, out port, phase int) (int, *mark, error) {
	r := bd.loops[n.Loop]
	if r == nil {
		panic("bug: operator: reference to a recursion that is not around it")
	}
	bd.p.leaves = append(bd.p.leaves, leaf{phase: phase, run: func() error {
		if err := r.each(r.now, func(b *column.Batch) error { return out.push(0, b) }); err != nil {
			return err
		}
		return out.end()
	}})
	return phase, &mark{}, nil
}

func (r *recursion) begin(s *stepState) error {
	r.epoch, r.total = s.Step, 0
	r.reset()
	return nil
}

func (r *recursion) reset() {
	r.now.reset()
	r.next.reset()
	for _, k := range r.kept {
		k.reset()
	}
}

func (r *recursion) close() {
	r.reset()
	r.step.Close()
}

// keepPort keeps a table of the step.
type keepPort struct {
	r     *recursion
	store *rowStore
}

func (k *keepPort) end() error { return nil }

func (k *keepPort) push(_ int, b *column.Batch) error { return k.r.add(k.store, b) }

// add appends rows to a store.
func (r *recursion) add(store *rowStore, b *column.Batch) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	rows, err := r.p.goodRows(b.Cols, b, &r.all, false)
	if err != nil {
		return err
	}
	store.add(b.Cols, rows)
	held := r.now.bytes() + r.next.bytes()
	for _, k := range r.kept {
		held += k.bytes()
	}
	return r.mem.must(held)
}

// take takes a row batch of the step.
func (r *recursion) take(_ int, b *column.Batch) error { return r.add(r.next, b) }

// each passes the rows of a store in batches.
func (r *recursion) each(store *rowStore, f func(*column.Batch) error) error {
	for from := 0; from < store.rows; {
		to := min(from+column.BatchRows, store.rows)
		ids := make([]int32, 0, to-from)
		for ; from < to; from++ {
			ids = append(ids, int32(from))
		}
		b := store.batch(ids)
		err := f(b)
		b.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// anchorPort takes the rows of the anchor; at its end the rounds run.
type anchorPort struct{ r *recursion }

func (a *anchorPort) push(_ int, b *column.Batch) error { return a.r.add(a.r.now, b) }

func (a *anchorPort) end() error {
	r := a.r
	for level := int64(1); ; level++ {
		if err := r.emit(); err != nil {
			return err
		}
		if r.now.rows == 0 || r.n.Wanted >= 0 && r.total >= r.n.Wanted {
			break
		}
		if r.n.MaxLevel >= 0 && level > r.n.MaxLevel {
			return &RowError{funcs.NewError("RECURSION_LEVEL_LIMIT_EXCEEDED",
				fmt.Sprintf("Recursion level limit %d reached but query has not exhausted, try increasing it like 'WITH RECURSIVE t(col) MAX RECURSION LEVEL 200'.", r.n.MaxLevel), nil)}
		}
		if err := r.round(level); err != nil {
			return err
		}
		r.now, r.next = r.next, r.now
	}
	r.reset()
	return r.out.end()
}

// emit passes the rows of a round on.
func (r *recursion) emit() error {
	r.total += int64(r.now.rows)
	if r.n.MaxRows >= 0 && r.total > r.n.MaxRows {
		return &RowError{funcs.NewError("RECURSION_ROW_LIMIT_EXCEEDED",
			fmt.Sprintf("Recursion row limit %d reached but query has not exhausted, try setting a larger limit value when querying the CTE relation.", r.n.MaxRows), nil)}
	}
	return r.each(r.now, func(b *column.Batch) error { return r.out.push(0, b) })
}

// round runs the step once, from now into next.
func (r *recursion) round(level int64) error {
	r.next.reset()
	s := r.epoch
	s.Epoch += level
	for _, e := range r.step.evals {
		e.Round = level - 1
	}
	if err := r.step.Begin(s); err != nil {
		return err
	}
	for phase, more := 0, true; more; phase++ {
		more = false
		for i, scan := range r.step.scans {
			more = more || scan.Phase > phase
			if scan.Phase != phase {
				continue
			}
			if err := r.each(r.kept[i], func(b *column.Batch) error { return r.step.Push(0, i, b) }); err != nil {
				return err
			}
			if err := r.step.EndScan(i); err != nil {
				return err
			}
		}
	}
	if err := r.step.EndStep(); err != nil {
		return err
	}
	r.p.dropped.Add(r.step.dropped.Swap(0))
	return nil
}
