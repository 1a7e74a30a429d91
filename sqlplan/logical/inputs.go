package logical

// Kind is KindScan.
func (n *Scan) Kind() Kind { return KindScan }

// Inputs is empty.
func (n *Scan) Inputs() []Node { return nil }

// WithInputs returns n.
func (n *Scan) WithInputs([]Node) Node { return n }

// Streaming reports whether rows keep arriving.
func (n *Scan) Streaming() bool { return n.Relation.Streaming }

// Kind is KindValues.
func (n *Values) Kind() Kind { return KindValues }

// Inputs is empty.
func (n *Values) Inputs() []Node { return nil }

// WithInputs returns n.
func (n *Values) WithInputs([]Node) Node { return n }

// Streaming reports whether rows keep arriving.
func (n *Values) Streaming() bool { return false }

// Kind is KindRange.
func (n *RangeScan) Kind() Kind { return KindRange }

// Inputs is empty.
func (n *RangeScan) Inputs() []Node { return nil }

// WithInputs returns n.
func (n *RangeScan) WithInputs([]Node) Node { return n }

// Streaming reports whether rows keep arriving.
func (n *RangeScan) Streaming() bool { return false }

// Kind is KindFilter.
func (n *Filter) Kind() Kind { return KindFilter }

// Inputs is the one input.
func (n *Filter) Inputs() []Node { return []Node{n.Input} }

// WithInputs returns the node over another input.
func (n *Filter) WithInputs(in []Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}

// Streaming reports whether an input is a stream.
func (n *Filter) Streaming() bool { return anyStreaming(n) }

// Kind is KindProject.
func (n *Project) Kind() Kind { return KindProject }

// Inputs is the one input.
func (n *Project) Inputs() []Node { return []Node{n.Input} }

// WithInputs returns the node over another input.
func (n *Project) WithInputs(in []Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}

// Streaming reports whether an input is a stream.
func (n *Project) Streaming() bool { return anyStreaming(n) }

// Kind is KindAggregate.
func (n *Aggregate) Kind() Kind { return KindAggregate }

// Inputs is the one input.
func (n *Aggregate) Inputs() []Node { return []Node{n.Input} }

// WithInputs returns the node over another input.
func (n *Aggregate) WithInputs(in []Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}

// Streaming reports whether an input is a stream.
func (n *Aggregate) Streaming() bool { return anyStreaming(n) }

// Kind is KindExpand.
func (n *Expand) Kind() Kind { return KindExpand }

// Inputs is the one input.
func (n *Expand) Inputs() []Node { return []Node{n.Input} }

// WithInputs returns the node over another input.
func (n *Expand) WithInputs(in []Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}

// Streaming reports whether an input is a stream.
func (n *Expand) Streaming() bool { return anyStreaming(n) }

// Kind is KindJoin.
func (n *Join) Kind() Kind { return KindJoin }

// Inputs is left, right.
func (n *Join) Inputs() []Node { return []Node{n.Left, n.Right} }

// WithInputs returns the node over other inputs.
func (n *Join) WithInputs(in []Node) Node {
	m := *n
	m.Left, m.Right = in[0], in[1]
	return &m
}

// Streaming reports whether an input is a stream.
func (n *Join) Streaming() bool { return anyStreaming(n) }

// Kind is KindSort.
func (n *Sort) Kind() Kind { return KindSort }

// Inputs is the one input.
func (n *Sort) Inputs() []Node { return []Node{n.Input} }

// WithInputs returns the node over another input.
func (n *Sort) WithInputs(in []Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}

// Streaming reports whether an input is a stream.
func (n *Sort) Streaming() bool { return anyStreaming(n) }

// Kind is KindLimit.
func (n *Limit) Kind() Kind { return KindLimit }

// Inputs is the one input.
func (n *Limit) Inputs() []Node { return []Node{n.Input} }

// WithInputs returns the node over another input.
func (n *Limit) WithInputs(in []Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}

// Streaming reports whether an input is a stream.
func (n *Limit) Streaming() bool { return anyStreaming(n) }

// Kind is KindUnion.
func (n *Union) Kind() Kind { return KindUnion }

// Inputs are the children.
func (n *Union) Inputs() []Node { return n.Children }

// WithInputs returns the union of other children.
func (n *Union) WithInputs(in []Node) Node {
	m := *n
	m.Children = in
	return &m
}

