package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"sync"
)

// A loose file holds its entries by operator and key group, but those of a group
// in the order in which they were added, and a key maybe more than once: who
// writes it needs neither memory for all of them nor time to sort them, and who
// reads it sorts group by group. Its version is 3, and after the magic it has
// blocks of records of one key group, one after another as they became full,
// and the index, from where Ref.Index says to the end:
//
//	scope:    as in other files
//	operator: its id with its length; groups of it follow, in order
//	group:    the key group, the number of its records, the number of its
//	          blocks; for each its offset, its length and its CRC-32C (4 bytes)
//	end:      number of entries; nothing follows
//
// Ref.Sum is the checksum of the magic and the index.
const (
	looseVersion = 3
	recordGroup  = recordScope + 1
)

// extent is where a block of a loose file stands.
type extent struct {
	at   int64
	size int
	sum  uint32
}

// looseGroup is what a loose file holds of a key group.
type looseGroup struct {
	blocks  []extent
	records int
}

// loose writes a loose file. Blocks of different key groups may come side by
// side.
type loose struct {
	w      io.Writer
	scopes scopes

	mu      sync.Mutex // guards below
	err     error
	at      int64
	of      map[string]*looseOperator
	entries int64
}

// looseOperator is what a loose file holds of an operator. latest is the
// greatest time of its entries.
type looseOperator struct {
	groups [keyGroups]looseGroup
	latest int64
}

func newLoose(w io.Writer, scopes scopes) *loose {
	l := &loose{w: w, scopes: scopes, of: map[string]*looseOperator{}}
	l.write(append(magic[:], looseVersion))
	return l
}

func (l *loose) write(b []byte) {
	if l.err == nil {
		_, l.err = l.w.Write(b)
	}
	l.at += int64(len(b))
}

// take writes the blocks of a key group and empties them.
func (l *loose) take(operator string, group int, g *groupChanges) {
	scope, latest := l.scopes.of(operator), stays
	if scope != nil {
		latest = NotPassed
	}
	for _, b := range g.blocks[:g.used] {
		if scope != nil {
			latest = max(latest, latestOf(b, scope))
		}
		l.append(operator, group, b)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	o, n := l.operator(operator), g.n-g.given
	o.latest = max(o.latest, latest)
	o.groups[group].records += n
	l.entries += int64(n)
	g.given = g.n
	g.empty()
}

// operator is what there is of an operator.
func (l *loose) operator(id string) *looseOperator {
	o := l.of[id]
	if o == nil {
		o = &looseOperator{latest: NotPassed}
		l.of[id] = o
	}
	return o
}

func (l *loose) append(operator string, group int, block []byte) {
	sum := crc32.Checksum(block, castagnoli)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(block) > maxBlock && l.err == nil {
		l.err = tooLarge(operator, len(block))
	}
	g := &l.operator(operator).groups[group]
	g.blocks = append(g.blocks, extent{l.at, len(block), sum})
	l.write(block)
}

// latestOf is the greatest time of the records of a block.
func latestOf(block []byte, s *Scope) int64 {
	latest := NotPassed
	for at := 0; at < len(block); {
		record, key, value := cutRecord(block[at:])
		latest = max(latest, s.time(key, value))
		at += len(record)
	}
	return latest
}

// close writes the index.
func (l *loose) close() (Ref, error) {
	ref := Ref{Index: l.at, Entries: l.entries, Passed: l.scopes.passed()}
	var b []byte
	for _, s := range l.scopes {
		b = s.append(append(b, recordScope))
	}
	ids, staying := make([]string, 0, len(l.of)), false
	for id := range l.of {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, strings.Compare)
	last := map[string]int64{}
	for _, id := range ids {
		o := l.of[id]
		b = appendBytes(append(b, recordOperator), []byte(id))
		for i := range o.groups {
			if g := &o.groups[i]; g.records > 0 {
				b = g.append(b, i)
			}
		}
		last[id] = o.latest
		staying = staying || o.latest == stays
	}
	b = binary.AppendUvarint(append(b, recordEnd), uint64(l.entries))
	l.write(b)
	if !staying && len(last) > 0 {
		ref.Last = last
	}
	ref.Bytes = l.at
	ref.Sum = crc32.Update(crc32.Checksum(append(magic[:], looseVersion), castagnoli), castagnoli, b)
	if l.err != nil {
		return Ref{}, fmt.Errorf("write state: %w", l.err)
	}
	return ref, nil
}

func (g *looseGroup) append(b []byte, group int) []byte {
	b = binary.AppendUvarint(append(b, recordGroup, byte(group)), uint64(g.records))
	b = binary.AppendUvarint(b, uint64(len(g.blocks)))
	for _, x := range g.blocks {
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(x.at)), uint64(x.size))
		b = binary.LittleEndian.AppendUint32(b, x.sum)
	}
	return b
}

