package operator

import (
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// union passes the rows of all its inputs.
type union struct {
	p    *Plan
	out  port
	want int
	left int // inputs that have not ended
}

// unionPort is one input of a union.
type unionPort struct {
	u *union
}

func (bd *builder) union(n *logical.Union, out port, phase int) (int, *mark, error) {
	u := &union{p: bd.p, out: out, want: len(n.Children)}
	bd.add(u)
	m := &mark{}
	last := phase
	for _, c := range n.Children {
		end, cm, err := bd.build(c, &unionPort{u: u}, phase)
		if err != nil {
			return phase, nil, err
		}
		m.children = append(m.children, cm)
		last = max(last, end)
		if !n.Streaming() { // one after another: the order of the text
			phase = last + 1
		}
	}
	return last, m, nil
}

func (u *union) begin(*stepState) error {
	u.left = u.want
	return nil
}

func (u *union) close() {}

func (p *unionPort) push(lane int, b *column.Batch) error { return p.u.out.push(lane, b) }

func (p *unionPort) end() error {
	p.u.left--
	if p.u.left > 0 {
		return nil
	}
	return p.u.out.end()
}
