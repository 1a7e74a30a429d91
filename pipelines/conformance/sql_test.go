package conformance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pipelines/pipelines"
	"pipelines/pipelines/shell"
	"pipelines/spec/diag"
)

// block is one statement of a conformance file and what Spark answers.
type block struct {
	kind   string
	sql    string
	expect []string
	line   int
}

func readBlocks(t *testing.T, path string) []block {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []block
	line := 1
	for chunk := range strings.SplitSeq(string(text), "\n\n") {
		start := line
		line += strings.Count(chunk, "\n") + 2
		for strings.HasPrefix(chunk, "\n") {
			chunk = chunk[1:]
			start++
		}
		lines := strings.Split(strings.TrimRight(chunk, "\n"), "\n")
		for len(lines) > 0 && strings.HasPrefix(lines[0], "#") {
			lines = lines[1:]
		}
		if len(lines) == 0 || lines[0] == "" {
			continue
		}
		b := block{kind: lines[0], line: start}
		body := lines[1:]
		if i := slices.Index(body, "----"); i >= 0 {
			b.expect, body = body[i+1:], body[:i]
		}
		b.sql = strings.Join(body, "\n")
		out = append(out, b)
	}
	return out
}

type sqlResult struct {
	Statement int
	Columns   []struct{ Name, Type string }
	Rows      [][]*string
	Error     *struct{ Class, Message string }
}

// runSQL runs the blocks of a file in one session.
func runSQL(t *testing.T, blocks []block) []*sqlResult {
	t.Helper()
	ctx := context.Background()
	r, err := pipelines.BareReader(ctx, t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := shell.New(shell.Options{Reader: r, Lanes: 1, TempDir: t.TempDir(), User: "test"})
	if err != nil {
		t.Fatal(err)
	}
	var script []string
	for _, b := range blocks {
		script = append(script, b.sql)
	}
	text := diag.NewText("conformance.sql", strings.Join(script, "\n;\n")+"\n;\n")
	var buf bytes.Buffer
	p, err := shell.NewPrinter(shell.JSONStrings, &buf, &buf)
	if err != nil {
		t.Fatal(err)
	}
	text = shell.Substitute(text, s.Settings().Conf)
	list := s.Parse(text)
	if len(list) != len(blocks) {
		t.Fatalf("%d statements for %d blocks", len(list), len(blocks))
	}
	out := make([]*sqlResult, len(blocks))
	for i := range list {
		buf.Reset()
		p.Begin(i+1, 1, s.Settings())
		if err := p.End(s.Run(ctx, &list[i], text, p)); err != nil {
			t.Fatal(err)
		}
		out[i] = &sqlResult{}
		if err := json.Unmarshal(buf.Bytes(), out[i]); err != nil {
			t.Fatalf("%s: %v", buf.Bytes(), err)
		}
	}
	return out
}

var unescaper = strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r", `\e`, "")

func cells(line string) []string {
	out := strings.Split(line, "\t")
	for i := range out {
		out[i] = unescaper.Replace(out[i])
	}
	return out
}

// compareSQL says how a result differs from what Spark gave, "" if it does not.
func compareSQL(b block, got *sqlResult) string {
	if b.kind == "error" {
		want := strings.TrimSpace(b.expect[0])
		if got.Error == nil {
			return "want error " + want + ", got rows"
		}
		if strings.HasPrefix(want, "_LEGACY_ERROR_TEMP") || strings.HasPrefix(want, "INTERNAL_ERROR") || got.Error.Class == want {
			return ""
		}
		return fmt.Sprintf("want error %s, got %s: %s", want, got.Error.Class, got.Error.Message)
	}
	if got.Error != nil {
		return "unexpected error " + got.Error.Class + ": " + got.Error.Message
	}
	if b.kind == "statement" {
		return ""
	}
	var head, types []string
	for _, c := range got.Columns {
		head = append(head, c.Name+":"+c.Type)
		types = append(types, c.Type)
	}
	if want := cells(b.expect[0]); !slices.Equal(want, head) {
		return fmt.Sprintf("columns: want %q, got %q", want, head)
	}
	var want, have [][]string
	for _, l := range b.expect[1:] {
		want = append(want, cells(l))
	}
	for _, r := range got.Rows {
		row := make([]string, len(r))
		for i, v := range r {
			row[i] = "NULL"
			if v != nil {
				row[i] = *v
			}
		}
		have = append(have, row)
	}
	if len(want) != len(have) {
		return fmt.Sprintf("want %d rows, got %d: %q", len(want), len(have), have)
	}
	if b.kind == "query unordered" {
		sortRows(want, types)
		sortRows(have, types)
	}
	for i := range want {
		if !slices.EqualFunc(want[i], have[i], func(string, string) bool { return true }) {
			return fmt.Sprintf("row %d: want %q, got %q", i+1, want[i], have[i])
		}
		for k := range want[i] {
			if !sameValue(want[i][k], have[i][k], types[k]) {
				return fmt.Sprintf("row %d: want %q, got %q", i+1, want[i], have[i])
			}
		}
	}
	return ""
}

func sortRows(rows [][]string, types []string) {
	key := func(r []string) string {
		var b strings.Builder
		for i, v := range r {
			if f, err := strconv.ParseFloat(v, 64); err == nil && (types[i] == "double" || types[i] == "float") {
				v = fmt.Sprintf("%.9e", f)
			}
			b.WriteString(v + "\x00")
		}
		return b.String()
	}
	slices.SortFunc(rows, func(a, b []string) int { return strings.Compare(key(a), key(b)) })
}

func sameValue(want, got, typ string) bool {
	if want == got {
		return true
	}
	tolerance := map[string]float64{"double": 1e-12, "float": 1e-6}[typ]
	x, err1 := strconv.ParseFloat(want, 64)
	y, err2 := strconv.ParseFloat(got, 64)
	if tolerance == 0 || err1 != nil || err2 != nil {
		return false
	}
	if math.IsNaN(x) || math.IsInf(x, 0) || math.IsInf(y, 0) {
		return math.IsNaN(x) && math.IsNaN(y) || x == y
	}
	return math.Abs(x-y) <= tolerance*max(math.Abs(x), math.Abs(y))
}

func TestSQL(t *testing.T) {
	open := openCases(t, "sql")
	for _, path := range files(t, "sql/*.txt") {
		area := strings.TrimSuffix(filepath.Base(path), ".txt")
		t.Run(area, func(t *testing.T) {
			blocks := readBlocks(t, path)
			results := runSQL(t, blocks)
			for i, b := range blocks {
				judge(t, open, fmt.Sprintf("%s:%d", area, b.line), compareSQL(b, results[i]))
			}
		})
	}
	leftOver(t, open)
}
