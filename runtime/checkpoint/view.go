package checkpoint

import (
	"errors"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// View opens a checkpoint for a look, or says at once (ErrLocked) that a flow
// has it open; it waits for nobody.
func View(path string) (*DB, error) {
	totals, err := checkFile(path, 0)
	if err != nil {
		return nil, err
	}
	db, err := bolt.Open(path, 0o644, &bolt.Options{Timeout: time.Nanosecond, ReadOnly: true})
	if errors.Is(err, berrors.ErrTimeout) {
		return nil, fmt.Errorf("look at checkpoint %s: %w", path, ErrLocked)
	}
	if err != nil {
		return nil, fmt.Errorf("look at checkpoint %s: %w", path, err)
	}
	d := &DB{path: path, bolt: db}
	err = d.readIdentity()
	if err == nil {
		err = d.complete(totals)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return d, nil
}
