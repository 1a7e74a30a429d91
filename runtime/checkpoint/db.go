package checkpoint

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
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
	keyMarked    = []byte("marked")
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

// Create makes a new checkpoint; it is an error if one is there.
func Create(path string, id Identity) (*DB, error) {
	if _, err := os.Stat(path); err == nil {
		return nil, fmt.Errorf("create checkpoint %s: %w", path, os.ErrExist)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("create checkpoint: %w", err)
	}
	// Built beside its place and renamed: a crash leaves no half checkpoint.
	tmp := path + ".new"
	if err := os.Remove(tmp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("create checkpoint: %w", err)
	}
	db, err := openBolt(tmp)
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
	if err := syncFolder(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("create checkpoint: %w", err)
	}
	return Open(path, id)
}

func initialise(db *bolt.DB, id Identity) error {
	return db.Update(func(tx *bolt.Tx) error {
		for _, b := range [][]byte{bucketMeta, bucketIntent, bucketReady, bucketLedger, bucketState} {
			if _, err := tx.CreateBucket(b); err != nil {
				return err
			}
		}
		text, err := json.Marshal(id)
		if err != nil {
			return err
		}
		return tx.Bucket(bucketMeta).Put(keyIdentity, text)
	})
}

func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Open opens an existing checkpoint and checks that it is whole and belongs to
// want (its AppID is not compared).
func Open(path string, want Identity) (d *DB, err error) {
	// bbolt maps the file: a fault while reading a damaged one becomes a
	// panic here instead of the end of the process.
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	defer func() {
		if r := recover(); r != nil {
			d, err = nil, fmt.Errorf("open checkpoint %s: %w: %v", path, ErrDamaged, r)
		}
	}()
	if err := checkFile(path); err != nil {
		return nil, err
	}
	db, err := openBolt(path)
	if err != nil {
		return nil, err
	}
	d = &DB{path: path, bolt: db}
	if err := d.verify(want); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return d, nil
}

func openBolt(path string) (*bolt.DB, error) {
	db, err := bolt.Open(path, 0o644, &bolt.Options{
		Timeout: time.Second, FreelistType: bolt.FreelistMapType, InitialMmapSize: 1 << 30,
	})
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return nil, fmt.Errorf("open checkpoint %s: %w", path, ErrLocked)
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrChecksum), errors.Is(err, berrors.ErrVersionMismatch):
		return nil, fmt.Errorf("open checkpoint %s: %w: %w", path, ErrDamaged, err)
	case err != nil:
		return nil, fmt.Errorf("open checkpoint %s: %w", path, err)
	}
	return db, nil
}

// checkFile looks at the meta pages without mapping the file, so that a file
// that is shorter than it claims is refused before bbolt touches it.
func checkFile(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("open checkpoint %s: %w", path, ErrMissing)
	}
	if err != nil {
		return fmt.Errorf("open checkpoint: %w", err)
	}
	defer f.Close() //nolint:errcheck // read only
	st, err := f.Stat()
	if err != nil {
		return fmt.Errorf("open checkpoint: %w", err)
	}
	const magic, header = 0xED0CDAED, 16
	best, pages := uint64(0), uint64(0)
	pageSize := int64(os.Getpagesize())
	for i := range int64(2) {
		var page [header + 64]byte
		if _, err := f.ReadAt(page[:], i*pageSize); err != nil {
			continue
		}
		m := page[header:]
		if binary.LittleEndian.Uint32(m) != magic || !metaSumRight(m) {
			continue
		}
		if size := int64(binary.LittleEndian.Uint32(m[8:])); size != pageSize {
			continue
		}
		if txid := binary.LittleEndian.Uint64(m[48:]); txid >= best {
			best, pages = txid, binary.LittleEndian.Uint64(m[40:])
		}
	}
	if pages == 0 {
		return fmt.Errorf("open checkpoint %s: %w: no valid meta page", path, ErrDamaged)
	}
	if st.Size() < int64(pages)*pageSize {
		return fmt.Errorf("open checkpoint %s: %w: %d bytes, its meta page says %d", path, ErrDamaged, st.Size(), int64(pages)*pageSize)
	}
	return nil
}

// metaSumRight checks the FNV-1a sum over a meta page's first 56 bytes.
func metaSumRight(m []byte) bool {
	sum := uint64(14695981039346656037)
	for _, c := range m[:56] {
		sum = (sum ^ uint64(c)) * 1099511628211
	}
	return sum == binary.LittleEndian.Uint64(m[56:])
}

func (d *DB) verify(want Identity) error {
	return d.bolt.View(func(tx *bolt.Tx) error {
		for err := range tx.Check() {
			return fmt.Errorf("open checkpoint %s: %w: %w", d.path, ErrDamaged, err)
		}
		for _, b := range [][]byte{bucketMeta, bucketIntent, bucketReady, bucketLedger, bucketState} {
			if tx.Bucket(b) == nil {
				return fmt.Errorf("open checkpoint %s: %w: bucket %s is missing", d.path, ErrDamaged, b)
			}
		}
		text := tx.Bucket(bucketMeta).Get(keyIdentity)
		if text == nil {
			return fmt.Errorf("open checkpoint %s: %w: its identity record is missing", d.path, ErrDamaged)
		}
		if err := json.Unmarshal(text, &d.identity); err != nil {
			return fmt.Errorf("open checkpoint %s: %w: identity: %w", d.path, ErrDamaged, err)
		}
		have := d.identity
		if have.Format != Format {
			return fmt.Errorf("open checkpoint %s: %w: format %d, this program reads %d", d.path, ErrForeign, have.Format, Format)
		}
		if have.Dataset != want.Dataset || have.Flow != want.Flow || have.Version != want.Version {
			return fmt.Errorf("open checkpoint %s: %w: it is %s of %s, version %d", d.path, ErrForeign, have.Flow, have.Dataset, have.Version)
		}
		return nil
	})
}

// Close closes the file.
func (d *DB) Close() error {
	if err := d.bolt.Close(); err != nil {
		return fmt.Errorf("close checkpoint: %w", err)
	}
	return nil
}

// View opens a checkpoint for a look: it reads without the lock that a running
// flow holds, or says that one is running.
func View(path string) (*DB, error) {
	if err := checkFile(path); err != nil {
		return nil, err
	}
	db, err := bolt.Open(path, 0o644, &bolt.Options{Timeout: 100 * time.Millisecond, ReadOnly: true})
	if errors.Is(err, berrors.ErrTimeout) {
		return nil, fmt.Errorf("look at checkpoint %s: %w", path, ErrLocked)
	}
	if err != nil {
		return nil, fmt.Errorf("look at checkpoint %s: %w", path, err)
	}
	return &DB{path: path, bolt: db}, nil
}
