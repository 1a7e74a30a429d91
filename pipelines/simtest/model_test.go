package simtest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// The model of stateful streams: each operator row by row, as
// reference/streaming-semantics.md has it, by the plainest means. All rows
// have the same four columns, so that any operator can stand on any other.

type num struct {
	n   int64
	set bool
}

func (a num) text() string {
	if !a.set {
		return "null"
	}
	return fmt.Sprint(a.n)
}

// compare puts NULL first.
func (a num) compare(b num) int {
	if a.set != b.set {
		return map[bool]int{false: -1, true: 1}[a.set]
	}
	return cmp.Compare(a.n, b.n)
}

func (a num) plus(b num) num {
	if !a.set {
		return b
	}
	if b.set {
		a.n += b.n
	}
	return a
}

// mrow is a row; k is "" for NULL, ts in microseconds.
type mrow struct {
	id, v, ts num
	k         string
}

func quoted(k string) string {
	if k == "" {
		return "null"
	}
	return `"` + k + `"`
}

func instant(t num) string {
	if !t.set {
		return "null"
	}
	at := time.UnixMicro(t.n).UTC()
	if t.n%1000 != 0 {
		return at.Format(`"2006-01-02T15:04:05.000000Z"`)
	}
	return at.Format(`"2006-01-02T15:04:05.000Z"`)
}

func (r mrow) text() string {
	return fmt.Sprintf("%s %s %s %s", r.id.text(), quoted(r.k), r.v.text(), instant(r.ts))
}

func (r mrow) json() string {
	return fmt.Sprintf(`{"id":%s,"k":%s,"v":%s,"ts":%s}`, r.id.text(), quoted(r.k), r.v.text(), instant(r.ts))
}

// never is the watermark before there is one.
const never = math.MinInt64 / 4

const second = int64(1_000_000)

// mop is an operator of the model: SQL over its inputs' names, what it emits
// in an epoch, and the watermark above it (4.2). push counts late rows.
type mop interface {
	sql(in []string) string
	push(in [][]mrow, late, evict int64, lates *int) []mrow
	water(w int64) int64
}

// mnode is an operator in its place. Sources have no op.
type mnode struct {
	name  string
	in    []*mnode
	op    mop
	dedup string // keys of a `deduplicate:`, "" for none
	// a source:
	source int
	delay  int64
	most   int64 // greatest event time so far
	keyed  bool  // a join drops rows without a key already below the watermark
}

func (n *mnode) each(f func(*mnode)) {
	for _, x := range n.in {
		x.each(f)
	}
	f(n)
}

// keys notes where joins leave out rows whose key is NULL before the watermark
// sees them: on the sides whose rows need a partner, but for what is below a
// deduplication.
func (n *mnode) keys(keyed bool) {
	n.keyed = keyed
	if _, ok := n.op.(*mdedup); ok {
		keyed = false
	}
	j, ok := n.op.(*mjoin)
	for i, x := range n.in {
		x.keys(keyed && (i == 0 || !ok) || ok && !j.outer(i))
	}
}

// step runs the epoch below and in n.
func (n *mnode) step(e *mepoch) (rows []mrow, late, evict int64) {
	if n.op == nil {
		for _, r := range e.rows[n.source] {
			if ms := r.ts.n - r.ts.n%1000; r.ts.set && ms > n.most && (r.k != "" || !n.keyed) {
				n.most = ms
			}
		}
		return e.rows[n.source], e.late, e.evict
	}
	late, evict = math.MaxInt64, math.MaxInt64
	var in [][]mrow
	for _, x := range n.in {
		rs, l, v := x.step(e)
		in, late, evict = append(in, rs), min(late, l), min(evict, v)
	}
	out := n.op.push(in, late, evict, &e.lates)
	return out, n.above(late), n.above(evict)
}

func (n *mnode) above(w int64) int64 {
	if w <= never {
		return never
	}
	return n.op.water(w)
}

// query is the node's SQL; batch says without streams and watermarks.
func (n *mnode) query(batch bool) string {
	from := func(name string) string {
		if batch {
			return name
		}
		return "STREAM(" + name + ")"
	}
	if n.op == nil {
		q := fmt.Sprintf("SELECT id, k, v, ts FROM %s", from(fmt.Sprintf("s%d", n.source)))
		if !batch {
			q += fmt.Sprintf(" WATERMARK ts DELAY OF INTERVAL %d MILLISECONDS", n.delay/1000)
		}
		return q
	}
	var in []string
	for _, x := range n.in {
		in = append(in, from(x.name))
	}
	q := n.op.sql(in)
	if batch && n.dedup != "" {
		q = strings.Replace(q, "SELECT", "SELECT DISTINCT", 1)
	}
	return q
}

