package tables

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"pipelines/stores/fault"
	"pipelines/stores/memory"
)

// TestCrashes runs a flow that commits epochs, each with one file, over a
// store that dies at some call, and starts it again until it is through.
// Whatever happened, the table has each epoch once, in order, and its log has
// no gap.
func TestCrashes(t *testing.T) {
	const epochs = 25
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		disk := memory.New(memory.Options{})
		crashes := 0
		for {
			ops := []string{"absent", "put", "create", "write", "commit", "get", "list", "open"}
			how := []string{"crash", "crash-after", "error", "after retryable"}
			script := fault.MustParse(fmt.Sprintf("%s nth %d : %s", ops[rng.IntN(len(ops))], 1+rng.IntN(12), how[rng.IntN(len(how))]))
			opts := Options{Store: fault.New(disk, script), Folder: "t"}
			if runEpochs(t, opts, epochs) {
				break
			}
			if crashes++; crashes > 500 {
				t.Fatalf("seed %d: never through", seed)
			}
		}
		checkEpochs(t, seed, disk, epochs)
	}
}

// runEpochs is one life of the flow; it reports whether it came to its end.
func runEpochs(t *testing.T, opts Options, epochs int64) bool {
	t.Helper()
	ctx := t.Context()
	table, err := OpenOrCreate(ctx, opts, Definition{Schema: twoColumns, Properties: map[string]string{"delta.checkpointInterval": "4"}})
	if err != nil {
		return false
	}
	for {
		s, err := table.Snapshot(ctx)
		if err != nil {
			return false
		}
		next := int64(0)
		if v, ok := s.Txn("flow"); ok {
			next = v + 1
		}
		if next == epochs {
			return true
		}
		key := FileName{AppID: "flow", Epoch: next}.New()
		up, err := table.CreateFile(ctx, key)
		if err == nil {
			err = up.Commit()
		}
		if err != nil {
			return false
		}
		tx := table.BeginAt(s)
		tx.AddFiles(newFile(key, 1))
		tx.SetTxn("flow", next)
		if _, err := tx.Commit(ctx); err != nil {
			return false
		}
	}
}

func checkEpochs(t *testing.T, seed uint64, disk *memory.Store, epochs int64) {
	t.Helper()
	ctx := t.Context()
	table := must[*Table](t)(Open(ctx, Options{Store: disk, Folder: "t"}))
	same(t, table)
	var want int64
	err := table.Changes(ctx, 0, func(c *Change) bool {
		if len(c.Adds) == 0 {
			return true
		}
		n, ok := parseFileName(c.Adds[0].Key)
		if v, has := c.Txn("flow"); !ok || !has || n.Epoch != want || v != want || len(c.Adds) != 1 {
			t.Errorf("seed %d: version %d has epoch %d, want %d", seed, c.Version, n.Epoch, want)
		}
		want++
		return true
	})
	if err != nil || want != epochs || table.Known().NumFiles() != int(epochs) {
		t.Errorf("seed %d: %d epochs, %d files, %v", seed, want, table.Known().NumFiles(), err)
	}
	if _, err := table.RemoveOrphans(ctx, "flow", nil); err != nil {
		t.Error(err)
	}
	for _, f := range table.Known().Files() {
		if _, err := disk.Stat(ctx, table.Key(f.Key)); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// TestTwoRunners lets two runners with the same application id race: each
// epoch is committed by one of them, the other is told.
func TestTwoRunners(t *testing.T) {
	ctx := t.Context()
	a := create(t, options())
	b := must[*Table](t)(Open(ctx, a.opts))
	losses := 0
	for epoch := range int64(10) {
		var txs []*Transaction
		for i, table := range []*Table{a, b} {
			tx := must[*Transaction](t)(table.Begin(ctx))
			tx.AddFiles(newFile(fmt.Sprintf("%d-%d", epoch, i), 1))
			tx.SetTxn("flow", epoch)
			txs = append(txs, tx)
		}
		for i := range txs {
			_, err := txs[(i+int(epoch))%2].Commit(ctx)
			if e, ok := errors.AsType[*CommittedError](err); ok && errors.Is(err, ErrConflict) && e.Stored == epoch {
				losses++
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	if s := must[*Snapshot](t)(a.Snapshot(ctx)); losses != 10 || s.NumFiles() != 10 {
		t.Errorf("%d losses, %d files", losses, s.NumFiles())
	}
}
