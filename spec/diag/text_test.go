package diag

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// slowPos is the obvious version of File.Pos.
func slowPos(src string, offset int) Pos {
	line := strings.Count(src[:offset], "\n") + 1
	start := strings.LastIndexByte(src[:offset], '\n') + 1
	return Pos{Line: line, Column: utf8.RuneCountInString(src[start:offset]) + 1, Offset: offset}
}

func TestFilePosRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		long := strings.Repeat("é日x", rapid.IntRange(0, 200).Draw(t, "long"))
		src := long + rapid.StringOfN(rapid.SampledFrom([]rune("ab\né日\r")), 0, 60, -1).Draw(t, "src") + long
		f := NewFile("f", src)
		for i := range src {
			want := slowPos(src, i)
			if got := f.Pos(i); got != want {
				t.Fatalf("Pos(%d) of %q = %v, want %v", i, src, got, want)
			}
			if got := f.Offset(want.Line, want.Column); got != i {
				t.Fatalf("Offset(%v) of %q = %d, want %d", want, src, got, i)
			}
		}
	})
}

func TestSubstitutedText(t *testing.T) {
	f := NewFile("q.sql", "SELECT ${a} FROM\nt")
	text := NewSubstituted(f, "SELECT xyz FROM\nt", []Segment{{Offset: 0, FileOffset: 0}, {Offset: 7, FileOffset: 7, FileEnd: 11, Fixed: true}, {Offset: 10, FileOffset: 11}})
	check := func(start, end int, wantStart, wantEnd int) {
		t.Helper()
		s := text.Span(Range{start, end})
		if s.Start.Offset != wantStart || s.End.Offset != wantEnd {
			t.Errorf("[%d,%d) is [%d,%d), want [%d,%d)", start, end, s.Start.Offset, s.End.Offset, wantStart, wantEnd)
		}
	}
	check(0, 6, 0, 6)
	check(8, 9, 7, 11)
	check(7, 10, 7, 11)
	check(11, 15, 12, 16)
	check(5, 12, 5, 13)
	if text.Embedded() {
		t.Error("a whole file is not embedded")
	}
	if got := text.Inner(16); got != (Pos{Line: 2, Column: 1, Offset: 17}) {
		t.Errorf("Inner = %v", got)
	}
}
