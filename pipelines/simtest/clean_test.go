package simtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pipelines/pipelines"
	"pipelines/pipelines/event"
)

// cleaned is a project whose source takes away what was read.
func cleaned(t testing.TB, options, rest string) string {
	t.Helper()
	dir := folder(t)
	put(t, dir, "pipeline.yml", "name: p\nstorage: ./state\nsources:\n  - {name: raw, format: json, path: landing, schema: \"v BIGINT\", options: {"+options+"}}\n"+rest)
	return dir
}

const oneReader = "streaming_tables:\n  - {name: out, sql: \"SELECT v FROM STREAM(raw)\"}\n"

// files lists what lies below a folder.
func listed(t testing.TB, dir string) string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, p)
			out = append(out, rel)
		}
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// TestCleanSource: files go once their epoch is committed, and what comes
// later under a name that went is new.
func TestCleanSource(t *testing.T) {
	for _, mode := range []string{"delete", "archive, sourceArchiveDir: attic"} {
		dir := cleaned(t, `maxFilesPerTrigger: "1", cleanSource: `+mode, oneReader)
		put(t, dir, "landing/day=1/a.json", `{"v":1}`)
		put(t, dir, "landing/b.json", `{"v":2}`)
		steps := dryRun(t, dir)
		if got := listed(t, filepath.Join(dir, "landing")); got != "b.json day=1/a.json" {
			t.Errorf("the dry run left %s of\n%s", got, steps)
		}
		for n := range 3 {
			run(t, dir, pipelines.RunOptions{})
			if got := listed(t, filepath.Join(dir, "landing")); got != "" {
				t.Errorf("left: %s", got)
			}
			put(t, dir, "landing/b.json", fmt.Sprintf(`{"v":%d}`, 10+n))
		}
		run(t, dir, pipelines.RunOptions{})
		run(t, dir, pipelines.RunOptions{})
		want(t, dir, "out", "1", "10", "11", "12", "2")
		got := listed(t, filepath.Join(dir, "attic"+filepath.Join(dir, "landing")))
		if mode != "delete" && got != "b.json b.json.2 b.json.3 b.json.4 day=1/a.json" || mode == "delete" && got != "" {
			t.Errorf("archived: %s", got)
		}
		fails(t, dir, pipelines.RunOptions{FullRefresh: []string{"out"}}, "TABLE_NOT_RESETTABLE", "cleanSource")
		fails(t, dir, pipelines.RunOptions{FullRefreshAll: true}, "TABLE_NOT_RESETTABLE")
		want(t, dir, "out", "1", "10", "11", "12", "2")
	}
}

// TestCleanSourceCrash stops at each border, and again while recovering: no
// file goes before its rows are committed, and none stays for good.
func TestCleanSourceCrash(t *testing.T) {
	for n := 1; ; n++ {
		dir := cleaned(t, `maxFilesPerTrigger: "1", cleanSource: delete`, oneReader)
		for i := range 3 {
			put(t, dir, fmt.Sprintf("landing/%d.json", i), fmt.Sprintf(`{"v":%d}`, i))
		}
		stopped := false
		at := func(n int) func(string) error {
			count := 0
			return func(string) error {
				if count++; count == n {
					stopped = true
					return errors.New("crash")
				}
				return nil
			}
		}
		for _, k := range []int{n, n%7 + 1} {
			if _, err := runIn(dir, pipelines.RunOptions{Lanes: 1, At: at(k)}); err != nil {
				t.Fatal(err)
			}
			have := rows(t, dir, "out")
			for i := range 3 {
				v := fmt.Sprint(i)
				if _, err := os.Stat(filepath.Join(dir, "landing", v+".json")); err != nil && !slices.Contains(have, v) {
					t.Errorf("border %d: file %s is gone, its rows are not there", n, v)
				}
			}
			if k == n && !stopped {
				if n < 30 {
					t.Errorf("only %d borders", n)
				}
				return
			}
		}
		run(t, dir, pipelines.RunOptions{})
		want(t, dir, "out", "0", "1", "2")
		if got := listed(t, filepath.Join(dir, "landing")); got != "" {
			t.Errorf("border %d left %s", n, got)
		}
		if n > 25 {
			n += 4
		}
	}
}

