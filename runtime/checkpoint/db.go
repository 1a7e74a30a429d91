package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"pipelines/stores"
)

// Format is the version of the records in this package.
const Format = 1

// keep is how many old epochs stay readable for `checkpoint list`.
const keep = 100

// Errors of Open. All name the file and the way out in their text.
var (
	// ErrMissing: there is no checkpoint file.
	ErrMissing = errors.New("checkpoint is missing")
	// ErrDamaged: the file is not a whole checkpoint.
	ErrDamaged = errors.New("checkpoint is damaged")
	// ErrLocked: another process holds the file.
	ErrLocked = errors.New("checkpoint is held by another process")
	// ErrForeign: the file belongs to another flow or a newer program.
	ErrForeign = errors.New("checkpoint belongs to something else")
)

var (
	bucketMeta   = []byte("meta")
	bucketIntent = []byte("intents")
	bucketReady  = []byte("prepared")
	bucketLedger = []byte("ledgers")
	bucketState  = []byte("state")
	keyIdentity  = []byte("identity")
	keyHead      = []byte("head")
	buckets      = [][]byte{bucketMeta, bucketIntent, bucketReady, bucketLedger, bucketState}
)

// DB is one open checkpoint.
type DB struct {
	path     string
	bolt     *bolt.DB
	identity Identity
}

// Path returns the file's path.
func (d *DB) Path() string { return d.path }

// Identity returns whose checkpoint it is.
func (d *DB) Identity() Identity { return d.identity }

// Settings are for special places; the zero value is right for all others.
type Settings struct {
	// NoSync leaves out syncing to disk: a power cut loses the file. For tests.
	NoSync bool
}

// Create makes a new checkpoint; it is an error if one is there.
func Create(path string, id Identity) (*DB, error) { return Settings{}.Create(path, id) }

// Open opens an existing checkpoint and checks that it is whole and belongs to
// want (its AppID is not compared).
func Open(path string, want Identity) (*DB, error) { return Settings{}.Open(path, want) }

// Create is like the function Create.
func (s Settings) Create(path string, id Identity) (*DB, error) {
	if _, err := os.Stat(path); err == nil {
		return nil, fmt.Errorf("create checkpoint %s: %w", path, os.ErrExist)
	}
	sync := stores.SyncFolder
	if s.NoSync {
		sync = func(string) error { return nil }
	}
	if err := stores.MakeFolderBy(filepath.Dir(path), 0o755, sync); err != nil {
		return nil, fmt.Errorf("create checkpoint: %w", err)
	}
	// Built beside its place and renamed: a crash leaves no half checkpoint.
	tmp := path + ".new"
	if err := os.Remove(tmp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("create checkpoint: %w", err)
	}
	db, err := s.openBolt(tmp)
	if err != nil {
		return nil, err
	}
	id.Format = Format
	if err := initialise(db, id); err != nil {
		return nil, errors.Join(fmt.Errorf("create checkpoint %s: %w", path, err), db.Close())
	}
	if err := db.Close(); err != nil {
		return nil, fmt.Errorf("create checkpoint %s: %w", path, err)
	}
	if err := os.Rename(tmp, path); err != nil {
		return nil, fmt.Errorf("create checkpoint: %w", err)
	}
	if err := sync(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("create checkpoint: %w", err)
	}
	return s.Open(path, id)
}

func initialise(db *bolt.DB, id Identity) error {
	return db.Update(func(tx *bolt.Tx) error {
		for _, b := range buckets {
			if _, err := tx.CreateBucket(b); err != nil {
				return err
			}
		}
		if err := newHead.write(tx); err != nil {
			return err
		}
		text, err := json.Marshal(id)
		if err != nil {
			return err
		}
		return tx.Bucket(bucketMeta).Put(keyIdentity, seal(keyIdentity, text))
	})
}

// Open is like the function Open.
func (s Settings) Open(path string, want Identity) (*DB, error) {
	totals, err := checkFile(path, lockWait)
	if err != nil {
		return nil, err
	}
	db, err := s.openBolt(path)
	if err != nil {
		return nil, err
	}
	d := &DB{path: path, bolt: db}
	err = d.identify(want)
	if err == nil {
		err = d.complete(totals)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return d, nil
}

// growBytes is by how much the file grows at a time.
const growBytes = 1 << 18

// lockWait is how long a second process waits for the first.
const lockWait = time.Second

func (s Settings) openBolt(path string) (*bolt.DB, error) {
	db, err := bolt.Open(path, 0o644, &bolt.Options{
		Timeout: lockWait, FreelistType: bolt.FreelistMapType, InitialMmapSize: 1 << 30, NoSync: s.NoSync,
	})
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return nil, fmt.Errorf("open checkpoint %s: %w", path, ErrLocked)
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrChecksum), errors.Is(err, berrors.ErrVersionMismatch):
		return nil, fmt.Errorf("open checkpoint %s: %w: %w", path, ErrDamaged, err)
	case err != nil:
		return nil, fmt.Errorf("open checkpoint %s: %w", path, err)
	}
	db.AllocSize = growBytes
	return db, nil
}

