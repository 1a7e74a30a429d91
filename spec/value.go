package spec

import (
	"strings"
	"time"

	"pipelines/spec/diag"
)

// String is a text value and its place. Unset values have no valid Span.
type String struct {
	Value string
	Span  diag.Span
}

// IsSet reports whether the document gives the value.
func (s String) IsSet() bool { return s.Span.IsValid() }

// Bool is a truth value and its place.
type Bool struct {
	Value bool
	Span  diag.Span
}

// IsSet reports whether the document gives the value.
func (b Bool) IsSet() bool { return b.Span.IsValid() }

// Int is a whole number and its place. Where a key has a default, Value holds
// it while the Span stays invalid.
type Int struct {
	Value int64
	Span  diag.Span
}

// IsSet reports whether the document gives the value.
func (i Int) IsSet() bool { return i.Span.IsValid() }

// Duration is a fixed length of time, written as one of Spark's interval texts.
type Duration struct {
	Value time.Duration
	Span  diag.Span
}

// IsSet reports whether the document gives the value.
func (d Duration) IsSet() bool { return d.Span.IsValid() }

// Name is an identifier of one to three parts, without backticks.
type Name struct {
	Parts []string
	Span  diag.Span
}

// IsSet reports whether the document gives the value.
func (n Name) IsSet() bool { return n.Span.IsValid() }

// String returns the parts joined by dots; parts that need it are in backticks.
func (n Name) String() string {
	out := make([]string, len(n.Parts))
	for i, p := range n.Parts {
		out[i] = quoteIdentifier(p)
	}
	return strings.Join(out, ".")
}

// Setting is one entry of a map of texts.
type Setting struct {
	Key   String
	Value String
}

func quoteIdentifier(p string) string {
	for i := 0; i < len(p); i++ {
		if !isWordByte(p[i]) {
			return "`" + strings.ReplaceAll(p, "`", "``") + "`"
		}
	}
	return p
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
