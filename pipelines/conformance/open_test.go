// Package conformance_test runs the golden results of a real Spark
// (testdata/conformance) against the packages of this module, in-process.
//
// What cannot pass yet stands in testdata/conformance-open.txt, one case a
// line with its reason. A listed case that passes fails the test: the list
// only shrinks.
package conformance_test

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const root = "../../testdata/conformance"

// openCases reads the list for one corpus: case -> reason.
func openCases(t testing.TB, corpus string) map[string]string {
	t.Helper()
	f, err := os.Open("../../testdata/conformance-open.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string]string{}
	s := bufio.NewScanner(f)
	for s.Scan() {
		line := strings.TrimSpace(s.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		id, reason, _ := strings.Cut(line, " ")
		if reason = strings.TrimSpace(reason); reason == "" {
			t.Errorf("conformance-open.txt: %s has no reason", id)
		}
		if name, ok := strings.CutPrefix(id, corpus+"/"); ok {
			out[name] = reason
		}
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// openMu guards the maps of openCases: cases run side by side.
var openMu sync.Mutex

// judge compares the outcome of a case with the list.
func judge(t *testing.T, open map[string]string, name, why string) {
	t.Helper()
	openMu.Lock()
	reason, listed := open[name]
	delete(open, name)
	openMu.Unlock()
	switch {
	case why == "" && listed:
		t.Errorf("%s passes now: take it out of testdata/conformance-open.txt", name)
	case why != "" && !listed:
		t.Errorf("%s: %s", name, why)
	case why != "" && os.Getenv("CONFORMANCE_VERBOSE") != "":
		t.Logf("open: %s (%s): %s", name, reason, why)
	}
}

// leftOver reports listed cases that do not exist.
func leftOver(t *testing.T, open map[string]string) {
	t.Helper()
	for name := range open {
		t.Errorf("conformance-open.txt names %s, which is no case", name)
	}
}

func files(t testing.TB, pattern string) []string {
	t.Helper()
	out, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil || len(out) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	return out
}