// looseReader reads a loose file, key group by key group.
type looseReader struct {
	from   io.ReaderAt
	parts  []loosePart // those that are left
	group  groupChanges
	sorter sorter
	listed []ordinal // of the group, those that are left
}

// loosePart is a key group of an operator.
type loosePart struct {
	operator string
	group    int
	looseGroup
}

// openLoose reads the index of a loose file.
func (r *Reader) openLoose() error {
	from, ok := r.r.(io.ReaderAt)
	size := r.want.Bytes - r.want.Index
	if !ok || size <= 0 || size > maxBlock || r.want.Index < int64(len(magic)+1) {
		return r.corrupt("has no index")
	}
	b := make([]byte, size)
	if err := r.readAt(from, b, r.want.Index); err != nil {
		return err
	}
	sum := crc32.Update(crc32.Checksum(append(magic[:], looseVersion), castagnoli), castagnoli, b)
	if sum != r.want.Sum && r.want.Sum != 0 {
		return r.corrupt("it is not the file that the checkpoint names")
	}
	var one [1]byte
	if n, err := from.ReadAt(one[:], r.want.Bytes); n != 0 || !errors.Is(err, io.EOF) {
		return r.corrupt("something follows the end")
	}
	r.loose = &looseReader{from: from}
	return r.cutIndex(b)
}

func (r *Reader) readAt(from io.ReaderAt, b []byte, at int64) error {
	if n, err := from.ReadAt(b, at); n < len(b) {
		if err == nil || errors.Is(err, io.EOF) {
			return r.corrupt("ends too early")
		}
		return readError(r.name, err)
	}
	return nil
}

// cutIndex lists the key groups that are wanted.
func (r *Reader) cutIndex(b []byte) error {
	for len(b) > 0 && b[0] == recordScope {
		s, rest, ok := cutScope(b[1:])
		if !ok {
			return r.corrupt("scope is cut")
		}
		r.scopes, b = append(r.scopes, s), rest
	}
	x := indexCutter{rest: b}
	total := uint64(0)
	from, to, group := 0, keyGroups, -1
	operator, any := "", false
	for len(x.rest) > 0 && !x.bad {
		switch kind := x.byte(); kind {
		case recordOperator:
			id := string(x.bytes())
			if any && id <= operator {
				return r.corrupt("operators are not in order")
			}
			operator, any, group = id, true, -1
			if r.groups != nil {
				from, to = r.groups(operator)
			}
		case recordGroup:
			p := loosePart{operator: operator, group: int(x.byte())}
			n := x.uvarint()
			p.records = int(n)
			total += n
			for range min(x.uvarint(), uint64(len(b))) {
				p.blocks = append(p.blocks, extent{int64(x.uvarint()), int(x.uvarint()), x.uint32()})
			}
			if !any || p.group <= group || n > uint64(r.want.Bytes) {
				return r.corrupt("key groups are not in order")
			}
			if group = p.group; group >= from && group < to {
				r.loose.parts = append(r.loose.parts, p)
			}
		case recordEnd:
			if n := x.uvarint(); !x.bad && len(x.rest) == 0 && n == total {
				return nil
			}
			return r.corrupt("number of entries does not match")
		default:
			return r.corrupt("unknown record")
		}
	}
	return r.corrupt("index is cut")
}

