package checkpoint

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"pipelines/runtime/stream"
)

var testID = Identity{Dataset: "main.default.t", Flow: "f", Version: 1, AppID: "app"}

// fill writes epochs with ledgers and state, so that all kinds of pages occur.
func fill(t testing.TB, d *DB, from, to int64) {
	t.Helper()
	for e := from; e < to; e++ {
		off := stream.Offset(fmt.Sprintf(`{"log":%d}`, e))
		in := Intent{Epoch: e, Now: e, From: map[string]stream.Offset{"s": off}, To: map[string]stream.Offset{"s": off}}
		var files []Entry
		for i := range 20 {
			files = append(files, Entry{Key: fmt.Appendf(nil, "folder/file-%d-%d.json", e, i), Value: fmt.Appendf(nil, "%d", e)})
		}
		if err := d.WriteIntent(in, map[string][]Entry{"s": files}); err != nil {
			t.Fatal(err)
		}
		var state []StateChange
		for i := range 50 {
			c := StateChange{Operator: "agg", Entry: Entry{Key: fmt.Appendf(nil, "key-%d", i*7%60), Value: fmt.Appendf(nil, "%d", e)}}
			if i%9 == 8 {
				c.Value = nil
			}
			state = append(state, c)
		}
		if err := d.WritePrepared(Prepared{Epoch: e, Token: bytes.Repeat([]byte("t"), int(e)*300), Rows: e}, state); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.WriteMark(to - 1); err != nil {
		t.Fatal(err)
	}
}

// dump is everything that a flow reads.
func dump(d *DB) (string, error) {
	var b strings.Builder
	s, err := d.Load()
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&b, "%+v %+v %d %+v\n", s.Intent, s.Prepared, s.Marked, d.Identity())
	show := func(k, v []byte) error {
		fmt.Fprintf(&b, "%s=%s\n", k, v)
		return nil
	}
	if err := d.ReadLedger("s", show); err != nil {
		return "", err
	}
	if err := d.ReadState("agg", show); err != nil {
		return "", err
	}
	return b.String(), nil
}

// images returns a checkpoint's file after its last transaction, and the dumps
// after the last two.
func images(t testing.TB) (file []byte, right map[string]bool) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "flow.db")
	d, err := Settings{NoSync: true}.Create(path, testID)
	if err != nil {
		t.Fatal(err)
	}
	right = map[string]bool{}
	keepDump := func() {
		text, err := dump(d)
		if err != nil {
			t.Fatal(err)
		}
		right[text] = true
	}
	fill(t, d, 0, 12)
	keepDump()
	fill2 := Intent{Epoch: 12, From: map[string]stream.Offset{}, To: map[string]stream.Offset{}}
	if err := d.WriteIntent(fill2, map[string][]Entry{"s": {{Key: []byte("last"), Value: []byte("12")}}}); err != nil {
		t.Fatal(err)
	}
	keepDump()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if file, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	m, ok := bestMeta(bytes.NewReader(file))
	if !ok {
		t.Fatal("no meta page")
	}
	return file[:int64(m.pages)*m.pageSize], right
}

// try opens a damaged file as a run does: it must give right data or refuse,
// and then go on or refuse.
func try(t *testing.T, what string, file []byte, right map[string]bool) (refused bool) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "flow.db")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s: panic: %v", what, r)
		}
	}()
	refusal := func(err error) bool {
		if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", what, err)
		}
		return true
	}
	d, err := Settings{NoSync: true}.Open(path, testID)
	if err != nil {
		return refusal(err)
	}
	defer func() {
		if err := d.Close(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}()
	text, err := dump(d)
	if err != nil {
		return refusal(err)
	}
	if !right[text] {
		t.Errorf("%s: other data without a word", what)
	}
	if err := d.WriteIntent(Intent{Epoch: 13}, nil); err != nil {
		return refusal(err)
	}
	return false
}

