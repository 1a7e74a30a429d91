package operator

import (
	"fmt"
	"strings"

	"pipelines/sqlplan/logical"
)

// divisionKind says how the rows of one input of a node are divided among
// lanes.
type divisionKind uint8

const (
	ownRows divisionKind = iota // each lane works on the rows that it reads
	byKey
	oneLane
	oneCopy // kept once, read by all lanes
)

// division is what an operator does with one input.
type division struct {
	kind divisionKind
	keys []logical.Expr
}

// divide notes how the operator of the node being built takes an input.
func (bd *builder) divide(input int, d division) {
	if bd.node == nil {
		return
	}
	all := bd.p.divided[bd.node]
	for len(all) <= input {
		all = append(all, division{})
	}
	all[input] = d
	bd.p.divided[bd.node] = all
}

// Explain prints the plan that root was built to, with the places where rows
// change lanes. wide says that there is enough to read to use them all.
func (p *Plan) Explain(root logical.Node, wide bool) string {
	return logical.ExplainInputs(root, func(n logical.Node, input int) string {
		all := p.divided[n]
		if input >= len(all) {
			return ""
		}
		switch d := all[input]; d.kind {
		case ownRows:
			return ""
		case oneLane:
			return "Exchange to one lane"
		case oneCopy:
			return "Exchange one copy for all lanes"
		default:
			keys := make([]string, len(d.keys))
			for i, k := range d.keys {
				keys[i] = logical.Text(k)
			}
			where := "on one lane"
			if wide || n.Streaming() {
				where = fmt.Sprintf("over %d lanes", p.env.Lanes)
			}
			return "Exchange by key [" + strings.Join(keys, ", ") + "] " + where
		}
	})
}
