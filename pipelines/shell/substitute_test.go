package shell

import (
	"testing"

	"pipelines/spec/diag"
)

func TestSubstitute(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		got := Substitute(diag.NewText("-c", in), map[string]string{"a.b": "7"})
		if got.Body != want {
			t.Errorf("%s: got %s want %s", in, got.Body, want)
		}
	}
	f("SELECT 1", "SELECT 1")
	f("SELECT ${a.b} + ${a.b}", "SELECT 7 + 7")
	f("SELECT '[${n}]'", "SELECT '[]'")
	f("SET n=5; SELECT ${n}; SET n = 6; SELECT ${n}", "SET n=5; SELECT 5; SET n = 6; SELECT 6")
	text := Substitute(diag.NewText("-c", "SELECT ${a.b}, x"), map[string]string{"a.b": "123456"})
	at := len("SELECT 123456, ")
	if p := text.Span(diag.Range{Start: at, End: at + 1}); p.Start.Column != len("SELECT ${a.b}, ")+1 {
		t.Errorf("x stands at column %d", p.Start.Column)
	}
}
