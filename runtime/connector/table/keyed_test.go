package table_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pipelines/runtime/connector"
	"pipelines/runtime/connector/table"
	"pipelines/stores"
	"pipelines/stores/memory"
	"pipelines/tables"
	"pipelines/tables/column"
	"pipelines/tables/format/parquet"
	"pipelines/tables/schema"
)

// change is one event of a test; nil values are NULL.
type change struct {
	key, seq, op int
	a, b         any // INT, STRING
	minus        bool
}

func (c change) String() string {
	return fmt.Sprintf("%d@%d op%d(%v,%v)", c.key, c.seq, c.op, c.a, c.b)
}

// keyedCase is a configuration of the sink.
type keyedCase struct {
	history, keepOld, structs, partitioned bool
	tracked                                []int
	truncates                              bool
	floats                                 bool // a is a DOUBLE
	floatKeys                              bool // k is a DOUBLE
}

func (c keyedCase) String() string {
	return fmt.Sprintf("history=%t keepOld=%t structs=%t partitioned=%t tracked=%v truncates=%t floats=%t floatKeys=%t", c.history, c.keepOld, c.structs, c.partitioned, c.tracked, c.truncates, c.floats, c.floatKeys)
}

func (c keyedCase) typeOfA() schema.Type {
	if c.floats {
		return schema.Of(schema.Float64)
	}
	return schema.Of(schema.Int32)
}

func (c keyedCase) typeOfKey() schema.Type {
	if c.floatKeys {
		return schema.Of(schema.Float64)
	}
	return schema.Of(schema.Int32)
}

// keyValue is a key as the source has it: -0.0 and 0.0 are one.
func (c keyedCase) keyValue(x change) any {
	switch {
	case !c.floatKeys:
		return int32(x.key)
	case x.minus && x.key == 0:
		return math.Copysign(0, -1)
	}
	return float64(x.key)
}

func (c keyedCase) sequence() schema.Type {
	if !c.structs {
		return schema.Of(schema.Int64)
	}
	f := schema.Field{Name: "hi", Type: schema.Of(schema.Int64), Nullable: true}
	g := schema.Field{Name: "lo", Type: schema.Of(schema.String), Nullable: true}
	return schema.StructOf(f, g)
}

func (c keyedCase) seqValue(n int) any {
	if !c.structs {
		return int64(n)
	}
	return []any{int64(n / 2), string(rune('a' + n%2))}
}

// bench runs a keyed sink over a table in memory as a flow does.
type bench struct {
	t     *testing.T
	c     keyedCase
	table *tables.Table
	sink  connector.Sink
	pool  *column.Pool
	state map[string][]byte
	epoch int64
	rng   *rand.Rand
}

func (b *bench) fields() []schema.Field {
	out := []schema.Field{
		{Name: "k", Type: b.c.typeOfKey(), Nullable: true},
		{Name: "a", Type: b.c.typeOfA(), Nullable: true},
		{Name: "b", Type: schema.Of(schema.String), Nullable: true},
	}
	if b.c.history {
		out = append(out, schema.Field{Name: "__START_AT", Type: b.c.sequence(), Nullable: true}, schema.Field{Name: "__END_AT", Type: b.c.sequence(), Nullable: true})
	}
	return out
}

func newBench(t *testing.T, c keyedCase, rng *rand.Rand) *bench {
	b := &bench{t: t, c: c, pool: column.NewPool(), state: map[string][]byte{}, rng: rng}
	def := tables.Definition{Schema: schema.Schema{Fields: b.fields()}}
	if c.partitioned {
		def.PartitionColumns = []string{"b"}
	}
	var err error
	if b.table, err = tables.Create(t.Context(), tables.Options{Store: memory.New(memory.Options{}), Folder: "t"}, def); err != nil {
		t.Fatal(err)
	}
	b.restart()
	return b
}

// Prefixes implements connector.StateReader over the entries in b.state.
func (b *bench) Prefixes(prefixes [][]byte, fn func(i int, k, v []byte) error) error {
	keys := slices.Sorted(maps.Keys(b.state))
	for i, p := range prefixes {
		at, _ := slices.BinarySearch(keys, string(p))
		for ; at < len(keys) && strings.HasPrefix(keys[at], string(p)); at++ {
			if err := fn(i, []byte(keys[at]), b.state[keys[at]]); err != nil {
				return err
			}
		}
	}
	return nil
}

