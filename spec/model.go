package spec

import (
	"pipelines/spec/diag"
	"pipelines/spec/option"
)

// Form says whose document it is.
type Form uint8

// The forms of the document.
const (
	Native Form = iota // pipeline.yml
	Spark              // spark-pipeline.yml, taken as it is, with Spark's defaults
)

// Pipeline is the whole project as written: the document, its fragments, and
// the SQL files that its libraries name.
type Pipeline struct {
	File *diag.File // the main document
	Dir  string     // folder that relative paths start from; "" if parsed from bytes
	Form Form

	Name               String
	Storage            String // as written
	Checkpoints        String // as written; unset: <storage>/checkpoints
	Catalog            String // default "main"
	Database           String // default "default"
	Configuration      []Setting
	Parameters         []*Parameter
	Libraries          []*Library
	Trigger            *Trigger // nil: available_now
	MaxConcurrentFlows Int      // default 16
	Memory             Memory

	Sources  []*Source
	Datasets []*Dataset // streaming tables, materialized views, views; those of fragments last
	Flows    []*Flow    // only those at the top level; tables hold their own
	Sinks    []*Sink

	Lock     *Lock      // pinned schemas; nil if there is no lock file
	SQLFiles []*SQLFile // files that the libraries name, ${key} replaced
}

// SQLFile is one SQL file of the libraries.
type SQLFile struct {
	Path string // relative to the project folder
	Text *diag.Text
}

// Parameter is a typed value for :name in SQL.
type Parameter struct {
	Name     String
	Type     String // a SQL type name, lower case
	Default  *String
	Value    string // the override, or the default
	HasValue bool
	Faulty   bool // its value, or that it has none, was reported
}

// Library is one entry of libraries.
type Library struct {
	Include String // path, folder or glob
	Span    diag.Span
}

// Memory is the share of the machine that a run may use: Bytes if not 0,
// otherwise Percent of the memory; both 0 means the built-in default.
type Memory struct {
	Bytes   int64
	Percent float64
	Span    diag.Span
}

// TriggerMode says how often a flow looks for new data.
type TriggerMode uint8

// The trigger modes.
const (
	AvailableNow TriggerMode = iota
	Triggered
	Continuous
	ProcessingTime
	RealTime
)

var triggerNames = [...]string{"available_now", "triggered", "continuous", "processing_time", "real_time"}

// String returns the word of the document.
func (m TriggerMode) String() string { return triggerNames[m] }

// Trigger is a trigger key: of the pipeline, a table or a flow.
type Trigger struct {
	Mode     TriggerMode
	Interval Duration // of ProcessingTime and RealTime
	Span     diag.Span
}

// Source is something outside that datasets read: STREAM(name) reads it as a
// stream, name alone as a batch.
type Source struct {
	Name         Name // one part
	Format       String
	Path         String
	Schema       *diag.Text // DDL; nil: inferred
	Options      []option.Entry
	OnNewColumns String // "rescue", "ignore", "add", "fail"; unset: see NewColumns
	IdleTimeout  Duration
	Watermark    *Watermark
	Version      String // version or timestamp that pins a static table
	File         *diag.File
	Span         diag.Span
	Faulty       bool // has errors that were reported: known by name only
}

// NewColumns returns what happens to columns that the schema does not know.
func (s *Source) NewColumns() string {
	switch {
	case s.OnNewColumns.IsSet():
		return s.OnNewColumns.Value
	case s.Schema == nil:
		return "rescue"
	}
	return "ignore"
}

// Watermark is a source's event time.
type Watermark struct {
	Column       String
	Delay        Duration
	PerPartition Bool
	MaxFuture    Duration
	Span         diag.Span
}

// DatasetKind is a kind of dataset.
type DatasetKind uint8

// The kinds of datasets. A View is a temporary view: known to this pipeline
// only, never stored.
const (
	StreamingTable DatasetKind = iota
	MaterializedView
	View
)

