package builtin

import (
	"time"

	"pipelines/runtime/budget"
	"pipelines/runtime/connector"
	"pipelines/runtime/connector/table"
	"pipelines/tables"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// TableSinkOptions says how a flow writes into a table.
type TableSinkOptions struct {
	Table            *tables.Table
	Schema           schema.Schema // of the rows, by name
	PartitionColumns []string
	// NewSchema replaces the table's schema together with its rows.
	NewSchema *schema.Schema
	Location  *time.Location
	Pool      *column.Pool
	At        func(point string) error
}

// TableSink returns the sink of a table.
func TableSink(o TableSinkOptions) connector.Sink {
	return table.NewSink(table.SinkOptions{
		Table: o.Table, Format: tableFormat, Extension: ".snappy.parquet", Schema: o.Schema,
		PartitionColumns: o.PartitionColumns, NewSchema: o.NewSchema, Location: o.Location, Pool: o.Pool, At: o.At,
	})
}

// OnReset says what a stream does when its table's rows were replaced.
type OnReset = table.OnReset

// The choices.
const (
	RefuseReset = table.Refuse
	RereadReset = table.Reread
	SkipReset   = table.Skip
)

// TableStreamOptions says how a table is followed.
type TableStreamOptions struct {
	Table   *tables.Table
	Name    string
	OnReset OnReset
	Limits  TableLimits
}

// TableLimits bound what an epoch takes of a table that is followed; 0: no
// bound.
type TableLimits struct {
	Files int
	Bytes int64
}

// Least is the stricter of two limits.
func (l TableLimits) Least(m TableLimits) TableLimits {
	if l.Files == 0 || m.Files > 0 && m.Files < l.Files {
		l.Files = m.Files
	}
	if l.Bytes == 0 || m.Bytes > 0 && m.Bytes < l.Bytes {
		l.Bytes = m.Bytes
	}
	return l
}

// TableStream returns the stream of what is appended to a table.
func TableStream(o TableStreamOptions) connector.Source {
	return table.NewStream(table.StreamOptions{
		Table: o.Table, Format: tableFormat, Name: o.Name, StartingVersion: -1, OnReset: o.OnReset, MaxFiles: o.Limits.Files, MaxBytes: o.Limits.Bytes,
	})
}

// TableWhole returns a table at one version as a bounded relation.
func TableWhole(t *tables.Table, pinned *tables.Snapshot) connector.Bounded {
	return &table.Whole{Reader: table.Reader{Table: t, Format: tableFormat}, Pinned: pinned}
}

// The columns that AUTO CDC adds to a table of SCD type 2.
const (
	StartColumn = table.StartColumn
	EndColumn   = table.EndColumn
)

// ChangeOptions say how AUTO CDC applies changes.
type ChangeOptions = table.ChangeOptions

// KeyedSinkOptions says how a flow replaces rows of a table.
type KeyedSinkOptions struct {
	TableSinkOptions
	Name    string
	Typed   string         // the name as --full-refresh takes it
	Keys    []int          // places in Schema
	Changes *ChangeOptions // nil: the last row of each key stays
	Budget  *budget.Budget // lends the memory of an epoch; nil lends all
}

// KeyedSink returns the sink of a table that is kept by key.
func KeyedSink(o KeyedSinkOptions) connector.Sink {
	return table.NewKeyed(table.KeyedOptions{
		SinkOptions: table.SinkOptions{
			Table: o.Table, Format: tableFormat, Extension: ".snappy.parquet", Schema: o.Schema,
			PartitionColumns: o.PartitionColumns, Location: o.Location, Pool: o.Pool, At: o.At,
		},
		Name: o.Name, Keys: o.Keys, Changes: o.Changes, Budget: o.Budget,
	})
}
