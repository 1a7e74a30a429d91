package spec

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestLimits demands a quick answer for documents that are made to cost.
func TestLimits(t *testing.T) {
	f := func(name, doc, code string) {
		t.Helper()
		start := time.Now()
		_, list := Parse("p.yml", []byte(doc), Options{})
		if d := time.Since(start); d > 15*time.Second {
			t.Errorf("%s took %v", name, d)
		}
		for _, d := range list {
			if string(d.Code) == code {
				return
			}
		}
		t.Errorf("%s: no %s in %d faults", name, code, len(list))
	}
	f("nested", "name: "+strings.Repeat("[", 20000), "INVALID_YAML")
	f("nested well", "name: "+strings.Repeat("[", 200)+strings.Repeat("]", 200), "DOCUMENT_TOO_LARGE")
	f("large", "name: a\ncomment: "+strings.Repeat("x", 1<<20), "DOCUMENT_TOO_LARGE")
	f("one line", "views: ["+strings.Repeat("{é: 1},", 30000)+"]", "TOO_MANY_FAULTS")
	f("many nodes", "views: ["+strings.Repeat("a,", 120000)+"]", "DOCUMENT_TOO_LARGE")
	f("aliases", "configuration: &a {k: v, l: w}\nviews: ["+strings.Repeat("*a,", 15000)+"]", "TOO_MANY_FAULTS")
	conf := "configuration:\n  a0: xxxxxxxxxx\n"
	for i := 1; i < 20; i++ {
		conf += fmt.Sprintf("  a%d: %s\n", i, strings.Repeat(fmt.Sprintf("${a%d}", i-1), 10))
	}
	f("configuration bomb", "name: a\nstorage: b\n"+conf, "DOCUMENT_TOO_LARGE")
	f("control", "name: \x00", "INVALID_YAML")
	f("latin1", "name: caf\xe9", "INVALID_YAML")
	f("utf16", "\xff\xfen\x00a\x00", "INVALID_YAML")
	var big strings.Builder
	big.WriteString("name: a\nstorage: b\nmaterialized_views:\n")
	for i := range 2000 {
		fmt.Fprintf(&big, "  - name: v%d\n    sql: |\n      SELECT a, b, c\n      FROM x%d\n", i, i)
	}
	start := time.Now()
	p, list := Parse("p.yml", []byte(big.String()), Options{})
	if list != nil || len(p.Datasets) != 2000 {
		t.Errorf("2,000 datasets: %d, %s", len(p.Datasets), list.Render())
	}
	t.Logf("2,000 datasets: %v", time.Since(start))
}
