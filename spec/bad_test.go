package spec

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pipelines/spec/diag"
)

var (
	marker      = regexp.MustCompile(`(ERROR|WARNING): ([A-Z_0-9.]+)`)
	markerAbove = regexp.MustCompile(`ERROR AT (\d+): ([A-Z_0-9.]+)`)
)

// wantedMarks reads the marks of a file: "line severity code".
func wantedMarks(src string) []string {
	var out []string
	for i, line := range strings.Split(src, "\n") {
		if m := markerAbove.FindStringSubmatch(line); m != nil {
			out = append(out, fmt.Sprintf("%s error %s", m[1], m[2]))
			continue
		}
		for _, m := range marker.FindAllStringSubmatch(line, -1) {
			out = append(out, fmt.Sprintf("%d %s %s", i+1, strings.ToLower(m[1]), m[2]))
		}
	}
	sort.Strings(out)
	return out
}

func foundMarks(list diag.List) []string {
	var out []string
	for _, d := range list {
		out = append(out, fmt.Sprintf("%d %s %s", d.Span.Start.Line, d.Severity, d.Code))
	}
	sort.Strings(out)
	return out
}

// TestBad demands exactly the marked faults of each document in testdata/bad.
func TestBad(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			src, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			_, list := Parse(f, src, Options{Settings: []string{"spark.sql.ansi.enabled", "spark.sql.session.timeZone"}})
			if diff := cmp.Diff(wantedMarks(string(src)), foundMarks(list)); diff != "" {
				t.Errorf("marks (- wanted, + found):\n%s\n%s", diff, list.Render())
			}
			for _, d := range list {
				if _, known := d.Code.Lookup(); !known {
					t.Errorf("code %s is not in diag's list", d.Code)
				}
			}
		})
	}
}
