package operator

import "testing"

type bugTaker struct{}

func (bugTaker) take(*dealt) error { panic("bug: test") }

// TestInletLock: lanes that hand rows to the same part do not wait for ever for
// one that has ended in a panic.
func TestInletLock(t *testing.T) {
	o := &outlet{}
	in := &inlet{x: &exchange{outlets: []*outlet{o}}, to: []taker{bugTaker{}}}
	func() {
		defer func() { _ = recover() }()
		_ = in.hand(&inletLane{}, 0)
	}()
	if !o.mu.TryLock() {
		t.Error("the part is locked")
	}
}
