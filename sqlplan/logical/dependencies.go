package logical

import (
	"maps"
	"slices"

	"pipelines/sqlplan/funcs"
	"pipelines/tables/schema"
)

// dependency says that the values of the columns from give that of the column
// to, in all rows.
type dependency struct {
	from []ColumnID
	to   ColumnID
}

// Dependencies are what a query says of its columns, wherever in it they are:
// which of them give which others. What is true of the rows below a node is true
// of those above as long as one row below makes one above; of a group, its
// columns are those that are equal in all its rows. What a condition holds true
// or false has one value where it is selected or grouped by.
type Dependencies struct {
	list    []dependency
	windows map[ColumnID]bool // columns of window(…) and session_window(…)
	filled  map[ColumnID]bool // columns that a condition keeps from being NULL
	held    map[string]bool   // texts of what a condition keeps true, or false
	epoch   bool              // the clock stands still
}

// NewDependencies reads a query: what it says of the rows of all epochs.
func NewDependencies(n Node) *Dependencies { return dependencies(n, false) }

// DependenciesOfEpoch are those of the rows of one epoch, in which the clock
// stands still.
func DependenciesOfEpoch(n Node) *Dependencies { return dependencies(n, true) }

func dependencies(n Node, epoch bool) *Dependencies {
	d := &Dependencies{windows: windowColumns(n), filled: map[ColumnID]bool{}, held: map[string]bool{}, epoch: epoch}
	d.below(n) // for filled and held
	d.list = nil
	d.below(n)
	return d
}

// Closure is ids and all that they give.
func (d *Dependencies) Closure(ids map[ColumnID]bool) map[ColumnID]bool {
	out := maps.Clone(ids)
	for grown := true; grown; {
		grown = false
		for _, x := range d.list {
			if !out[x.to] && !slices.ContainsFunc(x.from, func(id ColumnID) bool { return !out[id] }) {
				out[x.to], grown = true, true
			}
		}
	}
	return out
}

// Window reports whether a column holds a window of time.
func (d *Dependencies) Window(id ColumnID) bool { return d.windows[id] }

// below adds what the nodes from n down say.
func (d *Dependencies) below(n Node) {
	switch x := n.(type) {
	case *Filter:
		d.condition(x.Cond)
	case *Project:
		d.made(x.Exprs)
	case *Aggregate:
		d.made(x.Groups)
	case *TimeWindow:
		if x.Slide == x.Size { // else a time is in several
			d.given(x.Time, x.Column.ID)
		}
	case *Join:
		d.join(x)
		return
	case *SessionWindow, *Expect, *Watermark, *Deduplicate, *Distinct,
		*Window, *Generate, *Sort, *Limit, *Sample:
	default: // an Expand makes NULL of columns, a Union gives them other values
		return
	}
	for _, in := range n.Inputs() {
		d.below(in)
	}
}

// join adds what a join says, and the sides whose rows come out as they are.
func (d *Dependencies) join(x *Join) {
	both := x.Type == InnerJoin || x.Type == CrossJoin
	if both {
		d.condition(x.Cond)
		for i, l := range x.LeftKeys {
			d.equal(l, x.RightKeys[i], len(x.NullSafe) == 0 || !x.NullSafe[i])
		}
	}
	if both || x.Type == RightJoin {
		d.below(x.Right)
	}
	if x.Type != RightJoin && x.Type != FullJoin {
		d.below(x.Left)
	}
}

func (d *Dependencies) made(exprs []Alias) {
	for _, e := range exprs {
		if d.given(e.Expr, e.Attr.ID); d.held[Text(plain(e.Expr))] {
			d.list = append(d.list, dependency{to: e.Attr.ID})
		}
		d.back([]ColumnID{e.Attr.ID}, e.Expr, false)
	}
}

