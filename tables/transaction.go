package tables

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"pipelines/stores"
	"pipelines/tables/commitlog"
	"pipelines/tables/schema"
)

// maxAttempts bounds the races that one commit may lose.
const maxAttempts = 1000

// CommittedError says that the table holds the transaction already: that of an
// earlier attempt, or that of another runner with the same application id.
type CommittedError struct {
	AppID  string
	Wanted int64
	Stored int64 // the newest version that the table has for AppID, >= Wanted
}

func (e *CommittedError) Error() string {
	return fmt.Sprintf("the table holds version %d of application %s already (its newest is %d)", e.Wanted, e.AppID, e.Stored)
}

// NewFile is a data file to be added. It is complete in the store.
type NewFile struct {
	// Key is relative to the table's folder.
	Key string
	// PartitionValues has the text of each partition column, nil for NULL: see
	// PartitionText.
	PartitionValues map[string]*string
	Size            int64
	ModTime         time.Time
	// Stats is the statistics JSON: see Stats. It is required.
	Stats string
}

// Transaction is the next version of a table in the making. It is not safe for
// concurrent use, and good for one Commit.
type Transaction struct {
	table  *Table
	base   *Snapshot
	id     string
	adds   []NewFile
	remove []File
	all    bool // removes all files
	reads  bool
	keep   bool // dataChange false
	txns   []commitlog.Txn
	schema *schema.Schema
	parts  *[]string
	props  map[string]*string
	about  *string
	info   map[string]json.RawMessage
	op     string
	params map[string]string
	done   bool
}

// Begin starts a transaction on the newest version.
func (t *Table) Begin(ctx context.Context) (*Transaction, error) {
	s, err := t.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return t.BeginAt(s), nil
}

// BeginAt starts a transaction on a version that was read before: what others
// committed since then is judged when it commits.
func (t *Table) BeginAt(s *Snapshot) *Transaction {
	return &Transaction{table: t, base: s, id: commitlog.NewID()}
}

// Snapshot returns the version that the transaction stands on.
func (tx *Transaction) Snapshot() *Snapshot { return tx.base }

// AddFiles adds data files, in this order.
func (tx *Transaction) AddFiles(files ...NewFile) { tx.adds = append(tx.adds, files...) }

// RemoveFiles removes files of the snapshot.
func (tx *Transaction) RemoveFiles(files ...File) { tx.remove = append(tx.remove, files...) }

// Overwrite removes all files that the table has when the commit takes place,
// also those that others add until then.
func (tx *Transaction) Overwrite() { tx.all = true }

// Reads says that the outcome depends on the table's rows, so that rows which
// others add or remove are a conflict.
func (tx *Transaction) Reads() { tx.reads = true }

// KeepsData says that the rows stay what they were (compaction).
func (tx *Transaction) KeepsData() { tx.keep = true }

// SetTxn makes the commit the given version of an application: it is made once
// only, and only if the table has no such or later version.
func (tx *Transaction) SetTxn(appID string, version int64) {
	i := slices.IndexFunc(tx.txns, func(t commitlog.Txn) bool { return t.AppID == appID })
	if i < 0 {
		i = len(tx.txns)
		tx.txns = append(tx.txns, commitlog.Txn{AppID: appID})
	}
	tx.txns[i].Version = version
}

// SetSchema gives the table another schema; the same one changes nothing.
func (tx *Transaction) SetSchema(s schema.Schema) { tx.schema = &s }

// SetPartitionColumns gives the table other partition columns, which only an
// overwrite may do.
func (tx *Transaction) SetPartitionColumns(columns []string) { tx.parts = &columns }

// SetDescription gives the table another comment.
func (tx *Transaction) SetDescription(text string) { tx.about = &text }

// SetProperty sets a table property.
func (tx *Transaction) SetProperty(key, value string) { tx.setProperty(key, &value) }

// UnsetProperty removes a table property.
func (tx *Transaction) UnsetProperty(key string) { tx.setProperty(key, nil) }

func (tx *Transaction) setProperty(key string, value *string) {
	if tx.props == nil {
		tx.props = map[string]*string{}
	}
	tx.props[key] = value
}

// SetInfo adds a field with the given JSON to the commit's provenance.
func (tx *Transaction) SetInfo(field string, value json.RawMessage) {
	if tx.info == nil {
		tx.info = map[string]json.RawMessage{}
	}
	tx.info[field] = value
}

// SetOperation names the operation for the table's history. By default it is
// WRITE with its mode.
func (tx *Transaction) SetOperation(name string, parameters map[string]string) {
	tx.op, tx.params = name, parameters
}

// Commit makes the version and returns its number. A conflict with another
// writer is a *ConflictError, a txn that the table has a *CommittedError; after
// any other error the commit may or may not have been made (a txn tells).
func (tx *Transaction) Commit(ctx context.Context) (int64, error) {
	if tx.done {
		return 0, errors.New("the transaction was committed before")
	}
	tx.done = true
	v, err := tx.commit(ctx)
	if err != nil {
		return 0, fmt.Errorf("commit to table %s: %w", tx.table.opts.Folder, err)
	}
	tx.table.checkpointAfterCommit(ctx)
	return v, nil
}

