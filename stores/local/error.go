package local

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"pipelines/stores"
)

// wrap names the operation and the key, and classifies the error.
func wrap(op, key string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errIsFolder), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR):
		return fmt.Errorf("%s %s: %w", op, key, stores.ErrNotExist)
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s %s: %w", op, key, stores.ErrExists)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%s %s: %w (%v)", op, key, stores.ErrFull, cause(err))
	case retryable(err):
		return &stores.ClassError{Class: stores.Retryable, Err: fmt.Errorf("%s %s: %w", op, key, err)}
	}
	return fmt.Errorf("%s %s: %w", op, key, err)
}

// wrapWrite is wrap for writes, where a part of the path that is a file is not
// a missing object.
func wrapWrite(op, key string, err error) error {
	if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EISDIR) {
		return fmt.Errorf("%s %s: %w", op, key, err)
	}
	return wrap(op, key, err)
}

func cause(err error) error {
	if e, ok := errors.AsType[syscall.Errno](err); ok {
		return e
	}
	return err
}

func retryable(err error) bool {
	e, ok := errors.AsType[syscall.Errno](err)
	if !ok {
		return false
	}
	switch e {
	case syscall.EINTR, syscall.EAGAIN, syscall.EBUSY, syscall.ESTALE, syscall.ETIMEDOUT, syscall.EMFILE, syscall.ENFILE:
		return true
	}
	return false
}

// UnsafeFolderError says that a folder cannot hold tables.
type UnsafeFolderError struct {
	Folder string
	Err    error
}

func (e *UnsafeFolderError) Error() string {
	return fmt.Sprintf("folder %s cannot hold tables: its file system can create a file only-if-absent neither by a hard link nor by a rename that does not replace (%v)", e.Folder, e.Err)
}

func (e *UnsafeFolderError) Unwrap() error { return e.Err }
