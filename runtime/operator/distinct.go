package operator

import (
	"sync"

	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// distinct passes the first of equal rows. A distinct over a stream is an
// aggregation without aggregates, as in Spark.
type distinct struct {
	p    *Plan
	out  port
	drop bool
	all  []rowNumbers

	mu     sync.Mutex // guards below
	over   *tableSpill
	table  *groupTable
	groups []int32
}

func (bd *builder) distinct(node logical.Node, out port) (port, watermarked, error) {
	bd.divide(0, division{kind: oneLane})
	n := node.(*logical.Distinct)
	if n.State != nil && n.Streaming() {
		a := &logical.Aggregate{Input: n.Input, State: n.State}
		for _, c := range n.Input.Output() {
			a.Groups = append(a.Groups, logical.Alias{Expr: c.Ref(), Attr: c})
		}
		return bd.aggregate(a, out)
	}
	d := &distinct{p: bd.p, out: out, drop: bd.drop, all: make([]rowNumbers, bd.env.Lanes), table: newGroupTable(typesOf(n.Output()))}
	bd.add(d)
	d.over = newTableSpill(bd.memory("distinct"), d.table, n.Output())
	return d, nil, nil
}

func (d *distinct) begin(*stepState) error {
	d.over.reset()
	return nil
}

func (d *distinct) close() { d.over.close() }

func (d *distinct) end() error {
	if d.over.frozen() {
		if err := d.drain(d.over.take()); err != nil {
			return err
		}
	}
	d.over.reset()
	return d.out.end()
}

func (d *distinct) push(lane int, b *column.Batch) error {
	rows, err := d.p.goodRows(b.Cols, b, &d.all[lane], d.drop)
	if err != nil {
		return err
	}
	keep, err := d.first(b, rows)
	if err != nil || len(keep) == 0 {
		return err
	}
	nb := selected(d.p.env.Pool, b, keep)
	defer nb.Release()
	return d.out.push(lane, nb)
}

// first lists the rows that were not seen before.
func (d *distinct) first(b *column.Batch, rows []int32) ([]int32, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over.frozen() {
		return nil, d.over.spillNew(0, b.Cols, rows)
	}
	d.groups = grow(d.groups, len(rows))
	d.table.assign(b.Cols, rows, d.groups)
	if err := d.over.check(0); err != nil {
		return nil, err
	}
	fresh := d.table.fresh
	keep := make([]int32, 0, len(fresh))
	for k, g := range d.groups {
		if len(fresh) > 0 && g == fresh[0] {
			keep, fresh = append(keep, rows[k]), fresh[1:]
		}
	}
	return keep, nil
}
