package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"

	"pipelines/runtime/connector"
	"pipelines/sqlplan/logical"
	"pipelines/tables/codec/display"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// Options configures a Sink.
type Options struct {
	Schema schema.Schema
	// Path is the file to append to; "" writes to Out.
	Path string
	Out  io.Writer
}

// Sink writes lines.
type Sink struct{ o Options }

// New returns a sink.
func New(o Options) *Sink { return &Sink{o: o} }

// Held implements connector.Sink: lines do not say whose they are.
func (s *Sink) Held(context.Context, string) (connector.Held, error) {
	return connector.Held{Epoch: -1}, nil
}

// Clean implements connector.Sink.
func (s *Sink) Clean(context.Context, string) error { return nil }

// Begin implements connector.Sink.
func (s *Sink) Begin(_ context.Context, info connector.EpochInfo) (connector.Epoch, error) {
	mode := [...]string{logical.Append: "append", logical.Update: "update", logical.Complete: "complete"}[info.Mode]
	return &epoch{
		names: s.names(), lanes: map[int]*bytes.Buffer{},
		head: fmt.Appendf(nil, `{"epoch":%d,"mode":"%s","row":{`, info.Epoch, mode),
	}, nil
}

func (s *Sink) names() [][]byte {
	var out [][]byte
	for i, f := range s.o.Schema.Fields {
		var b []byte
		if i > 0 {
			b = append(b, ',')
		}
		out = append(out, append(display.AppendString(b, []byte(f.Name)), ':'))
	}
	return out
}

// Commit implements connector.Sink: it writes the epoch's lines.
func (s *Sink) Commit(_ context.Context, _ connector.EpochInfo, token []byte) (err error) {
	if s.o.Path == "" {
		_, err := s.o.Out.Write(token)
		return err
	}
	f, err := os.OpenFile(s.o.Path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return fmt.Errorf("console sink: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := lockFile(f); err != nil {
		return fmt.Errorf("console sink: lock %s: %w", s.o.Path, err)
	}
	end, err := wholeLines(f, token)
	if err != nil {
		return fmt.Errorf("console sink: %w", err)
	}
	if _, err := f.WriteAt(token, end); err != nil {
		return fmt.Errorf("console sink: %w", err)
	}
	// The epoch is marked as committed after this.
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) { // a pipe or device
		return fmt.Errorf("console sink: %w", err)
	}
	return nil
}

// wholeLines returns where to write: the end of the file, or the end of its
// last whole line if what follows is the torn start of one of the token's
// lines, which a crash left.
func wholeLines(f *os.File, token []byte) (int64, error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil || size == 0 {
		return 0, err
	}
	tail := make([]byte, min(size, int64(len(token))))
	if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil {
		return 0, err
	}
	i := bytes.LastIndexByte(tail, '\n')
	torn := tail[i+1:]
	if len(torn) == 0 || i < 0 && int64(len(tail)) < size {
		return size, nil
	}
	for line := range bytes.Lines(token) {
		if bytes.HasPrefix(line, torn) {
			return size - int64(len(torn)), nil
		}
	}
	return size, nil
}

type epoch struct {
	names [][]byte
	head  []byte
	mu    sync.Mutex // guards lanes
	lanes map[int]*bytes.Buffer
}

func (e *epoch) lane(n int) *bytes.Buffer {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := e.lanes[n]
	if b == nil {
		b = &bytes.Buffer{}
		e.lanes[n] = b
	}
	return b
}

// Write implements connector.Epoch.
func (e *epoch) Write(lane int, b *column.Batch) error {
	out := e.lane(lane)
	line := out.AvailableBuffer()
	for k := range b.Rows() {
		i := k
		if b.Sel != nil {
			i = int(b.Sel[k])
		}
		line = append(line, e.head...)
		for c, v := range b.Cols {
			line = append(line, e.names[c]...)
			line = display.AppendJSON(line, v, i)
		}
		line = append(line, "}}\n"...)
	}
	out.Write(line)
	return nil
}

// Prepare implements connector.Epoch.
func (e *epoch) Prepare(context.Context) ([]byte, error) {
	var out []byte
	for n := 0; len(e.lanes) > 0; n++ {
		if b, ok := e.lanes[n]; ok {
			out = append(out, b.Bytes()...)
			delete(e.lanes, n)
		}
	}
	return out, nil
}

// Abort implements connector.Epoch.
func (e *epoch) Abort() error { return nil }
