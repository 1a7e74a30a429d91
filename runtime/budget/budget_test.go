package budget

import (
	"errors"
	"strings"
	"sync"
	"testing"
)

func TestResize(t *testing.T) {
	b := New(1000, 2)
	x, y := b.Reserve("sort"), b.Reserve("join")
	if !x.Resize(900) || x.Held() != 900 || b.Used() != 900 {
		t.Fatal("a sole holder may have nearly all")
	}
	if x.Resize(1001) || x.Held() != 900 {
		t.Fatal("more than there is was granted")
	}
	if y.Resize(200) {
		t.Fatal("what is not there was granted")
	}
	if !y.Resize(b.Floor()) {
		t.Fatal("the floor was refused")
	}
	if !x.Resize(700) || x.Resize(800) {
		t.Fatal("shrinking is granted, growing above the share is not")
	}
	if !y.Resize(250) || b.Used() != 950 {
		t.Fatal("what was given back was not granted")
	}
	if x.Release(); !x.Resize(500) || x.Resize(501) {
		t.Fatal("a quarter is for those who have less than their share")
	}
	x.Release()
	y.Release()
	if b.Used() != 0 || !y.Resize(1000) {
		t.Fatal("released bytes are not there")
	}
}

func TestNeedNamesHolders(t *testing.T) {
	b := New(64<<20, 1)
	b.Reserve("join").Resize(50 << 20)
	err := b.Reserve("window").Need(20 << 20)
	e, ok := errors.AsType[*Exceeded](err)
	if !ok || e.Name != "window" || !strings.Contains(err.Error(), "held by join 50 MiB") {
		t.Fatalf("got %v", err)
	}
}

func TestNil(t *testing.T) {
	var b *Budget
	r := b.Reserve("x")
	if !r.Resize(1<<40) || r.Need(1<<40) != nil || r.Held() != 0 || b.Take(3) != 3 {
		t.Fatal("nil bounds something")
	}
	r.Release()
	b.Give(3)
	if !New(0, 1).Reserve("x").Resize(1 << 40) {
		t.Fatal("no bound bounds")
	}
}

func TestSlots(t *testing.T) {
	b := New(0, 3)
	if b.Take(2) != 2 || b.Take(2) != 1 || b.Take(2) != 1 {
		t.Fatal("slots")
	}
	b.Give(4)
	if b.Take(9) != 3 {
		t.Fatal("slots were not given back")
	}
}

func TestConcurrent(t *testing.T) {
	b := New(1<<30, 4)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			r := b.Reserve("x")
			for i := range int64(1000) {
				r.Resize(i << 10)
				b.Give(b.Take(2))
			}
			r.Release()
		})
	}
	wg.Wait()
	if b.Used() != 0 || b.Take(4) != 4 {
		t.Fatal("something is lost")
	}
}

func TestOwe(t *testing.T) {
	b := New(1<<20, 1)
	x, y := b.Reserve("join"), b.Reserve("sessions")
	if !x.Resize(1<<20) || y.Resize(100<<10) {
		t.Fatal("a sole holder may have all")
	}
	if y.Owe(300<<10) == nil || y.Owe(200<<10) != nil || y.Held() != 200<<10 {
		t.Fatal("half of the even share is owed, no more")
	}
	if x.Resize(1<<20) || !x.Resize(800<<10) || !x.Resize(800<<10) {
		t.Fatal("who has more than its share gives back what is owed")
	}
}

func TestDemand(t *testing.T) {
	b := New(1<<20, 1)
	x, y, z := b.Reserve("aggregate"), b.Reserve("table"), b.Reserve("window")
	if !x.Resize(600<<10) || z.Need(300<<10) != nil {
		t.Fatal("there was room")
	}
	if y.Need(400<<10) == nil || y.Demand(400<<10) != nil || y.Held() != 400<<10 {
		t.Fatal("what can be given back was not counted")
	}
	if err := y.Demand(900 << 10); y.Held() != 400<<10 || !again(err) {
		t.Fatal("more than half was lent twice")
	}
	if err := y.Demand(900 << 10); err == nil || again(err) {
		t.Fatal("another attempt would do no better")
	}
	if x.Resize(600<<10) || !x.Resize(200<<10) || !x.Resize(200<<10) {
		t.Fatal("who can give back was not asked to")
	}
	x.Release()
	if y.Demand(900<<10) == nil {
		t.Fatal("a holder that cannot give back was counted")
	}
	y.Release()
	z.Release()
	if x.Resize(600<<10) || !x.Resize(500<<10) || y.Demand(500<<10) != nil || !x.Resize(500<<10) {
		t.Fatal("half is kept for those who were refused")
	}
}

func again(err error) bool {
	e, ok := errors.AsType[*Exceeded](err)
	return ok && e.Again
}
