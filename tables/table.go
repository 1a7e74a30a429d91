package tables

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"pipelines/stores"
	"pipelines/tables/commitlog"
	"pipelines/tables/schema"
)

// Errors and types of the log that callers meet.
type (
	// ConflictError says which commit of another writer stands in the way.
	ConflictError = commitlog.ConflictError
	// VersionGoneError says that a version can no longer be read.
	VersionGoneError = commitlog.VersionGoneError
	// UnsupportedError names a feature of a table that is not supported.
	UnsupportedError = commitlog.UnsupportedError
	// ColumnError says why a column cannot stand in a table.
	ColumnError = commitlog.ColumnError
	// PropertyCheck says whether a property is honoured.
	PropertyCheck = commitlog.PropertyCheck
)

// What a table property is to us: see CheckProperty.
const (
	PropertyHonoured      = commitlog.PropertyHonoured
	PropertyWithoutEffect = commitlog.PropertyWithoutEffect
	PropertyWrongValue    = commitlog.PropertyWrongValue
	PropertyUnavailable   = commitlog.PropertyUnavailable
)

// Properties that callers set.
const (
	PropIsolation  = commitlog.PropIsolation
	PropAppendOnly = commitlog.PropAppendOnly
)

// CheckProperty judges one property of a table that is to be written.
func CheckProperty(name, value string) PropertyCheck { return commitlog.CheckProperty(name, value) }

// HonouredProperties lists the properties of Delta that have an effect here.
func HonouredProperties() []string { return commitlog.HonouredProperties() }

// ErrConflict is in the chain of every *ConflictError.
var ErrConflict = commitlog.ErrConflict

// Options says where a table is and how it is used.
type Options struct {
	Store stores.Store
	// Folder is the table's folder in the store, without a final slash; "" is
	// the root.
	Folder string
	// Engine is written as engineInfo; empty means "pipelines".
	Engine string
	// Now stamps commits; nil means time.Now.
	Now func() time.Time
	// ManualCheckpoint leaves log checkpoints to calls of Checkpoint; else the
	// commit after which one is due writes it.
	ManualCheckpoint bool
}

// Table is one table.
type Table struct {
	opts Options
	log  *commitlog.Log

	mu            sync.Mutex // guards all below; held for memory work only
	state         *commitlog.State
	snapshot      *Snapshot // of the state's version, nil until asked for
	checkpointErr error
}

func (o *Options) fill() {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Engine == "" {
		o.Engine = "pipelines"
	}
}

// Open opens a table; a missing one is stores.ErrNotExist.
func Open(ctx context.Context, opts Options) (*Table, error) {
	opts.fill()
	log := commitlog.NewLog(opts.Store, opts.Folder)
	state, err := log.Load(ctx, commitlog.Latest)
	if err != nil {
		return nil, fmt.Errorf("open table %s: %w", opts.Folder, err)
	}
	return &Table{opts: opts, log: log, state: state}, nil
}

// Definition describes a new table.
type Definition struct {
	Schema           schema.Schema
	PartitionColumns []string
	Properties       map[string]string
	Name             string
	Description      string
}

// Create makes a table whose version 0 is empty; if there is one already, the
// error is stores.ErrExists. A schema that cannot be stored is ColumnErrors.
func Create(ctx context.Context, opts Options, def Definition) (*Table, error) {
	opts.fill()
	if errs := CheckSchema(def.Schema, def.PartitionColumns); len(errs) > 0 {
		return nil, fmt.Errorf("create table %s: %w", opts.Folder, errs)
	}
	t := &Table{opts: opts, log: commitlog.NewLog(opts.Store, opts.Folder), state: commitlog.NewState()}
	exists, err := t.log.Exists(ctx) // a cleaned log has no version 0
	if err == nil && exists {
		err = stores.ErrExists
	}
	if err != nil {
		return nil, fmt.Errorf("create table %s: %w", opts.Folder, err)
	}
	now := opts.Now().UnixMilli()
	c := &commitlog.Commit{
		HasInfo: true,
		Info: commitlog.Info{
			Timestamp: now, Operation: "CREATE TABLE", Parameters: createParameters(def), ReadVersion: -1,
			Isolation: commitlog.Serializable.String(), IsBlindAppend: true, Engine: opts.Engine, TxnID: commitlog.NewID(),
		},
		Protocol: commitlog.ProtocolFor(def.Schema),
		Metadata: &commitlog.Metadata{
			ID: commitlog.NewID(), Name: def.Name, Description: def.Description, Schema: def.Schema,
			PartitionColumns: columnsAsDeclared(def), Configuration: def.Properties, CreatedTime: now,
		},
	}
	c.Info.Isolation = commitlog.IsolationOf(c.Metadata).String()
	if err := c.Protocol.Writable(c.Metadata); err != nil {
		return nil, fmt.Errorf("create table %s: %w", opts.Folder, err)
	}
	data, err := commitlog.Encode(c)
	if err == nil {
		err = t.log.Write(ctx, 0, data)
	}
	if err == nil {
		err = t.state.Apply(0, c)
	}
	if err != nil {
		return nil, fmt.Errorf("create table %s: %w", opts.Folder, err)
	}
	return t, nil
}

