package conformance_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"pipelines/pipelines"
	"pipelines/pipelines/event"
	"pipelines/runtime/flow"
)

type streamCase struct {
	Inputs map[string]string
	Static map[string]struct {
		Schema string
		Rows   [][]any
	}
	Query      string
	Dedup      map[string]any
	Then       string
	OutputMode string `yaml:"output_mode"`
	Conf       map[string]any
	Ordered    bool
	ErrorClass *string `yaml:"error_class"`
	Batches    []streamBatch
	counted    bool // what the batches count is compared
}

type streamBatch struct {
	In          map[string][][]any
	NoData      bool `yaml:"no_data"`
	NoBatch     bool `yaml:"no_batch"`
	Restart     bool
	Uncommitted bool
	Replay      bool
	Out         [][]any
	Watermark   string
	State       *int64  `yaml:"state_rows"`
	Updated     *int64  `yaml:"updated_rows"`
	Removed     *int64  `yaml:"removed_rows"`
	ErrorClass  *string `yaml:"error_class"`
}

// columnNames splits a schema in DDL.
func columnNames(ddl string) []string {
	var out []string
	depth, cur := 0, ""
	for _, c := range ddl + "," {
		switch c {
		case '<', '(':
			depth++
		case '>', ')':
			depth--
		}
		if c == ',' && depth == 0 {
			out = append(out, strings.Trim(strings.Fields(cur)[0], "`:"))
			cur = ""
			continue
		}
		cur += string(c)
	}
	return out
}

func plainTime(v any) any {
	if x, ok := v.(time.Time); ok {
		if x.Equal(x.Truncate(24 * time.Hour)) {
			return x.Format(time.DateOnly)
		}
		return x.UTC().Format("2006-01-02T15:04:05.999999999Z")
	}
	return v
}

// orderedRow writes a row as an object whose keys keep their order.
func orderedRow(names []string, row []any) string {
	var parts []string
	for i, n := range names {
		k, _ := json.Marshal(n)
		v, err := json.Marshal(plainTime(row[i]))
		if err != nil {
			panic(err)
		}
		parts = append(parts, string(k)+":"+string(v))
	}
	return "{" + strings.Join(parts, ",") + "}\n"
}

