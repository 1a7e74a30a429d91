package sqlplan_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pipelines/spec/diag"
	"pipelines/sqlplan"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// streams is a catalog of streams and tables.
type streams struct {
	inputs, static map[string]schema.Schema
}

func (s streams) Resolve(r sqlplan.Request) (sqlplan.Answer, error) {
	name := strings.ToLower(strings.Join(r.Parts, "."))
	if sc, ok := s.inputs[name]; ok {
		return sqlplan.Answer{Relation: &logical.Relation{ID: name, Name: r.Parts, Schema: sc, Streaming: r.Stream}}, nil
	}
	if sc, ok := s.static[name]; ok {
		if r.Stream {
			return sqlplan.Answer{}, fmt.Errorf("%s is no stream", name)
		}
		return sqlplan.Answer{Relation: &logical.Relation{ID: name, Name: r.Parts, Schema: sc}}, nil
	}
	return sqlplan.Answer{}, &sqlplan.NotFound{}
}

type streamCase struct {
	cat               streams
	query, mode       string
	errClass, output  string
	dedup             string
	within            bool
	hasError, hasThen bool
}

var (
	inputLine  = regexp.MustCompile(`^  (\w+): "(.*)"$`)
	staticLine = regexp.MustCompile(`^  (\w+): \{schema: "([^"]*)"`)
)

func readCase(t *testing.T, file string) streamCase {
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := streamCase{cat: streams{map[string]schema.Schema{}, map[string]schema.Schema{}}}
	section := ""
	for _, line := range strings.Split(string(src), "\n") {
		if line != "" && line[0] != ' ' {
			key, val, _ := strings.Cut(line, ":")
			val = strings.TrimSpace(val)
			section = key
			switch key {
			case "output_mode":
				c.mode = val
			case "error_class":
				c.errClass, c.hasError = strings.Trim(val, `"`), true
			case "output":
				c.output = strings.Trim(val, `"`)
			case "dedup":
				c.dedup, c.within = val, strings.Contains(val, "within_watermark: true")
			case "batches":
				return c
			}
			continue
		}
		switch section {
		case "query":
			c.query += strings.TrimPrefix(line, "  ") + "\n"
		case "then":
			c.hasThen = true
		case "inputs":
			if m := inputLine.FindStringSubmatch(line); m != nil {
				c.cat.inputs[m[1]] = ddl(t, m[2])
			}
		case "static":
			if m := staticLine.FindStringSubmatch(line); m != nil {
				c.cat.static[m[1]] = ddl(t, m[2])
			}
		}
	}
	return c
}

func ddl(t *testing.T, s string) schema.Schema {
	out, diags := sqlplan.ParseSchema(nil, diag.NewText("ddl", s))
	if diags.HasErrors() {
		t.Fatal(s, diags)
	}
	return out
}

// inFirstBatch are cases that Spark refuses only when the first batch is
// planned; here they are refused at once.
var inFirstBatch = map[string]string{"join-chained-three.yml": "MULTIPLE_EVENT_TIME_COLUMNS"}

// overruled are cases that Spark refuses and that run here
// (testdata/conformance-overruled.txt).
var overruled = map[string]bool{"err-join-anti.yml": true}

// TestStreamingConformance compiles the golden streaming queries: what Spark
// refuses is refused with its class, the rest compiles with its columns.
func TestStreamingConformance(t *testing.T) {
	files, err := filepath.Glob("../testdata/conformance/streaming/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatal("no conformance files: ", err)
	}
	good, open := 0, 0
	for _, f := range files {
		name := filepath.Base(f)
		c := readCase(t, f)
		if w, ok := inFirstBatch[name]; ok {
			c.errClass, c.hasError = w, true
		}
		mode := map[string]logical.OutputMode{"append": logical.Append, "update": logical.Update, "complete": logical.Complete}[c.mode]
		opts := sqlplan.Options{Mode: mode, Wanted: sqlplan.Stream, Name: "t"}
		if c.dedup != "" {
			opts.Deduplicate = &sqlplan.Dedup{Within: c.within}
			if _, list, ok := strings.Cut(c.dedup, "keys: ["); ok {
				list, _, _ = strings.Cut(list, "]")
				for _, k := range strings.Split(list, ",") {
					if k = strings.Trim(strings.TrimSpace(k), `"`); k != "" {
						opts.Deduplicate.Keys = append(opts.Deduplicate.Keys, k)
					}
				}
			}
		}
		p, diags := sqlplan.Compile(diag.NewText(name, c.query), c.cat, opts)
		got := firstCode(diags)
		switch {
		case overruled[name]:
			if got != "" {
				t.Errorf("%s: %s", name, got)
			}
		case strings.HasPrefix(got, "FEATURE_NOT_AVAILABLE") || strings.HasPrefix(got, "UNRESOLVED_ROUTINE"):
			open++
			t.Logf("open %s %s", name, got)
		case c.hasError:
			class := c.errClass
			if class == "null" || strings.HasPrefix(class, "_LEGACY") && got != "" {
				class = ""
			}
			if got == "" || !strings.HasPrefix(got, class) {
				t.Errorf("%s: got %q, want %s", name, got, c.errClass)
				continue
			}
			good++
		case got != "":
			t.Errorf("%s: %s", name, got)
		default:
			var fields []string
			for _, f := range p.Schema.Fields {
				fields = append(fields, f.Name+" "+f.Type.String())
			}
			if g := strings.Join(fields, ", "); g != c.output && !c.hasThen {
				t.Errorf("%s: columns %s, want %s", name, g, c.output)
				continue
			}
			good++
		}
	}
	t.Logf("good %d, open %d", good, open)
}
