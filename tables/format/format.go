package format

import (
	"context"
	"io"
	"time"

	"pipelines/spec/option"
	"pipelines/stores"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// Format is one file format.
type Format interface {
	// Name is the word users write ("json").
	Name() string
	// Fields declares the reader and writer options as data.
	Fields() []option.Field
	// Infer finds the schema of the files, which are read in order. Only the
	// options matter of spec.
	Infer(ctx context.Context, files []Input, spec ReadSpec) (schema.Schema, error)
	// Open starts reading one file.
	Open(ctx context.Context, in Input, spec ReadSpec) (Scanner, error)
	// Create starts writing one file; nil and an error when the format cannot
	// be written.
	Create(w io.Writer, spec WriteSpec) (Writer, error)
}

// OptionChecker is a Format that takes only some values of its options.
type OptionChecker interface {
	// CheckOptions refuses, before any file is read, what reading with these
	// options would refuse; their names are in lower case. The error is a
	// *record.OptionError.
	CheckOptions(options map[string]string) error
}

// Describer is a Format whose files say something of their rows ahead of them.
type Describer interface {
	// Describe reads what a file says of itself; only the options and
	// CaseSensitive matter of spec. The object is closed.
	Describe(ctx context.Context, in Input, spec ReadSpec) (Description, error)
}

// Description is what a file says of itself.
type Description struct {
	Rows int64
	// Column describes a column read as t, by its counts and bounds alone.
	// NullCount is -1 when it is not known; Min and Max are values of the column, not only bounds of them, nil
	// when they are not known or there is no value.
	Column func(name string, t schema.Type) ColumnStats
}

// Input is one file to read. Name is its key or path (its extension selects
// decompression); Object gives the bytes and is closed by the scanner.
type Input struct {
	Name    string
	Object  stores.Object
	ModTime time.Time
}

// ReadSpec says what to read.
type ReadSpec struct {
	// Declared is the whole schema of the file as declared or inferred.
	Declared schema.Schema
	// Columns are the wanted columns: a subset of Declared in any order, whose
	// struct types may be pruned to the wanted fields. May be empty (only the
	// number of rows matters).
	Columns schema.Schema
	// Options are the user's options, checked against Fields by the caller;
	// keys are lower case.
	Options map[string]string
	// Terms are predicates that all must hold for a row to be of interest.
	Terms []Term
	// Late asks a format that can to read the columns of Terms first, and the
	// others only where rows match.
	Late bool
	// Location is the session time zone.
	Location *time.Location
	// Pool gives vectors and batches; nil allocates.
	Pool *column.Pool
	// BatchRows is the greatest number of rows a batch; 0 means column.BatchRows.
	BatchRows int
	// CaseSensitive follows spark.sql.caseSensitive.
	CaseSensitive bool
	// ByName finds columns by the names in a file's header where the format would
	// take them by place (CSV).
	ByName bool
	// Unknown, if set, is called with the names of columns that the file has and
	// Declared has not, those of struct fields as "a.b", at the latest when the
	// first record that has it is read. Formats without names never call it.
	Unknown func(name string)
}

// TermOp is the comparison of a Term.
type TermOp uint8

// The comparisons.
const (
	Equal TermOp = iota
	Less
	LessEqual
	Greater
	GreaterEqual
	IsNull
	IsNotNull
)

// Term is `path op value`; Value is a constant vector of the column's type,
// nil for the null tests.
type Term struct {
	Path  []string
	Op    TermOp
	Value *column.Vector
}

// Scanner reads one file.
type Scanner interface {
	// Next returns the next batch, owned by the caller, or io.EOF.
	Next() (*column.Batch, error)
	// Counts returns what was met so far.
	Counts() Counts
	// Close releases the file.
	Close() error
}

// Counts are the records of one scanner.
type Counts struct {
	Records int64 // decoded or not
	Corrupt int64 // could not be decoded fully (PERMISSIVE: kept with nulls)
	Dropped int64 // left out (DROPMALFORMED)
	Bytes   int64 // read from the object, before decompression
}

// RecordError says which record could not be decoded (FAILFAST). It carries
// Spark's class in Class.
type RecordError struct {
	File   string
	Offset int64 // byte offset of the record in the decompressed file
	Line   int64 // 1-based, 0 if unknown
	Class  string
	Record string // shortened
	Err    error
}

// WriteSpec says how to write.
type WriteSpec struct {
	Schema   schema.Schema
	Options  map[string]string
	Location *time.Location
	Pool     *column.Pool
	// StatsColumns is how many leading leaf columns get min and max; -1 all.
	StatsColumns int
}

// Writer writes one file.
type Writer interface {
	// Write adds the selected rows of b, whose columns are the schema's.
	Write(b *column.Batch) error
	// Size is the number of bytes written so far plus an estimate of what is
	// buffered: used to roll files.
	Size() int64
	// Close finishes the file (not the io.Writer) and returns its statistics.
	Close() (FileStats, error)
}

// FileStats describes a written file.
type FileStats struct {
	Rows    int64
	Bytes   int64
	Columns []ColumnStats // leaves in schema order (not inside arrays and maps)
}

// ColumnStats are the statistics of one leaf column. Min and Max hold exactly
// one row of the leaf's type; nil when unknown (all null, a NaN was met, a
// type without order, or beyond StatsColumns).
type ColumnStats struct {
	Path      []string
	Type      schema.Type
	NullCount int64
	Min, Max  *column.Vector
}