// TestCleanSourceChanged: a file that is not what was read stays, and that is
// said once a run.
func TestCleanSourceChanged(t *testing.T) {
	dir := cleaned(t, "cleanSource: delete", oneReader)
	put(t, dir, "landing/a.json", `{"v":1}`)
	var notes []string
	listen := event.Listener{Note: func(n event.Note) { notes = append(notes, n.Message) }}
	run(t, dir, pipelines.RunOptions{Listener: listen, At: func(point string) error {
		if point == "commit.after" {
			put(t, dir, "landing/a.json", `{"v":1}{"v":2}`)
		}
		return nil
	}})
	if len(notes) != 1 || !strings.Contains(notes[0], "a.json changed after it was read") {
		t.Errorf("%q", notes)
	}
	put(t, dir, "landing/b.json", `{"v":3}`)
	run(t, dir, pipelines.RunOptions{})
	want(t, dir, "out", "1", "3")
	if got := listed(t, filepath.Join(dir, "landing")); got != "a.json" {
		t.Error(got)
	}
}

// again reads the source that other makes.
const again = "  - {name: again, sql: \"SELECT v FROM STREAM(twin)\"}\n"

func other(path, options string) string {
	return "  - {name: twin, format: json, path: " + path + ", schema: \"v BIGINT\", options: {" + options + "}}\n"
}

// TestCleanSourceRefused has the uses that would lose rows.
func TestCleanSourceRefused(t *testing.T) {
	for _, c := range []struct{ options, rest, want string }{
		{"cleanSource: archive", oneReader, "sourceArchiveDir"},
		{"cleanSource: archive, sourceArchiveDir: landing/old", oneReader, "lie in one another"},
		{"cleanSource: archive, sourceArchiveDir: .", oneReader, "lie in one another"},
		{"cleanSource: erase", oneReader, "cleanSource"},
		{"cleanSource: delete", oneReader + "  - {name: again, sql: \"SELECT v FROM STREAM(raw)\"}\n", "both read raw"},
		{"cleanSource: delete", oneReader + "materialized_views:\n  - {name: m, sql: \"SELECT v FROM raw\"}\n", "reads raw whole"},
		{"cleanSource: delete", other("landing", "") + oneReader + again, "again reads twin"},
		{"cleanSource: delete", other("landing/../landing", "cleanSource: delete") + oneReader + again, "again reads twin"},
		{"cleanSource: delete", other("landing/*.json", "") + oneReader + again, "again reads twin"},
		{"cleanSource: delete", other("landing/a.json", "") + oneReader + again, "again reads twin"},
		{"cleanSource: delete", other("'land*'", "recursiveFileLookup: 'true'") + oneReader + again, "again reads twin"},
		{"cleanSource: delete", oneReader + "materialized_views:\n  - {name: m, sql: \"SELECT v FROM json.`landing`\"}\n", "m reads"},
	} {
		dir := cleaned(t, c.options, c.rest)
		put(t, dir, "landing/a.json", `{"v":1}`)
		fails(t, dir, pipelines.RunOptions{}, c.want)
	}
	// Other files of the same folder are another source's own.
	apart := cleaned(t, "cleanSource: delete, pathGlobFilter: '*.json'", other("landing", "pathGlobFilter: '*.txt'")+oneReader+again)
	put(t, apart, "landing/a.json", `{"v":1}`)
	put(t, apart, "landing/a.txt", `{"v":2}`)
	run(t, apart, pipelines.RunOptions{})
	want(t, apart, "out", "1")
	want(t, apart, "again", "2")
	// One flow may read it twice: it is one scan.
	dir := cleaned(t, "cleanSource: delete", "streaming_tables:\n  - {name: out, sql: \"SELECT v FROM STREAM(raw) UNION ALL SELECT v + 1 FROM STREAM(raw)\"}\n")
	put(t, dir, "landing/a.json", `{"v":1}`)
	run(t, dir, pipelines.RunOptions{})
	want(t, dir, "out", "1", "2")
	// B-34: the files of a table are not cleaned.
	put(t, dir, "pipeline.yml", "name: p\nstorage: ./state\nsources:\n  - {name: raw, format: parquet, path: state/tables/main/default/out, schema: \"v BIGINT\", options: {cleanSource: delete}}\nstreaming_tables:\n  - {name: z, sql: \"SELECT v FROM STREAM(raw)\"}\n")
	fails(t, dir, pipelines.RunOptions{}, "out of the storage")
}
