package pipelines

import (
	"strings"
	"time"

	"pipelines/pipelines/graph"
	"pipelines/spec"
	"pipelines/spec/diag"
	"pipelines/sqlplan"
	"pipelines/tables/schema"
)

// query is a query as written: the text of a YAML value, or a parsed part of a
// SQL file.
type query struct {
	text   *diag.Text
	parsed *sqlplan.Query // nil: text is the whole query
}

func (q query) isSet() bool { return q.text != nil }

// expectation is one declared condition.
type expectation struct {
	name   string
	cond   *diag.Text
	parsed sqlplan.Expr // set instead of cond when it stands in a SQL file
	text   *diag.Text   // of parsed
	action spec.ExpectationAction
	place  diag.Span
}

// word is a name with its place.
type word struct {
	value string
	place diag.Span
}

// dataset is a table, a view or a sink, from whatever file it was defined in.
type dataset struct {
	kind          graph.Kind
	name          []string // full: catalog, database, name; views of one part
	asTyped       string   // see typed
	place         diag.Span
	file          *diag.File
	comment       string
	declared      *schema.Schema
	declaredText  *diag.Text
	properties    map[string]string
	appendOnly    diag.Span // of that property if it is true
	partitionedBy []word
	expectations  []expectation
	dedup         *sqlplan.Dedup
	dropErrors    bool
	flows         []*flow
	query         query // views
	space         space
	conf          map[string]string // settings in force, beyond the project's
	onReset       string
	movedFrom     []string
	movedAt       diag.Span
	mode          spec.OutputMode
	stateTTL      spec.Duration
	keys          []word
	sink          *spec.Sink

	node *graph.Node
	done analysis
}

// flow is a query into a table or sink.
type flow struct {
	name   string
	target *dataset
	place  diag.Span
	file   *diag.File
	query  query
	space  space
	once   bool
	mode   spec.OutputMode
	dedup  *sqlplan.Dedup
	conf   map[string]string
	// movedFrom is the flow's former name, "" for none.
	movedFrom word
	// trigger is what the flow or its table asks for, nil for the project's.
	trigger *spec.Trigger
	cdc     *spec.AutoCDC
	cdcText *diag.Text
	cdcSQL  *sqlplan.CDC // of a SQL file: expressions of cdcText

	plan    *sqlplan.Plan
	keyed   *keyedFlow // nil: rows are appended
	session *sqlplan.Session
	broken  bool
}

// reading is the flow's query in its table.
func (f *flow) reading(d *dataset, o *sqlplan.Options) reading {
	return reading{dataset: d, flow: "the flow " + f.name, conf: f.conf, in: f.space, file: f.file, place: f.place, o: o}
}

// space is what USE made the current catalog and database; "" keeps the
// project's.
type space struct{ catalog, database string }

// id is the lower-case full name by which a dataset is found.
func (d *dataset) id() string { return strings.ToLower(strings.Join(d.name, ".")) }

// shown is the name in messages: without the project's own catalog.
func (d *dataset) shown() string { return d.name[len(d.name)-1] }

// typed is the name as --full-refresh takes it on a command line: the database
// where it is not the project's, and quotes where they are needed.
func (d *dataset) typed() string { return d.asTyped }

// isTable reports whether the dataset holds rows.
func (d *dataset) isTable() bool { return d.kind.IsTable() }

// clock is how the package reads time.
type clock func() time.Time
