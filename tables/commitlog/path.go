package commitlog

import (
	"crypto/rand"
	"fmt"
	"io/fs"
	"net/url"
	pathpkg "path"
	"regexp"
	"strings"
)

// NewID returns a random UUID, as tables, transactions and files are named.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

var absolutePath = regexp.MustCompile(`^(/|[A-Za-z][A-Za-z0-9+.-]*:/)`)

// KeyOf returns the key, relative to the table, of a path of the log. Files
// outside the table (shallow clones) are an *UnsupportedError.
func KeyOf(path string) (string, error) {
	key, err := url.PathUnescape(path)
	if err != nil {
		return "", fmt.Errorf("file path %q of the log: %w", path, err)
	}
	if absolutePath.MatchString(path) {
		return "", &UnsupportedError{What: "its file " + path + " lies outside the table's folder"}
	}
	key = pathpkg.Clean(key)
	if !fs.ValidPath(key) || key == "." {
		return "", fmt.Errorf("file path %q of the log is not a path below the table", path)
	}
	return key, nil
}

// PathOf returns the log's form of a key relative to the table: the reverse of
// KeyOf.
func PathOf(key string) string {
	return strings.ReplaceAll((&url.URL{Path: key}).EscapedPath(), ":", "%3A")
}
