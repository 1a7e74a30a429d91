package diag

import "fmt"

// Pos is a place in a file. Line and Column count from 1, Column in
// characters; Offset counts bytes from 0. The zero Pos means "unknown".
type Pos struct {
	Line   int
	Column int
	Offset int
}

// IsValid reports whether the place is known.
func (p Pos) IsValid() bool { return p.Line > 0 }

// String returns "line:column".
func (p Pos) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Column) }

// Span is a half-open stretch [Start, End) of the file named File.
type Span struct {
	File  string
	Start Pos
	End   Pos
}

// IsValid reports whether the span names a place.
func (s Span) IsValid() bool { return s.Start.IsValid() }

// String returns "file:line:column" of the start.
func (s Span) String() string {
	if !s.IsValid() {
		return s.File
	}
	return fmt.Sprintf("%s:%d:%d", s.File, s.Start.Line, s.Start.Column)
}

// Range is a half-open stretch of bytes inside one Text. Syntax nodes carry
// Ranges; Text.Span turns one into a Span of the outer file.
type Range struct {
	Start int
	End   int
}

// Join returns the smallest range that covers r and o.
func (r Range) Join(o Range) Range {
	if r == (Range{}) {
		return o
	}
	if o == (Range{}) {
		return r
	}
	return Range{Start: min(r.Start, o.Start), End: max(r.End, o.End)}
}
