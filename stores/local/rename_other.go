//go:build !linux

package local

import (
	"errors"
	"os"
)

// renameNoReplace is not to be had here.
func renameNoReplace(from, to string) error {
	return &os.LinkError{Op: "rename", Old: from, New: to, Err: errors.ErrUnsupported}
}
