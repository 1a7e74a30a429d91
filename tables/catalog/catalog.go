package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"pipelines/stores"
)

// Kind is the kind of a dataset that the catalog knows.
type Kind string

// The kinds.
const (
	StreamingTable   Kind = "streaming_table"
	MaterializedView Kind = "materialized_view"
	View             Kind = "view"
)

// formatVersion is that of a record's JSON. A greater one is refused.
const formatVersion = 1

// Record is what the catalog knows of one table or persisted view.
type Record struct {
	Format int  `json:"format"`
	Name   Name `json:"name"`
	Kind   Kind `json:"kind"`
	// Owner is the pipeline that defines the table.
	Owner string `json:"owner"`
	// Folder is where the data is, relative to the storage unless it is an
	// absolute path; empty for views.
	Folder string `json:"folder,omitempty"`
	// CheckpointVersion goes up with each full refresh.
	CheckpointVersion int64 `json:"checkpointVersion"`
	// PlanHash and DefinitionHash tell a changed query from an unchanged one.
	PlanHash       string `json:"planHash,omitempty"`
	DefinitionHash string `json:"definitionHash,omitempty"`
	// Flows maps each flow of a table to the application id of its commits.
	Flows map[string]string `json:"flows,omitempty"`
	// Query is the text of a persisted view.
	Query   string `json:"query,omitempty"`
	Comment string `json:"comment,omitempty"`
	// Extra is for the owner.
	Extra   map[string]string `json:"extra,omitempty"`
	Created time.Time         `json:"created"`
	Updated time.Time         `json:"updated"`
}

// OwnerError says that a table belongs to another pipeline.
type OwnerError struct {
	Name   Name
	Owner  string
	Wanted string
}

func (e *OwnerError) Error() string {
	return fmt.Sprintf("table %s belongs to pipeline %q: pipeline %q may read it, but not define it", e.Name, e.Owner, e.Wanted)
}

// Catalog is the catalog of one storage. It is safe for concurrent use.
type Catalog struct {
	store stores.Store
	now   func() time.Time
}

// New returns the catalog of a storage; now stamps records, nil means
// time.Now.
func New(store stores.Store, now func() time.Time) *Catalog {
	if now == nil {
		now = time.Now
	}
	return &Catalog{store: store, now: now}
}

// Get returns the record of a name, or stores.ErrNotExist.
func (c *Catalog) Get(ctx context.Context, name Name) (Record, error) {
	data, err := c.store.Get(ctx, name.key())
	if err != nil {
		return Record{}, fmt.Errorf("catalog entry of %s: %w", name, err)
	}
	return decode(name.key(), data)
}

func decode(key string, data []byte) (Record, error) {
	var r Record
	err := json.Unmarshal(data, &r)
	if err == nil && r.Name.key() != key {
		err = fmt.Errorf("it is the entry of %s", r.Name)
	}
	if err != nil {
		return Record{}, &stores.ClassError{Class: stores.Corrupt, Err: fmt.Errorf("catalog entry %s is damaged: %w", key, err)}
	}
	if r.Format > formatVersion {
		return Record{}, fmt.Errorf("catalog entry %s has format %d, this program knows %d: a newer version of it wrote the entry", key, r.Format, formatVersion)
	}
	return r, nil
}

// Put makes or replaces the record of r.Name for the pipeline r.Owner. If the
// table belongs to another pipeline the error is an *OwnerError.
func (c *Catalog) Put(ctx context.Context, r Record) error {
	key := r.Name.key()
	now := c.now().UTC()
	r.Format, r.Updated = formatVersion, now
	old, err := c.Get(ctx, r.Name)
	if errors.Is(err, stores.ErrNotExist) {
		r.Created = now
		err = c.store.PutIfAbsent(ctx, key, encode(r))
		if !errors.Is(err, stores.ErrExists) {
			return wrapPut(r.Name, err)
		}
		old, err = c.Get(ctx, r.Name) // somebody was faster
	}
	if err != nil {
		return err
	}
	if old.Owner != r.Owner {
		return &OwnerError{Name: r.Name, Owner: old.Owner, Wanted: r.Owner}
	}
	r.Created = old.Created
	return wrapPut(r.Name, c.store.Put(ctx, key, encode(r)))
}

func wrapPut(name Name, err error) error {
	if err != nil {
		return fmt.Errorf("catalog entry of %s: %w", name, err)
	}
	return nil
}

func encode(r Record) []byte {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		panic("bug: catalog: " + err.Error())
	}
	return append(data, '\n')
}

// CheckOwner returns an *OwnerError if the table exists and belongs to another
// pipeline.
func (c *Catalog) CheckOwner(ctx context.Context, name Name, pipeline string) error {
	r, err := c.Get(ctx, name)
	switch {
	case errors.Is(err, stores.ErrNotExist):
		return nil
	case err != nil:
		return err
	case r.Owner != pipeline:
		return &OwnerError{Name: r.Name, Owner: r.Owner, Wanted: pipeline}
	}
	return nil
}

// Delete removes the record of a name; a missing one is no error. The data
// stays.
func (c *Catalog) Delete(ctx context.Context, name Name, pipeline string) error {
	if err := c.CheckOwner(ctx, name, pipeline); err != nil {
		return err
	}
	return c.store.Delete(ctx, name.key())
}

// List calls fn with each record in order of names, until it returns false. A
// record that cannot be read is handed over as its error, with the key as its
// table's name.
func (c *Catalog) List(ctx context.Context, fn func(Record, error) bool) error {
	return c.list(ctx, recordFolder, fn)
}

// ListIn is like List for the records of one catalog.
func (c *Catalog) ListIn(ctx context.Context, name string, fn func(Record, error) bool) error {
	return c.list(ctx, recordFolder+PathPart(name)+"/", fn)
}

func (c *Catalog) list(ctx context.Context, prefix string, fn func(Record, error) bool) error {
	var keys []string
	err := c.store.List(ctx, stores.ListOptions{Prefix: prefix, NamesOnly: true}, func(o stores.ObjectInfo) bool {
		if strings.HasSuffix(o.Key, ".json") && strings.Count(o.Key, "/") == 3 {
			keys = append(keys, o.Key)
		}
		return true
	})
	if err != nil {
		return fmt.Errorf("catalog listing: %w", err)
	}
	for _, key := range keys {
		data, err := c.store.Get(ctx, key)
		if errors.Is(err, stores.ErrNotExist) {
			continue // gone meanwhile
		}
		var r Record
		if err == nil {
			r, err = decode(key, data)
		}
		if err != nil {
			r = Record{Name: Name{Table: key}}
		}
		if !fn(r, err) {
			return nil
		}
	}
	return nil
}
