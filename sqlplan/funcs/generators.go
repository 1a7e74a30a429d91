package funcs

import (
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

var generators = []*Generator{
	listGenerator("explode", "One row for each element of an array or entry of a map.", false),
	listGenerator("posexplode", "explode with the position before the element.", true),
	customGenerator("inline", "inline(array of structs)", "One row for each struct of an array.", bindInline),
	customGenerator("stack", "stack(n, expr1, ..., exprk)", "The values spread over n rows.", bindStack),
}

// customGenerator makes a generator whose calls get their function.
func customGenerator(name, usage, doc string, bind func(*Session, []Arg) (*BoundGenerator, error)) *Generator {
	g := &Generator{Name: name, Usage: usage, Doc: doc}
	g.Bind = func(s *Session, args []Arg) (*BoundGenerator, error) {
		b, err := bind(s, args)
		if b != nil {
			b.Fn = g
		}
		return b, err
	}
	return g
}

func customWindow(name, usage, doc string, bind func(*Session, []Arg) (*BoundWindow, error)) *WindowFunction {
	f := &WindowFunction{Name: name, Usage: usage, Doc: doc}
	f.Bind = func(s *Session, args []Arg) (*BoundWindow, error) {
		b, err := bind(s, args)
		if b != nil {
			b.Fn = f
		}
		return b, err
	}
	return f
}

func bindGenerated(name, want string, args []Arg, ok bool) error {
	if err := checkCount(name, 1, 1, len(args)); err != nil {
		return err
	}
	if !ok {
		return errInputType(callText(name, args), 0, want, args[0])
	}
	return nil
}

func listGenerator(name, doc string, position bool) *Generator {
	g := &Generator{Name: name, Usage: name + "(expr)", Doc: doc}
	g.Bind = func(_ *Session, args []Arg) (*BoundGenerator, error) {
		if err := bindGenerated(name, `("ARRAY" or "MAP")`, args, len(args) == 1 && (args[0].Type.Kind == schema.Array || args[0].Type.Kind == schema.Map)); err != nil {
			return nil, err
		}
		t := args[0].Type
		b := &BoundGenerator{Fn: g, Args: []schema.Type{t}}
		if position {
			b.Columns = append(b.Columns, schema.Field{Name: "pos", Type: tInt})
		}
		if t.Kind == schema.Map {
			b.Columns = append(b.Columns, schema.Field{Name: "key", Type: *t.Key}, schema.Field{Name: "value", Type: *t.Elem, Nullable: t.ElemNullable})
		} else {
			b.Columns = append(b.Columns, schema.Field{Name: "col", Type: *t.Elem, Nullable: t.ElemNullable})
		}
		b.Generate = func(c *Ctx, args []*vector, out []*vector, rows []int32) []int32 {
			v := args[0]
			c.Each(func(i int) {
				if v.IsNull(i) {
					return
				}
				from, to := v.List(i)
				cols := out
				if position {
					for k := range to - from {
						out[0].I32 = append(out[0].I32, int32(k))
					}
					out[0].Len += to - from
					cols = out[1:]
				}
				for k, child := range v.Children {
					column.AppendRange(cols[k], child, from, to)
				}
				for range to - from {
					rows = append(rows, int32(i))
				}
			})
			return rows
		}
		return b, nil
	}
	return g
}

func bindInline(_ *Session, args []Arg) (*BoundGenerator, error) {
	ok := len(args) == 1 && args[0].Type.Kind == schema.Array && args[0].Type.Elem.Kind == schema.Struct
	if err := bindGenerated("inline", `"ARRAY<STRUCT>"`, args, ok); err != nil {
		return nil, err
	}
	t := args[0].Type
	b := &BoundGenerator{Args: []schema.Type{t}}
	for _, f := range t.Elem.Fields {
		f.Nullable = f.Nullable || t.ElemNullable
		b.Columns = append(b.Columns, f)
	}
	b.Generate = func(c *Ctx, args []*vector, out []*vector, rows []int32) []int32 {
		v := args[0]
		c.Each(func(i int) {
			if v.IsNull(i) {
				return
			}
			from, to := v.List(i)
			for k, field := range v.Children[0].Children {
				column.AppendRange(out[k], field, from, to)
			}
			for range to - from {
				rows = append(rows, int32(i))
			}
		})
		return rows
	}
	return b, nil
}

func bindStack(s *Session, args []Arg) (*BoundGenerator, error) {
	if err := checkCount("stack", 2, 1<<20, len(args)); err != nil {
		return nil, err
	}
	call := callText("stack", args)
	switch a := args[0]; {
	case a.Type.Kind != schema.Int32:
		return nil, errInputType(call, 0, quoteType(tInt), a)
	case a.Const == nil:
		return nil, errNotFoldable(call, "n", tInt, a)
	}
	n, _ := constInt(args[0]) // none of a NULL
	if n < 1 {
		return nil, errValueRange(call, "n", "(0, 2147483647]", intLiteral(n, tInt))
	}
	if n > maxElements>>4 {
		return nil, errTooManyElements("stack", n)
	}
	width := (len(args) - 1 + int(n) - 1) / int(n)
	b := &BoundGenerator{Args: []schema.Type{args[0].Type}}
	for col := range width {
		t := tVoid
		for k := 1 + col; k < len(args); k += width {
			switch x := args[k].Type; {
			case t.Kind == schema.Void:
				t = x
			case x.Kind != schema.Void && !x.SameShape(t):
				return nil, errMismatch("STACK_COLUMN_DIFF_TYPES", call, "The data type of the column ("+intLiteral(int64(col), tInt)+") do not have the same type.", nil)
			}
		}
		b.Columns = append(b.Columns, schema.Field{Name: "col" + intLiteral(int64(col), tInt), Type: t, Nullable: true})
	}
	for k := 1; k < len(args); k++ {
		b.Args = append(b.Args, b.Columns[(k-1)%width].Type)
	}
	b.Generate = func(c *Ctx, args []*vector, out []*vector, rows []int32) []int32 {
		c.Each(func(i int) {
			for r := range int(n) {
				for col := range width {
					if k := 1 + r*width + col; k < len(args) {
						column.AppendRow(out[col], args[k], i)
					} else {
						out[col].AppendNull()
					}
				}
				rows = append(rows, int32(i))
			}
		})
		return rows
	}
	return b, nil
}

// windowFunctions exist only with OVER.
var windowFunctions = []*WindowFunction{
	rankFunction("row_number", RowNumber, tInt, "Number of the row in its partition, from 1."),
	rankFunction("rank", Rank, tInt, "Rank with gaps."),
	rankFunction("dense_rank", DenseRank, tInt, "Rank without gaps."),
	rankFunction("percent_rank", PercentRank, tDouble, "(rank - 1) / (rows - 1)."),
	rankFunction("cume_dist", CumeDist, tDouble, "Share of the rows that are not behind this one."),
	customWindow("ntile", "ntile(n)", "Number of the bucket when the partition is cut into n.", bindNTile),
	offsetFunction("lag", Lag, "Value of the row that many before."),
	offsetFunction("lead", Lead, "Value of the row that many behind."),
	customWindow("nth_value", "nth_value(input[, offset])", "Value of row number offset of the frame.", bindNth),
}

func rankFunction(name string, kind WindowKind, t schema.Type, doc string) *WindowFunction {
	f := &WindowFunction{Name: name, Usage: name + "()", Doc: doc}
	f.Bind = func(_ *Session, args []Arg) (*BoundWindow, error) {
		ranks := kind == Rank || kind == DenseRank || kind == PercentRank // their arguments are checked and have no effect: the order of the window counts
		if err := checkCount(name, 0, 0, len(args)); err != nil && !ranks {
			return nil, err
		}
		return &BoundWindow{Fn: f, Kind: kind, Result: t, FixedFrame: true}, nil
	}
	return f
}

func bindNTile(_ *Session, args []Arg) (*BoundWindow, error) {
	if err := checkCount("ntile", 0, 1, len(args)); err != nil {
		return nil, err
	}
	b := &BoundWindow{Kind: NTile, Result: tInt, FixedFrame: true, Offset: 1}
	if len(args) == 1 {
		n, ok := constInt(args[0])
		if !ok {
			return nil, errNotFoldable(callText("ntile", args), "buckets", tInt, args[0])
		}
		if n < 1 {
			return nil, errValueRange(callText("ntile", args), "buckets", "[1, 2147483647]", intLiteral(n, tInt))
		}
		b.Offset, b.Args = int(n), []schema.Type{args[0].Type}
	}
	return b, nil
}

func offsetFunction(name string, kind WindowKind, doc string) *WindowFunction {
	f := &WindowFunction{Name: name, Usage: name + "(input[, offset[, default]])", Doc: doc}
	f.Bind = func(s *Session, args []Arg) (*BoundWindow, error) {
		if err := checkCount(name, 1, 3, len(args)); err != nil {
			return nil, err
		}
		t := args[0].Type
		b := &BoundWindow{Fn: f, Kind: kind, Args: []schema.Type{t}, Offset: 1, FixedFrame: true, Nullable: true}
		if len(args) > 1 {
			n, ok := constInt(args[1])
			if !ok {
				return nil, errNotFoldable(callText(name, args), "offset", tInt, args[1])
			}
			b.Offset, b.Args = int(n), append(b.Args, args[1].Type)
		}
		if len(args) > 2 {
			if t.Kind == schema.Void {
				t = args[2].Type
				b.Args[0] = t
			}
			if !Implicit(s, args[2].Type, t) {
				return nil, errDataDiffTypes(name, callText(name, args), []Arg{args[0], args[2]})
			}
			b.Args = append(b.Args, t)
			b.Nullable = args[0].Nullable || args[2].Nullable
		}
		b.Result = t
		return b, nil
	}
	return f
}

func bindNth(_ *Session, args []Arg) (*BoundWindow, error) {
	if err := checkCount("nth_value", 1, 2, len(args)); err != nil {
		return nil, err
	}
	b := &BoundWindow{Kind: NthValue, Args: []schema.Type{args[0].Type}, Result: args[0].Type, Nullable: true, Offset: 1}
	if len(args) == 2 {
		n, ok := constInt(args[1])
		if !ok {
			return nil, errNotFoldable(callText("nth_value", args), "offset", tInt, args[1])
		}
		if n < 1 {
			return nil, errValueRange(callText("nth_value", args), "offset", "(0, 9223372036854775807]", intLiteral(n, tInt))
		}
		b.Offset, b.Args = int(n), append(b.Args, args[1].Type)
	}
	return b, nil
}
