package table

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"pipelines/tables/column"
)

// entryDeath lists deletes by the time at which they came, where they are not
// kept for ever: + time + the key of the entry.
const entryDeath = 'd'

// maxExpired bounds the deletes that one epoch forgets.
const maxExpired = 100_000

var errEnough = errors.New("enough")

// noteDelete lists the delete of an entry, so that it is found when its time
// has come.
func (s *keyedState) noteDelete(entry []byte, now int64) {
	if s.sink.o.Changes.Retention > 0 {
		s.put(append(binary.BigEndian.AppendUint64([]byte{entryDeath}, uint64(now)), entry...), nil)
	}
}

// expire forgets old deletes of keys without rows: an older change that comes
// now is taken as new. Keys of this epoch wait for the next one.
func (s *keyedState) expire(r *keyedRows, now int64) error {
	keep := s.sink.o.Changes.Retention.Microseconds()
	if keep <= 0 {
		return nil
	}
	var old [][]byte
	err := s.reader.Prefixes([][]byte{{entryDeath}}, func(_ int, k, _ []byte) error {
		if len(k) < 10 {
			return column.ErrEncoding
		}
		if int64(binary.BigEndian.Uint64(k[1:])) > now-keep || len(old) >= maxExpired {
			return errEnough
		}
		old = append(old, slices.Clone(k))
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	split := s.keySplitter()
	for _, death := range old {
		entry := death[9:]
		key, _, err := split(entry[1:])
		if err != nil {
			return err
		}
		if _, touched := r.ids[string(key)]; touched {
			continue
		}
		gone, err := s.forget(key, entry, death[1:9])
		if err != nil {
			return err
		}
		if gone {
			s.remove(entry)
		}
		s.remove(death)
	}
	return nil
}

// forget reports whether the delete of an entry is still the one that came at
// the time, and its key has deletes only.
func (s *keyedState) forget(key, entry, time []byte) (bool, error) {
	same, deletes := false, true
	err := s.reader.Prefixes([][]byte{append([]byte{entryChange}, key...)}, func(_ int, k, v []byte) error {
		deletes = deletes && k[len(k)-1] == OpDelete
		same = same || string(k) == string(entry) && strings.HasPrefix(string(v), string(time))
		return nil
	})
	return same && deletes, err
}

// keySplitter returns a function that splits the key columns off the start of
// an encoded text.
func (s *keyedState) keySplitter() func(text []byte) (key, rest []byte, err error) {
	var skip []*column.Vector
	for _, c := range s.sink.o.Keys {
		skip = append(skip, column.New(s.sink.o.Schema.Fields[c].Type))
	}
	return func(text []byte) (key, rest []byte, err error) {
		rest = text
		for _, v := range skip {
			v.Truncate(0)
			if rest, err = column.DecodeValue(rest, v); err != nil {
				return nil, nil, err
			}
		}
		return text[:len(text)-len(rest)], rest, nil
	}
}
