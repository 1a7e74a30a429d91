package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"pipelines/stores"
)

var errReadOnly = errors.New("the store is open for reading only")

// temp is a file in the making, locked while its writer lives.
type temp struct {
	*os.File
	path string
}

// newTemp makes an empty temporary file under .tmp.
func (s *Store) newTemp() (temp, error) {
	if s.opts.ReadOnly {
		return temp{}, errReadOnly
	}
	folder := filepath.Join(s.root, tempFolder)
	for {
		path := filepath.Join(folder, fmt.Sprintf("%d-%d-%d", os.Getpid(), time.Now().UnixNano(), s.serial.Add(1)))
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		switch {
		case errors.Is(err, fs.ErrNotExist): // the folder was removed under us
			if err := s.makeFolder(folder); err != nil {
				return temp{}, err
			}
			continue
		case errors.Is(err, fs.ErrExist):
			continue
		case err != nil:
			return temp{}, err
		}
		if err := lock(f); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			_ = f.Close() // nothing was written
			_ = os.Remove(path)
			return temp{}, err
		}
		return temp{f, path}, nil
	}
}

// drop removes the temporary file.
func (t temp) drop() error {
	err := t.Close()
	if errors.Is(err, os.ErrClosed) {
		err = nil
	}
	if rerr := os.Remove(t.path); err == nil && !errors.Is(rerr, fs.ErrNotExist) {
		err = rerr
	}
	return err
}

// finish syncs and publishes the temporary file at path. Publish is rename or
// one of the put-if-absent ways.
func (s *Store) finish(t temp, path string, publish func(from, to string) error) error {
	if !s.opts.NoSync {
		if err := t.Sync(); err != nil {
			return err
		}
	}
	err := publish(t.path, path)
	if errors.Is(err, fs.ErrNotExist) { // the folder is new
		if err = s.makeFolder(filepath.Dir(path)); err != nil {
			return err
		}
		err = publish(t.path, path)
	}
	if err != nil {
		return err
	}
	return s.syncFolder(filepath.Dir(path))
}

// makeFolder makes a folder and its parents; each parent that gained a name is
// synced.
func (s *Store) makeFolder(path string) error {
	return stores.MakeFolderBy(path, 0o777, s.syncFolder)
}

func (s *Store) syncFolder(path string) error {
	if s.opts.NoSync {
		return nil
	}
	return stores.SyncFolder(path)
}

// Put writes the object, replacing an older one atomically.
func (s *Store) Put(ctx context.Context, key string, data []byte) error {
	return s.put(ctx, "put", key, data, os.Rename)
}

// PutIfAbsent writes the object, or returns ErrExists.
func (s *Store) PutIfAbsent(ctx context.Context, key string, data []byte) error {
	return s.put(ctx, "put if absent", key, data, s.publishNew)
}

// publishNew gives the file its second name, if that is free.
func (s *Store) publishNew(from, to string) error {
	if s.replace {
		return renameNoReplace(from, to)
	}
	return os.Link(from, to)
}

func (s *Store) put(ctx context.Context, op, key string, data []byte, publish func(from, to string) error) error {
	path, err := s.path(op, key)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	t, err := s.newTemp()
	if err != nil {
		return wrapWrite(op, key, err)
	}
	if _, err = t.Write(data); err == nil {
		err = s.finish(t, path, publish)
	}
	if derr := t.drop(); err == nil {
		err = derr
	}
	return wrapWrite(op, key, err)
}

type upload struct {
	temp
	store *Store
	key   string
	path  string
	done  bool
}

// Create starts an object that is written in pieces.
func (s *Store) Create(ctx context.Context, key string) (stores.Upload, error) {
	path, err := s.path("create", key)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t, err := s.newTemp()
	if err != nil {
		return nil, wrapWrite("create", key, err)
	}
	return &upload{temp: t, store: s, key: key, path: path}, nil
}

func (u *upload) Write(p []byte) (int, error) {
	n, err := u.File.Write(p)
	return n, wrapWrite("write", u.key, err)
}

func (u *upload) Commit() error {
	if u.done {
		return fmt.Errorf("commit %s: upload is closed", u.key)
	}
	u.done = true
	err := u.store.finish(u.temp, u.path, os.Rename)
	if derr := u.drop(); err == nil {
		err = derr
	}
	return wrapWrite("commit", u.key, err)
}

func (u *upload) Abort() error {
	if u.done {
		return nil
	}
	u.done = true
	return wrapWrite("abort", u.key, u.drop())
}

// Delete removes the object; a missing one is no error.
func (s *Store) Delete(ctx context.Context, key string) error {
	path, err := s.path("delete", key)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.opts.ReadOnly {
		return fmt.Errorf("delete %s: %w", key, errReadOnly)
	}
	err = syscall.Unlink(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR):
		return nil
	case errors.Is(err, syscall.EPERM):
		if info, serr := os.Lstat(path); serr == nil && info.IsDir() {
			return nil
		}
	case err == nil:
		err = s.syncFolder(filepath.Dir(path))
	}
	return wrapWrite("delete", key, err)
}
