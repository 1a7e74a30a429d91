package checkpoint

import (
	"bytes"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// bucketInline holds the content of small state files by name. It is made with
// the first.
var bucketInline = []byte("inline")

// getPrepared reads the record of an epoch with the content of its inline
// files; -1 is none.
func getPrepared(tx *bolt.Tx, epoch int64) (*Prepared, error) {
	var p Prepared
	ok, err := getEpoch(tx.Bucket(bucketReady), epoch, &p)
	if err != nil {
		return nil, fmt.Errorf("prepared epoch: %w", err)
	}
	if !ok {
		return nil, nil
	}
	b := tx.Bucket(bucketInline)
	for i := range p.State {
		r := &p.State[i]
		if !r.Inline || b == nil {
			continue // without content it is refused when it is read
		}
		r.Data = bytes.Clone(b.Get([]byte(r.Name)))
	}
	return &p, nil
}

// putInline writes the inline files of a record and removes those that neither
// it nor the record before it names.
func putInline(tx *bolt.Tx, p Prepared) error {
	keep := map[string]bool{}
	var before Prepared
	if old := epochKey(p.Epoch - 1); p.Epoch > 0 && tx.Bucket(bucketReady).Get(old) != nil {
		if _, err := getEpoch(tx.Bucket(bucketReady), p.Epoch-1, &before); err != nil {
			return err
		}
	}
	for _, r := range before.State {
		keep[r.Name] = r.Inline
	}
	b := tx.Bucket(bucketInline)
	for _, r := range p.State {
		if !r.Inline {
			continue
		}
		if b == nil {
			var err error
			if b, err = tx.CreateBucket(bucketInline); err != nil {
				return err
			}
		}
		keep[r.Name] = true
		if key := []byte(r.Name); !bytes.Equal(b.Get(key), r.Data) {
			if err := b.Put(key, r.Data); err != nil {
				return err
			}
		}
	}
	if b == nil {
		return nil
	}
	var gone [][]byte
	err := b.ForEach(func(k, _ []byte) error {
		if !keep[string(k)] {
			gone = append(gone, bytes.Clone(k))
		}
		return nil
	})
	for _, k := range gone {
		if err == nil {
			err = b.Delete(k)
		}
	}
	return err
}
