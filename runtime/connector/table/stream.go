package table

import (
	"context"
	"encoding/json"
	"fmt"

	"pipelines/runtime/connector"
	"pipelines/runtime/stream"
	"pipelines/tables"
	"pipelines/tables/format"
)

// OnReset says what a stream does when the rows of its table were replaced.
type OnReset uint8

// The choices.
const (
	// Refuse fails with ResetError.
	Refuse OnReset = iota
	// Reread takes the new rows as if they were appended; of several
	// replacements since the last epoch, those of the last one.
	Reread
	// Skip leaves them out, and what the refresh that replaced them reads again.
	Skip
)

// ResetError says that a table which is read as a stream had rows replaced or
// removed.
type ResetError struct {
	Table   string
	Version int64
	What    string
	// Partly says that other rows stayed: they cannot be read again.
	Partly bool
}

func (e *ResetError) Error() string {
	if e.Partly {
		return fmt.Sprintf("[STREAMING_SOURCE_CHANGED] %s had rows changed by %s in version %d, and a stream cannot take rows back; read it without STREAM, or set on_upstream_reset: skip to leave commits that change rows out", e.Table, e.What, e.Version)
	}
	return fmt.Sprintf("[STREAMING_SOURCE_CHANGED] %s was changed by %s in version %d, and a stream cannot take rows back; refresh this table too (--cascade or --full-refresh), or set on_upstream_reset: reread or skip", e.Table, e.What, e.Version)
}

// StreamOptions configures a Stream.
type StreamOptions struct {
	Table  *tables.Table
	Format format.Format
	Name   string // for messages
	// StartingVersion skips the rows of older versions; -1 starts with all.
	StartingVersion int64
	// SkipChangeCommits leaves out commits that remove or change rows.
	SkipChangeCommits bool
	OnReset           OnReset
	// MaxFiles and MaxBytes bound an epoch; 0: no bound.
	MaxFiles int
	MaxBytes int64
}

// Stream reads what is appended to a table.
type Stream struct {
	Reader
	o      StreamOptions
	pinned *tables.Snapshot
}

// NewStream returns a stream.
func NewStream(o StreamOptions) *Stream {
	return &Stream{Reader: Reader{Table: o.Table, Format: o.Format}, o: o}
}

// position is an offset: all files of versions up to Version, and the first
// Index files of the next one; while Initial, the first Index files of the
// snapshot at Version. ID is the table's.
type position struct {
	ID string `json:"id"`
	// Stamp is when Version was committed, in milliseconds: another commit under
	// the same number is another table. 0 if unknown.
	Stamp   int64 `json:"stamp,omitempty"`
	Version int64 `json:"version"`
	Index   int   `json:"index,omitempty"`
	Initial bool  `json:"initial,omitempty"`
	// Reset says that the stream has passed a commit that replaced all rows:
	// what is read again after it, it has had before.
	Reset bool `json:"reset,omitempty"`
}

func parsePosition(o stream.Offset) (p position, started bool, err error) {
	if o == "" {
		return position{}, false, nil
	}
	if err := json.Unmarshal([]byte(o), &p); err != nil {
		return p, false, fmt.Errorf("offset %q: %w", o, err)
	}
	return p, true, nil
}

func (p position) offset() stream.Offset {
	text, err := json.Marshal(p)
	if err != nil {
		panic("bug: table: offset cannot be written: " + err.Error())
	}
	return stream.Offset(text)
}

// Start implements connector.Source.
func (s *Stream) Start(ctx context.Context, from stream.Offset, _ connector.Ledger) error {
	p, started, err := parsePosition(from)
	if err != nil || !started {
		return err
	}
	snap, err := s.Table.Snapshot(ctx)
	if err != nil {
		return err
	}
	if snap.ID() != p.ID {
		return &ResetError{Table: s.o.Name, Version: snap.Version(), What: "being made anew"}
	}
	if snap.Version() < p.Version {
		return &ResetError{Table: s.o.Name, Version: snap.Version(), What: "going back to an older copy"}
	}
	if now := s.stamp(ctx, p.Version); p.Stamp != 0 && now != 0 && now != p.Stamp {
		return &ResetError{Table: s.o.Name, Version: p.Version, What: "going back to an older copy and on from there"}
	}
	return nil
}

