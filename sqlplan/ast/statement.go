package ast

// Statement is one statement of a script. The kinds are: QueryStmt, Insert,
// CreateView, CreateTable, CreateDataset, CreateFlow, CreateFunction, CreateSchema,
// Drop, Set, SetTimeZone, SetVar, Reset, Use, Show, Describe, Explain,
// Declare, Truncate, Cache, AutoCDC, Unsupported, Broken.
type Statement interface {
	Node
	statement()
}

// QueryStmt is a query as a statement.
type QueryStmt struct {
	Pos
	Query *Query
}

// Insert is INSERT INTO or OVERWRITE a table.
type Insert struct {
	Pos
	With         *With // WITH before INSERT
	Table        Name
	Overwrite    bool
	Once         bool       // INTO ONCE, in flows only
	Partition    []Property // PARTITION (a = 1, b); b has no Value
	IfNotExists  bool
	ByName       bool
	Columns      []Ident
	ReplaceWhere Expr
	Query        *Query
}

// CreateView is CREATE [OR REPLACE] [GLOBAL] [TEMPORARY] VIEW ... AS query, or
// ... TEMPORARY VIEW v [(cols)] USING format OPTIONS (...). The older
// CREATE LIVE VIEW has Legacy set.
type CreateView struct {
	Pos
	Replace     bool
	Refresh     bool // OR REFRESH
	Temporary   bool
	Global      bool
	Private     bool
	IfNotExists bool
	Legacy      Legacy
	Name        Name
	Columns     []ColumnDef // usually Untyped
	Constraints []Constraint
	Comment     *StringLit
	Schema      string // WITH SCHEMA BINDING, COMPENSATION, TYPE EVOLUTION, EVOLUTION
	Properties  []Property
	Using       *Name
	Options     []Property
	Query       *Query // nil with Using
}

// CreateTable is CREATE TABLE of the shell: session tables.
type CreateTable struct {
	Pos
	Replace     bool // CREATE OR REPLACE
	ReplaceOnly bool // REPLACE TABLE
	External    bool
	Temporary   bool
	IfNotExists bool
	Name        Name
	Like        *Name // CREATE TABLE a LIKE b
	TableSpec
	Query *Query // nil if none
}

// TableSpec is what may follow a table's name: columns and clauses.
type TableSpec struct {
	Columns     []ColumnDef
	Constraints []Constraint
	Using       *Name
	Partitioned []Expr // names, or transforms as Calls
	ClusterBy   []Name
	ClusterAuto bool // CLUSTER BY AUTO
	Comment     *StringLit
	Properties  []Property
	Options     []Property
	Location    *StringLit
	// Other holds clauses that have no meaning here (ROW FORMAT, STORED AS,
	// CLUSTERED BY, SCHEDULE, ROW FILTER, ...): a finding each.
	Other []Clause
}

// Clause is a clause that is known but not supported; Kind is its first words
// in upper case, such as "ROW FILTER" or "STORED AS".
type Clause struct {
	Pos
	Kind string
	Text string
}

// ConstraintKind is the kind of a Constraint.
type ConstraintKind uint8

// The kinds of constraints.
const (
	Expectation ConstraintKind = iota // EXPECT (cond)
	Check                             // CHECK (cond)
	PrimaryKey
	Unique
	ForeignKey
)

// ViolationAction is what an expectation does with a row that violates it.
type ViolationAction uint8

// The actions.
const (
	Keep ViolationAction = iota // no ON VIOLATION clause: count only
	DropRow
	FailUpdate
)

// Constraint is a table constraint; expectations are the ones that pipelines
// use.
type Constraint struct {
	Pos
	Name    *Ident
	Kind    ConstraintKind
	Cond    Expr
	Action  ViolationAction
	Columns []Ident
	Text    string // of other kinds: what was written
}

// CreateFunction is CREATE [OR REPLACE] [TEMPORARY] FUNCTION with an SQL body.
// A function of a class (AS 'class') has Class set.
type CreateFunction struct {
	Pos
	Replace     bool
	Temporary   bool
	IfNotExists bool
	Name        Name
	Params      []ColumnDef
	Returns     *TypeName
	Table       bool        // RETURNS TABLE
	Columns     []ColumnDef // of RETURNS TABLE (...)
	Comment     *StringLit
	Traits      []string // LANGUAGE SQL, DETERMINISTIC, CONTAINS SQL, ... in upper case
	Body        Expr     // RETURN expr
	Query       *Query   // RETURN query
	Class       string
}

