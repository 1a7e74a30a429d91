// Package budget is the one owner of the process' memory and cores: bytes are
// lent by reservation, worker slots by count. What does not fit is refused; who
// is refused spills, or fails with an error that names the holders.
//
// Reading order: Budget (New, Reserve, Take), Reservation (Resize, Need).
//
//	b := budget.New(bytes, slots)
//	r := b.Reserve("sort")
//	if !r.Resize(need) { spill }
//	defer r.Release()
//
// Invariants: a holder can always have its floor, a small share of the whole,
// so that every operator makes progress; apart from floors, and what Owe and Demand
// grant until others give it back, never more is lent than there is. Resize also keeps
// one holder from taking what others, that hold something too, are due. A nil
// *Budget and a nil *Reservation bound nothing. All is safe for concurrent use.
//
// pipelines makes the Budget; runtime/flow passes it to operators. The package
// imports nothing.
package budget
