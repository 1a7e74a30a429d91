package connector

// Stateful is implemented by a sink that remembers things between epochs in
// the flow's checkpoint: what it changes is written in the same transaction as
// the prepared epoch, so that it is never ahead of the rows nor behind them.
type Stateful interface {
	// StateID names the entries among those of the flow's operators.
	StateID() string
	// Meaning says what the entries mean: a checkpoint with another meaning is
	// refused.
	Meaning() string
	// StartState is called once, before the first Begin, and again never; the
	// reader gives what the epochs prepared so far have written.
	StartState(r StateReader) error
	// Changes calls put for each entry that the epoch staged last changes; a
	// nil value deletes. The slices stay valid until the next Begin.
	Changes(put func(key, value []byte))
}

// StateReader reads the entries of a Stateful sink. The slices that it hands
// out are valid during the call only.
type StateReader interface {
	// Prefixes calls fn for each entry whose key starts with prefixes[i], for
	// one prefix after the other; ascending prefixes are read fastest.
	Prefixes(prefixes [][]byte, fn func(i int, key, value []byte) error) error
}

// StateError says that what a Stateful sink keeps does not fit it any more.
type StateError struct{ What string }

func (e *StateError) Error() string { return e.What }
