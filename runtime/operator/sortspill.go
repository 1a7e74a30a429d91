package operator

import (
	"bytes"

	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// sortedRuns is an external sort: rows with their sort keys, written in sorted
// runs and merged. The columns are the caller's, then the key.
type sortedRuns struct {
	mem  *memory
	cols []logical.Attr
	file *spillFile
	runs [][]spillBlock
}

func newSortedRuns(mem *memory, cols []logical.Attr) *sortedRuns {
	all := append(append([]logical.Attr{}, cols...), logical.Attr{Name: "key", Type: schema.Of(schema.Binary)})
	return &sortedRuns{mem: mem, cols: all}
}

func (r *sortedRuns) any() bool { return len(r.runs) > 0 }

func (r *sortedRuns) close() {
	r.mem.p.closeSpill(r.file)
	r.file, r.runs = nil, nil
}

// spill sorts the rows and writes the first limit of them (negative: all) as a
// run. The rows are the caller's to forget.
func (r *sortedRuns) spill(store *rowStore, keyed *sortedKeys, limit int64) error {
	if store.rows == 0 {
		return nil
	}
	if r.file == nil {
		var err error
		if r.file, err = r.mem.file(); err != nil {
			return err
		}
	}
	keyed.sort()
	entries := keyed.entries
	if limit >= 0 && int64(len(entries)) > limit {
		entries = entries[:limit]
	}
	w := r.writer(r.file)
	defer w.release()
	size := (store.used() + int64(len(keyed.arena))) / int64(store.rows)
	step := int(min(max(spillBytes/(size+1), 16), column.BatchRows))
	ids := make([]int32, 0, step)
	for len(entries) > 0 {
		n := min(len(entries), step)
		ids = ids[:0]
		key := w.b.Cols[len(w.b.Cols)-1]
		for _, e := range entries[:n] {
			ids = append(ids, e.row)
			key.AppendStr(keyed.key(e.row))
		}
		store.gather(ids, w.b.Cols[:len(w.b.Cols)-1])
		w.b.Len = n
		if err := w.flush(); err != nil {
			return err
		}
		entries = entries[n:]
	}
	r.runs = append(r.runs, w.run)
	return nil
}

// runWriter writes one run, a block at a time from b.
type runWriter struct {
	file *spillFile
	b    *column.Batch
	run  []spillBlock
}

func (r *sortedRuns) writer(f *spillFile) *runWriter {
	return &runWriter{file: f, b: newBatch(r.mem.p.env.Pool, r.cols)}
}

func (w *runWriter) release() { w.b.Release() }

func (w *runWriter) flush() error {
	if w.b.Len == 0 {
		return nil
	}
	blk, err := w.file.write(w.b.Cols, w.b.Len)
	if err != nil {
		return err
	}
	w.run = append(w.run, blk)
	emptyColumns(w.b)
	return nil
}

// fan is the number of runs that are merged at once: their blocks must fit.
func (r *sortedRuns) fan() int {
	limit := r.mem.p.env.Budget.Limit()
	if limit == 0 {
		return 64
	}
	return int(min(max(limit/4/(4*spillBytes), 4), 128))
}

// merge calls f with the rows of all runs in order, in batches of the columns
// and the key; the batch is lent. A negative limit gives all. The runs are
// gone afterwards.
func (r *sortedRuns) merge(limit int64, f func(b *column.Batch) error) error {
	for len(r.runs) > r.fan() {
		if err := r.pass(limit); err != nil {
			return err
		}
	}
	defer r.close()
	m := r.newMerge(r.runs)
	defer m.release()
	for limit != 0 {
		n := column.BatchRows
		if limit > 0 {
			n = int(min(limit, int64(n)))
		}
		got, err := m.pass(n, f)
		if err != nil || got == 0 {
			return err
		}
		if limit > 0 {
			limit -= int64(got)
		}
	}
	return nil
}

// pass calls f with the next n rows, in a batch of their own, and says how many
// there were.
func (m *runMerge) pass(n int, f func(b *column.Batch) error) (int, error) {
	b := newBatch(m.r.mem.p.env.Pool, m.r.cols)
	defer b.Release()
	if err := m.next(b, n); err != nil || b.Len == 0 {
		return 0, err
	}
	return b.Len, f(b)
}

// pass merges neighbouring runs into longer ones in a new file.
func (r *sortedRuns) pass(limit int64) error {
	file, err := r.mem.file()
	if err != nil {
		return err
	}
	var runs [][]spillBlock
	for rest := r.runs; len(rest) > 0; {
		n := min(len(rest), r.fan())
		run, err := r.mergeInto(file, rest[:n], limit)
		if err != nil {
			return err
		}
		runs, rest = append(runs, run), rest[n:]
	}
	r.mem.p.closeSpill(r.file)
	r.file, r.runs = file, runs
	return nil
}

func (r *sortedRuns) mergeInto(file *spillFile, runs [][]spillBlock, limit int64) ([]spillBlock, error) {
	m := r.newMerge(runs)
	defer m.release()
	w := r.writer(file)
	defer w.release()
	step := 0
	for _, run := range runs {
		for _, blk := range run {
			step = max(step, int(blk.rows))
		}
	}
	for limit != 0 {
		n := step
		if limit > 0 {
			n = int(min(limit, int64(n)))
		}
		if err := m.next(w.b, n); err != nil {
			return nil, err
		}
		if w.b.Len == 0 {
			break
		}
		if limit > 0 {
			limit -= int64(w.b.Len)
		}
		if err := w.flush(); err != nil {
			return nil, err
		}
	}
	return w.run, nil
}

// runCursor reads one run.
type runCursor struct {
	order  int // equal keys: the earlier run first
	blocks []spillBlock
	b      *column.Batch
	row    int
	prefix uint64
	key    []byte
}

// runMerge merges runs by a heap of cursors.
type runMerge struct {
	r     *sortedRuns
	heap  []*runCursor
	all   []*runCursor
	buf   spillBuffer
	picks []runPick
	local []int32
}

// runPick is a row chosen for the output.
type runPick struct {
	from *column.Batch
	row  int32
}

func (r *sortedRuns) newMerge(runs [][]spillBlock) *runMerge {
	m := &runMerge{r: r}
	for i, run := range runs {
		m.all = append(m.all, &runCursor{order: i, blocks: run, b: newBatch(r.mem.p.env.Pool, r.cols)})
	}
	return m
}

func (m *runMerge) release() {
	for _, c := range m.all {
		c.b.Release()
	}
}

// load reads the cursor's next block and reports whether there is one.
func (m *runMerge) load(c *runCursor) (bool, error) {
	if len(c.blocks) == 0 {
		return false, nil
	}
	emptyColumns(c.b)
	if err := m.r.file.read(c.blocks[0], c.b.Cols, &m.buf); err != nil {
		return false, err
	}
	c.b.Len, c.row = int(c.blocks[0].rows), 0
	c.blocks = c.blocks[1:]
	c.see()
	return true, nil
}

func (c *runCursor) see() {
	c.key = c.b.Cols[len(c.b.Cols)-1].Str(c.row)
	c.prefix = prefix(c.key)
}

func (c *runCursor) before(d *runCursor) bool {
	if c.prefix != d.prefix {
		return c.prefix < d.prefix
	}
	if x := bytes.Compare(c.key, d.key); x != 0 {
		return x < 0
	}
	return c.order < d.order
}

// start fills the heap.
func (m *runMerge) start() error {
	m.heap = make([]*runCursor, 0, len(m.all))
	for _, c := range m.all {
		ok, err := m.load(c)
		if err != nil {
			return err
		}
		if ok {
			m.heap = append(m.heap, c)
		}
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	return nil
}

func (m *runMerge) down(i int) {
	for {
		k := 2*i + 1
		if k >= len(m.heap) {
			return
		}
		if k+1 < len(m.heap) && m.heap[k+1].before(m.heap[k]) {
			k++
		}
		if !m.heap[k].before(m.heap[i]) {
			return
		}
		m.heap[i], m.heap[k] = m.heap[k], m.heap[i]
		i = k
	}
}

// next appends up to n rows to b; none at the end.
func (m *runMerge) next(b *column.Batch, n int) error {
	if m.heap == nil {
		if err := m.start(); err != nil {
			return err
		}
	}
	m.picks = m.picks[:0]
	for len(m.heap) > 0 && b.Len+len(m.picks) < n {
		c := m.heap[0]
		m.picks = append(m.picks, runPick{c.b, int32(c.row)})
		c.row++
		if c.row < c.b.Len {
			c.see()
			m.down(0)
			continue
		}
		m.gather(b) // before the block goes
		ok, err := m.load(c)
		if err != nil {
			return err
		}
		if !ok {
			last := len(m.heap) - 1
			m.heap[0] = m.heap[last]
			m.heap = m.heap[:last]
		}
		m.down(0)
	}
	m.gather(b)
	return nil
}

// gather appends the chosen rows, neighbours of one block at a time.
func (m *runMerge) gather(b *column.Batch) {
	for from := 0; from < len(m.picks); {
		src := m.picks[from].from
		m.local = m.local[:0]
		to := from
		for ; to < len(m.picks) && m.picks[to].from == src; to++ {
			m.local = append(m.local, m.picks[to].row)
		}
		for i, v := range b.Cols {
			column.AppendRows(v, src.Cols[i], m.local)
		}
		from = to
	}
	b.Len += len(m.picks)
	m.picks = m.picks[:0]
}
