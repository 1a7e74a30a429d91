package operator

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pipelines/runtime/budget"
)

type kept struct {
	until, idle int64
	value, note string
	flags       byte
}

func (x kept) time(kind int) int64 { return []int64{x.until, x.idle}[kind] }

// coldModel is runs beside a map that holds the same.
type coldModel struct {
	t    *testing.T
	rng  *rand.Rand
	c    cold
	rows map[string]kept
	now  int64
}

// hash is equal for many keys.
func (m *coldModel) hash(key string) uint64 {
	return uint64(len(key))<<60 | uint64(binary.BigEndian.Uint16([]byte(key[1:])))/7
}

func (m *coldModel) key() string { return fmt.Sprintf("k%d", 10+m.rng.IntN(5000)) }

// away writes a run of new keys.
func (m *coldModel) away() {
	away := map[string]kept{}
	for range 400 {
		key := m.key()
		if _, ok := m.rows[key]; ok {
			continue
		}
		x := kept{m.now + 1 + m.rng.Int64N(4000), m.now + 1 + m.rng.Int64N(4000), fmt.Sprint("value ", m.rng.IntN(1000)), "", byte(m.rng.IntN(8))}
		if m.rng.IntN(3) == 0 {
			x.until, x.note = noExpiry, "note"
		}
		away[key] = x
	}
	var keys []string
	for k, x := range away {
		keys, m.rows[k] = append(keys, k), x
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Compare(m.hash(a), m.hash(b)) })
	err := m.c.write(len(keys), func(put func(e *coldEntry) error) error {
		for _, k := range keys {
			x := away[k]
			if err := put(&coldEntry{hash: m.hash(k), until: x.until, idle: x.idle, key: []byte(k), value: []byte(x.value), note: []byte(x.note), flags: x.flags}); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = m.c.tidy()
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

// take takes keys out that are there or not.
func (m *coldModel) take() {
	for range 200 {
		key := m.key()
		want, there := m.rows[key]
		has, err := m.c.has(m.hash(key), []byte(key))
		if err != nil || has != there {
			m.t.Fatalf("%s is there: %v, want %v (%v)", key, has, there, err)
		}
		e, ok, err := m.c.take(m.hash(key), []byte(key))
		got := kept{e.until, e.idle, string(e.value), string(e.note), e.flags}
		if err != nil || ok != there || ok && got != want {
			m.t.Fatalf("%s: %v %v %v, want %v", key, err, ok, got, want)
		}
		delete(m.rows, key)
	}
}

// ask looks many keys up at once, there or not, and marks some of those that are.
func (m *coldModel) ask() {
	var asks []hashed
	var keys []string
	want := map[string]int{}
	for range 1 + m.rng.IntN(600) {
		key := m.key()
		asks, keys = append(asks, hashed{m.hash(key), int32(len(keys))}), append(keys, key)
		if _, ok := m.rows[key]; ok {
			want[key]++
		}
	}
	err := m.c.ask(asks, func(e *coldEntry, at coldFind, asks []hashed) error {
		key := string(e.key)
		if x := m.rows[key]; string(e.value) != x.value || e.flags != x.flags || e.until != x.until {
			m.t.Fatalf("%s is found with %q %d, want %v", key, e.value, e.flags, x)
		}
		for _, a := range asks {
			if keys[a.g] == key {
				want[key]--
			}
		}
		if m.rng.IntN(3) == 0 {
			m.c.mark(at)
			x := m.rows[key]
			x.value, x.flags = "\x01"+x.value[1:], x.flags|coldMarked|coldDirty
			m.rows[key] = x
		}
		return nil
	})
	for key, n := range want {
		if n != 0 || err != nil {
			m.t.Fatalf("%s is found %d times too few: %v", key, n, err)
		}
	}
}

// due lets time pass; what is due comes out by pieces, read or not.
func (m *coldModel) due(kind int) {
	left := 0
	for _, x := range m.rows {
		if x.time(kind) <= m.now {
			left++
		}
	}
	for read := true; ; read = !read {
		n, err := m.c.due(kind, m.now, 7, read, func(e *coldEntry) error {
			x, ok := m.rows[string(e.key)]
			if read && (!ok || x.time(kind) > m.now || string(e.value) != x.value || e.flags != x.flags) {
				m.t.Fatalf("%s is due with %q, want %v", e.key, e.value, x)
			}
			return nil
		})
		if err != nil {
			m.t.Fatal(err)
		}
		if left -= n; n == 0 {
			break
		}
	}
	if left != 0 {
		m.t.Fatalf("%d more are due", left)
	}
	for k, x := range m.rows {
		if x.time(kind) <= m.now {
			delete(m.rows, k)
		}
	}
}

// sweep compares all that is there.
func (m *coldModel) sweep() {
	n, last := 0, uint64(0)
	err := m.c.sweep(func(e *coldEntry) error {
		if e.hash < last || string(e.value) != m.rows[string(e.key)].value {
			m.t.Fatalf("a sweep gives %s with %q", e.key, e.value)
		}
		n, last = n+1, e.hash
		return nil
	})
	if err != nil || n != len(m.rows) || m.c.kept != n {
		m.t.Fatalf("a sweep gives %d of %d entries, want %d: %v", n, m.c.kept, len(m.rows), err)
	}
}

// TestColdRuns compares runs with a map: keys go away, come back one by one or
// by their times, and runs are merged.
func TestColdRuns(t *testing.T) {
	p := &Plan{env: Env{TempDir: t.TempDir(), Budget: budget.New(1<<20, 1)}} // 16 KiB are read at once
	m := &coldModel{t: t, rng: rand.New(rand.NewPCG(1, 2)), c: newCold(&memory{p: p, name: "test"}), rows: map[string]kept{}}
	for step := range 60 {
		m.away()
		m.take()
		m.ask()
		if step%5 == 0 {
			m.now += 300
			m.due(byTime)
			m.due(byIdle)
		}
		m.sweep()
	}
	if m.c.close(); len(p.spills) > 0 {
		t.Fatal("files are left open")
	}
}

// TestColdDamage: what is damaged in a run is said, and never taken for state.
func TestColdDamage(t *testing.T) {
	p := &Plan{env: Env{TempDir: t.TempDir()}}
	m := &coldModel{t: t, rng: rand.New(rand.NewPCG(1, 2)), c: newCold(&memory{p: p, name: "join"}), rows: map[string]kept{}}
	defer m.c.close()
	m.away()
	r := m.c.runs[0]
	all := func(*coldEntry) error { return nil }
	var seen []bool
	for _, place := range []int64{r.blocks[1].at + 40, r.times[byTime][0].place + 100} {
		var b [1]byte
		for range 2 { // damaged, and whole again
			if _, err := r.file.f.ReadAt(b[:], place); err != nil {
				t.Fatal(err)
			}
			b[0] ^= 4
			if _, err := r.file.f.WriteAt(b[:], place); err != nil {
				t.Fatal(err)
			}
			err := m.c.sweep(all)
			if err == nil {
				err = m.c.readTimes(r, &r.times[byTime][0])
			}
			seen = append(seen, errors.Is(err, errSpill))
		}
	}
	if !slices.Equal(seen, []bool{true, false, true, false}) {
		t.Fatalf("damage is seen: %v", seen)
	}
}

// coldTexts are keys in memory, of which a budget holds one.
type coldTexts struct {
	c     *cold
	texts map[string]string
	asked int64 // what was reserved beyond them when they were put away
}

func (x *coldTexts) bytes() int64 { return x.loose() + x.c.bytes() }

func (x *coldTexts) loose() (n int64) {
	for k, v := range x.texts {
		n += int64(len(k) + len(v))
	}
	return n
}

func (x *coldTexts) entries() int { return len(x.texts) }

func (x *coldTexts) hash(key string) uint64 { return uint64(key[0]) }

func (x *coldTexts) freeze() error {
	x.asked = x.c.mem.held.Held() - x.bytes()
	keys := slices.Sorted(maps.Keys(x.texts))
	err := x.c.write(len(keys), func(put func(e *coldEntry) error) error {
		for _, k := range keys {
			if err := put(&coldEntry{hash: x.hash(k), until: noExpiry, idle: noExpiry, key: []byte(k), value: []byte(x.texts[k])}); err != nil {
				return err
			}
		}
		return nil
	})
	clear(x.texts)
	return err
}

// TestColdRoom: keys of which memory holds one come back in turn; the files of
// those that came back are not kept.
func TestColdRoom(t *testing.T) {
	b := budget.New(1<<20, 1)
	p := &Plan{env: Env{TempDir: t.TempDir(), Budget: b}}
	c := newCold(&memory{p: p, name: "test", held: b.Reserve("test")})
	x := &coldTexts{c: &c, texts: map[string]string{"a": strings.Repeat("a", 400<<10)}}
	if err := x.freeze(); err != nil {
		t.Fatal(err)
	}
	x.texts["b"] = strings.Repeat("b", 400<<10)
	for turn := range 100 {
		key := []string{"a", "b"}[turn%2]
		if err := c.room(x, 400<<10); err != nil {
			t.Fatal(err)
		}
		e, ok, err := c.take(x.hash(key), []byte(key))
		if err != nil || !ok || string(e.value) != strings.Repeat(key, 400<<10) {
			t.Fatalf("turn %d: %v %v", turn, ok, err)
		}
		x.texts[key] = string(e.value)
	}
	if n := cap(c.read.span); n < 400<<10 {
		t.Errorf("%d bytes are in the buffer", n)
	} else if err := c.room(x, 0); err != nil || cap(c.read.span) > leastQuota {
		t.Errorf("the buffer of a large key is kept: %d bytes, %v", cap(c.read.span), err)
	}
	if n := len(p.spills); n > 3 {
		t.Errorf("%d files are open for one key that is away", n)
	}
	if c.close(); len(p.spills) > 0 || len(x.texts) != 1 {
		t.Fatalf("%d files are open, %d keys in memory", len(p.spills), len(x.texts))
	}
}

// TestFreezeBytes: what it takes to put keys away is reserved before they are.
func TestFreezeBytes(t *testing.T) {
	b := budget.New(1<<20, 1)
	p := &Plan{env: Env{TempDir: t.TempDir(), Budget: b}}
	c := newCold(&memory{p: p, name: "test", held: b.Reserve("test")})
	defer c.close()
	x := &coldTexts{c: &c, texts: map[string]string{}}
	n := 0
	for ; len(c.runs) == 0; n++ {
		x.texts[fmt.Sprint("key ", n)] = strings.Repeat("x", 90)
		if err := c.check(x, 0); err != nil {
			t.Fatal(err)
		}
	}
	// The last key was refused, the one before it was not.
	if want := freezeBytes(n-1) - 200; x.asked < want || want < 1<<18 {
		t.Errorf("%d bytes were reserved to put %d keys away, want %d", x.asked, n, want)
	}
}

// TestLargeBlock: a block that is too large is said, with the operator's name.
func TestLargeBlock(t *testing.T) {
	w := coldWriter{r: &coldRun{file: &spillFile{name: "top-n rows"}}}
	if n, err := w.size(math.MaxInt32); n != math.MaxInt32 || err != nil {
		t.Error(n, err)
	}
	if _, err := w.size(math.MaxInt32 + 1); err == nil || !strings.Contains(err.Error(), "top-n rows: spill: the state of one key takes 2048 MiB") {
		t.Error(err)
	}
}
