package logical

// Recursion is a recursive query: the rows of Anchor, then those of Step over
// the rows of the round before, until a round gives none. Columns are its
// output; both inputs have their types.
type Recursion struct {
	Anchor, Step Node
	Columns      []Attr
	// Loop is what the RecursionRefs in Step name.
	Loop int
	// MaxLevel and MaxRows bound the rounds and the rows, -1: no bound. A
	// query that goes on is failed.
	MaxLevel, MaxRows int64
	// Wanted rows are enough; -1: all.
	Wanted int64
}

// RecursionRef gives the rows of the round before, in the step of a Recursion.
type RecursionRef struct {
	Loop    int
	Name    string
	Columns []Attr
}

// Kind is KindRecursion.
func (n *Recursion) Kind() Kind { return KindRecursion }

// Inputs is anchor, step.
func (n *Recursion) Inputs() []Node { return []Node{n.Anchor, n.Step} }

// WithInputs returns the node over other inputs.
func (n *Recursion) WithInputs(in []Node) Node {
	m := *n
	m.Anchor, m.Step = in[0], in[1]
	return &m
}

// Streaming reports whether an input is a stream.
func (n *Recursion) Streaming() bool { return anyStreaming(n) }

// Output lists the columns.
func (n *Recursion) Output() []Attr { return n.Columns }

// Kind is KindRecursionRef.
func (n *RecursionRef) Kind() Kind { return KindRecursionRef }

// Inputs is empty.
func (n *RecursionRef) Inputs() []Node { return nil }

// WithInputs returns n.
func (n *RecursionRef) WithInputs([]Node) Node { return n }

// Streaming is false: a recursion is bounded.
func (n *RecursionRef) Streaming() bool { return false }

// Output lists the columns.
func (n *RecursionRef) Output() []Attr { return n.Columns }
