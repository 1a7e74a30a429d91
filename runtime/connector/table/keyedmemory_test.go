package table_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pipelines/runtime/budget"
	"pipelines/runtime/connector"
	"pipelines/runtime/connector/table"
	"pipelines/tables/format/parquet"
	"pipelines/tables/schema"
)

// TestKeyedMany updates more keys than are gathered without dropping replaced
// rows: those from the state are none of them.
func TestKeyedMany(t *testing.T) {
	b := newBench(t, keyedCase{}, rand.New(rand.NewPCG(3, 4)))
	const keys = 70_000
	for epoch := range 2 {
		cs := make([]change, keys)
		for i := range cs {
			cs[i] = change{key: i, seq: epoch, a: int32(epoch), b: "x"}
		}
		b.run(cs)
	}
	rows := b.rows()
	if len(rows) != keys || len(b.state) < keys || len(b.state) > keys+2 {
		t.Fatalf("%d rows, %d entries of %d keys", len(rows), len(b.state), keys)
	}
}

// TestKeyedMemory runs keyed sinks with little memory: what fits passes and is
// given back, rows of the same keys are reduced, more is refused by name, and
// the table stays as it was.
func TestKeyedMemory(t *testing.T) {
	const limit = 2 << 20
	for _, upsert := range []bool{true, false} {
		t.Run(fmt.Sprintf("upsert=%t", upsert), func(t *testing.T) {
			b := newBench(t, keyedCase{}, rand.New(rand.NewPCG(1, 2)))
			mem := budget.New(limit, 2)
			o := table.KeyedOptions{
				SinkOptions: table.SinkOptions{
					Table: b.table, Format: parquet.New(), Extension: ".parquet", Schema: schema.Schema{Fields: b.fields()}, Location: time.UTC, Pool: b.pool,
				},
				Name: "main.orders", Keys: []int{0}, Budget: mem,
			}
			if !upsert {
				o.Changes = &table.ChangeOptions{Sequence: b.c.sequence(), Meaning: "test"}
			}
			b.sink = table.NewKeyed(o)
			if s, ok := b.sink.(connector.Stateful); ok {
				if err := s.StartState(b); err != nil {
					t.Fatal(err)
				}
			}
			if err := b.epochOf(4_000, 1); err != nil {
				t.Fatal(err)
			}
			if err := b.epochOf(40_000, 4_000); err != nil { // of ten rows a key nine go
				t.Fatal(err)
			}
			if n := mem.Used(); n != 0 {
				t.Errorf("%d bytes are held after the commit", n)
			}
			want := b.rows()
			err := b.epochOf(40_000, 40_000)
			var x *budget.Exceeded
			if !errors.As(err, &x) {
				t.Fatalf("40,000 rows in 2 MiB: %v", err)
			}
			for _, part := range []string{"epoch 2", "table main.orders", "held by", "raise memory", "maxFilesPerTrigger"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
			if n := mem.Used(); n != 0 {
				t.Errorf("%d bytes are held after the error", n)
			}
			if got := b.rows(); len(got) != len(want) || len(got) == 0 {
				t.Errorf("%d rows, %d before the error", len(got), len(want))
			}
		})
	}
}

// epochOf brings so many rows of so many keys into the table, in batches, or
// gives the epoch up.
func (b *bench) epochOf(rows, keys int) error {
	ctx := b.t.Context()
	info := connector.EpochInfo{AppID: "app", Epoch: b.epoch}
	ep, err := b.sink.Begin(ctx, info)
	if err != nil {
		return err
	}
	token, err := func() ([]byte, error) {
		for at := 0; at < rows; at += 1000 {
			cs := make([]change, 1000)
			for i := range cs {
				cs[i] = change{key: (at + i) % keys, seq: at + i, a: int32(at), b: "some text of a row"}
			}
			x := b.batch(cs)
			err := ep.Write(0, x)
			x.Release()
			if err != nil {
				return nil, err
			}
		}
		return ep.Prepare(ctx)
	}()
	if err != nil {
		return errors.Join(err, ep.Abort())
	}
	if s, ok := b.sink.(connector.Stateful); ok {
		s.Changes(func(k, v []byte) {
			if v == nil {
				delete(b.state, string(k))
			} else {
				b.state[string(k)] = v
			}
		})
	}
	b.epoch++
	return b.sink.Commit(ctx, info, token)
}
