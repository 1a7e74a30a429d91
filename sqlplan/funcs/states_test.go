package funcs

import (
	"math/rand/v2"
	"testing"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// TestReplacedTexts sets texts of few lengths, some from a dictionary and some
// NULL, and compares with a map: what stays in its place does not touch others.
func TestReplacedTexts(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	text := schema.Of(schema.String)
	v := &ValueColumn{values: column.New(text)}
	want := make([]string, 50)
	for range want {
		v.at = append(v.at, -1)
	}
	for n := range 20_000 {
		s := make([]byte, rng.IntN(4))
		for i := range s {
			s[i] = byte('a' + rng.IntN(26))
		}
		src := column.New(text)
		src.AppendStr([]byte("other"))
		src.AppendStr(s)
		row := 1
		switch rng.IntN(8) {
		case 0:
			src = &column.Vector{Type: text, Dict: src, Index: []int32{0, 0, 1}, Len: 3}
			row = 2
		case 1:
			src.AppendNull()
			row, s = 2, nil
		}
		g := rng.IntN(len(want))
		v.Set(int32(g), src, row)
		want[g] = string(s)
		if row == 2 && s == nil && !v.IsNull(int32(g)) {
			t.Fatal("NULL was not set")
		}
		if n%97 > 0 {
			continue
		}
		for g, w := range want {
			got := ""
			if !v.IsNull(int32(g)) {
				vec, at := v.Value(int32(g))
				got = string(vec.Str(at))
			}
			if got != w {
				t.Fatalf("group %d holds %q, not %q", g, got, w)
			}
		}
	}
}
