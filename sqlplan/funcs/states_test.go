package funcs

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// TestReplacedTexts sets texts of few lengths, some from a dictionary and some
// NULL, and compares with a map: what stays in its place does not touch others.
func TestReplacedTexts(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	text := schema.Of(schema.String)
	v := newValueColumn(text)
	want := make([]string, 50)
	for range want {
		v.grow(v.groups + 1)
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

// TestReplacedTextsAllocate: texts of few groups that are replaced by longer ones
// allocate about what they are long, not a whole segment each time that the
// replaced ones are cleaned up.
func TestReplacedTextsAllocate(t *testing.T) {
	text := schema.Of(schema.String)
	v := newValueColumn(text)
	v.grow(4)
	src := column.New(text)
	src.AppendStr(make([]byte, 90))
	src.AppendStr(make([]byte, 110))
	set := func() {
		for n := range 10_000 { // a megabyte of texts
			v.Set(int32(n%4), src, n/4%2)
		}
	}
	set()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	set()
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
		t.Errorf("%d KiB were allocated for 1,000 KiB of texts", n>>10)
	}
	if n := v.memory(); n > 200<<10 {
		t.Errorf("four texts hold %d KiB", n>>10)
	}
}

// TestValueSegments gives many groups texts of changing lengths, so that
// segments fill, empty and are cleaned up, and compares with a list.
//
//tidy:allow-long the column and the list side by side
func TestValueSegments(t *testing.T) {
	for _, typ := range []schema.Type{schema.Of(schema.String), schema.ArrayOf(schema.Of(schema.String), true)} {
		rng := rand.New(rand.NewPCG(7, 8))
		v := newValueColumn(typ)
		want := make([]string, 60_000)
		v.grow(len(want))
		src, live := column.New(typ), 0
		text := make([]byte, 60)
		for n := range 400_000 {
			g := rng.IntN(len(want))
			if n > 200_000 {
				g /= 8 // most groups stay as they are
			}
			for i := range text {
				text[i] = byte('a' + (n+i)%26)
			}
			s := text[:1+rng.IntN(59)]
			if rng.IntN(9) == 0 {
				s = nil
			}
			src.Truncate(0)
			switch {
			case s == nil:
				src.AppendNull()
			case len(src.Children) > 0:
				src.Children[0].AppendStr(s)
				src.EndList()
			default:
				src.AppendStr(s)
			}
			v.Set(int32(g), src, 0)
			want[g] = string(s)
		}
		var all []int32
		for g, w := range want {
			all = append(all, int32(g))
			vec, at := v.Value(int32(g))
			got := ""
			if at >= 0 {
				live++
				if len(vec.Children) > 0 {
					from, _ := vec.List(at)
					vec, at = vec.Children[0], from
				}
				got = string(vec.Str(at))
			}
			if got != w || v.IsNull(int32(g)) != (w == "") {
				t.Fatalf("group %d holds %q, not %q", g, got, w)
			}
		}
		v.Touch(all)
		rows, segments := 0, 0
		for _, s := range v.segs {
			if s.used {
				rows, segments = rows+s.held(), segments+1
			}
		}
		if v.text {
			live *= textHead
			for _, w := range want {
				live += len(w)
			}
		}
		if live != v.live || rows != v.rows || rows > 3*live+segmentBytes {
			t.Errorf("%d rows or bytes are values (%d counted), %d (%d counted) in %d segments", live, v.live, rows, v.rows, segments)
		}
		for g := range want {
			v.SetNull(int32(g))
		}
		if v.live != 0 || v.rows > segmentBytes || len(v.spare) < len(v.segs)-1 {
			t.Errorf("all is gone, but %d rows are left", v.rows)
		}
	}
}

// TestFullLists says when a list column can take no more; the text itself is not
// needed for that.
func TestFullLists(t *testing.T) {
	st := NewStates([]StateColumn{{"list", schema.Of(schema.String), StateList}})
	st.Grow(1)
	src := column.New(schema.Of(schema.String))
	src.AppendStr([]byte("a"))
	st.Lists[0].Add(0, src, 0)
	if st.Full() {
		t.Error("a list of one text is full")
	}
	st.Lists[0].values.Len = mostListed + 1
	if !st.Full() {
		t.Error("a list of as many values as can be numbered is not full")
	}
}
