package spec

import (
	"testing"

	"pgregory.net/rapid"
)

func TestLockRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-z0-9_.:\-]{1,10}`)
		in := rapid.MapOf(name, rapid.StringN(1, 40, -1)).Draw(t, "schemas")
		lock, list := ParseLock(LockFile, FormatLock(in))
		if list != nil {
			t.Fatalf("%s\n%s", FormatLock(in), list.Render())
		}
		if len(lock.Names()) != len(in) {
			t.Fatalf("%d of %d schemas", len(lock.Names()), len(in))
		}
		for k, v := range in {
			if got := lock.Schema(k); got == nil || got.Body != v {
				t.Fatalf("%q: %v, want %q", k, got, v)
			}
		}
	})
}

func TestLockFaults(t *testing.T) {
	f := func(src, code string) {
		t.Helper()
		_, list := ParseLock(LockFile, []byte(src))
		if len(list) != 1 || string(list[0].Code) != code {
			t.Errorf("%q: %s", src, list.Render())
		}
	}
	f("version: 2\nschemas: {}\n", "INVALID_VALUE")
	f("version: 1\nschemas: [a]\n", "WRONG_TYPE")
	f("version: 1\n", "MISSING_KEY")
	f("version: 1\nschemas: {a: 'id INT'}\nmore: 1\n", "UNKNOWN_KEY")
	f("a: [", "INVALID_YAML")
	lock, _ := ParseLock(LockFile, []byte("version: 1\nschemas: {Orders: 'id INT'}\n"))
	if s := lock.Schema("ORDERS"); s == nil || s.Body != "id INT" || lock.Schema("x") != nil || (*Lock)(nil).Schema("x") != nil {
		t.Error("look-up")
	}
}