// TestB25 opens crash images and damaged files.
func TestB25(t *testing.T) {
	file, right := images(t)
	if try(t, "whole", file, right) {
		t.Error("a whole file is refused")
	}
	page := os.Getpagesize()
	for n := 0; n < len(file); n += page / 2 {
		if !try(t, fmt.Sprintf("cut to %d", n), file[:n], right) {
			t.Errorf("cut to %d bytes and taken", n)
		}
	}
	change := func(what string, f func(b []byte)) bool {
		b := bytes.Clone(file)
		f(b)
		return try(t, what, b, right)
	}
	if !try(t, "zeros", make([]byte, len(file)), right) {
		t.Error("zeros are taken")
	}
	for n := 0; n+page <= len(file); n += page {
		kind := binary.LittleEndian.Uint16(file[n+8:])
		change(fmt.Sprintf("page %d of kind %d zeroed", n/page, kind), func(b []byte) { clear(b[n : n+page]) })
		change(fmt.Sprintf("page %d half", n/page), func(b []byte) { clear(b[n+page/2 : n+page]) })
		change(fmt.Sprintf("page %d copied", n/page), func(b []byte) { copy(b[n:n+page], b[3*page:4*page]) })
	}
	// One meta page gone: the transaction before, or the same.
	for i := range 2 {
		if change(fmt.Sprintf("meta page %d flipped", i), func(b []byte) { b[i*page+headerSize+40] ^= 1 }) {
			t.Errorf("one flipped meta page is refused")
		}
	}
	if !change("both meta pages flipped", func(b []byte) { b[headerSize+40] ^= 1; b[page+headerSize+40] ^= 1 }) {
		t.Error("two flipped meta pages are taken")
	}
}

// TestFlippedBits flips single bits everywhere.
func TestFlippedBits(t *testing.T) {
	file, right := images(t)
	r := rand.New(rand.NewPCG(1, 2))
	page := os.Getpagesize()
	for n := range 700 {
		at := r.IntN(len(file))
		if n%2 == 0 { // headers and elements are the tender parts
			at = r.IntN(len(file)/page)*page + r.IntN(160)
		}
		bit := byte(1) << r.IntN(8)
		b := bytes.Clone(file)
		b[at] ^= bit
		try(t, fmt.Sprintf("bit %#x of byte %d of page %d", bit, at%page, at/page), b, right)
	}
}

// TestB20 takes records away with bbolt itself.
func TestB20(t *testing.T) {
	take := func(what string, f func(tx *bolt.Tx) error) {
		t.Helper()
		file, right := images(t)
		path := filepath.Join(t.TempDir(), "x.db")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := bolt.Open(path, 0o600, &bolt.Options{NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(db.Update(f), db.Close()); err != nil {
			t.Fatal(err)
		}
		if file, err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
		if !try(t, what, file, right) {
			t.Errorf("%s: taken", what)
		}
	}
	take("no identity", func(tx *bolt.Tx) error { return tx.Bucket(bucketMeta).Delete(keyIdentity) })
	take("no head", func(tx *bolt.Tx) error { return tx.Bucket(bucketMeta).Delete(keyHead) })
	take("no totals", func(tx *bolt.Tx) error {
		return tx.Bucket(bucketMeta).Delete(totalKey(bucketLedger, []byte("s")))
	})
	take("no newest intent", func(tx *bolt.Tx) error { return tx.Bucket(bucketIntent).Delete(epochKey(12)) })
	take("no newest prepared", func(tx *bolt.Tx) error { return tx.Bucket(bucketReady).Delete(epochKey(11)) })
	take("no ledger", func(tx *bolt.Tx) error { return tx.Bucket(bucketLedger).DeleteBucket([]byte("s")) })
	take("one file less", func(tx *bolt.Tx) error {
		return tx.Bucket(bucketLedger).Bucket([]byte("s")).Delete([]byte("folder/file-3-3.json"))
	})
	take("another file instead", func(tx *bolt.Tx) error {
		b := tx.Bucket(bucketLedger).Bucket([]byte("s"))
		return errors.Join(b.Delete([]byte("folder/file-3-3.json")), b.Put([]byte("folder/file-3-x.json"), []byte("3")))
	})
	take("no state", func(tx *bolt.Tx) error { return tx.Bucket(bucketState).DeleteBucket([]byte("agg")) })
	for _, b := range buckets {
		take("no bucket "+string(b), func(tx *bolt.Tx) error { return tx.DeleteBucket(b) })
	}
}

func TestForeignAndMissing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "flow.db")
	if _, err := Open(path, testID); !errors.Is(err, ErrMissing) {
		t.Errorf("no file: %v", err)
	}
	d, err := Create(path, testID)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(path, testID); !errors.Is(err, os.ErrExist) {
		t.Errorf("made again: %v", err)
	}
	for _, id := range []Identity{{Dataset: "main.default.u", Flow: "f", Version: 1}, {Dataset: testID.Dataset, Flow: "g", Version: 1}, {Dataset: testID.Dataset, Flow: "f", Version: 2}} {
		if _, err := Open(path, id); !errors.Is(err, ErrForeign) {
			t.Errorf("%+v: %v", id, err)
		}
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, testID); !errors.Is(err, ErrDamaged) {
		t.Errorf("empty file: %v", err)
	}
	if _, err := Open(t.TempDir(), testID); err == nil {
		t.Errorf("a folder was opened")
	}
}

