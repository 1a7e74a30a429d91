package files

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"path"

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

// ledger is the set of files that were planned, by identity.
type ledger struct {
	known  map[string]taken
	newest int64 // greatest mtime seen
}

var errEntry = errors.New("damaged ledger entry")

func (l *ledger) load(read connector.Ledger) error {
	l.known = map[string]taken{}
	return read(func(key, value []byte) error {
		t, err := decodeTaken(value)
		if err != nil {
			return fmt.Errorf("file %s: %w", key, err)
		}
		l.known[string(key)] = t
		l.newest = max(l.newest, t.mtime)
		return nil
	})
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
	l.known[id] = t
	l.newest = max(l.newest, t.mtime)
}

// between lists the files of (from, to], in the order in which they are read.
func (l *ledger) between(from, to int64, latestFirst bool) []file {
	var out []file
	for log := from + 1; log <= to; log++ {
		var fs []file
		for key, t := range l.known {
			if t.log == log {
				if t.key != "" {
					key = t.key
				}
				fs = append(fs, file{key: key, mtime: t.mtime, size: t.size})
			}
		}
		sortFiles(fs, latestFirst)
		out = append(out, fs...)
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
