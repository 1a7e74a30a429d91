package sqlplan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/bind"
	"pipelines/sqlplan/parse"
	"pipelines/tables/schema"
)

// Query is a parsed query, to be held and handed back to CompileQuery.
type Query = ast.Query

// Expr is a parsed expression, to be held and handed back to CompileExpr.
type Expr = ast.Expr

// DefinitionKind is what a statement of a pipeline file defines.
type DefinitionKind uint8

// The kinds.
const (
	DefineStreamingTable DefinitionKind = iota
	DefineMaterializedView
	DefineTemporaryView
	DefineView
	DefineFlow
)

// Word is a name with its place in the text.
type Word struct {
	Value string
	At    diag.Range
}

// Setting is one table property.
type Setting struct {
	Key, Value string
	At         diag.Range
}

// ExpectAction is what an expectation does with a row that violates it.
type ExpectAction uint8

// The actions.
const (
	ExpectWarn ExpectAction = iota
	ExpectDrop
	ExpectFail
)

// Constraint is CONSTRAINT name EXPECT (cond) [ON VIOLATION …].
type Constraint struct {
	Name   string
	Cond   Expr
	Action ExpectAction
	At     diag.Range
}

// CDC is AUTO CDC INTO; texts are ranges of the definition's text.
type CDC struct {
	Source                   []string
	SourceAt                 diag.Range
	Query                    *Query // reads the source
	Keys                     []Word
	SequenceBy               Expr
	DeleteWhen, TruncateWhen Expr
	Columns, Except          []Word
	IgnoreNulls              bool
	// IgnoreNullColumns, or all but IgnoreNullExcept, are the columns of IGNORE
	// NULL UPDATES.
	IgnoreNullColumns, IgnoreNullExcept []Word
	SCDType                             int
	HasTrackHistory                     bool
	TrackHistory, TrackHistoryExcept    []Word
}

// Definition is one element of the graph as a statement defines it.
type Definition struct {
	Kind          DefinitionKind
	Name          []string
	Text          *diag.Text // the whole file
	At            diag.Range // of the name
	Target        []string   // of a flow
	TargetAt      diag.Range
	Columns       *schema.Schema // declared columns with types; nil if none
	ColumnsAt     diag.Range
	Comment       string
	Properties    []Setting
	MovedFrom     []string // former name, of the property MovedFromProperty
	MovedFromAt   diag.Range
	PartitionedBy []Word
	Expectations  []Constraint
	Query         *Query // nil if the statement has none
	CDC           *CDC
	Once          bool
	// Conf holds the settings that SET statements above made, Catalog and
	// Database what USE said ("" if nothing).
	Conf              map[string]string
	Catalog, Database string
}

// Script is a SQL file of a pipeline.
type Script struct {
	Definitions []Definition
	// Settings are those that SET statements make, in their order.
	Settings []Setting
}

// ParseScript reads a SQL file of a pipeline. Statements that define nothing
// are findings; all findings of the file are reported. base are the project's
// settings.
func ParseScript(t *diag.Text, base map[string]string) (*Script, diag.List) {
	d := parse.DialectOf(base)
	statements, list := d.Statements(t, d)
	s := &scripter{text: t, base: base, conf: map[string]string{}, list: list}
	for _, st := range statements {
		s.statement(st)
	}
	s.list.Sort()
	return &Script{Definitions: s.out, Settings: s.settings}, s.list
}

type scripter struct {
	text              *diag.Text
	base, conf        map[string]string // conf: of the file
	catalog, database string
	out               []Definition
	settings          []Setting
	list              diag.List
}

func (s *scripter) fail(r diag.Range, code diag.Code, format string, args ...any) {
	s.list = append(s.list, diag.At(s.text, r, code, fmt.Sprintf(format, args...)))
}

func (s *scripter) hint(r diag.Range, message, hint string) {
	s.list = append(s.list, diag.At(s.text, r, "DEPRECATED_SYNTAX", message).WithHint(hint).Warn())
}

func (s *scripter) statement(st ast.Statement) {
	if !s.named(st) {
		return
	}
	switch st := st.(type) {
	case *ast.CreateDataset:
		s.dataset(st)
	case *ast.CreateView:
		s.view(st)
	case *ast.CreateFlow:
		s.flow(st)
	case *ast.AutoCDC:
		s.legacy(st.Legacy, st.Span)
		d := s.definition(DefineFlow, st.Target)
		d.Target, d.TargetAt, d.CDC, d.Once = st.Target.Strings(), st.Target.Span, s.cdc(st), st.Once
		s.out = append(s.out, d)
	case *ast.Set:
		s.set(st)
	case *ast.SetTimeZone:
		if st.Local || st.Interval != nil {
			s.fail(st.Span, "FEATURE_NOT_AVAILABLE", "SET TIME ZONE takes a zone name here")
			break
		}
		s.setting(st.Span, "spark.sql.session.timeZone", st.Zone)
	case *ast.Use:
		s.use(st)
	case *ast.Broken:
		// The parser has reported it.
	case *ast.Unsupported:
		if st.Kind == "BEGIN" {
			s.fail(st.Span, "PARSE_SYNTAX_ERROR", "a file of a pipeline has no BEGIN … END: its statements end at each semicolon")
			break
		}
		s.refuse(st.Span, st.Kind)
	default:
		s.refuse(st.Range(), statementName(st))
	}
}

