package parquet

// pageBlocks are the finished pages of a column, one after another in blocks
// that are never moved: they grow to many megabytes.
type pageBlocks struct {
	blocks [][]byte
	n      int // blocks in use; the others are kept for the next row group
	size   int // bytes in use
}

const (
	firstBlock = 16 << 10
	largeBlock = 1 << 20
)

// add appends b, in one block or more.
func (p *pageBlocks) add(b []byte) {
	p.size += len(b)
	for len(b) > 0 {
		if p.n == 0 || len(p.blocks[p.n-1]) == cap(p.blocks[p.n-1]) {
			p.next()
		}
		last := &p.blocks[p.n-1]
		k := min(len(b), cap(*last)-len(*last))
		*last = append(*last, b[:k]...)
		b = b[k:]
	}
}

// next takes the next block into use: blocks double up to a size.
func (p *pageBlocks) next() {
	if p.n == len(p.blocks) {
		p.blocks = append(p.blocks, make([]byte, 0, min(firstBlock<<min(p.n, 16), largeBlock)))
	}
	p.blocks[p.n] = p.blocks[p.n][:0]
	p.n++
}

// used lists what was added.
func (p *pageBlocks) used() [][]byte { return p.blocks[:p.n] }

// reset forgets what was added.
func (p *pageBlocks) reset() { p.n, p.size = 0, 0 }

// held is the memory of all blocks.
func (p *pageBlocks) held() int {
	n := 0
	for _, b := range p.blocks {
		n += cap(b)
	}
	return n
}
