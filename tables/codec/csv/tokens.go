package csv

import "bytes"

// token is one value of a record.
type token struct {
	from, to int  // in the record, or in the scratch buffer
	scratch  bool // the value had to be rewritten
	quoted   bool
}

// tokenizer splits records.
type tokenizer struct {
	opt     *Options
	sep     byte // the first byte of the separator
	long    bool // the separator has more bytes
	tokens  []token
	scratch []byte
	stray   bool // a stray quote was met and is an error
	breaks  lineBreaks
	quote   string // the quote, and the escape
	escape  string
	stop    int // where the text of the record ends
}

// lineBreaks says what ends a record in a text of several. A file that is read
// whole has the kind of its first line break; the others are text.
type lineBreaks uint8

const (
	feeds   lineBreaks = iota // a line feed
	pairs                     // a carriage return with a line feed
	returns                   // a carriage return
	custom                    // the option lineSep and nothing else
)

func newTokenizer(o *Options) tokenizer {
	t := tokenizer{opt: o, sep: o.Sep[0], long: len(o.Sep) > 1, quote: string(rune(o.Quote)), escape: string(rune(o.Escape))}
	if o.LineSep != "" {
		t.breaks = custom
	}
	return t
}

// detect finds the kind of line breaks of a file.
func (t *tokenizer) detect(b []byte) {
	if t.breaks == custom {
		return
	}
	t.breaks = feeds
	if i := bytes.IndexAny(b, "\n\r"); i >= 0 && b[i] == '\r' {
		t.breaks = returns
		if i+1 < len(b) && b[i+1] == '\n' {
			t.breaks = pairs
		}
	}
}

// lineBreak returns the length of the line break at i, 0 if there is none.
func (t *tokenizer) lineBreak(b []byte, i int) int {
	switch {
	case t.breaks == custom:
		if bytes.HasPrefix(b[i:], []byte(t.opt.LineSep)) {
			return len(t.opt.LineSep)
		}
	case b[i] == '\n' && t.breaks == feeds, b[i] == '\r' && t.breaks == returns:
		return 1
	case b[i] == '\r' && t.breaks == pairs && i+1 < len(b) && b[i+1] == '\n':
		return 2
	}
	return 0
}

// record returns the place of the next record of a whole file from i on,
// behind empty lines and comments; len(b) if there is none.
func (t *tokenizer) record(b []byte, i int) int {
	for i < len(b) {
		if n := t.lineBreak(b, i); n > 0 {
			i += n
			continue
		}
		if b[i] == '\n' && t.breaks != custom { // a feed is text only inside a record
			i++
			continue
		}
		if t.opt.Comment == none || b[i] != t.opt.Comment {
			return i
		}
		for i < len(b) && t.lineBreak(b, i) == 0 {
			i++
		}
	}
	return i
}

// value returns the bytes of token k of the record rec.
func (t *tokenizer) value(rec []byte, k int) []byte {
	tok := &t.tokens[k]
	if tok.scratch {
		return t.scratch[tok.from:tok.to]
	}
	return rec[tok.from:tok.to]
}

// split cuts b[:end] at i into the tokens of one record and returns what is
// behind its line end. With lines, b is one line and line breaks mean nothing.
func (t *tokenizer) split(b []byte, i int, lines bool) int {
	t.tokens, t.scratch, t.stray = t.tokens[:0], t.scratch[:0], false
	for {
		var more bool
		i, more = t.next(b, i, lines)
		if !more {
			return i
		}
	}
}

// simple cuts a line without quotes.
func (t *tokenizer) simple(b []byte) {
	t.tokens, t.scratch, t.stray = t.tokens[:0], t.scratch[:0], false
	from := 0
	for {
		n := bytes.IndexByte(b[from:], t.sep)
		if n < 0 {
			break
		}
		t.tokens = append(t.tokens, token{from: from, to: from + n})
		from += n + 1
	}
	t.tokens = append(t.tokens, token{from: from, to: len(b)})
}

// atSep reports whether the separator stands at i.
func (t *tokenizer) atSep(b []byte, i int) bool {
	return b[i] == t.sep && (!t.long || bytes.HasPrefix(b[i:], []byte(t.opt.Sep)))
}

// ends reports whether an unquoted value ends at i.
func (t *tokenizer) ends(b []byte, i int, lines bool) bool {
	return t.atSep(b, i) || !lines && t.lineBreak(b, i) > 0
}

// next reads the value at i; more says that a separator followed it.
func (t *tokenizer) next(b []byte, i int, lines bool) (after int, more bool) {
	o := t.opt
	if o.TrimLeft {
		for i < len(b) && b[i] <= ' ' && !t.ends(b, i, lines) {
			i++
		}
	}
	if o.Quote != none && i < len(b) && b[i] == o.Quote {
		i = t.quoted(b, i+1, lines)
		return t.delimiter(b, i)
	}
	tok := token{from: i}
	if lines && !t.long {
		if n := bytes.IndexByte(b[i:], t.sep); n >= 0 {
			i += n
		} else {
			i = len(b)
		}
	}
	for i < len(b) && !t.ends(b, i, lines) {
		i++
	}
	tok.to = i
	if o.TrimRight {
		for tok.to > tok.from && b[tok.to-1] <= ' ' {
			tok.to--
		}
	}
	t.tokens = append(t.tokens, tok)
	return t.delimiter(b, i)
}

