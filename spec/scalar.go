package spec

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"pipelines/spec/diag"
)

// mapped is the text of a scalar and the map of its bytes into the file.
type mapped struct {
	body     string
	segments []diag.Segment
	start    int // bytes of the file that the scalar covers
	end      int
	approx   bool
}

func (m mapped) text(file *diag.File) *diag.Text {
	return diag.NewMapped(file, m.body, m.segments, m.approx)
}

// outer returns the bytes of the file behind body[start:end].
func (m mapped) outer(start, end int) (from, to int) {
	if m.approx || len(m.segments) == 0 {
		return m.start, m.end
	}
	from, _ = segmentAt(m.segments, start)
	if end <= start {
		return from, from
	}
	last, lastEnd := segmentAt(m.segments, end-1)
	return from, max(last+1, lastEnd)
}

func segmentAt(segments []diag.Segment, offset int) (at, fixedEnd int) {
	i := len(segments) - 1
	for i > 0 && segments[i].Offset > offset {
		i--
	}
	if s := segments[i]; s.Fixed {
		return s.FileOffset, s.FileEnd
	}
	return segments[i].FileOffset + offset - segments[i].Offset, 0
}

// mapScalar finds the scalar's bytes in the file. What cannot be followed byte
// by byte (checked against the value that the YAML library read) maps to the
// whole scalar.
func mapScalar(file *diag.File, n *yaml.Node) mapped {
	start := skipProperties(file.Src, file.Offset(n.Line, n.Column))
	m := mapped{body: n.Value, start: start}
	ok := false
	switch {
	case n.Style&yaml.LiteralStyle != 0:
		ok = m.mapLiteral(file)
	case n.Style&yaml.FoldedStyle != 0:
		ok = m.mapFolded(file)
	default:
		ok = m.mapFlow(file.Src)
	}
	if !ok {
		m.approx = true
		m.end = max(m.end, lineEnd(file.Src, start))
		m.segments = []diag.Segment{{FileOffset: m.start, FileEnd: m.end, Fixed: true}}
	}
	return m
}

// skipProperties steps over an anchor and a tag in front of a value.
func skipProperties(src string, at int) int {
	for at < len(src) && (src[at] == '&' || src[at] == '!') {
		for at < len(src) && !isBlankOrBreak(src[at]) {
			at++
		}
		for at < len(src) && isBlankOrBreak(src[at]) {
			at++
		}
	}
	return at
}

