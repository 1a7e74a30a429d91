package shell

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"pipelines/tables/schema"
)

// table prints the result as aligned columns, numbers to the right. A single
// cell of several lines (EXPLAIN) is printed as it is.
func (p *Printer) table() {
	p.separate()
	if len(p.schema.Fields) == 0 { // rows without columns
		p.write([]byte(rowsText(len(p.cells))))
		return
	}
	if len(p.schema.Fields) == 1 && len(p.cells) == 1 && strings.Contains(p.cells[0][0], "\n") {
		p.write([]byte(strings.TrimRight(p.cells[0][0], "\n") + "\n"))
		return
	}
	fields := p.schema.Fields
	width := make([]int, len(fields))
	for i, f := range fields {
		width[i] = cellWidth(shown(f.Name))
	}
	for _, row := range p.cells {
		for i := range row {
			row[i] = shown(row[i])
			width[i] = max(width[i], cellWidth(row[i]))
		}
	}
	var b strings.Builder
	for i, f := range fields {
		cell(&b, i, shown(f.Name), width[i], false)
	}
	p.endLine(&b)
	for i := range fields {
		if i > 0 {
			b.WriteByte('+')
		}
		b.WriteString(strings.Repeat("-", width[i]+2))
	}
	p.endLine(&b)
	for _, row := range p.cells {
		for i, text := range row {
			cell(&b, i, text, width[i], right(fields[i].Type))
		}
		p.endLine(&b)
	}
	p.write([]byte(rowsText(len(p.cells))))
}

func right(t schema.Type) bool { return t.IsNumeric() }

func cell(b *strings.Builder, i int, text string, width int, right bool) {
	if i > 0 {
		b.WriteByte('|')
	}
	pad := strings.Repeat(" ", width-cellWidth(text))
	if right {
		b.WriteString(" " + pad + text + " ")
	} else {
		b.WriteString(" " + text + pad + " ")
	}
}

// endLine writes a line without the blanks at its end and empties it.
func (p *Printer) endLine(b *strings.Builder) {
	p.write([]byte(strings.TrimRight(b.String(), " ") + "\n"))
	b.Reset()
}

// shown keeps a value on its line and out of the terminal's controls.
func shown(s string) string {
	plain := true
	for i := 0; i < len(s) && plain; i++ {
		plain = s[i] >= ' ' && s[i] < utf8.RuneSelf
	}
	if plain {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case !unicode.IsPrint(r):
			return utf8.RuneError
		}
		return r
	}, s)
}

// cellWidth is the number of terminal cells of a text.
func cellWidth(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff,
			r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1faff:
			n += 2
		default:
			n++
		}
	}
	return n
}
