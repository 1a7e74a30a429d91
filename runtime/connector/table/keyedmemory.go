package table

import (
	"errors"
	"fmt"

	"pipelines/runtime/budget"
	"pipelines/stores"
)

const (
	// keyOverhead is what a key takes in keyedRows beyond its text: the header
	// of the text twice, its number, and the map's share.
	keyOverhead = 56
	// entryOverhead is what a change of the state takes beyond its texts, here
	// and in the list that the checkpoint writes.
	entryOverhead = 128
	// goneFactor is how many times the identities of rows that go stand in
	// memory, as text and as a set, when they are staged and committed.
	goneFactor = 4
	// reserveEvery is after how many keys or stored rows more is reserved.
	reserveEvery = 1 << 12
)

// bytes estimates the memory held.
func (r *keyedRows) bytes() int64 {
	n := int64(cap(r.op)) + 4*int64(cap(r.key)) + int64(r.text) + keyOverhead*int64(len(r.keys))
	for _, v := range r.cols {
		n += v.Memory()
	}
	if r.seq != nil {
		n += r.seq.Memory()
	}
	return n
}

// reserve asks for what the rows hold by now. Rows that others of their key
// have replaced go before it fails.
func (r *keyedRows) reserve() error {
	err := r.mem.Demand(r.bytes())
	if err != nil && r.newestOnly() && r.reducible && len(r.op) > len(r.keys) {
		r.reduce()
		err = r.mem.Demand(r.bytes())
	}
	return r.sink.tooLarge(r.epoch, err)
}

// smaller is how epochs are made smaller.
const smaller = "options maxFilesPerTrigger or maxBytesPerTrigger of the source, or STREAM(t) WITH (maxFilesPerTrigger = 1) where a table is read, whose own epochs bound its files"

// tooLarge says of which epoch the memory is.
func (k *Keyed) tooLarge(epoch int64, err error) error {
	if err == nil {
		return nil
	}
	again := false
	if e, ok := errors.AsType[*budget.Exceeded](err); ok {
		again = e.Again
	}
	err = fmt.Errorf("epoch %d: %w, or make epochs smaller: %s", epoch, err, smaller)
	if again {
		return &stores.ClassError{Class: stores.Retryable, Err: err}
	}
	return err
}

// reserve asks for what is staged for the state and, with out, for the rows
// that go.
func (s *keyedState) reserve(epoch int64, out *keyedOutcome) error {
	n := int64(s.text) + entryOverhead*int64(len(s.changes))
	if out != nil {
		n += goneFactor*int64(len(out.gone)) + 12*int64(cap(out.add))
	}
	return s.sink.tooLarge(epoch, s.mem.Demand(n))
}

// drop forgets what is staged.
func (s *keyedState) drop() {
	s.changes, s.text = nil, 0
	s.mem.Release()
}
