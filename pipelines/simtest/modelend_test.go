package simtest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// mjoin joins two streams by k and a range of time, or equal times (J rules).
type mjoin struct {
	kind          string // INNER, LEFT, RIGHT, FULL, LEFT SEMI, LEFT ANTI
	exists        bool   // semi and anti joins are written as EXISTS and NOT EXISTS
	before, after int64  // b.ts between a.ts - before and a.ts + after
	equal         bool   // a.ts = b.ts instead
	sides         [2][]*mkept
}

// mkept is a row that a join has seen. It stays when it is gone: what could
// still meet it is late, which is what the bounds are for (J-10).
type mkept struct {
	mrow
	matched, gone bool
}

func (j *mjoin) sql(in []string) string {
	cols := map[string]string{"LEFT SEMI": "a.id, a.k, a.v, a.ts", "LEFT ANTI": "a.id, a.k, a.v, a.ts", "RIGHT": "a.id, b.k, a.v, b.ts"}[j.kind]
	if cols == "" {
		cols = "a.id, a.k, b.v, a.ts"
	}
	on := fmt.Sprintf("b.ts BETWEEN a.ts - INTERVAL %d SECONDS AND a.ts + INTERVAL %d SECONDS", j.before/second, j.after/second)
	if j.equal {
		on = "a.ts = b.ts"
	}
	if j.exists {
		where := map[string]string{"LEFT SEMI": "EXISTS", "LEFT ANTI": "NOT EXISTS"}[j.kind]
		return fmt.Sprintf("SELECT %s FROM %s a WHERE %s (SELECT 1 FROM %s b WHERE a.k = b.k AND %s)", cols, in[0], where, in[1], on)
	}
	return fmt.Sprintf("SELECT %s FROM %s a %s JOIN %s b ON a.k = b.k AND %s", cols, in[0], j.kind, in[1], on)
}

// until is how long after its time a row of the side is kept, beyond the
// watermark: one millisecond more than the bound, since bounds are inclusive.
func (j *mjoin) until(side int) int64 {
	if j.equal {
		return 0
	}
	return []int64{j.after, j.before}[side] + 1000
}

func (j *mjoin) meet(a, b *mkept) bool {
	if a.k == "" || a.k != b.k || !a.ts.set || !b.ts.set {
		return false
	}
	if j.equal {
		return a.ts.n == b.ts.n
	}
	return b.ts.n >= a.ts.n-j.before && b.ts.n <= a.ts.n+j.after
}

func (j *mjoin) pair(a, b mrow) mrow {
	switch j.kind {
	case "LEFT SEMI", "LEFT ANTI":
		return a
	case "RIGHT":
		return mrow{id: a.id, k: b.k, v: a.v, ts: b.ts}
	}
	return mrow{id: a.id, k: a.k, v: b.v, ts: a.ts}
}

func (j *mjoin) push(in [][]mrow, late, evict int64, lates *int) (out []mrow) {
	for side, rows := range in {
		for _, r := range rows {
			if r.ts.set && r.ts.n <= late { // J-07
				*lates++
				continue
			}
			x := &mkept{mrow: r}
			for _, y := range j.sides[1-side] {
				a, b := x, y
				if side == 1 {
					a, b = y, x
				}
				if !j.meet(a, b) || j.kind == "LEFT SEMI" && a.matched {
					continue
				}
				a.matched, b.matched = true, true
				if j.kind != "LEFT ANTI" {
					out = append(out, j.pair(a.mrow, b.mrow))
				}
			}
			j.sides[side] = append(j.sides[side], x)
		}
	}
	for side, rows := range j.sides {
		outer := j.outer(side)
		for _, x := range rows {
			if x.gone || !x.ts.set || x.ts.n+j.until(side) > evict {
				continue
			}
			x.gone = true
			if outer && !x.matched { // J-13
				var none mrow
				if side == 0 {
					out = append(out, j.pair(x.mrow, none))
				} else {
					out = append(out, j.pair(none, x.mrow))
				}
			}
		}
	}
	return out
}

