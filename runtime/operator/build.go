package operator

import (
	"fmt"
	"slices"

	"pipelines/sqlplan/expr"
	"pipelines/sqlplan/logical"
)

// builder makes the operators of a plan from the root down: the operator of a
// node knows whom it pushes to.
type builder struct {
	env   Env
	p     *Plan
	drop  bool // rows whose expressions fail are dropped and counted: on_error: drop stands above
	sites int  // operators without an id of their own, for state
	// limits are the rows that the filter above keeps of each partition.
	limits map[*logical.Window]int
	// above are the limits of bounded inputs over the plan being built.
	above limits
	// loops are the recursive queries around the plan being built.
	loops map[int]*recursion
	// node is the node whose operator is being built.
	node logical.Node
}

// Build makes the physical plan of root.
func Build(root logical.Node, env Env) (*Plan, error) {
	env.Lanes = max(env.Lanes, 1)
	p := &Plan{env: env, static: map[int]*join{}, divided: map[logical.Node][]division{}}
	for range env.Lanes {
		p.evals = append(p.evals, &expr.Evaluation{Session: env.Session, Pool: env.Pool})
	}
	bd := &builder{env: env, p: p, limits: map[*logical.Window]int{}}
	out := &output{p: p}
	_, m, err := bd.build(root, out, 0)
	if err != nil {
		p.Close()
		return nil, err
	}
	p.root = m
	return p, nil
}

// build makes the operators of n, which push to out; scans below get phases
// from phase on. It returns the last phase in use.
//
//tidy:allow-long the list of operators
func (bd *builder) build(n logical.Node, out port, phase int) (int, *mark, error) {
	if bd.env.Check {
		out = &checked{out: out, want: n.Output()}
	}
	outside := bd.node
	bd.node = n
	defer func() { bd.node = outside }()
	switch n := n.(type) {
	case *logical.Scan:
		bd.p.scans = append(bd.p.scans, ScanInput{Scan: n, Phase: phase})
		bd.p.ports = append(bd.p.ports, scanPort{out: out})
		return phase, &mark{}, nil
	case *logical.Values:
		bd.p.leaves = append(bd.p.leaves, leaf{phase: phase, run: func() error { return runValues(bd.p, n, out) }})
		return phase, &mark{}, nil
	case *logical.RangeScan:
		i := len(bd.p.leaves)
		wanted := func() bool { return bd.p.wantsLeaf(i) }
		bd.p.leaves = append(bd.p.leaves, leaf{phase: phase, run: func() error { return runRange(bd.p, n, out, wanted) }})
		return phase, &mark{}, nil
	case *logical.Filter:
		if w, k := topNLimit(n); w != nil {
			bd.limits[w] = k
		}
		return bd.one(n, out, phase, bd.filter)
	case *logical.Project:
		return bd.one(n, out, phase, bd.project)
	case *logical.Aggregate:
		if m, tw, at := panesOf(n); m != nil {
			return bd.one(m, out, phase, bd.byPanes(tw, at))
		}
		return bd.one(n, out, phase, bd.aggregate)
	case *logical.Expand:
		return bd.one(n, out, phase, bd.expand)
	case *logical.Join:
		return bd.join(n, out, phase)
	case *logical.Sort:
		return bd.one(n, out, phase, bd.sort)
	case *logical.Limit:
		return bd.one(n, out, phase, bd.limit)
	case *logical.Union:
		return bd.union(n, out, phase)
	case *logical.SetOp:
		return bd.setOp(n, out, phase)
	case *logical.Recursion:
		return bd.recursion(n, out, phase)
	case *logical.RecursionRef:
		return bd.recursionRef(n, out, phase)
	case *logical.Distinct:
		return bd.one(n, out, phase, bd.distinct)
	case *logical.Window:
		return bd.one(n, out, phase, bd.window)
	case *logical.Generate:
		return bd.one(n, out, phase, bd.generate)
	case *logical.Sample:
		return bd.one(n, out, phase, bd.sample)
	case *logical.Watermark:
		return bd.one(n, out, phase, bd.watermark)
	case *logical.TimeWindow:
		return bd.one(n, out, phase, bd.timeWindow)
	case *logical.SessionWindow:
		return bd.one(n, out, phase, bd.sessionWindow)
	case *logical.Deduplicate:
		return bd.one(n, out, phase, bd.deduplicate)
	case *logical.Expect:
		above := bd.drop
		bd.drop = above || n.DropErrors
		defer func() { bd.drop = above }()
		return bd.one(n, out, phase, bd.expectation)
	}
	return phase, nil, fmt.Errorf("build plan: no operator for node kind %d", n.Kind())
}

// one builds an operator with one input: make returns its port and, when it is
// stateful over event time, its part in the propagation of watermarks.
func (bd *builder) one(n logical.Node, out port, phase int, make func(logical.Node, port) (port, watermarked, error)) (int, *mark, error) {
	in, wm, err := make(n, out)
	if err != nil {
		return phase, nil, err
	}
	first, leafs := len(bd.p.scans), len(bd.p.leaves)
	l, isLimit := in.(*limit)
	if isLimit && !l.keep {
		outside := bd.above
		bd.above = append(slices.Clone(outside), l)
		defer func() { bd.above = outside }()
	}
	last, m, err := bd.build(n.Inputs()[0], in, phase)
	if err != nil {
		return phase, nil, err
	}
	if isLimit {
		l.from, l.to = first, len(bd.p.scans)
		l.leafFrom, l.leafTo = leafs, len(bd.p.leaves)
	}
	_, isSource := n.(*logical.Watermark)
	if wm != nil || isSource {
		m = &mark{source: isSource, children: []*mark{m}, op: wm}
	}
	return last, m, nil
}

func (bd *builder) add(u unit) { bd.p.units = append(bd.p.units, u) }

// program compiles expressions over the columns of input.
func (bd *builder) program(exprs []logical.Expr, input []logical.Attr) (*program, error) {
	pr, err := newProgram(bd.p, exprs, input)
	if err != nil {
		return nil, err
	}
	bd.add(pr)
	return pr, nil
}

func (bd *builder) watermark(node logical.Node, out port) (port, watermarked, error) {
	n := node.(*logical.Watermark)
	col := logical.IndexOf(n.Input.Output(), n.Column)
	if col < 0 {
		panic("bug: operator: watermark on a column that its input does not have")
	}
	w := &watermark{p: bd.p, out: out, n: n, col: col, max: make([]int64, bd.env.Lanes), ahead: make([]int64, bd.env.Lanes)}
	bd.p.marks = append(bd.p.marks, w)
	bd.add(w)
	return w, nil, nil
}
