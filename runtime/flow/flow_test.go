package flow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"pipelines/runtime/budget"
	"pipelines/runtime/checkpoint"
	"pipelines/runtime/connector"
	"pipelines/runtime/connector/generate"
	"pipelines/runtime/connector/table"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/stores"
	"pipelines/stores/memory"
	"pipelines/tables"
	"pipelines/tables/column"
	"pipelines/tables/format/parquet"
	"pipelines/tables/schema"
)

var testSchema = schema.Schema{Fields: []schema.Field{
	{Name: "id", Type: schema.Of(schema.Int64), Nullable: true},
	{Name: "k", Type: schema.Of(schema.String), Nullable: true},
}}

// rig is one flow from generated rows into a table of a memory store.
type rig struct {
	t     *testing.T
	dir   string
	store stores.Store
	app   string
	rows  int64
	lanes int
	batch int
	dedup bool // the flow remembers each row
	// beside commits each epoch beside the next.
	beside bool
	// room is where the changes that wait for their commit are reserved.
	room *budget.Budget
	// perEpoch is the number of rows an epoch, 0: 100.
	perEpoch int64
	// twice says that the plan scans the source a second time; shared is the
	// number of both scans.
	twice  bool
	shared int
}

func (r *rig) plan() logical.Node {
	if r.twice {
		a, b := r.scan(), r.scan()
		a.Shared, b.Shared = r.shared, r.shared
		return &logical.Union{Children: []logical.Node{a, b}, Columns: a.Columns}
	}
	if !r.dedup {
		return r.scan()
	}
	return &logical.Deduplicate{Input: r.scan(), Keys: []logical.ColumnID{1}, State: &logical.StateInfo{ID: "dedup", Meaning: "rows", EventTime: -1}}
}

func newRig(t *testing.T, rows int64) *rig {
	return &rig{t: t, dir: t.TempDir(), store: memory.New(memory.Options{}), app: "app-1", rows: rows, lanes: 1}
}

func (r *rig) open() (*tables.Table, error) {
	return tables.OpenOrCreate(context.Background(), tables.Options{Store: r.store, Folder: "t"}, tables.Definition{Schema: testSchema})
}

func (r *rig) table() *tables.Table {
	r.t.Helper()
	tb, err := r.open()
	if err != nil {
		r.t.Fatal(err)
	}
	return tb
}

func (r *rig) scan() *logical.Scan {
	rel := &logical.Relation{ID: "gen", Name: []string{"gen"}, Schema: testSchema, Streaming: true}
	s := &logical.Scan{Relation: rel, Fields: []int{0, 1}}
	for i, f := range testSchema.Fields {
		s.Columns = append(s.Columns, logical.Attr{ID: logical.ColumnID(i + 1), Name: f.Name, Type: f.Type, Nullable: true, Watermark: -1})
	}
	return s
}

// run opens everything anew, as another process would, and runs to the end or
// to the error of at.
func (r *rig) run(at func(string) error) (Summary, error) {
	r.t.Helper()
	db, err := openDB(checkpoint.Settings{NoSync: true}, r.dir, r.app)
	if err != nil {
		return Summary{}, err
	}
	defer db.Close() //nolint:errcheck // test
	tb, err := r.open()
	if err != nil {
		return Summary{}, err
	}
	pool := column.NewPool()
	gen := generate.New(generate.Options{Schema: testSchema, Rows: r.rows, RowsPerEpoch: cmp.Or(r.perEpoch, 100), Step: 1000, Partitions: 3})
	sink := table.NewSink(table.SinkOptions{
		Table: tb, Format: parquet.New(), Extension: ".parquet", Schema: testSchema, Location: time.UTC, Pool: pool, At: at,
	})
	beside := 0
	if r.beside {
		beside = 1
	}
	e, err := New(Options{
		Dataset: "t", Flow: "f", Plan: r.plan(), Beside: beside, Session: &funcs.Session{ANSI: true, Location: time.UTC},
		Streams: map[string]connector.Source{"gen": gen}, Sink: sink, DB: db, Lanes: r.lanes, Pool: pool,
		BatchRows: r.batch, Now: time.Now, At: at,
	})
	if err != nil {
		return Summary{}, err
	}
	e.waiting, e.holding.memory = r.room.Reserve("changes"), r.room.Reserve("output")
	sum, err := e.Run(context.Background(), context.Background())
	e.Close()
	if err == nil {
		if v, b := pool.Live(); v != 0 || b != 0 {
			r.t.Errorf("%d vectors and %d batches leak", v, b)
		}
	}
	return sum, err
}

