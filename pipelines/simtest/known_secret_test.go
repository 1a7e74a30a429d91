package simtest

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pipelines/pipelines"
	"pipelines/pipelines/event"
)

// More of the list of known failures: what must not be seen.

func TestB70(t *testing.T) {
	const mark = "hunter2-MARK"
	clean := func(what, text string) {
		t.Helper()
		if strings.Contains(text, mark) {
			t.Errorf("%s shows the secret: %.500s", what, text)
		}
	}
	doc := func(options, sql string) string {
		return "  - name: kept\n    format: csv\n    path: kept\n    schema: \"v STRING\"\n    options: " + options + "\nstreaming_tables:\n  - {name: out, sql: \"" + sql + "\"}\n"
	}
	for what, x := range map[string][2]string{
		"good":         {`{pathGlobFilter: "*${env:X}.csv"}`, "SELECT v FROM STREAM(kept)"},
		"row fails":    {`{pathGlobFilter: "*.csv", nullValue: "${env:X}"}`, "SELECT CAST(v AS INT) AS v FROM STREAM(kept)"},
		"bad value":    {`{header: "${env:X}"}`, "SELECT v FROM STREAM(kept)"},
		"bad number":   {`{maxFilesPerTrigger: "${env:X}"}`, "SELECT v FROM STREAM(kept)"},
		"unknown name": {`{hedaer: "${env:X}"}`, "SELECT v FROM STREAM(kept)"},
	} {
		dir := project(t, "v BIGINT", doc(x[0], x[1]))
		name := "kept/1.csv"
		if what == "good" {
			name = "kept/1" + mark + ".csv"
		}
		put(t, dir, name, "x\n")
		p, list, err := pipelines.Load(t.Context(), pipelines.LoadOptions{Path: dir, Env: func(string) (string, bool) { return mark, true }})
		if err != nil {
			t.Fatal(err)
		}
		clean(what+": findings", list.Render())
		if bad := what != "good" && what != "row fails"; bad != list.HasErrors() {
			t.Errorf("%s: %s", what, list.Render())
		} else if bad {
			continue
		}
		var out bytes.Buffer
		events := ""
		o := pipelines.RunOptions{Out: &out, Listener: event.Listener{FlowChanged: func(e event.FlowChanged) { events += fmt.Sprintf("%+v\n", e) }}}
		res, list, err := p.Run(t.Context(), t.Context(), o)
		if err == nil {
			err = failures(res)
		}
		if what == "good" {
			if err != nil {
				t.Fatal(err)
			}
			want(t, dir, "out", `"x"`)
			continue // the name of the file holds the mark
		}
		if err == nil {
			t.Errorf("%s: it ran", what)
		}
		clean(what+": result", fmt.Sprintf("%+v %s %v %s %s", res, list.Render(), err, out.String(), events))
		clean(what+": project", fmt.Sprintf("%+v %#v", p, p.Graph()))
		err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			clean(what+": "+path, string(text))
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestB71(t *testing.T) {
	const bad = `</script><script>alert(1)</script><img src=x onerror="alert(1)">`
	dir := project(t, "v BIGINT", "views:\n  - name: '"+bad+"'\n    sql: SELECT v FROM STREAM(raw)\nstreaming_tables:\n  - name: out\n    sql: SELECT v FROM STREAM(`"+bad+"`)\n")
	p, list, err := pipelines.Load(t.Context(), pipelines.LoadOptions{Path: dir})
	if err != nil || list.HasErrors() {
		t.Fatal(err, list.Render())
	}
	json, err := p.Graph().JSON()
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"mermaid": p.Graph().Mermaid(), "json": string(json)} {
		if strings.ContainsAny(text, "<>") && what == "json" || strings.Contains(text, "<script") || strings.Contains(text, "<img") || !strings.Contains(text, "alert(1)") {
			t.Errorf("%s: %s", what, text)
		}
	}
	if dot := p.Graph().DOT(); !strings.Contains(dot, `onerror=\"alert(1)\">"`) {
		t.Errorf("a label ends early: %s", dot)
	}
}
