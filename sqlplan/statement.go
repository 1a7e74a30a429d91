package sqlplan

import (
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/bind"
	"pipelines/sqlplan/parse"
	"pipelines/tables/schema"
)

// StatementKind says what a statement of a SQL shell does.
type StatementKind uint8

// The kinds of statements.
const (
	BrokenStatement StatementKind = iota // its errors are in Errors
	QueryStatement
	CreateViewStatement
	CreateTableStatement
	CreateFunctionStatement
	CreateSchemaStatement
	InsertStatement
	TruncateStatement
	DropStatement
	SetStatement
	SetTimeZoneStatement
	SetVariableStatement
	DeclareStatement
	ResetStatement
	UseStatement
	ShowStatement
	DescribeStatement
	ExplainStatement
	NoEffectStatement // CACHE, REFRESH, ...
)

// Statement is one statement of a SQL shell as a plain value. Which fields are
// set follows from the kind.
type Statement struct {
	Kind   StatementKind
	At     diag.Range
	Errors diag.List // of a broken one: never empty
	Name   []string  // of what it makes, changes or looks at
	NameAt diag.Range
	Query  *Query // nil if it has none

	Replace, IfNotExists, IfExists, Temporary bool
	Overwrite, ByName, Extended, Cascade      bool
	Global                                    bool // a temporary view of global_temp
	// Binding is a view's WITH SCHEMA mode, "" when none is written.
	Binding string

	Columns     *schema.Schema // declared with types
	ColumnNames []string       // of views, and the list of an INSERT
	Comments    []string       // of a view's columns
	Defaults    map[string]Expr
	Format      string            // USING
	Options     map[string]string // OPTIONS, LOCATION as "path"
	PathAt      diag.Range        // of the value of "path"
	Like        []string          // CREATE TABLE a LIKE b
	Comment     string
	Partitioned []string          // PARTITIONED BY columns
	InSchema    []string          // SHOW COLUMNS IN t IN schema
	Properties  map[string]string // TBLPROPERTIES

	// What is the kind of thing (DROP VIEW, SHOW TABLES, USE CATALOG, EXPLAIN
	// EXTENDED, DESCRIBE QUERY), in upper case.
	What       string
	Key, Value string // SET, RESET; the pattern of SHOW in Value
	HasValue   bool

	Function *UserFunction
	// ContainsSQL says that the function promises to read no tables, ReadsSQL
	// that it reads some.
	ContainsSQL, ReadsSQL bool
	// Sets are the variables of DECLARE and SET VAR. Type is that of DECLARE.
	Sets  []VariableSet
	Type  *schema.Type
	Inner *Statement // of EXPLAIN

	// syntax is kept when the session decides what the statement says: a name
	// is IDENTIFIER(expression), a type is TIMESTAMP.
	syntax ast.Statement
}

// VariableSet gives one variable a value; a nil Value is DEFAULT or comes from
// the statement's query.
type VariableSet struct {
	Name  []string
	Value Expr
}

// ParseStatements reads a script of a SQL shell. Each statement carries its own
// errors, so that those in front of a broken one can run. now are the settings
// in force, reset those that RESET goes back to.
func ParseStatements(t *diag.Text, now, reset map[string]string) []Statement {
	parsed, list := parse.DialectOf(now).Statements(t, parse.DialectOf(reset))
	out := make([]Statement, len(parsed))
	r := reader{text: t}
	for i, st := range parsed {
		out[i] = r.statement(st)
	}
	for _, d := range list {
		if d.Severity != diag.Error {
			continue
		}
		k := 0
		for k+1 < len(parsed) && t.Span(parsed[k+1].Range()).Start.Offset <= d.Span.Start.Offset {
			k++
		}
		if len(out) == 0 {
			out = []Statement{{Kind: BrokenStatement}}
		}
		out[k].Kind, out[k].Errors = BrokenStatement, append(out[k].Errors, d)
	}
	for i := range out {
		if out[i].Kind == BrokenStatement && len(out[i].Errors) == 0 {
			out[i].Errors = diag.List{diag.At(t, out[i].At, "PARSE_SYNTAX_ERROR", "Syntax error.")}
		}
	}
	return out
}

