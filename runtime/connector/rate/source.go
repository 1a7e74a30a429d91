package rate

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"pipelines/runtime/connector"
	"pipelines/runtime/stream"
	"pipelines/tables/column"
	"pipelines/tables/format"
	"pipelines/tables/schema"
)

// Schema is the schema of the source.
func Schema() schema.Schema {
	return schema.Schema{Fields: []schema.Field{
		{Name: "timestamp", Type: schema.Of(schema.Timestamp), Nullable: true},
		{Name: "value", Type: schema.Of(schema.Int64), Nullable: true},
	}}
}

// Options configures a Source.
type Options struct {
	// RowsPerSecond is how many rows a second brings; at least 1.
	RowsPerSecond int64
	Now           func() time.Time
}

// Source makes rows by the clock.
type Source struct {
	o      Options
	start  int64 // microseconds; 0: not started
	pinned int64 // seconds
}

// New returns a source.
func New(o Options) *Source {
	o.RowsPerSecond = max(o.RowsPerSecond, 1)
	return &Source{o: o}
}

var startKey = []byte("start")

// Start implements connector.Source.
func (s *Source) Start(_ context.Context, _ stream.Offset, l connector.Ledger) error {
	return l(func(key, value []byte) error {
		if string(key) == string(startKey) && len(value) == 8 {
			s.start = int64(binary.BigEndian.Uint64(value))
		}
		return nil
	})
}

func (s *Source) now() int64 {
	if s.start == 0 {
		return 0
	}
	return (s.o.Now().UnixMicro() - s.start) / 1_000_000
}

// Pin implements connector.Source.
func (s *Source) Pin(context.Context) error {
	s.pinned = s.now()
	return nil
}

type position struct {
	Second int64 `json:"second"`
}

func parse(o stream.Offset) (int64, error) {
	if o == "" {
		return 0, nil
	}
	var p position
	if err := json.Unmarshal([]byte(o), &p); err != nil {
		return 0, fmt.Errorf("offset %q: %w", o, err)
	}
	return p.Second, nil
}

// Plan implements connector.Source. The first plan fixes the start and brings
// the first second's rows at once.
func (s *Source) Plan(_ context.Context, from stream.Offset, opts connector.PlanOptions) (connector.Planned, error) {
	at, err := parse(from)
	if err != nil {
		return connector.Planned{}, err
	}
	p := connector.Planned{To: from}
	to := s.pinned
	if !opts.Pinned {
		to = s.now()
	}
	if s.start == 0 {
		s.start = s.o.Now().UnixMicro()
		p.Entries = []connector.Entry{{Key: startKey, Value: binary.BigEndian.AppendUint64(nil, uint64(s.start))}}
		to = 1
	}
	if to > at {
		p.To, p.Splits = stream.Offset(fmt.Sprintf(`{"second":%d}`, to)), 1
	}
	return p, nil
}

type span struct{ from, to int64 } // values

// Splits implements connector.Source.
func (s *Source) Splits(_ context.Context, from, to stream.Offset) ([]connector.Split, error) {
	a, err := parse(from)
	if err != nil {
		return nil, err
	}
	b, err := parse(to)
	if err != nil {
		return nil, err
	}
	n := s.o.RowsPerSecond
	return []connector.Split{{Name: fmt.Sprintf("seconds %d to %d", a, b), Bytes: (b - a) * n * 16, Data: span{a * n, b * n}}}, nil
}

// Open implements connector.Opener.
func (s *Source) Open(_ context.Context, sp connector.Split, spec connector.ScanSpec) (connector.Reader, error) {
	d := sp.Data.(span)
	return &reader{s: s, spec: spec, at: d.from, end: d.to}, nil
}

type reader struct {
	s       *Source
	spec    connector.ScanSpec
	at, end int64
	made    int64
}

// Next implements connector.Reader.
func (r *reader) Next() (*column.Batch, error) {
	if r.at >= r.end {
		return nil, io.EOF
	}
	rows := r.spec.BatchRows
	if rows <= 0 {
		rows = column.BatchRows
	}
	n := int(min(int64(rows), r.end-r.at))
	b := r.spec.Pool.Batch()
	b.Len = n
	per := r.s.o.RowsPerSecond
	for _, f := range r.spec.Fields {
		v := r.spec.Pool.Vector(Schema().Fields[f].Type)
		v.Resize(n)
		for i := range n {
			value := r.at + int64(i)
			v.I64[i] = value
			if f == 0 {
				// Spread over the second, in milliseconds as Spark does.
				v.I64[i] = r.s.start/1000*1000 + value/per*1_000_000 + value%per*1000/per*1000
			}
		}
		b.Cols = append(b.Cols, v)
	}
	r.at += int64(n)
	r.made += int64(n)
	return b, nil
}

// Counts implements connector.Reader.
func (r *reader) Counts() format.Counts { return format.Counts{Records: r.made} }

// Close implements connector.Reader.
func (r *reader) Close() error { return nil }
