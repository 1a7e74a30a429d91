package diag

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

var severityNames = [...]string{"error", "warning", "info"}

// String returns the severity's word.
func (s Severity) String() string { return severityNames[s] }

// Render returns the text form of a diagnostic: the place, the message and the
// code in one line, the source line with the place underlined, the place
// inside the SQL if the text is part of a bigger file, hint and related
// places. It ends with a line break.
func Render(d Diagnostic) string {
	var b strings.Builder
	if where := d.Span.String(); where != "" {
		b.WriteString(where + ": ")
	}
	b.WriteString(d.Severity.String() + ": " + oneLine(d.Message))
	if d.Code != "" {
		b.WriteString(" [" + string(d.Code) + "]")
	}
	b.WriteByte('\n')
	if d.source != nil && d.Span.IsValid() {
		renderSource(&b, d.source, d.Span)
	}
	if d.Inner.IsValid() {
		b.WriteString("  in the SQL: line " + strconv.Itoa(d.Inner.Line) + ", column " + strconv.Itoa(d.Inner.Column) + "\n")
	}
	if d.Hint != "" {
		b.WriteString("  hint: " + oneLine(d.Hint) + "\n")
	}
	for _, r := range d.Related {
		b.WriteString("  note: " + oneLine(r.Note))
		if r.Span.IsValid() || r.Span.File != "" {
			b.WriteString(" (" + r.Span.String() + ")")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Render returns the text form of all diagnostics in their order.
func (l List) Render() string {
	var b strings.Builder
	for _, d := range l {
		b.WriteString(Render(d))
	}
	return b.String()
}

// Count returns the number of errors and of warnings.
func (l List) Count() (errors, warnings int) {
	for _, d := range l {
		switch d.Severity {
		case Error:
			errors++
		case Warning:
			warnings++
		}
	}
	return errors, warnings
}

// A source line is shown up to maxShown columns around the place.
const maxShown = 120

// renderSource writes the first line of a span and underlines the span in it.
func renderSource(b *strings.Builder, f *File, s Span) {
	line := []rune(f.Line(s.Start.Line))
	from := min(max(s.Start.Column-1, 0), len(line))
	to := len(line)
	if s.End.Line == s.Start.Line {
		to = min(max(s.End.Column-1, from), len(line))
	}
	prefix, suffix := "", ""
	if len(line) > maxShown {
		cut := max(0, min(from-maxShown/3, len(line)-maxShown))
		end := min(len(line), cut+maxShown)
		if cut > 0 {
			prefix = "…"
		}
		if end < len(line) {
			suffix = "…"
		}
		line, from, to = line[cut:end], from-cut, min(to, end)-cut
	}
	number := strconv.Itoa(s.Start.Line)
	pad := strings.Repeat(" ", max(0, 5-len(number)))
	b.WriteString(pad + number + " | " + prefix + visible(line) + suffix + "\n")
	b.WriteString(strings.Repeat(" ", len(pad)+len(number)) + " | " + strings.Repeat(" ", utf8.RuneCountInString(prefix)))
	for _, r := range line[:from] {
		if r == '\t' {
			b.WriteByte('\t')
			continue
		}
		b.WriteString(strings.Repeat(" ", width(r)))
	}
	n := 0
	for _, r := range line[from:max(from, to)] {
		n += width(r)
	}
	b.WriteString("^" + strings.Repeat("~", max(0, n-1)) + "\n")
}

// visible replaces characters that would steer a terminal.
func visible(line []rune) string {
	out := make([]rune, len(line))
	for i, r := range line {
		if r != '\t' && !unicode.IsPrint(r) {
			r = '\uFFFD'
		}
		out[i] = r
	}
	return string(out)
}

// oneLine keeps a message on its line and out of the terminal's controls.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case !unicode.IsPrint(r):
			return '\uFFFD'
		}
		return r
	}, s)
}

// width is the number of terminal cells of a character: 2 for the wide ones of
// East Asia and for emoji, 0 for marks that stand on the one before.
func width(r rune) int {
	switch {
	case unicode.Is(unicode.Mn, r):
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3,
		r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60,
		r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}
