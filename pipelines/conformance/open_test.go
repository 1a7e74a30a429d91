// Package conformance_test runs the golden results of a real Spark
// (testdata/conformance) against the packages of this module, in-process.
//
// What cannot pass yet stands in testdata/conformance-open.txt, what a rule of
// ours overrules in testdata/conformance-overruled.txt, one case a line with
// its reason. A listed case that passes fails the test.
package conformance_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const root = "../../testdata/conformance"

// lists are the files of cases that do not pass.
var lists = []string{"conformance-open.txt", "conformance-overruled.txt"}

// openCases reads the lists for one corpus: case -> reason.
func openCases(t testing.TB, corpus string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range lists {
		text, err := os.ReadFile(filepath.Join("../../testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			id, reason, _ := strings.Cut(line, " ")
			if reason = strings.TrimSpace(reason); reason == "" {
				t.Errorf("%s: %s has no reason", name, id)
			}
			if c, ok := strings.CutPrefix(id, corpus+"/"); ok {
				out[c] = reason
			}
		}
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
		t.Errorf("%s passes now: take it out of the lists in testdata", name)
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
		t.Errorf("the lists in testdata name %s, which is no case", name)
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