// condition adds what is so where a condition is true.
func (d *Dependencies) condition(cond Expr) {
	d.fills(cond)
	for _, c := range Conjuncts(cond) {
		c = plain(c)
		if col, ok := c.(*Column); ok {
			d.list = append(d.list, dependency{to: col.Attr.ID})
		}
		name, args := called(c)
		d.holds(c)
		switch {
		case len(args) == 2 && (name == "=" || name == "<=>" || name == "equal_null" || name == "in"):
			d.equal(args[0], args[1], name == "=" || name == "in")
		case name == "isnull" || name == "not":
			if name == "not" {
				d.holds(args[0])
			}
			if col, ok := plain(args[0]).(*Column); ok {
				d.list = append(d.list, dependency{to: col.Attr.ID})
			}
		}
	}
}

// holds notes an expression that is true, or false, of all rows.
func (d *Dependencies) holds(e Expr) {
	if e = plain(e); Fixed(e) {
		d.held[Text(e)] = true
	}
}

// equal adds what follows from a = b; filled says that they are not NULL.
func (d *Dependencies) equal(a, b Expr, filled bool) {
	if from, ok := d.reads(b); ok {
		d.back(from, a, filled)
	}
	if from, ok := d.reads(a); ok {
		d.back(from, b, filled)
	}
}

// fills notes the columns that are not NULL where a condition is true.
func (d *Dependencies) fills(cond Expr) {
	for _, c := range Conjuncts(cond) {
		if name, args := called(plain(c)); name == "isnotnull" {
			if col, ok := plain(args[0]).(*Column); ok {
				d.filled[col.Attr.ID] = true
			}
		}
	}
}

// Filled reports whether an expression is never NULL.
func (d *Dependencies) Filled(e Expr) bool {
	if c, ok := plain(e).(*Column); ok && d.filled[c.Attr.ID] {
		return true
	}
	return !e.Nullable()
}

// given adds that an expression's columns give the column that it makes.
func (d *Dependencies) given(e Expr, to ColumnID) {
	if from, ok := d.reads(e); ok {
		d.list = append(d.list, dependency{from, to})
	}
}

// back adds the columns that the value of e gives back, which itself is given
// by from: no other values of them make the same. filled says that it is not
// NULL, which any operand makes of a sum, whatever the others are.
func (d *Dependencies) back(from []ColumnID, e Expr, filled bool) {
	switch x := plain(e).(type) {
	case *Column:
		d.list = append(d.list, dependency{from, x.Attr.ID})
	case *Cast:
		if keepsApart(x.Input.Type(), x.To) {
			d.back(from, x.Input, filled)
		}
	case *FieldAccess: // a window's start or end tells which it is
		if c, ok := plain(x.Input).(*Column); ok && d.windows[c.Attr.ID] {
			d.back(from, c, filled)
		}
	case *Call:
		for _, i := range invertible(x) {
			all := slices.Clone(from)
			known := true
			for k, other := range x.Args {
				if k != i && !nested(x) {
					ids, ok := d.reads(other)
					all, known = append(all, ids...), known && ok && (filled || d.Filled(other))
				}
			}
			if known {
				d.back(all, x.Args[i], filled && !nested(x))
			}
		}
	}
}

// nested reports whether a call only puts its arguments together.
func nested(x *Call) bool {
	name, _ := called(x)
	return name == "struct" || name == "named_struct" || name == "array"
}

// invertible are the arguments that the value of a call gives back to whoever
// knows the others (of a struct or array, all of them).
func invertible(x *Call) []int {
	name, args := called(x)
	switch {
	case nested(x):
		all := make([]int, len(args))
		for i := range all {
			all[i] = i
		}
		return all
	case (name == "+" || name == "-") && len(args) == 2:
		if args[0].Type().IsInteger() && args[1].Type().IsInteger() {
			return []int{0, 1}
		}
		if k := args[0].Type().Kind; (k == schema.Timestamp || k == schema.TimestampNTZ) && withinDay(args[1]) {
			return []int{0}
		}
	case name == "date_add" || name == "date_sub" || name == "negative" && args[0].Type().IsInteger():
		return []int{0}
	case name == "md5" || name == "sha1" || name == "sha2" && hashes(args[1]): // as far as anybody knows
		return []int{0}
	case name == "unix_micros":
		return []int{0}
	case name == "concat":
		var all []int
		for i, a := range args {
			if k := a.Type().Kind; k != schema.String && k != schema.Binary {
				return nil // the end of an array may be that of the next
			}
			all = append(all, i)
		}
		return all
	}
	return nil
}