// TestB21: a second runner is told at once that the first has the file.
func TestB21(t *testing.T) {
	path := filepath.Join(t.TempDir(), "flow.db")
	d, err := Create(path, testID)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if _, err := Open(path, testID); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), path) {
		t.Errorf("second: %v", err)
	}
	if took := time.Since(start); took > 15*time.Second {
		t.Errorf("it took %v", took)
	}
	start = time.Now()
	for range 20 { // a look does not wait at all, whatever the number of flows
		if _, err := View(path); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), path) {
			t.Errorf("look: %v", err)
		}
	}
	if took := time.Since(start); took > lockWait {
		t.Errorf("20 looks took %v", took)
	}
	fill(t, d, 0, 2) // the first is untouched
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if d, err = Open(path, testID); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestCut takes the file away under an open database.
func TestCut(t *testing.T) {
	file, right := images(t)
	path := filepath.Join(t.TempDir(), "flow.db")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := Settings{NoSync: true}.Open(path, testID)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close() //nolint:errcheck // damaged on purpose
	if err := os.Truncate(path, int64(2*os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
	if text, err := dump(d); err == nil && !right[text] || err != nil && !errors.Is(err, ErrDamaged) {
		t.Errorf("%v", err)
	}
}

func FuzzOpen(f *testing.F) {
	file, right := images(f)
	f.Add(uint32(16), byte(1), uint32(4096), byte(1))
	f.Add(uint32(3*4096+8), byte(3), uint32(5*4096+16), byte(0xff))
	f.Fuzz(func(t *testing.T, a uint32, x byte, b uint32, y byte) {
		c := bytes.Clone(file)
		c[int(a)%len(c)] ^= x
		c[int(b)%len(c)] ^= y
		try(t, "two bytes", c, right)
	})
}

func BenchmarkOpen100000(b *testing.B) {
	path := filepath.Join(b.TempDir(), "flow.db")
	d, err := Create(path, testID)
	if err != nil {
		b.Fatal(err)
	}
	var files []Entry
	for i := range 100000 {
		files = append(files, Entry{Key: fmt.Appendf(nil, "2026/01/%02d/events-%08d.json", i%30, i), Value: []byte("12345678901234567")})
	}
	if err := errors.Join(d.WriteIntent(Intent{}, map[string][]Entry{"s": files}), d.Close()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		d, err := Open(path, testID)
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		if err := errors.Join(d.ReadLedger("s", func(_, _ []byte) error { n++; return nil }), d.Close()); err != nil || n != 100000 {
			b.Fatal(n, err)
		}
	}
}
