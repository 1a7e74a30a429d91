package shell

import (
	"context"
	"fmt"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"pipelines/pipelines"
	"pipelines/runtime/budget"
	"pipelines/runtime/connector"
	"pipelines/runtime/flow"
	"pipelines/spec/diag"
	"pipelines/sqlplan"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// Options configure a session.
type Options struct {
	// Reader finds the project's tables, files and Delta tables.
	Reader *pipelines.Reader
	// Lanes is the number of lanes of a query; 0: the number of cores.
	Lanes int
	// TempDir takes what does not fit into memory; "" is the system's.
	TempDir string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// User is what current_user() says.
	User string
}

// Session is one SQL session: its settings, views, tables, functions and
// variables.
type Session struct {
	o        Options
	conf     map[string]string // as set in the session, over the reader's
	catalog  string
	database string
	settings *sqlplan.Session
	pool     *column.Pool
	budget   *budget.Budget

	views     map[string]*view // temporary ones by lower-case name
	stored    map[string]*view // those of databases by lower-case full name
	tables    map[string]*memoryTable
	schemas   map[string]string // made here: names by catalog.database in lower case
	functions map[string]*function
	variables map[string]*variable
	touched   map[string]bool             // views and functions that the statement's names led to
	temporary []temporaryUse              // what is temporary among what they led to
	data      bool                        // they led to a table or view
	hidden    map[string]*logical.Literal // defaults during an INSERT
}

// New starts a session.
func New(o Options) (*Session, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Lanes <= 0 {
		o.Lanes = runtime.GOMAXPROCS(0)
	}
	if o.TempDir == "" {
		o.TempDir = os.TempDir()
	}
	s := &Session{
		o: o, conf: maps.Clone(o.Reader.Conf()), pool: column.NewPool(), views: map[string]*view{}, stored: map[string]*view{},
		tables: map[string]*memoryTable{}, schemas: map[string]string{}, functions: map[string]*function{}, variables: map[string]*variable{},
	}
	s.budget = o.Reader.Budget(o.Lanes)
	if s.conf == nil {
		s.conf = map[string]string{}
	}
	s.catalog, s.database = o.Reader.Namespace()
	return s, s.configure()
}

// configure makes the settings that queries see from the configuration.
func (s *Session) configure() error {
	set, err := sqlplan.NewSession(sqlplan.Settings{Conf: s.conf, Catalog: s.catalog, Database: s.database, User: s.o.User})
	if err != nil {
		return err
	}
	s.settings = set
	return nil
}

// Parse reads a script under the session's settings.
func (s *Session) Parse(text *diag.Text) []sqlplan.Statement {
	return sqlplan.ParseStatements(text, s.conf, s.o.Reader.Conf())
}

// Settings are the session's settings as they are now.
func (s *Session) Settings() *sqlplan.Session { return s.settings }

// Sink takes the result of one statement: its columns, then its rows. Batches
// are lent.
type Sink interface {
	Columns(schema.Schema)
	Rows(*column.Batch)
}

// Run runs one statement of a text. A statement without a result calls the
// sink with no columns or not at all.
// A panic of ours becomes a Failure that holds the stack.
func (s *Session) Run(ctx context.Context, st *sqlplan.Statement, text *diag.Text, out Sink) (f *Failure) {
	defer func() {
		if x := recover(); x != nil {
			f = internal(x, debug.Stack())
		}
	}()
	s.touched, s.temporary, s.data = map[string]bool{}, nil, false
	r := &run{Session: s, text: text, out: out}
	r.st = st.Resolved(text, s.names(), r.options())
	return r.statement(ctx)
}

// run is one statement being run.
type run struct {
	*Session
	st   *sqlplan.Statement
	text *diag.Text
	out  Sink
}

//tidy:allow-long one case per statement
func (r *run) statement(ctx context.Context) *Failure {
	st := r.st
	switch st.Kind {
	case sqlplan.BrokenStatement:
		return findings(st.Errors)
	case sqlplan.QueryStatement:
		return r.query(ctx, st.Query, r.out)
	case sqlplan.CreateViewStatement:
		return r.createView(ctx)
	case sqlplan.CreateTableStatement:
		return r.createTable(ctx)
	case sqlplan.CreateFunctionStatement:
		return r.createFunction()
	case sqlplan.CreateSchemaStatement:
		return r.createSchema(ctx)
	case sqlplan.InsertStatement:
		return r.insert(ctx)
	case sqlplan.TruncateStatement:
		return r.truncate()
	case sqlplan.DropStatement:
		return r.drop(ctx)
	case sqlplan.SetStatement:
		return r.set()
	case sqlplan.SetTimeZoneStatement:
		if f := r.setConf(zoneKey, st.Value); f != nil {
			return f
		}
		r.rows([]string{"key", "value"}, [][]string{{zoneKey, st.Value}})
		return nil
	case sqlplan.SetVariableStatement:
		return r.setVariables(ctx)
	case sqlplan.DeclareStatement:
		return r.declare(ctx)
	case sqlplan.ResetStatement:
		return r.reset()
	case sqlplan.UseStatement:
		return r.use(ctx)
	case sqlplan.ShowStatement:
		return r.show(ctx)
	case sqlplan.DescribeStatement:
		return r.describe(ctx)
	case sqlplan.ExplainStatement:
		return r.explain(ctx)
	case sqlplan.NoEffectStatement:
		return r.noEffect(ctx)
	}
	panic(fmt.Sprintf("bug: shell: statement kind %d", st.Kind))
}

func (r *run) options() sqlplan.Options {
	return sqlplan.Options{Session: r.settings, Wanted: sqlplan.Batch, Name: "query", Params: r.o.Reader.Params()}
}

// streamCode is what the compiler says of a stream in a batch query.
const streamCode = "INVALID_FLOW_QUERY_TYPE.STREAMING_RELATION_FOR_MATERIALIZED_VIEW"

func (r *run) compile(q *sqlplan.Query) (*sqlplan.Plan, *Failure) {
	_ = r.o.Reader.Broken() // of an earlier statement
	plan, list := sqlplan.CompileQuery(q, r.text, r.names(), r.options())
	if err := r.o.Reader.Broken(); err != nil && list.HasErrors() {
		return nil, failure(err, r.text)
	}
	for i := range list {
		if list[i].Code == streamCode {
			list[i].Message = "A query of the SQL shell reads what is there now: it cannot read a stream."
			list[i].Hint = "leave STREAM out"
		}
	}
	if list.HasErrors() {
		return nil, findings(list)
	}
	if plan == nil {
		return nil, failf("VIEW_NOT_VALID", "the query reads a view of the project whose own query has errors: use `pipelines validate`")
	}
	return plan, nil
}

func (r *run) query(ctx context.Context, q *sqlplan.Query, out Sink) *Failure {
	plan, f := r.compile(q)
	if f != nil {
		return f
	}
	out.Columns(plan.Schema)
	return r.execute(ctx, plan, out)
}

// reads opens what a plan reads.
func (r *run) reads(plan *sqlplan.Plan) (map[string]connector.Bounded, error) {
	out := map[string]connector.Bounded{}
	for _, rel := range relations(plan.Node) {
		b, err := r.open(rel)
		if err != nil {
			return nil, err
		}
		out[rel.ID] = b
	}
	return out, nil
}

// execute runs a plan.
func (r *run) execute(ctx context.Context, plan *sqlplan.Plan, out Sink) *Failure {
	tables, err := r.reads(plan)
	if err != nil {
		return failure(err, r.text)
	}
	var mu sync.Mutex // guards out
	_, err = flow.RunBounded(ctx, flow.BoundedOptions{
		Plan: plan.Node, Refine: plan.Refine, Session: r.settings, Tables: tables, Lanes: r.o.Lanes, Pool: r.pool,
		Budget: r.budget, TempDir: r.o.TempDir, Now: r.o.Now(), Seed: r.o.Now().UnixNano(),
		Output: func(_ int, b *column.Batch) error {
			mu.Lock()
			defer mu.Unlock()
			out.Rows(b)
			return nil
		},
	})
	if err != nil {
		return failure(err, r.text)
	}
	return nil
}

// relations lists what a plan scans, also inside subqueries.
func relations(n logical.Node) []*logical.Relation {
	var out []*logical.Relation
	var visit func(n logical.Node) bool
	visit = func(n logical.Node) bool {
		if s, ok := n.(*logical.Scan); ok {
			out = append(out, s.Relation)
		}
		logical.EachExpr(n, func(e logical.Expr) {
			logical.WalkExpr(e, func(x logical.Expr) bool {
				if q, ok := x.(*logical.Subquery); ok {
					logical.WalkNode(q.Plan, visit)
				}
				return true
			})
		})
		return true
	}
	logical.WalkNode(n, visit)
	return out
}

func (s *Session) open(rel *logical.Relation) (connector.Bounded, error) {
	if m, ok := rel.Handle.(*memoryTable); ok {
		return m, nil
	}
	return s.o.Reader.Open(rel)
}

// collect runs a query and keeps its rows.
func (r *run) collect(ctx context.Context, q *sqlplan.Query) (*memoryTable, *Failure) {
	m := &memoryTable{}
	if f := r.query(ctx, q, m); f != nil {
		return nil, f
	}
	return m, nil
}

// lower is the key of a name; no part has a zero byte.
func lower(parts ...string) string { return strings.ToLower(strings.Join(parts, keySep)) }

const keySep = "\x00"
