package option

import (
	"fmt"
	"strings"

	"pipelines/spec/diag"
)

// Entry is one option as the user wrote it, with its places.
type Entry struct {
	Name     string
	Value    Value
	NameSpan diag.Span
	Span     diag.Span // of the value
}

// FromMap makes entries without places from plain names and values, sorted by
// name. It serves callers that have no document, for example SQL functions.
func FromMap(m map[string]string) []Entry {
	names := sortedKeys(m)
	out := make([]Entry, len(names))
	for i, n := range names {
		out[i] = Entry{Name: n, Value: Literal(m[n])}
	}
	return out
}

// Value is the text of an option. It may hold references to secrets
// ("${env:X}", "${file:path}"), which are resolved only when something runs.
type Value struct {
	parts []part
}

type part struct {
	text string  // the literal, or the name inside the reference
	kind refKind // none for a literal
}

type refKind uint8

const (
	refNone refKind = iota
	refEnv
	refFile
)

// Literal makes a value without references; "${" has no meaning in it.
func Literal(s string) Value { return Value{parts: []part{{text: s}}} }

// ParseValue splits s at its secret references. Other "${…}" stay text.
func ParseValue(s string) Value {
	var v Value
	rest := s
	for {
		start, end, kind := findRef(rest)
		if kind == refNone {
			break
		}
		if start > 0 {
			v.parts = append(v.parts, part{text: rest[:start]})
		}
		inner := rest[start+2 : end-1]
		v.parts = append(v.parts, part{text: strings.TrimSpace(inner[strings.IndexByte(inner, ':')+1:]), kind: kind})
		rest = rest[end:]
	}
	if rest != "" || len(v.parts) == 0 {
		v.parts = append(v.parts, part{text: rest})
	}
	return v
}

// findRef finds the first secret reference of s: its bounds and kind.
func findRef(s string) (start, end int, kind refKind) {
	for at := 0; ; {
		i := strings.Index(s[at:], "${")
		if i < 0 {
			return 0, 0, refNone
		}
		start = at + i
		n := strings.IndexByte(s[start:], '}')
		if n < 0 {
			return 0, 0, refNone
		}
		end = start + n + 1
		switch inner := s[start+2:]; {
		case strings.HasPrefix(inner, "env:"):
			return start, end, refEnv
		case strings.HasPrefix(inner, "file:"):
			return start, end, refFile
		}
		at = start + 2
	}
}

// HasSecret reports whether the value refers to a secret.
func (v Value) HasSecret() bool {
	for _, p := range v.parts {
		if p.kind != refNone {
			return true
		}
	}
	return false
}

// Text returns the value if it refers to no secret.
func (v Value) Text() (text string, ok bool) {
	if v.HasSecret() {
		return "", false
	}
	return v.String(), true
}

// String returns the value as written, with its references unresolved.
func (v Value) String() string {
	var b strings.Builder
	for _, p := range v.parts {
		switch p.kind {
		case refEnv:
			b.WriteString("${env:" + p.text + "}")
		case refFile:
			b.WriteString("${file:" + p.text + "}")
		default:
			b.WriteString(p.text)
		}
	}
	return b.String()
}

// Resolver finds the values behind secret references.
type Resolver struct {
	Env  func(name string) (string, bool)
	File func(path string) ([]byte, error) // a final newline is cut off
}

// Resolve returns the text with every reference replaced. The error names the
// reference and never holds a secret.
func (v Value) Resolve(r Resolver) (Secret, error) {
	var b strings.Builder
	for _, p := range v.parts {
		switch p.kind {
		case refEnv:
			s, ok := "", false
			if r.Env != nil {
				s, ok = r.Env(p.text)
			}
			if !ok {
				return Secret{}, fmt.Errorf("secret ${env:%s}: the environment variable is not set", p.text)
			}
			b.WriteString(s)
		case refFile:
			if r.File == nil {
				return Secret{}, fmt.Errorf("secret ${file:%s}: no files can be read here", p.text)
			}
			data, err := r.File(p.text)
			if err != nil {
				return Secret{}, fmt.Errorf("secret ${file:%s}: %w", p.text, err)
			}
			b.WriteString(strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r"))
		default:
			b.WriteString(p.text)
		}
	}
	return NewSecret(b.String()), nil
}

// Secret is a text that never prints: not by fmt, not as JSON, not in a log.
type Secret struct{ text *string }

const hidden = "[secret]"

// NewSecret hides s.
func NewSecret(s string) Secret { return Secret{text: &s} }

// Reveal returns the text; call it only where the text is used.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsSet reports whether there is a text, possibly an empty one.
func (s Secret) IsSet() bool { return s.text != nil }

// String hides the text.
func (s Secret) String() string { return hidden }

// GoString hides the text.
func (s Secret) GoString() string { return hidden }

// Format hides the text from every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(hidden)) }

// MarshalText hides the text from JSON and loggers.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }
