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
}

func newTokenizer(o *Options) tokenizer {
	return tokenizer{opt: o, sep: o.Sep[0], long: len(o.Sep) > 1}
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
	return t.atSep(b, i) || !lines && (b[i] == '\n' || b[i] == '\r')
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
	switch {
	case i >= len(b):
		return i, false
	case t.atSep(b, i):
		return i + len(t.opt.Sep), true
	case b[i] == '\r' && i+1 < len(b) && b[i+1] == '\n':
		return i + 2, false
	}
	return i + 1, false
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
	for i < len(b) {
		c := b[i]
		switch {
		case o.Escape != none && c == o.Escape && i+1 < len(b) && b[i+1] == o.Quote && (c != o.Quote || o.Escape == o.Quote):
			flush(i)
			t.scratch = append(t.scratch, o.Quote)
			i += 2
			flushed = i
		case o.EscapeEscape != none && c == o.EscapeEscape && i+1 < len(b) && b[i+1] == o.Escape && o.Escape != o.Quote:
			flush(i)
			t.scratch = append(t.scratch, o.Escape)
			i += 2
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