func (tx *Transaction) commit(ctx context.Context) (int64, error) {
	for range maxAttempts {
		c, err := tx.build()
		if err != nil {
			return 0, err
		}
		data, err := commitlog.Encode(c)
		if err != nil {
			return 0, err
		}
		v := tx.base.Version() + 1
		err = tx.table.log.Write(ctx, v, data)
		if err == nil {
			return v, tx.table.apply(v, c)
		}
		mine, rerr := tx.rebase(ctx)
		switch {
		case mine >= 0: // written although the store said it failed
			return mine, nil
		case !errors.Is(err, stores.ErrExists):
			return 0, err
		case rerr != nil:
			return 0, rerr
		}
	}
	return 0, &stores.ClassError{Class: stores.Retryable, Err: fmt.Errorf("%d races lost: %w", maxAttempts, ErrConflict)}
}

// rebase reads what others committed after the base, judges it, and moves the
// base. Mine is the version of this very transaction if it is among them, else
// -1.
func (tx *Transaction) rebase(ctx context.Context) (mine int64, err error) {
	a := tx.attempt()
	for v := tx.base.Version() + 1; ; v++ {
		w, err := tx.table.log.Read(ctx, v)
		if errors.Is(err, stores.ErrNotExist) {
			break
		}
		if err != nil {
			return -1, err
		}
		if w.HasInfo && w.Info.TxnID == tx.id {
			return v, tx.table.advance(ctx)
		}
		if conflict := commitlog.Judge(a, v, w); conflict != nil {
			if conflict.Kind == commitlog.ConcurrentTransaction {
				return -1, tx.duplicate(w.Txns, conflict)
			}
			return -1, conflict
		}
	}
	s, err := tx.table.Snapshot(ctx)
	if err == nil {
		tx.base = s
	}
	return -1, err
}

// duplicate turns a conflict over a txn into a *CommittedError if the other
// commit has this version or a later one.
func (tx *Transaction) duplicate(theirs []commitlog.Txn, conflict *ConflictError) error {
	for _, t := range theirs {
		for _, m := range tx.txns {
			if t.AppID == m.AppID && t.Version >= m.Version {
				return errors.Join(&CommittedError{m.AppID, m.Version, t.Version}, conflict)
			}
		}
	}
	return conflict
}

func (tx *Transaction) attempt() *commitlog.Attempt {
	a := &commitlog.Attempt{Reads: tx.reads, ReplacesAll: tx.all, Isolation: commitlog.IsolationOf(tx.base.view.Metadata)}
	for _, t := range tx.txns {
		a.AppIDs = append(a.AppIDs, t.AppID)
	}
	for _, f := range tx.remove {
		a.Removes = append(a.Removes, f.path)
	}
	return a
}

// build makes the commit that follows the base.
func (tx *Transaction) build() (*commitlog.Commit, error) {
	view := &tx.base.view
	if err := tx.base.Writable(); err != nil {
		return nil, err
	}
	for _, t := range tx.txns {
		if stored, ok := tx.base.Txn(t.AppID); ok && stored >= t.Version {
			return nil, &CommittedError{t.AppID, t.Version, stored}
		}
	}
	now := tx.table.opts.Now().UnixMilli()
	c := &commitlog.Commit{HasInfo: true}
	for _, t := range tx.txns {
		t.LastUpdated = now
		c.Txns = append(c.Txns, t)
	}
	meta, err := tx.metadata()
	if err != nil {
		return nil, err
	}
	if meta != nil {
		c.Metadata = meta
		p := view.Protocol.Upgrade(meta.Schema)
		if p != view.Protocol {
			c.Protocol = p
		}
		if err := p.Writable(meta); err != nil {
			return nil, err
		}
	} else {
		meta = view.Metadata
	}
	if err := tx.removes(c, now); err != nil {
		return nil, err
	}
	if len(c.Removes) > 0 && !tx.keep && commitlog.AppendOnly(meta) {
		return nil, fmt.Errorf("the table takes appends only (property %s)", commitlog.PropAppendOnly)
	}
	if err := tx.addActions(c, meta); err != nil {
		return nil, err
	}
	c.Info = tx.provenance(c, meta, now)
	return c, nil
}

