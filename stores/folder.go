package stores

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// MakeFolder is os.MkdirAll that a power cut does not take back: each folder
// that gains a name is synced.
func MakeFolder(path string, mode fs.FileMode) error { return MakeFolderBy(path, mode, SyncFolder) }

// MakeFolderBy is MakeFolder with another way to sync a folder.
func MakeFolderBy(path string, mode fs.FileMode, sync func(path string) error) error {
	if info, err := os.Stat(path); err == nil {
		if !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: path, Err: syscall.ENOTDIR}
		}
		return nil
	}
	parent := filepath.Dir(path)
	if parent != path {
		if err := MakeFolderBy(parent, mode, sync); err != nil {
			return err
		}
	}
	if err := os.Mkdir(path, mode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return sync(parent)
}

// SyncFolder makes the names in a folder durable.
func SyncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil // a file system without folder sync orders names itself
	}
	return errors.Join(err, f.Close())
}