// outer says whether rows of a side without a partner come out.
func (j *mjoin) outer(side int) bool {
	switch j.kind {
	case "FULL":
		return true
	case "LEFT", "LEFT ANTI":
		return side == 0
	}
	return j.kind == "RIGHT" && side == 1
}

// water lags by what the sides keep (4.2).
func (j *mjoin) water(w int64) int64 {
	if j.equal {
		return w
	}
	return min(w, w-j.until(0), w-j.until(1))
}

// mgrouped counts and sums by k in update mode, without a time.
type mgrouped struct {
	distinct bool
	groups   map[string]*mgroupedRow
}

type mgroupedRow struct {
	msum
	most num
}

func (g *mgrouped) sql(in []string) string {
	return "SELECT " + counted(g.distinct) + " AS id, k, sum(v) AS v, max(ts) AS ts FROM " + in[0] + " GROUP BY k"
}

func (g *mgrouped) push(in [][]mrow, _, _ int64, _ *int) (out []mrow) {
	if g.groups == nil {
		g.groups = map[string]*mgroupedRow{}
	}
	for _, r := range in[0] {
		if g.groups[r.k] == nil {
			g.groups[r.k] = &mgroupedRow{}
		}
		x := g.groups[r.k]
		x.add(r)
		if r.ts.compare(x.most) > 0 {
			x.most = r.ts
		}
		now := x.row(g.distinct, r.k, 0)
		now.ts = x.most
		out = append(out, now)
	}
	return out
}

func (g *mgrouped) water(w int64) int64 { return w }

// mtop keeps the three greatest v of each k, in update mode: no row is late.
type mtop struct{ best map[string][]mrow }

func (m *mtop) sql(in []string) string {
	return "SELECT id, k, v, ts, rn FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY v DESC, id, ts) AS rn FROM " + in[0] + ") WHERE rn <= 3"
}

func (m *mtop) push(in [][]mrow, _, _ int64, _ *int) []mrow {
	if m.best == nil {
		m.best = map[string][]mrow{}
	}
	for _, r := range in[0] {
		list := append(m.best[r.k], r)
		slices.SortStableFunc(list, func(a, b mrow) int {
			return cmp.Or(b.v.compare(a.v), a.id.compare(b.id), a.ts.compare(b.ts))
		})
		m.best[r.k] = list[:min(3, len(list))]
	}
	return nil
}

func (m *mtop) water(w int64) int64 { return w }

// mtable is what the target holds: rows appended, or by key.
type mtable struct {
	keys []string // of an upsert table
	rows []string
	by   map[string]string
}

func (x *mtable) take(op mop, rows []mrow) {
	for _, r := range rows {
		if x.keys == nil {
			x.rows = append(x.rows, r.text())
			continue
		}
		if x.by == nil {
			x.by = map[string]string{}
		}
		key := r.k
		if slices.Contains(x.keys, "ts") {
			key += " " + r.ts.text()
		}
		x.by[key] = r.text()
	}
	if top, ok := op.(*mtop); ok {
		x.by = map[string]string{}
		for k, list := range top.best {
			for i, r := range list {
				x.by[fmt.Sprint(k, i)] = fmt.Sprintf("%s %d", r.text(), i+1)
			}
		}
	}
}

func (x *mtable) all() []string {
	out := slices.Clone(x.rows)
	for _, r := range x.by {
		out = append(out, r)
	}
	slices.Sort(out)
	return out
}

// shape names the operators, for reports.
func (n *mnode) shape() string {
	if n.op == nil {
		return fmt.Sprintf("s%d", n.source)
	}
	name := strings.TrimPrefix(fmt.Sprintf("%T", n.op), "*simtest.m")
	if j, ok := n.op.(*mjoin); ok {
		name = strings.ToLower(strings.ReplaceAll(j.kind, " ", "-")) + "-join"
		if j.exists {
			name += "-exists"
		}
	}
	var in []string
	for _, x := range n.in {
		in = append(in, x.shape())
	}
	return name + "(" + strings.Join(in, ", ") + ")"
}
