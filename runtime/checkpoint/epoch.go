package checkpoint

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"pipelines/runtime/state"
)

// Snapshot is what Load finds.
type Snapshot struct {
	Intent   *Intent   // newest, nil if there never was one
	Prepared *Prepared // newest, nil if there never was one
	Marked   int64     // -1 if nothing is committed
}

// head says which records are the newest: a record that damage took away is
// missed.
type head struct{ intent, prepared, marked int64 }

var newHead = head{-1, -1, -1}

func readHead(tx *bolt.Tx) (head, error) {
	v, err := unseal(keyHead, tx.Bucket(bucketMeta).Get(keyHead))
	if err != nil || len(v) != 24 {
		return head{}, errors.Join(ErrDamaged, err)
	}
	be := binary.BigEndian
	return head{int64(be.Uint64(v)), int64(be.Uint64(v[8:])), int64(be.Uint64(v[16:]))}, nil
}

func (h head) write(tx *bolt.Tx) error {
	var v []byte
	for _, x := range []int64{h.intent, h.prepared, h.marked} {
		v = binary.BigEndian.AppendUint64(v, uint64(x))
	}
	return tx.Bucket(bucketMeta).Put(keyHead, seal(keyHead, v))
}

// Load reads the newest records.
func (d *DB) Load() (Snapshot, error) {
	s := Snapshot{Marked: -1}
	err := d.view("load", func(tx *bolt.Tx) error {
		h, err := readHead(tx)
		if err != nil {
			return err
		}
		s.Marked = h.marked
		var in Intent
		if ok, err := getEpoch(tx.Bucket(bucketIntent), h.intent, &in); err != nil {
			return fmt.Errorf("intent: %w", err)
		} else if ok {
			s.Intent = &in
		}
		s.Prepared, err = getPrepared(tx, h.prepared)
		return err
	})
	return s, err
}

// LoadPrepared reads the record of an epoch that was prepared before the
// newest, nil if there is none. Only the one before the newest still has its
// state.
func (d *DB) LoadPrepared(epoch int64) (p *Prepared, err error) {
	err = d.view("load", func(tx *bolt.Tx) error {
		if epoch >= 0 && tx.Bucket(bucketReady).Get(epochKey(epoch)) == nil {
			return nil
		}
		p, err = getPrepared(tx, epoch)
		return err
	})
	return p, err
}

// WriteIntent marks the epoch before as committed and writes the intent and
// the sources' ledger entries, in one transaction.
func (d *DB) WriteIntent(in Intent, ledgers map[string][]Entry) error {
	return d.update("write intent to", func(tx *bolt.Tx) error {
		h, err := readHead(tx)
		if err != nil {
			return err
		}
		h.intent, h.marked = in.Epoch, max(in.Epoch-1, -1)
		if err := h.write(tx); err != nil {
			return err
		}
		if err := putEpoch(tx.Bucket(bucketIntent), in.Epoch, in); err != nil {
			return err
		}
		for id, entries := range ledgers {
			if err := putEntries(tx, bucketLedger, id, entries); err != nil {
				return err
			}
		}
		return nil
	})
}

// WritePrepared writes the prepared epoch and the state it leads to.
func (d *DB) WritePrepared(p Prepared, state []StateChange) error {
	return d.update("prepare epoch in", func(tx *bolt.Tx) error {
		h, err := readHead(tx)
		if err != nil {
			return err
		}
		h.prepared = p.Epoch
		if err := h.write(tx); err != nil {
			return err
		}
		if err := putEpoch(tx.Bucket(bucketReady), p.Epoch, p); err != nil {
			return err
		}
		if err := putInline(tx, p); err != nil {
			return err
		}
		for len(state) > 0 {
			n := 1
			for n < len(state) && state[n].Operator == state[0].Operator {
				n++
			}
			entries := make([]Entry, n)
			for i := range entries {
				entries[i] = state[i].Entry
			}
			if err := putEntries(tx, bucketState, state[0].Operator, entries); err != nil {
				return err
			}
			state = state[n:]
		}
		return nil
	})
}

