package expr

import (
	"fmt"
	"math/rand"
	"testing"

	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

var session = &funcs.Session{ANSI: true}

func lit(t schema.Type, v any) logical.Expr {
	return &logical.Literal{Value: column.Constant(t, 1, v)}
}

func integer(v int) logical.Expr { return lit(schema.Of(schema.Int32), v) }

// call binds a call as the binder does, casts included.
func call(t testing.TB, name string, args ...logical.Expr) logical.Expr {
	t.Helper()
	f := funcs.Lookup(name)
	if f == nil {
		t.Fatalf("no function %s", name)
	}
	in := make([]funcs.Arg, len(args))
	for i, a := range args {
		in[i] = funcs.Arg{Type: a.Type(), Nullable: a.Nullable(), Text: "x"}
		if l, ok := a.(*logical.Literal); ok {
			in[i].Const, in[i].Literal = l.Value, true
		}
	}
	b, err := f.Bind(session, in)
	if err != nil {
		t.Fatalf("bind %s: %v", name, err)
	}
	out := make([]logical.Expr, len(args))
	for i, a := range args {
		out[i] = a
		if !a.Type().SameShape(b.Args[i]) {
			out[i] = &logical.Cast{Input: a, To: b.Args[i], Implicit: true}
		}
	}
	return &logical.Call{Fn: b, Args: out}
}

func cast(e logical.Expr, to schema.Type, mode logical.CastMode) logical.Expr {
	return &logical.Cast{Input: e, To: to, Mode: mode}
}

type table struct {
	attrs []logical.Attr
	batch *column.Batch
}

func newTable(cols ...*column.Vector) *table {
	tb := &table{batch: &column.Batch{}}
	for i, c := range cols {
		tb.attrs = append(tb.attrs, logical.Attr{ID: logical.ColumnID(i + 1), Name: fmt.Sprint("c", i), Type: c.Type, Nullable: true})
		tb.batch.Cols = append(tb.batch.Cols, c)
		tb.batch.Len = c.Len
	}
	return tb
}

func (tb *table) col(i int) logical.Expr { return &logical.Column{Attr: tb.attrs[i]} }

func (tb *table) eval(t testing.TB, e logical.Expr) *column.Vector {
	t.Helper()
	p, err := Compile(e, tb.attrs, Options{Session: session})
	if err != nil {
		t.Fatal(err)
	}
	pool := column.NewPool()
	v := p.Eval(&Evaluation{Session: session, Pool: pool}, tb.batch)
	out := column.New(v.Type)
	column.AppendRange(out, v, 0, v.Len)
	v.Release()
	if live, _ := pool.Live(); live != 0 {
		t.Errorf("%d vectors leak", live)
	}
	return out
}

func show(v *column.Vector) string {
	s := ""
	for i := range v.Len {
		if i > 0 {
			s += " "
		}
		if err := v.Errs.At(i); err != nil {
			e, _ := err.(*funcs.Error)
			s += "!" + e.Class
			continue
		}
		s += string(funcs.AppendValueText(nil, session, v, i))
	}
	return s
}

func TestGuards(t *testing.T) {
	tInt := schema.Of(schema.Int32)
	tb := newTable(column.FromValues(tInt, 0, 1, 2, nil, 5), column.FromValues(tInt, 10, 20, 0, 7, nil))
	zero := call(t, "!=", tb.col(0), integer(0))
	div := call(t, ">", call(t, "div", integer(10), tb.col(0)), integer(4))
	f := func(e logical.Expr, want string) {
		t.Helper()
		if got := show(tb.eval(t, e)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	f(div, "!DIVIDE_BY_ZERO true true null false")
	f(&logical.And{Args: []logical.Expr{zero, div}}, "false true true null false")
	f(&logical.Or{Args: []logical.Expr{call(t, "=", tb.col(0), integer(0)), div}}, "true true true null false")
	f(&logical.Case{T: schema.Of(schema.Int64), Branches: []logical.Branch{{
		When: zero, Then: call(t, "div", integer(10), tb.col(0)),
	}}, Else: lit(schema.Of(schema.Int64), -1)}, "-1 10 5 -1 2")
	f(&logical.Coalesce{Args: []logical.Expr{tb.col(0), tb.col(1), integer(9)}}, "0 1 2 7 5")
	f(call(t, "+", tb.col(0), tb.col(1)), "10 21 2 null null")
	f(cast(cast(tb.col(0), schema.Of(schema.String), 0), schema.DecimalOf(5, 2), 0), "0.00 1.00 2.00 null 5.00")
	f(call(t, "in", tb.col(0), integer(1), integer(5)), "false true false null true")
	f(call(t, "<=>", tb.col(0), lit(tInt, nil)), "false false false true false")
}

func TestConstantsFold(t *testing.T) {
	f := func(e logical.Expr, want string) {
		t.Helper()
		v, err := Fold(e, session)
		got := ""
		if err != nil {
			got = "!" + err.Class
		} else {
			got = show(v)
		}
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	f(call(t, "+", integer(1), integer(2)), "3")
	f(call(t, "/", integer(1), integer(0)), "!DIVIDE_BY_ZERO")
	f(call(t, "+", integer(2147483647), integer(1)), "!ARITHMETIC_OVERFLOW")
	f(call(t, "*", lit(schema.DecimalOf(3, 1), 103), lit(schema.DecimalOf(2, 1), 30)), "30.90")
	f(call(t, "/", lit(schema.DecimalOf(2, 1), 10), integer(3)), "0.333333")
	f(cast(lit(schema.Of(schema.String), "x"), schema.Of(schema.Int32), logical.CastTry), "null")
	f(cast(lit(schema.Of(schema.String), "x"), schema.Of(schema.Int32), logical.CastANSI), "!CAST_INVALID_INPUT")
}

func TestSharing(t *testing.T) {
	tInt := schema.Of(schema.Int64)
	tb := newTable(column.FromValues(tInt, 1, 2, 3))
	sum := func() logical.Expr {
		return &logical.Common{Number: 3, Input: call(t, "+", tb.col(0), lit(tInt, 1))}
	}
	once := &logical.Common{Number: 4, Input: call(t, "*", sum(), sum())}
	p, err := CompileAll([]logical.Expr{once, sum()}, tb.attrs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.shared) != 1 {
		t.Errorf("%d shared sub-expressions, want 1", len(p.shared))
	}
	pool := column.NewPool()
	out := p.EvalAll(&Evaluation{Session: session, Pool: pool}, tb.batch, nil)
	if got := show(out[0]) + "; " + show(out[1]); got != "4 9 16; 2 3 4" {
		t.Error(got)
	}
	for _, v := range out {
		v.Release()
	}
	if live, _ := pool.Live(); live != 0 {
		t.Errorf("%d vectors leak", live)
	}
}

func benchBatch() *table {
	tInt := schema.Of(schema.Int64)
	a, b := column.New(tInt), column.New(tInt)
	for range column.BatchRows {
		column.AppendValue(a, int64(rand.Intn(1000)))
		column.AppendValue(b, int64(rand.Intn(1000)))
	}
	return newTable(a, b)
}

func bench(b *testing.B, tb *table, e logical.Expr) {
	p, err := Compile(e, tb.attrs, Options{Session: session})
	if err != nil {
		b.Fatal(err)
	}
	ev := &Evaluation{Session: session, Pool: column.NewPool()}
	b.ReportAllocs()
	for b.Loop() {
		p.Eval(ev, tb.batch).Release()
	}
	b.ReportMetric(float64(b.N)*float64(tb.batch.Len)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

func BenchmarkAddInt(b *testing.B) {
	tb := benchBatch()
	bench(b, tb, call(b, "+", tb.col(0), tb.col(1)))
}

func BenchmarkFilter(b *testing.B) {
	tb := benchBatch()
	bench(b, tb, &logical.And{Args: []logical.Expr{
		call(b, ">", tb.col(0), lit(schema.Of(schema.Int64), 500)), call(b, "<", tb.col(1), lit(schema.Of(schema.Int64), 500)),
	}})
}

func stringBatch() *table {
	s, n := column.New(schema.Of(schema.String)), column.New(schema.Of(schema.String))
	f := column.New(schema.Of(schema.Float64))
	for i := range column.BatchRows {
		column.AppendValue(s, fmt.Sprintf("customer-%04d@example.com", i))
		column.AppendValue(n, fmt.Sprint(rand.Intn(100000)))
		column.AppendValue(f, rand.Float64()*1000)
	}
	return newTable(s, n, f)
}

func BenchmarkStrings(b *testing.B) {
	tb := stringBatch()
	str := func(s string) logical.Expr { return lit(schema.Of(schema.String), s) }
	for name, e := range map[string]logical.Expr{
		"upper": call(b, "upper", tb.col(0)), "like": call(b, "like", tb.col(0), str("%12%@ex%")),
		"substring": call(b, "substring", tb.col(0), integer(3), integer(5)), "concat": call(b, "concat", tb.col(0), str("/"), tb.col(1)),
		"toint": cast(tb.col(1), schema.Of(schema.Int32), 0), "rlike": call(b, "rlike", tb.col(0), str("[0-9]+@")),
		"equal": call(b, "=", tb.col(0), str("customer-0001@example.com")), "tostring": cast(tb.col(2), schema.Of(schema.String), 0),
		"replace": call(b, "regexp_replace", tb.col(0), str("@.*$"), str("")), "md5": call(b, "md5", tb.col(0)), "div": call(b, "/", tb.col(2), lit(schema.Of(schema.Float64), 3.0)),
		"round": call(b, "round", tb.col(2), integer(2)),
	} {
		b.Run(name, func(b *testing.B) { bench(b, tb, e) })
	}
}
