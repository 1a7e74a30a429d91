package flow

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"

	"pipelines/runtime/checkpoint"
	"pipelines/runtime/connector"
	"pipelines/runtime/operator"
	"pipelines/runtime/state"
)

// stateFolder is where the state files stand, beside the checkpoint's file.
const stateFolder = "state"

// StateDir is the folder of the state files of a checkpoint's file.
func StateDir(path string) string { return filepath.Join(filepath.Dir(path), stateFolder) }

// stateFiles keeps the chain of files that hold the operators' state.
type stateFiles struct {
	store   *state.Store
	changes state.Changes
	// drains hand out the rest of the changes, keys of them.
	drains []func()
	keys   int
	bytes  int // about what the changes take
	// chain is that of the newest prepared epoch, before that of the one before:
	// it can still be gone back to.
	chain, before []state.Ref
	job           *merging
	renewal       renewal
}

// merging is a merge of the files from..to of a chain in the background.
type merging struct {
	from, to int
	stop     atomic.Bool
	done     chan struct{}
	chain    []state.Ref // the first to files in their new form
	err      error
}

var errStopped = errors.New("stopped")

// collect copies what the step changed in each stateful operator, or notes what
// is to be copied beside the next step.
func (e *Execution) collect() error {
	s := &e.state
	s.changes.Reset()
	s.drains, s.keys = s.drains[:0], 0
	s.renew(e.plan.State())
	for _, h := range e.plan.State() {
		id := h.ID()
		if x := h.Expiry(); x.At >= 0 {
			s.changes.Scope(id, state.Scope{InKey: x.InKey, At: x.At, Passed: x.Passed})
		}
		keys, drain, err := h.Cut(s.changes.Operator(id).Add)
		if err != nil {
			return fmt.Errorf("state of flow %s: %w", e.o.Flow, err)
		}
		if keys > 0 {
			s.drains, s.keys = append(s.drains, drain), s.keys+keys
		}
	}
	s.renewal.last = s.keys + s.changes.Len()
	s.bytes = s.changed()
	return nil
}

// stage writes what was collected, synced, and returns the chain that holds it.
func (e *Execution) stage(epoch int64) ([]state.Ref, error) {
	s := &e.state
	chain, err := s.merged(false)
	if err == nil {
		chain, err = s.write(epoch, s.renewed(chain))
	}
	if err != nil {
		return nil, fmt.Errorf("state of flow %s: %w", e.o.Flow, err)
	}
	if s.job != nil {
		return chain, nil // which has the places of its files
	}
	made := chain
	chain = state.Prune(chain)
	if from, ok := state.Compaction(chain, s.mergeable(chain)); ok && size(chain[from:]) <= state.SmallMerge {
		parts := chain[from:]
		if chain, err = s.store.Compact(chain, from, nil); err != nil {
			return nil, fmt.Errorf("state of flow %s: %w", e.o.Flow, err)
		}
		s.renewal.merged(parts, chain)
	}
	// A file that was made since the newest record and is merged already is in none.
	return chain, s.store.Drop(made, s.before, s.chain, chain)
}

// write adds a file of what was collected and is still to be handed out to a
// chain.
func (s *stateFiles) write(epoch int64, chain []state.Ref) ([]state.Ref, error) {
	base := len(chain) == 0
	var ref state.Ref
	var err error
	switch {
	case len(s.drains) > 0 || s.changes.Bytes() >= looseBytes:
		ref, err = s.store.WriteLoose(epoch, &s.changes, base, state.Later{Bytes: s.bytes, Add: func() {
			for _, drain := range s.drains {
				drain()
			}
		}})
	case s.changes.Len() > 0:
		ref, err = s.store.Write(epoch, &s.changes, base)
	default:
		return chain, nil
	}
	if err != nil {
		return nil, err
	}
	s.renewal.wrote(ref)
	return append(chain, ref), nil
}

// looseBytes is the size of changes from which who writes them does not sort
// them: much of it goes with the watermark, or is replaced, before it is read.
const looseBytes = 1 << 20

// changed is about how many bytes were collected or noted.
func (s *stateFiles) changed() int { return s.changes.Bytes() + keyBytes*s.keys }

// held is about how much memory that is.
func (s *stateFiles) held() int64 { return s.changes.Held() + keyBytes*int64(s.keys) }

// keyBytes is about what a change takes at least.
const keyBytes = 16

func size(chain []state.Ref) (n int64) {
	for _, r := range chain {
		n += r.Bytes
	}
	return n
}

// merged is the chain with what the background has merged, if it has ended or
// wait says to wait for it.
func (s *stateFiles) merged(wait bool) ([]state.Ref, error) {
	chain := slices.Clone(s.chain)
	if s.job == nil {
		return chain, nil
	}
	if !wait {
		select {
		case <-s.job.done:
		default:
			return chain, nil
		}
	}
	job := s.job
	<-job.done
	s.job = nil
	if job.err != nil {
		return nil, job.err
	}
	s.renewal.merged(chain[job.from:job.to], job.chain)
	return append(slices.Clone(job.chain), chain[job.to:]...), nil
}

// prepared takes the chain that the newest record names, and starts a merge
// where one is due.
func (s *stateFiles) prepared(chain []state.Ref) error {
	if err := s.store.Drop(s.before, s.chain, chain); err != nil {
		return err
	}
	s.before, s.chain = s.chain, chain
	from, ok := state.Compaction(chain, s.mergeable(chain))
	if !ok || s.job != nil {
		return nil
	}
	job := &merging{from: from, to: len(chain), done: make(chan struct{})}
	s.job = job
	go func() {
		defer close(job.done)
		job.err = Guard(func() (err error) {
			job.chain, err = s.store.Compact(chain, from, func() error {
				if job.stop.Load() {
					return errStopped
				}
				return nil
			})
			return err
		})
	}()
	return nil
}

// end waits for the background, or stops it when the run has failed, and
// records what it has merged.
func (s *stateFiles) end(db *checkpoint.DB, failed bool) (err error) {
	if s.store != nil {
		defer func() { err = errors.Join(err, s.store.Close()) }()
	}
	if s.job == nil {
		return nil
	}
	if failed {
		s.job.stop.Store(true)
		<-s.job.done
		s.job = nil
		return nil
	}
	chain, err := s.merged(true)
	if err != nil {
		return err
	}
	if err := db.WriteState(chain); err != nil {
		return err
	}
	old := s.chain
	s.chain = chain
	return s.store.Drop(old, s.before, chain)
}

// restoreState hands each stateful operator what the files of the record p
// hold of it; files that no record names are removed.
func (e *Execution) restoreState(newest, p *checkpoint.Prepared) error {
	s := &e.state
	s.store = state.Open(StateDir(e.o.DB.Path()))
	s.renewal = newRenewal(e.o)
	if newest != nil {
		before, err := e.o.DB.LoadPrepared(newest.Epoch - 1)
		if err != nil {
			return err
		}
		named := slices.Clone(newest.State)
		if before != nil {
			s.before = before.State
			named = append(named, before.State...)
		}
		if err := s.store.Retain(named); err != nil {
			return err
		}
	}
	if p != nil {
		s.chain = p.State
	}
	if err := e.loadState(); err != nil {
		return fmt.Errorf("%w; restore the checkpoint %s with its folder from a copy, or run with --full-refresh %s",
			err, filepath.Dir(e.o.DB.Path()), e.o.Dataset)
	}
	return e.startSink()
}

// loadState reads the state, the parts of the operators side by side.
func (e *Execution) loadState() error {
	handles, parts := map[string]operator.StateHandle{}, 1
	for _, h := range e.plan.State() {
		handles[h.ID()] = h
		parts = max(parts, h.Parts())
	}
	if len(e.state.chain) == 0 {
		return nil
	}
	e.state.renewal.restored(e.state.chain)
	if size(e.state.chain) <= state.SmallMerge {
		parts = 1
	}
	err := parallel(parts, func(i int) error {
		l := loader{handles: handles}
		err := e.state.store.RestoreGroups(e.state.chain, l.groups(i, parts), l.add)
		return errors.Join(err, l.flush())
	})
	if err != nil {
		return fmt.Errorf("state of flow %s: %w", e.o.Flow, err)
	}
	return nil
}

// loader hands entries to operators, many at once.
type loader struct {
	handles map[string]operator.StateHandle
	h       operator.StateHandle
	id      string
	wait    operator.Entries
	file    int // of the entries that wait
	failed  bool
}

const (
	loadEntries = 1 << 10
	loadBytes   = 1 << 20
)

// groups says which key groups loader i of n takes: of an operator with as many
// parts those of part i, of others the first takes all.
func (l *loader) groups(i, n int) state.Groups {
	return func(id string) (from, to int) {
		if h := l.handles[id]; h != nil && h.Parts() == n {
			return (i*256 + n - 1) / n, ((i+1)*256 + n - 1) / n
		}
		if i > 0 {
			return 0, 0
		}
		return 0, 256
	}
}

func (l *loader) add(e state.Entry) error {
	if l.h == nil || e.Operator != l.id || e.File != l.file {
		if err := l.flush(); err != nil {
			return err
		}
		if l.id, l.h, l.file = e.Operator, l.handles[e.Operator], e.File; l.h == nil {
			return fmt.Errorf("%w: no operator is named %s", ErrChanged, e.Operator)
		}
	}
	l.wait.Add(e.Key, e.Value)
	if l.wait.Len() < loadEntries && l.wait.Bytes() < loadBytes {
		return nil
	}
	return l.flush()
}

func (l *loader) flush() error {
	if l.failed || l.wait.Len() == 0 {
		return nil
	}
	l.wait.Changelog = uint32(l.file + 1)
	err := l.h.RestoreAll(&l.wait)
	l.failed = err != nil
	l.wait.Reset()
	return err
}

// meanings says what each stateful operator's entries mean.
func (e *Execution) meanings() map[string]string {
	out := map[string]string{}
	for _, h := range e.plan.State() {
		out[h.ID()] = h.Meaning()
	}
	if s, ok := e.o.Sink.(connector.Stateful); ok {
		out[s.StateID()] = s.Meaning()
	}
	return out
}