// columnsAsDeclared returns the partition columns with the schema's spelling.
func columnsAsDeclared(def Definition) []string {
	out := make([]string, len(def.PartitionColumns))
	for i, c := range def.PartitionColumns {
		out[i] = def.Schema.Fields[def.Schema.Index(c)].Name
	}
	return out
}

// OpenOrCreate opens the table, or makes it.
func OpenOrCreate(ctx context.Context, opts Options, def Definition) (*Table, error) {
	t, err := Open(ctx, opts)
	if !errors.Is(err, stores.ErrNotExist) {
		return t, err
	}
	t, err = Create(ctx, opts, def)
	if errors.Is(err, stores.ErrExists) { // somebody was faster
		return Open(ctx, opts)
	}
	return t, err
}

// CheckSchema says which columns cannot stand in a table; nil is all good.
func CheckSchema(s schema.Schema, partitionColumns []string) ColumnErrors {
	return commitlog.CheckSchema(s, partitionColumns)
}

// ColumnErrors are the columns that cannot stand in a table, as an error.
type ColumnErrors = commitlog.ColumnErrors

// Store returns the store and the folder of the table.
func (t *Table) Store() (store stores.Store, folder string) { return t.opts.Store, t.opts.Folder }

// Key returns the store's key of a key relative to the table's folder.
func (t *Table) Key(key string) string {
	if t.opts.Folder == "" {
		return key
	}
	return t.opts.Folder + "/" + key
}

// Snapshot returns the newest version, having looked for commits of others.
func (t *Table) Snapshot(ctx context.Context) (*Snapshot, error) {
	if err := t.advance(ctx); err != nil {
		return nil, fmt.Errorf("read log of table %s: %w", t.opts.Folder, err)
	}
	return t.Known(), nil
}

// Known returns the newest version that is known, without a look at the store.
func (t *Table) Known() *Snapshot {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.snapshot == nil {
		t.snapshot = &Snapshot{view: t.state.View()}
	}
	return t.snapshot
}

// SnapshotAt returns an older version, or *VersionGoneError.
func (t *Table) SnapshotAt(ctx context.Context, version int64) (*Snapshot, error) {
	if s := t.Known(); s.Version() == version {
		return s, nil
	}
	state, err := t.log.Load(ctx, version)
	if err != nil {
		return nil, fmt.Errorf("version %d of table %s: %w", version, t.opts.Folder, err)
	}
	return &Snapshot{view: state.View()}, nil
}

// advance reads the commits that are not known yet.
func (t *Table) advance(ctx context.Context) error {
	for {
		next := t.Known().Version() + 1
		c, err := t.log.Read(ctx, next)
		if errors.Is(err, stores.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := t.apply(next, c); err != nil {
			return err
		}
	}
}

// apply moves the state to version v unless it is there already.
func (t *Table) apply(v int64, c *commitlog.Commit) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state.Version() != v-1 {
		return nil
	}
	t.snapshot = nil
	return t.state.Apply(v, c)
}

// CheckpointDue reports whether a log checkpoint is due.
func (t *Table) CheckpointDue() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state.CheckpointDue()
}

// Checkpoint writes a log checkpoint of the newest known version.
func (t *Table) Checkpoint(ctx context.Context) error {
	c := t.checkpoint()
	if err := t.log.WriteCheckpoint(ctx, c); err != nil {
		return fmt.Errorf("table %s: %w", t.opts.Folder, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.state.Checkpointed(c.Version)
	return nil
}

func (t *Table) checkpoint() *commitlog.Checkpoint {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state.Checkpoint(t.opts.Now())
}

// checkpointAfterCommit writes a checkpoint if one is due. That it fails does
// not make the commit fail; it is tried again after the next one.
func (t *Table) checkpointAfterCommit(ctx context.Context) {
	if t.opts.ManualCheckpoint || !t.CheckpointDue() {
		return
	}
	err := t.Checkpoint(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.checkpointErr = err
}

// CheckpointError returns why the last log checkpoint after a commit failed,
// nil if it did not.
func (t *Table) CheckpointError() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.checkpointErr
}
