package parse

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
)

// TestMutations changes known statements word by word (drop, repeat, swap, take
// from another statement): no text makes the parser panic, and what still
// parses prints to a text that parses to an equal tree.
func TestMutations(t *testing.T) {
	n := 15000
	if testing.Short() {
		n = 2000
	}
	mutate(t, rand.New(rand.NewPCG(1, 2)), n)
}

func mutate(t *testing.T, r *rand.Rand, n int) {
	var pool [][]string
	files, _ := filepath.Glob(conformance + "/sql/*.txt")
	for _, f := range files {
		for _, b := range blocksOf(f) {
			pool = append(pool, words(b.sql))
		}
	}
	for _, s := range seeds {
		for i := 0; i < 20; i++ {
			pool = append(pool, words(s))
		}
	}
	ok := 0
	for i := 0; i < n; i++ {
		ws := append([]string(nil), pool[r.IntN(len(pool))]...)
		for k := r.IntN(3); k >= 0; k-- {
			ws = mutation(r, ws, pool)
		}
		sql := strings.Join(ws, " ")
		ss, errs := Statements(diag.NewText("m", sql))
		if errs.HasErrors() {
			continue
		}
		ok++
		for _, s := range ss {
			ast.Walk(s, func(ast.Node) bool { return true })
			text := ast.String(s)
			again, errs := Statement(diag.NewText("printed", text))
			if errs.HasErrors() {
				t.Fatalf("printed text does not parse\n sql: %s\n printed: %s\n error: %s", sql, text, errs[0].Message)
			}
			if d := cmp.Diff(s, again, noSpans); d != "" {
				t.Fatalf("printed text reads differently\n sql: %s\n printed: %s\n%s", sql, text, d)
			}
		}
	}
	if ok < n/50 {
		t.Errorf("only %d of %d mutated texts parse", ok, n)
	}
}

// words cuts a text into its tokens.
func words(sql string) []string {
	l := lex(sql)
	var ws []string
	for _, t := range l.toks {
		if t.kind != eof {
			ws = append(ws, sql[t.start:t.end])
		}
	}
	return ws
}

func mutation(r *rand.Rand, ws []string, pool [][]string) []string {
	if len(ws) == 0 {
		return ws
	}
	i := r.IntN(len(ws))
	switch r.IntN(5) {
	case 0:
		return append(ws[:i:i], ws[i+1:]...)
	case 1:
		return append(ws[:i+1:i+1], ws[i:]...)
	case 2:
		j := r.IntN(len(ws))
		ws[i], ws[j] = ws[j], ws[i]
		return ws
	}
	other := pool[r.IntN(len(pool))]
	if len(other) == 0 {
		return ws
	}
	j := r.IntN(len(other))
	k := min(len(other), j+1+r.IntN(4))
	return append(append(ws[:i:i], other[j:k]...), ws[min(len(ws), i+r.IntN(2)):]...)
}
