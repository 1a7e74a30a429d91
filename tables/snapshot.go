package tables

import (
	"sync"
	"time"

	"pipelines/tables/commitlog"
	"pipelines/tables/schema"
)

// Snapshot is a table at one version. It is safe for concurrent use.
type Snapshot struct {
	view  commitlog.View
	once  sync.Once // guards files
	files []File
}

// Version returns the version.
func (s *Snapshot) Version() int64 { return s.view.Version }

// ID returns the table's id, which lasts as long as the table.
func (s *Snapshot) ID() string { return s.view.Metadata.ID }

// Schema returns the table's columns, partition columns among them.
func (s *Snapshot) Schema() schema.Schema { return s.view.Metadata.Schema }

// DataSchema returns the columns that data files hold: all but the partition
// columns.
func (s *Snapshot) DataSchema() schema.Schema {
	var out schema.Schema
	for _, f := range s.view.Metadata.Schema.Fields {
		if !s.isPartition(f.Name) {
			out.Fields = append(out.Fields, f)
		}
	}
	return out
}

func (s *Snapshot) isPartition(name string) bool {
	for _, p := range s.view.Metadata.PartitionColumns {
		if p == name {
			return true
		}
	}
	return false
}

// PartitionColumns returns the names of the partition columns in order; it
// must not be changed.
func (s *Snapshot) PartitionColumns() []string { return s.view.Metadata.PartitionColumns }

// Properties returns the table properties; it must not be changed.
func (s *Snapshot) Properties() map[string]string { return s.view.Metadata.Configuration }

// Name and Description are those of the table's metadata.
func (s *Snapshot) Name() string { return s.view.Metadata.Name }

// Description returns the table's comment.
func (s *Snapshot) Description() string { return s.view.Metadata.Description }

// Protocol returns the reader and writer versions.
func (s *Snapshot) Protocol() (reader, writer int) {
	return s.view.Protocol.MinReader, s.view.Protocol.MinWriter
}

// Writable returns an *UnsupportedError unless the table can be written.
func (s *Snapshot) Writable() error { return s.view.Protocol.Writable(s.view.Metadata) }

// Txn returns the newest version that an application has committed.
func (s *Snapshot) Txn(appID string) (version int64, ok bool) {
	t, ok := s.view.Txns[appID]
	return t.Version, ok
}

// Txns calls fn for each application that has committed, in no order.
func (s *Snapshot) Txns(fn func(appID string, version int64)) {
	for _, t := range s.view.Txns {
		fn(t.AppID, t.Version)
	}
}

// NumFiles returns the number of files.
func (s *Snapshot) NumFiles() int { return s.view.NumFiles }

// Bytes returns the size of all files.
func (s *Snapshot) Bytes() int64 { return s.view.Bytes }

// Files returns the files in stable order: by modification time, then path. An
// index into it is an offset into the version. It must not be changed.
func (s *Snapshot) Files() []File {
	s.once.Do(func() {
		entries := s.view.Files()
		s.files = make([]File, len(entries))
		for i, e := range entries {
			s.files[i] = fileOf(&e.Add)
		}
	})
	return s.files
}

// Rows returns the number of rows, if every file says how many it has.
func (s *Snapshot) Rows() (int64, bool) {
	sum := int64(0)
	for i := range s.Files() {
		n, ok := s.files[i].Rows()
		if !ok {
			return 0, false
		}
		sum += n
	}
	return sum, true
}

// File is a data file of a table.
type File struct {
	// Key is relative to the table's folder.
	Key string
	// PartitionValues has the text of each partition column, nil for NULL; it
	// must not be changed.
	PartitionValues map[string]*string
	Size            int64
	ModTime         time.Time
	// Stats is the statistics JSON, or empty.
	Stats string

	path string // as it stands in the log
	err  error  // why the path gives no key
}

func fileOf(a *commitlog.Add) File {
	f := File{PartitionValues: a.PartitionValues, Size: a.Size, ModTime: time.UnixMilli(a.ModificationTime), Stats: a.Stats, path: a.Path}
	f.Key, f.err = commitlog.KeyOf(a.Path)
	return f
}

// Err says why the file cannot be read here (it lies outside of the table's
// folder); nil if it can.
func (f *File) Err() error { return f.err }

// Rows returns the number of rows, if known.
func (f *File) Rows() (int64, bool) { return commitlog.NumRecords(f.Stats) }