func statementName(st ast.Statement) string {
	switch st.(type) {
	case *ast.QueryStmt:
		return "SELECT"
	case *ast.Insert:
		return "INSERT"
	case *ast.CreateTable:
		return "CREATE TABLE"
	case *ast.CreateFunction:
		return "CREATE FUNCTION"
	case *ast.CreateSchema:
		return "CREATE SCHEMA"
	case *ast.Drop:
		return "DROP"
	case *ast.Reset:
		return "RESET"
	}
	name := fmt.Sprintf("%T", st)
	return strings.ToUpper(name[strings.LastIndexByte(name, '.')+1:])
}

func (s *scripter) refuse(r diag.Range, what string) {
	d := diag.At(s.text, r, "PIPELINE_SQL_GRAPH_ELEMENT_REGISTRATION_ERROR", what+" defines no part of a pipeline")
	s.list = append(s.list, d.WithHint("define a streaming table, a materialized view, a view or a flow; ad-hoc statements run with `pipelines sql`"))
}

func (s *scripter) definition(kind DefinitionKind, name ast.Name) Definition {
	d := Definition{Kind: kind, Name: name.Strings(), Text: s.text, At: name.Span, Catalog: s.catalog, Database: s.database, Conf: map[string]string{}}
	for k, v := range s.conf {
		d.Conf[k] = v
	}
	if len(d.Name) > 3 {
		s.fail(name.Span, "IDENTIFIER_TOO_MANY_NAME_PARTS", "a name has at most three parts: catalog, database, name")
	}
	return d
}

func (s *scripter) legacy(l ast.Legacy, r diag.Range) {
	switch l {
	case ast.LiveTable:
		s.hint(r, "CREATE LIVE TABLE is an older form", "write CREATE MATERIALIZED VIEW")
	case ast.StreamingLive:
		s.hint(r, "CREATE STREAMING LIVE TABLE is an older form", "write CREATE STREAMING TABLE")
	case ast.LiveView, ast.StreamingLiveView:
		s.hint(r, "CREATE LIVE VIEW is an older form", "write CREATE TEMPORARY VIEW")
	case ast.ApplyChanges:
		s.hint(r, "APPLY CHANGES INTO is an older form", "write AUTO CDC INTO")
	}
}

func (s *scripter) dataset(st *ast.CreateDataset) {
	s.legacy(st.Legacy, st.Name.Span)
	kind := DefineStreamingTable
	if st.Kind == ast.MaterializedView {
		kind = DefineMaterializedView
		if st.Query == nil {
			s.fail(st.Name.Span, notAllowed, "Operation not allowed: a materialized view needs a query (AS SELECT …)")
			return
		}
	}
	d := s.definition(kind, st.Name)
	d.Query = st.Query
	s.spec(&d, &st.TableSpec)
	if st.CDC != nil {
		d.CDC = s.cdc(st.CDC)
	}
	s.out = append(s.out, d)
}

