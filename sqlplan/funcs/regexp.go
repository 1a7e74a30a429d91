package funcs

import (
	"bytes"
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
)

// matcher finds the first match of a Java regular expression at or behind a
// byte: the places of the groups in pairs, -1 where a group took no part.
type matcher interface {
	find(s []byte, from int, at []int) []int
	// all calls f for each match in order, while it returns true.
	all(s []byte, f func(at []int) bool)
	test(s []byte) bool
	groups() int
}

// compileRegexp translates Java's syntax: to the linear-time engine where that
// has the same meaning, to a backtracking one else.
func compileRegexp(pattern string) (matcher, error) {
	t := translateJava(pattern)
	if t.bad != "" {
		return nil, errors.New(t.bad)
	}
	if !t.backtrack {
		if re, err := regexp.Compile(t.linear); err == nil {
			m := linearMatcher{re: re}
			tree, err := syntax.Parse(t.linear, syntax.Perl)
			if err == nil {
				m.needs = []byte(literalOf(tree))
			}
			if err == nil && matchesEmpty(tree) {
				if looksAround(tree) {
					if slow, err := regexp2.Compile(t.full, regexp2.None); err == nil {
						m.around = &backtrackMatcher{slow}
					}
				} else {
					m.empty = re.FindSubmatchIndex(nil)
				}
			}
			if t.dollar { // $ also matches before a last line break in Java
				if slow, err := regexp2.Compile(t.full, regexp2.None); err == nil {
					m.slow = &backtrackMatcher{slow}
				}
			}
			return m, nil
		}
	}
	re, err := regexp2.Compile(t.full, regexp2.None)
	if err != nil {
		return nil, err
	}
	return &backtrackMatcher{re}, nil
}

type linearMatcher struct {
	re     *regexp.Regexp
	needs  []byte            // each match contains it; to look for it costs little
	slow   *backtrackMatcher // for texts that end in a line break
	empty  []int             // the match of an empty text, if it matches one anywhere
	around *backtrackMatcher // for all, of a pattern whose empty matches depend on what is around
}

func (m linearMatcher) groups() int { return m.re.NumSubexp() }

func (m linearMatcher) find(s []byte, from int, at []int) []int {
	if !bytes.Contains(s, m.needs) {
		return at[:0]
	}
	if n := len(s); m.slow != nil && n > 0 && (s[n-1] == '\n' || s[n-1] == '\r') {
		return m.slow.find(s, from, at)
	}
	if from == 0 {
		return append(at[:0], m.re.FindSubmatchIndex(s)...)
	}
	// anchors and word boundaries must see what is before from, so search all
	// and take the first match that starts late enough
	for _, loc := range m.re.FindAllSubmatchIndex(s, -1) {
		if loc[0] >= from {
			return append(at[:0], loc...)
		}
	}
	return at[:0]
}

func (m linearMatcher) all(s []byte, f func(at []int) bool) {
	if !bytes.Contains(s, m.needs) {
		return
	}
	if n := len(s); m.slow != nil && n > 0 && (s[n-1] == '\n' || s[n-1] == '\r') {
		m.slow.all(s, f)
		return
	}
	if m.around != nil {
		m.around.all(s, f)
		return
	}
	// the engine leaves out an empty match right behind another one, which
	// Java finds
	end := -1
	behind := func() bool {
		at := slices.Clone(m.empty)
		for k := range at {
			if at[k] >= 0 {
				at[k] = end
			}
		}
		return f(at)
	}
	for _, loc := range m.re.FindAllSubmatchIndex(s, -1) {
		if m.empty != nil && end >= 0 && loc[0] != end && !behind() || !f(loc) {
			return
		}
		if end = -1; loc[1] > loc[0] {
			end = loc[1]
		}
	}
	if m.empty != nil && end >= 0 {
		behind()
	}
}