// delimiter steps over the separator or the line end at i.
func (t *tokenizer) delimiter(b []byte, i int) (after int, more bool) {
	t.stop = i
	switch {
	case i >= len(b):
		return i, false
	case t.atSep(b, i):
		return i + len(t.opt.Sep), true
	}
	return i + t.lineBreak(b, i), false
}

// escaped tells what stands inside quotes for the n bytes at i, if they are an
// escape or a line break; n is 0 for plain text.
func (t *tokenizer) escaped(b []byte, i int, lines bool) (text string, n int) {
	o, c := t.opt, b[i]
	next := i+1 < len(b)
	switch {
	case c == '\r' && !lines && (t.breaks == pairs || t.breaks == returns):
		return "\n", t.lineBreak(b, i)
	case o.Escape != none && c == o.Escape && c != o.Quote && !next: // escapes nothing
		return "", 1
	case o.Escape != none && c == o.Escape && next && b[i+1] == o.Quote:
		return t.quote, 2
	case o.EscapeEscape != none && c == o.EscapeEscape && next && b[i+1] == o.Escape && o.Escape != o.Quote:
		return t.escape, 2
	}
	return "", 0
}

// quoted reads a value behind its opening quote at i-1 and returns the place
// of the delimiter behind it.
func (t *tokenizer) quoted(b []byte, i int, lines bool) int {
	o := t.opt
	open := i
	start := len(t.scratch)
	rewritten := false // the value is in scratch from start on, b[flushed:] follows
	flushed := i
	flush := func(to int) {
		t.scratch = append(t.scratch, b[flushed:to]...)
		rewritten = true
	}
	if i >= len(b) { // a quote and nothing else is text
		t.tokens = append(t.tokens, token{from: i - 1, to: i})
		return i
	}
	for i < len(b) {
		c := b[i]
		if c != o.Escape && c != o.EscapeEscape && c != '\r' && c != o.Quote {
			i++
			continue
		}
		r, n := t.escaped(b, i, lines)
		switch {
		case n > 0:
			flush(i)
			t.scratch = append(t.scratch, r...)
			i += n
			flushed = i
		case c == o.Quote:
			end := t.closing(b, i+1, lines)
			if end < 0 {
				if i+1 < len(b) && b[i+1] == o.Quote && o.Escape != o.Quote {
					i++ // a doubled quote stands for itself so far
					if t.closing(b, i+1, lines) >= 0 {
						flush(i)
						return t.endQuoted(start, t.closing(b, i+1, lines))
					}
					continue
				}
				if rewritten {
					t.scratch = append(t.scratch, o.Quote) // room for the opening quote
					copy(t.scratch[start+1:], t.scratch[start:])
					t.scratch[start] = o.Quote
					end := t.strayEnd(b, i, lines)
					t.scratch = append(t.scratch, b[flushed:end]...)
					return t.endQuoted(start, end)
				}
				return t.strayQuote(b, open, i, lines)
			}
			if rewritten {
				t.scratch = append(t.scratch, b[flushed:i]...)
				return t.endQuoted(start, end)
			}
			t.tokens = append(t.tokens, token{from: open, to: i, quoted: true})
			return end
		default:
			i++
		}
	}
	// the text ends inside the quotes: what is there counts
	if rewritten {
		t.scratch = append(t.scratch, b[flushed:]...)
		return t.endQuoted(start, i)
	}
	t.tokens = append(t.tokens, token{from: open, to: i, quoted: true})
	return i
}

func (t *tokenizer) endQuoted(start, end int) int {
	t.tokens = append(t.tokens, token{from: start, to: len(t.scratch), scratch: true, quoted: true})
	return end
}

// closing returns the place of the delimiter if only blanks are between i and
// it, else -1.
func (t *tokenizer) closing(b []byte, i int, lines bool) int {
	for i < len(b) && !t.ends(b, i, lines) {
		if b[i] > ' ' {
			return -1
		}
		i++
	}
	return i
}

// strayQuote takes a quoted value with a quote in the middle (at i) as it
// stands up to the next delimiter, its opening quote included.
func (t *tokenizer) strayQuote(b []byte, open, i int, lines bool) int {
	i = t.strayEnd(b, i, lines)
	to := i
	if t.opt.TrimRight {
		for to > open && b[to-1] <= ' ' {
			to--
		}
	}
	t.tokens = append(t.tokens, token{from: open - 1, to: to})
	return i
}

// strayEnd notes a stray quote and returns where its value ends.
func (t *tokenizer) strayEnd(b []byte, i int, lines bool) int {
	t.stray = t.stray || t.opt.StrayQuotes == RaiseError
	for i < len(b) && !t.ends(b, i, lines) {
		i++
	}
	return i
}