// stamp is when a version was committed, in milliseconds; 0 if that cannot be
// told any more.
func (s *Stream) stamp(ctx context.Context, version int64) int64 {
	if version < 0 {
		return 0
	}
	var at int64
	err := s.Table.Changes(ctx, version, func(c *tables.Change) bool {
		if !c.Time.IsZero() {
			at = c.Time.UnixMilli()
		}
		return false
	})
	if err != nil {
		return 0
	}
	return at
}

// Pin implements connector.Source.
func (s *Stream) Pin(ctx context.Context) error {
	var err error
	s.pinned, err = s.Table.Snapshot(ctx)
	return err
}

// Plan implements connector.Source.
func (s *Stream) Plan(ctx context.Context, from stream.Offset, opts connector.PlanOptions) (connector.Planned, error) {
	if !opts.Pinned || s.pinned == nil {
		if err := s.Pin(ctx); err != nil {
			return connector.Planned{}, err
		}
	}
	p, started, err := parsePosition(from)
	if err != nil {
		return connector.Planned{}, err
	}
	if !started {
		p = s.first()
	}
	p.Stamp = 0
	lim := limit{files: s.o.MaxFiles, bytes: s.o.MaxBytes}
	if opts.Unlimited {
		lim = limit{}
	}
	n := 0
	to, err := s.walk(ctx, p, position{ID: p.ID, Version: s.pinned.Version()}, func(located) bool {
		n++
		return true
	}, &lim)
	if err != nil {
		return connector.Planned{}, err
	}
	if n == 0 && started && to == p {
		return connector.Planned{To: from}, nil
	}
	to.Stamp = s.stamp(ctx, to.Version)
	return connector.Planned{To: to.offset(), Splits: n}, nil
}

func (s *Stream) first() position {
	p := position{ID: s.pinned.ID(), Version: s.pinned.Version(), Initial: true}
	if s.o.StartingVersion >= 0 {
		return position{ID: p.ID, Version: s.o.StartingVersion - 1}
	}
	return p
}

// Splits implements connector.Source.
func (s *Stream) Splits(ctx context.Context, from, to stream.Offset) ([]connector.Split, error) {
	b, ok, err := parsePosition(to)
	if err != nil || !ok {
		return nil, err
	}
	a, started, err := parsePosition(from)
	if err != nil {
		return nil, err
	}
	if !started {
		a = position{ID: b.ID, Version: b.Version, Initial: true}
		if s.o.StartingVersion >= 0 {
			a = position{ID: b.ID, Version: s.o.StartingVersion - 1}
		}
	}
	var out []connector.Split
	_, err = s.walk(ctx, a, b, func(l located) bool {
		out = append(out, splitOf(s.Table, l.snapshot, l.file))
		return true
	}, &limit{})
	return out, err
}

// limit bounds what an epoch takes.
type limit struct {
	files int
	bytes int64
	took  int
	sum   int64
}

// full reports whether no further file may be taken.
func (l *limit) full() bool {
	return l.files > 0 && l.took >= l.files || l.bytes > 0 && l.sum >= l.bytes
}

func (l *limit) take(f *tables.File) {
	l.took++
	l.sum += f.Size
}

