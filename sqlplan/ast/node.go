package ast

import (
	"strings"

	"pipelines/spec/diag"
)

// Node is any piece of syntax.
type Node interface {
	// Range is the node's place in the parsed text.
	Range() diag.Range
}

// Pos is embedded by all nodes: where the node's text stands.
type Pos struct {
	Span diag.Range
}

// Range returns the node's place in the parsed text.
func (p Pos) Range() diag.Range { return p.Span }

// Ident is one name as written, without its back quotes.
type Ident struct {
	Pos
	Name   string
	Quoted bool // written in back quotes
}

// Name is a name of one or more parts, or IDENTIFIER(expr).
type Name struct {
	Pos
	Parts []Ident
	// Dynamic is the argument of IDENTIFIER(...): the parts are then what
	// follows it and usually none. Nil for a plain name.
	Dynamic Expr
}

// Strings returns the parts as plain strings.
func (n Name) Strings() []string {
	s := make([]string, len(n.Parts))
	for i, p := range n.Parts {
		s[i] = p.Name
	}
	return s
}

// Last returns the last part, or the zero Ident.
func (n Name) Last() Ident {
	if len(n.Parts) == 0 {
		return Ident{}
	}
	return n.Parts[len(n.Parts)-1]
}

// String joins the parts with dots, quoting where needed.
func (n Name) String() string {
	var p printer
	p.name(n)
	return p.sb.String()
}

// Is reports whether the name is the single word w, whatever its case.
func (n Name) Is(w string) bool {
	return n.Dynamic == nil && len(n.Parts) == 1 && strings.EqualFold(n.Parts[0].Name, w)
}

// Property is one key with a value of a property list. Key is the text of a
// quoted key or the dotted text of a bare one. Value is nil if only the key
// was written.
type Property struct {
	Pos
	Key   string
	Value Expr
}

// Text returns the value as a string the way Spark reads property lists:
// strings by value, numbers and booleans by their text.
func (p Property) Text() string {
	switch v := p.Value.(type) {
	case nil:
		return ""
	case *StringLit:
		return v.Value
	case *NumberLit:
		return v.Text
	case *BoolLit:
		if v.Value {
			return "true"
		}
		return "false"
	}
	return String(p.Value)
}
