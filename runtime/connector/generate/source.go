package generate

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"pipelines/runtime/connector"
	"pipelines/runtime/stream"
	"pipelines/tables/column"
	"pipelines/tables/format"
	"pipelines/tables/schema"
)

// Options configures a Source.
type Options struct {
	Schema schema.Schema
	// Rows is how many rows there are in all.
	Rows int64
	// RowsPerEpoch bounds an epoch; 0: no bound.
	RowsPerEpoch int64
	// Keys is the number of distinct values of the columns named k, key or
	// ending in _key or _id; 0: as many as rows.
	Keys int64
	// Seed changes the values.
	Seed int64
	// Start and Step are the time of row 0 and between rows, in microseconds.
	Start, Step int64
	// Partitions is how many splits an epoch is cut into; at least 1.
	Partitions int64
}

// Source makes rows.
type Source struct{ o Options }

// New returns a source.
func New(o Options) *Source {
	o.Partitions = max(o.Partitions, 1)
	return &Source{o: o}
}

type position struct {
	Row int64 `json:"row"`
}

func parse(o stream.Offset) (int64, error) {
	if o == "" {
		return 0, nil
	}
	var p position
	if err := json.Unmarshal([]byte(o), &p); err != nil {
		return 0, fmt.Errorf("offset %q: %w", o, err)
	}
	return p.Row, nil
}

// Start implements connector.Source.
func (s *Source) Start(context.Context, stream.Offset, connector.Ledger) error { return nil }

// Pin implements connector.Source.
func (s *Source) Pin(context.Context) error { return nil }

// Plan implements connector.Source.
func (s *Source) Plan(_ context.Context, from stream.Offset, opts connector.PlanOptions) (connector.Planned, error) {
	at, err := parse(from)
	if err != nil {
		return connector.Planned{}, err
	}
	to := s.o.Rows
	if s.o.RowsPerEpoch > 0 && !opts.Unlimited {
		to = min(to, at+s.o.RowsPerEpoch)
	}
	if to <= at {
		return connector.Planned{To: from}, nil
	}
	return connector.Planned{To: stream.Offset(fmt.Sprintf(`{"row":%d}`, to)), Splits: 1}, nil
}

type span struct{ from, to int64 }

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
	return s.cut(a, b), nil
}

func (s *Source) cut(a, b int64) []connector.Split {
	var out []connector.Split
	size := (b - a + s.o.Partitions - 1) / s.o.Partitions
	for at := a; at < b; at += size {
		end := min(at+size, b)
		name := fmt.Sprintf("rows %d to %d", at, end)
		out = append(out, connector.Split{Name: name, Bytes: (end - at) * 32, Data: span{at, end}})
	}
	return out
}

// Whole implements connector.Bounded.
func (s *Source) Whole(context.Context) ([]connector.Split, string, error) {
	return s.cut(0, s.o.Rows), fmt.Sprint(s.o.Rows, s.o.Seed, s.o.Keys), nil
}

// Open implements connector.Opener.
func (s *Source) Open(_ context.Context, sp connector.Split, spec connector.ScanSpec) (connector.Reader, error) {
	d := sp.Data.(span)
	n := spec.BatchRows
	if n <= 0 {
		n = column.BatchRows
	}
	return &reader{o: s.o, spec: spec, at: d.from, end: d.to, rows: int64(n)}, nil
}

type reader struct {
	o       Options
	spec    connector.ScanSpec
	at, end int64
	rows    int64
	made    int64
}

// Next implements connector.Reader.
func (r *reader) Next() (*column.Batch, error) {
	if r.at >= r.end {
		return nil, io.EOF
	}
	n := min(r.rows, r.end-r.at)
	b := r.spec.Pool.Batch()
	b.Len = int(n)
	for _, f := range r.spec.Columns.Fields {
		v := r.spec.Pool.Vector(f.Type)
		r.fill(v, f.Name, r.at, int(n))
		b.Cols = append(b.Cols, v)
	}
	r.at += n
	r.made += n
	return b, nil
}

// Counts implements connector.Reader.
func (r *reader) Counts() format.Counts { return format.Counts{Records: r.made} }

// Close implements connector.Reader.
func (r *reader) Close() error { return nil }