// metadata returns the changed metadata, or nil.
func (tx *Transaction) metadata() (*commitlog.Metadata, error) {
	old := tx.base.view.Metadata
	m := *old
	changed := false
	if tx.schema != nil && tx.schema.JSON() != old.Schema.JSON() {
		m.Schema, changed = *tx.schema, true
	}
	if tx.parts != nil && !slices.Equal(*tx.parts, old.PartitionColumns) {
		if !tx.all {
			return nil, errors.New("partition columns can change in an overwrite only")
		}
		m.PartitionColumns, changed = *tx.parts, true
	}
	if changed {
		if errs := CheckSchema(m.Schema, m.PartitionColumns); len(errs) > 0 {
			return nil, errs
		}
		m.PartitionColumns = columnsAsDeclared(Definition{Schema: m.Schema, PartitionColumns: m.PartitionColumns})
	}
	if tx.about != nil && *tx.about != old.Description {
		m.Description, changed = *tx.about, true
	}
	for k, v := range tx.props {
		old, has := m.Configuration[k]
		if has == (v != nil) && (v == nil || *v == old) {
			continue
		}
		m.Configuration = maps.Clone(m.Configuration)
		if m.Configuration == nil {
			m.Configuration = map[string]string{}
		}
		changed = true
		if v == nil {
			delete(m.Configuration, k)
		} else {
			m.Configuration[k] = *v
		}
	}
	if !changed {
		return nil, nil
	}
	return &m, nil
}

func (tx *Transaction) removes(c *commitlog.Commit, now int64) error {
	if tx.all {
		for _, f := range tx.base.view.Files() {
			c.Removes = append(c.Removes, f.Tombstone(now, !tx.keep))
		}
		return nil
	}
	seen := map[string]bool{}
	for _, f := range tx.remove {
		if seen[f.path] {
			return fmt.Errorf("file %s is removed twice", f.Key)
		}
		seen[f.path] = true
		c.Removes = append(c.Removes, commitlog.Remove{
			Path: f.path, DeletionTimestamp: now, DataChange: !tx.keep, Extended: true, PartitionValues: f.PartitionValues, Size: f.Size,
		})
	}
	return nil
}

func (tx *Transaction) addActions(c *commitlog.Commit, meta *commitlog.Metadata) error {
	seen := map[string]bool{}
	for _, f := range tx.adds {
		path := commitlog.PathOf(f.Key)
		if key, err := commitlog.KeyOf(path); err != nil || key != f.Key || seen[path] {
			return fmt.Errorf("file key %q is not clean, or is added twice", f.Key)
		}
		seen[path] = true
		if _, ok := commitlog.NumRecords(f.Stats); !ok {
			return fmt.Errorf("file %s comes without its number of rows", f.Key)
		}
		if len(f.PartitionValues) != len(meta.PartitionColumns) {
			return fmt.Errorf("file %s has %d partition values, want %d", f.Key, len(f.PartitionValues), len(meta.PartitionColumns))
		}
		for _, p := range meta.PartitionColumns {
			if _, ok := f.PartitionValues[p]; !ok {
				return fmt.Errorf("file %s has no value of partition column %s", f.Key, p)
			}
		}
		c.Adds = append(c.Adds, commitlog.Add{
			Path: path, PartitionValues: f.PartitionValues, Size: f.Size, ModificationTime: f.ModTime.UnixMilli(), DataChange: !tx.keep, Stats: f.Stats,
		})
	}
	return nil
}

// provenance fills the commitInfo action.
func (tx *Transaction) provenance(c *commitlog.Commit, meta *commitlog.Metadata, now int64) commitlog.Info {
	info := commitlog.Info{
		Timestamp: now, Operation: tx.op, Parameters: tx.params, ReadVersion: tx.base.Version(), Isolation: commitlog.IsolationOf(meta).String(),
		IsBlindAppend: !tx.reads && !tx.all && len(tx.remove) == 0, Engine: tx.table.opts.Engine, TxnID: tx.id, Extra: tx.info,
	}
	if info.Operation == "" {
		mode := "Append"
		if tx.all {
			mode = "Overwrite"
		}
		parts := meta.PartitionColumns
		if parts == nil {
			parts = []string{}
		}
		info.Operation, info.Parameters = "WRITE", map[string]string{"mode": mode, "partitionBy": jsonText(parts)}
	}
	rows, bytes := int64(0), int64(0)
	for i := range c.Adds {
		n, _ := commitlog.NumRecords(c.Adds[i].Stats)
		rows += n
		bytes += c.Adds[i].Size
	}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	info.Metrics = map[string]string{"numFiles": number(int64(len(c.Adds))), "numOutputRows": number(rows), "numOutputBytes": number(bytes)}
	if len(c.Removes) > 0 {
		info.Metrics["numRemovedFiles"] = number(int64(len(c.Removes)))
	}
	return info
}

func createParameters(def Definition) map[string]string {
	parts, props := def.PartitionColumns, def.Properties
	if parts == nil {
		parts = []string{}
	}
	if props == nil {
		props = map[string]string{}
	}
	return map[string]string{"isManaged": "false", "description": jsonText(def.Description), "partitionBy": jsonText(parts), "properties": jsonText(props)}
}

// jsonText returns the JSON of strings, lists and maps of strings.
func jsonText[T string | []string | map[string]string](v T) string {
	out, err := json.Marshal(v)
	if err != nil {
		panic("bug: tables: " + err.Error())
	}
	return string(out)
}