// Resolved returns the statement as it is in a session: with the names that
// IDENTIFIER(expression) stands for, and with its meaning of TIMESTAMP.
func (s *Statement) Resolved(text *diag.Text, cat Catalog, opts Options) *Statement {
	if s.syntax == nil {
		return s
	}
	r := reader{text: text, session: opts.session(), resolve: func(n ast.Name) ([]string, diag.List) {
		return bind.New(text, cat, bind.Options{Session: opts.session(), Params: opts.Params}).Name(n)
	}}
	out := r.statement(s.syntax)
	out.syntax = nil
	return &out
}

type reader struct {
	text   *diag.Text
	errors diag.List
	// resolve finds the parts of IDENTIFIER(expression); nil while the script
	// is read, as the session is: later then says that they are wanted.
	resolve func(ast.Name) ([]string, diag.List)
	session *Session
	later   bool
}

// typeOf reads a type.
func (r *reader) typeOf(t ast.TypeName) schema.Type {
	s := r.session
	if s == nil {
		s, r.later = &Session{}, r.later || ast.MentionsType(t, "timestamp")
	}
	out, list := bind.TypeIn(s, r.text, t)
	r.errors = append(r.errors, list...)
	return out
}

// statement reads one statement with its errors.
func (r *reader) statement(st ast.Statement) Statement {
	r.errors, r.later = nil, false
	s := r.read(st)
	s.At = st.Range()
	switch {
	case r.later && len(r.errors) == 0:
		s.syntax = st
	case len(r.errors) > 0:
		s.Kind, s.Errors = BrokenStatement, r.errors
	}
	return s
}

// parts are the parts of a name.
func (r *reader) parts(n ast.Name) []string {
	if n.Dynamic == nil {
		return n.Strings()
	}
	if r.resolve == nil {
		r.later = true
		return []string{"?"}
	}
	parts, list := r.resolve(n)
	r.errors = append(r.errors, list...)
	if len(parts) == 0 {
		return []string{"?"}
	}
	return parts
}

func (r *reader) fail(at diag.Range, code diag.Code, msg string) {
	r.errors = append(r.errors, diag.At(r.text, at, code, msg))
}

func (r *reader) name(s *Statement, n ast.Name) { s.Name, s.NameAt = r.parts(n), n.Span }

//tidy:allow-long one case per statement
func (r *reader) read(st ast.Statement) Statement {
	var s Statement
	switch st := st.(type) {
	case *ast.QueryStmt:
		s.Kind, s.Query = QueryStatement, st.Query
	case *ast.CreateView:
		r.view(&s, st)
	case *ast.CreateTable:
		r.table(&s, st)
	case *ast.CreateFunction:
		r.function(&s, st)
	case *ast.CreateSchema:
		s.Kind, s.IfNotExists = CreateSchemaStatement, st.IfNotExists
		r.name(&s, st.Name)
	case *ast.Insert:
		r.insert(&s, st)
	case *ast.Truncate:
		s.Kind = TruncateStatement
		r.name(&s, st.Table)
	case *ast.Drop:
		s.Kind, s.What, s.IfExists, s.Cascade, s.Temporary = DropStatement, st.Kind, st.IfExists, st.Cascade, st.Temporary
		r.name(&s, st.Name)
	case *ast.Set:
		s.Kind, s.Key, s.Value, s.HasValue = SetStatement, st.Key, st.Value, st.HasValue
	case *ast.SetTimeZone:
		r.zone(&s, st)
	case *ast.SetVar:
		s.Kind, s.Query = SetVariableStatement, st.Query
		for _, a := range st.Sets {
			if _, def := a.Value.(*ast.Default); def {
				a.Value = nil
			}
			s.Sets = append(s.Sets, VariableSet{Name: r.parts(a.Name), Value: a.Value})
		}
	case *ast.Declare:
		r.declare(&s, st)
	case *ast.Reset:
		s.Kind, s.Key = ResetStatement, st.Key
	case *ast.Use:
		s.Kind, s.What = UseStatement, st.Kind
		r.name(&s, st.Name)
	case *ast.Show:
		s.Kind, s.What, s.Value, s.HasValue, s.Key = ShowStatement, st.What, st.Like, st.HasLike, st.Key
		if st.Name != nil {
			r.name(&s, *st.Name)
		}
		if st.In != nil {
			s.InSchema = r.parts(*st.In)
		}
	case *ast.Describe:
		s.Kind, s.What, s.Extended, s.Query = DescribeStatement, st.What, st.Extended, st.Query
		if st.Name != nil {
			r.name(&s, *st.Name)
		}
		if len(st.Partition) > 0 {
			r.fail(st.Span, "FEATURE_NOT_AVAILABLE", "DESCRIBE of a partition is not available")
		}
		if st.AsJSON {
			r.fail(st.Span, "FEATURE_NOT_AVAILABLE", "DESCRIBE AS JSON is not available yet")
		}
		if st.Column != nil {
			s.ColumnNames = r.parts(*st.Column)
		}
	case *ast.Explain:
		inner := r.read(st.Statement)
		inner.At = st.Statement.Range()
		s.Kind, s.What, s.Inner = ExplainStatement, st.Mode, &inner
	case *ast.Cache:
		s.Kind, s.Query = NoEffectStatement, st.Query
		if st.Table != nil {
			r.name(&s, *st.Table)
		}
	case *ast.Broken:
	case *ast.CreateDataset, *ast.CreateFlow, *ast.AutoCDC:
		r.fail(st.Range(), "FEATURE_NOT_AVAILABLE", "this statement defines a part of a pipeline: put it into a SQL file of the project and use `pipelines run`")
	case *ast.Unsupported:
		why := " is not available in the SQL shell"
		if writes[strings.Fields(st.Kind)[0]] {
			why = " is not available: a pipeline's tables are never written from the SQL shell"
		}
		r.fail(st.Span, "FEATURE_NOT_AVAILABLE", st.Kind+why)
	default:
		r.fail(st.Range(), "FEATURE_NOT_AVAILABLE", statementName(st)+" is not available in the SQL shell")
	}
	return s
}

