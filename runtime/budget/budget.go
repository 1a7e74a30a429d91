package budget

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Budget lends bytes and worker slots.
type Budget struct {
	mu    sync.Mutex // guards all below
	limit int64
	used  int64
	live  map[*Reservation]struct{} // those that hold something
	slots int
	taken int
	tight bool
	// refused are the holders whose Demand was refused; half of the budget is
	// kept for such from then on.
	refused map[string]bool
}

// maxFloor is the most that a holder can always have.
const maxFloor = 1 << 20

// New returns a budget of bytes (0: no bound) and worker slots (at least 1).
func New(bytes int64, slots int) *Budget {
	return &Budget{limit: max(bytes, 0), live: map[*Reservation]struct{}{}, slots: max(slots, 1)}
}

// Tighten makes keyed state leave memory without need, for tests. Before the
// budget is used.
func (b *Budget) Tighten() { b.tight = true }

// Tight says that Tighten was called.
func (b *Budget) Tight() bool { return b != nil && b.tight }

// Limit returns the bytes that can be lent, 0 for no bound.
func (b *Budget) Limit() int64 {
	if b == nil {
		return 0
	}
	return b.limit
}

// Used returns the bytes that are lent.
func (b *Budget) Used() int64 {
	if b == nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Floor is what every holder can have, however short the budget is.
func (b *Budget) Floor() int64 { return min(b.Limit()/32, maxFloor) }

// Reserve makes a reservation of nothing yet; the name stands in errors.
func (b *Budget) Reserve(name string) *Reservation {
	if b == nil {
		return nil
	}
	return &Reservation{b: b, name: name}
}

// Take lends up to want worker slots and never less than one, so that nobody
// waits for a flow that runs for ever. Give them back with Give.
func (b *Budget) Take(want int) int {
	want = max(want, 1)
	if b == nil {
		return want
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	n := max(1, min(want, b.slots-b.taken))
	b.taken += n
	return n
}

// Give returns slots that Take lent.
func (b *Budget) Give(n int) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.taken -= n; b.taken < 0 {
		panic("bug: budget: more slots given back than taken")
	}
}

// Reservation is what one holder has.
type Reservation struct {
	b    *Budget
	name string
	held int64
	// yields says that the holder asks by Resize: it can give back.
	yields bool
	// demands says that it asks by Demand.
	demands bool
}

// Held returns the bytes that the holder has.
func (r *Reservation) Held() int64 {
	if r == nil {
		return 0
	}
	r.b.mu.Lock()
	defer r.b.mu.Unlock()
	return r.held
}

// Resize asks for total bytes altogether. Less than is held, or the floor, is
// always granted. More is refused when it is not there, or when it would be
// more than the holder's even share and leave less than a quarter of the budget
// for others; then nothing changes. While more is lent than there is (see Owe
// and Demand), what is held is refused too to those who have more than their even share.
func (r *Reservation) Resize(total int64) bool {
	if r == nil || r.b.limit == 0 {
		return true
	}
	b := r.b
	b.mu.Lock()
	defer b.mu.Unlock()
	r.yields = true
	room := b.roomLocked()
	if total > b.Floor() && (total > r.held || total == r.held && b.used > room) {
		holders := int64(len(b.live))
		if _, ok := b.live[r]; !ok {
			holders++
		}
		all := b.used - r.held + total
		if all > room || total > b.limit/holders && all > min(room, b.limit/4*3) {
			return false
		}
	}
	r.setLocked(total)
	return true
}

// Owe is Need for a holder that has given up all it could: half of its even
// share it gets also where others have it, who are refused when they ask next.
func (r *Reservation) Owe(total int64) error {
	err := r.Need(total)
	if err == nil {
		return nil
	}
	b := r.b
	b.mu.Lock()
	defer b.mu.Unlock()
	holders := int64(len(b.live))
	if _, ok := b.live[r]; !ok {
		holders++
	}
	if total > b.limit/holders/2 {
		return err
	}
	r.setLocked(total)
	return nil
}

// Need asks for total bytes for a holder that cannot do with less; shares do
// not count. The error is an *Exceeded.
func (r *Reservation) Need(total int64) error {
	if r == nil || r.b.limit == 0 {
		return nil
	}
	b := r.b
	b.mu.Lock()
	defer b.mu.Unlock()
	if total > r.held && total > b.Floor() && b.used-r.held+total > b.limit {
		return &Exceeded{Name: r.name, Wanted: total, Limit: b.limit, Holders: b.holdersLocked()}
	}
	r.setLocked(total)
	return nil
}

// Demand is Need for a holder that can give up nothing, whatever it is refused.
// What holders that can (those that use Resize) have beyond their floors counts
// as if it were free, for they are refused when they ask next; but no more than
// half of the budget is ever lent twice. Who is refused for the first time may
// try again: from then on half of the budget is kept for those who demand.
func (r *Reservation) Demand(total int64) error {
	err := r.Need(total)
	if r == nil || r.b.limit == 0 {
		return nil
	}
	b := r.b
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.demands = true; err == nil {
		return nil
	}
	yield := int64(0)
	for x := range b.live {
		if x != r && x.yields {
			yield += max(0, x.held-b.Floor())
		}
	}
	if b.used-r.held+total-b.limit > min(yield, b.limit/2) {
		if e, ok := errors.AsType[*Exceeded](err); ok {
			e.Again = !b.refused[r.name]
		}
		if b.refused == nil {
			b.refused = map[string]bool{}
		}
		b.refused[r.name] = true
		return err
	}
	r.setLocked(total)
	return nil
}

// roomLocked is what may be lent to those who can give back.
func (b *Budget) roomLocked() int64 {
	if len(b.refused) == 0 {
		return b.limit
	}
	kept := b.limit / 2
	for x := range b.live {
		if x.demands {
			kept -= x.held
		}
	}
	return b.limit - max(kept, 0)
}

// Release gives all back; the reservation can be used again.
func (r *Reservation) Release() {
	if r == nil {
		return
	}
	r.b.mu.Lock()
	defer r.b.mu.Unlock()
	r.setLocked(0)
}

func (r *Reservation) setLocked(total int64) {
	r.b.used += total - r.held
	r.held = total
	if total == 0 {
		delete(r.b.live, r)
	} else {
		r.b.live[r] = struct{}{}
	}
}

func (b *Budget) holdersLocked() []Holder {
	var out []Holder
	for r := range b.live {
		out = append(out, Holder{r.name, r.held})
	}
	slices.SortFunc(out, func(x, y Holder) int {
		return cmp.Or(cmp.Compare(y.Bytes, x.Bytes), strings.Compare(x.Name, y.Name))
	})
	return out
}

// Holder is who has how much.
type Holder struct {
	Name  string
	Bytes int64
}

// Exceeded is the error of a holder that needs more than there is.
type Exceeded struct {
	Name          string
	Wanted, Limit int64
	Holders       []Holder // the greatest first
	// Again says that another attempt may get it, see Demand.
	Again bool
}

func (e *Exceeded) Error() string {
	s := fmt.Sprintf("%s: %s do not fit into the memory of %s that operators may use", e.Name, size(e.Wanted), size(e.Limit))
	var held []string
	for _, h := range e.Holders[:min(len(e.Holders), 3)] {
		held = append(held, h.Name+" "+size(h.Bytes))
	}
	if len(held) > 0 {
		s += " (held by " + strings.Join(held, ", ") + ")"
	}
	return s + "; raise memory or reduce the input"
}

// size renders bytes for people.
func size(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 10<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 10<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
