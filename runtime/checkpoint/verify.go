package checkpoint

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// The layout of a bbolt file, version 2: pages of one size; each has a header
// of 16 bytes (id, flags, count, overflow) and elements of 16 bytes.
const (
	metaMagic   = 0xED0CDAED
	headerSize  = 16
	elementSize = 16
	flagBranch  = 0x01
	flagLeaf    = 0x02
	flagFree    = 0x10
	flagBucket  = 0x01
	maxDepth    = 64
)

// verifier proves that a bbolt file is sound before it is mapped: a cycle or a
// wild offset would end the process, not only the call.
type verifier struct {
	f        io.ReaderAt
	pageSize int64
	pages    uint64
	seen     []uint64 // one bit a page
	bufs     [][]byte // one a depth
	path     [][]byte // the buckets around
	// totals sums the entries of the buckets inside others, by totalKey.
	totals map[string]*total
	sum    *total // that of the bucket at path, nil if it has none
}

// meta is what a meta page says.
type meta struct {
	pageSize              int64
	root, freelist, pages uint64
	txid                  uint64
}

// verifyFile checks the tree, the free list and that every page is one or the
// other, and returns the totals of the buckets.
func verifyFile(f io.ReaderAt, size int64) (map[string]*total, error) {
	v := &verifier{f: f, totals: map[string]*total{}}
	return v.totals, v.file(size)
}

func (v *verifier) file(size int64) error {
	m, ok := bestMeta(v.f)
	if !ok {
		return errors.New("no valid meta page")
	}
	if m.pages < 4 || m.pages > uint64(math.MaxInt64/m.pageSize) || size < int64(m.pages)*m.pageSize {
		return fmt.Errorf("%d bytes, and its meta page says %d pages of %d", size, m.pages, m.pageSize)
	}
	v.pageSize, v.pages, v.seen = m.pageSize, m.pages, make([]uint64, (m.pages+63)/64)
	v.seen[0] = 3 // the meta pages
	if err := v.tree(m.root, nil, nil, 0, true); err != nil {
		return err
	}
	if err := v.free(m.freelist); err != nil {
		return err
	}
	for id := range m.pages {
		if v.seen[id/64]>>(id%64)&1 == 0 {
			return fmt.Errorf("page %d is neither used nor free", id)
		}
	}
	return nil
}

// bestMeta returns the newer of the valid meta pages.
func bestMeta(f io.ReaderAt) (best meta, ok bool) {
	try := func(at int64) (meta, bool) {
		m, valid := readMeta(f, at)
		if valid && (!ok || m.txid > best.txid) {
			best, ok = m, true
		}
		return m, valid
	}
	if m, valid := try(0); valid {
		try(m.pageSize)
		return best, ok
	}
	for i := range 15 {
		at := int64(1024) << i
		if m, valid := readMeta(f, at); valid && m.pageSize == at {
			return m, true
		}
	}
	return best, ok
}

func readMeta(f io.ReaderAt, at int64) (meta, bool) {
	var page [headerSize + 64]byte
	if n, _ := f.ReadAt(page[:], at); n < len(page) {
		return meta{}, false
	}
	b := page[headerSize:]
	le := binary.LittleEndian
	m := meta{
		pageSize: int64(le.Uint32(b[8:])), root: le.Uint64(b[16:]), freelist: le.Uint64(b[32:]),
		pages: le.Uint64(b[40:]), txid: le.Uint64(b[48:]),
	}
	right := le.Uint32(b) == metaMagic && le.Uint32(b[4:]) == 2 && metaSumRight(b) && m.pageSize >= 1024 && m.pageSize <= 1<<16
	return m, right
}

// metaSumRight checks the FNV-1a sum over a meta page's first 56 bytes.
func metaSumRight(m []byte) bool {
	sum := uint64(14695981039346656037)
	for _, c := range m[:56] {
		sum = (sum ^ uint64(c)) * 1099511628211
	}
	return sum == binary.LittleEndian.Uint64(m[56:])
}