func (s *scripter) spec(d *Definition, t *ast.TableSpec) {
	s.columns(d, t.Columns)
	s.constraints(d, t.Constraints)
	if t.Comment != nil {
		d.Comment = t.Comment.Value
	}
	s.properties(d, t.Properties)
	for _, p := range t.Partitioned {
		c, ok := p.(*ast.Column)
		if !ok || c.Name.Dynamic != nil {
			s.fail(p.Range(), "PIPELINE_SQL_GRAPH_ELEMENT_REGISTRATION_ERROR", "PARTITIONED BY takes column names, no expressions")
			continue
		}
		if len(c.Name.Strings()) > 1 {
			s.fail(c.Span, "PIPELINE_SQL_GRAPH_ELEMENT_REGISTRATION_ERROR", "PARTITIONED BY takes columns of the table, not fields inside them")
			continue
		}
		d.PartitionedBy = append(d.PartitionedBy, Word{strings.Join(c.Name.Strings(), "."), c.Span})
	}
	if len(t.ClusterBy) > 0 || t.ClusterAuto {
		at := d.At
		if len(t.ClusterBy) > 0 {
			at = t.ClusterBy[0].Span
		}
		if len(t.Partitioned) > 0 {
			s.fail(at, "SPECIFY_CLUSTER_BY_WITH_PARTITIONED_BY_IS_NOT_ALLOWED", "PARTITIONED BY and CLUSTER BY exclude each other")
		} else {
			s.fail(at, "FEATURE_NOT_AVAILABLE", "CLUSTER BY is not available yet")
		}
	}
	if t.Using != nil {
		switch name := strings.Join(t.Using.Strings(), "."); strings.ToLower(name) {
		case "delta":
		case "parquet", "json", "csv", "orc", "avro", "text", "xml", "iceberg", "hudi", "hive":
			s.hint(t.Using.Span, "tables are stored as Delta", "leave USING out")
		default:
			s.fail(t.Using.Span, "DATA_SOURCE_NOT_FOUND", "there is no table format %s", name)
		}
	}
	if t.Location != nil {
		s.fail(t.Location.Span, notAllowed, "Operation not allowed: LOCATION is not available: tables lie in the project's storage")
	}
	for _, o := range t.Options {
		s.fail(o.Span, notAllowed, "Operation not allowed: OPTIONS has no meaning for a table of the project")
	}
	for _, c := range t.Other {
		if c.Kind == "MASK" || c.Kind == "ROW FILTER" || strings.Contains(c.Kind, "ROW FILTER") {
			s.fail(c.Span, "UNSUPPORTED_FEATURE.ROW_COLUMN_SECURITY", "%s is not supported, and leaving it out would expose data", c.Kind)
			continue
		}
		s.fail(c.Span, notAllowed, "Operation not allowed: %s", c.Kind)
	}
}

// session holds the settings in force at this place of the file.
func (s *scripter) session() *Session {
	conf := map[string]string{}
	maps.Copy(conf, s.base)
	maps.Copy(conf, s.conf)
	return &Session{Conf: conf}
}

// notAllowed is Spark's class for clauses that a dataset of a pipeline cannot
// have.
const notAllowed = "_LEGACY_ERROR_TEMP_0035"

func (s *scripter) columns(d *Definition, cols []ast.ColumnDef) {
	var out schema.Schema
	for _, c := range cols {
		if c.Mask != nil {
			s.fail(c.Mask.Span, "UNSUPPORTED_FEATURE.ROW_COLUMN_SECURITY", "MASK is not supported, and leaving it out would expose data")
		}
		if c.Default != nil || c.Generated != nil || c.Identity != nil {
			s.fail(c.Span, "FEATURE_NOT_AVAILABLE", "default and generated columns are not available")
		}
		if c.Untyped {
			s.fail(c.Span, "PARSE_SYNTAX_ERROR", "column %s has no type", c.Name.Name)
			continue
		}
		t, list := bind.TypeIn(s.session(), s.text, c.Type)
		s.list = append(s.list, list...)
		out.Fields = append(out.Fields, schema.Field{Name: c.Name.Name, Type: t, Nullable: !c.NotNull, Comment: c.Comment})
	}
	if len(out.Fields) == 0 {
		return
	}
	d.Columns = &out
	d.ColumnsAt = cols[0].Span.Join(cols[len(cols)-1].Span)
}

func (s *scripter) constraints(d *Definition, cs []ast.Constraint) {
	for i, c := range cs {
		if c.Kind != ast.Expectation {
			s.fail(c.Span, notAllowed, "Operation not allowed: only expectations (CONSTRAINT name EXPECT (…)) are constraints here")
			continue
		}
		e := Constraint{Cond: c.Cond, At: c.Span, Name: fmt.Sprintf("expectation_%d", i+1)}
		if c.Name != nil {
			e.Name = c.Name.Name
		}
		e.Action = [...]ExpectAction{ast.Keep: ExpectWarn, ast.DropRow: ExpectDrop, ast.FailUpdate: ExpectFail}[c.Action]
		d.Expectations = append(d.Expectations, e)
	}
}

// MovedFromProperty is the table property that is moved_from of a document.
const MovedFromProperty = "pipelines.moved_from"

// reserved are the properties that a statement cannot set.
var reserved = []string{"owner", "provider", "location", "external", "is_managed_location"}