// literalOf is the longest text found that each match of a pattern contains.
func literalOf(t *syntax.Regexp) (longest string) {
	switch t.Op {
	case syntax.OpLiteral:
		if t.Flags&syntax.FoldCase == 0 && !slices.Contains(t.Rune, utf8.RuneError) { // which broken bytes are too
			return string(t.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return literalOf(t.Sub[0])
	case syntax.OpRepeat:
		if t.Min > 0 {
			return literalOf(t.Sub[0])
		}
	case syntax.OpConcat:
		for _, sub := range t.Sub {
			if x := literalOf(sub); len(x) > len(longest) {
				longest = x
			}
		}
	}
	return longest
}

// matchesEmpty is whether a pattern can match an empty text.
func matchesEmpty(t *syntax.Regexp) bool {
	switch t.Op {
	case syntax.OpNoMatch, syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return false
	case syntax.OpLiteral:
		return len(t.Rune) == 0
	case syntax.OpPlus, syntax.OpCapture:
		return matchesEmpty(t.Sub[0])
	case syntax.OpRepeat:
		return t.Min == 0 || matchesEmpty(t.Sub[0])
	case syntax.OpConcat:
		return !slices.ContainsFunc(t.Sub, func(s *syntax.Regexp) bool { return !matchesEmpty(s) })
	case syntax.OpAlternate:
		return slices.ContainsFunc(t.Sub, matchesEmpty)
	}
	return true // star, quest, anchors and boundaries
}

// looksAround is whether a pattern has anchors or boundaries.
func looksAround(t *syntax.Regexp) bool {
	switch t.Op {
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}
	return slices.ContainsFunc(t.Sub, looksAround)
}

type backtrackMatcher struct{ re *regexp2.Regexp }

func (m *backtrackMatcher) groups() int { return len(m.re.GetGroupNumbers()) - 1 }

func (m *backtrackMatcher) find(s []byte, from int, at []int) []int {
	at = at[:0]
	m.all(s, func(loc []int) bool {
		if loc[0] < from {
			return true
		}
		at = append(at, loc...)
		return false
	})
	return at
}

func (m *backtrackMatcher) all(s []byte, f func(at []int) bool) {
	str := string(s)
	match, err := m.re.FindStringMatch(str)
	for err == nil && match != nil {
		var loc []int
		for _, g := range match.Groups() {
			if len(g.Captures) == 0 {
				loc = append(loc, -1, -1)
			} else {
				at, n := g.ByteRange()
				loc = append(loc, at, at+n)
			}
		}
		if !f(loc) {
			return
		}
		match, err = m.re.FindNextMatch(match)
	}
}

func (m linearMatcher) test(s []byte) bool {
	if !bytes.Contains(s, m.needs) {
		return false
	}
	if n := len(s); m.slow != nil && n > 0 && (s[n-1] == '\n' || s[n-1] == '\r') {
		return m.slow.test(s)
	}
	return m.re.Match(s)
}

func (m *backtrackMatcher) test(s []byte) bool {
	ok, err := m.re.MatchString(string(s))
	return ok && err == nil
}

// translation of one pattern.
type javaPattern struct {
	linear, full string
	backtrack    bool // needs what the linear engine lacks
	dollar       bool
	bad          string // what Java refuses
}

// translateJava rewrites a Java pattern for both engines.
func translateJava(p string) javaPattern {
	t := &javaTranslator{src: p}
	t.run()
	return javaPattern{linear: t.linear.String(), full: t.full.String(), backtrack: t.backtrack, dollar: t.dollar, bad: t.bad}
}

type javaTranslator struct {
	src          string
	linear, full strings.Builder
	backtrack    bool
	dollar       bool
	unicode      bool
	bad          string
	atom         int   // where the last atom starts in full
	open         []int // starts of the open groups in full
}

func (t *javaTranslator) both(s string) {
	t.linear.WriteString(s)
	t.full.WriteString(s)
}

func (t *javaTranslator) run() {
	for i := 0; i < len(t.src); {
		i = t.step(i)
	}
}

// step translates what starts at i and returns where it ends.
func (t *javaTranslator) step(i int) int {
	s := t.src
	switch c := s[i]; c {
	case '\\':
		t.atom = t.full.Len()
		return t.escape(i, false)
	case '[':
		t.atom = t.full.Len()
		return t.class(i)
	case '(':
		t.open = append(t.open, t.full.Len())
		return t.group(i)
	case ')':
		if n := len(t.open); n > 0 {
			t.atom, t.open = t.open[n-1], t.open[:n-1]
		}
		t.both(")")
		return i + 1
	case '*', '+', '?', '{':
		return t.quantifier(i)
	case '$':
		t.dollar = true
		t.atom = t.full.Len()
		t.both("$")
		return i + 1
	case '.':
		t.atom = t.full.Len()
		t.both(".")
		return i + 1
	default:
		t.atom = t.full.Len()
		n := 1
		for i+n < len(s) && s[i+n]&0xc0 == 0x80 {
			n++
		}
		t.both(s[i : i+n])
		return i + n
	}
}

func (t *javaTranslator) group(i int) int {
	s := t.src[i:]
	for _, look := range []string{"(?=", "(?!", "(?<=", "(?<!", "(?>"} {
		if strings.HasPrefix(s, look) {
			t.backtrack = true
			t.both(look)
			return i + len(look)
		}
	}
	if strings.HasPrefix(s, "(?") && !strings.HasPrefix(s, "(?<") {
		k := 2
		flags := ""
		for k < len(s) && s[k] != ')' && s[k] != ':' {
			switch s[k] {
			case 'U':
				t.unicode = true
			case 'u', 'd':
			case 'x':
				t.backtrack = true
				flags += "x"
			default:
				flags += string(s[k])
			}
			k++
		}
		if k < len(s) {
			end := string(s[k])
			if s[k] == ')' && len(t.open) > 0 {
				t.open = t.open[:len(t.open)-1]
				if flags == "" {
					return i + k + 1
				}
			}
			t.both("(?" + flags + end)
			return i + k + 1
		}
	}
	t.both("(")
	return i + 1
}

// repetition is the length of a text's leading {n}, {n,} or {n,m}; 0 is none.
func repetition(s string) int {
	k := 1
	digits := func() bool {
		from := k
		for k < len(s) && s[k]-'0' <= 9 {
			k++
		}
		return k > from
	}
	if !digits() {
		return 0
	}
	if k < len(s) && s[k] == ',' {
		k++
		digits()
	}
	if k == len(s) || s[k] != '}' {
		return 0
	}
	return k + 1
}

// escaped says whether an odd number of backslashes stands in front of s[i].
func escaped(s string, i int) bool {
	n := i
	for n > 0 && s[n-1] == '\\' {
		n--
	}
	return (i-n)%2 == 1
}

func (t *javaTranslator) quantifier(i int) int {
	s := t.src
	n := 1
	if s[i] == '{' {
		n = repetition(s[i:])
		if n == 0 || i == 0 || (s[i-1] == '(' || s[i-1] == '|') && !escaped(s, i-1) {
			t.bad = "a repetition without numbers, or of nothing"
			t.both(`\{`)
			return i + 1
		}
	}
	q := s[i : i+n]
	switch {
	case i+n < len(s) && s[i+n] == '+': // possessive: an atomic group
		t.backtrack = true
		full := t.full.String()
		t.full.Reset()
		t.full.WriteString(full[:t.atom] + "(?>" + full[t.atom:] + q + ")")
		return i + n + 1
	case i+n < len(s) && s[i+n] == '?':
		q += "?"
		n++
	}
	t.both(q)
	return i + n
}

// escape translates a backslash sequence.
//
//tidy:allow-long one flat switch over the letters behind a backslash
func (t *javaTranslator) escape(i int, inClass bool) int {
	s := t.src
	if i+1 >= len(s) {
		t.both(`\`)
		return i + 1
	}
	open, end := "[", "]"
	if inClass {
		open, end = "", ""
	}
	switch c := s[i+1]; c {
	case 'd', 'w', 's', 'h', 'v':
		if t.unicode && c != 'h' && c != 'v' {
			set := map[byte]string{'d': `\p{Nd}`, 'w': `\p{L}\p{M}\p{Nd}_`, 's': `\s\x{85}\p{Z}`}[c]
			t.linear.WriteString(open + set + end)
			t.full.WriteString(open + strings.ReplaceAll(set, `\x{85}`, `\u0085`) + end)
			return i + 2
		}
		set := map[byte]string{'d': "0-9", 'w': "a-zA-Z0-9_", 's': ` \t\n\x0B\f\r`, 'h': ` \t\xA0`, 'v': `\n\x0B\f\r`}[c]
		t.both(open + set + end)
		return i + 2
	case 'D', 'W', 'S':
		set := map[byte]string{'D': "0-9", 'W': "a-zA-Z0-9_", 'S': ` \t\n\x0B\f\r`}[c]
		if inClass {
			t.both(`\` + string(c))
		} else {
			t.both("[^" + set + "]")
		}
		return i + 2
	case 'Z':
		t.dollar = true
		t.linear.WriteString(`\z`)
		t.full.WriteString(`\Z`)
		return i + 2
	case 'R':
		t.both(`(?:\r\n|[\n\x0B\f\r])`)
		return i + 2
	case 'e':
		t.both(`\x1B`)
		return i + 2
	case 'Q':
		text, next := s[i+2:], len(s)
		if k := strings.Index(text, `\E`); k >= 0 {
			next = i + 2 + k + 2
			text = text[:k]
		}
		t.both(regexp.QuoteMeta(text))
		return next
	case 'k', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		t.backtrack = true
		t.both(s[i : i+2])
		return i + 2
	case 'G':
		t.backtrack = true
		t.both(`\G`)
		return i + 2
	case 'u':
		if i+6 <= len(s) {
			t.linear.WriteString(`\x{` + s[i+2:i+6] + "}")
			t.full.WriteString(s[i : i+6])
			return i + 6
		}
	case 'p', 'P':
		return t.property(i)
	case 'b', 'B', 'A', 'z', 't', 'n', 'r', 'f', 'x', 'a', '0', 'c':
		t.both(s[i : i+2])
		return i + 2
	default:
		if c|0x20 >= 'a' && c|0x20 <= 'z' && !strings.ContainsRune("HVNXE", rune(c)) {
			t.bad = "an escape of a letter that means nothing"
		}
		if c < 0x80 {
			t.both(regexp.QuoteMeta(string(rune(c))))
			return i + 2
		}
	}
	t.both(s[i : i+2])
	return i + 2
}

// property translates \p{…}: Java's POSIX names and the Is prefix.
func (t *javaTranslator) property(i int) int {
	s := t.src
	if i+2 >= len(s) || s[i+2] != '{' {
		end := min(i+3, len(s))
		t.linear.WriteString(s[i:end])
		t.full.WriteString(s[i:min(i+2, len(s))] + "{" + s[min(i+2, len(s)):end] + "}")
		return end
	}
	end := strings.IndexByte(s[i:], '}')
	if end < 0 {
		t.both(s[i:])
		return len(s)
	}
	name := strings.TrimPrefix(s[i+3:i+end], "Is")
	posix := map[string]string{
		"Lower": "a-z", "Upper": "A-Z", "ASCII": `\x00-\x7F`, "Alpha": "a-zA-Z", "Digit": "0-9", "Alnum": "a-zA-Z0-9",
		"Punct": "!-/:-@\\[-`{-~", "Graph": "!-~", "Print": " -~", "Blank": ` \t`, "Cntrl": `\x00-\x1F\x7F`, "XDigit": "0-9a-fA-F", "Space": ` \t\n\x0B\f\r`,
	}
	if set, ok := posix[name]; ok {
		not := ""
		if s[i+1] == 'P' {
			not = "^"
		}
		t.both("[" + not + set + "]")
		return i + end + 1
	}
	if long, ok := map[string]string{"Alphabetic": "L", "Letter": "L", "Uppercase": "Lu", "Lowercase": "Ll", "Digit": "Nd", "Punctuation": "P"}[name]; ok {
		name = long
	}
	t.both(`\` + string(s[i+1]) + "{" + name + "}")
	return i + end + 1
}

// class translates a character class; an intersection becomes a subtraction
// of the complement, which only the backtracking engine has.
func (t *javaTranslator) class(i int) int {
	s := t.src
	t.both("[")
	i++
	if i < len(s) && s[i] == '^' {
		t.both("^")
		i++
	}
	for first := true; i < len(s); first = false {
		switch {
		case s[i] == ']' && !first:
			t.both("]")
			return i + 1
		case s[i] == '\\':
			i = t.escape(i, true)
		case strings.HasPrefix(s[i:], "&&["):
			t.backtrack = true
			i += 3
			if i < len(s) && s[i] == '^' {
				i++
				t.full.WriteString("-[")
			} else {
				t.full.WriteString("-[^")
			}
			for i < len(s) && s[i] != ']' {
				if s[i] == '\\' {
					i = t.escape(i, true)
					continue
				}
				t.both(s[i : i+1])
				i++
			}
			t.full.WriteString("]")
			i++
		case s[i] == '[':
			t.both(`\[`)
			i++
		default:
			t.both(s[i : i+1])
			i++
		}
	}
	return i
}