func writeRows(t *testing.T, path, ddl string, rows [][]any) {
	t.Helper()
	names := columnNames(ddl)
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(orderedRow(names, r))
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// folder is in memory where there is such a place: nothing here tests disks.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "pipelines-conformance-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// streamProject writes the case as a project.
func streamProject(t *testing.T, c *streamCase) string {
	t.Helper()
	dir := folder(t)
	conf := map[string]string{"spark.sql.session.timeZone": "UTC"}
	for k, v := range c.Conf {
		conf[k] = fmt.Sprint(v)
	}
	doc := map[string]any{
		"name": "case", "storage": "./state", "database": "default", "configuration": conf,
		"sinks": []any{map[string]any{"name": "out", "format": "console", "options": map[string]string{"path": "out.jsonl"}}},
	}
	var sources []any
	for n, ddl := range c.Inputs {
		if err := os.MkdirAll(filepath.Join(dir, "in", n), 0o755); err != nil {
			t.Fatal(err)
		}
		sources = append(sources, map[string]any{"name": n, "format": "json", "path": "in/" + n, "schema": ddl})
	}
	for n, s := range c.Static {
		writeRows(t, filepath.Join(dir, "static", n, "rows.json"), s.Schema, s.Rows)
		sources = append(sources, map[string]any{"name": n, "format": "json", "path": "static/" + n, "schema": s.Schema})
	}
	doc["sources"] = sources
	sql := c.Query
	if c.Dedup != nil {
		doc["views"] = []any{map[string]any{"name": "deduped", "sql": sql, "deduplicate": c.Dedup}}
		if sql = c.Then; sql == "" {
			sql = "SELECT * FROM STREAM(deduped)"
		}
	}
	doc["flows"] = []any{map[string]any{"name": "f", "target": "out", "output_mode": c.OutputMode, "sql": sql}}
	text, err := yaml.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "pipeline.yml"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// update runs a project once and returns everything that it said when it
// failed, "" when it did not.
func update(dir string, o pipelines.RunOptions) string {
	return updateUntil(context.Background(), context.Background(), dir, o)
}

func updateUntil(ctx, stop context.Context, dir string, o pipelines.RunOptions) string {
	p, list, err := pipelines.Load(ctx, pipelines.LoadOptions{Path: dir})
	if err != nil || list.HasErrors() || p == nil {
		return list.Render() + fmt.Sprint(err)
	}
	if o.Lanes == 0 {
		o.Lanes = 1
	}
	res, list, err := p.Run(ctx, stop, o)
	if err != nil || list.HasErrors() {
		return list.Render() + fmt.Sprint(err)
	}
	var failed []error
	for _, f := range res.Flows {
		failed = append(failed, f.Err)
	}
	if err := errors.Join(failed...); err != nil {
		return err.Error()
	}
	return ""
}

func refused(class *string, said string) string {
	switch {
	case said == "":
		return "was not refused"
	case class != nil && !strings.HasPrefix(*class, "_LEGACY") && !strings.Contains(said, *class):
		return "wants " + *class + ", got: " + said
	}
	return ""
}

var timeText = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]00:?00)?$`)

// normal brings a value to a comparable text.
func normal(v any) string {
	switch v := plainTime(v).(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case int:
		return "n" + strconv.FormatFloat(float64(v), 'g', 12, 64)
	case float64:
		return "n" + strconv.FormatFloat(v, 'g', 12, 64)
	case json.Number:
		return normal(v.String())
	case string:
		if m := timeText.FindStringSubmatch(v); m != nil {
			return "t" + m[1] + "T" + m[2] + strings.TrimRight(strings.TrimRight(m[3], "0"), ".")
		}
		if ok, _ := regexp.MatchString(`^-?\d+(\.\d+)?([eE][+-]?\d+)?$`, v); ok {
			f, _ := strconv.ParseFloat(v, 64)
			return normal(f)
		}
		return strconv.Quote(v)
	case []any:
		return normalRow(v)
	}
	panic(fmt.Sprintf("value %T", v))
}

func normalRow(row []any) string {
	out := make([]string, len(row))
	for i, v := range row {
		out[i] = normal(v)
	}
	return "[" + strings.Join(out, " ") + "]"
}

// decodeOrdered reads a JSON value; objects become lists of their values.
func decodeOrdered(d *json.Decoder) (any, error) {
	tok, err := d.Token()
	if err != nil {
		return nil, err
	}
	delim, ok := tok.(json.Delim)
	if !ok {
		return tok, nil
	}
	list := []any{}
	for d.More() {
		if delim == '{' {
			if _, err := d.Token(); err != nil {
				return nil, err
			}
		}
		v, err := decodeOrdered(d)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err = d.Token()
	return list, err
}

// emitted reads what the console sink has written after the first rows.
func emitted(t *testing.T, dir string, after int) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "out.jsonl"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(text)) {
		var x struct{ Row json.RawMessage }
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatal(err)
		}
		d := json.NewDecoder(strings.NewReader(string(x.Row)))
		d.UseNumber()
		v, err := decodeOrdered(d)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, normalRow(v.([]any)))
	}
	return out[min(after, len(out)):]
}

// laneCounts are the numbers of lanes of a case's runs, one after the other:
// state that was written with one number is read with the next. make long runs
// each number alone too.
func laneCounts() [][]int {
	if os.Getenv("PIPELINES_SEEDS") != "" {
		return [][]int{{1}, {2}, {5}, {5, 2, 1, 3}}
	}
	return [][]int{{1}, {5, 2, 1, 3}}
}

// runStreamCase runs a case, each of its batches in a run of its own; where
// the lanes change, rows come in batches of one.
func runStreamCase(t *testing.T, c *streamCase, lanes []int) string {
	dir := streamProject(t, c)
	if c.ErrorClass != nil && len(c.Batches) == 0 {
		for n, ddl := range c.Inputs {
			writeRows(t, filepath.Join(dir, "in", n, "f0.json"), ddl, [][]any{make([]any, len(columnNames(ddl)))})
		}
		return refused(c.ErrorClass, update(dir, pipelines.RunOptions{Trigger: "available_now", Lanes: lanes[0]}))
	}
	seen := 0
	for i, step := 0, 0; i < len(c.Batches); step++ {
		b := c.Batches[i]
		j := i + 1
		for j < len(c.Batches) && c.Batches[j].NoData && !c.Batches[j].Restart {
			j++
		}
		for n, rows := range b.In {
			writeRows(t, filepath.Join(dir, "in", n, fmt.Sprintf("b%04d.json", step)), c.Inputs[n], rows)
		}
		o := pipelines.RunOptions{Trigger: "available_now", Lanes: lanes[step%len(lanes)]}
		if len(lanes) > 1 {
			o.BatchRows = 1
		}
		var epochs []event.FlowProgress
		o.Listener.FlowProgress = func(p event.FlowProgress) { epochs = append(epochs, p) }
		lost := j < len(c.Batches) && c.Batches[j].Uncommitted
		if lost {
			o.At = losing(j - i)
		}
		said := update(dir, o)
		if lost && strings.Contains(said, errLost.Error()) {
			said = ""
		}
		if b.ErrorClass != nil {
			return refused(b.ErrorClass, said)
		}
		if said != "" {
			return fmt.Sprintf("batch %d: %s", i, said)
		}
		got := emitted(t, dir, seen)
		seen += len(got)
		var want []string
		for _, x := range c.Batches[i:j] {
			for _, r := range x.Out {
				want = append(want, normalRow(r))
			}
		}
		if !c.Ordered {
			slices.Sort(got)
			slices.Sort(want)
		}
		if !slices.Equal(got, want) {
			return fmt.Sprintf("batch %d: want %v, got %v", i, want, got)
		}
		if said := sameEpochs(c.Batches[i:j], epochs); said != "" && len(lanes) == 1 && !lost && !b.Replay && c.counted {
			return fmt.Sprintf("batch %d: %s", i, said)
		}
		i = j
	}
	return ""
}

// otherEpochs are recorded cases whose rows are ours, too, but not what the
// batches count.
var otherEpochs = map[string]string{
	"join-inner-uncommitted":      "DESIGN §11: the watermarks of the nodes outlive a restart",
	"chain-agg-distinct":          "Spark's optimiser makes one aggregation of two",
	"limit-zero":                  "Spark runs no limit of 0",
	"multi-watermark-restart-min": "DESIGN §11: the watermarks of the nodes outlive a restart",
	"multi-watermark-restart-max": "DESIGN §11: the watermarks of the nodes outlive a restart",
}

// sameEpochs compares which batches ran, with what watermark, and what they
// changed in the state.
func sameEpochs(want []streamBatch, got []event.FlowProgress) string {
	var a, b []string
	for _, w := range want {
		if w.NoBatch {
			continue
		}
		a = append(a, epochText(w.Watermark, w.State, w.Updated, w.Removed))
	}
	for i, g := range got {
		var state, updated, removed int64
		for _, o := range g.Operators {
			state, updated, removed = state+o.Total, updated+o.Updated, removed+o.Removed
		}
		mark := g.Watermark
		if i < len(want) && want[i].Watermark == "" { // no operator has one
			mark = ""
		}
		b = append(b, epochText(mark, &state, &updated, &removed))
	}
	if slices.Equal(a, b) {
		return ""
	}
	return fmt.Sprintf("epochs: want %v, got %v", a, b)
}

func epochText(mark string, state, updated, removed *int64) string {
	if t, err := time.Parse(time.RFC3339, mark); err == nil && t.Unix() > 0 {
		mark = t.Format(time.RFC3339Nano)
	} else {
		mark = "-"
	}
	for _, n := range []*int64{state, updated, removed} {
		if n == nil {
			n = new(int64)
		}
		mark += fmt.Sprintf(" %d", *n)
	}
	return mark
}

// runWithoutStops plays a case in one continuous run: each batch arrives when
// the epochs of the one before are committed. Cases of failures are left out.
func runWithoutStops(t *testing.T, c *streamCase) string {
	if slices.ContainsFunc(c.Batches, func(b streamBatch) bool {
		return b.Restart || b.Uncommitted || b.Replay || b.NoBatch || b.ErrorClass != nil
	}) {
		return ""
	}
	dir := streamProject(t, c)
	var want []string
	for _, b := range c.Batches {
		for _, r := range b.Out {
			want = append(want, normalRow(r))
		}
	}
	ctx, giveUp := context.WithTimeout(context.Background(), time.Minute)
	defer giveUp()
	stop, halt := context.WithCancel(ctx)
	defer halt()
	next := 0
	arrive := func() {
		if next == len(c.Batches) {
			halt()
			return
		}
		for n, rows := range c.Batches[next].In {
			writeRows(t, filepath.Join(dir, "in", n, fmt.Sprintf("b%04d.json", next)), c.Inputs[n], rows)
		}
		next++
	}
	arrive()
	said := updateUntil(ctx, stop, dir, pipelines.RunOptions{Trigger: "continuous", Lanes: 2, At: func(point string) error {
		if point == flow.CommitAfter {
			arrive()
		}
		return nil
	}})
	if said != "" || ctx.Err() != nil {
		return fmt.Sprintf("after %d batches: %v %s", next, ctx.Err(), said)
	}
	got := emitted(t, dir, 0)
	if !c.Ordered {
		slices.Sort(got)
		slices.Sort(want)
	}
	if !slices.Equal(got, want) {
		return fmt.Sprintf("want %v, got %v", want, got)
	}
	return ""
}

var errLost = errors.New("the process ends here")

// losing ends the process after the commit of the nth epoch and before its
// record: the commit record is lost.
func losing(n int) func(string) error {
	return func(point string) error {
		if point == flow.CommitAfter {
			n--
		}
		if n <= 0 {
			return errLost
		}
		return nil
	}
}

func TestStreaming(t *testing.T) {
	open := openCases(t, "streaming")
	// Our own were recorded with Spark 4.2 by docs/integration/streams.py.
	for _, path := range append(files(t, "streaming/*.yml"), files(t, "../streaming/*.yml")...) {
		name := strings.TrimSuffix(filepath.Base(path), ".yml")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var c streamCase
		if err := yaml.Unmarshal(text, &c); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		c.counted = otherEpochs[name] == ""
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, lanes := range laneCounts() {
				if said := runStreamCase(t, &c, lanes); said != "" {
					judge(t, open, name, fmt.Sprintf("%d lanes: %s", lanes, said))
					return
				}
			}
			if said := runWithoutStops(t, &c); len(c.Batches) > 0 && said != "" {
				judge(t, open, name, "without stops: "+said)
				return
			}
			judge(t, open, name, "")
		})
	}
	t.Cleanup(func() { leftOver(t, open) })
}