func (s *scripter) properties(d *Definition, ps []ast.Property) {
	for _, p := range ps {
		if strings.EqualFold(p.Key, MovedFromProperty) {
			parts, ok := parse.SplitName(p.Text())
			if !ok || len(parts) > 3 {
				s.fail(p.Span, "INVALID_MOVED_FROM", "%q is no name of a table", p.Text())
			}
			d.MovedFrom, d.MovedFromAt = parts, p.Span
			continue
		}
		if slices.Contains(reserved, strings.ToLower(p.Key)) {
			s.fail(p.Span, "UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY", "%s is a reserved table property", p.Key)
			continue
		}
		if strings.EqualFold(p.Key, "comment") && d.Comment != "" && d.Comment != p.Text() {
			s.fail(p.Span, "INVALID_TABLE_PROPERTY", "COMMENT says '%s' and the property comment '%s'", d.Comment, p.Text())
			continue
		}
		d.Properties = append(d.Properties, Setting{Key: p.Key, Value: p.Text(), At: p.Span})
	}
}

func (s *scripter) view(st *ast.CreateView) {
	s.legacy(st.Legacy, st.Name.Span)
	kind := DefineView
	if st.Temporary || st.Global || st.Legacy != ast.NotLegacy {
		kind = DefineTemporaryView
	}
	if st.Query == nil {
		s.refuse(st.Name.Span, "CREATE VIEW … USING")
		return
	}
	d := s.definition(kind, st.Name)
	if kind == DefineTemporaryView && len(d.Name) > 1 {
		s.fail(st.Name.Span, "INVALID_TEMP_OBJ_QUALIFIER", "a temporary view has a name of one part")
	}
	d.Query = st.Query
	if len(st.Columns) > 0 {
		s.list = append(s.list, diag.At(s.text, st.Columns[0].Span, "NOT_MEANINGFUL_HERE", "the column list of a view has no effect, as in Spark: columns keep the query's names").
			WithHint("name the columns in the query with AS").Warn())
	}
	s.constraints(&d, st.Constraints)
	if kind == DefineView && len(d.Expectations) > 0 { // who reads it from the catalog knows its query alone
		s.list = append(s.list, diag.At(s.text, d.Expectations[0].At, notAllowed, "Operation not allowed: expectations of a stored view").
			WithHint("write CREATE TEMPORARY VIEW, or put the expectation on the tables that read the view"))
	}
	s.properties(&d, st.Properties)
	if st.Comment != nil {
		d.Comment = st.Comment.Value
	}
	s.out = append(s.out, d)
}

func (s *scripter) flow(st *ast.CreateFlow) {
	if len(st.Name.Parts) > 1 {
		s.fail(st.Name.Span, "MULTIPART_FLOW_NAME_NOT_SUPPORTED", "a flow has a name of one part")
	}
	d := s.definition(DefineFlow, st.Name)
	if st.Comment != nil {
		d.Comment = st.Comment.Value
	}
	switch {
	case st.CDC != nil:
		s.legacy(st.CDC.Legacy, st.CDC.Span)
		d.Target, d.TargetAt, d.CDC, d.Once = st.CDC.Target.Strings(), st.CDC.Target.Span, s.cdc(st.CDC), st.CDC.Once
	case st.Insert != nil:
		in := st.Insert
		d.Target, d.TargetAt, d.Once, d.Query = in.Table.Strings(), in.Table.Span, in.Once, in.Query
		switch {
		case in.Overwrite:
			s.refuse(in.Span, "INSERT OVERWRITE in a flow")
		case !in.ByName:
			s.list = append(s.list, diag.At(s.text, in.Table.Span, "PIPELINE_SQL_GRAPH_ELEMENT_REGISTRATION_ERROR",
				"a flow inserts by name").WithHint("write INSERT INTO "+strings.Join(d.Target, ".")+" BY NAME SELECT …"))
		case len(in.Columns) > 0 || len(in.Partition) > 0:
			s.refuse(in.Span, "a column or partition list in a flow")
		}
	}
	s.out = append(s.out, d)
}

func (s *scripter) set(st *ast.Set) {
	if st.Key == "" || !st.HasValue {
		s.refuse(st.Span, "SET without a value")
		return
	}
	s.setting(st.Span, st.Key, strings.Trim(st.Value, "'\""))
}

// setting takes a setting for the definitions that follow; a bad value is a
// finding here.
func (s *scripter) setting(at diag.Range, key, value string) {
	if err := CheckSetting(key, value); err != nil {
		s.fail(at, diag.Code(err.Class), "%s", err.Message)
		return
	}
	s.conf[key] = value
	s.settings = append(s.settings, Setting{Key: key, Value: value, At: at})
}

func (s *scripter) use(st *ast.Use) {
	parts := st.Name.Strings()
	switch {
	case st.Kind == "CATALOG" && len(parts) == 1:
		s.catalog = parts[0]
	case len(parts) == 2:
		s.catalog, s.database = parts[0], parts[1]
	case len(parts) == 1:
		s.database = parts[0]
	default:
		s.fail(st.Span, "PARSE_SYNTAX_ERROR", "USE takes a database, or a catalog and a database")
	}
}