func isBlank(c byte) bool        { return c == ' ' || c == '\t' }
func isBlankOrBreak(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func lineEnd(src string, at int) int {
	at = min(at, len(src))
	if i := strings.IndexByte(src[at:], '\n'); i >= 0 {
		return at + len(strings.TrimSuffix(src[at:at+i], "\r"))
	}
	return len(src)
}

// mapLiteral maps a literal block: text line k is the k-th line below the
// header, shifted by the block's indentation.
func (m *mapped) mapLiteral(file *diag.File) bool {
	first := file.Pos(m.start).Line + 1
	at := 0
	for k, line := range strings.SplitAfter(m.body, "\n") {
		if line == "" {
			break
		}
		text := strings.TrimSuffix(line, "\n")
		src := file.Line(first + k)
		lineStart := file.Offset(first+k, 1)
		indent := len(src) - len(text)
		switch {
		case text == "":
			indent = min(len(src), max(indent, 0))
		case indent < 0 || src[indent:] != text || strings.TrimLeft(src[:indent], " ") != "":
			return false
		}
		m.segments = append(m.segments, diag.Segment{Offset: at, FileOffset: lineStart + indent})
		at += len(line)
		m.end = lineStart + len(src)
	}
	if len(m.segments) == 0 {
		m.end = lineEnd(file.Src, m.start)
		m.segments = []diag.Segment{{FileOffset: m.start}}
	}
	return true
}

// mapFolded maps a folded block by walking its source lines beside the value:
// a line break stands as one blank or as line breaks in the value.
func (m *mapped) mapFolded(file *diag.File) bool {
	m.end = lineEnd(file.Src, m.start)
	line := file.Pos(m.start).Line + 1
	for at := 0; at < len(m.body); line++ {
		if m.body[at] == '\n' {
			from := at
			for at < len(m.body) && m.body[at] == '\n' {
				at++
			}
			m.segments = append(m.segments, diag.Segment{Offset: from, FileOffset: m.end, FileEnd: m.end + 1, Fixed: true})
			if at == len(m.body) {
				break
			}
		}
		src := file.Line(line)
		lineStart := file.Offset(line, 1)
		if lineStart >= len(file.Src) {
			return false
		}
		text := strings.TrimLeft(src, " ")
		if text == "" {
			continue
		}
		// More-indented lines keep their blanks: take as many as the value has.
		lead := 0
		for at+lead < len(m.body) && m.body[at+lead] == ' ' {
			lead++
		}
		if lead > len(src)-len(text) {
			return false
		}
		from := len(src) - len(text) - lead
		if !strings.HasPrefix(m.body[at:], src[from:]) {
			return false
		}
		m.segments = append(m.segments, diag.Segment{Offset: at, FileOffset: lineStart + from})
		at += len(src) - from
		m.end = lineStart + len(src)
		if at < len(m.body) && m.body[at] == ' ' {
			at++ // the fold, mapped to the end of the line
		}
	}
	if len(m.segments) == 0 || m.segments[0].Offset != 0 {
		return false
	}
	return true
}

// flowReader walks a plain or quoted scalar beside the value.
type flowReader struct {
	src   string
	body  string
	pos   int // in src
	at    int // in body
	quote byte
	segs  []diag.Segment
}

func (m *mapped) mapFlow(src string) bool {
	r := flowReader{src: src, body: m.body, pos: m.start}
	if m.start < len(src) && (src[m.start] == '"' || src[m.start] == '\'') {
		r.quote = src[m.start]
		r.pos++
	}
	r.segs = []diag.Segment{{FileOffset: r.pos}}
	for r.at < len(r.body) {
		if !r.step() {
			m.end = min(r.pos, len(src))
			return false
		}
	}
	m.segments = r.segs
	m.end = r.pos
	if r.quote != 0 {
		for m.end < len(src) && src[m.end] != r.quote { // blanks that folding dropped
			m.end++
		}
		m.end = min(m.end+1, len(src))
	}
	return true
}

// step takes one character, escape or fold.
func (r *flowReader) step() bool {
	if r.pos >= len(r.src) {
		return false
	}
	c := r.src[r.pos]
	switch {
	case isBlankOrBreak(c):
		return r.blank()
	case r.quote == '\'' && c == '\'':
		if !strings.HasPrefix(r.src[r.pos:], "''") {
			return false
		}
		return r.take(2, "'")
	case r.quote == '"' && c == '\\':
		return r.escape()
	case r.quote == '"' && c == '"':
		return false
	case c != r.body[r.at]:
		return false
	}
	r.pos++
	r.at++
	return true
}

// take replaces n source bytes by text and starts a new segment behind them.
func (r *flowReader) take(n int, text string) bool {
	if !strings.HasPrefix(r.body[r.at:], text) || r.pos+n > len(r.src) {
		return false
	}
	if text != "" {
		r.mark(diag.Segment{Offset: r.at, FileOffset: r.pos, FileEnd: r.pos + n, Fixed: true})
	}
	r.pos += n
	r.at += len(text)
	r.mark(diag.Segment{Offset: r.at, FileOffset: r.pos})
	return true
}

// mark adds a segment; one that starts where the last one does replaces it.
func (r *flowReader) mark(s diag.Segment) {
	if last := len(r.segs) - 1; r.segs[last].Offset == s.Offset {
		r.segs[last] = s
		return
	}
	r.segs = append(r.segs, s)
}

// blank takes a run of blanks: as it is inside a line, folded over line ends.
func (r *flowReader) blank() bool {
	end, breaks := r.pos, 0
	for end < len(r.src) && isBlankOrBreak(r.src[end]) {
		if r.src[end] == '\n' {
			breaks++
		}
		end++
	}
	if breaks == 0 {
		run := r.src[r.pos:end]
		if !strings.HasPrefix(r.body[r.at:], run) {
			return false
		}
		r.pos, r.at = end, r.at+len(run)
		return true
	}
	text := " "
	if breaks > 1 {
		text = strings.Repeat("\n", breaks-1)
	}
	return r.take(end-r.pos, text)
}

// escape takes one escape of a double-quoted scalar.
func (r *flowReader) escape() bool {
	if r.pos+1 >= len(r.src) {
		return false
	}
	c := r.src[r.pos+1]
	if digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]; digits > 0 {
		if r.pos+2+digits > len(r.src) {
			return false
		}
		v, err := strconv.ParseUint(r.src[r.pos+2:r.pos+2+digits], 16, 32)
		if err != nil {
			return false
		}
		return r.take(2+digits, string(rune(v)))
	}
	if c == '\n' || c == '\r' {
		n := 1
		for r.pos+n < len(r.src) && isBlankOrBreak(r.src[r.pos+n]) {
			n++
		}
		return r.take(n, "")
	}
	_, size := utf8.DecodeRuneInString(r.body[r.at:])
	const from, to = `0abtnvfre "/\N_LP`, "\x00\a\b\t\n\v\f\r\x1b \"/\\\u0085\u00a0\u2028\u2029"
	i := strings.IndexByte(from, c)
	if c == '\t' {
		return r.take(2, "\t")
	}
	if i < 0 || []rune(to)[i] != []rune(r.body[r.at : r.at+size])[0] {
		return false
	}
	return r.take(2, r.body[r.at:r.at+size])
}

// commentAfter returns the place of a comment that stands behind a plain
// scalar on its last line, or -1.
func (m mapped) commentAfter(src string) int {
	if m.approx {
		return -1
	}
	at := m.end
	for at < len(src) && isBlank(src[at]) {
		at++
	}
	if at > m.end && at < len(src) && src[at] == '#' {
		return at
	}
	return -1
}