var datasetNames = [...]string{"streaming table", "materialized view", "view"}

// String returns the kind in words.
func (k DatasetKind) String() string { return datasetNames[k] }

// Dataset is a table or a view.
type Dataset struct {
	Kind          DatasetKind
	Name          Name // one to three parts; a view has one
	Comment       String
	SQL           *diag.Text // the query; nil if there is none
	SQLFile       String     // where SQL came from, when it was sql_file
	Schema        *diag.Text // DDL
	Properties    []Setting
	PartitionedBy []String
	Expectations  []*Expectation
	Deduplicate   *Deduplicate
	OnError       OnError
	MovedFrom     *Name
	StateTTL      Duration
	File          *diag.File
	Span          diag.Span
	Faulty        bool // has errors that were reported: known by name only

	// Of streaming tables only.
	Flows           []*Flow
	AutoCDC         *AutoCDC
	OutputMode      OutputMode
	Keys            []String
	OnUpstreamReset String // "", "reread", "skip"
	Trigger         *Trigger
}

// ExpectationAction is what happens to a row that violates an expectation.
type ExpectationAction uint8

// The actions, in order of strictness.
const (
	Warn ExpectationAction = iota
	Quarantine
	Drop
	Fail
)

var actionNames = [...]string{"warn", "quarantine", "drop", "fail"}

// String returns the word of the document.
func (a ExpectationAction) String() string { return actionNames[a] }

// Expectation is a condition that the rows of a dataset should meet.
type Expectation struct {
	Name        String
	Expect      *diag.Text // boolean expression
	OnViolation ExpectationAction
	Span        diag.Span
}

// Deduplicate keeps the first row of each key. No keys means all columns.
type Deduplicate struct {
	Keys            []String
	WithinWatermark Bool
	Span            diag.Span
}

// OnError says what happens to rows whose expressions fail.
type OnError uint8

// The reactions to a row that fails.
const (
	FailFlow OnError = iota
	DropRow
	QuarantineRow
)

var onErrorNames = [...]string{"fail", "drop", "quarantine"}

// String returns the word of the document.
func (o OnError) String() string { return onErrorNames[o] }

// OutputMode is a flow's output mode; the zero value is "not said", which is
// append.
type OutputMode uint8

// The output modes.
const (
	DefaultMode OutputMode = iota
	Append
	Update
	Complete
)

var modeNames = [...]string{"append", "append", "update", "complete"}

// String returns the word of the document.
func (m OutputMode) String() string { return modeNames[m] }

// Flow is a query that writes into a streaming table or a sink.
type Flow struct {
	Name        Name // one part
	Target      Name // of a table's own flow: the table's name
	SQL         *diag.Text
	Once        Bool
	AutoCDC     *AutoCDC
	OutputMode  OutputMode
	Deduplicate *Deduplicate
	Trigger     *Trigger
	MovedFrom   Name // former name, one part; unset: none
	File        *diag.File
	Span        diag.Span
	Faulty      bool // has errors that were reported: known by name only
}

// AutoCDC applies a stream of changes to a streaming table.
type AutoCDC struct {
	Source             Name
	Keys               []String
	SequenceBy         *diag.Text
	ApplyAsDeletes     *diag.Text
	ApplyAsTruncates   *diag.Text
	Columns            []String
	ExceptColumns      []String
	IgnoreNullUpdates  Bool
	SCDType            Int // 1 or 2; default 1
	TrackHistory       []String
	TrackHistoryExcept []String
	HasTrackHistory    bool // track_history was given, possibly empty
	Span               diag.Span
}

// Sink is a target outside of the storage.
type Sink struct {
	Name    Name // one part
	Format  String
	Options []option.Entry
	// MovedFrom is the former name, one part; unset: none.
	MovedFrom Name
	File      *diag.File
	Span      diag.Span
	Faulty    bool // has errors that were reported: known by name only
}
