package column

import (
	"sync"

	"pipelines/tables/schema"
)

// Pool recycles vectors and batch headers. It is safe for concurrent use; a
// flow has one. A nil *Pool makes vectors that are never recycled.
type Pool struct {
	mu      sync.Mutex // guards all below; held for memory work only
	vectors map[Physical][]*Vector
	batches []*Batch
	live    int // vectors handed out and not yet released
	liveB   int
}

// NewPool returns an empty pool.
func NewPool() *Pool { return &Pool{vectors: map[Physical][]*Vector{}} }

// Vector returns an empty vector of type t with one reference.
func (p *Pool) Vector(t schema.Type) *Vector {
	if p == nil {
		return New(t)
	}
	ph := PhysicalOf(t)
	p.mu.Lock()
	free := p.vectors[ph]
	var v *Vector
	if n := len(free); n > 0 {
		v = free[n-1]
		p.vectors[ph] = free[:n-1]
	}
	p.live++
	p.mu.Unlock()
	if v == nil {
		v = &Vector{}
	}
	v.refs.Store(1)
	v.reset(t, p)
	return v
}

// Batch returns an empty header with one reference.
func (p *Pool) Batch() *Batch {
	if p == nil {
		b := &Batch{}
		b.refs.Store(1)
		return b
	}
	p.mu.Lock()
	var b *Batch
	if n := len(p.batches); n > 0 {
		b = p.batches[n-1]
		p.batches = p.batches[:n-1]
	}
	p.liveB++
	p.mu.Unlock()
	if b == nil {
		b = &Batch{pool: p}
	}
	b.refs.Store(1)
	return b
}

func (p *Pool) put(v *Vector) {
	p.mu.Lock()
	p.live--
	ph := PhysicalOf(v.Type)
	p.vectors[ph] = append(p.vectors[ph], v)
	p.mu.Unlock()
}

func (p *Pool) putBatch(b *Batch) {
	p.mu.Lock()
	p.liveB--
	p.batches = append(p.batches, b)
	p.mu.Unlock()
}

// Live returns how many vectors and batches are handed out and not released:
// both are zero when nothing leaks.
func (p *Pool) Live() (vectors, batches int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.live, p.liveB
}
