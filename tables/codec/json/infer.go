package json

import (
	"fmt"
	"slices"
	"strings"

	"pipelines/tables/codec/record"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// guess is the type that the values of one place have had so far.
type guess struct {
	name   string
	kind   schema.Kind // Void, Boolean, Int64, Decimal, Float64, String, Timestamp, Array, Struct
	p, s   int         // Decimal
	elem   *guess
	fields map[string]*guess
	object int    // the number of the object that had the field last
	twin   *guess // the field of the same name in objects that have it twice
}

// Inferrer finds the type of JSON records by Spark's rules.
type Inferrer struct {
	source
	opts    Options
	fmt     text.Formats
	root    guess
	corrupt bool
	object  int
	seen    float64
	taken   int64
	copied  []byte
	scratch []byte
	commas  []byte
	err     error
}

// NewInferrer returns an inferrer; a wrong pattern among the options is
// reported by Schema or Add.
func NewInferrer(o Options) *Inferrer {
	inf := &Inferrer{opts: o}
	inf.opt = &inf.opts
	inf.fmt, inf.err = o.Formats(true)
	return inf
}

// Add looks at one record, which may have line feeds inside. The error is that
// of FAILFAST.
func (inf *Inferrer) Add(rec []byte) error {
	if inf.err != nil {
		return inf.err
	}
	inf.copied = append(append(inf.copied[:0], rec...), padding...)
	inf.b, inf.end = inf.copied, len(rec)
	i := inf.ws(0)
	if i >= inf.end || !inf.sample() {
		return nil
	}
	inf.depth = 0
	if inf.rootValue(i) >= 0 {
		return nil
	}
	switch inf.opts.Mode {
	case record.FailFast:
		return &record.Error{Record: rec, Err: ErrMalformed}
	case record.Permissive:
		inf.corrupt = true
	}
	return nil
}

// AddLines looks at each line of a block.
func (inf *Inferrer) AddLines(b []byte) error {
	for len(b) > 0 {
		n := lineEnd(b, 0, len(b))
		if err := inf.Add(trimLine(b[:n])); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// sample takes an even part of the records.
func (inf *Inferrer) sample() bool {
	inf.seen++
	if int64(inf.seen*inf.opts.SamplingRatio) > inf.taken || inf.opts.SamplingRatio >= 1 || inf.taken == 0 {
		inf.taken++
		return true
	}
	return false
}

// rootValue looks at a record: objects count, arrays by their elements, other
// values are malformed beside objects.
func (inf *Inferrer) rootValue(i int) int {
	if inf.skip(i) < 0 { // nothing of a malformed record counts
		return -1
	}
	if inf.b[i] == '{' {
		return inf.value(&inf.root, i)
	}
	var g guess
	next := inf.value(&g, i)
	for g.kind == schema.Array {
		g = *g.elem
	}
	switch g.kind {
	case schema.Void:
	case schema.Struct:
		inf.root.merge(&g)
	default:
		return -1
	}
	return next
}

// value looks at the value at i; next is behind it or -1.
func (inf *Inferrer) value(g *guess, i int) int {
	i = inf.ws(i)
	switch c := inf.b[i]; c {
	case '"', '\'':
		var sp span
		var next int
		if c == '"' {
			sp, next = inf.str(i)
		} else {
			sp, next = inf.singleQuoted(i)
		}
		if next >= 0 {
			inf.text(g, sp)
		}
		return next
	case '{':
		return inf.objectFields(g, i)
	case '[':
		return inf.elements(g, i)
	case 't', 'f':
		next := inf.literal(i)
		if next >= 0 {
			if inf.opts.PrimitivesAsString {
				g.see(schema.String, 0, 0)
			} else {
				g.see(schema.Boolean, 0, 0)
			}
		}
		return next
	case 'n':
		return inf.literal(i)
	}
	n, next := inf.num(i)
	if next >= 0 {
		inf.number(g, n)
	}
	return next
}

func (inf *Inferrer) text(g *guess, sp span) {
	s := inf.b[sp.from:sp.to]
	if len(s) == 0 {
		return
	}
	if inf.opts.PrefersDecimal || inf.opts.InferTimestamp {
		if sp.escaped {
			inf.scratch = unescape(inf.scratch[:0], s)
			s = inf.scratch
		}
		if inf.opts.PrefersDecimal && s[0] > ' ' && s[len(s)-1] > ' ' {
			if _, p, sc, ok := text.ParseDecimalAny(record.WithoutCommas(s, &inf.commas)); ok {
				g.see(schema.Decimal, p, sc)
				return
			}
		}
		if inf.opts.InferTimestamp && inf.isTimestamp(s) {
			g.see(schema.Timestamp, 0, 0)
			return
		}
	}
	g.see(schema.String, 0, 0)
}

func (inf *Inferrer) isTimestamp(s []byte) bool {
	_, ok := inf.fmt.ParseTimestamp(s)
	return ok
}

func (inf *Inferrer) number(g *guess, n number) {
	s := inf.b[n.from:n.to]
	switch {
	case inf.opts.PrimitivesAsString:
		g.see(schema.String, 0, 0)
	case n.word != 0:
		g.see(schema.Float64, 0, 0)
	case n.whole:
		if _, ok := wholeNumber(s, n); ok {
			g.see(schema.Int64, 0, 0)
			return
		}
		fallthrough
	case inf.opts.PrefersDecimal:
		if _, p, sc, ok := text.ParseDecimalAny(s); ok {
			g.see(schema.Decimal, p, sc)
			return
		}
		fallthrough
	default:
		g.see(schema.Float64, 0, 0)
	}
}

func (inf *Inferrer) elements(g *guess, i int) int {
	elem := &guess{}
	if g.kind == schema.Array {
		elem = g.elem
	}
	i = inf.ws(i + 1)
	if inf.b[i] == ']' {
		g.seeArray(elem)
		return i + 1
	}
	if inf.depth++; inf.depth > maxDepth {
		return -1
	}
	for {
		if i = inf.value(elem, i); i < 0 {
			return -1
		}
		if i = inf.ws(i); inf.b[i] == ',' {
			i++
			continue
		}
		if inf.b[i] != ']' {
			return -1
		}
		inf.depth--
		g.seeArray(elem)
		return i + 1
	}
}

func (inf *Inferrer) objectFields(g *guess, i int) int {
	into := g
	if g.kind != schema.Struct && g.kind != schema.Void {
		into = &guess{} // only checked: the place holds texts by now
	}
	if into.fields == nil {
		into.kind, into.fields = schema.Struct, map[string]*guess{}
	}
	if into != g {
		g.see(schema.Struct, 0, 0)
	}
	inf.object++
	object := inf.object
	i = inf.ws(i + 1)
	if inf.b[i] == '}' {
		return i + 1
	}
	if inf.depth++; inf.depth > maxDepth {
		return -1
	}
	for {
		sp, next := inf.key(i)
		if next < 0 {
			return -1
		}
		if i = inf.ws(next); inf.b[i] != ':' {
			return -1
		}
		if i = inf.value(into.field(inf.b[sp.from:sp.to], sp.escaped, object), i+1); i < 0 {
			return -1
		}
		if i = inf.ws(i); inf.b[i] == ',' {
			i = inf.ws(i + 1)
			continue
		}
		if inf.b[i] != '}' {
			return -1
		}
		inf.depth--
		return i + 1
	}
}

// field returns the guess of a field; objects that have it twice get twins.
func (g *guess) field(raw []byte, escaped bool, object int) *guess {
	if escaped {
		raw = unescape(nil, raw)
	}
	f := g.fields[string(raw)]
	if f == nil {
		f = &guess{name: string(raw)}
		g.fields[f.name] = f
	}
	for f.object == object {
		if f.twin == nil {
			f.twin = &guess{name: f.name}
		}
		f = f.twin
	}
	f.object = object
	return f
}

func (g *guess) seeArray(elem *guess) {
	switch g.kind {
	case schema.Void, schema.Array:
		g.kind, g.elem = schema.Array, elem
	default:
		g.kind = schema.String
	}
}

// see merges a plain type into g.
func (g *guess) see(k schema.Kind, p, s int) {
	switch {
	case g.kind == schema.Void:
		g.kind, g.p, g.s = k, p, s
	case g.kind == schema.Decimal && k == schema.Decimal:
		g.widen(p, s)
	case g.kind == schema.Decimal && k == schema.Int64:
		g.widen(20, 0)
	case g.kind == schema.Int64 && k == schema.Decimal:
		g.kind, g.p, g.s = k, p, s
		g.widen(20, 0)
	case g.kind == k:
	case numeric(g.kind) && numeric(k): // one of them is a double
		g.kind = schema.Float64
	default:
		g.kind = schema.String
	}
}

func numeric(k schema.Kind) bool {
	return k == schema.Int64 || k == schema.Decimal || k == schema.Float64
}

// widen makes g the decimal that holds both, or a double.
func (g *guess) widen(p, s int) {
	scale := max(g.s, s)
	whole := max(g.p-g.s, p-s)
	if whole+scale > text.MaxDecimalPrecision {
		g.kind = schema.Float64
		return
	}
	g.p, g.s = whole+scale, scale
}

// merge adds what o has seen.
func (g *guess) merge(o *guess) {
	switch {
	case o.kind == schema.Void:
	case g.kind == schema.Void:
		g.kind, g.p, g.s, g.elem, g.fields = o.kind, o.p, o.s, o.elem, o.fields
	case g.kind == schema.Struct && o.kind == schema.Struct:
		for name, f := range o.fields {
			if mine := g.fields[name]; mine != nil {
				mine.merge(f)
			} else {
				g.fields[name] = f
			}
		}
	case g.kind == schema.Array && o.kind == schema.Array:
		g.elem.merge(o.elem)
	default:
		g.see(o.kind, o.p, o.s)
	}
}

// typ returns the type; ok is false for what is dropped (empty structs, and
// nulls with dropFieldIfAllNull).
func (g *guess) typ(o *Options) (t schema.Type, ok bool) {
	switch g.kind {
	case schema.Void:
		return schema.Of(schema.String), !o.DropFieldIfAllNull
	case schema.Decimal:
		return schema.DecimalOf(g.p, g.s), true
	case schema.Array:
		e, ok := g.elem.typ(o)
		return schema.ArrayOf(e, true), ok
	case schema.Struct:
		var out []schema.Field
		for name, f := range g.fields {
			if name == "" { // Spark leaves out a field without a name
				continue
			}
			for ; f != nil; f = f.twin {
				if ft, ok := f.typ(o); ok {
					out = append(out, schema.Field{Name: f.name, Type: ft, Nullable: true})
				}
			}
		}
		slices.SortStableFunc(out, func(a, b schema.Field) int { return strings.Compare(a.Name, b.Name) })
		return schema.StructOf(out...), len(out) > 0
	}
	return schema.Of(g.kind), true
}

// Schema returns the columns of the records seen, sorted by name; with
// malformed records in PERMISSIVE mode the corrupt column is among them.
func (inf *Inferrer) Schema() (schema.Schema, error) {
	if inf.err != nil {
		return schema.Schema{}, inf.err
	}
	t := schema.StructOf()
	if inf.root.kind == schema.Struct {
		t, _ = inf.root.typ(&inf.opts)
	}
	if inf.corrupt && !slices.ContainsFunc(t.Fields, func(f schema.Field) bool { return f.Name == inf.opts.CorruptColumn }) {
		t.Fields = append(t.Fields, schema.Field{Name: inf.opts.CorruptColumn, Type: schema.Of(schema.String), Nullable: true})
		slices.SortStableFunc(t.Fields, func(a, b schema.Field) int { return strings.Compare(a.Name, b.Name) })
	}
	return schema.Schema{Fields: t.Fields}, nil
}

// TypeOf returns the type of one JSON text (schema_of_json).
func TypeOf(rec []byte, o Options) (schema.Type, error) {
	inf := NewInferrer(o)
	if inf.err != nil {
		return schema.Type{}, inf.err
	}
	inf.b = append(append(inf.copied, rec...), padding...)
	inf.end = len(rec)
	var g guess
	if i := inf.ws(0); i < inf.end {
		if inf.value(&g, i) < 0 {
			return schema.Type{}, fmt.Errorf("%w: %.200q", ErrMalformed, rec)
		}
	}
	t, ok := g.typ(&inf.opts)
	switch {
	case ok || g.kind == schema.Struct:
		return t, nil
	case g.kind == schema.Array && g.elem.kind == schema.Struct:
		return schema.ArrayOf(schema.StructOf(), true), nil
	}
	return schema.Of(schema.String), nil
}
