package funcs

import (
	"strings"
	"time"

	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// Session is what functions may know of the settings while they are bound and
// evaluated. It is immutable.
type Session struct {
	ANSI          bool // spark.sql.ansi.enabled
	Location      *time.Location
	CaseSensitive bool
	// Conf holds all settings by their full Spark key.
	Conf map[string]string
	// Catalog and Database are what current_catalog() and current_database() say.
	Catalog, Database, User string
	// Zone is Location prepared for fast conversion; ForZone fills both.
	Zone *text.Zone
	// DDL reads a type or a list of columns as SQL writes them, for functions
	// that take the type of their result as text (from_json, variant_get).
	DDL func(text string) (schema.Type, *Error)
}

// ForZone returns a copy of s with the time zone set.
func (s Session) ForZone(loc *time.Location) *Session {
	s.Location, s.Zone = loc, text.NewZone(loc)
	return &s
}

// zone returns the prepared time zone; UTC when none is set.
func (s *Session) zone() *text.Zone {
	switch {
	case s.Zone != nil:
		return s.Zone
	case s.Location != nil:
		return text.NewZone(s.Location)
	}
	return text.NewZone(time.UTC)
}

// conf returns a setting, or def when it is unset.
func (s *Session) conf(key, def string) string {
	if v, ok := s.Conf[key]; ok {
		return v
	}
	return def
}

// timestampType is what TIMESTAMP means (spark.sql.timestampType).
func (s *Session) timestampType() schema.Type {
	if strings.EqualFold(s.Conf["spark.sql.timestampType"], "TIMESTAMP_NTZ") {
		return tTimeNTZ
	}
	return tTime
}

// Arg describes one argument of a call at bind time.
type Arg struct {
	Type     schema.Type
	Nullable bool
	// Const is the one-row value when the argument is foldable, nil else.
	Const *column.Vector
	// Literal says that the argument is a literal as written (not merely
	// foldable): an integer literal beside a decimal counts with its own digits.
	Literal bool
	// Name is the parameter name of a named argument (name => value), or "".
	Name string
	// Text is the argument's SQL as Spark prints it, for messages.
	Text string
	// Order is set for ORDER BY keys of an aggregate (WITHIN GROUP, listagg):
	// the binder gives them behind the written arguments, and they become
	// arguments of the bound aggregate like the others.
	Order *Order
	// Lambda is set for lambda arguments; Type is then the zero Type until
	// LambdaTypes has been asked.
	Lambda *LambdaArg
}

// Order is the direction of an ORDER BY key.
type Order struct{ Descending, NullsLast bool }

// LambdaArg describes a lambda argument. Bind binds its body with the given
// parameter types (len = Params) and returns the body's type and nullability.
type LambdaArg struct {
	Params int
	Bind   func(params []schema.Field) (schema.Field, error)
}

// Volatility says how often a function must be evaluated.
type Volatility uint8

// The volatilities.
const (
	Immutable Volatility = iota // same arguments, same value
	Stable                      // constant within one epoch (current_timestamp)
	Volatile                    // each row anew (rand, uuid)
)

// NullRule says how nulls of arguments reach the kernel.
type NullRule uint8

const (
	// NullIfAny: the result is null where an argument is. The evaluator sets
	// out.Nulls to the union before it calls the kernel; the kernel may
	// compute those rows or not, and may mark more with SetNull.
	NullIfAny NullRule = iota
	// NullAware: the kernel sees nulls and decides.
	NullAware
)

// Function is one scalar SQL function (operators are functions too, under
// names such as "+").
type Function struct {
	Name    string
	Aliases []string
	Group   string // group of sql-surface.md ("string", "datetime", ...)
	// Usage is the signature, Doc a line, Example "SELECT f(1)" and its result:
	// the docs generator and a test read them.
	Usage, Doc, Example, Result string
	// Bind resolves a call: it picks the overload and the types the arguments
	// must be cast to. A nil Bind with Overloads set uses the table.
	Bind       func(s *Session, args []Arg) (*Bound, error)
	Volatility Volatility
}

// Bound is a resolved scalar call. It is immutable and holds no scratch.
type Bound struct {
	Fn *Function
	// Args are the types the arguments must have; the binder casts to them.
	Args []schema.Type
	// Via are types to which they are cast before; nil: none.
	Via      []schema.Type
	Result   schema.Type
	Nullable bool
	Nulls    NullRule
	CanFail  bool
	Kernel   Kernel
	// TryCasts says that the casts of the arguments give NULL where they fail.
	TryCasts bool
	// Lambdas[i] is set for lambda arguments: the fields of the parameters.
	Lambdas map[int][]schema.Field
	// Print gives Spark's automatic column text from the arguments' texts; nil
	// prints name(arg, arg).
	Print func(args []string) string
}

// Kernel computes out for the rows of c. args are flat or constant vectors of
// Bound.Args' types with c.Rows rows (never dictionaries, and never all
// constant: such a call is evaluated over one flat row). out has the result
// type and has been resized to c.Rows rows: fixed-width payloads are there to
// be written, strings and lists must be appended row by row (see appendRows).
// Under NullIfAny out.Nulls is the union of the arguments' nulls already.
// Rows outside c.Sel, and null rows, may hold anything safe.
type Kernel func(c *Ctx, args []*column.Vector, out *column.Vector)

// Ctx is what one evaluation of one call may use.
type Ctx struct {
	Rows    int
	Sel     []int32 // rows to compute, nil: all
	Pool    *column.Pool
	Session *Session
	// Now is the epoch's instant in microseconds.
	Now int64
	// Seed is fixed for a call site and lane; Row is the number of rows that
	// the call site has seen before this batch (rand, monotonically_increasing_id).
	Seed, Row int64
	// Partition is the lane's number, Round that of a recursive query's round.
	Partition int
	Round     int64
	// File holds the current input file for input_file_name() and friends.
	File FileInfo
	// Lambda evaluates lambda argument i over n rows of parameter vectors.
	// outer maps each of the n rows to the batch row whose other columns the
	// body may read. The result has n rows and belongs to the caller.
	Lambda func(i int, params []*column.Vector, outer []int32) *column.Vector
	// Scratch is kept between calls of the same call site and lane: a kernel
	// may store compiled state there (a regular expression, a table).
	Scratch any
	// Try asks for nulls instead of errors: Fail marks null without an error.
	Try bool
}

// FileInfo names the file that the batch was read from.
type FileInfo struct {
	Path       string
	Start, Len int64
}

// Fail marks row i of out as failed, or only as null under Try.
func (c *Ctx) Fail(out *column.Vector, i int, err *Error) {
	if c.Try {
		out.SetNull(i)
		return
	}
	out.Fail(i, err)
}

// Each calls f for each row to compute. For hot loops write the two loops out.
func (c *Ctx) Each(f func(i int)) {
	if c.Sel == nil {
		for i := range c.Rows {
			f(i)
		}
		return
	}
	for _, i := range c.Sel {
		f(int(i))
	}
}
