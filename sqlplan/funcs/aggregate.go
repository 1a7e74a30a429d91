package funcs

import (
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// Aggregate is one aggregate function.
type Aggregate struct {
	Name                        string
	Aliases                     []string
	Usage, Doc, Example, Result string
	Bind                        func(s *Session, args []Arg) (*BoundAggregate, error)
	// OrderSensitive aggregates (first, collect_list) depend on row order.
	OrderSensitive bool
	// IgnoresDistinct aggregates give the same with DISTINCT (min, max).
	IgnoresDistinct bool
}

// BoundAggregate is a resolved aggregate call. It is immutable; all state is
// in States. Rows filtered out by FILTER or DISTINCT never reach it.
type BoundAggregate struct {
	Fn       *Aggregate
	Args     []schema.Type
	Result   schema.Type
	Nullable bool
	// Version changes when the meaning of the stored state does.
	Version int
	// State declares the state columns; see States.
	State []StateColumn
	// Update folds row rows[k] of args into group groups[k] for each k. The
	// args are flat or constant vectors, never dictionaries.
	Update func(c *Ctx, st *States, groups, rows []int32, args []*column.Vector)
	// Merge folds row rows[k] of other into group groups[k] of st.
	Merge func(c *Ctx, st *States, groups, rows []int32, other *States)
	// Finish appends to out the results of the groups listed, in order.
	Finish func(c *Ctx, st *States, groups []int32, out *column.Vector)
	// Retract undoes Update for deleted rows; nil when it cannot.
	Retract func(c *Ctx, st *States, groups, rows []int32, args []*column.Vector)
	// Window is the function over a window that it is, where its result is the
	// value of one row of the frame; nil for others.
	Window *BoundWindow
	// Print gives Spark's automatic column text; nil prints name(args).
	Print func(args []string, distinct bool) string
}

// StateForm is how a state column is held.
type StateForm uint8

const (
	// StateFixed is one fixed-width value a group, in Vector's typed slice,
	// which kernels index by group directly. Starts zero and not null.
	StateFixed StateForm = iota
	// StateValue is one value of any type a group, replaced as a whole.
	// Starts null.
	StateValue
	// StateList is a list of values of any type a group, appended to. Starts
	// empty. Order of appending is kept.
	StateList
)

// StateColumn declares one state column.
type StateColumn struct {
	Name string
	Type schema.Type
	Form StateForm
}

// States holds the state columns of one aggregate for many groups: column i
// follows State[i]. Groups are numbered densely from 0 by the operator, which
// calls Grow before it hands out a new number.
type States struct {
	Fixed  []*column.Vector // nil for other forms
	Values []*ValueColumn   // nil for other forms
	Lists  []*ListColumn    // nil for other forms
	groups int
	seen   int // keeps TouchFixed from being left out
}

// NewStates makes empty states for the declared columns.
func NewStates(cols []StateColumn) *States {
	st := &States{
		Fixed: make([]*column.Vector, len(cols)), Values: make([]*ValueColumn, len(cols)),
		Lists: make([]*ListColumn, len(cols)),
	}
	for i, c := range cols {
		switch c.Form {
		case StateFixed:
			st.Fixed[i] = column.New(c.Type)
		case StateValue:
			st.Values[i] = newValueColumn(c.Type)
		case StateList:
			st.Lists[i] = newListColumn(c.Type)
		}
	}
	return st
}

// Groups returns the number of groups.
func (st *States) Groups() int { return st.groups }
