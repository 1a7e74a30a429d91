package funcs

import (
	"slices"
	"testing"
	"unicode/utf8"
)

// slowLike matches by trying all splits.
func slowLike(s, p []rune) bool {
	switch {
	case len(p) == 0:
		return len(s) == 0
	case p[0] == '%':
		for i := 0; i <= len(s); i++ {
			if slowLike(s[i:], p[1:]) {
				return true
			}
		}
		return false
	case p[0] == '\\':
		return len(s) > 0 && s[0] == p[1] && slowLike(s[1:], p[2:])
	}
	return len(s) > 0 && (p[0] == '_' || p[0] == s[0]) && slowLike(s[1:], p[1:])
}

func FuzzLike(f *testing.F) {
	for _, c := range [][2]string{{"abc", "a%c"}, {"é日x", "_日%"}, {"a%b", `a\%b`}, {"aXbX", "%X"}, {"abab", "%ab_"}, {"", "%"}, {"aab", "%a%b"}, {"xyz", "%_z"}} {
		f.Add(c[0], c[1])
	}
	f.Fuzz(func(t *testing.T, s, p string) {
		if !utf8.ValidString(s) || !utf8.ValidString(p) || len(p) > 12 || len(s) > 20 {
			return
		}
		m := compileLike([]byte(p), []byte(`\`))
		if m.err != nil {
			return
		}
		if got, want := m.match([]byte(s)), slowLike([]rune(s), []rune(p)); got != want {
			t.Errorf("%q LIKE %q is %t, want %t", s, p, got, want)
		}
	})
}

func FuzzRegexp(f *testing.F) {
	for _, p := range []string{`^(a)\1$`, `[a-z&&[^b]]+`, `a*+b`, `\p{Alpha}{2,}`, `(?i)x$`, `\Qa.b\E`, `(?<n>b)`, `[\w.-]+@`, `(`, `[`, `\`, `{1}`, `(?U)\w`, `a{2`, `\u0041`} {
		f.Add(p, "ab\n")
	}
	for _, c := range [][2]string{{`(&|^)id=([^&]*)`, "a?b=1&id=7"}, {`(&|^)id=([^&]*)`, "a?b=1"}, {`(?i)ab+c`, "xABBc"}, {`x(ab|cd){2,}y$`, "xabcdy\n"},
		{`(ab)*c?`, "abd"}, {`(?:foo)+|bar`, "bar"}, {"a\uFFFD", "a\xff"}, {`a(bc){0,3}d`, "ad"}} {
		f.Add(c[0], c[1])
	}
	f.Fuzz(func(t *testing.T, p, s string) {
		if len(p) > 40 || len(s) > 40 {
			return
		}
		m, err := compileRegexp(p)
		if err != nil {
			return
		}
		at := m.find([]byte(s), 0, nil)
		if len(at) > 0 && (at[0] < 0 || at[1] > len(s) || at[0] > at[1]) {
			t.Errorf("%q finds %v in %q", p, at, s)
		}
		if plain, ok := m.(linearMatcher); ok { // without the text that each match contains
			plain.needs = nil
			if want := plain.find([]byte(s), 0, nil); !slices.Equal(at, want) || m.test([]byte(s)) != plain.test([]byte(s)) {
				t.Errorf("%q finds %v in %q, want %v", p, at, s, want)
			}
		}
	})
}

func FuzzNumberFormat(f *testing.F) {
	for _, c := range [][2]string{{"9,999.99", "1,234.50"}, {"S99", "-12"}, {"$9", "$5"}, {"99PR", "<5>"}, {"000", "005"}, {"9.9.9", "1"}, {"MI9G9", "-1,2"}} {
		f.Add(c[0], c[1])
	}
	f.Fuzz(func(t *testing.T, format, s string) {
		if len(format) > 30 {
			return
		}
		n, err := compileNumberFormat(format)
		if err != nil || n.whole()+max(n.fraction, 0) > maxPrecision {
			return
		}
		v, ok := n.parse(s)
		if !ok {
			return
		}
		text := string(n.print(nil, v, n.result().Scale))
		if back, ok := n.parse(text); ok && back != v {
			t.Errorf("%q: %q prints %q, which reads back differently", format, s, text)
		}
	})
}
