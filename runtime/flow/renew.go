package flow

import (
	"math"

	"pipelines/runtime/operator"
	"pipelines/runtime/state"
)

// A chain of state files is kept short in two ways. Files are merged: each entry
// is read and written again. Where operators can hand out keys again that stand
// in old files, those are handed out with the changes of some epochs, and then
// the oldest files say nothing more and are dropped unread: what is changed often
// is never written again.

// renewal is how far the second way is.
type renewal struct {
	changelog uint32            // of the epoch: behind those of the files that were restored
	newest    map[string]uint32 // the newest changelog that a file holds, by name
	works     bool              // all operators can
	active    bool              // keys are being handed out again
	before    uint32            // files up to this changelog are to go
	free      bool              // with the file of this epoch they say nothing more
	last      int               // keys that the last epoch handed out
	slack     int64             // renewSlack, or less for tests
	settled   int64             // settledBytes, or less for tests
}

const (
	// renewSlack is how many entries a chain may have beyond those it needs.
	renewSlack = 1 << 20
	// renewLeast is how many keys are renewed by an epoch at most, besides half as
	// many as it changes.
	renewLeast = 1 << 16
	// settledBytes is the size from which a file is not merged where it will be
	// dropped; of a large chain it is a part of it.
	settledBytes = 16 << 20
	settledParts = 64
)

func newRenewal(o Options) renewal {
	r := renewal{newest: map[string]uint32{}, slack: renewSlack, settled: settledBytes}
	if o.Beside > 0 {
		r.slack, r.settled = min(r.slack, int64(o.Beside)), min(r.settled, int64(o.Beside))
	}
	return r
}

// renew has the operators hand out again what stands in the oldest files, where
// the chain has two and a half times the entries that it needs, so that twice as
// many stay.
func (s *stateFiles) renew(handles []operator.StateHandle) {
	r := &s.renewal
	r.changelog++
	keys := 0
	r.works = len(handles) > 0
	for _, h := range handles {
		n, ok := h.Number(r.changelog)
		keys, r.works = keys+n, r.works && ok
	}
	if !r.works {
		r.active = false
		return
	}
	begin := !r.active
	if r.free || begin && !r.due(s.chain, int64(keys)) {
		return
	}
	r.free = true
	for _, h := range handles {
		r.free = h.Renew(operator.Renewal{Before: r.before, Most: r.last/2 + renewLeast, Begin: begin}) && r.free
	}
	r.active = !r.free
}

// due says whether the oldest files should go, and notes which.
func (r *renewal) due(chain []state.Ref, keys int64) bool {
	entries := int64(0)
	for _, f := range chain {
		entries += f.Entries
	}
	if entries <= keys*5/2+r.slack || len(chain) < 2 {
		return false
	}
	for _, f := range chain {
		r.before = r.newest[f.Name]
		if entries -= f.Entries; entries <= 2*keys {
			break
		}
	}
	return true
}

// wrote notes the file of the epoch.
func (r *renewal) wrote(f state.Ref) {
	r.newest[f.Name] = r.changelog
}

// restored numbers the changelogs of a restored chain.
func (r *renewal) restored(chain []state.Ref) {
	for i, f := range chain {
		r.newest[f.Name] = uint32(i + 1)
	}
	r.changelog = uint32(len(chain))
}

// merged notes that the last file of chain holds what parts held.
func (r *renewal) merged(parts, chain []state.Ref) {
	n := uint32(0)
	for _, f := range parts {
		n = max(n, r.newest[f.Name])
		delete(r.newest, f.Name)
	}
	r.newest[chain[len(chain)-1].Name] = n
}

// renewed is a chain without the files that say nothing more once the file of
// this epoch is written. It waits for a merge, which knows files by their places.
func (s *stateFiles) renewed(chain []state.Ref) []state.Ref {
	r := &s.renewal
	if !r.free || s.job != nil {
		return chain
	}
	r.free = false
	for len(chain) > 0 && r.newest[chain[0].Name] <= r.before {
		delete(r.newest, chain[0].Name)
		chain = chain[1:]
	}
	return chain
}

// mergeable is the size up to which files are merged.
func (s *stateFiles) mergeable(chain []state.Ref) int64 {
	if !s.renewal.works {
		return math.MaxInt64
	}
	return max(s.renewal.settled, size(chain)/settledParts)
}
