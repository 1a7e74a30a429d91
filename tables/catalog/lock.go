package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Holder says who holds a lock.
type Holder struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Started time.Time `json:"started"`
	// What is what the holder does, for the message ("run of pipeline shop").
	What string `json:"what,omitempty"`
}

// LockedError says that another process holds the lock.
type LockedError struct {
	Path   string
	Holder Holder // zero if it is not known
}

func (e *LockedError) Error() string {
	if e.Holder.PID == 0 {
		return fmt.Sprintf("%s is locked by another process", e.Path)
	}
	what := e.Holder.What
	if what != "" {
		what = " (" + what + ")"
	}
	return fmt.Sprintf("%s is locked by process %d on %s since %s%s", e.Path, e.Holder.PID, e.Holder.Host, e.Holder.Started.Format(time.RFC3339), what)
}

// Lock is a held lock.
type Lock struct {
	file *os.File
}

// Acquire takes the lock file at path at once, or returns a *LockedError. The
// lock ends with Release or with the process, whatever ends it.
func Acquire(path, what string) (*Lock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	l := &Lock{file: f}
	if err := l.take(path, what); err != nil {
		_ = f.Close() // the error at hand says more
		return nil, err
	}
	return l, nil
}

var errHeld = errors.New("held by another process")

func (l *Lock) take(path, what string) error {
	err := flock(l.file)
	for range 3 {
		if !errors.Is(err, errHeld) {
			break
		}
		time.Sleep(2 * time.Millisecond) // HolderOf may be looking
		err = flock(l.file)
	}
	if errors.Is(err, errHeld) {
		return &LockedError{Path: path, Holder: readHolder(l.file)}
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	data, err := json.Marshal(Holder{PID: os.Getpid(), Host: host, Started: time.Now().UTC().Truncate(time.Second), What: what})
	if err != nil {
		panic("bug: catalog: " + err.Error())
	}
	if err := l.file.Truncate(0); err != nil {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	if _, err := l.file.WriteAt(append(data, '\n'), 0); err != nil {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	return nil
}

// HolderOf tells whether the lock at path is held, and by whom. It takes the
// lock for an instant if it is free, which Acquire waits for.
func HolderOf(path string) (h Holder, held bool, err error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return h, false, nil
	}
	if err != nil {
		return h, false, fmt.Errorf("lock %s: %w", path, err)
	}
	defer func() { _ = f.Close() }() // it was only read, and the lock goes with it
	switch err := flockShared(f); {
	case errors.Is(err, errHeld):
		return readHolder(f), true, nil
	case err != nil:
		return h, false, fmt.Errorf("lock %s: %w", path, err)
	}
	return h, false, nil
}

// readHolder reads who holds the lock. Between taking a lock and writing its
// holder there is a moment, so an empty file is read again.
func readHolder(f *os.File) Holder {
	var h Holder
	for range 5 {
		data, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<16))
		if err == nil && json.Unmarshal(data, &h) == nil && h.PID != 0 {
			return h
		}
		time.Sleep(5 * time.Millisecond)
	}
	return Holder{}
}

// Held returns an error if the lock file was removed or replaced, so that
// another process may believe to hold the lock too.
func (l *Lock) Held() error {
	mine, err := l.file.Stat()
	if err != nil {
		return fmt.Errorf("lock %s: %w", l.file.Name(), err)
	}
	there, err := os.Stat(l.file.Name())
	if err != nil {
		return fmt.Errorf("lock %s: %w", l.file.Name(), err)
	}
	if !os.SameFile(mine, there) {
		return fmt.Errorf("lock %s was replaced by another file", l.file.Name())
	}
	return nil
}

// Release ends the lock. The file stays: removing it would let two others in.
func (l *Lock) Release() error {
	terr := l.file.Truncate(0)
	return errors.Join(terr, l.file.Close())
}

// ReplaceFile writes a small file that readers see whole, old or new, without
// waiting for the disk: for status files, which a crash may take back.
func ReplaceFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".status-*")
	if errors.Is(err, os.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), 0o777); err == nil {
			f, err = os.CreateTemp(filepath.Dir(path), ".status-*")
		}
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the error at hand says more
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
