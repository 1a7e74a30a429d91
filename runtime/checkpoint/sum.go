package checkpoint

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/zeebo/xxh3"
	bolt "go.etcd.io/bbolt"
)

// bbolt has no checksums of its own: one flipped bit of a value would be taken
// as it is. Single records carry one (seal, unseal); a bucket of many entries
// has a total over all of them, kept up to date by each change.

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func crc(key, value []byte) uint32 {
	return crc32.Update(crc32.Update(0, castagnoli, key), castagnoli, value)
}

// seal puts the checksum of key and value in front of value.
func seal(key, value []byte) []byte {
	return append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(value)), crc(key, value)), value...)
}

var errSum = errors.New("its checksum is wrong")

// unseal checks a sealed record and returns its value.
func unseal(key, record []byte) ([]byte, error) {
	if len(record) < 4 || binary.BigEndian.Uint32(record) != crc(key, record[4:]) {
		return nil, fmt.Errorf("%w: record %q: %w", ErrDamaged, key, errSum)
	}
	return record[4:], nil
}

// total is the sum over a bucket's entries, in any order.
type total struct{ count, sum uint64 }

func entrySum(key, value []byte) uint64 {
	return xxh3.HashSeed(value, xxh3.Hash(key))
}

func (t *total) add(key, value []byte) {
	t.count++
	t.sum += entrySum(key, value)
}

func (t *total) remove(key, value []byte) {
	t.count--
	t.sum -= entrySum(key, value)
}

var totalPrefix = []byte("total/")

// totalKey names the total of a bucket inside another.
func totalKey(parent, name []byte) []byte {
	return append(append(append(bytes.Clone(totalPrefix), parent...), '/'), name...)
}

// count sums the bucket that a total's key names.
func count(tx *bolt.Tx, key []byte) (t total) {
	parent, name, _ := bytes.Cut(key[len(totalPrefix):], []byte("/"))
	if p := tx.Bucket(parent); p != nil {
		if b := p.Bucket(name); b != nil {
			for c, k, v := first(b.Cursor()); k != nil; k, v = c.Next() {
				t.add(k, v)
			}
		}
	}
	return t
}

func first(c *bolt.Cursor) (cursor *bolt.Cursor, key, value []byte) {
	key, value = c.First()
	return c, key, value
}

func readTotal(tx *bolt.Tx, key []byte) (total, error) {
	record := tx.Bucket(bucketMeta).Get(key)
	if record == nil {
		return total{}, nil
	}
	v, err := unseal(key, record)
	if err != nil || len(v) != 16 {
		return total{}, errors.Join(ErrDamaged, err)
	}
	return total{binary.BigEndian.Uint64(v), binary.BigEndian.Uint64(v[8:])}, nil
}

func (t total) write(tx *bolt.Tx, key []byte) error {
	v := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, t.count), t.sum)
	return tx.Bucket(bucketMeta).Put(key, seal(key, v))
}
