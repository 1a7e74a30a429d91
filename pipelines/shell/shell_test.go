package shell

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"pipelines/pipelines"
	"pipelines/runtime/flow"
	"pipelines/spec/diag"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

func session(t *testing.T, lanes int) *Session {
	t.Helper()
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	r, err := pipelines.BareReader(context.Background(), t.TempDir(), now)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{Reader: r, Lanes: lanes, Now: now, User: "me"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// run runs a script; errors are printed as [CLASS] message.
func runScript(t *testing.T, s *Session, script string, form Format) string {
	t.Helper()
	var buf bytes.Buffer
	p, err := NewPrinter(form, &buf, &buf)
	if err != nil {
		t.Fatal(err)
	}
	text := diag.NewText("script", script)
	list := s.Parse(text)
	for i := range list {
		p.Begin(i+1, text.Span(list[i].At).Start.Line, s.Settings())
		f := s.Run(context.Background(), &list[i], text, p)
		if f != nil && !p.isJSON() {
			_ = f.Render()
			buf.WriteString(f.Error() + "\n")
			continue
		}
		if err := p.End(f); err != nil {
			t.Fatal(err)
		}
	}
	return buf.String()
}

// TestSessions runs testdata: a file is a session, each block a script; that of
// lanes.txt has four lanes.
func TestSessions(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		lanes := 1
		if strings.HasSuffix(path, "lanes.txt") {
			lanes = 4
		}
		s := session(t, lanes)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return runScript(t, s, d.Input, Format(d.Cmd))
		})
		if v, b := s.pool.Live(); v != 0 || b != 0 {
			t.Errorf("%d vectors and %d batches are not released", v, b)
		}
	})
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"*", "", true}, {"a*", "abc", true}, {"a*", "bac", false}, {"*b*", "abc", true}, {"a*c", "abc", true},
		{"a*c", "abcd", false}, {"abc", "abc", true}, {"ab", "abc", false}, {"a*b*c", "aXbYc", true}, {"a*a", "a", false}, {"", "", true},
	} {
		if got := matches(c.pattern, c.s); got != c.want {
			t.Errorf("matches(%q, %q) = %v", c.pattern, c.s, got)
		}
	}
}

func TestPruned(t *testing.T) {
	inner := schema.StructOf(schema.Field{Name: "a", Type: schema.Of(schema.Int32)}, schema.Field{Name: "b", Type: schema.Of(schema.String)})
	list := schema.ArrayOf(inner, true)
	v := column.FromValues(list, []any{[]any{int32(1), "x"}, []any{int32(2), "y"}}, nil)
	want := schema.ArrayOf(schema.StructOf(schema.Field{Name: "b", Type: schema.Of(schema.String)}), true)
	out := pruned(v, want)
	if out.Len != 2 || !out.IsNull(1) || string(out.Children[0].Children[0].Str(1)) != "y" || len(out.Children[0].Children) != 1 {
		t.Errorf("%+v", out)
	}
	out.Release()
	v.Release()
}

// A panic of ours becomes a failure, not the end of the session.
func TestInternal(t *testing.T) {
	f := internal("bug: x", []byte("stack"))
	if f.Class != "INTERNAL_ERROR" || !strings.Contains(f.Message, "bug: x") {
		t.Errorf("%+v", f)
	}
	lane := flow.Guard(func() error { panic("bug: x") })
	if f = failure(fmt.Errorf("read t: %w", lane), nil); f.Class != "INTERNAL_ERROR" || !strings.HasPrefix(f.Message, "bug: x\n") {
		t.Errorf("%+v", f)
	}
}

func TestUnknownForm(t *testing.T) {
	if _, err := NewPrinter("xml", nil, nil); err == nil || !strings.Contains(err.Error(), "jsonstrings") {
		t.Errorf("%v", err)
	}
}