type mepoch struct {
	rows        [][]mrow // by source
	late, evict int64
	lates       int
}

// msum is what an aggregation keeps of a group: rows, the sum and the distinct
// values of v.
type msum struct {
	n    int64
	sum  num
	vals map[int64]bool
}

func (s *msum) add(r mrow) {
	s.n++
	s.sum = s.sum.plus(r.v)
	if r.v.set {
		s.note(r.v.n)
	}
}

func (s *msum) note(v int64) {
	if s.vals == nil {
		s.vals = map[int64]bool{}
	}
	s.vals[v] = true
}

func (s *msum) merge(o *msum) {
	s.n += o.n
	s.sum = s.sum.plus(o.sum)
	for v := range o.vals {
		s.note(v)
	}
}

// row is the group's result: the number of rows, or of distinct values.
func (s *msum) row(distinct bool, k string, ts int64) mrow {
	n := s.n
	if distinct {
		n = int64(len(s.vals))
	}
	return mrow{id: num{n, true}, k: k, v: s.sum, ts: num{ts, true}}
}

func counted(distinct bool) string {
	if distinct {
		return "count(DISTINCT v)"
	}
	return "count(*)"
}

// mwindow counts and sums by window and k; append mode (O-01 to O-03, O-31).
type mwindow struct {
	size, slide int64
	update      bool // emits what was touched instead (O-30)
	distinct    bool
	groups      map[mgroup]*msum
}

type mgroup struct {
	k   string
	end int64
}

func (w *mwindow) sql(in []string) string {
	spec := fmt.Sprintf("'%d seconds'", w.size/second)
	if w.slide != w.size {
		spec += fmt.Sprintf(", '%d seconds'", w.slide/second)
	}
	if w.update {
		return "SELECT " + counted(w.distinct) + " AS id, k, sum(v) AS v, window.end AS ts FROM " + in[0] + " GROUP BY window(ts, " + spec + "), k"
	}
	return "SELECT id, k, v, window_time(w) AS ts FROM (SELECT window AS w, k, " + counted(w.distinct) + " AS id, sum(v) AS v FROM " + in[0] + " GROUP BY window(ts, " + spec + "), k)"
}

func (w *mwindow) push(in [][]mrow, late, evict int64, lates *int) (out []mrow) {
	if w.groups == nil {
		w.groups = map[mgroup]*msum{}
	}
	touched := map[mgroup]bool{}
	for _, r := range in[0] {
		if !r.ts.set {
			continue
		}
		// every window [s, s+size) that holds the time
		last := r.ts.n - ((r.ts.n%w.slide)+w.slide)%w.slide
		for s := last; s > r.ts.n-w.size; s -= w.slide {
			g := mgroup{r.k, s + w.size}
			if g.end <= late {
				*lates++
				continue
			}
			if w.groups[g] == nil {
				w.groups[g] = &msum{}
			}
			w.groups[g].add(r)
			touched[g] = true
		}
	}
	for g, x := range w.groups {
		closed := g.end <= evict
		switch {
		case w.update && touched[g]:
			out = append(out, x.row(w.distinct, g.k, g.end))
		case !w.update && closed:
			out = append(out, x.row(w.distinct, g.k, g.end-1)) // window_time
		}
		if closed {
			delete(w.groups, g)
		}
	}
	return out
}

func (w *mwindow) water(m int64) int64 { return m }

// msession is O-20 to O-23.
type msession struct {
	gap      int64
	distinct bool
	sessions map[string][]*msess
}

type msess struct {
	start, end int64
	msum
}

func (s *msession) sql(in []string) string {
	return fmt.Sprintf("SELECT id, k, v, window_time(w) AS ts FROM (SELECT session_window AS w, k, %s AS id, sum(v) AS v FROM %s GROUP BY session_window(ts, '%d seconds'), k)", counted(s.distinct), in[0], s.gap/second)
}

