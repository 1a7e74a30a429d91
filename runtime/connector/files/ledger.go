package files

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"sort"

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

// ledger is the set of files that were planned, by identity. What was loaded
// lies in sorted slices, which a listing in order walks along without hashing;
// what was added since is in a map.
type ledger struct {
	ids    []string
	files  []taken
	added  map[string]taken
	newest int64 // greatest mtime seen
}

// foldAdded is the number of added files from which on they are merged into
// the slices.
const foldAdded = 4096

var errEntry = errors.New("damaged ledger entry")

func (l *ledger) load(read connector.Ledger) error {
	*l = ledger{added: map[string]taken{}}
	var text []byte
	var ends []int
	inOrder := true
	err := read(func(key, value []byte) error {
		t, err := decodeTaken(value)
		if err != nil {
			return fmt.Errorf("file %s: %w", key, err)
		}
		if n := len(ends); n > 0 {
			from := 0
			if n > 1 {
				from = ends[n-2]
			}
			inOrder = inOrder && string(text[from:ends[n-1]]) < string(key)
		}
		text = append(text, key...)
		ends = append(ends, len(text))
		l.files = append(l.files, t)
		l.newest = max(l.newest, t.mtime)
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
	if !inOrder {
		sort.Sort((*byID)(l))
	}
	return nil
}

// byID sorts the loaded files.
type byID ledger

func (l *byID) Len() int           { return len(l.ids) }
func (l *byID) Less(i, j int) bool { return l.ids[i] < l.ids[j] }
func (l *byID) Swap(i, j int) {
	l.ids[i], l.ids[j] = l.ids[j], l.ids[i]
	l.files[i], l.files[j] = l.files[j], l.files[i]
}

func (l *ledger) len() int { return len(l.ids) + len(l.added) }

func (l *ledger) get(id string) (taken, bool) {
	if t, ok := l.added[id]; ok {
		return t, true
	}
	if i, ok := slices.BinarySearch(l.ids, id); ok {
		return l.files[i], true
	}
	return taken{}, false
}

// walk returns a function that tells whether an identity is known; it is
// fastest when it is asked in ascending order.
func (l *ledger) walk() func(id string) bool {
	at := 0
	return func(id string) bool {
		if at > 0 && l.ids[at-1] >= id { // not in order
			_, ok := l.get(id)
			return ok
		}
		for at < len(l.ids) && l.ids[at] < id {
			at++
		}
		if at < len(l.ids) && l.ids[at] == id {
			return true
		}
		_, ok := l.added[id]
		return ok
	}
}

// fold merges what was added into the sorted slices.
func (l *ledger) fold() {
	if len(l.added) < foldAdded {
		return
	}
	for id, t := range l.added {
		l.ids, l.files = append(l.ids, id), append(l.files, t)
	}
	clear(l.added)
	sort.Sort((*byID)(l))
}

// each calls fn for every file.
func (l *ledger) each(fn func(id string, t taken)) {
	for i, id := range l.ids {
		fn(id, l.files[i])
	}
	for id, t := range l.added {
		fn(id, t)
	}
}

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

func (l *ledger) add(id string, t taken) {
	l.added[id] = t
	l.newest = max(l.newest, t.mtime)
}

// between lists the files of (from, to], in the order in which they are read.
func (l *ledger) between(from, to int64, latestFirst bool) []file {
	epochs := map[int64][]file{}
	l.each(func(id string, t taken) {
		if t.log <= from || t.log > to {
			return
		}
		if t.key != "" {
			id = t.key
		}
		epochs[t.log] = append(epochs[t.log], file{key: id, mtime: t.mtime, size: t.size, version: t.version})
	})
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
func (o *Options) identity(key string) string {
	if o.NameOnly {
		return path.Base(key)
	}
	return key
}
