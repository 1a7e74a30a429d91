package bind

import (
	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// Catalog answers what a name in FROM means.
type Catalog interface {
	// Resolve finds a table, view, source, file path or table function. It
	// returns a *NotFound when there is no such thing, a *funcs.Error when
	// there is one that cannot be read so, another error when looking failed.
	Resolve(Request) (Answer, error)
}

// Functions is implemented by a Catalog that knows functions of its own.
type Functions interface {
	// Function returns the SQL function of that name, or nil.
	Function(parts []string) *UserFunction
}

// Variables is implemented by a Catalog that has session variables.
type Variables interface {
	// Variable returns the value of a variable as a literal, or nil.
	Variable(name string) *logical.Literal
}

// Request is one mention of a relation.
type Request struct {
	// Parts is the name as written. Format paths (json.`p`) come as two parts.
	Parts []string
	// Function is set for table functions that the binder does not know
	// (read_files, read_kafka): Options holds the named arguments and "path"
	// the first positional one.
	Function bool
	// Stream says that the mention is marked with STREAM.
	Stream  bool
	Options map[string]string
	// Version and Timestamp pin a version (VERSION AS OF, TIMESTAMP AS OF);
	// empty for none. Timestamp is the constant's text.
	Version, Timestamp string
	Place              diag.Span

	places map[string]diag.Range // of the values of Options
}

// OptionError says which option of a relation is wrong: its value is the place
// of the error.
type OptionError struct {
	Option string // in lower case
	Err    *funcs.Error
}

func (e *OptionError) Error() string { return e.Err.Error() }

// Answer is what a name means: exactly one field of Relation and View is set.
type Answer struct {
	Relation *logical.Relation
	View     *View
	// Chars are the lengths of a relation's columns of type CHAR, 0 for others;
	// nil when there is none.
	Chars []int
	// Declared has the relation's columns as they were declared, with the
	// lengths of texts; nil when that says no more than its schema.
	Declared *schema.Schema
	// Metadata lists the fields of the hidden column _metadata, if any.
	Metadata []schema.Field
	// EventTime declares a watermark on a relation that is read as a stream.
	EventTime *EventTime
}

// View is a stored query that is inlined where it is read.
type View struct {
	Name  []string
	Text  *diag.Text
	Query *ast.Query
	// Columns rename the query's columns; nil keeps them. Comments are those
	// that the view gives them, "" keeps the one that is there.
	Columns, Comments []string
	// Broken says that the view's own errors were reported elsewhere: whoever
	// reads it fails silently.
	Broken bool
	// AnyRead lets a view be read with or without STREAM whatever it is.
	AnyRead bool
	// Catalog finds the names inside the view; nil is the reader's.
	Catalog Catalog
	// Binding holds the columns to what they were when the view was made; nil
	// takes them as they are.
	Binding *ViewBinding
	// Session replaces the reader's settings inside the view; nil keeps them.
	Session *funcs.Session
	// Dedup keeps the first row of each key of the view's rows; nil keeps all.
	Dedup *Dedup
	// Checks are the expectations on the view's rows, after Dedup; DropErrors
	// drops those whose expressions fail.
	Checks     []Check
	DropErrors bool
	// Declared has the columns that the view gives, in their order; the query
	// is known to fit. Nil gives those of the query.
	Declared *schema.Schema
}

// UserFunction is a SQL function over Params: RETURN Body, or RETURN Query,
// whose one value is the result or, for a table function, whose rows are.
type UserFunction struct {
	Name    string
	Text    *diag.Text
	Params  []schema.Field
	Default []ast.Expr // by parameter; nil entries have none
	Returns *schema.Type
	Body    ast.Expr
	Query   *ast.Query
	// Table marks a table function; Columns are its columns, nil: the query's.
	Table   bool
	Columns []schema.Field
	// Shown is the name in automatic column names; "" means Name.
	Shown string
	// Catalog and Session find the names and give the settings inside of the
	// function; nil means the caller's.
	Catalog Catalog
	Session *funcs.Session
}

func (u *UserFunction) shown() string {
	if u.Shown != "" {
		return u.Shown
	}
	return u.Name
}

// NotFound says that a name is unknown.
type NotFound struct {
	// Names are the known names, for suggestions.
	Names []string
}

func (*NotFound) Error() string { return "not found" }

// Empty is a Catalog without tables.
type Empty struct{}

// Resolve finds nothing.
func (Empty) Resolve(Request) (Answer, error) { return Answer{}, &NotFound{} }