// WriteState gives the newest prepared epoch other files with the same state.
func (d *DB) WriteState(chain []state.Ref) error {
	return d.update("write state to", func(tx *bolt.Tx) error {
		h, err := readHead(tx)
		if err != nil {
			return err
		}
		var p Prepared
		if ok, err := getEpoch(tx.Bucket(bucketReady), h.prepared, &p); err != nil || !ok {
			return errors.Join(ErrDamaged, err)
		}
		p.State = chain
		if err := putEpoch(tx.Bucket(bucketReady), p.Epoch, p); err != nil {
			return err
		}
		return putInline(tx, p)
	})
}

// WriteMark notes that the epoch is committed (at the end of a run; within a
// run WriteIntent does it).
func (d *DB) WriteMark(epoch int64) error {
	return d.update("mark epoch in", func(tx *bolt.Tx) error {
		h, err := readHead(tx)
		if err != nil {
			return err
		}
		h.marked = epoch
		return h.write(tx)
	})
}

// WriteLedger changes entries of a source's ledger outside of an epoch.
func (d *DB) WriteLedger(source string, entries []Entry) error {
	return d.update("write ledger to", func(tx *bolt.Tx) error { return putEntries(tx, bucketLedger, source, entries) })
}

// ReadLedger calls fn for each entry of a source's ledger, in key order. The
// slices are valid during the call only.
func (d *DB) ReadLedger(source string, fn func(key, value []byte) error) error {
	return d.each(bucketLedger, source, fn)
}

// ReadState calls fn for each entry of an operator's state, in key order. The
// slices are valid during the call only.
func (d *DB) ReadState(operator string, fn func(key, value []byte) error) error {
	return d.each(bucketState, operator, fn)
}

// StateOperators lists the operators that have state.
func (d *DB) StateOperators() ([]string, error) {
	var out []string
	err := d.view("read", func(tx *bolt.Tx) error {
		return tx.Bucket(bucketState).ForEachBucket(func(k []byte) error {
			out = append(out, string(k))
			return nil
		})
	})
	return out, err
}

// each reads a bucket whole and checks its total.
func (d *DB) each(bucket []byte, name string, fn func(key, value []byte) error) error {
	return d.view("read", func(tx *bolt.Tx) error {
		key := totalKey(bucket, []byte(name))
		want, err := readTotal(tx, key)
		if err != nil {
			return err
		}
		var have total
		if b := tx.Bucket(bucket).Bucket([]byte(name)); b != nil {
			err := b.ForEach(func(k, v []byte) error {
				have.add(k, v)
				return fn(k, v)
			})
			if err != nil {
				return err
			}
		}
		if have != want {
			return fmt.Errorf("%w: %s holds %d entries, %d were written, or they were changed", ErrDamaged, key, have.count, want.count)
		}
		return nil
	})
}

func putEpoch(b *bolt.Bucket, epoch int64, record any) error {
	text, err := json.Marshal(record)
	if err != nil {
		return err
	}
	if old := epoch - keep; old >= 0 {
		if err := b.Delete(epochKey(old)); err != nil {
			return err
		}
	}
	key := epochKey(epoch)
	return b.Put(key, seal(key, text))
}

// getEpoch reads the record of an epoch; -1 is none.
func getEpoch(b *bolt.Bucket, epoch int64, record any) (bool, error) {
	if epoch < 0 {
		return false, nil
	}
	key := epochKey(epoch)
	text, err := unseal(key, b.Get(key))
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(text, record); err != nil {
		return false, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return true, nil
}

// putEntries changes entries of a bucket and its total.
func putEntries(tx *bolt.Tx, parent []byte, name string, entries []Entry) error {
	b, err := tx.Bucket(parent).CreateBucketIfNotExists([]byte(name))
	if err != nil {
		return err
	}
	key := totalKey(parent, []byte(name))
	t, err := readTotal(tx, key)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if old := b.Get(e.Key); old != nil {
			t.remove(e.Key, old)
		}
		if e.Value == nil {
			err = b.Delete(e.Key)
		} else {
			t.add(e.Key, e.Value)
			err = b.Put(e.Key, e.Value)
		}
		if err != nil {
			return err
		}
	}
	return t.write(tx, key)
}

func epochKey(epoch int64) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(epoch))
}
