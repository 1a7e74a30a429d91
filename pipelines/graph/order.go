package graph

// Order lists the nodes so that each stands behind what it reads; nodes that
// do not depend on each other keep their order. Nodes on cycles are left out;
// Cycles names those.
func (g *Graph) Order() []*Node {
	waiting := make([]int, len(g.nodes))
	readers := make([][]*Node, len(g.nodes))
	var ready []*Node
	for _, n := range g.nodes {
		seen := map[*Node]bool{}
		for _, r := range n.reads {
			if !seen[r.From] {
				seen[r.From] = true
				waiting[n.pos]++
				readers[r.From.pos] = append(readers[r.From.pos], n)
			}
		}
		if waiting[n.pos] == 0 {
			ready = append(ready, n)
		}
	}
	out := make([]*Node, 0, len(g.nodes))
	for len(ready) > 0 {
		n := ready[0]
		ready = ready[1:]
		out = append(out, n)
		for _, r := range readers[n.pos] {
			if waiting[r.pos]--; waiting[r.pos] == 0 {
				ready = append(ready, r)
			}
		}
	}
	return out
}

// Cycles lists one cycle a knot: nodes that read each other in a ring, each
// reading the next and the last the first. A node that reads itself is a ring
// of one.
func (g *Graph) Cycles() [][]*Node {
	const (
		fresh = iota
		active
		done
	)
	state := make([]int, len(g.nodes))
	var out [][]*Node
	// An explicit stack: a chain of thousands of views must not overflow.
	type frame struct {
		node *Node
		next int
	}
	for _, start := range g.nodes {
		if state[start.pos] != fresh {
			continue
		}
		state[start.pos] = active
		stack := []frame{{node: start}}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.next == len(top.node.reads) {
				state[top.node.pos] = done
				stack = stack[:len(stack)-1]
				continue
			}
			to := top.node.reads[top.next].From
			top.next++
			switch state[to.pos] {
			case fresh:
				state[to.pos] = active
				stack = append(stack, frame{node: to})
			case active:
				var ring []*Node
				for i := len(stack) - 1; i >= 0; i-- {
					ring = append([]*Node{stack[i].node}, ring...)
					if stack[i].node == to {
						break
					}
				}
				out = append(out, ring)
			}
		}
	}
	return out
}

// Upstream returns all nodes that n depends on, directly or not.
func (g *Graph) Upstream(n *Node) map[*Node]bool {
	out := map[*Node]bool{}
	todo := []*Node{n}
	for len(todo) > 0 {
		x := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, r := range x.reads {
			if !out[r.From] {
				out[r.From] = true
				todo = append(todo, r.From)
			}
		}
	}
	return out
}

// Downstream returns all nodes that depend on n, directly or not.
func (g *Graph) Downstream(n *Node) map[*Node]bool {
	out := map[*Node]bool{}
	todo := []*Node{n}
	for len(todo) > 0 {
		x := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, r := range g.Readers(x) {
			if !out[r] {
				out[r] = true
				todo = append(todo, r)
			}
		}
	}
	return out
}
