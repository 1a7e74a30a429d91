package parse

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lexer cuts a text into tokens.
type lexer struct {
	lexed
	pos      int
	parens   []int // indexes of open parentheses
	inHint   bool
	notebook bool
}

const notebookHead = "-- Databricks notebook source"

// lex cuts src into tokens. It never fails: faults are in errs and as bad
// tokens.
func lex(src string) *lexed {
	l := &lexer{lexed: lexed{src: src}}
	l.toks = make([]token, 0, len(src)/4+1)
	if strings.HasPrefix(src, "\ufeff") {
		l.pos = len("\ufeff")
	}
	l.notebook = strings.HasPrefix(src[l.pos:], notebookHead)
	for {
		lead := len(l.comments)
		l.blanks()
		t := l.next()
		t.lead = lead
		l.toks = append(l.toks, t)
		l.pair(len(l.toks) - 1)
		if t.kind == eof {
			return &l.lexed
		}
	}
}

// pair finds the matching parentheses. A ";" outside a parenthesis closes
// nothing, and one inside forgets the open ones: statements do not share
// parentheses.
func (l *lexer) pair(i int) {
	t := &l.toks[i]
	t.match = -1
	switch {
	case t.kind == cell || t.kind == op && t.up == ";":
		l.parens = l.parens[:0]
	case t.kind != op:
	case t.up == "(":
		l.parens = append(l.parens, i)
	case t.up == ")" && len(l.parens) > 0:
		o := l.parens[len(l.parens)-1]
		l.parens = l.parens[:len(l.parens)-1]
		l.toks[o].match, t.match = i, o
	}
}

// blanks skips white space and comments; comments are kept.
func (l *lexer) blanks() {
	lines := 0
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		switch {
		case c == '\n':
			lines++
			l.pos++
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			l.pos++
		case strings.HasPrefix(l.src[l.pos:], "--"):
			end := l.lineComment()
			if l.notebook && isCellEnd(l.src[l.pos:end]) {
				return
			}
			l.comments = append(l.comments, comment{l.pos, end, max(lines-1, 0)})
			l.pos, lines = end, 0
		case strings.HasPrefix(l.src[l.pos:], "/*") && !strings.HasPrefix(l.src[l.pos:], "/*+"):
			end := l.blockComment()
			l.comments = append(l.comments, comment{l.pos, end, max(lines-1, 0)})
			l.pos, lines = end, 0
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(l.src[l.pos:])
			if !unicode.IsSpace(r) {
				return
			}
			l.pos += n
		default:
			return
		}
	}
}

// isCellEnd reports whether a comment is the line between two notebook cells.
func isCellEnd(comment string) bool {
	return strings.HasPrefix(comment, "-- COMMAND ---")
}

// lineComment returns the end of the comment at pos: the end of the line, or of
// a later one if a backslash ends the line.
func (l *lexer) lineComment() int {
	i := l.pos
	for i < len(l.src) && l.src[i] != '\n' {
		if l.src[i] == '\\' && i+1 < len(l.src) && l.src[i+1] == '\n' {
			i++
		}
		i++
	}
	if i > l.pos && i <= len(l.src) && l.src[i-1] == '\r' {
		i--
	}
	return min(i, len(l.src))
}

// blockComment returns the end of the nested comment at pos.
func (l *lexer) blockComment() int {
	depth, i := 0, l.pos
	for i < len(l.src) {
		switch {
		case strings.HasPrefix(l.src[i:], "/*"):
			depth++
			i += 2
		case strings.HasPrefix(l.src[i:], "*/"):
			depth--
			i += 2
			if depth == 0 {
				return i
			}
		default:
			i++
		}
	}
	l.errs = append(l.errs, lexError{l.pos, min(l.pos+2, len(l.src)), "UNCLOSED_BRACKETED_COMMENT",
		"Found an unclosed bracketed comment. Please, append */ at the end of the comment."})
	return len(l.src)
}

