package expr

import (
	"fmt"
	"slices"

	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// Evaluation is what the programs of one lane may know of the world. The
// owner sets Now and File between batches; programs only read it.
type Evaluation struct {
	Pool    *column.Pool
	Session *funcs.Session
	// Now is the epoch's instant in microseconds.
	Now int64
	// Seed is the lane's seed; each call site derives its own from it.
	Seed      int64
	Partition int
	// Round is the round of a recursive query, from 0: random numbers of a seed
	// differ from round to round.
	Round int64
	File  funcs.FileInfo
}

// Options adjust compilation.
type Options struct {
	// Session is used to evaluate constants; nil means ANSI in UTC.
	Session *funcs.Session
}

// Program is one or more compiled expressions over batches of one layout.
type Program struct {
	exprs  []logical.Expr
	input  []logical.Attr
	opts   Options
	roots  []node
	shared []*sharedNode
	frame  frame
}

// frame is the data of one evaluation of a program or of a lambda's body.
type frame struct {
	ev     *Evaluation
	cols   []*column.Vector
	n      int
	top    []int32 // the selection that the frame was asked for
	serial uint64
}

// whole reports whether sel covers all rows that the frame was asked for.
func (f *frame) whole(sel []int32) bool {
	return sel == nil || len(sel) > 0 && len(sel) == len(f.top) && &sel[0] == &f.top[0]
}

// node is one compiled expression. eval returns a vector of f.n rows of which
// the caller owns one reference; rows outside sel (nil: all) are unspecified.
type node interface {
	eval(f *frame, sel []int32) *column.Vector
}

// Compile compiles one expression over rows whose columns are input, in order.
func Compile(e logical.Expr, input []logical.Attr, opts Options) (*Program, error) {
	return CompileAll([]logical.Expr{e}, input, opts)
}

// CompileAll compiles several expressions into one program, which evaluates
// once what is marked as common.
func CompileAll(es []logical.Expr, input []logical.Attr, opts Options) (*Program, error) {
	if opts.Session == nil {
		opts.Session = &funcs.Session{ANSI: true}
	}
	p := &Program{exprs: es, input: input, opts: opts}
	c := &compiler{program: p, layout: layoutOf(input), places: placesOf(es), common: map[int]*sharedNode{}}
	for _, e := range es {
		n, err := c.compile(e)
		if err != nil {
			return nil, err
		}
		p.roots = append(p.roots, n)
	}
	return p, nil
}

// NewInstance returns a program with its own scratch, for another lane.
func (p *Program) NewInstance() *Program {
	n, err := CompileAll(p.exprs, p.input, p.opts)
	if err != nil {
		panic("bug: expr: a program that compiled does not compile again: " + err.Error())
	}
	return n
}

// Eval evaluates the first expression over the selected rows of b. The result
// has b.Len rows and belongs to the caller.
func (p *Program) Eval(ev *Evaluation, b *column.Batch) *column.Vector {
	p.begin(ev, b)
	out := p.roots[0].eval(&p.frame, b.Sel)
	p.end()
	return out
}

// EvalAll evaluates all expressions and appends their results to out.
func (p *Program) EvalAll(ev *Evaluation, b *column.Batch, out []*column.Vector) []*column.Vector {
	p.begin(ev, b)
	for _, r := range p.roots {
		out = append(out, r.eval(&p.frame, b.Sel))
	}
	p.end()
	return out
}

func (p *Program) begin(ev *Evaluation, b *column.Batch) {
	p.frame.ev, p.frame.n, p.frame.cols, p.frame.top = ev, b.Len, b.Cols, b.Sel
	p.frame.serial++
}

func (p *Program) end() {
	for _, s := range p.shared {
		s.drop()
	}
	p.frame.cols, p.frame.top = nil, nil
}

// EvalFilter evaluates a predicate over the selected rows of b and appends the
// rows for which it is true to sel. Rows that failed are not among them; they
// are in the returned errors, which are nil when there are none.
func (p *Program) EvalFilter(ev *Evaluation, b *column.Batch, sel []int32) ([]int32, *column.Errors) {
	v := p.Eval(ev, b)
	defer v.Release()
	if v.Const {
		return constFilter(v, b, sel)
	}
	if v.Dict != nil {
		flat := column.Flatten(ev.Pool, v)
		defer flat.Release()
		return appendTrue(flat, b, sel), flat.Errs
	}
	return appendTrue(v, b, sel), v.Errs
}

func constFilter(v *column.Vector, b *column.Batch, sel []int32) ([]int32, *column.Errors) {
	if err := v.Errs.At(0); err != nil {
		marks := column.New(v.Type)
		each(b.Len, b.Sel, func(i int) { marks.Fail(i, err) })
		return sel, marks.Errs
	}
	if v.IsNull(0) || !v.Bool[0] {
		return sel, nil
	}
	if b.Sel != nil {
		return append(sel, b.Sel...), nil
	}
	for i := range b.Len {
		sel = append(sel, int32(i))
	}
	return sel, nil
}

func appendTrue(v *column.Vector, b *column.Batch, sel []int32) []int32 {
	switch {
	case v.Nulls == nil && b.Sel == nil:
		return pickAll(v.Bool[:b.Len], sel)
	case v.Nulls == nil:
		return pickTrue(v.Bool, b.Sel, sel)
	case b.Sel == nil:
		for i, t := range v.Bool[:b.Len] {
			if t && !v.Nulls.Get(i) {
				sel = append(sel, int32(i))
			}
		}
	default:
		for _, i := range b.Sel {
			if v.Bool[i] && !v.Nulls.Get(int(i)) {
				sel = append(sel, i)
			}
		}
	}
	return sel
}

// pickAll appends the places of the true values. It writes first and counts
// then, which spares the branch that random data would mispredict.
func pickAll(values []bool, sel []int32) []int32 {
	k := len(sel)
	sel = slices.Grow(sel, len(values))[:k+len(values)]
	for i, t := range values {
		sel[k] = int32(i)
		if t {
			k++
		}
	}
	return sel[:k]
}

// pickTrue is pickAll for the rows of cur.
func pickTrue(values []bool, cur, sel []int32) []int32 {
	k := len(sel)
	sel = slices.Grow(sel, len(cur))[:k+len(cur)]
	for _, i := range cur {
		sel[k] = i
		if values[i] {
			k++
		}
	}
	return sel[:k]
}

func each(n int, sel []int32, f func(i int)) {
	if sel == nil {
		for i := range n {
			f(i)
		}
		return
	}
	for _, i := range sel {
		f(int(i))
	}
}

// layout maps column ids to places in a frame.
type layout map[logical.ColumnID]int

func layoutOf(attrs []logical.Attr) layout {
	l := make(layout, len(attrs))
	for i, a := range attrs {
		l[a.ID] = i
	}
	return l
}

// compiler turns expressions into nodes for one layout.
type compiler struct {
	program *Program
	layout  layout
	places  map[int]int // of common expressions, by number
	common  map[int]*sharedNode
	sites   int64 // call sites so far, for seeds
}

func (c *compiler) compile(e logical.Expr) (node, error) {
	switch e := e.(type) {
	case *logical.Column:
		i, ok := c.layout[e.Attr.ID]
		if !ok {
			return nil, fmt.Errorf("compile expression: column %s#%d is not part of the input", e.Attr.Name, e.Attr.ID)
		}
		return columnNode(i), nil
	case *logical.Literal:
		return newConst(e.Value), nil
	case *logical.Call:
		return c.compileCall(e.Fn, e.Args, e)
	case *logical.Cast:
		return c.compileCast(e)
	case *logical.FieldAccess:
		in, err := c.compile(e.Input)
		if err != nil {
			return nil, err
		}
		return &fieldNode{input: in, index: e.Index}, nil
	case *logical.And:
		return c.compileLogic(e.Args, false)
	case *logical.Or:
		return c.compileLogic(e.Args, true)
	case *logical.Case:
		return c.compileCase(e)
	case *logical.Coalesce:
		args, err := c.compileAll(e.Args)
		if err != nil {
			return nil, err
		}
		return &coalesceNode{args: args, result: e.Type()}, nil
	case *logical.Common:
		return c.compileCommon(e)
	}
	return nil, fmt.Errorf("compile expression: %T cannot be evaluated here", e)
}

func (c *compiler) compileAll(es []logical.Expr) ([]node, error) {
	out := make([]node, len(es))
	for i, e := range es {
		n, err := c.compile(e)
		if err != nil {
			return nil, err
		}
		out[i] = n
	}
	return out, nil
}

func (c *compiler) compileCast(e *logical.Cast) (node, error) {
	fn := e.Fn
	if fn == nil {
		arg := funcs.Arg{Type: e.Input.Type(), Nullable: e.Input.Nullable()}
		b, err := funcs.BindCast(c.program.opts.Session, arg, e.To, funcs.CastMode(e.Mode))
		if err != nil {
			return nil, err
		}
		fn = b
	}
	return c.compileCall(fn, []logical.Expr{e.Input}, e)
}