// read loads a page with its overflow into the buffer of a depth and marks its
// pages as used.
func (v *verifier) read(id uint64, depth int) ([]byte, error) {
	if id < 2 || id >= v.pages {
		return nil, fmt.Errorf("page %d of %d", id, v.pages)
	}
	for len(v.bufs) <= depth {
		v.bufs = append(v.bufs, make([]byte, v.pageSize))
	}
	buf := v.bufs[depth][:v.pageSize]
	if _, err := v.f.ReadAt(buf, int64(id)*v.pageSize); err != nil {
		return nil, fmt.Errorf("page %d: %w", id, err)
	}
	if got := binary.LittleEndian.Uint64(buf); got != id {
		return nil, fmt.Errorf("page %d calls itself %d", id, got)
	}
	more := uint64(binary.LittleEndian.Uint32(buf[12:]))
	if id+more >= v.pages {
		return nil, fmt.Errorf("page %d has %d pages more, of %d", id, more, v.pages)
	}
	for i := id; i <= id+more; i++ {
		if err := v.use(i); err != nil {
			return nil, err
		}
	}
	if more == 0 {
		return buf, nil
	}
	size := int64(more+1) * v.pageSize
	if int64(cap(buf)) < size {
		buf = append(make([]byte, 0, size), buf...)
	}
	buf = buf[:size]
	v.bufs[depth] = buf
	if _, err := v.f.ReadAt(buf[v.pageSize:], int64(id+1)*v.pageSize); err != nil {
		return nil, fmt.Errorf("page %d: %w", id, err)
	}
	return buf, nil
}

func (v *verifier) use(id uint64) error {
	if v.seen[id/64]>>(id%64)&1 != 0 {
		return fmt.Errorf("page %d is used twice", id)
	}
	v.seen[id/64] |= 1 << (id % 64)
	return nil
}

// tree walks a branch or leaf page whose keys must lie in [low, high).
func (v *verifier) tree(id uint64, low, high []byte, depth int, root bool) error {
	if depth > maxDepth {
		return errors.New("its tree is too deep")
	}
	page, err := v.read(id, depth)
	if err != nil {
		return err
	}
	flags, count := binary.LittleEndian.Uint16(page[8:]), int(binary.LittleEndian.Uint16(page[10:]))
	if headerSize+count*elementSize > len(page) {
		return fmt.Errorf("page %d has %d elements", id, count)
	}
	switch {
	case flags == flagLeaf && (count > 0 || root):
		return v.leaf(page, count, bounds{low, high}, depth)
	case flags == flagBranch && count > 0:
		return v.branch(page, count, bounds{low, high}, depth)
	}
	return fmt.Errorf("page %d has kind %d and %d elements", id, flags, count)
}

// bounds are the keys that a page may hold, [low, high); nil: no bound.
type bounds struct{ low, high []byte }

// after checks the next key of a page and makes it the lower bound.
func (b *bounds) after(key []byte, first bool) error {
	c := bytes.Compare(key, b.low)
	if b.low != nil && (c < 0 || c == 0 && !first) || b.high != nil && bytes.Compare(key, b.high) >= 0 {
		return fmt.Errorf("key %q is out of order", key)
	}
	b.low = key
	return nil
}