// next reads one token; blanks have been skipped.
func (l *lexer) next() token {
	s := l.pos
	if s >= len(l.src) {
		return token{kind: eof, start: len(l.src), end: len(l.src)}
	}
	c := l.src[s]
	switch {
	case c == '\'' || c == '"':
		return l.text(s, s)
	case (c == 'r' || c == 'R') && s+1 < len(l.src) && (l.src[s+1] == '\'' || l.src[s+1] == '"'):
		return l.raw(s)
	case c == '`':
		return l.backquoted(s)
	case isDigit(c) || c == '.' && s+1 < len(l.src) && isDigit(l.src[s+1]) && !l.afterName():
		return l.numberOrWord(s)
	case isWordByte(c) || c >= utf8.RuneSelf:
		return l.word(s)
	case l.notebook && strings.HasPrefix(l.src[s:], "--"):
		l.pos = l.lineComment()
		return token{kind: cell, start: s, end: l.pos, up: ";"}
	}
	return l.operator(s)
}

// afterName reports whether the character before pos ends a name, so that a
// dot here is a field access and no decimal point.
func (l *lexer) afterName() bool {
	if len(l.toks) == 0 {
		return false
	}
	t := l.toks[len(l.toks)-1]
	name := t.kind == word || t.kind == quoted || t.kind == str && l.src[t.start] == '"'
	return t.end == l.pos && (name || t.up == ")" || t.up == "]")
}

// text reads a string with escapes; doubled quotes stand for one.
func (l *lexer) text(s, from int) token {
	q := l.src[from]
	i := from + 1
	for i < len(l.src) {
		switch l.src[i] {
		case '\\':
			i++
		case q:
			if i+1 < len(l.src) && l.src[i+1] == q {
				i++
			} else {
				l.pos = i + 1
				return token{kind: str, start: s, end: i + 1}
			}
		}
		i++
	}
	return l.unended(s)
}

// raw reads r'...' or r"...".
func (l *lexer) raw(s int) token {
	i := strings.IndexByte(l.src[s+2:], l.src[s+1])
	if i < 0 {
		return l.unended(s)
	}
	l.pos = s + 2 + i + 1
	return token{kind: rawStr, start: s, end: l.pos}
}

func (l *lexer) backquoted(s int) token {
	for i := s + 1; i < len(l.src); i++ {
		if l.src[i] != '`' {
			continue
		}
		if i+1 < len(l.src) && l.src[i+1] == '`' {
			i++
			continue
		}
		l.pos = i + 1
		return token{kind: quoted, start: s, end: l.pos}
	}
	return l.unended(s)
}

// unended is the token of a literal without its closing quote. Only the quote is
// taken, so that later statements are still seen... unless the rest is inside
// quotes; the error says where the quote stands.
func (l *lexer) unended(s int) token {
	l.errs = append(l.errs, lexError{s, s + 1, "PARSE_SYNTAX_ERROR",
		"Syntax error at or near '" + l.src[s:s+1] + "': the quote is never closed"})
	l.pos = len(l.src)
	return token{kind: bad, start: s, end: len(l.src), up: l.src[s : s+1]}
}

// numberOrWord reads a number with its suffix, or a name that starts with
// digits: the longer of both wins.
func (l *lexer) numberOrWord(s int) token {
	w := s
	for w < len(l.src) && isWordByte(l.src[w]) {
		w++
	}
	n := numberEnd(l.src, s)
	if n == s && w == s {
		return l.operator(s) // the dot of ".5abc"
	}
	if w > n {
		return l.word(s)
	}
	l.pos = n
	return token{kind: number, start: s, end: n}
}

// numberEnd returns the end of the number that starts at s.
func numberEnd(src string, s int) int {
	i := s
	for i < len(src) && isDigit(src[i]) {
		i++
	}
	point := false
	if i < len(src) && src[i] == '.' {
		j := i + 1
		for j < len(src) && isDigit(src[j]) {
			j++
		}
		if j > i+1 || i > s {
			// "1.e" is a number only if no name follows the dot.
			if e := exponentEnd(src, j); !wordAt(src, suffixEnd(src, e, true)) {
				i, point = j, true
			}
		}
	}
	i = exponentEnd(src, i)
	return suffixEnd(src, i, point)
}

