package commitlog

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// State is what the commits up to a version amount to. It moves forward with
// Apply; it is not safe for concurrent use, but the Views taken from it are,
// also while it moves.
type State struct {
	version  int64 // -1: nothing yet
	base     int64 // version of the newest known checkpoint, -1: none
	protocol *Protocol
	metadata *Metadata
	txns     map[string]Txn // replaced, never changed
	domains  map[string]Domain
	files    []*File // those of all versions that views may need, in the order they came
	index    map[string]*File
	tombs    map[string]Remove
	bytes    int64
}

// NewState returns the state before version 0.
func NewState() *State {
	return &State{version: -1, base: -1, txns: map[string]Txn{}, domains: map[string]Domain{}, index: map[string]*File{}, tombs: map[string]Remove{}}
}

// Version returns the version of the state, -1 before the first commit.
func (s *State) Version() int64 { return s.version }

// CheckpointDue reports whether a log checkpoint is due, see
// CheckpointInterval.
func (s *State) CheckpointDue() bool {
	return s.version-s.base >= CheckpointInterval(s.metadata, s.Size())
}

// Checkpointed notes that version v has a log checkpoint.
func (s *State) Checkpointed(v int64) { s.base = max(s.base, v) }

// Apply moves the state to version v, the next one.
func (s *State) Apply(v int64, c *Commit) error {
	if v != s.version+1 {
		panic(fmt.Sprintf("bug: commitlog: version %d applied to version %d", v, s.version))
	}
	protocol, metadata := s.protocol, s.metadata
	if c.Protocol != nil {
		protocol = c.Protocol
	}
	if c.Metadata != nil {
		metadata = c.Metadata
	}
	if (c.Protocol != nil || c.Metadata != nil) && protocol != nil && metadata != nil {
		if err := protocol.Readable(metadata); err != nil {
			return fmt.Errorf("version %d: %w", v, err)
		}
	}
	s.protocol, s.metadata = protocol, metadata
	if len(c.Txns) > 0 {
		s.txns = maps.Clone(s.txns)
		for _, t := range c.Txns {
			s.txns[t.AppID] = t // the last one counts, as in Spark
		}
	}
	for _, d := range c.Domains {
		if d.Removed {
			delete(s.domains, d.Name)
		} else {
			s.domains[d.Name] = d
		}
	}
	for i := range c.Removes {
		s.remove(v, c.Removes[i])
	}
	for i := range c.Adds {
		s.add(v, c.Adds[i])
	}
	s.version = v
	s.compact()
	return nil
}

func (s *State) remove(v int64, r Remove) {
	if f := s.index[r.Path]; f != nil {
		f.removed.Store(v + 1)
		delete(s.index, r.Path)
		s.bytes -= f.Size
	}
	s.tombs[r.Path] = r
}

func (s *State) add(v int64, a Add) {
	if old := s.index[a.Path]; old != nil {
		old.removed.Store(v + 1)
		s.bytes -= old.Size
	}
	delete(s.tombs, a.Path)
	f := &File{Add: a, added: v}
	s.files = append(s.files, f)
	s.index[a.Path] = f
	s.bytes += a.Size
}

// compact drops removed files from the list once they are the greater part;
// views that need them keep the old list.
func (s *State) compact() {
	if len(s.files) <= 2*len(s.index)+64 {
		return
	}
	live := make([]*File, 0, 2*len(s.index)+64)
	for _, f := range s.files {
		if f.removed.Load() == 0 {
			live = append(live, f)
		}
	}
	s.files = live
}

// expire forgets tombstones that were written before the instant.
func (s *State) expire(before int64) {
	maps.DeleteFunc(s.tombs, func(_ string, r Remove) bool { return r.DeletionTimestamp < before })
}

// View is the table at one version; it never changes.
type View struct {
	Version  int64
	Protocol *Protocol
	Metadata *Metadata
	// Txns must not be changed.
	Txns map[string]Txn
	// NumFiles and Bytes count the live files.
	NumFiles int
	Bytes    int64

	files []*File
}

// View returns the table at the state's version. It takes constant time.
func (s *State) View() View {
	return View{
		Version: s.version, Protocol: s.protocol, Metadata: s.metadata, Txns: s.txns,
		NumFiles: len(s.index), Bytes: s.bytes, files: s.files[:len(s.files):len(s.files)],
	}
}

// Files returns the files of the version, in an order that depends on nothing
// but the files: by modification time, then path.
func (v *View) Files() []*File {
	out := make([]*File, 0, v.NumFiles)
	for _, f := range v.files {
		if f.in(v.Version) {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b *File) int {
		if c := cmp.Compare(a.ModificationTime, b.ModificationTime); c != 0 {
			return c
		}
		return cmp.Compare(a.Path, b.Path)
	})
	return out
}

// Knows reports whether the path is that of a live file, or of one that was
// removed and whose tombstone is still kept.
func (s *State) Knows(path string) bool {
	if s.index[path] != nil {
		return true
	}
	_, ok := s.tombs[path]
	return ok
}

// Checkpoint is a state as a log checkpoint holds it.
type Checkpoint struct {
	View
	Domains    []Domain
	Tombstones []Remove
}

// Actions returns the number of rows the checkpoint has.
func (c *Checkpoint) Actions() int {
	return c.NumFiles + len(c.Tombstones) + len(c.Txns) + len(c.Domains) + 2
}

// Checkpoint returns the state for a log checkpoint; tombstones older than the
// table's delta.deletedFileRetentionDuration are dropped for good.
func (s *State) Checkpoint(now time.Time) *Checkpoint {
	keep := Retention(s.metadata)
	s.expire(now.Add(-keep).UnixMilli())
	c := &Checkpoint{View: s.View()}
	for _, name := range slices.Sorted(maps.Keys(s.domains)) {
		c.Domains = append(c.Domains, s.domains[name])
	}
	for _, path := range slices.Sorted(maps.Keys(s.tombs)) {
		c.Tombstones = append(c.Tombstones, s.tombs[path])
	}
	return c
}

// Size returns the number of live files and kept tombstones.
func (s *State) Size() int { return len(s.index) + len(s.tombs) }
