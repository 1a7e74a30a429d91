package operator

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"sync"

	"github.com/klauspost/compress/s2"

	"pipelines/runtime/budget"
	"pipelines/tables/column"
)

// memory is what one operator may hold, and where it puts the rest.
type memory struct {
	p    *Plan
	name string
	held *budget.Reservation
	// chances counts those at which tight keys may leave.
	chances int
}

func (bd *builder) memory(name string) *memory {
	m := &memory{p: bd.p, name: name, held: bd.env.Budget.Reserve(name)}
	bd.add(m)
	return m
}

func (m *memory) begin(*stepState) error { return nil }

func (m *memory) close() { m.held.Release() }

// fits asks for total bytes; when refused, the operator shall spill.
func (m *memory) fits(total int64) bool { return m.held.Resize(total) }

// must asks for total bytes for an operator that cannot spill them.
func (m *memory) must(total int64) error { return m.held.Need(total) }

// owe asks for total bytes for an operator that has put away what it could.
func (m *memory) owe(total int64) error { return m.held.Owe(total) }

// mayExceed asks for total bytes that were grown already and says whether the
// operator shall spill; where spilling is forbidden it fails instead.
func (m *memory) mayExceed(total int64) (spill bool, err error) {
	if m.fits(total) {
		return false, nil
	}
	if m.p.env.TempDir == "" {
		return false, m.must(total)
	}
	return true, nil
}

// free gives everything back.
func (m *memory) free() { m.held.Release() }

// spillBlock is the place of a block of rows in a spill file.
type spillBlock struct {
	at        int64
	size, raw int32
	rows      int32
	sum       uint32
}

// spillFile is a temporary file of blocks of rows. Its name is removed at once
// where the system allows, so that nothing stays behind after a crash. Writing
// is the caller's to serialise; reading is too, with a buffer a reader.
type spillFile struct {
	name string // the operator's
	f    *os.File
	path string // still to be removed

	mu     sync.Mutex // guards below
	size   int64
	raw    []byte
	packed []byte
	errs   []error // of rows that are marked as failed
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// file makes a spill file. The plan closes what the operator leaves open.
func (m *memory) file() (*spillFile, error) {
	dir := m.p.env.TempDir
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("%s: spill: %w", m.name, err)
	}
	f, err := os.CreateTemp(dir, "spill-*")
	if err != nil {
		return nil, fmt.Errorf("%s: spill: %w", m.name, err)
	}
	s := &spillFile{name: m.name, f: f, path: f.Name()}
	if os.Remove(s.path) == nil {
		s.path = ""
	}
	m.p.keepSpill(s)
	return s, nil
}

// keepSpill remembers an open file, so that Close closes it after an error.
func (p *Plan) keepSpill(s *spillFile) {
	p.spillMu.Lock()
	defer p.spillMu.Unlock()
	if p.spills == nil {
		p.spills = map[*spillFile]struct{}{}
	}
	p.spills[s] = struct{}{}
}

// closeSpill closes a file and forgets it. Its rows are not needed any more, so
// an error of the close tells nothing.
func (p *Plan) closeSpill(s *spillFile) {
	if s == nil {
		return
	}
	p.spillMu.Lock()
	defer p.spillMu.Unlock()
	delete(p.spills, s)
	_ = s.f.Close() // see above
	if s.path != "" {
		_ = os.Remove(s.path) // the next start removes it
	}
}

func (p *Plan) closeSpills() {
	for s := range p.spills {
		p.closeSpill(s)
	}
}

// write appends a block of the first n rows of cols, which are flat.
func (s *spillFile) write(cols []*column.Vector, n int) (spillBlock, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := blockWriter{dst: s.raw[:0], errs: s.errs}
	for _, v := range cols {
		e.column(v, n)
	}
	s.raw, s.errs = e.dst, e.errs
	if len(s.raw) > maxBlock {
		return spillBlock{}, fmt.Errorf("%s: spill: a block of %d rows has %d bytes, more than can be spilled", s.name, n, len(s.raw))
	}
	if bound := s2.MaxEncodedLen(len(s.raw)); cap(s.packed) < bound {
		s.packed = make([]byte, bound)
	}
	s.packed = s2.Encode(s.packed[:cap(s.packed)], s.raw)
	b := spillBlock{at: s.size, size: int32(len(s.packed)), raw: int32(len(s.raw)), rows: int32(n), sum: crc32.Checksum(s.packed, castagnoli)}
	if _, err := s.f.WriteAt(s.packed, s.size); err != nil {
		return spillBlock{}, fmt.Errorf("%s: spill: %w", s.name, err)
	}
	s.size += int64(len(s.packed))
	return b, nil
}

const maxBlock = 1 << 30

// spillBuffer is the scratch of one reader.
type spillBuffer struct{ packed, raw []byte }

var errSpill = errors.New("a spilled block is damaged")

// read appends the rows of a block to the flat vectors out.
func (s *spillFile) read(b spillBlock, out []*column.Vector, buf *spillBuffer) error {
	buf.packed = grow(buf.packed, int(b.size))
	if _, err := s.f.ReadAt(buf.packed, b.at); err != nil {
		return fmt.Errorf("%s: read spilled rows: %w", s.name, err)
	}
	if crc32.Checksum(buf.packed, castagnoli) != b.sum {
		return fmt.Errorf("%s: read spilled rows: %w", s.name, errSpill)
	}
	buf.raw = grow(buf.raw, int(b.raw))
	raw, err := s2.Decode(buf.raw, buf.packed)
	if err != nil {
		return fmt.Errorf("%s: read spilled rows: %w", s.name, err)
	}
	d := blockReader{src: raw, errs: s.errs}
	for _, v := range out {
		d.column(v, int(b.rows))
	}
	if d.failed || len(d.src) != 0 {
		return fmt.Errorf("%s: read spilled rows: %w", s.name, errSpill)
	}
	return nil
}
