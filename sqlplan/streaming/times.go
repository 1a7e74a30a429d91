package streaming

import "pipelines/sqlplan/logical"

type idSet map[logical.ColumnID]bool

func (s idSet) add(e logical.Expr) {
	if e != nil {
		logical.Columns(e, s)
	}
}

// eventTimes refuses a stateful operator that sees more than one event time:
// among the columns that are still needed there (W-18).
func (c *checker) eventTimes(root logical.Node) {
	need := idSet{}
	for _, a := range root.Output() {
		need[a.ID] = true
	}
	c.needed(root, need)
}

// needed walks down with the columns that are wanted of n.
func (c *checker) needed(n logical.Node, need idSet) {
	below := idSet{}
	switch n := n.(type) {
	case *logical.Project:
		for _, a := range n.Exprs {
			if need[a.Attr.ID] {
				below.add(a.Expr)
			}
		}
	case *logical.Aggregate:
		logical.EachExpr(n, below.add)
		if n.Streaming() {
			c.oneTime(n, groupAttrs(n), nil)
		}
	case *logical.Distinct:
		for _, a := range n.Output() {
			below[a.ID] = true
		}
		if n.Streaming() {
			c.oneTime(n, n.Output(), nil)
		}
	case *logical.Deduplicate:
		for id := range need {
			below[id] = true
		}
		for _, id := range n.Keys {
			below[id] = true
		}
		if len(n.Keys) == 0 {
			for _, a := range n.Output() {
				below[a.ID] = true
			}
		}
		if n.Streaming() {
			c.oneTime(n, n.Input.Output(), below)
		}
	case *logical.Union:
		for i, a := range n.Columns {
			if need[a.ID] {
				for _, in := range n.Children {
					below[in.Output()[i].ID] = true
				}
			}
		}
	default:
		for id := range need {
			below[id] = true
		}
		logical.EachExpr(n, below.add)
		if w, ok := n.(*logical.Watermark); ok {
			below[w.Column] = true
		}
		if j, ok := n.(*logical.Join); ok && bothStream(j) {
			c.oneTime(n, j.Left.Output(), below)
			c.oneTime(n, j.Right.Output(), below)
		}
	}
	for _, in := range n.Inputs() {
		c.needed(in, below)
	}
}

func groupAttrs(n *logical.Aggregate) []logical.Attr {
	var out []logical.Attr
	for _, g := range n.Groups {
		out = append(out, g.Attr)
	}
	return out
}

// oneTime reports more than one event time among the needed columns.
func (c *checker) oneTime(n logical.Node, attrs []logical.Attr, need idSet) {
	count := 0
	for _, a := range attrs {
		if a.Watermark >= 0 && (need == nil || need[a.ID]) {
			count++
		}
	}
	if count > 1 {
		c.diags = append(c.diags, c.withHint(place(n), "MULTIPLE_EVENT_TIME_COLUMNS",
			"More than one event time columns are available at a stateful operator.",
			"select only one of the columns with a watermark before it"))
	}
}