// writes are the statements of SQL that change tables and are not available.
var writes = map[string]bool{
	"ALTER": true, "MERGE": true, "DELETE": true, "UPDATE": true, "CREATE": true, "DROP": true, "REPLACE": true, "RESTORE": true, "COPY": true,
	"OPTIMIZE": true, "VACUUM": true, "LOAD": true, "MSCK": true, "REPAIR": true, "UNDROP": true,
}

func (r *reader) view(s *Statement, st *ast.CreateView) {
	s.Kind, s.Replace, s.IfNotExists, s.Query = CreateViewStatement, st.Replace, st.IfNotExists, st.Query
	s.Temporary, s.Global, s.Binding = st.Temporary || st.Global, st.Global, st.Schema
	r.name(s, st.Name)
	if st.Name.Dynamic != nil && s.Temporary && len(s.Name) > 1 {
		r.fail(st.Name.Span, "INVALID_TEMP_OBJ_QUALIFIER", "Temporary VIEW name "+strings.Join(s.Name, ".")+" has more than one part.")
	} else if st.Temporary && len(s.Name) > 1 {
		r.fail(st.Name.Span, map[bool]diag.Code{true: "TEMP_VIEW_NAME_TOO_MANY_NAME_PARTS", false: "INVALID_TEMP_OBJ_QUALIFIER"}[st.Using != nil], "A temporary view has a name of one part.")
	}
	r.columns(s, st.Columns)
	if s.Columns != nil && st.Using == nil {
		s.ColumnNames, s.Columns = s.Columns.Names(), nil
	}
	if st.Using != nil {
		s.Format = st.Using.String()
	}
	s.options(st.Options)
	s.properties(st.Comment, st.Properties)
}

// options keeps what a format is told.
func (s *Statement) options(os []ast.Property) {
	s.Options = map[string]string{}
	for _, o := range os {
		s.Options[o.Key] = o.Text()
		if strings.EqualFold(o.Key, "path") && o.Value != nil {
			s.PathAt = o.Value.Range()
		}
	}
}

// properties keeps what SHOW TBLPROPERTIES and DESCRIBE EXTENDED print.
func (s *Statement) properties(comment *ast.StringLit, ps []ast.Property) {
	if comment != nil {
		s.Comment = comment.Value
	}
	for _, p := range ps {
		if s.Properties == nil {
			s.Properties = map[string]string{}
		}
		s.Properties[p.Key] = p.Text()
	}
}

