package checkpoint

import (
	"bytes"

	bolt "go.etcd.io/bbolt"
)

// ReadPrefixes calls fn for each entry of an operator's state whose key starts
// with prefixes[i], for one prefix after the other. The slices are valid during
// the call only. The total is not checked: entries are looked up, not all read.
func (d *DB) ReadPrefixes(operator string, prefixes [][]byte, fn func(i int, key, value []byte) error) error {
	return d.view("read", func(tx *bolt.Tx) error {
		b := tx.Bucket(bucketState).Bucket([]byte(operator))
		if b == nil {
			return nil
		}
		c := b.Cursor()
		for i, p := range prefixes {
			for k, v := c.Seek(p); k != nil && bytes.HasPrefix(k, p); k, v = c.Next() {
				if err := fn(i, k, v); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