// restart makes the sink anew, as another process would.
func (b *bench) restart() {
	o := table.KeyedOptions{
		SinkOptions: table.SinkOptions{
			Table: b.table, Format: parquet.New(), Extension: ".parquet", Schema: schema.Schema{Fields: b.fields()},
			PartitionColumns: b.table.Known().PartitionColumns(), Location: time.UTC, Pool: b.pool,
		},
		Name: "t", Keys: []int{0},
		Changes: &table.ChangeOptions{Sequence: b.c.sequence(), History: b.c.history, Tracked: b.c.tracked, Meaning: "test"},
	}
	if b.c.keepOld {
		o.Changes.KeepOld = []bool{false, true, true}
	}
	b.sink = table.NewKeyed(o)
	if err := b.sink.(connector.Stateful).StartState(b); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) batch(cs []change) *column.Batch {
	out := b.pool.Batch()
	types := []schema.Type{b.c.typeOfKey(), b.c.typeOfA(), schema.Of(schema.String), b.c.sequence(), schema.Of(schema.Int8)}
	for _, t := range types {
		out.Cols = append(out.Cols, b.pool.Vector(t))
	}
	for _, c := range cs {
		var op any
		if c.op != table.OpUpsert {
			op = int8(c.op)
		}
		for i, v := range []any{b.c.keyValue(c), c.a, c.b, b.c.seqValue(c.seq), op} {
			column.AppendValue(out.Cols[i], v)
		}
	}
	out.Len = len(cs)
	return out
}

// run brings one epoch into the table, with accidents on the way.
func (b *bench) run(cs []change) {
	ctx := b.t.Context()
	info := connector.EpochInfo{AppID: "app", Epoch: b.epoch, Now: 5}
	must := func(err error) {
		b.t.Helper()
		if err != nil {
			b.t.Fatal(err)
		}
	}
	if b.rng.IntN(4) == 0 { // an attempt that dies before its state is durable
		ep, err := b.sink.Begin(ctx, info)
		must(err)
		x := b.batch(cs)
		must(ep.Write(0, x))
		x.Release()
		if b.rng.IntN(2) == 0 {
			_, err := ep.Prepare(ctx)
			must(err)
		} else {
			must(ep.Abort())
		}
		b.restart()
		must(b.sink.Clean(ctx, "app"))
	}
	ep, err := b.sink.Begin(ctx, info)
	must(err)
	for len(cs) > 0 {
		n := 1 + b.rng.IntN(len(cs))
		x := b.batch(cs[:n])
		must(ep.Write(b.rng.IntN(3), x))
		x.Release()
		cs = cs[n:]
	}
	token, err := ep.Prepare(ctx)
	must(err)
	b.sink.(connector.Stateful).Changes(func(k, v []byte) {
		if v == nil {
			delete(b.state, string(k))
		} else {
			b.state[string(k)] = v
		}
	})
	if b.rng.IntN(3) == 0 {
		b.restart() // the commit is finished by another process
	}
	if b.rng.IntN(3) == 0 {
		b.compact() // others move the rows in between
	}
	must(b.sink.Commit(ctx, info, token))
	if err := b.sink.Commit(ctx, info, token); !errors.Is(err, connector.ErrCommitted) {
		b.t.Fatalf("a second commit: %v", err)
	}
	if b.rng.IntN(3) == 0 {
		b.restart()
		must(b.sink.Clean(ctx, "app"))
	}
	b.epoch++
}

