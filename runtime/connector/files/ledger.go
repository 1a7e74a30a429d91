package files

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"time"

	"pipelines/runtime/connector"
	"pipelines/runtime/stream"
)

// taken is what the ledger remembers of a file.
type taken struct {
	log   int64 // the offset under which it was planned
	mtime int64
	size  int64
	// version is a hash of the store's version of the file (on a disk: the
	// node), so that a file which was replaced is told from the old one also
	// when size and time are equal.
	version uint64
	// key is the file's path where the identity is its name only, else "".
	key string
}

// ledger is the set of files that were planned, by identity. A listing asks for
// names in no order, so that what it is asked is kept small: the 64 bits of a
// hash of each identity. Two identities of one hash (once in 10¹⁴ new files
// beside 10⁵ known ones) make the new file wait for the next start, which
// hashes otherwise.
type ledger struct {
	ids    []string
	files  []taken
	hashes []uint64 // open addressing; 0 is free; a power of two long
	seed   maphash.Seed
	newest int64 // greatest mtime seen that was not ahead of the clock
}

var errEntry = errors.New("damaged ledger entry")

// clear makes it empty, and usable.
func (l *ledger) clear() {
	*l = ledger{seed: maphash.MakeSeed()}
	l.index()
}

func (l *ledger) load(read connector.Ledger) error {
	l.clear()
	var text []byte
	var ends []int
	now := time.Now()
	err := read(func(key, value []byte) error {
		t, err := decodeTaken(value)
		if err != nil {
			return fmt.Errorf("file %s: %w", key, err)
		}
		text = append(text, key...)
		ends = append(ends, len(text))
		l.files = append(l.files, t)
		l.saw(t, now)
		return nil
	})
	if err != nil {
		return err
	}
	all, from := string(text), 0
	l.ids = make([]string, len(ends))
	for i, end := range ends {
		l.ids[i], from = all[from:end], end
	}
	l.index()
	return nil
}

// index makes the table of hashes anew, at least twice as long as it needs to
// be.
func (l *ledger) index() {
	n := 16
	for n < 2*(len(l.ids)+1) {
		n *= 2
	}
	l.hashes = make([]uint64, n)
	for _, id := range l.ids {
		l.enter(maphash.String(l.seed, id))
	}
}

func (l *ledger) enter(hash uint64) {
	hash = max(hash, 1)
	mask := uint64(len(l.hashes) - 1)
	at := hash & mask
	for l.hashes[at] != 0 {
		at = (at + 1) & mask
	}
	l.hashes[at] = hash
}

func (l *ledger) knows(id []byte) bool {
	hash := max(maphash.Bytes(l.seed, id), 1)
	mask := uint64(len(l.hashes) - 1)
	at := hash & mask
	for l.hashes[at] != 0 && l.hashes[at] != hash {
		at = (at + 1) & mask
	}
	return l.hashes[at] != 0
}

func (l *ledger) len() int { return len(l.ids) }

func (t taken) encode() []byte {
	b := binary.AppendUvarint(nil, uint64(t.log))
	b = binary.AppendVarint(b, t.mtime)
	return append(binary.LittleEndian.AppendUint64(binary.AppendVarint(b, t.size), t.version), t.key...)
}

func decodeTaken(b []byte) (taken, error) {
	log, n := binary.Uvarint(b)
	if n <= 0 {
		return taken{}, errEntry
	}
	mtime, m := binary.Varint(b[n:])
	if m <= 0 {
		return taken{}, errEntry
	}
	size, k := binary.Varint(b[n+m:])
	if k <= 0 || len(b) < n+m+k+8 {
		return taken{}, errEntry
	}
	b = b[n+m+k:]
	return taken{log: int64(log), mtime: mtime, size: size, version: binary.LittleEndian.Uint64(b), key: string(b[8:])}, nil
}

// saw moves what maxFileAge counts from. A file of the future would leave out
// all others for as long.
func (l *ledger) saw(t taken, now time.Time) {
	if t.mtime <= now.UnixMicro() {
		l.newest = max(l.newest, t.mtime)
	}
}

// add takes a file that is not known.
func (l *ledger) add(id string, t taken) {
	l.saw(t, time.Now())
	l.ids, l.files = append(l.ids, id), append(l.files, t)
	if 2*len(l.ids) > len(l.hashes) {
		l.index()
	} else {
		l.enter(maphash.String(l.seed, id))
	}
}

// remove forgets files.
func (l *ledger) remove(ids []string) {
	if len(ids) == 0 {
		return
	}
	gone := make(map[string]bool, len(ids))
	for _, id := range ids {
		gone[id] = true
	}
	n := 0
	for i, id := range l.ids {
		if !gone[id] {
			l.ids[n], l.files[n] = id, l.files[i]
			n++
		}
	}
	l.ids, l.files = l.ids[:n], l.files[:n]
	l.index()
}

// between lists the files of (from, to], in the order in which they are read.
func (l *ledger) between(from, to int64, latestFirst bool) []file {
	epochs := map[int64][]file{}
	for i, t := range l.files {
		if t.log <= from || t.log > to {
			continue
		}
		id := l.ids[i]
		if t.key != "" {
			id = t.key
		}
		epochs[t.log] = append(epochs[t.log], file{key: id, mtime: t.mtime, size: t.size, version: t.version})
	}
	var out []file
	for _, log := range slices.Sorted(maps.Keys(epochs)) {
		sortFiles(epochs[log], latestFirst)
		out = append(out, epochs[log]...)
	}
	return out
}

type offset struct {
	Log int64 `json:"log"`
}

func parseOffset(o stream.Offset) (int64, error) {
	if o == "" {
		return -1, nil
	}
	var v offset
	if err := json.Unmarshal([]byte(o), &v); err != nil {
		return 0, fmt.Errorf("offset %q: %w", o, err)
	}
	return v.Log, nil
}

func formatOffset(log int64) stream.Offset {
	return stream.Offset(fmt.Sprintf(`{"log":%d}`, log))
}

// identity is the ledger key of a file.
func identity[T string | []byte](o *Options, key T) T {
	from := 0
	for i := 0; o.NameOnly && i < len(key); i++ {
		if key[i] == '/' {
			from = i + 1
		}
	}
	return key[from:]
}