func (r *reader) table(s *Statement, st *ast.CreateTable) {
	s.Kind, s.Replace, s.IfNotExists, s.Query = CreateTableStatement, st.Replace || st.ReplaceOnly, st.IfNotExists, st.Query
	r.name(s, st.Name)
	r.columns(s, st.Columns)
	if st.Like != nil {
		s.Like = r.parts(*st.Like)
	}
	if st.Using != nil {
		s.Format = st.Using.String()
	}
	s.options(st.Options)
	if st.Location != nil {
		s.Options["path"], s.PathAt = st.Location.Value, st.Location.Span
	}
	s.properties(st.Comment, st.Properties)
	for _, c := range st.Constraints {
		if c.Kind == ast.Check || c.Kind == ast.Expectation {
			r.fail(c.Span, "FEATURE_NOT_AVAILABLE", "CHECK and EXPECT are not available for session tables, and leaving them out would let wrong rows in")
		}
	}
	for _, p := range st.Partitioned {
		c, ok := p.(*ast.Column)
		if !ok || len(c.Name.Parts) != 1 {
			r.fail(p.Range(), "FEATURE_NOT_AVAILABLE", "a session table is partitioned by columns only")
			continue
		}
		s.Partitioned = append(s.Partitioned, c.Name.Parts[0].Name)
	}
	for _, c := range st.Other {
		if c.Kind == "MASK" || c.Kind == "ROW FILTER" {
			r.fail(c.Span, "UNSUPPORTED_FEATURE.ROW_COLUMN_SECURITY", c.Kind+" is not supported, and leaving it out would expose data")
		}
	}
}

func (r *reader) columns(s *Statement, cols []ast.ColumnDef) {
	var out schema.Schema
	for _, c := range cols {
		if c.Untyped {
			s.ColumnNames, s.Comments = append(s.ColumnNames, c.Name.Name), append(s.Comments, c.Comment)
			continue
		}
		if c.Mask != nil {
			r.fail(c.Mask.Span, "UNSUPPORTED_FEATURE.ROW_COLUMN_SECURITY", "MASK is not supported, and leaving it out would expose data")
		}
		if c.Generated != nil || c.Identity != nil {
			r.fail(c.Span, "FEATURE_NOT_AVAILABLE", "generated columns are not available")
		}
		t := r.typeOf(c.Type)
		out.Fields = append(out.Fields, schema.Field{Name: c.Name.Name, Type: t, Nullable: !c.NotNull, Comment: c.Comment})
		if c.Default != nil {
			if s.Defaults == nil {
				s.Defaults = map[string]Expr{}
			}
			s.Defaults[c.Name.Name] = c.Default
		}
	}
	if len(out.Fields) > 0 {
		s.Columns = &out
	}
}

func (r *reader) insert(s *Statement, st *ast.Insert) {
	s.Kind, s.Overwrite, s.ByName, s.Query = InsertStatement, st.Overwrite, st.ByName, st.Query
	r.name(s, st.Table)
	for _, c := range st.Columns {
		s.ColumnNames = append(s.ColumnNames, c.Name)
	}
	if st.With != nil {
		q := *st.Query
		q.With = st.With
		s.Query = &q
	}
	if len(st.Partition) > 0 || st.ReplaceWhere != nil {
		r.fail(st.Span, "FEATURE_NOT_AVAILABLE", "INSERT with PARTITION or REPLACE WHERE is not available in the SQL shell")
	}
}

func (r *reader) zone(s *Statement, st *ast.SetTimeZone) {
	s.Kind, s.Value = SetTimeZoneStatement, st.Zone
	if st.Local {
		s.Value = "UTC"
	}
	if st.Interval != nil {
		if s.Value = offsetZone(st.Interval.Micros); s.Value == "" || st.Interval.Months != 0 || st.Interval.Days != 0 {
			r.fail(st.Span, "INVALID_INTERVAL_FORMAT.TIMEZONE_INTERVAL_OUT_OF_RANGE", "The interval value must be in the range of [-18, +18] hours with second precision.")
		}
	}
}

func (r *reader) declare(s *Statement, st *ast.Declare) {
	s.Kind, s.Replace = DeclareStatement, st.Replace
	for _, n := range st.Names {
		s.Sets = append(s.Sets, VariableSet{Name: r.parts(n), Value: st.Default})
	}
	if st.Type != nil {
		t := r.typeOf(*st.Type)
		s.Type = &t
	}
}
