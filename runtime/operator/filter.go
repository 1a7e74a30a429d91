package operator

import (
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// filter passes the rows for which its condition is true.
type filter struct {
	p    *Plan
	out  port
	cond *program
	drop bool
	// deletes makes deletes of the rows that do not pass.
	deletes bool
	sel     [][]int32 // by lane
	// present are the columns that the condition asks to be not null, when it
	// asks for nothing else: batches without nulls there pass as they are.
	present []int
}

func (bd *builder) filter(node logical.Node, out port) (port, watermarked, error) {
	n := node.(*logical.Filter)
	cond, err := bd.program([]logical.Expr{n.Cond}, n.Input.Output())
	if err != nil {
		return nil, nil, err
	}
	return &filter{p: bd.p, out: out, cond: cond, drop: bd.drop, deletes: n.Deletes, sel: make([][]int32, bd.env.Lanes), present: presence(n)}, nil, nil
}

// presence are the columns whose nulls a filter drops, nil if it has another
// condition, too.
func presence(n *logical.Filter) []int {
	var out []int
	for _, e := range logical.Conjuncts(n.Cond) {
		call, ok := e.(*logical.Call)
		if !ok || call.Fn.Fn == nil || call.Fn.Fn.Name != "isnotnull" {
			return nil
		}
		col, ok := call.Args[0].(*logical.Column)
		if !ok {
			return nil
		}
		out = append(out, logical.IndexOf(n.Input.Output(), col.Attr.ID))
	}
	return out
}

// whole reports a batch in which the columns have no nulls.
func whole(b *column.Batch, cols []int) bool {
	for _, i := range cols {
		if v := b.Cols[i]; v.HasNulls() || v.Errs != nil || v.Dict != nil && (v.Dict.HasNulls() || v.Dict.Errs != nil) {
			return false
		}
	}
	return len(cols) > 0
}

func (f *filter) end() error { return f.out.end() }

func (f *filter) push(lane int, b *column.Batch) error {
	if whole(b, f.present) {
		return f.out.push(lane, b)
	}
	vecs, err := f.cond.run(lane, b)
	if err != nil {
		return err
	}
	defer releaseAll(vecs)
	if _, err := f.p.usable(vecs, b, f.drop); err != nil {
		return err
	}
	c := vecs[0]
	if c.Const && c.Errs == nil && !f.deletes {
		if !isTrue(c, 0) {
			return nil
		}
		return f.out.push(lane, b)
	}
	rows := trueRows(c, b, f.sel[lane][:0])
	f.sel[lane] = rows
	if len(rows) == b.Rows() {
		return f.out.push(lane, b)
	}
	if f.deletes {
		return pushDeletes(f.p.env.Pool, f.out, lane, b, rows)
	}
	if len(rows) == 0 {
		return nil
	}
	nb := selected(f.p.env.Pool, b, rows)
	defer nb.Release()
	return f.out.push(lane, nb)
}

// pushDeletes passes all rows of b, those that are not among rows as deletes.
func pushDeletes(pool *column.Pool, out port, lane int, b *column.Batch, rows []int32) error {
	nb := b.Share(pool)
	defer nb.Release()
	nb.Change = make([]int8, b.Len)
	for i := range nb.Change {
		nb.Change[i] = -1
	}
	for _, r := range rows {
		if nb.Change[r] = 1; b.Change != nil {
			nb.Change[r] = b.Change[r]
		}
	}
	return out.push(lane, nb)
}

// trueRows appends the selected rows of b for which c is true. Failed rows are
// null, so they are not among them.
func trueRows(c *column.Vector, b *column.Batch, rows []int32) []int32 {
	if c.Dict == nil && !c.Const && c.Nulls == nil {
		if b.Sel == nil {
			for i, x := range c.Bool[:b.Len] {
				if x {
					rows = append(rows, int32(i))
				}
			}
			return rows
		}
		for _, r := range b.Sel {
			if c.Bool[r] {
				rows = append(rows, r)
			}
		}
		return rows
	}
	if b.Sel == nil {
		for i := range b.Len {
			if isTrue(c, i) {
				rows = append(rows, int32(i))
			}
		}
		return rows
	}
	for _, r := range b.Sel {
		if isTrue(c, int(r)) {
			rows = append(rows, r)
		}
	}
	return rows
}

// isTrue reports whether row i of a boolean vector is true.
func isTrue(v *column.Vector, i int) bool {
	if v.IsNull(i) {
		return false
	}
	if v.Dict != nil {
		return v.Dict.Bool[v.Index[i]]
	}
	return v.Bool[v.Row(i)]
}