func (v *verifier) branch(page []byte, count int, b bounds, depth int) error {
	var keys [][]byte
	var children []uint64
	for i := range count {
		at := headerSize + i*elementSize
		key, err := part(page, at, uint64(binary.LittleEndian.Uint32(page[at:])), uint64(binary.LittleEndian.Uint32(page[at+4:])))
		if err != nil {
			return err
		}
		if err := b.after(key, i == 0); err != nil {
			return err
		}
		keys, children = append(keys, key), append(children, binary.LittleEndian.Uint64(page[at+8:]))
	}
	for i, c := range children {
		high := b.high
		if i+1 < count {
			high = keys[i+1]
		}
		if err := v.tree(c, keys[i], high, depth+1, false); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) leaf(page []byte, count int, b bounds, depth int) error {
	for i := range count {
		key, value, bucket, err := leafElement(page, i)
		if err != nil {
			return err
		}
		if err := b.after(key, i == 0); err != nil {
			return err
		}
		if !bucket {
			if v.sum != nil {
				v.sum.add(key, value)
			}
			continue
		}
		if err := v.bucket(key, value, depth); err != nil {
			return fmt.Errorf("bucket %q: %w", key, err)
		}
	}
	return nil
}

func (v *verifier) bucket(key, value []byte, depth int) error {
	if len(value) < headerSize {
		return errors.New("it is cut short")
	}
	v.path = append(v.path, key)
	if len(v.path) == 2 {
		v.sum = &total{}
		v.totals[string(totalKey(v.path[0], key))] = v.sum
	}
	defer func() {
		v.path = v.path[:len(v.path)-1]
		v.sum = nil
	}()
	if root := binary.LittleEndian.Uint64(value); root != 0 {
		return v.tree(root, nil, nil, depth+1, true)
	}
	return v.inline(value[headerSize:])
}

// inline checks a small bucket that is stored inside its parent's value.
func (v *verifier) inline(page []byte) error {
	if len(page) < headerSize || binary.LittleEndian.Uint16(page[8:]) != flagLeaf {
		return errors.New("not a page")
	}
	count := int(binary.LittleEndian.Uint16(page[10:]))
	if headerSize+count*elementSize > len(page) {
		return fmt.Errorf("%d elements in %d bytes", count, len(page))
	}
	var b bounds
	for i := range count {
		key, value, bucket, err := leafElement(page, i)
		if err != nil {
			return err
		}
		if bucket {
			return errors.New("a bucket inside an inline one")
		}
		if v.sum != nil {
			v.sum.add(key, value)
		}
		if err := b.after(key, i == 0); err != nil {
			return err
		}
	}
	return nil
}

func leafElement(page []byte, i int) (key, value []byte, bucket bool, err error) {
	at := headerSize + i*elementSize
	le := binary.LittleEndian
	flags, pos, ksize, vsize := le.Uint32(page[at:]), le.Uint32(page[at+4:]), le.Uint32(page[at+8:]), le.Uint32(page[at+12:])
	if flags > flagBucket {
		return nil, nil, false, fmt.Errorf("an element of kind %d", flags)
	}
	both, err := part(page, at, uint64(pos), uint64(ksize)+uint64(vsize))
	if err != nil {
		return nil, nil, false, err
	}
	return both[:ksize:ksize], both[ksize:], flags == flagBucket, nil
}

// part is the size bytes at pos from an element.
func part(page []byte, at int, pos, size uint64) ([]byte, error) {
	from := uint64(at) + pos
	if from+size > uint64(len(page)) {
		return nil, errors.New("an element lies outside its page")
	}
	return page[from : from+size], nil
}

// free checks the list of free pages.
func (v *verifier) free(id uint64) error {
	page, err := v.read(id, 0)
	if err != nil {
		return fmt.Errorf("free list: %w", err)
	}
	if flags := binary.LittleEndian.Uint16(page[8:]); flags != flagFree {
		return fmt.Errorf("the free list has kind %d", flags)
	}
	count, ids := uint64(binary.LittleEndian.Uint16(page[10:])), page[headerSize:]
	if count == 0xFFFF {
		count, ids = binary.LittleEndian.Uint64(ids), ids[8:]
	}
	if count > uint64(len(ids)/8) {
		return fmt.Errorf("the free list has %d entries in %d bytes", count, len(ids))
	}
	last := uint64(0)
	for i := range count {
		p := binary.LittleEndian.Uint64(ids[i*8:])
		if p <= last || p >= v.pages {
			return fmt.Errorf("the free list holds page %d of %d", p, v.pages)
		}
		if err := v.use(p); err != nil {
			return err
		}
		last = p
	}
	return nil
}