// CreateSchema is CREATE SCHEMA|DATABASE|NAMESPACE [IF NOT EXISTS] name with its
// clauses.
type CreateSchema struct {
	Pos
	IfNotExists bool
	Name        Name
	Comment     *StringLit
	Location    *StringLit
	Properties  []Property
}

// Drop is DROP TABLE|VIEW|FUNCTION|VARIABLE|... ; Kind is in upper case.
type Drop struct {
	Pos
	Kind      string // TABLE, VIEW, FUNCTION, VARIABLE, SCHEMA, MATERIALIZED VIEW, ...
	Temporary bool
	IfExists  bool
	Name      Name
	Cascade   bool
	Purge     bool
}

// Set is SET key = value, SET key, SET, or SET -v. Value is the text as written,
// without surrounding blanks (quotes of a quoted value are kept, as Spark
// keeps them; back quotes are dropped).
type Set struct {
	Pos
	Key      string // "" shows all
	Value    string
	HasValue bool
	Verbose  bool // SET -v
	KeySpan  Pos
}

// SetTimeZone is SET TIME ZONE 'x' | LOCAL | INTERVAL ...
type SetTimeZone struct {
	Pos
	Zone     string
	Local    bool
	Interval *IntervalLit
}

// SetVar is SET VAR a = x, b = y or SET VAR (a, b) = (query).
type SetVar struct {
	Pos
	Sets  []Assign // Value is nil in the query form
	Query *Query
}

// Reset is RESET or RESET key.
type Reset struct {
	Pos
	Key string
}

// Use is USE [kind] name. Kind is "", NAMESPACE, SCHEMA, DATABASE or CATALOG;
// SET CATALOG comes as CATALOG too.
type Use struct {
	Pos
	Kind string
	Name Name
}

// Show is SHOW what. What is in upper case: TABLES, VIEWS, COLUMNS, FUNCTIONS,
// SCHEMAS, CATALOGS, TBLPROPERTIES, CREATE TABLE, PARTITIONS, ...
type Show struct {
	Pos
	What    string
	Name    *Name // the table, or what FROM or IN names
	In      *Name // SHOW COLUMNS IN t IN db
	Like    string
	HasLike bool
	Key     string // SHOW TBLPROPERTIES t ('key')
}

// Describe is DESCRIBE of a table, query, function or namespace.
type Describe struct {
	Pos
	What      string // TABLE, QUERY, FUNCTION, NAMESPACE
	Extended  bool
	Name      *Name
	Column    *Name
	Query     *Query
	AsJSON    bool
	Partition []Property
}

// Explain is EXPLAIN [mode] statement; Mode is in upper case or "".
type Explain struct {
	Pos
	Mode      string
	Statement Statement
}

// Declare is DECLARE [OR REPLACE] [VARIABLE] names [type] [DEFAULT expr].
type Declare struct {
	Pos
	Replace bool
	Names   []Name
	Type    *TypeName
	Default Expr
}

// Truncate is TRUNCATE TABLE t.
type Truncate struct {
	Pos
	Table     Name
	Partition []Property
}

// Cache is CACHE [LAZY] TABLE t [AS query], UNCACHE TABLE t, CLEAR CACHE,
// REFRESH TABLE t: no effect on results.
type Cache struct {
	Pos
	What    string // CACHE, UNCACHE, CLEAR, REFRESH
	Lazy    bool
	Table   *Name
	Options []Property
	Query   *Query
}

// Unsupported is a statement that SQL knows and the product does not have. Kind
// is its first words in upper case: ALTER TABLE, MERGE, DELETE, GRANT, ...
type Unsupported struct {
	Pos
	Kind string
	Text string // the whole statement
}

// Broken is a statement with errors. Name is what it would have made, if that was
// read, so that others who use the name are not blamed.
type Broken struct {
	Pos
	Name *Name
}

func (*Broken) statement()         {}
func (*QueryStmt) statement()      {}
func (*Insert) statement()         {}
func (*CreateView) statement()     {}
func (*CreateTable) statement()    {}
func (*CreateDataset) statement()  {}
func (*CreateFlow) statement()     {}
func (*CreateFunction) statement() {}
func (*CreateSchema) statement()   {}
func (*Drop) statement()           {}
func (*Set) statement()            {}
func (*SetTimeZone) statement()    {}
func (*SetVar) statement()         {}
func (*Reset) statement()          {}
func (*Use) statement()            {}
func (*Show) statement()           {}
func (*Describe) statement()       {}
func (*Explain) statement()        {}
func (*Declare) statement()        {}
func (*Truncate) statement()       {}
func (*Cache) statement()          {}
func (*AutoCDC) statement()        {}
func (*Unsupported) statement()    {}
