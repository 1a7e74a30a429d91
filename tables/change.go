package tables

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"pipelines/stores"
	"pipelines/tables/commitlog"
	"pipelines/tables/schema"
)

// Change is what one version did.
type Change struct {
	Version int64
	Time    time.Time // when it was committed, zero if unknown
	// Adds are the files that came, in the order of the commit; an index into
	// it is an offset into the version. Removes are those that went (by key).
	Adds    []File
	Removes []File
	// DataAdded and DataRemoved tell commits that change rows from those that
	// only move them between files: such files are in Adds and Removes too.
	DataAdded, DataRemoved bool
	// Schema is set if the version changed the metadata, to the new columns.
	Schema *schema.Schema
	// Operation is the name that its writer gave.
	Operation string

	txns []commitlog.Txn
	info map[string]json.RawMessage
}

// Info returns a field that the writer added to the commit's provenance, or
// nil.
func (c *Change) Info(field string) json.RawMessage { return c.info[field] }

// Txn returns the version of an application that the change committed.
func (c *Change) Txn(appID string) (version int64, ok bool) {
	for _, t := range c.txns {
		if t.AppID == appID {
			version, ok = t.Version, true
		}
	}
	return version, ok
}

// Changes calls fn for each version from the given one on, until fn returns
// false or the newest version was seen. It reads the log only, one file a
// version. A version that was cleaned up is a *VersionGoneError; there is no
// version yet where from is one more than the newest.
func (t *Table) Changes(ctx context.Context, from int64, fn func(*Change) bool) error {
	for v := from; ; v++ {
		c, err := t.log.Read(ctx, v)
		if errors.Is(err, stores.ErrNotExist) {
			return t.missing(ctx, v)
		}
		if err != nil {
			return fmt.Errorf("changes of table %s: %w", t.opts.Folder, err)
		}
		if err := t.apply(v, c); err != nil {
			return fmt.Errorf("changes of table %s: %w", t.opts.Folder, err)
		}
		if !fn(changeOf(v, c)) {
			return nil
		}
	}
}

// missing tells a version that is still to come from one that is gone.
func (t *Table) missing(ctx context.Context, v int64) error {
	s, err := t.Snapshot(ctx)
	if err != nil {
		return err
	}
	if v == s.Version()+1 {
		return nil
	}
	if v > s.Version() {
		return fmt.Errorf("changes of table %s: version %d is not there yet, the newest is %d", t.opts.Folder, v, s.Version())
	}
	oldest := int64(-1)
	if o, err := t.log.Oldest(ctx); err == nil {
		oldest = o
	}
	return fmt.Errorf("changes of table %s: %w", t.opts.Folder, &VersionGoneError{Version: v, Oldest: oldest})
}

func changeOf(v int64, c *commitlog.Commit) *Change {
	out := &Change{Version: v, Operation: c.Info.Operation, txns: c.Txns, info: c.Info.Extra, Adds: make([]File, len(c.Adds)), Removes: make([]File, len(c.Removes))}
	if c.Info.Timestamp > 0 {
		out.Time = time.UnixMilli(c.Info.Timestamp)
	}
	for i := range c.Adds {
		out.Adds[i] = fileOf(&c.Adds[i])
		out.DataAdded = out.DataAdded || c.Adds[i].DataChange
	}
	for i := range c.Removes {
		r := &c.Removes[i]
		out.Removes[i] = fileOf(&commitlog.Add{Path: r.Path, PartitionValues: r.PartitionValues, Size: r.Size})
		out.DataRemoved = out.DataRemoved || r.DataChange
	}
	if c.Metadata != nil {
		out.Schema = &c.Metadata.Schema
	}
	return out
}
