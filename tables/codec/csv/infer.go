package csv

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// Inferrer finds names and types of the columns of CSV files by Spark's rules.
type Inferrer struct {
	tokenizer
	opts    Options
	fmt     text.Formats
	day     *text.Pattern
	names   []string
	types   []schema.Type
	started bool
	header  bool // the next record of this file is a header
	seen    float64
	taken   int64
	err     error
}

// NewInferrer returns an inferrer. Types are found only with the inferSchema
// option; else every column is STRING.
func NewInferrer(o Options) *Inferrer {
	inf := &Inferrer{opts: o}
	inf.tokenizer = newTokenizer(&inf.opts)
	inf.fmt, inf.err = o.Formats(true)
	pattern := o.DateFormat
	if pattern == "" {
		pattern = "yyyy-MM-dd"
	}
	if inf.err == nil {
		inf.day, inf.err = text.CompilePattern(pattern, true)
	}
	return inf
}

// StartFile begins a file, whose first record may be a header.
func (inf *Inferrer) StartFile() { inf.header = inf.opts.Header }

// AddLines looks at the lines of a block.
func (inf *Inferrer) AddLines(b []byte) error {
	for len(b) > 0 {
		n := bytes.IndexAny(b, "\n\r")
		if n < 0 {
			n = len(b)
		}
		if err := inf.AddRecord(b[:n]); err != nil {
			return err
		}
		b = b[min(n+1, len(b)):]
	}
	return inf.err
}

// AddRecord looks at one line without its end.
func (inf *Inferrer) AddRecord(line []byte) error {
	if !blank(line) && (inf.opts.Comment == none || line[0] != inf.opts.Comment) {
		inf.split(line, 0, true)
		inf.record(line)
	}
	return inf.err
}

// AddWhole looks at records whose quoted values may have line breaks.
func (inf *Inferrer) AddWhole(b []byte) error {
	inf.detect(b)
	for i := inf.tokenizer.record(b, 0); i < len(b); i = inf.tokenizer.record(b, i) {
		i = inf.split(b, i, false)
		inf.record(b)
	}
	return inf.err
}

// record looks at the tokens of b.
func (inf *Inferrer) record(b []byte) {
	if !inf.started {
		inf.started = true
		inf.nameColumns(b)
	}
	if inf.header {
		inf.header = false
		return
	}
	inf.seen++
	if inf.opts.SamplingRatio < 1 && int64(inf.seen*inf.opts.SamplingRatio) <= inf.taken && inf.taken > 0 {
		return
	}
	inf.taken++
	for k := range min(len(inf.tokens), len(inf.types)) {
		s := inf.value(b, k)
		if len(s) == 0 && inf.tokens[k].quoted {
			s = []byte(inf.opts.EmptyValue)
		}
		if len(s) == 0 || string(s) == inf.opts.NullValue {
			continue
		}
		inf.types[k] = inf.step(inf.types[k], s)
	}
}

// nameColumns takes the names from the first record.
func (inf *Inferrer) nameColumns(b []byte) {
	inf.types = make([]schema.Type, len(inf.tokens))
	inf.names = columnNames(headerNames(&inf.tokenizer, b), &inf.opts)
}

// columnNames are the names of columns by the first record: its values with a
// header, _c0, _c1 and so on without. Empty names are made _c, equal ones get
// their place behind.
func columnNames(header []string, o *Options) []string {
	names := make([]string, len(header))
	count := map[string]int{}
	for _, h := range header {
		count[strings.ToLower(h)]++
	}
	for k, h := range header {
		switch {
		case !o.Header, h == "" || h == o.NullValue:
			names[k] = "_c" + strconv.Itoa(k)
		case count[strings.ToLower(h)] > 1:
			names[k] = h + strconv.Itoa(k)
		default:
			names[k] = h
		}
	}
	return names
}

// step widens the type that a column had so far by the value s.
func (inf *Inferrer) step(so schema.Type, s []byte) schema.Type {
	if so.Kind == schema.String {
		return so
	}
	return widen(so, inf.typeOf(so, s))
}

// typeOf returns the first type, from so on, that takes s.
func (inf *Inferrer) typeOf(so schema.Type, s []byte) schema.Type {
	switch so.Kind {
	case schema.Void, schema.Int32:
		if _, ok := whole(s, 32); ok {
			return schema.Of(schema.Int32)
		}
		fallthrough
	case schema.Int64:
		if _, ok := whole(s, 64); ok {
			return schema.Of(schema.Int64)
		}
		fallthrough
	case schema.Decimal:
		if p, ok := bigWhole(s); ok {
			return schema.DecimalOf(p, 0)
		}
		fallthrough
	case schema.Float64:
		d := Decoder{opts: inf.opts}
		if _, ok := d.float(s); ok {
			return schema.Of(schema.Float64)
		}
		fallthrough
	case schema.Date:
		if inf.opts.PreferDate {
			if _, ok := inf.day.ParseDate(s); ok {
				return schema.Of(schema.Date)
			}
		}
		fallthrough
	case schema.Timestamp:
		if _, ok := inf.fmt.ParseTimestamp(s); ok {
			return schema.Of(schema.Timestamp)
		}
		fallthrough
	case schema.Boolean:
		if _, ok := boolean(s); ok {
			return schema.Of(schema.Boolean)
		}
	}
	return schema.Of(schema.String)
}

// bigWhole reports a whole number beyond 64 bits and its digits.
func bigWhole(s []byte) (digits int, ok bool) {
	if s[0] <= ' ' || s[len(s)-1] <= ' ' || bytes.IndexByte(s, '.') >= 0 {
		return 0, false
	}
	_, p, scale, ok := text.ParseDecimalAny(s)
	return p, ok && scale == 0
}

// widen returns the type that holds both.
func widen(a, b schema.Type) schema.Type {
	switch {
	case a.Kind == schema.Void:
		return b
	case a.Kind == b.Kind:
		if b.Precision > a.Precision {
			return b
		}
		return a
	}
	num := func(t schema.Type) bool { return t.IsNumeric() }
	switch {
	case num(a) && num(b):
		if a.Kind == schema.Float64 || b.Kind == schema.Float64 {
			return schema.Of(schema.Float64)
		}
		if a.Kind == schema.Decimal || b.Kind == schema.Decimal {
			return schema.DecimalOf(max(a.Precision, b.Precision, 20), 0)
		}
		return schema.Of(schema.Int64)
	case a.Kind == schema.Date && b.Kind == schema.Timestamp, a.Kind == schema.Timestamp && b.Kind == schema.Date:
		return schema.Of(schema.Timestamp)
	}
	return schema.Of(schema.String)
}

// Schema returns the columns seen.
func (inf *Inferrer) Schema() (schema.Schema, error) {
	var out schema.Schema
	for k, name := range inf.names {
		t := inf.types[k]
		if !inf.opts.InferSchema || t.Kind == schema.Void {
			t = schema.Of(schema.String)
		}
		out.Fields = append(out.Fields, schema.Field{Name: name, Type: t, Nullable: true})
	}
	return out, inf.err
}

// TypeOf returns the struct of one CSV text (schema_of_csv).
func TypeOf(rec []byte, o Options) (schema.Type, error) {
	o.InferSchema, o.Header = true, false
	inf := NewInferrer(o)
	if inf.err != nil {
		return schema.Type{}, inf.err
	}
	if len(rec) == 0 {
		return schema.Type{}, fmt.Errorf("%w: the text is empty", ErrMalformed)
	}
	inf.split(rec, 0, false)
	inf.record(rec)
	s, err := inf.Schema()
	return s.Type(), err
}
