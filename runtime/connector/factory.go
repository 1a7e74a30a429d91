package connector

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"pipelines/spec/option"
	"pipelines/tables/schema"
)

// SourceFactory makes the sources of one format word ("json", "rate").
type SourceFactory struct {
	Name string
	// Fields declares the options.
	Fields []option.Field
	// Check refuses, by the name of one, options whose values alone are well but
	// which Open would refuse; texts are as in SourceConfig. nil checks nothing.
	Check func(texts map[string]string) (name string, err error)
	// NeedsPath says that the source reads a path.
	NeedsPath bool
	// Within returns the path of a file as the source would list it: from its
	// root, which may be the folder itself or one above, and whether the source
	// takes it. nil takes none.
	Within func(c SourceConfig, file string) (key string, taken bool)
	// Schema is the fixed schema of the source, nil when it is declared or
	// inferred.
	Schema *schema.Schema
	// Metadata lists the fields of the hidden column _metadata.
	Metadata []schema.Field
	// Open makes the source. It may look at the outside when Config.Schema is
	// nil, to infer the schema.
	Open func(ctx context.Context, c SourceConfig) (Opened, error)
}

// SourceConfig is one source as declared.
type SourceConfig struct {
	Name string
	Path string // absolute, "" if there is none
	// Declared is the path as the user wrote it; a stream notices when it
	// changes. A project that moves as a whole keeps it.
	Declared string
	// Dir is what relative paths in options are relative to.
	Dir string
	// Schema is the declared schema, nil to infer it.
	Schema *schema.Schema
	// Options are the decoded options, Texts their texts by lower-case name.
	Options       *option.Values
	Texts         map[string]string
	Location      *time.Location
	CaseSensitive bool
	Now           func() time.Time
	// NewColumns says what a source does that meets columns beyond its schema:
	// "add" and "fail" end the read with a NewColumnsError; others leave them.
	NewColumns string
	// ByName finds the columns of files by their header where there is one and
	// the options do not say otherwise.
	ByName bool
	// Version pins a table's version, "" for the newest.
	Version string
}

// Opened is a source that is ready. Stream or Table may be nil when the source
// cannot be read that way.
type Opened struct {
	Schema schema.Schema
	// Columnless says that the data from which the schema was to be inferred
	// has no column (empty files): the schema says nothing of what comes later.
	Columnless bool
	Stream     Source
	Table      Bounded
}

// SinkFactory makes the sinks of one format word.
type SinkFactory struct {
	Name   string
	Fields []option.Field
	// ExactlyOnce says that the sink knows epochs.
	ExactlyOnce bool
	Open        func(ctx context.Context, c SinkConfig) (Sink, error)
	// Target says where rows are kept: two sinks of one target write to the same
	// place. "" or nil: nowhere.
	Target func(c SinkConfig) string
}

// SinkConfig is one sink as declared.
type SinkConfig struct {
	Name    string
	Dir     string // what relative paths are relative to
	Schema  schema.Schema
	Options *option.Values
	// Out is where a console writes.
	Out io.Writer
}

// NewColumnsError says that a source has columns which its schema has not.
type NewColumnsError struct {
	Source, File string
	// Names are the new columns; fields of structs as "a.b".
	Names []string
	// Wider is the schema with them; Add says that the source is to be read by
	// it from now on. Problem is why that cannot be.
	Wider   schema.Schema
	Add     bool
	Problem string
}

func (e *NewColumnsError) Error() string {
	what := "column " + e.Names[0]
	if len(e.Names) > 1 {
		what = "columns " + strings.Join(e.Names, ", ")
	}
	text := fmt.Sprintf("[NEW_COLUMNS] file %s has the %s, which the schema of the source %s has not", e.File, what, e.Source)
	switch {
	case e.Problem != "":
		return text + ": " + e.Problem
	case e.Add:
		return text + "; they are added"
	}
	return text + "; add them to the schema, or set on_new_columns to add, rescue or ignore"
}

// PathError says that a source's path is not there; it carries Spark's class.
type PathError struct{ Path string }

func (e *PathError) Error() string {
	return "[PATH_NOT_FOUND] path does not exist: " + e.Path
}
