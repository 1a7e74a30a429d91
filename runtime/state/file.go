package state

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"runtime"
)

// The format: the magic and the version, then blocks of length, CRC-32C and
// payload. Payloads are records, which do not cross blocks: a byte for the kind,
// then
//
//	operator: its id with its length; entries of it follow
//	put:      key and value with their lengths
//	delete:   key with its length
//	end:      number of entries; nothing follows
//	scope:    an operator's id with its length and its Scope; before all
//	          operators, since version 2
var magic = [7]byte{'P', 'L', 'S', 'T', 'A', 'T', 'E'}

// version is what is written in order; all from 1 on are read. Version 3 is
// that of loose files.
const version = 2

const (
	recordOperator = iota
	recordPut
	recordDelete
	recordEnd
	recordScope
)

const (
	blockBytes = 64 << 10
	maxBlock   = 1 << 30
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrCorrupt is wrapped by errors about files that do not hold what was
// written.
var ErrCorrupt = errors.New("state file is damaged")

// Writer writes entries, which must come in order of operator and key, each
// key once.
type Writer struct {
	w        io.Writer
	err      error
	sum      uint32
	bytes    int64
	block    []byte // with room for its length and checksum at the start
	scratch  []byte
	operator string
	key      []byte
	started  bool
	entries  int64

	scopes  scopes
	scope   *Scope // of the operator, nil for none
	last    map[string]int64
	latest  int64 // greatest time of the operator's entries
	staying bool  // some entry does not go by itself
}

// blockHead is the room for a block's length and checksum.
const blockHead = 8

// newWriter starts a file of about so many bytes whose entries go as scopes say.
func newWriter(w io.Writer, scopes scopes, about int) *Writer {
	x := &Writer{w: w, scopes: scopes, last: map[string]int64{}}
	x.write(append(magic[:], version))
	x.block = make([]byte, blockHead, min(about+about/8+64, blockBytes+blockBytes/8))
	for _, s := range scopes {
		x.block = s.append(append(x.block, recordScope))
	}
	return x
}

// write writes bytes; the first error stays until Close.
func (w *Writer) write(b []byte) {
	w.bytes += int64(len(b))
	w.sum = crc32.Update(w.sum, castagnoli, b)
	if w.err == nil {
		_, w.err = w.w.Write(b)
	}
}

// Put adds an entry; a nil value says that the key is gone.
func (w *Writer) Put(operator string, key, value []byte) {
	w.scratch = appendRecord(w.scratch[:0], key, value)
	w.record(operator, w.scratch, key, value)
}

// record is Put of an entry whose record, as a file holds it, is there already.
func (w *Writer) record(operator string, record, key, value []byte) {
	if !w.started || operator != w.operator {
		w.begin(operator)
	} else if bytes.Compare(key, w.key) <= 0 {
		panic("bug: state: keys are not in order")
	}
	if len(record)+blockBytes+blockBytes/8 > maxBlock && w.err == nil { // with what is in the block
		w.err = tooLarge(operator, len(record))
	}
	if w.err != nil {
		return
	}
	w.key = append(w.key[:0], key...)
	w.entries++
	if w.scope != nil {
		w.latest = max(w.latest, w.scope.time(key, value))
	}
	w.block = append(w.block, record...)
	if len(w.block) >= blockHead+blockBytes {
		w.flush()
	}
}

func tooLarge(operator string, n int) error {
	return fmt.Errorf("operator %s: the state of one key takes %d MiB, more than can be read again", operator, n>>20)
}

// begin starts the entries of an operator.
func (w *Writer) begin(operator string) {
	if w.started && operator < w.operator {
		panic("bug: state: operators are not in order")
	}
	w.endOperator()
	w.flush() // a block has entries of one operator only
	w.started, w.operator, w.key, w.scope, w.latest = true, operator, nil, w.scopes.of(operator), NotPassed
	if w.scope == nil {
		w.latest = stays
	}
	w.block = appendBytes(append(w.block, recordOperator), []byte(operator))
}

// endOperator notes by when all entries of the operator will have gone.
func (w *Writer) endOperator() {
	if w.started {
		w.last[w.operator] = w.latest
		w.staying = w.staying || w.latest == stays
	}
}

func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

func (w *Writer) flush() {
	if len(w.block) == blockHead {
		return
	}
	payload := w.block[blockHead:]
	binary.LittleEndian.PutUint32(w.block, uint32(len(payload)))
	binary.LittleEndian.PutUint32(w.block[4:], crc32.Checksum(payload, castagnoli))
	w.write(w.block)
	w.block = w.block[:blockHead]
	runtime.Gosched() // files are written beside lanes, which do not wait for them
}

// Close ends the file and returns its size, checksum and number of entries.
// The underlying writer is not closed.
func (w *Writer) Close() (Ref, error) {
	w.block = binary.AppendUvarint(append(w.block, recordEnd), uint64(w.entries))
	w.flush()
	if w.err != nil {
		return Ref{}, fmt.Errorf("write state: %w", w.err)
	}
	w.endOperator()
	ref := Ref{Bytes: w.bytes, Sum: w.sum, Entries: w.entries, Passed: w.scopes.passed()}
	if !w.staying && len(w.last) > 0 {
		ref.Last = w.last
	}
	return ref, nil
}

// Reader reads the entries of a file in order.
type Reader struct {
	r     io.Reader
	file  int // number in its chain
	name  string
	sum   uint32
	read  int64
	want  Ref
	block []byte
	rest  []byte

	operator string
	record   []byte // the entry as the file holds it
	key      []byte
	value    []byte
	prefix   uint64 // of the key
	before   []byte // scratch: the last key of the block before
	first    bool   // no key of the operator was read
	turn     int    // counts where the operator may be another
	entries  int64
	ended    bool
	scopes   scopes

	// groups says which key groups of an operator are wanted, nil for all.
	version  byte
	groups   Groups
	from, to int    // of the operator
	ahead    []byte // the block after the one that is read, nil when there is none
	taken    bool   // ahead was read

	loose *looseReader // nil of a file in order

	// Of a merge: there is an entry; none of the operator is left; the turn when
	// it began; what the entries' time must be after.
	live, done bool
	began      int
	passed     int64
}

// Groups says which key groups of an operator's entries are wanted: from
// inclusive, to exclusive.
type Groups func(operator string) (from, to int)

// NewReader starts reading the file that ref names from r.
func NewReader(r io.Reader, ref Ref, groups Groups) (*Reader, error) {
	x := &Reader{r: r, name: ref.Name, want: ref, groups: groups, to: keyGroups}
	var head [8]byte
	if err := x.fill(head[:]); err != nil {
		return nil, err
	}
	x.version = head[7]
	switch isLoose := ref.Index > 0; {
	case [7]byte(head[:7]) != magic || isLoose != (x.version == looseVersion) || x.version < 1 || x.version > looseVersion:
		return nil, x.corrupt("is not a state file of a version that this program reads")
	case isLoose:
		return x, x.openLoose()
	}
	return x, x.start()
}

const keyGroups = 256

// start reads the scopes.
func (r *Reader) start() error {
	if err := r.nextBlock(); err != nil {
		return err
	}
	for r.version > 1 && len(r.rest) > 0 && r.rest[0] == recordScope {
		s, rest, ok := cutScope(r.rest[1:])
		if !ok {
			return r.corrupt("scope is cut")
		}
		r.scopes, r.rest = append(r.scopes, s), rest
	}
	return nil
}

func (r *Reader) corrupt(what string) error {
	return fmt.Errorf("read state %s: %w: %s, near byte %d", r.name, ErrCorrupt, what, r.read)
}

func (r *Reader) fill(b []byte) error {
	n, err := io.ReadFull(r.r, b)
	r.read += int64(n)
	r.sum = crc32.Update(r.sum, castagnoli, b[:n])
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return r.corrupt("ends too early")
	}
	return readError(r.name, err)
}

