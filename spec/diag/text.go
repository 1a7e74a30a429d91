package diag

import (
	"sort"
	"unicode/utf8"
)

// File is the whole source text of one file; it finds lines and columns.
type File struct {
	Name  string
	Src   string
	lines []int // byte offset of the start of each line

	// marks holds, for each line that is not all ASCII, the byte offset of
	// every markEvery-th character, so that long lines cost no more than short
	// ones.
	marks map[int][]int
}

const markEvery = 128

// NewFile indexes src.
func NewFile(name, src string) *File {
	f := &File{Name: name, Src: src, lines: []int{0}}
	ascii := true
	for i := 0; i < len(src); i++ {
		switch {
		case src[i] == '\n':
			if !ascii {
				f.markLine(i)
			}
			f.lines = append(f.lines, i+1)
			ascii = true
		case src[i] >= utf8.RuneSelf:
			ascii = false
		}
	}
	if !ascii {
		f.markLine(len(src))
	}
	return f
}

// markLine notes the marks of the last line, which ends at end.
func (f *File) markLine(end int) {
	line := len(f.lines) - 1
	var marks []int
	n := 0
	for i := range f.Src[f.lines[line]:end] {
		if n%markEvery == 0 {
			marks = append(marks, f.lines[line]+i)
		}
		n++
	}
	if f.marks == nil {
		f.marks = map[int][]int{}
	}
	f.marks[line] = marks
}

// Pos returns the place of the byte at offset, which is clamped to the file.
func (f *File) Pos(offset int) Pos {
	offset = max(0, min(offset, len(f.Src)))
	line := sort.SearchInts(f.lines, offset+1) - 1
	marks, hasMarks := f.marks[line]
	if !hasMarks {
		return Pos{Line: line + 1, Column: offset - f.lines[line] + 1, Offset: offset}
	}
	i := max(0, sort.SearchInts(marks, offset+1)-1)
	return Pos{Line: line + 1, Column: i*markEvery + utf8.RuneCountInString(f.Src[marks[i]:offset]) + 1, Offset: offset}
}

// Offset returns the byte offset of a 1-based line and column (in characters).
func (f *File) Offset(line, column int) int {
	if line < 1 || line > len(f.lines) {
		return len(f.Src)
	}
	off, c := f.lines[line-1], 1
	marks, hasMarks := f.marks[line-1]
	switch {
	case !hasMarks:
		end := len(f.Src)
		if line < len(f.lines) {
			end = f.lines[line] - 1
		}
		return min(off+max(column, 1)-1, end)
	case column > 1:
		i := min((column-1)/markEvery, len(marks)-1)
		off, c = marks[i], i*markEvery+1
	}
	for ; c < column && off < len(f.Src) && f.Src[off] != '\n'; c++ {
		_, n := utf8.DecodeRuneInString(f.Src[off:])
		off += n
	}
	return off
}

// Line returns the text of a 1-based line without its line end.
func (f *File) Line(n int) string {
	if n < 1 || n > len(f.lines) {
		return ""
	}
	start, end := f.lines[n-1], len(f.Src)
	if n < len(f.lines) {
		end = f.lines[n] - 1
	}
	if end > start && f.Src[end-1] == '\r' {
		end--
	}
	return f.Src[start:end]
}

// Segment says that the bytes of a Text from Offset on stand in the outer file
// from FileOffset on, up to the next segment. Fixed segments (a substituted
// value) map as a whole to the one place [FileOffset, FileEnd).
type Segment struct {
	Offset     int
	FileOffset int
	FileEnd    int
	Fixed      bool
}

// Text is a piece of text (an SQL body, a DDL schema) with a map to the file
// it was taken from. It is immutable. SQL code reads Body and never learns
// what kind of file is outside.
type Text struct {
	Body string

	file     *File
	segments []Segment
	inner    *File // Body as a file of its own, for the SQL's own line and column
	approx   bool
}

// NewText makes a text that is a whole file.
func NewText(name, src string) *Text {
	f := NewFile(name, src)
	return &Text{Body: src, file: f, inner: f, segments: []Segment{{}}}
}

// NewMapped makes a text that stands inside file. Segments are sorted by
// Offset and the first has Offset 0. With approximate set, positions outside
// are those of the whole scalar and only the inner place is exact.
func NewMapped(file *File, body string, segments []Segment, approximate bool) *Text {
	return &Text{Body: body, file: file, segments: segments, inner: NewFile(file.Name, body), approx: approximate}
}

// NewSubstituted makes a text that is a whole file in which parts were replaced
// (Fixed segments). It is not Embedded: all places are those of the file.
func NewSubstituted(file *File, body string, segments []Segment) *Text {
	return &Text{Body: body, file: file, segments: segments, inner: file}
}

// File returns the outer file.
func (t *Text) File() *File { return t.file }

// Embedded reports whether the text is a part of a bigger file.
func (t *Text) Embedded() bool { return t.inner != t.file }

// Approximate reports whether outer places are those of the whole scalar.
func (t *Text) Approximate() bool { return t.approx }

// Span turns a range of the text into a span of the outer file.
func (t *Text) Span(r Range) Span {
	start, _ := t.outer(r.Start)
	end := start
	if r.End > r.Start {
		e, fixedEnd := t.outer(r.End - 1)
		end = e + 1
		if fixedEnd > end {
			end = fixedEnd
		}
	}
	return Span{File: t.file.Name, Start: t.file.Pos(start), End: t.file.Pos(max(start, end))}
}

// Inner returns the place inside the text itself (the SQL's own line). For a
// text that is a whole file it is the place in the file.
func (t *Text) Inner(offset int) Pos {
	if t.inner == t.file {
		offset, _ = t.outer(offset)
	}
	return t.inner.Pos(offset)
}

func (t *Text) outer(offset int) (pos, fixedEnd int) {
	i := sort.Search(len(t.segments), func(i int) bool { return t.segments[i].Offset > offset }) - 1
	if i < 0 {
		return 0, 0
	}
	s := t.segments[i]
	if s.Fixed {
		return s.FileOffset, s.FileEnd
	}
	return s.FileOffset + offset - s.Offset, 0
}