// walk visits the files after from up to to, within the limit, and returns how
// far it came.
func (s *Stream) walk(ctx context.Context, from, to position, visit func(located) bool, lim *limit) (position, error) {
	at, err := s.lastReset(ctx, from, to)
	if err != nil {
		return at, err
	}
	if at.Initial {
		snap, err := s.Table.SnapshotAt(ctx, at.Version)
		if err != nil {
			return at, err
		}
		files := snap.Files()
		end := len(files)
		if to.Initial && to.Version == at.Version {
			end = to.Index
		}
		for ; at.Index < end; at.Index++ {
			if lim.full() {
				return at, nil
			}
			lim.take(&files[at.Index])
			visit(located{files[at.Index], snap})
		}
		if at.Index < len(files) || to.Initial {
			return at, nil
		}
		at = position{ID: at.ID, Version: at.Version}
	}
	if at.Version > to.Version || at.Version == to.Version && to.Index == 0 {
		return at, nil
	}
	return s.walkChanges(ctx, at, to, visit, lim)
}

// lastReset moves on to the last commit in (at, to] that replaced all rows, if
// the stream reads such rows again: what older commits wrote is gone.
func (s *Stream) lastReset(ctx context.Context, at, to position) (position, error) {
	if s.o.OnReset != Reread || to.Initial || at.Version >= to.Version && to.Index == 0 {
		return at, nil
	}
	last := int64(-1)
	err := s.Table.Changes(ctx, at.Version+1, func(c *tables.Change) bool {
		if c.Version > to.Version && (c.Version != to.Version+1 || to.Index == 0) {
			return false
		}
		if c.DataRemoved && replacesAll(c) {
			last = c.Version
		}
		return true
	})
	if err == nil && last >= 0 && (last > at.Version+1 || at.Initial) {
		at = position{ID: at.ID, Version: last - 1}
	}
	return at, err
}

// replacesAll reports whether a commit that removes rows removes all of them.
func replacesAll(c *tables.Change) bool {
	return c.Operation == "WRITE" || c.Operation == "CREATE OR REPLACE TABLE AS SELECT"
}

func (s *Stream) walkChanges(ctx context.Context, at, to position, visit func(located) bool, lim *limit) (position, error) {
	snap, err := s.Table.Snapshot(ctx)
	if err != nil {
		return at, err
	}
	var failed error
	err = s.Table.Changes(ctx, at.Version+1, func(c *tables.Change) bool {
		end := -1
		if c.Version > to.Version {
			if c.Version != to.Version+1 || to.Index == 0 {
				return false
			}
			end = to.Index
		}
		files, err := s.added(c, at.Reset)
		if err != nil {
			failed = err
			return false
		}
		if end < 0 {
			end = len(files)
		}
		for ; at.Index < end; at.Index++ {
			if lim.full() {
				return false
			}
			lim.take(&files[at.Index])
			visit(located{files[at.Index], snap})
		}
		if at.Index < len(files) {
			return false
		}
		at = position{ID: at.ID, Version: c.Version, Reset: at.Reset || s.o.OnReset == Skip && c.DataRemoved && replacesAll(c)}
		return true
	})
	if failed != nil {
		err = failed
	}
	return at, err
}

// added returns the files of a change whose rows are new to the stream, which
// may have passed a reset.
func (s *Stream) added(c *tables.Change, reset bool) ([]tables.File, error) {
	switch {
	case !c.DataRemoved && !c.DataAdded:
		return nil, nil
	case !c.DataRemoved:
		if reset && s.o.OnReset == Skip && readsAgain(c) {
			return nil, nil
		}
		return c.Adds, nil
	case s.o.SkipChangeCommits || s.o.OnReset == Skip:
		return nil, nil
	}
	all := replacesAll(c)
	if all && s.o.OnReset == Reread {
		return c.Adds, nil
	}
	return nil, &ResetError{Table: s.o.Name, Version: c.Version, What: c.Operation, Partly: !all}
}

// readsAgain reports whether a commit is of a flow that was refreshed and has
// not caught up: it holds rows of before.
func readsAgain(c *tables.Change) bool {
	var info struct {
		Again string `json:"again"`
	}
	return json.Unmarshal(c.Info("pipelines"), &info) == nil && info.Again != ""
}