// compact replaces every file by a copy.
func (b *bench) compact() {
	ctx := b.t.Context()
	tx, err := b.table.Begin(ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	files := tx.Snapshot().Files()
	tx.KeepsData()
	tx.RemoveFiles(files...)
	store, _ := b.table.Store()
	for _, f := range files {
		data, err := store.Get(ctx, b.table.Key(f.Key))
		if err != nil {
			b.t.Fatal(err)
		}
		key := f.Key + fmt.Sprintf("-%d.parquet", b.rng.Uint32())
		if err := store.Put(ctx, b.table.Key(key), data); err != nil {
			b.t.Fatal(err)
		}
		tx.AddFiles(tables.NewFile{Key: key, PartitionValues: f.PartitionValues, Size: f.Size, ModTime: f.ModTime, Stats: f.Stats})
	}
	if len(files) == 0 {
		return
	}
	if _, err := tx.Commit(ctx); err != nil {
		b.t.Fatal(err)
	}
}

// rows reads the table, sorted.
func (b *bench) rows() []string {
	ctx := b.t.Context()
	w := table.Whole{Reader: table.Reader{Table: b.table, Format: parquet.New()}}
	splits, _, err := w.Whole(ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	out := []string{}
	for _, s := range splits {
		r, err := w.Open(ctx, s, connector.ScanSpec{Columns: schema.Schema{Fields: b.fields()}, Pool: b.pool, Location: time.UTC})
		if err != nil {
			b.t.Fatal(err)
		}
		for {
			x, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				b.t.Fatal(err)
			}
			for n := range x.Rows() {
				i := n
				if x.Sel != nil {
					i = int(x.Sel[n])
				}
				var vals []string
				for _, v := range x.Cols {
					vals = append(vals, showValue(column.At(v, i)))
				}
				out = append(out, strings.Join(vals, "|"))
			}
			x.Release()
		}
		if err := r.Close(); err != nil {
			b.t.Fatal(err)
		}
	}
	slices.Sort(out)
	return out
}

// showValue tells -0.0 from 0.0 and one NaN from another; canonicalNaN is the
// one that a table holds.
func showValue(v any) string {
	if x, ok := v.(float64); ok && x != x {
		return fmt.Sprintf("NaN %x", math.Float64bits(x))
	}
	return fmt.Sprint(v)
}

var canonicalNaN = math.NaN()

func compareAny(x, y any) int {
	switch {
	case x == nil && y == nil:
		return 0
	case x == nil:
		return -1
	case y == nil:
		return 1
	}
	switch x := x.(type) {
	case int32:
		return int(x) - int(y.(int32))
	case float64: // -0.0 below 0.0, NaNs are one and the greatest
		y := y.(float64)
		if x == y {
			return cmp.Compare(math.Copysign(1, x), math.Copysign(1, y))
		}
		return column.CompareFloat(x, y)
	}
	return strings.Compare(x.(string), y.(string))
}

// inOrder sorts changes as they take effect.
func (b *bench) inOrder(all []change) []change {
	cs := slices.Clone(all)
	rank := func(c change) int {
		if b.c.history { // a delete wins
			return map[int]int{table.OpUpsert: 0, table.OpDelete: 1}[c.op]
		}
		return map[int]int{table.OpTruncate: 0, table.OpDelete: 0, table.OpUpsert: 1}[c.op]
	}
	slices.SortStableFunc(cs, func(x, y change) int {
		if x.seq != y.seq {
			return x.seq - y.seq
		}
		if d := rank(x) - rank(y); d != 0 {
			return d
		}
		if d := compareAny(x.a, y.a); d != 0 {
			return d
		}
		return compareAny(x.b, y.b)
	})
	return cs
}

// modelRow is a row of the model's table.
type modelRow struct {
	a, b       any
	start, end int
}

func (b *bench) show(k int, r *modelRow) string {
	a := r.a
	if x, ok := a.(float64); ok && x != x {
		a = canonicalNaN
	}
	s := fmt.Sprintf("%d|%s|%v", k, showValue(a), r.b)
	if !b.c.history {
		return s
	}
	end := any(nil)
	if r.end >= 0 {
		end = b.c.seqValue(r.end)
	}
	return s + fmt.Sprintf("|%v|%v", b.c.seqValue(r.start), end)
}

// model applies all changes in order, one after the other, in the obvious way.
func (b *bench) model(all []change) []string {
	cs := b.inOrder(all)
	open, closed := map[int]*modelRow{}, []string{}
	end := func(c change) {
		r := open[c.key]
		r.end = c.seq
		closed = append(closed, b.show(c.key, r))
	}
	for n, c := range cs {
		switch {
		case c.op == table.OpTruncate:
			clear(open)
			continue
		case c.op == table.OpDelete:
			if open[c.key] != nil && b.c.history {
				end(c)
			}
			delete(open, c.key)
			continue
		case b.c.history && beaten(c, cs[n+1:]):
			continue
		}
		r := open[c.key]
		next := modelRow{a: c.a, b: c.b, start: c.seq, end: -1}
		if r != nil && b.c.keepOld && next.a == nil {
			next.a = r.a
		}
		if r != nil && b.c.keepOld && next.b == nil {
			next.b = r.b
		}
		switch {
		case r == nil || !b.c.history:
		case b.sameTracked(r, &next) || r.start == c.seq:
			next.start = r.start
		default:
			end(c)
		}
		open[c.key] = &next
	}
	for k, r := range open {
		closed = append(closed, b.show(k, r))
	}
	slices.Sort(closed)
	return closed
}

// beaten reports whether another change of the key and sequence counts alone:
// a delete, or the greatest row.
func beaten(c change, later []change) bool {
	return slices.ContainsFunc(later, func(d change) bool { return d.key == c.key && d.seq == c.seq })
}

func (b *bench) sameTracked(x, y *modelRow) bool {
	same := true
	for _, t := range b.c.tracked {
		same = same && (t == 0 || t == 1 && sameA(x.a, y.a) || t == 2 && x.b == y.b)
	}
	return same
}

// sameA is <=>: -0.0 is 0.0 to it.
func sameA(x, y any) bool {
	f, ok := x.(float64)
	g, ok2 := y.(float64)
	return ok && ok2 && (f == g || f != f && g != g) || x == y
}

func randomCase(rng *rand.Rand) keyedCase {
	c := keyedCase{history: rng.IntN(2) == 0, keepOld: rng.IntN(2) == 0, structs: rng.IntN(3) == 0, partitioned: rng.IntN(3) == 0}
	c.tracked = [][]int{{0, 1, 2}, {1}, {}}[rng.IntN(3)]
	c.truncates = !c.history && rng.IntN(2) == 0
	c.floats = rng.IntN(2) == 0
	c.floatKeys = rng.IntN(3) == 0
	return c
}

func randomChange(rng *rand.Rand, c keyedCase) change {
	x := change{key: rng.IntN(3), seq: rng.IntN(8), minus: rng.IntN(2) == 0}
	switch n := rng.IntN(20); {
	case n < 5:
		x.op = table.OpDelete
	case n < 7 && c.truncates:
		x.op = table.OpTruncate
	default:
		if n := rng.IntN(6); n > 1 && c.floats {
			x.a = []float64{math.Copysign(0, -1), 0, math.NaN(), math.Float64frombits(0xfff8000000000abc)}[n-2]
		} else if n > 1 {
			x.a = int32(n % 2)
		}
		if rng.IntN(3) > 0 {
			x.b = string(rune('x' + rng.IntN(2)))
		}
	}
	return x
}

// Any order, any batching and any restart gives what the changes give in
// order; it holds after each epoch for the changes so far.
func TestChangesConverge(t *testing.T) {
	for seed := range uint64(250) {
		rng := rand.New(rand.NewPCG(seed, 7))
		c := randomCase(rng)
		b := newBench(t, c, rng)
		var all []change
		for len(all) < 16 {
			var cs []change
			for range 1 + rng.IntN(6) {
				cs = append(cs, randomChange(rng, c))
			}
			all = append(all, cs...)
			b.run(cs)
			if got, want := b.rows(), b.model(all); !slices.Equal(got, want) {
				t.Fatalf("seed %d, %s, after %v (the last %d in this epoch):\n got %v\nwant %v", seed, c, all, len(cs), got, want)
			}
		}
		if v, n := b.pool.Live(); v != 0 || n != 0 {
			t.Fatalf("seed %d: %d vectors and %d batches leak", seed, v, n)
		}
	}
}

// Many rows go by a file beside the token.
func TestManyRowsGo(t *testing.T) {
	const n = 25_000
	rng := rand.New(rand.NewPCG(5, 5))
	b := newBench(t, keyedCase{history: true, tracked: []int{1}}, rng)
	var cs []change
	for seq := range 2 {
		cs = cs[:0]
		for k := range n {
			cs = append(cs, change{key: k, seq: seq, a: int32(seq)})
		}
		b.run(cs)
	}
	if got := len(b.rows()); got != 2*n {
		t.Errorf("%d rows", got)
	}
	cs = cs[:0]
	for k := range n / 2 {
		cs = append(cs, change{key: 2 * k, seq: 1, op: table.OpDelete})
	}
	b.run(cs)
	if got := len(b.rows()); got != 2*n-n/2 {
		t.Errorf("%d rows", got)
	}
	store, _ := b.table.Store()
	err := store.List(t.Context(), stores.ListOptions{Prefix: "t/_pipelines/"}, func(o stores.ObjectInfo) bool {
		t.Errorf("%s is left over", o.Key)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Rows that later ones replace do not pile up, and the right ones are left.
func TestRowsAreReduced(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	b := newBench(t, keyedCase{truncates: true}, rng)
	var all []change
	for _, n := range []int{80_000, 1000} {
		var cs []change
		for range n {
			c := randomChange(rng, b.c)
			c.key, c.seq = rng.IntN(2000), rng.IntN(1000)
			if c.op == table.OpTruncate && rng.IntN(10_000) > 0 {
				c.op = table.OpDelete
			}
			cs = append(cs, c)
		}
		all = append(all, cs...)
		b.run(cs)
		if got, want := b.rows(), b.model(all); !slices.Equal(got, want) {
			t.Fatalf("%d rows, want %d", len(got), len(want))
		}
	}
}

// No file is left over that the table does not know, but for those of dead
// attempts, which Clean removes.
func TestChangesLeaveNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	b := newBench(t, keyedCase{history: true, tracked: []int{1}}, rng)
	for range 12 {
		b.run([]change{randomChange(rng, b.c), randomChange(rng, b.c)})
	}
	ctx := context.Background()
	if err := b.sink.Clean(ctx, "app"); err != nil {
		t.Fatal(err)
	}
	store, _ := b.table.Store()
	err := store.List(ctx, stores.ListOptions{Prefix: "t/_pipelines/"}, func(o stores.ObjectInfo) bool {
		t.Errorf("%s is left over", o.Key)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
}
