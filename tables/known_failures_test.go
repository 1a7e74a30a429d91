package tables

import (
	"errors"
	"fmt"
	"testing"

	"golang.org/x/sync/errgroup"

	"pipelines/stores"
	"pipelines/stores/memory"
)

// TestB22 is known failure B22, "two runs of one query both advance": the
// commit is made for one of them, the other learns of a concurrent run.
func TestB22(t *testing.T) {
	ctx := t.Context()
	one := create(t, options())
	two := must[*Table](t)(Open(ctx, one.opts))
	add(t, one, "flow", 3, "batch 3")
	mine, theirs := one.BeginAt(one.Known()), must[*Transaction](t)(two.Begin(ctx))
	for i, tx := range []*Transaction{mine, theirs} {
		tx.AddFiles(newFile(fmt.Sprintf("batch 4 of run %d", i), 1))
		tx.SetTxn("flow", 4)
	}
	must[int64](t)(theirs.Commit(ctx))
	if _, err := mine.Commit(ctx); !errors.Is(err, ErrConflict) {
		t.Errorf("got %v", err)
	}
	if got := fileKeys(must[*Snapshot](t)(one.Snapshot(ctx))); got != "batch 3 batch 4 of run 1" {
		t.Errorf("the table has %s", got)
	}
}

// TestB73 is known failure B73, "the same transaction id is written twice": a
// runner that died after the log entry of batch 7 comes again with it.
func TestB73(t *testing.T) {
	ctx := t.Context()
	table := create(t, options())
	add(t, table, "flow", 7, "first")
	again := must[*Table](t)(Open(ctx, table.opts))
	tx := must[*Transaction](t)(again.Begin(ctx))
	tx.AddFiles(newFile("second", 1))
	tx.SetTxn("flow", 7)
	_, err := tx.Commit(ctx)
	if _, ok := errors.AsType[*CommittedError](err); !ok || errors.Is(err, ErrConflict) {
		t.Errorf("got %v", err)
	}
	same(t, table)
	if got := fileKeys(table.Known()); got != "first" {
		t.Errorf("the table has %s", got)
	}
}

// TestB74 is known failure B74, "concurrent rewrite doubles rows": a table of
// two rows is compacted five times while 100 rows are appended, one by one.
func TestB74(t *testing.T) {
	ctx := t.Context()
	table := create(t, options())
	add(t, table, "", 0, "r1", "r2")
	compactor := must[*Table](t)(Open(ctx, table.opts))
	lost := 0
	for i := range 100 {
		tx := must[*Transaction](t)(table.Begin(ctx))
		tx.AddFiles(newFile(fmt.Sprintf("append %03d", i), 1))
		if i%20 == 0 {
			c := must[*Transaction](t)(compactor.Begin(ctx))
			c.KeepsData()
			rows := 0
			for _, f := range c.Snapshot().Files() {
				n, _ := f.Rows()
				rows += int(n)
			}
			c.RemoveFiles(c.Snapshot().Files()...)
			c.AddFiles(newFile(fmt.Sprintf("compacted %d", i), rows))
			twice := must[*Transaction](t)(compactor.Begin(ctx))
			twice.KeepsData()
			twice.RemoveFiles(twice.Snapshot().Files()...)
			twice.AddFiles(newFile(fmt.Sprintf("compacted twice %d", i), rows))
			must[int64](t)(c.Commit(ctx))
			if _, err := twice.Commit(ctx); errors.Is(err, ErrConflict) {
				lost++
			}
		}
		must[int64](t)(tx.Commit(ctx))
	}
	same(t, table)
	if rows, ok := table.Known().Rows(); rows != 102 || !ok || lost != 5 {
		t.Errorf("%d rows, %d compactions lost", rows, lost)
	}
}

// TestB26 is known failure B26, "disk full", for the table: it is filled up at
// many sizes; after room is made, everything is there once.
func TestB26(t *testing.T) {
	ctx := t.Context()
	for limit := int64(600); limit < 12_000; limit += 350 {
		disk := memory.New(memory.Options{Limit: limit})
		opts := Options{Store: disk, Folder: "t"}
		full := false
		for life := 0; !runEpochs(t, opts, 12); life++ {
			full = true
			if life > 5 {
				t.Fatalf("limit %d: never through", limit)
			}
			if table, err := Open(ctx, opts); err == nil {
				same(t, table)
			} else if !errors.Is(err, stores.ErrNotExist) {
				t.Fatalf("limit %d: %v", limit, err)
			}
			disk.SetLimit(0)
		}
		if !full && limit < 2000 {
			t.Errorf("limit %d was enough", limit)
		}
		disk.SetLimit(0)
		checkEpochs(t, uint64(limit), disk, 12)
	}
}

// TestConcurrentReaders reads snapshots while two writers move the table on:
// each snapshot stays what it was.
func TestConcurrentReaders(t *testing.T) {
	ctx := t.Context()
	table := create(t, Options{Store: memory.New(memory.Options{}), Folder: "t"})
	const commits = 150
	var g errgroup.Group
	for w := range 2 {
		g.Go(func() error {
			for i := range commits {
				tx, err := table.Begin(ctx)
				if err != nil {
					return err
				}
				if i%40 == 39 {
					tx.Overwrite()
				}
				tx.AddFiles(newFile(fmt.Sprintf("%d-%d", w, i), 1))
				tx.SetTxn(fmt.Sprint(w), int64(i))
				if _, err := tx.Commit(ctx); err != nil {
					return err
				}
			}
			return nil
		})
		g.Go(func() error {
			var kept []*Snapshot
			for last := int64(0); last < commits; {
				s, err := table.Snapshot(ctx)
				if err != nil {
					return err
				}
				if s.Version() < last {
					return fmt.Errorf("version went back from %d to %d", last, s.Version())
				}
				last = s.Version()
				kept = append(kept, s)
				for _, k := range []*Snapshot{s, kept[len(kept)/2]} {
					if len(k.Files()) != k.NumFiles() {
						return fmt.Errorf("version %d has %d files, not %d", k.Version(), len(k.Files()), k.NumFiles())
					}
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	if s := must[*Snapshot](t)(table.Snapshot(ctx)); s.Version() != 2*commits {
		t.Errorf("version %d", s.Version())
	}
	same(t, table)
}
