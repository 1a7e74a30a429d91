package expr

import (
	"errors"

	"pipelines/spec/diag"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// columnNode gives an input column.
type columnNode int

func (c columnNode) eval(f *frame, _ []int32) *column.Vector { return f.cols[c].Retain() }

// constNode gives a constant. The vector is kept while the number of rows
// stays the same.
type constNode struct {
	value *column.Vector // one row
	cur   *column.Vector
}

func newConst(v *column.Vector) *constNode { return &constNode{value: v} }

func (c *constNode) eval(f *frame, _ []int32) *column.Vector {
	if c.cur == nil || c.cur.Len != f.n {
		c.cur = column.New(c.value.Type)
		column.AppendRow(c.cur, c.value, 0)
		c.cur.SetConst(f.n)
	}
	return c.cur.Retain()
}

// fieldNode takes a field of a struct.
type fieldNode struct {
	input node
	index int
}

func (x *fieldNode) eval(f *frame, sel []int32) *column.Vector {
	in := x.input.eval(f, sel)
	defer in.Release()
	if in.Const {
		out := f.ev.Pool.Vector(in.Children[x.index].Type)
		if err := in.Errs.At(0); err != nil {
			out.AppendNull()
			out.Fail(0, err)
		} else {
			column.AppendRow(out, in.Children[x.index], 0)
		}
		out.SetConst(f.n)
		return out
	}
	flat := column.Flatten(f.ev.Pool, in)
	defer flat.Release()
	child := flat.Children[x.index]
	if !flat.Errs.Any() {
		return child.Retain()
	}
	out := f.ev.Pool.Vector(child.Type)
	column.AppendRange(out, child, 0, child.Len)
	flat.Errs.Each(out.Fail)
	return out
}

// callNode calls a kernel.
type callNode struct {
	fn       *funcs.Bound
	span     diag.Span
	args     []node // nil entries are lambdas
	bodies   []*lambdaBody
	volatile bool
	overDict bool // one argument that varies: may run over a dictionary
	pending  *column.Vector
	site     int64

	ctx   funcs.Ctx
	frame *frame
	seen  int64
	vals  []*column.Vector
}

func (c *compiler) compileCall(fn *funcs.Bound, args []logical.Expr, e logical.Expr) (node, error) {
	c.sites++
	x := &callNode{fn: fn, span: e.Span(), site: c.sites}
	x.volatile = fn.Fn != nil && fn.Fn.Volatility == funcs.Volatile
	constant := fn.Fn == nil || fn.Fn.Volatility == funcs.Immutable
	for _, a := range args {
		if l, ok := a.(*logical.Lambda); ok {
			body, err := c.compileLambda(l)
			if err != nil {
				return nil, err
			}
			x.args, x.bodies = append(x.args, nil), append(x.bodies, body)
			constant = false
			continue
		}
		n, err := c.compile(a)
		if err != nil {
			return nil, err
		}
		if _, ok := n.(*constNode); !ok {
			constant = false
		}
		x.args, x.bodies = append(x.args, n), append(x.bodies, nil)
	}
	x.vals = make([]*column.Vector, len(x.args))
	x.overDict = x.dictionaryArg() >= 0
	x.ctx.Lambda = x.callLambda
	if constant {
		return x.fold(c.program.opts.Session), nil
	}
	return x, nil
}

// fold evaluates a call of constants once.
func (x *callNode) fold(s *funcs.Session) node {
	f := &frame{ev: &Evaluation{Session: s}, n: 1}
	return newConst(x.eval(f, nil))
}

func (x *callNode) eval(f *frame, sel []int32) *column.Vector {
	x.frame = f
	if x.overDict {
		if out := x.evalDict(f, sel); out != nil {
			return out
		}
	}
	return x.run(f, sel)
}

func (x *callNode) run(f *frame, sel []int32) *column.Vector {
	allConst, failed := x.evalArgs(f, sel)
	rows, rowSel := f.n, sel
	if allConst {
		rows, rowSel = 1, nil
		x.oneRow(f.ev.Pool)
	}
	out := f.ev.Pool.Vector(x.fn.Result)
	if x.fn.Nulls == funcs.NullIfAny && !failed && x.constNull() {
		out.AppendNull()
		out.SetConst(f.n)
		x.release()
		return out
	}
	out.Resize(rows)
	if x.fn.Nulls == funcs.NullIfAny {
		x.unionNulls(out, rows)
	}
	x.prepare(f, rows, rowSel)
	x.fn.Kernel(&x.ctx, x.vals, out)
	x.finish(out, rows, rowSel, failed)
	x.release()
	if allConst {
		out.SetConst(f.n)
	}
	return out
}

// dictionaryArg returns the only argument that is no constant when the call
// may be computed once a dictionary entry, or -1.
func (x *callNode) dictionaryArg() int {
	at := -1
	for i, a := range x.args {
		if _, constant := a.(*constNode); constant {
			continue
		}
		if at >= 0 || a == nil {
			return -1
		}
		at = i
	}
	stringly := at >= 0 && len(x.fn.Args) > at && column.PhysicalOf(x.fn.Args[at]) == column.PhysBytes
	if !stringly || x.volatile || x.fn.CanFail || x.fn.Nulls != funcs.NullIfAny {
		return -1
	}
	return at
}

// evalDict computes the call over the entries of a dictionary; nil when the
// argument is none, and then the argument waits in x.pending.
func (x *callNode) evalDict(f *frame, sel []int32) *column.Vector {
	at := x.dictionaryArg()
	v := x.args[at].eval(f, sel)
	if v.Dict == nil || v.Errs.Any() || v.Dict.Len == 0 || v.Dict.Len > f.n/2 {
		x.pending = v
		return nil
	}
	inner := frame{ev: f.ev, n: v.Dict.Len}
	x.pending = v.Dict.Retain()
	entries := x.run(&inner, nil)
	if entries.Const {
		flat := column.Flatten(f.ev.Pool, entries)
		entries.Release()
		entries = flat
	}
	out := f.ev.Pool.Vector(x.fn.Result)
	out.Resize(f.n)
	if entries.Nulls == nil && column.PhysicalOf(out.Type) == column.PhysBytes {
		out.Index = append(out.Index[:0], v.Index[:f.n]...)
		out.Dict = entries
		if v.Nulls != nil {
			copy(out.MakeNulls(f.n), v.Nulls)
		}
		v.Release()
		return out
	}
	out.Resize(0)
	each(f.n, nil, func(i int) {
		if v.IsNull(i) {
			out.AppendNull()
		} else {
			column.AppendRow(out, entries, int(v.Index[i]))
		}
	})
	entries.Release()
	v.Release()
	return out
}

// evalArgs fills x.vals with flat or constant vectors.
func (x *callNode) evalArgs(f *frame, sel []int32) (allConst, failed bool) {
	allConst = !x.volatile
	for i, a := range x.args {
		if a == nil { // a lambda that reads columns differs from row to row
			allConst = allConst && len(x.bodies[i].captured) == 0
			continue
		}
		var v *column.Vector
		if _, constant := a.(*constNode); x.pending != nil && !constant {
			v, x.pending = x.pending, nil
		} else {
			v = a.eval(f, sel)
		}
		if v.Dict != nil {
			flat := column.Flatten(f.ev.Pool, v)
			v.Release()
			v = flat
		}
		x.vals[i] = v
		allConst = allConst && v.Const
		failed = failed || v.Errs.Any()
	}
	return allConst, failed
}

// oneRow replaces constant arguments by one flat row each.
func (x *callNode) oneRow(p *column.Pool) {
	for i, v := range x.vals {
		if v == nil {
			continue
		}
		one := p.Vector(v.Type)
		column.AppendRow(one, v, 0)
		v.Release()
		x.vals[i] = one
	}
}

// constNull reports whether an argument is null in all rows.
func (x *callNode) constNull() bool {
	for _, v := range x.vals {
		if v != nil && v.Const && v.IsNull(0) || v != nil && v.Type.Kind == schema.Void {
			return true
		}
	}
	return false
}

func (x *callNode) unionNulls(out *column.Vector, rows int) {
	for _, v := range x.vals {
		if v == nil || !v.HasNulls() {
			continue
		}
		if out.Nulls == nil {
			out.MakeNulls(rows)
		}
		if v.Type.Kind == schema.Void || v.Const {
			if v.IsNull(0) {
				for w := range out.Nulls {
					out.Nulls[w] = ^uint64(0)
				}
			}
			continue
		}
		for w := range min(len(out.Nulls), len(v.Nulls)) {
			out.Nulls[w] |= v.Nulls[w]
		}
	}
}

func (x *callNode) prepare(f *frame, rows int, sel []int32) {
	c := &x.ctx
	c.Rows, c.Sel, c.Pool, c.Session, c.Now = rows, sel, f.ev.Pool, f.ev.Session, f.ev.Now
	c.Seed, c.Row, c.Partition, c.File = f.ev.Seed*1_000_003+x.site, x.seen, f.ev.Partition, f.ev.File
	c.Round, c.Try = f.ev.Round, false
	x.seen += int64(rows)
}

// finish puts the marks in order after the kernel: errors of arguments win,
// errors get their place, null structs have null children.
func (x *callNode) finish(out *column.Vector, rows int, sel []int32, failed bool) {
	if out.Len != rows {
		panic("bug: expr: kernel of " + x.name() + " made a wrong number of rows")
	}
	if out.Errs.Any() {
		x.place(out)
	}
	if failed {
		for k := len(x.vals) - 1; k >= 0; k-- {
			v := x.vals[k]
			if v == nil || !v.Errs.Any() {
				continue
			}
			if !v.Const {
				v.Errs.Each(out.FailOver)
				continue
			}
			each(rows, sel, func(i int) { out.FailOver(i, v.Errs.At(0)) })
		}
	}
	if out.Nulls != nil && column.PhysicalOf(out.Type) == column.PhysStruct {
		for i := range rows {
			if out.Nulls.Get(i) {
				out.SetNull(i)
			}
		}
	}
}

func (x *callNode) name() string {
	if x.fn.Fn == nil {
		return "cast"
	}
	return x.fn.Fn.Name
}

// place gives errors without a place the place of the call.
func (x *callNode) place(out *column.Vector) {
	out.Errs.Each(func(row int, err error) {
		var e *funcs.Error
		if errors.As(err, &e) && e.Span == (diag.Span{}) {
			placed := *e
			placed.Span = x.span
			out.FailOver(row, &placed)
		}
	})
}

func (x *callNode) release() {
	for i, v := range x.vals {
		if v != nil {
			v.Release()
			x.vals[i] = nil
		}
	}
}