func readError(name string, err error) error { return fmt.Errorf("read state %s: %w", name, err) }

// Next reads the next entry; false at the end.
func (r *Reader) Next() (bool, error) {
	if r.loose != nil {
		return r.nextLoose()
	}
	for {
		if len(r.rest) == 0 {
			if err := r.nextBlock(); err != nil {
				return false, err
			}
		}
		kind := r.rest[0]
		r.rest = r.rest[1:]
		switch kind {
		case recordOperator:
			id, ok := r.cut()
			if !ok || r.entries > 0 && string(id) <= r.operator {
				return false, r.corrupt("operators are not in order")
			}
			r.begin(string(id))
		case recordPut, recordDelete:
			if err := r.entry(kind); err != nil {
				return false, err
			}
			if g := groupOf(r.key); g >= r.from && g < r.to {
				return true, nil
			}
		case recordEnd:
			return false, r.end()
		default:
			return false, r.corrupt("unknown record")
		}
	}
}

// begin notes whose entries follow.
func (r *Reader) begin(operator string) {
	r.operator, r.first = operator, true
	r.turn++
	if r.groups != nil {
		r.from, r.to = r.groups(operator)
	}
}

func groupOf(key []byte) int {
	if len(key) == 0 {
		return 0
	}
	return int(key[0])
}

