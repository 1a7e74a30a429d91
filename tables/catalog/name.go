package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Name is the full name of a table.
type Name struct {
	Catalog  string `json:"catalog"`
	Database string `json:"database"`
	Table    string `json:"table"`
}

// String returns the name as users write it.
func (n Name) String() string { return n.Catalog + "." + n.Database + "." + n.Table }

// Equal reports whether both are the same name, ignoring case.
func (n Name) Equal(o Name) bool { return n.path() == o.path() }

func (n Name) path() string {
	return PathPart(n.Catalog) + "/" + PathPart(n.Database) + "/" + PathPart(n.Table)
}

const recordFolder = "catalog/"

func (n Name) key() string { return recordFolder + n.path() + ".json" }

// RecordPath returns the path of the name's record, relative to the storage.
func (n Name) RecordPath() string { return n.key() }

// DataFolder returns the folder of the table's data, relative to the storage.
func (n Name) DataFolder() string { return "tables/" + n.path() }

// CheckpointFolder returns the folder of a flow's checkpoint, relative to the
// checkpoints' root.
func (n Name) CheckpointFolder(flow string, version int64) string {
	return fmt.Sprintf("%s/%s/%d", n.path(), PathPart(flow), version)
}

// LockPath returns the path of a pipeline's lock, relative to the storage.
func LockPath(pipeline string) string { return "locks/" + PathPart(pipeline) }

// longest is how long a part of a path may be; file systems allow 255 bytes.
const longest = 180

// PathPart turns a name into one part of a path: lower case, all but letters,
// digits, "_" and "-" percent-encoded. Very long names end in a hash instead.
func PathPart(name string) string {
	var b strings.Builder
	for _, c := range []byte(strings.ToLower(name)) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	s := b.String()
	if s == "" {
		return "~" // no name encodes to it
	}
	if len(s) > longest {
		sum := sha256.Sum256([]byte(strings.ToLower(name)))
		s = s[:longest-40] + "~" + hex.EncodeToString(sum[:16])
	}
	return s
}
