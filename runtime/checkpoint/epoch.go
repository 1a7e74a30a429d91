package checkpoint

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// Snapshot is what Load finds.
type Snapshot struct {
	Intent   *Intent   // newest, nil if there never was one
	Prepared *Prepared // newest, nil if there never was one
	Marked   int64     // -1 if nothing is committed
}

// Load reads the newest records.
func (d *DB) Load() (Snapshot, error) {
	s := Snapshot{Marked: -1}
	err := d.bolt.View(func(tx *bolt.Tx) error {
		if v := tx.Bucket(bucketMeta).Get(keyMarked); len(v) == 8 {
			s.Marked = int64(binary.BigEndian.Uint64(v))
		}
		if _, v := tx.Bucket(bucketIntent).Cursor().Last(); v != nil {
			s.Intent = &Intent{}
			if err := json.Unmarshal(v, s.Intent); err != nil {
				return fmt.Errorf("%w: intent: %w", ErrDamaged, err)
			}
		}
		if _, v := tx.Bucket(bucketReady).Cursor().Last(); v != nil {
			s.Prepared = &Prepared{}
			if err := json.Unmarshal(v, s.Prepared); err != nil {
				return fmt.Errorf("%w: prepared epoch: %w", ErrDamaged, err)
			}
		}
		return nil
	})
	if err != nil {
		return s, fmt.Errorf("load checkpoint %s: %w", d.path, err)
	}
	return s, nil
}

// WriteIntent marks the epoch before as committed and writes the intent and
// the sources' ledger entries, in one transaction.
func (d *DB) WriteIntent(in Intent, ledgers map[string][]Entry) error {
	return d.update("write intent", func(tx *bolt.Tx) error {
		if err := putMark(tx, in.Epoch-1); err != nil {
			return err
		}
		if err := putEpoch(tx.Bucket(bucketIntent), in.Epoch, in); err != nil {
			return err
		}
		for id, entries := range ledgers {
			b, err := tx.Bucket(bucketLedger).CreateBucketIfNotExists([]byte(id))
			if err != nil {
				return err
			}
			if err := putEntries(b, entries); err != nil {
				return err
			}
		}
		return nil
	})
}

// WritePrepared writes the prepared epoch and the state it leads to.
func (d *DB) WritePrepared(p Prepared, state []StateChange) error {
	return d.update("prepare epoch", func(tx *bolt.Tx) error {
		if err := putEpoch(tx.Bucket(bucketReady), p.Epoch, p); err != nil {
			return err
		}
		root := tx.Bucket(bucketState)
		var b *bolt.Bucket
		last := ""
		for _, c := range state {
			if b == nil || c.Operator != last {
				var err error
				if b, err = root.CreateBucketIfNotExists([]byte(c.Operator)); err != nil {
					return err
				}
				last = c.Operator
			}
			if err := putEntries(b, []Entry{c.Entry}); err != nil {
				return err
			}
		}
		return nil
	})
}

// WriteMark notes that the epoch is committed (at the end of a run; within a
// run WriteIntent does it).
func (d *DB) WriteMark(epoch int64) error {
	return d.update("mark epoch", func(tx *bolt.Tx) error { return putMark(tx, epoch) })
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
	err := d.bolt.View(func(tx *bolt.Tx) error {
		return tx.Bucket(bucketState).ForEachBucket(func(k []byte) error {
			out = append(out, string(k))
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read checkpoint %s: %w", d.path, err)
	}
	return out, nil
}

func (d *DB) each(bucket []byte, name string, fn func(key, value []byte) error) error {
	err := d.bolt.View(func(tx *bolt.Tx) error {
		b := tx.Bucket(bucket).Bucket([]byte(name))
		if b == nil {
			return nil
		}
		return b.ForEach(fn)
	})
	if err != nil {
		return fmt.Errorf("read checkpoint %s: %w", d.path, err)
	}
	return nil
}

func (d *DB) update(what string, fn func(tx *bolt.Tx) error) error {
	if err := d.bolt.Update(fn); err != nil {
		return fmt.Errorf("%s in %s: %w", what, d.path, err)
	}
	return nil
}

func putMark(tx *bolt.Tx, epoch int64) error {
	if epoch < 0 {
		return nil
	}
	return tx.Bucket(bucketMeta).Put(keyMarked, epochKey(epoch))
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
	return b.Put(epochKey(epoch), text)
}

func putEntries(b *bolt.Bucket, entries []Entry) error {
	for _, e := range entries {
		var err error
		if e.Value == nil {
			err = b.Delete(e.Key)
		} else {
			err = b.Put(e.Key, e.Value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func epochKey(epoch int64) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(epoch))
}
