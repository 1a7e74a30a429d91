package streaming

import (
	"pipelines/spec/diag"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// join checks a join with a stream on at least one side (5.6).
func (c *checker) join(j *logical.Join, at diag.Span) {
	l, r := j.Left.Streaming(), j.Right.Streaming()
	switch {
	case l && r:
		c.streamJoin(j, at)
	case l:
		if j.Type == logical.RightJoin || j.Type == logical.FullJoin {
			c.fail(at, unsupported, "%s join with a streaming DataFrame/Dataset on the left and a static DataFrame/DataSet on the right is not supported.", joinName(j.Type))
		}
	default:
		switch j.Type {
		case logical.LeftJoin, logical.FullJoin, logical.SemiJoin, logical.AntiJoin:
			c.fail(at, unsupported, "%s join with a streaming DataFrame/Dataset on the right and a static DataFrame/DataSet on the left is not supported.", joinName(j.Type))
		}
	}
}

func joinName(t logical.JoinType) string {
	return map[logical.JoinType]string{
		logical.InnerJoin: "Inner", logical.CrossJoin: "Cross", logical.LeftJoin: "LeftOuter", logical.RightJoin: "RightOuter",
		logical.FullJoin: "FullOuter", logical.SemiJoin: "LeftSemi", logical.AntiJoin: "LeftAnti",
	}[t]
}

// streamJoin checks a join of two streams. Spark refuses a left anti join; here
// it runs as a left one whose rows with a partner do not come out, under the
// same conditions: what is left of a left row's bound comes out at its end.
func (c *checker) streamJoin(j *logical.Join, at diag.Span) {
	if j.Lateral {
		c.fail(at, unsupported, "A lateral join of two streams is not supported.")
		return
	}
	if isInner(j) {
		if len(j.LeftKeys) == 0 {
			c.fail(at, "STREAM_FAILED", "Stream-stream join without equality predicate is not supported.")
		}
		return
	}
	if c.opts.Mode != logical.Append && (c.opts.Mode != logical.Update || j.Type != logical.SemiJoin) {
		c.fail(at, unsupported, "%s join between two streaming DataFrames/Datasets is not supported in %s output mode, only in Append output mode.", joinName(j.Type), c.opts.Mode)
		return
	}
	b := bounds(j)
	ok := b.KeyWindow
	switch j.Type {
	case logical.LeftJoin, logical.SemiJoin, logical.AntiJoin:
		ok = ok || b.LeftBound
	case logical.RightJoin:
		ok = ok || b.RightBound
	case logical.FullJoin:
		ok = ok || b.LeftBound || b.RightBound
	}
	if !ok {
		c.diags = append(c.diags, c.withHint(at, unsupported,
			"Stream-stream "+joinName(j.Type)+" join between two streaming DataFrame/Datasets is not supported without a watermark in the join keys, or a watermark on the nullable side and an appropriate range condition.",
			"declare a watermark on both streams and bound the time between their rows, for example r.ts BETWEEN l.ts AND l.ts + INTERVAL 1 HOUR"))
		return
	}
	if len(j.LeftKeys) == 0 {
		c.fail(at, "STREAM_FAILED", "Stream-stream join without equality predicate is not supported.")
	}
}

// watermarked returns the first column that carries a watermark, or -1.
func watermarked(attrs []logical.Attr) logical.ColumnID {
	for _, a := range attrs {
		if a.Watermark >= 0 {
			return a.ID
		}
	}
	return -1
}

// bounds works out when rows of each side can be dropped (J-09 to J-11).
func bounds(j *logical.Join) *logical.TimeBounds {
	left, right := j.Left.Output(), j.Right.Output()
	t := &logical.TimeBounds{LeftTime: watermarked(left), RightTime: watermarked(right)}
	for i := range j.LeftKeys {
		l, lok := timeColumn(j.LeftKeys[i])
		r, rok := timeColumn(j.RightKeys[i])
		if lok || rok {
			t.KeyWindow = true
			if lok {
				t.LeftTime = l
			}
			if rok {
				t.RightTime = r
			}
		}
	}
	if t.KeyWindow {
		return t
	}
	for _, c := range conjuncts(j.Cond) {
		applyRange(t, c, left, right)
	}
	return t
}

// timeColumn recognises a column with a watermark.
func timeColumn(e logical.Expr) (logical.ColumnID, bool) {
	c, ok := e.(*logical.Column)
	if !ok || c.Attr.Watermark < 0 {
		return -1, false
	}
	return c.Attr.ID, true
}

// conjuncts splits ANDs, those of BETWEEN included.
func conjuncts(e logical.Expr) []logical.Expr { return logical.Conjuncts(e) }

// milli is Spark's step for inclusive bounds: watermarks count milliseconds.
const milli = 1000

// applyRange takes a comparison l OP r + c of one time of each side. Spark takes
// that of a number of one side with a constant, too, and keeps the rows of that
// side for ever: its outer rows never come out. Ours go by the times alone.
func applyRange(t *logical.TimeBounds, e logical.Expr, left, right []logical.Attr) {
	call, ok := e.(*logical.Call)
	if !ok || len(call.Args) != 2 || call.Fn.Fn == nil {
		return
	}
	op := call.Fn.Fn.Name
	a, b := linear(call.Args[0]), linear(call.Args[1])
	if a == nil || b == nil {
		return
	}
	if op == ">" || op == ">=" {
		a, b = b, a
	} else if op != "<" && op != "<=" {
		return
	}
	// now a (<|<=) b: a.col <= b.col + (b.offset - a.offset)
	off := b.offset - a.offset
	if op == "<=" || op == ">=" {
		off += milli
	}
	la, ra := logical.IndexOf(left, a.col), logical.IndexOf(right, a.col)
	lb, rb := logical.IndexOf(left, b.col), logical.IndexOf(right, b.col)
	switch {
	case ra >= 0 && lb >= 0 && right[ra].Watermark >= 0:
		// other time <= left time + off: the left row can go at time + off.
		if !t.LeftBound || off > t.LeftUntil {
			t.LeftUntil = off
		}
		t.LeftBound, t.LeftTime = true, b.col
	case la >= 0 && rb >= 0 && left[la].Watermark >= 0:
		if !t.RightBound || off > t.RightUntil {
			t.RightUntil = off
		}
		t.RightBound, t.RightTime = true, b.col
	}
}

// term is a time column plus a constant of microseconds.
type term struct {
	col    logical.ColumnID
	offset int64
}

// linear reads column ± interval ± ...; nil for anything else. Intervals with
// months have no fixed length.
func linear(e logical.Expr) *term {
	switch e := e.(type) {
	case *logical.Column:
		if k := e.Attr.Type.Kind; k == schema.Timestamp || k == schema.TimestampNTZ {
			return &term{col: e.Attr.ID}
		}
	case *logical.Cast:
		if k := e.To.Kind; k == schema.Timestamp && e.Input.Type().Kind == schema.Timestamp {
			return linear(e.Input)
		}
	case *logical.Call:
		if e.Fn.Fn == nil || len(e.Args) != 2 || e.Fn.Fn.Name != "+" && e.Fn.Fn.Name != "-" {
			return nil
		}
		x, y := e.Args[0], e.Args[1]
		if _, isInterval := fixed(x); isInterval && e.Fn.Fn.Name == "+" {
			x, y = y, x
		}
		d, ok := fixed(y)
		t := linear(x)
		if !ok || t == nil {
			return nil
		}
		if e.Fn.Fn.Name == "-" {
			d = -d
		}
		return &term{t.col, t.offset + d}
	}
	return nil
}

// fixed reads a constant interval without months.
func fixed(e logical.Expr) (int64, bool) {
	if c, ok := e.(*logical.Cast); ok && c.To.Kind == schema.DayTimeInterval {
		return fixed(c.Input)
	}
	l, ok := e.(*logical.Literal)
	if !ok || l.Value.IsNull(0) {
		return 0, false
	}
	switch v := column.At(l.Value, 0).(type) {
	case int64:
		return v, l.Value.Type.Kind == schema.DayTimeInterval
	case column.Interval:
		return int64(v.Days)*86_400_000_000 + v.Micros, v.Months == 0
	}
	return 0, false
}
