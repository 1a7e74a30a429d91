package ast

import "strings"

type printer struct{ sb strings.Builder }

// String prints a node as SQL text that parses to an equal node.
func String(n Node) string { return "" }

func (p *printer) name(n Name) {
	for i, id := range n.Parts {
		if i > 0 {
			p.sb.WriteByte('.')
		}
		p.sb.WriteString(id.Name)
	}
}
