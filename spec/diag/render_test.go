package diag

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestRender runs testdata/render: the input is a document in which ‹› marks
// the place; "inner" makes the text from line 2 on an embedded one.
func TestRender(t *testing.T) {
	datadriven.RunTest(t, "testdata/render", func(t *testing.T, d *datadriven.TestData) string {
		src := strings.NewReplacer(`\t`, "\t", `\e`, "\x1b").Replace(d.Input)
		start := strings.Index(src, "‹")
		src = strings.Replace(src, "‹", "", 1)
		end := strings.Index(src, "›")
		src = strings.Replace(src, "›", "", 1)
		file := NewFile("orders.yml", src)
		text := NewText("orders.yml", src)
		r := Range{start, end}
		if d.HasArg("inner") {
			from := strings.IndexByte(src, '\n') + 1
			text = NewMapped(file, src[from:], []Segment{{FileOffset: from}}, false)
			r = Range{start - from, end - from}
		}
		diagnostic := At(text, r, "TABLE_OR_VIEW_NOT_FOUND", `unknown dataset "order_raw"`)
		if d.HasArg("hint") {
			diagnostic = diagnostic.WithHint(`did you mean "orders_raw" (orders.yml:3:5)?`)
		}
		if d.HasArg("related") {
			diagnostic = diagnostic.WithRelated(Span{File: "other.yml", Start: Pos{3, 5, 20}, End: Pos{3, 9, 24}}, "the first one")
		}
		if d.HasArg("warn") {
			diagnostic = diagnostic.Warn()
		}
		list := List{diagnostic}
		switch d.Cmd {
		case "text":
			return list.Render()
		case "json":
			out, err := json.MarshalIndent(list, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			return string(out)
		case "github":
			return list.GitHub()
		case "sarif":
			return string(list.SARIF("1.0"))
		case "junit":
			return string(list.JUnit("validate", []string{"a.yml", "orders.yml"}))
		}
		return fmt.Sprintf("unknown command %s", d.Cmd)
	})
}

func TestRenderLongLine(t *testing.T) {
	text := NewText("f", strings.Repeat("x", 500)+"here"+strings.Repeat("y", 500))
	got := Render(At(text, Range{500, 504}, "X", "m"))
	lines := strings.Split(got, "\n")
	at := strings.Index(lines[2], "^")
	// Both lines count runes, and the shown part starts with one rune "…".
	if at < 0 || len(lines[1]) > 150 || string([]rune(lines[1])[at:at+4]) != "here" {
		t.Errorf("caret does not stand below the place:\n%s", got)
	}
}

func TestCodes(t *testing.T) {
	seen := map[Code]bool{}
	for _, c := range Codes() {
		if seen[c.Code] {
			t.Errorf("%s stands twice", c.Code)
		}
		seen[c.Code] = true
		if c.Doc == "" || strings.Contains(c.Doc, "\n") || !strings.HasSuffix(c.Doc, ".") {
			t.Errorf("%s: the doc is one sentence, not %q", c.Code, c.Doc)
		}
		if n := len(c.SQLState); n != 0 && n != 5 {
			t.Errorf("%s: state %q", c.Code, c.SQLState)
		}
		if class, _, sub := strings.Cut(string(c.Code), "."); sub {
			if _, ok := Code(class).Lookup(); !ok {
				t.Errorf("%s: its class is not listed", c.Code)
			}
		}
	}
	for code, want := range map[Code]string{"UNRESOLVED_COLUMN.WITH_SUGGESTION": "42703", "UNRESOLVED_COLUMN": "42703", "INVALID_INLINE_TABLE.NEW": "42000", "WRONG_TYPE": "", "NOT_LISTED": ""} {
		if got := code.SQLState(); got != want {
			t.Errorf("%s: state %q, want %q", code, got, want)
		}
	}
}

func TestSuggest(t *testing.T) {
	names := []string{"orders", "orders_raw", "customers", "id", "x", "spark.sql.ansi.enabled"}
	for in, want := range map[string]string{
		"order_raw": "orders_raw", "ORDERS": "orders", "odrers": "orders", "customer": "customers", "cust": "customers",
		"zzz": "", "y": "", "di": "id", "spark.sql.ansi.enable": "spark.sql.ansi.enabled", "": "",
	} {
		if got := Suggest(in, names); got != want {
			t.Errorf("Suggest(%q) = %q, want %q", in, got, want)
		}
	}
	if got := SuggestAll("orders_", names, 2); len(got) != 2 || got[0] != "orders" {
		t.Errorf("SuggestAll: %v", got)
	}
}
