package commitlog

import (
	"encoding/json"
	"sync/atomic"

	"pipelines/tables/schema"
)

// Commit is the content of one version. Its order when written is Info,
// Metadata, Protocol, Txns, Domains, Removes, Adds.
type Commit struct {
	Info     Info
	HasInfo  bool // false only for commits of others that lack it
	Protocol *Protocol
	Metadata *Metadata
	Txns     []Txn
	Domains  []Domain
	Removes  []Remove
	Adds     []Add
	// Changes counts cdc actions of other writers.
	Changes int
}

// Info is the commitInfo action: provenance, not needed to read the table.
type Info struct {
	Timestamp     int64             // milliseconds since the epoch
	Operation     string            // "WRITE", "STREAMING UPDATE", ...
	Parameters    map[string]string // operationParameters, JSON texts by Delta's custom
	ReadVersion   int64             // -1: none
	Isolation     string
	IsBlindAppend bool
	Metrics       map[string]string
	Engine        string
	// TxnID is unique to one attempt to commit.
	TxnID string
	// Extra are further fields with their JSON, such as a flow's offsets.
	Extra map[string]json.RawMessage
}

// Protocol says what a reader and a writer must know.
type Protocol struct {
	MinReader int
	MinWriter int
	// ReaderFeatures counts from reader version 3, WriterFeatures from writer
	// version 7; nil before.
	ReaderFeatures []string
	WriterFeatures []string
}

// Metadata is the metaData action.
type Metadata struct {
	ID               string
	Name             string
	Description      string
	Schema           schema.Schema
	PartitionColumns []string
	Configuration    map[string]string
	CreatedTime      int64 // milliseconds since the epoch, 0 if unknown
}

// Txn is the newest version that an application has committed.
type Txn struct {
	AppID       string
	Version     int64
	LastUpdated int64 // milliseconds since the epoch, 0 if unknown
}

// Domain is a domainMetadata action, kept for its owner.
type Domain struct {
	Name          string
	Configuration string
	Removed       bool
}

// Add puts a file into the table.
type Add struct {
	// Path is relative to the table and percent-encoded, as it stands in the
	// log; KeyOf gives the key.
	Path string
	// PartitionValues has each partition column; nil is NULL.
	PartitionValues  map[string]*string
	Size             int64
	ModificationTime int64 // milliseconds since the epoch
	DataChange       bool
	// Stats is the statistics JSON, or empty.
	Stats string
	Tags  map[string]string
}

// Remove takes a file out of the table.
type Remove struct {
	Path              string
	DeletionTimestamp int64 // milliseconds since the epoch
	DataChange        bool
	// PartitionValues and Size are known if Extended.
	Extended        bool
	PartitionValues map[string]*string
	Size            int64
}

// File is a file of a State. It belongs to all versions from the one that
// added it up to the one that removed it.
type File struct {
	Add
	added   int64        // version, or that of the checkpoint it was read from
	removed atomic.Int64 // version + 1, 0 while it lives
}

// in reports whether the file belongs to version v.
func (f *File) in(v int64) bool {
	r := f.removed.Load()
	return f.added <= v && (r == 0 || r-1 > v)
}

// Tombstone returns the action that removes the file.
func (f *File) Tombstone(now int64, dataChange bool) Remove {
	return Remove{Path: f.Path, DeletionTimestamp: now, DataChange: dataChange, Extended: true, PartitionValues: f.PartitionValues, Size: f.Size}
}
