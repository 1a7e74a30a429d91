package local

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// namesBuffer takes some 1,500 names a call.
const namesBuffer = 64 << 10

// Where the fields of a struct linux_dirent64 are.
const (
	direntLength = 16
	direntType   = 18
	direntName   = 19
)

// readNames calls fn for each name of an open folder with the type bits of its
// mode. The name is lent for the call: a folder of 10⁵ names costs no
// allocation for those that nobody keeps.
func readNames(f *os.File, fn func(name []byte, mode fs.FileMode)) error {
	fd := int(f.Fd())
	buf := make([]byte, namesBuffer)
	for {
		n, err := unix.ReadDirent(fd, buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return &fs.PathError{Op: "readdirent", Path: f.Name(), Err: err}
		}
		if n <= 0 {
			return nil
		}
		for rest := buf[:n]; len(rest) > direntName; {
			d := rest[:binary.NativeEndian.Uint16(rest[direntLength:])]
			rest = rest[len(d):]
			name, _, _ := bytes.Cut(d[direntName:], []byte{0})
			if string(name) == "." || string(name) == ".." {
				continue
			}
			mode, ok := direntMode(d[direntType])
			if !ok {
				info, err := os.Lstat(f.Name() + "/" + string(name))
				if errors.Is(err, fs.ErrNotExist) {
					continue // gone meanwhile
				}
				if err != nil {
					return err
				}
				mode = info.Mode().Type()
			}
			fn(name, mode)
		}
	}
}

// direntMode translates the type of an entry; some file systems have none.
func direntMode(t byte) (mode fs.FileMode, ok bool) {
	switch t {
	case unix.DT_REG:
		return 0, true
	case unix.DT_DIR:
		return fs.ModeDir, true
	case unix.DT_LNK:
		return fs.ModeSymlink, true
	case unix.DT_UNKNOWN:
		return 0, false
	}
	return fs.ModeIrregular, true
}
