package tables

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"pipelines/stores"
	"pipelines/tables/column"
	"pipelines/tables/commitlog"
	"pipelines/tables/format"
	"pipelines/tables/schema"
)

// filePrefix starts the names of our data files.
const filePrefix = "part-pl-"

// FileName says which flow and epoch a data file belongs to.
type FileName struct {
	AppID string // of the flow's txn: letters, digits, dashes; may be empty
	Epoch int64
	// Extension is that of the format with its dot (".snappy.parquet").
	Extension string
}

// New returns a name that no other file has:
// part-pl-<application>_<epoch>_<random>.<extension>.
func (n FileName) New() string {
	return fmt.Sprintf("%s%s_%d_%s%s", filePrefix, n.AppID, n.Epoch, commitlog.NewID(), n.Extension)
}

// parseFileName reads the name (without folders) of one of our data files.
func parseFileName(name string) (FileName, bool) {
	const idLen = 36
	rest, ok := strings.CutPrefix(name, filePrefix)
	last := strings.LastIndexByte(rest, '_')
	if !ok || last < 0 || len(rest)-last-1 < idLen {
		return FileName{}, false
	}
	app := strings.LastIndexByte(rest[:last], '_')
	if app < 0 {
		return FileName{}, false
	}
	epoch, err := strconv.ParseInt(rest[app+1:last], 10, 64)
	if err != nil {
		return FileName{}, false
	}
	return FileName{rest[:app], epoch, rest[last+1+idLen:]}, true
}

// CreateFile starts a data file under a key relative to the table's folder. It
// becomes part of the table when a transaction adds it.
func (t *Table) CreateFile(ctx context.Context, key string) (stores.Upload, error) {
	return t.opts.Store.Create(ctx, t.Key(key))
}

// OpenFile opens a data file of a snapshot or a change.
func (t *Table) OpenFile(ctx context.Context, f *File) (stores.Object, error) {
	if f.err != nil {
		return nil, f.err
	}
	return t.opts.Store.Open(ctx, t.Key(f.Key))
}

// Stats returns the statistics JSON of a written data file.
func Stats(s format.FileStats) string { return commitlog.Stats(s) }

// PartitionText returns the text of row i of a partition column, nil for NULL
// (and for the empty string, which partitions cannot tell from it).
func PartitionText(v *column.Vector, i int) *string { return commitlog.PartitionText(v, i) }

// PartitionValue returns the constant vector of n rows that a partition
// column has for a file.
func PartitionValue(f *File, field schema.Field, n int) (*column.Vector, error) {
	return commitlog.PartitionValue(f.PartitionValues[field.Name], field, n)
}

// PartitionFolder returns the folder ("day=2026-01-01/item=a%2Fb/") in which
// the files of a partition lie by custom, with its final slash; "" if the
// table has no partition columns.
func PartitionFolder(columns []string, values map[string]*string) string {
	return commitlog.PartitionFolder(columns, values)
}