// entry reads the rest of a record of which the kind was read.
func (r *Reader) entry(kind byte) error {
	from := len(r.block) - len(r.rest) - 1
	key, ok := r.cut()
	prefix := prefixOf(key)
	if !ok || !r.first && prefix <= r.prefix && bytes.Compare(key, r.key) <= 0 {
		return r.corrupt("keys are not in order")
	}
	r.key, r.prefix, r.value = key, prefix, nil
	if kind == recordPut {
		if r.value, ok = r.cut(); !ok {
			return r.corrupt("value is cut")
		}
	}
	to := len(r.block) - len(r.rest)
	r.record = r.block[from:to:to]
	r.first = false
	r.entries++
	return nil
}

// cut reads a length and that many bytes.
func (r *Reader) cut() ([]byte, bool) {
	if len(r.rest) > 0 && r.rest[0] < 0x80 && int(r.rest[0]) < len(r.rest) { // most often
		n := int(r.rest[0]) + 1
		b := r.rest[1:n:n]
		r.rest = r.rest[n:]
		return b, true
	}
	n, w := binary.Uvarint(r.rest)
	if w <= 0 || n > uint64(len(r.rest)-w) {
		return nil, false
	}
	b := r.rest[w : w+int(n) : w+int(n)]
	r.rest = r.rest[w+int(n):]
	return b, true
}

// nextBlock reads the next block of which something may be wanted.
func (r *Reader) nextBlock() error {
	r.before = append(r.before[:0], r.key...)
	r.key = r.before
	for {
		if !r.taken {
			if err := r.readBlock(); err != nil {
				return err
			}
		}
		r.block, r.ahead, r.taken = r.ahead, r.block, false
		r.rest = r.block
		if r.groups == nil || r.read >= r.want.Bytes {
			return nil
		}
		if err := r.readBlock(); err != nil {
			return err
		}
		r.taken = true
		if !r.skips() {
			return nil
		}
	}
}

// skips leaves the block out if the keys at its start and at that of the next
// say that nothing in it is wanted.
func (r *Reader) skips() bool {
	next, ok := firstKey(r.ahead)
	if !ok || r.version < 2 { // the first version mixes operators in a block
		return false
	}
	operator, from, to, rest := r.operator, r.from, r.to, r.rest
	if rest[0] == recordOperator {
		n, w := binary.Uvarint(rest[1:])
		if w <= 0 || n > uint64(len(rest)-1-w) {
			return false
		}
		operator, rest = string(rest[1+w:1+w+int(n)]), rest[1+w+int(n):]
		from, to = r.groups(operator)
	}
	first, ok := firstKey(rest)
	if !ok || groupOf(next) >= from && groupOf(first) < to {
		return false
	}
	r.operator, r.from, r.to = operator, from, to
	r.turn++
	r.first = true // the order of keys is not followed over what is left out
	return true
}

// firstKey is the key of the entry at the start of a block.
func firstKey(block []byte) ([]byte, bool) {
	if len(block) == 0 || block[0] != recordPut && block[0] != recordDelete {
		return nil, false
	}
	n, w := binary.Uvarint(block[1:])
	if w <= 0 || n > uint64(len(block)-1-w) {
		return nil, false
	}
	return block[1+w : 1+w+int(n)], true
}

// readBlock reads the block that follows in the file.
func (r *Reader) readBlock() error {
	var head [8]byte
	if err := r.fill(head[:]); err != nil {
		return err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n == 0 || n > maxBlock || r.want.Bytes > 0 && int64(n) > r.want.Bytes-r.read {
		return r.corrupt("block has no possible length")
	}
	if cap(r.ahead) < int(n) {
		r.ahead = make([]byte, n, max(int(n), int(min(blockBytes+blockBytes/8, r.want.Bytes))))
	}
	r.ahead = r.ahead[:n]
	if err := r.fill(r.ahead); err != nil {
		return err
	}
	if crc32.Checksum(r.ahead, castagnoli) != binary.LittleEndian.Uint32(head[4:]) {
		return r.corrupt("block does not match its checksum")
	}
	return nil
}

// end checks that the file is whole and the one that was asked for.
func (r *Reader) end() error {
	if r.ended {
		return nil
	}
	n, w := binary.Uvarint(r.rest)
	if w != len(r.rest) || int64(n) != r.entries && r.groups == nil {
		return r.corrupt("number of entries does not match")
	}
	var one [1]byte
	if k, err := io.ReadFull(r.r, one[:]); k != 0 || !errors.Is(err, io.EOF) {
		return r.corrupt("something follows the end")
	}
	if r.want.Bytes > 0 && (r.read != r.want.Bytes || r.sum != r.want.Sum) {
		return r.corrupt("it is not the file that the checkpoint names")
	}
	r.ended = true
	r.rest = append(r.rest[:0], recordEnd, 0)[:0]
	return nil
}

// Entry returns the entry that Next read: a nil value says that the key is
// gone. The slices are valid until the next call of Next.
func (r *Reader) Entry() (operator string, key, value []byte) { return r.operator, r.key, r.value }