// ids reads the table and counts each id.
func (r *rig) ids() map[int64]int {
	r.t.Helper()
	out := map[int64]int{}
	rel := &logical.Relation{ID: "t", Name: []string{"t"}, Schema: testSchema}
	s := r.scan()
	s.Relation = rel
	w := &table.Whole{Reader: table.Reader{Table: r.table(), Format: parquet.New()}}
	_, err := RunBounded(context.Background(), BoundedOptions{
		Plan: s, Session: &funcs.Session{ANSI: true, Location: time.UTC}, Tables: map[string]connector.Bounded{"t": w}, Lanes: 1, Now: time.Now(),
		Output: func(_ int, b *column.Batch) error {
			for k := range b.Rows() {
				i := k
				if b.Sel != nil {
					i = int(b.Sel[k])
				}
				out[b.Cols[0].I64[i]]++
			}
			return nil
		},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

func (r *rig) check() {
	r.t.Helper()
	ids := r.ids()
	if int64(len(ids)) != r.rows {
		r.t.Errorf("%d distinct rows, want %d", len(ids), r.rows)
	}
	for id, n := range ids {
		if n != 1 || id < 0 || id >= r.rows {
			r.t.Errorf("row %d occurs %d times", id, n)
		}
	}
}

func TestStraight(t *testing.T) {
	r := newRig(t, 1050)
	sum, err := r.run(nil)
	if err != nil {
		t.Fatal(err)
	}
	if sum.Epochs != 11 || sum.InputRows != 1050 || sum.OutputRows != 1050 {
		t.Errorf("%+v", sum)
	}
	r.check()
	if sum, err = r.run(nil); err != nil || sum.Epochs != 0 {
		t.Errorf("second run: %+v %v", sum, err)
	}
	r.rows = 1200
	if _, err = r.run(nil); err != nil {
		t.Fatal(err)
	}
	r.check()
}

var errCrash = errors.New("crash")

// TestCrashAnywhere crashes at the n-th border for every n, until a run gets
// through without reaching it, and checks the rows after each.
func TestCrashAnywhere(t *testing.T) {
	for n := 1; ; n++ {
		r := newRig(t, 350)
		count := 0
		crashed := ""
		_, err := r.run(func(point string) error {
			if count++; count == n {
				crashed = point
				return fmt.Errorf("%s: %w", point, errCrash)
			}
			return nil
		})
		if crashed == "" {
			if err != nil {
				t.Fatal(err)
			}
			if n < 20 {
				t.Errorf("only %d borders were met", n)
			}
			return
		}
		if !errors.Is(err, errCrash) {
			t.Fatalf("at %s: %v", crashed, err)
		}
		// A second crash while recovering, at each of the first borders.
		double := 0
		if _, err := r.run(func(point string) error {
			if double++; double == n%5+1 {
				return errCrash
			}
			return nil
		}); err != nil && !errors.Is(err, errCrash) {
			t.Fatalf("recovering from %s: %v", crashed, err)
		}
		if _, err := r.run(nil); err != nil {
			t.Fatalf("after %s: %v", crashed, err)
		}
		r.check()
	}
}

func TestMissingCheckpoint(t *testing.T) {
	r := newRig(t, 300)
	if _, err := r.run(nil); err != nil {
		t.Fatal(err)
	}
	r.dir = t.TempDir() // the checkpoint is lost, the table holds its epochs
	if _, err := r.run(nil); !errors.Is(err, ErrAhead) {
		t.Fatalf("a lost checkpoint gave %v", err)
	}
	r.check()
}
