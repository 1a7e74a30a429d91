//go:build !linux

package local

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// namesAtOnce bounds what is held of a folder.
const namesAtOnce = 1000

// readNames calls fn for each name of an open folder with the type bits of its
// mode. The name is lent for the call.
func readNames(f *os.File, fn func(name []byte, mode fs.FileMode)) error {
	for {
		entries, err := f.ReadDir(namesAtOnce)
		for _, e := range entries {
			fn([]byte(e.Name()), e.Type())
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