// checkFile proves, without mapping the file and while no other process has
// it, that bbolt can walk it, and returns what its buckets hold.
func checkFile(path string, wait time.Duration) (map[string]*total, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("open checkpoint %s: %w", path, ErrMissing)
	}
	if err != nil {
		return nil, fmt.Errorf("open checkpoint: %w", err)
	}
	defer func() { _ = f.Close() }() // read only
	if err := waitForLock(f, wait); err != nil {
		return nil, fmt.Errorf("open checkpoint %s: %w", path, err)
	}
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("open checkpoint: %w", err)
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("open checkpoint %s: %w: not a file", path, ErrDamaged)
	}
	totals, err := verifyFile(f, st.Size())
	if err != nil {
		return nil, fmt.Errorf("open checkpoint %s: %w: %w", path, ErrDamaged, err)
	}
	return totals, nil
}

// complete compares what the buckets hold with what was written: entries that
// are looked up one by one are not checked again.
func (d *DB) complete(have map[string]*total) error {
	return d.view("open", func(tx *bolt.Tx) error {
		return tx.Bucket(bucketMeta).ForEach(func(key, _ []byte) error {
			if !bytes.HasPrefix(key, totalPrefix) {
				return nil
			}
			want, err := readTotal(tx, key)
			if err != nil {
				return err
			}
			if t := have[string(key)]; t != nil && *t == want || t == nil && want == (total{}) {
				return nil
			}
			// Another process may have written since the file was checked.
			if t := count(tx, key); t != want {
				return fmt.Errorf("%w: %s holds %d entries, %d were written, or they were changed", ErrDamaged, key, t.count, want.count)
			}
			return nil
		})
	})
}

// identify checks whose checkpoint it is.
func (d *DB) identify(want Identity) error {
	if err := d.readIdentity(); err != nil {
		return err
	}
	if have := d.identity; have.Dataset != want.Dataset || have.Flow != want.Flow || have.Version != want.Version {
		return fmt.Errorf("open checkpoint %s: %w: it is %s of %s, version %d", d.path, ErrForeign, have.Flow, have.Dataset, have.Version)
	}
	return nil
}

func (d *DB) readIdentity() error {
	return d.view("open", func(tx *bolt.Tx) error {
		for _, b := range buckets {
			if tx.Bucket(b) == nil {
				return fmt.Errorf("%w: bucket %s is missing", ErrDamaged, b)
			}
		}
		record := tx.Bucket(bucketMeta).Get(keyIdentity)
		if record == nil {
			return fmt.Errorf("%w: its identity record is missing", ErrDamaged)
		}
		text, err := unseal(keyIdentity, record)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &d.identity); err != nil {
			return fmt.Errorf("%w: identity: %w", ErrDamaged, err)
		}
		if have := d.identity.Format; have != Format {
			return fmt.Errorf("%w: format %d, this program reads %d", ErrForeign, have, Format)
		}
		return nil
	})
}

// view and update run one transaction. A fault in the mapped file (another
// program cut it, the disk failed) becomes an error instead of the end of the
// process.
func (d *DB) view(what string, fn func(tx *bolt.Tx) error) (err error) {
	defer d.guard(what, &err)()
	return d.bolt.View(fn)
}

func (d *DB) update(what string, fn func(tx *bolt.Tx) error) (err error) {
	defer d.guard(what, &err)()
	return d.bolt.Update(fn)
}

// guard returns what has to run at the end of the call.
func (d *DB) guard(what string, err *error) func() {
	old := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(old)
		if r := recover(); r != nil {
			if text, ok := r.(string); ok && strings.HasPrefix(text, "bug: ") {
				panic(r)
			}
			*err = fmt.Errorf("%w: %v", ErrDamaged, r)
		}
		if *err != nil {
			*err = fmt.Errorf("%s checkpoint %s: %w", what, d.path, *err)
		}
	}
}

// Close closes the file.
func (d *DB) Close() error {
	if err := d.bolt.Close(); err != nil {
		return fmt.Errorf("close checkpoint: %w", err)
	}
	return nil
}
