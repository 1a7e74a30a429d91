package simtest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"pipelines/pipelines"
	"pipelines/pipelines/event"
)

// source is a project of one source and SELECT * over it.
func source(t testing.TB, format, schema, options string) string {
	t.Helper()
	dir := folder(t)
	put(t, dir, "pipeline.yml", fmt.Sprintf(`name: p
storage: ./state
sources:
  - name: raw
    format: %s
    path: landing
    schema: %q
    options: {%s}
streaming_tables:
  - {name: out, sql: "SELECT * FROM STREAM(raw)"}
`, format, schema, options))
	if err := os.MkdirAll(filepath.Join(dir, "landing"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestB45(t *testing.T) {
	dir := source(t, "csv", "i INT, x STRING", `header: "true", mode: FAILFAST`)
	var b strings.Builder
	b.WriteString("i,x\r\r\n")
	for i := range 10000 {
		fmt.Fprintf(&b, "%d,x\r\r\n", i)
	}
	put(t, dir, "landing/a.csv", b.String())
	answers := map[string]bool{}
	for _, o := range []pipelines.RunOptions{{Lanes: 1}, {Lanes: 2, BatchRows: 7}, {Lanes: 1, BatchRows: 1}, {Lanes: 2, BatchRows: 4096}} {
		if err := os.RemoveAll(filepath.Join(dir, "state")); err != nil {
			t.Fatal(err)
		}
		res, err := runIn(dir, o)
		if err == nil {
			err = failures(res)
		}
		if err != nil {
			answers["one error"] = true
			continue
		}
		ids := map[string]bool{}
		got := rows(t, dir, "out")
		for _, r := range got {
			ids[r] = true
		}
		answers[fmt.Sprintf("%d rows, %d distinct", len(got), len(ids))] = true
	}
	if len(answers) != 1 || !answers["10000 rows, 10000 distinct"] && !answers["one error"] {
		t.Errorf("%v", answers)
	}
}

func TestB46(t *testing.T) {
	dir := source(t, "csv", "a INT, b INT, c STRING", "")
	put(t, dir, "landing/a.csv", "1,2,3\n4,5,6\r\n7,8,9\n")
	run(t, dir, pipelines.RunOptions{})
	want(t, dir, "out", `1 2 "3"`, `4 5 "6"`, `7 8 "9"`)
	dir = source(t, "csv", "a STRING", "")
	put(t, dir, "landing/a.csv", "\"1\"\r\n1\r\n")
	run(t, dir, pipelines.RunOptions{})
	want(t, dir, "out", `"1"`, `"1"`)
}

func TestB47(t *testing.T) {
	const bom = "\xef\xbb\xbf"
	dir := source(t, "csv", "id INT, name STRING", `header: "true", enforceSchema: "false"`)
	put(t, dir, "landing/a.csv", bom+"id,name\n1,Mark\n2,Hannes\n")
	put(t, dir, "landing/b.csv", bom+"id,name\n3,"+bom+"x\n")
	run(t, dir, pipelines.RunOptions{})
	want(t, dir, "out", `1 "Mark"`, `2 "Hannes"`, `3 "`+bom+`x"`)
	dir = source(t, "json", "id INT", "mode: FAILFAST")
	put(t, dir, "landing/a.json", bom+"{\"id\":1}\n{\"id\":2}\n")
	run(t, dir, pipelines.RunOptions{})
	want(t, dir, "out", "1", "2")
	text, err := os.ReadFile(filepath.Join(dir, "pipeline.yml"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, "pipeline.yml", bom+string(text))
	run(t, dir, pipelines.RunOptions{})
}

func TestB48(t *testing.T) {
	zip := func(s string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, err := w.Write([]byte(s))
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	pack := func(s string) string { return string(enc.EncodeAll([]byte(s), nil)) }
	part := func(from int) string {
		var b strings.Builder
		for i := range 10 {
			fmt.Fprintf(&b, "{\"id\":%d}\n", from+i)
		}
		return b.String()
	}
	for ext, f := range map[string]func(string) string{"gz": zip, "zst": pack} {
		dir := source(t, "json", "id INT", "")
		put(t, dir, "landing/t.json."+ext, f(part(0))+f(part(10)))
		run(t, dir, pipelines.RunOptions{})
		if got := rows(t, dir, "out"); len(got) != 20 {
			t.Errorf("%s: %d rows", ext, len(got))
		}
		cut := f(part(20)) + f(part(30))
		put(t, dir, "landing/u.json."+ext, cut[:len(cut)-9])
		fails(t, dir, pipelines.RunOptions{}, "landing/u.json."+ext)
		if got := rows(t, dir, "out"); len(got) != 20 {
			t.Errorf("%s cut: %d rows", ext, len(got))
		}
	}
	dir := source(t, "json", "id INT", "")
	put(t, dir, "landing/t.json.gz", zip(part(0))+zip(part(10))+strings.Repeat("\x00", 512))
	run(t, dir, pipelines.RunOptions{})
	if got := rows(t, dir, "out"); len(got) != 20 {
		t.Errorf("trailing zeros: %d rows", len(got))
	}
}

// notes collects what a run tells.
func notes(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	run(t, dir, pipelines.RunOptions{Listener: event.Listener{Note: func(n event.Note) { fmt.Fprintln(&b, n.Message) }}})
	return b.String()
}

// TestB49: a file is read whole when it is found; what is appended later is
// said and not read.
func TestB49(t *testing.T) {
	dir := source(t, "json", "a INT", "")
	put(t, dir, "landing/a.json", "{\"a\":1}\n{\"a\":2}") // no newline at the end
	run(t, dir, pipelines.RunOptions{})
	want(t, dir, "out", "1", "2")
	f, err := os.OpenFile(filepath.Join(dir, "landing/a.json"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString("\n{\"a\":3}\n")
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	if said := notes(t, dir); !strings.Contains(said, "landing/a.json changed after it was read") {
		t.Errorf("%q", said)
	}
	want(t, dir, "out", "1", "2")
}

func TestB50(t *testing.T) {
	for _, change := range []string{"same time", "newer", "shorter"} {
		dir := source(t, "csv", "a INT", "")
		path := filepath.Join(dir, "landing/a.csv")
		put(t, dir, "landing/a.csv", "1\n2\n")
		run(t, dir, pipelines.RunOptions{})
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		switch change {
		case "same time":
			put(t, dir, "landing/a.csv", "3\n4\n")
			err = os.Chtimes(path, time.Time{}, st.ModTime())
		case "newer":
			put(t, dir, "landing/a.csv", "3\n4\n")
		case "shorter":
			err = errors.Join(os.WriteFile(path, []byte("3\n"), 0o600), os.Chtimes(path, time.Time{}, st.ModTime()))
		}
		if err != nil {
			t.Fatal(err)
		}
		if said := notes(t, dir); !strings.Contains(said, "landing/a.csv changed after it was read") {
			t.Errorf("%s: %q", change, said)
		}
		want(t, dir, "out", "1", "2")
	}
}

// TestB50Overwrites: with the option a changed file is read again, once for
// each change, also while the pipeline runs on and after a crash.
func TestB50Overwrites(t *testing.T) {
	for _, limit := range []string{"", `, maxFilesPerTrigger: "1"`} {
		dir := source(t, "csv", "a INT", `allowOverwrites: "true"`+limit)
		put(t, dir, "landing/a.csv", "1\n2\n")
		put(t, dir, "landing/b.csv", "7\n")
		run(t, dir, pipelines.RunOptions{})
		put(t, dir, "landing/a.csv", "3\n4\n")
		for _, point := range []string{"read.after", "prepared.after", "commit.after"} {
			if _, err := runIn(dir, pipelines.RunOptions{At: func(p string) error {
				if p == point {
					return errors.New("crash")
				}
				return nil
			}}); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if said := notes(t, dir); said != "" {
				t.Errorf("said %q", said)
			}
			want(t, dir, "out", "1", "2", "3", "4", "7")
		}
		put(t, dir, "landing/a.csv", "5\n")
		put(t, dir, "landing/b.csv", "8\n")
		run(t, dir, pipelines.RunOptions{})
		want(t, dir, "out", "1", "2", "3", "4", "5", "7", "8")
	}
}

func TestB51(t *testing.T) {
	dir := source(t, "json", "long BIGINT, _corrupt_record STRING", "")
	in := []string{"228930314431312345", "9223372036854775807", "-9223372036854775808"}
	for i, n := range in {
		put(t, dir, fmt.Sprintf("landing/%d.json", i), `{"long":`+n+`}`)
	}
	run(t, dir, pipelines.RunOptions{})
	want(t, dir, "out", in[0]+" null", in[1]+" null", in[2]+" null")
	put(t, dir, "landing/9.json", `{"long":9223372036854775808}`)
	run(t, dir, pipelines.RunOptions{})
	want(t, dir, "out", in[0]+" null", in[1]+" null", in[2]+" null", `null "{\"long\":9223372036854775808}"`)
}

func TestB53(t *testing.T) {
	dir := folder(t)
	document(t, dir, "s STRING", `streaming_tables:
  - {name: out, sql: "SELECT length(s) AS n FROM STREAM(raw)"}
`)
	put(t, dir, "landing/a.json", `{"s":"a\u0000b"}`+"\n"+`{"s":"\ud83d\ude00"}`+"\n"+`{"s":"\ud800"}`+"\n{\"s\":\"\u00e9\"}\n{\"s\":\"e\u0301\"}\n{\"s\":\"\xff\"}\n{\"s\":\"last\"}\n")
	run(t, dir, pipelines.RunOptions{})
	got := strings.Join(rows(t, dir, "out"), " ")
	t.Log(got)
	for _, n := range []string{"3", "1", "2", "4"} {
		if !strings.Contains(got, n) {
			t.Errorf("%s in %s", n, got)
		}
	}
	if len(strings.Fields(got)) != 7 {
		t.Errorf("%s", got)
	}
}

func TestB67(t *testing.T) {
	dir := source(t, "csv", "camelCaseColumn STRING", `header: "true", enforceSchema: "false"`)
	put(t, dir, "landing/a.csv", "\"camelCaseColumn\"\nfoo\n")
	put(t, dir, "landing/b.csv", "camelCaseColumn\n")
	run(t, dir, pipelines.RunOptions{})
	want(t, dir, "out", `"foo"`)
}

// TestVanished: a file that was planned and is gone stops the flow, by name;
// with ignoreMissingFiles it is left out.
func TestVanished(t *testing.T) {
	for _, ignore := range []string{"false", "true"} {
		dir := source(t, "json", "a INT", fmt.Sprintf("ignoreMissingFiles: %q", ignore))
		put(t, dir, "landing/a.json", `{"a":1}`)
		put(t, dir, "landing/b.json", `{"a":2}`)
		if !child(t, order{Dir: dir, Point: "intent.after", Nth: 1}) {
			t.Fatal("not killed")
		}
		if err := os.Rename(filepath.Join(dir, "landing/b.json"), filepath.Join(dir, "b")); err != nil {
			t.Fatal(err)
		}
		if ignore == "true" {
			run(t, dir, pipelines.RunOptions{})
			want(t, dir, "out", "1")
			continue
		}
		fails(t, dir, pipelines.RunOptions{}, "landing/b.json", "FILE_NOT_EXIST", "ignoreMissingFiles")
		want(t, dir, "out")
		if err := os.Rename(filepath.Join(dir, "b"), filepath.Join(dir, "landing/b.json")); err != nil {
			t.Fatal(err)
		}
		run(t, dir, pipelines.RunOptions{})
		want(t, dir, "out", "1", "2")
	}
}