// exponentEnd returns the end of an exponent at i, or i.
func exponentEnd(src string, i int) int {
	if i >= len(src) || src[i] != 'e' && src[i] != 'E' {
		return i
	}
	j := i + 1
	if j < len(src) && (src[j] == '+' || src[j] == '-') {
		j++
	}
	if j >= len(src) || !isDigit(src[j]) {
		return i
	}
	for j < len(src) && isDigit(src[j]) {
		j++
	}
	return j
}

// suffixEnd returns the end of a type suffix at i, or i.
func suffixEnd(src string, i int, point bool) int {
	if i >= len(src) {
		return i
	}
	j := i
	switch src[i] | 0x20 {
	case 'l', 's', 'y':
		if !point {
			j++
		}
	case 'd', 'f':
		j++
	case 'b':
		if i+1 < len(src) && src[i+1]|0x20 == 'd' {
			j += 2
		}
	}
	if wordAt(src, j) {
		return i
	}
	return j
}

// wordAt reports whether a name would go on at i.
func wordAt(src string, i int) bool {
	if i >= len(src) {
		return false
	}
	if src[i] < utf8.RuneSelf {
		return isWordByte(src[i])
	}
	r, _ := utf8.DecodeRuneInString(src[i:])
	return unicode.IsLetter(r)
}

// word reads a name or keyword. Letters of all scripts are taken; the parser
// refuses the ones that need quotes.
func (l *lexer) word(s int) token {
	i := s
	for i < len(l.src) {
		c := l.src[i]
		if isWordByte(c) {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			break
		}
		r, n := utf8.DecodeRuneInString(l.src[i:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			break
		}
		i += n
	}
	if i == s {
		_, n := utf8.DecodeRuneInString(l.src[s:])
		l.pos = s + n
		return token{kind: bad, start: s, end: l.pos, up: l.src[s:l.pos]}
	}
	l.pos = i
	return token{kind: word, start: s, end: i, up: upper(l.src[s:i])}
}

// operators of more than one character, longest first for each start. ">>" and
// ">>>" are left as single ">" for nested types; the expression parser joins
// them.
var operators = []string{"<=>", "<=", "<>", "<<", "==", "=>", ">=", "!=", "!>", "!<", "||", "|>", "::", "->"}

func (l *lexer) operator(s int) token {
	rest := l.src[s:]
	if strings.HasPrefix(rest, "/*+") {
		l.inHint = true
		l.pos = s + 3
		return token{kind: op, start: s, end: l.pos, up: "/*+"}
	}
	if l.inHint && strings.HasPrefix(rest, "*/") {
		l.inHint = false
		l.pos = s + 2
		return token{kind: op, start: s, end: l.pos, up: "*/"}
	}
	for _, o := range operators {
		if strings.HasPrefix(rest, o) {
			l.pos = s + len(o)
			return token{kind: op, start: s, end: l.pos, up: o}
		}
	}
	l.pos = s + 1
	if strings.IndexByte("()[],.;+-*/%&|^~<>=!:?{}", l.src[s]) >= 0 {
		return token{kind: op, start: s, end: l.pos, up: l.src[s:l.pos]}
	}
	return token{kind: bad, start: s, end: l.pos, up: l.src[s:l.pos]}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isWordByte(c byte) bool {
	return c == '_' || isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// upper is strings.ToUpper for ASCII letters only: "ı" and "ſ" stay, so that
// no word of another script turns into a keyword.
func upper(s string) string {
	for i := 0; i < len(s); i++ {
		if 'a' <= s[i] && s[i] <= 'z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if 'a' <= b[i] && b[i] <= 'z' {
					b[i] -= 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}
