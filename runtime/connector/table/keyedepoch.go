package table

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"pipelines/runtime/connector"
	"pipelines/tables/column"
)

// keyedEpoch gathers the rows of an epoch, lane by lane.
type keyedEpoch struct {
	sink  *Keyed
	info  connector.EpochInfo
	files *epoch // where the new rows go

	mu    sync.Mutex // guards lanes
	lanes map[int]*keyedRows
}

// Write implements connector.Epoch.
func (e *keyedEpoch) Write(lane int, b *column.Batch) error {
	if b.Rows() == 0 {
		return nil
	}
	return e.lane(lane).add(b)
}

func (e *keyedEpoch) lane(n int) *keyedRows {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lanes == nil {
		e.lanes = map[int]*keyedRows{}
	}
	r := e.lanes[n]
	if r == nil {
		r = newKeyedRows(e.sink, e.info.Epoch)
		e.lanes[n] = r
	}
	return r
}

// merged joins the lanes' rows in the order of the lanes.
func (e *keyedEpoch) merged() (*keyedRows, error) {
	if len(e.lanes) == 0 {
		return newKeyedRows(e.sink, e.info.Epoch), nil
	}
	var all *keyedRows
	for _, n := range slices.Sorted(maps.Keys(e.lanes)) {
		r := e.lanes[n]
		delete(e.lanes, n)
		if all == nil {
			all = r
			continue
		}
		if err := all.take(r); err != nil {
			all.release()
			return nil, err
		}
	}
	return all, nil
}

// keyedToken is what Prepare hands to Commit.
type keyedToken struct {
	token
	// Gone are the identities of the rows that go, each with its length; when
	// they are many they stand in the file GoneKey, whose checksum is GoneSum.
	Gone    []byte `json:"gone,omitempty"`
	GoneKey string `json:"goneKey,omitempty"`
	GoneSum uint32 `json:"goneSum,omitempty"`
	Count   int    `json:"count,omitempty"`
}

// Prepare implements connector.Epoch.
func (e *keyedEpoch) Prepare(ctx context.Context) ([]byte, error) {
	r, err := e.merged()
	if err != nil {
		return nil, err
	}
	defer r.release()
	var out keyedOutcome
	if e.sink.o.Changes == nil {
		out = replaced(r)
		if err := e.sink.state.reserve(e.info.Epoch, &out); err != nil {
			return nil, err
		}
	} else if out, err = e.sink.state.apply(r, e.info.Now); err != nil {
		return nil, err
	}
	if err := e.writeRecords(r, out.add); err != nil {
		return nil, err
	}
	raw, err := e.files.Prepare(ctx)
	if err != nil {
		return nil, err
	}
	t := keyedToken{Count: out.count, Gone: out.gone}
	if err := json.Unmarshal(raw, &t.token); err != nil {
		return nil, fmt.Errorf("prepared token: %w", err)
	}
	if len(t.Gone) > inlineGone {
		if err := e.sink.stageGone(ctx, e.info, &t); err != nil {
			return nil, err
		}
	}
	if raw, err = json.Marshal(t); err != nil {
		return nil, fmt.Errorf("prepared token: %w", err)
	}
	return raw, nil
}

// replaced is the outcome without changes: the last row of each key stays.
func replaced(r *keyedRows) keyedOutcome {
	var out keyedOutcome
	rows := r.newest()
	for _, id := range sortedIDs(r.keys) {
		out.gone = appendSized(out.gone, []byte(r.keys[id]))
		out.count++
		if i := rows[id]; r.op[i] == OpUpsert {
			out.add = append(out.add, record{i, -1, -1})
		}
	}
	return out
}

// writeRecords writes the new rows of the table.
func (e *keyedEpoch) writeRecords(r *keyedRows, recs []record) error {
	k := e.sink
	var rows, starts, ends []int32
	for chunk := range slices.Chunk(recs, column.BatchRows) {
		rows, starts, ends = rows[:0], starts[:0], ends[:0]
		for _, x := range chunk {
			rows, starts, ends = append(rows, x.row), append(starts, x.start), append(ends, x.end)
		}
		b := k.o.Pool.Batch()
		b.Len = len(chunk)
		for _, v := range r.cols {
			w := k.o.Pool.Vector(v.Type)
			column.Gather(w, v, rows)
			b.Cols = append(b.Cols, w)
		}
		if k.width < len(k.o.Schema.Fields) {
			for _, places := range [][]int32{starts, ends} {
				w := k.o.Pool.Vector(r.seq.Type)
				column.Gather(w, r.seq, places)
				b.Cols = append(b.Cols, w)
			}
		}
		err := e.files.Write(0, b)
		b.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// Abort implements connector.Epoch.
func (e *keyedEpoch) Abort() error {
	var err error
	for _, r := range e.lanes {
		r.release()
	}
	clear(e.lanes)
	e.sink.state.drop()
	return errors.Join(err, e.files.Abort())
}
