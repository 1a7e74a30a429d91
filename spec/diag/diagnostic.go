package diag

import "sort"

// Severity orders diagnostics: errors stop, warnings and hints do not.
type Severity uint8

// The severities.
const (
	Error Severity = iota
	Warning
	Info
)

// Code names a kind of diagnostic: Spark's error class where one exists
// ("UNRESOLVED_COLUMN.WITH_SUGGESTION"), one of ours in the same form else.
type Code string

// Related is a second place with a note.
type Related struct {
	Span Span
	Note string
}

// Diagnostic is one finding. Message is one line and holds no place; Hint is
// imperative.
type Diagnostic struct {
	Code     Code
	SQLState string // filled by New from the code's entry when there is one
	Severity Severity
	Span     Span
	Inner    Pos // place inside an embedded SQL text; zero if none
	Message  string
	Hint     string
	Related  []Related

	source *File // for the caret line; may be nil
}

// List is an ordered list of diagnostics; nil is "all good".
type List []Diagnostic

// At makes an error at a range of a text.
func At(t *Text, r Range, code Code, message string) Diagnostic {
	d := Diagnostic{Code: code, SQLState: code.SQLState(), Span: t.Span(r), Message: message, source: t.file}
	if t.Embedded() {
		d.Inner = t.Inner(r.Start)
	}
	return d
}

// AtSpan makes an error at a span of a file (file may be nil: no caret line).
func AtSpan(file *File, s Span, code Code, message string) Diagnostic {
	return Diagnostic{Code: code, SQLState: code.SQLState(), Span: s, Message: message, source: file}
}

// WithHint returns d with a hint.
func (d Diagnostic) WithHint(h string) Diagnostic { d.Hint = h; return d }

// WithRelated returns d with one more related place.
func (d Diagnostic) WithRelated(s Span, note string) Diagnostic {
	d.Related = append(append([]Related(nil), d.Related...), Related{s, note})
	return d
}

// Warn returns d as a warning.
func (d Diagnostic) Warn() Diagnostic { d.Severity = Warning; return d }

// HasErrors reports whether the list holds an error.
func (l List) HasErrors() bool {
	for _, d := range l {
		if d.Severity == Error {
			return true
		}
	}
	return false
}

// Sort orders the list by file and place, keeping the order of equal places.
func (l List) Sort() {
	sort.SliceStable(l, func(i, j int) bool {
		a, b := l[i].Span, l[j].Span
		if a.File != b.File {
			return a.File < b.File
		}
		return a.Start.Offset < b.Start.Offset
	})
}
