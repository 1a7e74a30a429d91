package fault

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pipelines/stores"
	"pipelines/stores/memory"
	"pipelines/stores/storetest"
)

func TestContract(t *testing.T) {
	storetest.Run(t, func(*testing.T) stores.Store {
		return New(memory.New(memory.Options{}), MustParse("read,write : wait 0s"))
	})
}

// TestScript runs calls and shows what became of each.
func TestScript(t *testing.T) {
	f := func(script string, calls string, want string) {
		t.Helper()
		inner := memory.New(memory.Options{})
		sc := MustParse(script)
		var crashes []string
		sc.Crash = func(where string) { crashes = append(crashes, where) }
		s := New(inner, sc)
		var got []string
		for _, c := range strings.Fields(calls) {
			op, key, _ := strings.Cut(c, ":")
			var err error
			switch op {
			case "put":
				err = s.Put(t.Context(), key, []byte("data"))
			case "absent":
				err = s.PutIfAbsent(t.Context(), key, []byte("data"))
			case "get":
				_, err = s.Get(t.Context(), key)
			case "upload":
				var u stores.Upload
				if u, err = s.Create(t.Context(), key); err == nil {
					if _, err = u.Write([]byte("data")); err == nil {
						err = u.Commit()
					}
				}
			default:
				err = sc.At(op)
			}
			data, gerr := inner.Get(t.Context(), key)
			held := fmt.Sprint(len(data))
			if gerr != nil {
				held = "-"
			}
			got = append(got, word(err)+held)
		}
		if g := strings.Join(append(got, crashes...), " "); g != want {
			t.Errorf("%q\n got %s\nwant %s", script, g, want)
		}
	}
	f("put : error", "put:a absent:b", "permanent- ok4")
	f("put key log/* nth 2 : error retryable no luck", "put:log/1 put:x put:log/2 put:log/3", "ok4 ok4 retryable- ok4")
	f("absent every 2 : after corrupt", "absent:a absent:b absent:c", "ok4 corrupt4 ok4")
	f("put,commit from 2 : full", "put:a put:b upload:c", "ok4 full- full-")
	f("put : torn 1\nwrite : torn 2", "put:a upload:b", "permanent1 permanent-")
	f("commit : torn 0", "upload:b", "permanent4")
	f("absent nth 2 : crash", "absent:a absent:b get:a put:c", "ok4 crashed- crashed4 crashed- absent b")
	f("absent : crash-after", "absent:a get:a", "crashed4 crashed4 absent a")
	f("prepared nth 2 : crash", "prepared prepared put:a", "ok- crashed- crashed- prepared")
	f("* nth 3 : error", "put:a get:a get:a get:a prepared", "ok4 ok4 permanent4 ok4 ok-")
	f("put key *b*d : error", "put:abcd put:bd put:db put:b/c/d", "permanent- permanent- ok4 permanent-")
}

func word(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, ErrCrashed):
		return "crashed"
	case errors.Is(err, stores.ErrFull):
		return "full"
	}
	return [...]string{"permanent", "retryable", "corrupt"}[stores.Classify(err)]
}

func TestBadScripts(t *testing.T) {
	for _, s := range []string{"put", "put : fly", "put key : error", "put nth x : error", "put : wait", "put : torn x", "put : full now", "put nth 0 : full", " : error x y"} {
		if _, err := Parse(s); err == nil {
			t.Errorf("%q was taken", s)
		}
	}
	sc := MustParse("# nothing\n\nput : full # all\nget : full")
	_ = New(memory.New(memory.Options{}), sc).Put(t.Context(), "a", nil)
	if idle := sc.Idle(); len(idle) != 1 || idle[0] != "get : full" {
		t.Errorf("idle: %v", idle)
	}
}
