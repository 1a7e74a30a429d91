package flow

import (
	"context"
	"testing"
	"testing/synctest"

	"pipelines/runtime/budget"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// written is an epoch of a sink that notes the first number of each batch.
type written struct{ first []int64 }

func (w *written) Write(_ int, b *column.Batch) error {
	w.first = append(w.first, b.Cols[0].I64[0])
	return nil
}
func (w *written) Prepare(context.Context) ([]byte, error) { return nil, nil }
func (w *written) Abort() error                            { return nil }

// TestHeldOutput: output waits in memory for the sink's epoch as far as the
// budget goes; what is beyond waits outside.
func TestHeldOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const room, size = 1 << 20, 300 << 10 // of the budget, of a batch
		b := budget.New(room, 1)
		r := &running{ready: make(chan struct{}), held: make([][]heldBatch, 1), holding: &holding{memory: b.Reserve("output")}}
		pool, out, passed := column.NewPool(), &written{}, 0
		go func() {
			for i := range int64(5) {
				batch := pool.Batch()
				v := pool.Vector(schema.Of(schema.Int64))
				v.I64 = append(make([]int64, 0, size/8), i)
				v.Len, batch.Len = 1, 1
				batch.Cols = append(batch.Cols, v)
				if err := r.write(0, batch); err != nil {
					t.Error(err)
				}
				batch.Release()
				passed++
			}
		}()
		synctest.Wait()
		if passed != 3 || b.Used() < 3*size || b.Used() > room {
			t.Errorf("%d batches are held, %d bytes of them reserved", passed, b.Used())
		}
		r.ep = out
		close(r.ready)
		synctest.Wait()
		if err := r.opened(); err != nil || passed != 5 || b.Used() != 0 {
			t.Errorf("%d batches have passed (%v), %d bytes are still reserved", passed, err, b.Used())
		}
		for i, n := range out.first {
			if int64(i) != n {
				t.Fatalf("the order is %v", out.first)
			}
		}
		if v, n := pool.Live(); v != 0 || n != 0 {
			t.Errorf("%d vectors and %d batches leak", v, n)
		}
	})
}
