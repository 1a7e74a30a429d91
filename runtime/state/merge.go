package state

import "bytes"

// Merge reads several files, oldest first, as one: emit gets each key once, in
// order, with its newest value, unless its time has passed. With keepDeleted
// false keys that are gone are left out.
func Merge(readers []*Reader, keepDeleted bool, emit func(operator string, key, value []byte) error) error {
	live := make([]bool, len(readers))
	for i, r := range readers {
		ok, err := r.Next()
		if err != nil {
			return err
		}
		live[i] = ok
	}
	gone := lapse{readers: readers}
	for {
		best := -1
		for i, r := range readers {
			if live[i] && (best < 0 || compare(r, readers[best]) <= 0) {
				best = i // of equal keys the newest file's
			}
		}
		if best < 0 {
			return nil
		}
		op, key, value := readers[best].Entry()
		if (value != nil || keepDeleted) && !gone.has(best, op, key, value) {
			if err := emit(op, key, value); err != nil {
				return err
			}
		}
		for i, r := range readers {
			if i == best || !live[i] || compare(r, readers[best]) != 0 {
				continue
			}
			ok, err := r.Next()
			if err != nil {
				return err
			}
			live[i] = ok
		}
		ok, err := readers[best].Next()
		if err != nil {
			return err
		}
		live[best] = ok
	}
}

func compare(a, b *Reader) int {
	if a.operator != b.operator {
		if a.operator < b.operator {
			return -1
		}
		return 1
	}
	return bytes.Compare(a.key, b.key)
}