// Streaming reports whether an input is a stream.
func (n *Union) Streaming() bool { return anyStreaming(n) }

// Kind is KindSetOp.
func (n *SetOp) Kind() Kind { return KindSetOp }

// Inputs is left, right.
func (n *SetOp) Inputs() []Node { return []Node{n.Left, n.Right} }

// WithInputs returns the node over other inputs.
func (n *SetOp) WithInputs(in []Node) Node {
	m := *n
	m.Left, m.Right = in[0], in[1]
	return &m
}

// Streaming reports whether an input is a stream.
func (n *SetOp) Streaming() bool { return anyStreaming(n) }

// Kind is KindDistinct.
func (n *Distinct) Kind() Kind { return KindDistinct }

// Inputs is the one input.
func (n *Distinct) Inputs() []Node { return []Node{n.Input} }

// WithInputs returns the node over another input.
func (n *Distinct) WithInputs(in []Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}

// Streaming reports whether an input is a stream.
func (n *Distinct) Streaming() bool { return anyStreaming(n) }

// Kind is KindWindow.
func (n *Window) Kind() Kind { return KindWindow }

// Inputs is the one input.
func (n *Window) Inputs() []Node { return []Node{n.Input} }

// WithInputs returns the node over another input.
func (n *Window) WithInputs(in []Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}

// Streaming reports whether an input is a stream.
func (n *Window) Streaming() bool { return anyStreaming(n) }

// Kind is KindGenerate.
func (n *Generate) Kind() Kind { return KindGenerate }

// Inputs is the one input.
func (n *Generate) Inputs() []Node { return []Node{n.Input} }

// WithInputs returns the node over another input.
func (n *Generate) WithInputs(in []Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}

// Streaming reports whether an input is a stream.
func (n *Generate) Streaming() bool { return anyStreaming(n) }

// Kind is KindSample.
func (n *Sample) Kind() Kind { return KindSample }

// Inputs is the one input.
func (n *Sample) Inputs() []Node { return []Node{n.Input} }

// WithInputs returns the node over another input.
func (n *Sample) WithInputs(in []Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}

// Streaming reports whether an input is a stream.
func (n *Sample) Streaming() bool { return anyStreaming(n) }

// Kind is KindWatermark.
func (n *Watermark) Kind() Kind { return KindWatermark }

// Inputs is the one input.
func (n *Watermark) Inputs() []Node { return []Node{n.Input} }

// WithInputs returns the node over another input.
func (n *Watermark) WithInputs(in []Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}

// Streaming reports whether an input is a stream.
func (n *Watermark) Streaming() bool { return anyStreaming(n) }

// Kind is KindTimeWindow.
func (n *TimeWindow) Kind() Kind { return KindTimeWindow }

// Inputs is the one input.
func (n *TimeWindow) Inputs() []Node { return []Node{n.Input} }

// WithInputs returns the node over another input.
func (n *TimeWindow) WithInputs(in []Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}

// Streaming reports whether an input is a stream.
func (n *TimeWindow) Streaming() bool { return anyStreaming(n) }

// Kind is KindSessionWindow.
func (n *SessionWindow) Kind() Kind { return KindSessionWindow }

// Inputs is the one input.
func (n *SessionWindow) Inputs() []Node { return []Node{n.Input} }

// WithInputs returns the node over another input.
func (n *SessionWindow) WithInputs(in []Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}

// Streaming reports whether an input is a stream.
func (n *SessionWindow) Streaming() bool { return anyStreaming(n) }

// Kind is KindDeduplicate.
func (n *Deduplicate) Kind() Kind { return KindDeduplicate }

// Inputs is the one input.
func (n *Deduplicate) Inputs() []Node { return []Node{n.Input} }

// WithInputs returns the node over another input.
func (n *Deduplicate) WithInputs(in []Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}

// Streaming reports whether an input is a stream.
func (n *Deduplicate) Streaming() bool { return anyStreaming(n) }

// Kind is KindExpect.
func (n *Expect) Kind() Kind { return KindExpect }

// Inputs is the one input.
func (n *Expect) Inputs() []Node { return []Node{n.Input} }

// WithInputs returns the node over another input.
func (n *Expect) WithInputs(in []Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}

// Streaming reports whether an input is a stream.
func (n *Expect) Streaming() bool { return anyStreaming(n) }