// indexCutter reads an index; bad says that it went wrong.
type indexCutter struct {
	rest []byte
	bad  bool
}

func (x *indexCutter) byte() byte {
	b := x.next(1)
	if x.bad {
		return recordEnd
	}
	return b[0]
}

func (x *indexCutter) next(n uint64) []byte {
	if x.bad = x.bad || n > uint64(len(x.rest)); x.bad {
		return nil
	}
	b := x.rest[:n:n]
	x.rest = x.rest[n:]
	return b
}

func (x *indexCutter) uvarint() uint64 {
	n, w := binary.Uvarint(x.rest)
	if x.bad = x.bad || w <= 0; x.bad {
		return 0
	}
	x.rest = x.rest[w:]
	return n
}

func (x *indexCutter) bytes() []byte { return x.next(x.uvarint()) }

func (x *indexCutter) uint32() uint32 {
	if b := x.next(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// nextLoose is Next of a loose file.
func (r *Reader) nextLoose() (bool, error) {
	l := r.loose
	for {
		for i, x := range l.listed {
			record, key, value := l.group.at(x.at)
			if i+1 < len(l.listed) && l.listed[i+1].prefix == x.prefix {
				if _, next, _ := l.group.at(l.listed[i+1].at); string(next) == string(key) {
					continue // the last counts
				}
			}
			r.record, r.key, r.value, r.prefix = record, key, value, prefixOf(key)
			l.listed = l.listed[i+1:]
			return true, nil
		}
		if len(l.parts) == 0 {
			return false, nil
		}
		if p := l.parts[0]; p.operator != r.operator || r.turn == 0 {
			r.operator = p.operator
			r.turn++
		}
		if err := r.loadPart(); err != nil {
			return false, err
		}
		l.sorter.sort(&l.group)
		l.listed = l.sorter.list
	}
}

// loadPart reads the records of the next key group.
func (r *Reader) loadPart() error {
	p := &r.loose.parts[0]
	r.loose.parts = r.loose.parts[1:]
	g := &r.loose.group
	g.used, g.n = len(p.blocks), p.records
	for len(g.blocks) < g.used {
		g.blocks = append(g.blocks, nil)
	}
	found := 0
	for i, x := range p.blocks {
		if x.size <= 0 || x.at < 0 || x.at > r.want.Index || int64(x.size) > r.want.Index-x.at {
			return r.corrupt("block has no possible place")
		}
		if cap(g.blocks[i]) < x.size {
			g.blocks[i] = make([]byte, max(x.size, mostBlock))
		}
		b := g.blocks[i][:x.size]
		g.blocks[i] = b
		r.read = x.at
		if err := r.readAt(r.loose.from, b, x.at); err != nil {
			return err
		}
		if crc32.Checksum(b, castagnoli) != x.sum {
			return r.corrupt("block does not match its checksum")
		}
		n, ok := countRecords(b, p.group)
		if !ok {
			return r.corrupt("record is cut, or of another key group")
		}
		found += n
	}
	if found != p.records {
		return r.corrupt("number of entries does not match")
	}
	return nil
}

// countRecords counts the records of a block; ok says that it holds whole
// records of a key group and nothing else.
func countRecords(b []byte, group int) (n int, ok bool) {
	x := indexCutter{rest: b}
	for len(x.rest) > 0 {
		kind := x.byte()
		key := x.bytes()
		if kind == recordPut {
			x.bytes()
		}
		if x.bad || kind != recordPut && kind != recordDelete || groupOf(key) != group {
			return 0, false
		}
		n++
	}
	return n, true
}