// hashes reports whether a length is one that sha2 has; of others it makes NULL.
func hashes(length Expr) bool {
	l, ok := plain(length).(*Literal)
	return ok && !l.Value.IsNull(0) && slices.Contains([]string{"0", "224", "256", "384", "512"}, LiteralText(l.Value))
}

// withinDay recognises a constant interval of less than a day: of whole days,
// two times of a day with a change of the clock may come to one.
func withinDay(e Expr) bool {
	const day = 24 * 3600 * 1_000_000
	l, ok := plain(e).(*Literal)
	return ok && l.Value.Type.Kind == schema.DayTimeInterval && !l.Value.IsNull(0) && -day < l.Value.I64[0] && l.Value.I64[0] < day
}

// keepsApart reports whether a cast makes different values of different ones.
func keepsApart(from, to schema.Type) bool {
	if from.SameShape(to) {
		return true
	}
	digits := map[schema.Kind]int{schema.Int8: 3, schema.Int16: 5, schema.Int32: 10, schema.Int64: 19}
	whole, scale := digits[from.Kind], 0
	exact := from.IsInteger() || from.Kind == schema.Decimal
	if from.Kind == schema.Decimal {
		whole, scale = from.Precision-from.Scale, from.Scale
	}
	switch to.Kind {
	case schema.Int16, schema.Int32, schema.Int64:
		return from.IsInteger() && from.Kind <= to.Kind
	case schema.Float32, schema.Float64:
		holds := map[schema.Kind]int{schema.Float32: 5, schema.Float64: 10}[to.Kind]
		return from.Kind == schema.Float32 || from.IsInteger() && whole <= holds
	case schema.Decimal:
		return exact && to.Precision-to.Scale >= whole && to.Scale >= scale
	case schema.String:
		return exact || from.Kind == schema.Boolean || from.Kind == schema.Date || from.Kind == schema.String && to.Length == 0
	case schema.Binary:
		return from.Kind == schema.String
	case schema.TimestampNTZ:
		return from.Kind == schema.Date
	default:
		return false
	}
}

// reads lists the columns that e is made from; false if they do not give it.
func (d *Dependencies) reads(e Expr) ([]ColumnID, bool) {
	if v := Volatility(e); v == funcs.Volatile || v == funcs.Stable && !d.epoch || HasSubquery(e) {
		return nil, false
	}
	ids := map[ColumnID]bool{}
	Columns(e, ids)
	return slices.Sorted(maps.Keys(ids)), true
}

// plain is e without the mark of a common expression.
func plain(e Expr) Expr {
	for {
		c, ok := e.(*Common)
		if !ok {
			return e
		}
		e = c.Input
	}
}

// called gives the name and the arguments of a call, "" for others.
func called(e Expr) (string, []Expr) {
	if c, ok := e.(*Call); ok && c.Fn.Fn != nil {
		return c.Fn.Fn.Name, c.Args
	}
	return "", nil
}

// windowColumns are the columns that hold windows, under all their names.
func windowColumns(n Node) map[ColumnID]bool {
	out := map[ColumnID]bool{}
	holds := func(e Expr) bool {
		c, ok := plain(e).(*Column)
		return ok && out[c.Attr.ID]
	}
	for before := -1; before < len(out); {
		before = len(out)
		WalkNode(n, func(n Node) bool {
			switch x := n.(type) {
			case *TimeWindow:
				out[x.Column.ID] = true
			case *SessionWindow:
				out[x.Column.ID] = true
			case *Project:
				renamed(x.Exprs, holds, out)
			case *Aggregate:
				renamed(x.Groups, holds, out)
			case *Expand:
				for i, c := range x.Columns {
					if slices.ContainsFunc(x.Projections, func(p []Expr) bool { return holds(p[i]) }) {
						out[c.ID] = true
					}
				}
			}
			return true
		})
	}
	return out
}

func renamed(exprs []Alias, holds func(Expr) bool, out map[ColumnID]bool) {
	for _, e := range exprs {
		if holds(e.Expr) {
			out[e.Attr.ID] = true
		}
	}
}