func (s *msession) push(in [][]mrow, late, evict int64, lates *int) (out []mrow) {
	if s.sessions == nil {
		s.sessions = map[string][]*msess{}
	}
	for _, r := range in[0] {
		if !r.ts.set {
			continue
		}
		x := &msess{start: r.ts.n, end: r.ts.n + s.gap}
		x.add(r)
		if x.end <= late {
			*lates++
			continue
		}
		if x.start <= late {
			*lates++ // it counts (O-22), but a session that it touches may be out
		}
		var rest []*msess
		for merged := true; merged; {
			merged, rest = false, nil
			for _, y := range s.sessions[r.k] {
				if y.start <= x.end && x.start <= y.end {
					x.start, x.end = min(x.start, y.start), max(x.end, y.end)
					x.merge(&y.msum)
					merged = true
				} else {
					rest = append(rest, y)
				}
			}
			s.sessions[r.k] = rest
		}
		s.sessions[r.k] = append(rest, x)
	}
	for k, list := range s.sessions {
		s.sessions[k] = slices.DeleteFunc(list, func(x *msess) bool {
			if x.end <= evict {
				out = append(out, x.row(s.distinct, k, x.end-1))
			}
			return x.end <= evict
		})
	}
	return out
}

func (s *msession) water(w int64) int64 { return w }

// mdedup passes the first of equal rows; within: of equal ids, for the delay
// after the first (O-50 to O-54).
type mdedup struct {
	within bool
	delay  int64
	seen   map[mrow]int64 // key -> when it goes, never: not
}

func (d *mdedup) sql(in []string) string {
	where := ""
	if d.within {
		where = " WHERE ts IS NOT NULL"
	}
	return "SELECT id, k, v, ts FROM " + in[0] + where
}

func (d *mdedup) push(in [][]mrow, late, evict int64, lates *int) (out []mrow) {
	if d.seen == nil {
		d.seen = map[mrow]int64{}
	}
	for _, r := range in[0] {
		if d.within && !r.ts.set {
			continue
		}
		if r.ts.set && r.ts.n <= late {
			*lates++
			continue
		}
		key, until := r, r.ts.n
		if d.within {
			key, until = mrow{id: r.id}, r.ts.n+d.delay
		}
		if !r.ts.set {
			until = math.MaxInt64
		}
		if _, ok := d.seen[key]; !ok {
			d.seen[key] = until
			out = append(out, r)
		}
	}
	for key, until := range d.seen {
		if until <= evict {
			delete(d.seen, key)
		}
	}
	return out
}

func (d *mdedup) water(w int64) int64 { return w }

// mdistinct is an aggregation by all columns (streaming-measured §1, O-31).
type mdistinct struct{ rows map[mrow]bool }

func (d *mdistinct) sql(in []string) string {
	return "SELECT DISTINCT id, k, v, ts FROM " + in[0] + " WHERE ts IS NOT NULL"
}

func (d *mdistinct) push(in [][]mrow, late, evict int64, lates *int) (out []mrow) {
	if d.rows == nil {
		d.rows = map[mrow]bool{}
	}
	for _, r := range in[0] {
		if r.ts.set && r.ts.n <= late {
			*lates++
		} else if r.ts.set {
			d.rows[r] = true
		}
	}
	for r := range d.rows {
		if r.ts.n <= evict {
			out = append(out, r)
			delete(d.rows, r)
		}
	}
	return out
}

func (d *mdistinct) water(w int64) int64 { return w }

// mfirst is row_number() = 1 by time in append mode: the first row of each k,
// once no earlier one can come.
type mfirst struct {
	best map[string]*mrow
	done map[string]bool
}

func (f *mfirst) sql(in []string) string {
	return "SELECT id, k, v, ts FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY ts, id, v) AS rn FROM " + in[0] + " WHERE ts IS NOT NULL) WHERE rn = 1"
}

func (f *mfirst) push(in [][]mrow, late, evict int64, lates *int) (out []mrow) {
	if f.best == nil {
		f.best, f.done = map[string]*mrow{}, map[string]bool{}
	}
	for _, r := range in[0] {
		switch {
		case !r.ts.set:
		case r.ts.n <= late:
			*lates++
		case f.best[r.k] == nil || cmp.Or(r.ts.compare(f.best[r.k].ts), r.id.compare(f.best[r.k].id), r.v.compare(f.best[r.k].v)) < 0:
			if !f.done[r.k] {
				f.best[r.k] = &r
			}
		}
	}
	for k, r := range f.best {
		if !f.done[k] && r.ts.n <= evict {
			f.done[k] = true
			out = append(out, *r)
		}
	}
	return out
}

func (f *mfirst) water(w int64) int64 { return w }
