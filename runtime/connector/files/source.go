package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"path"
	"slices"
	"strings"
	"time"

	"pipelines/runtime/connector"
	"pipelines/runtime/stream"
	"pipelines/stores"
)

// changedLooks bounds how many known files are looked at, once a run, for
// changes after they were read.
const changedLooks = 1000

// Source reads files as a stream and as a bounded relation.
type Source struct {
	stored string // the declared path as the ledger has it
	// listed is when the folder had changed at the last listing; zero when a
	// listing is due whatever it says.
	listed time.Time
	o      Options
	ledger ledger
	// waiting are the files found by the last listing and not yet planned, in
	// the order in which they will be taken.
	waiting []file
	notes   []string
	// recent holds the files of the newest planned range, so that the common
	// case needs no walk over the ledger.
	recent    []file
	recentLog int64
	checked   bool
	left      map[string]bool // files that cannot be cleaned
	// unreadable are the files whose names are no text, which were noted.
	unreadable map[string]bool
}

// New returns a source.
func New(o Options) *Source {
	s := &Source{o: o, recentLog: -2, left: map[string]bool{}, unreadable: map[string]bool{}}
	s.ledger.clear()
	return s
}

// Options returns how the source was made.
func (s *Source) Options() Options { return s.o }

// Start implements connector.Source.
func (s *Source) Start(_ context.Context, _ stream.Offset, l connector.Ledger) error {
	err := s.ledger.load(func(fn func(key, value []byte) error) error {
		return l(func(key, value []byte) error {
			if string(key) == pathKey {
				s.stored = string(value)
				return nil
			}
			return fn(key, value)
		})
	})
	if err == nil && s.stored != "" && s.o.Declared != "" && path.Clean(s.stored) != path.Clean(s.o.Declared) {
		return &MovedError{Was: s.stored, Is: s.o.Declared}
	}
	return err
}

// pathKey is the ledger's entry for the declared path: no file has that name.
const pathKey = "\x00path"

// Pin implements connector.Source.
func (s *Source) Pin(ctx context.Context) error {
	begun := time.Now()
	changed, flat := s.folderTime()
	if flat && changed.Equal(s.listed) {
		return nil // nothing came since: what waits is known
	}
	s.listed = time.Time{}
	if flat && begun.Sub(changed) > clockGrain {
		s.listed = changed // set before the listing: what comes during it moves the time
	}
	if err := s.list(ctx); err != nil {
		s.listed = time.Time{}
		return err
	}
	return nil
}

// clockGrain is how coarse a file system's clock may be: a folder that changed
// less than that before it was listed may change again under the same time.
const clockGrain = 3 * time.Second

// folderTime says when the source's folder last changed, if that tells of
// every file of the source.
func (s *Source) folderTime() (changed time.Time, flat bool) {
	t, ok := s.o.Store.(stores.FolderTimer)
	if !ok || s.o.Pattern != "" || s.o.Single != "" || s.o.Overwrites {
		return time.Time{}, false
	}
	return t.FolderTime("")
}

// list finds the files that are not known yet.
func (s *Source) list(ctx context.Context) error {
	var fresh []string
	var looks []string
	look := !s.checked && s.ledger.len() <= changedLooks || s.o.Overwrites
	surprise := len(s.o.Partition) == 0 && !s.o.Recursive
	known := func(key []byte) bool {
		return !look && !(surprise && bytes.IndexByte(key, '/') > 0) && s.ledger.knows(identity(&s.o, key))
	}
	err := s.o.names(ctx, known, func(key string) bool {
		if err := s.o.readable(key); err != nil {
			if !s.unreadable[key] {
				s.unreadable[key] = true
				s.notes = append(s.notes, err.Error()+": it is left out until it is renamed")
			}
			return true
		}
		if surprise && strings.IndexByte(key, '=') > 0 && strings.IndexByte(key, '/') > 0 && s.o.Pattern == "" {
			// Partition columns are fixed when the source is opened (F-09).
			s.notes = append(s.notes, fmt.Sprintf("%s is in a partition folder that was not there when the source was opened, or is a link: its columns are read at the next start, or not at all", path.Join(s.o.Root, key)))
			surprise = false
		}
		if !s.ledger.knows([]byte(identity(&s.o, key))) {
			fresh = append(fresh, key)
		} else if look {
			looks = append(looks, key)
		}
		return true
	})
	if err != nil && !errors.Is(err, stores.ErrNotExist) {
		return fmt.Errorf("list %s: %w", s.o.Root, err)
	}
	s.checked = true
	s.waiting = s.waiting[:0]
	for _, key := range fresh {
		f, err := s.o.stat(ctx, key)
		if errors.Is(err, stores.ErrNotExist) {
			continue // gone between the listing and now: was never planned
		}
		if err != nil {
			return err
		}
		s.waiting = append(s.waiting, f)
	}
	changed, err := s.lookForChanges(ctx, looks)
	if err != nil {
		return err
	}
	for _, f := range changed {
		if s.o.Overwrites {
			s.waiting = append(s.waiting, f)
		} else {
			s.notes = append(s.notes, fmt.Sprintf("%s changed after it was read; it is not read again (see the option allowOverwrites)", path.Join(s.o.Root, f.key)))
		}
	}
	sortFiles(s.waiting, s.o.LatestFirst)
	s.dropSameNames()
	s.dropOld()
	return nil
}

// dropSameNames keeps the first of the waiting files that are the same one by
// fileNameOnly.
func (s *Source) dropSameNames() {
	if !s.o.NameOnly {
		return
	}
	seen := map[string]bool{}
	s.waiting = slices.DeleteFunc(s.waiting, func(f file) bool {
		id := identity(&s.o, f.key)
		again := seen[id]
		seen[id] = true
		return again
	})
}

// dropOld applies maxFileAge, relative to the newest file seen. The first
// epoch takes everything.
func (s *Source) dropOld() {
	if s.o.MaxFileAge <= 0 || s.ledger.len() == 0 || s.o.LatestFirst && s.o.MaxFiles+int(s.o.MaxBytes) > 0 {
		return
	}
	limit := s.ledger.newest - s.o.MaxFileAge.Microseconds()
	kept := s.waiting[:0]
	for _, f := range s.waiting {
		if f.mtime >= limit {
			kept = append(kept, f)
		}
	}
	if n := len(s.waiting) - len(kept); n > 0 {
		s.notes = append(s.notes, fmt.Sprintf("%s older than maxFileAge and left out", filesIn(n, s.o.Root)))
	}
	s.waiting = kept
}

// filesIn writes "1 file in a is", "2 files in a are".
func filesIn(n int, root string) string {
	if n == 1 {
		return "1 file in " + root + " is"
	}
	return fmt.Sprintf("%d files in %s are", n, root)
}

// lookForChanges finds the known files that are not what they were.
func (s *Source) lookForChanges(ctx context.Context, keys []string) (changed []file, err error) {
	if len(keys) == 0 {
		return nil, nil
	}
	places := make(map[string]int, s.ledger.len())
	for i, id := range s.ledger.ids {
		places[id] = i
	}
	for _, key := range keys {
		f, err := s.o.stat(ctx, key)
		if errors.Is(err, stores.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		at, ok := places[identity(&s.o, key)]
		if !ok {
			continue // only by its hash
		}
		t := s.ledger.files[at]
		if t.key != "" && t.key != key {
			continue // another file that counts as the same one
		}
		if t.size != f.size || t.mtime != f.mtime || t.version != f.version {
			changed = append(changed, f)
		}
	}
	return changed, nil
}

// Plan implements connector.Source.
func (s *Source) Plan(ctx context.Context, from stream.Offset, opts connector.PlanOptions) (connector.Planned, error) {
	last, err := parseOffset(from)
	if err != nil {
		return connector.Planned{}, err
	}
	if !opts.Pinned {
		if err := s.Pin(ctx); err != nil {
			return connector.Planned{}, err
		}
	}
	p := connector.Planned{To: from, Notes: s.notes}
	s.notes = nil
	n := s.limit(opts.Unlimited)
	if n == 0 {
		return p, nil
	}
	log := last + 1
	p.To, p.Splits = formatOffset(log), n
	s.recent, s.recentLog = append([]file(nil), s.waiting[:n]...), log
	s.ledger.remove(s.known(s.recent)) // what they were
	for _, f := range s.recent {
		t := taken{log: log, mtime: f.mtime, size: f.size, version: f.version}
		id := identity(&s.o, f.key)
		if s.o.NameOnly {
			t.key = f.key
		}
		s.ledger.add(id, t)
		p.Entries = append(p.Entries, connector.Entry{Key: []byte(id), Value: t.encode()})
	}
	if s.stored == "" && s.o.Declared != "" {
		s.stored = s.o.Declared
		p.Entries = append(p.Entries, connector.Entry{Key: []byte(pathKey), Value: []byte(s.stored)})
	}
	s.waiting = s.waiting[n:]
	return p, nil
}

// known lists the identities of files that stand in the ledger already: those
// that changed since.
func (s *Source) known(fs []file) (ids []string) {
	if !s.o.Overwrites {
		return nil
	}
	for _, f := range fs {
		if id := identity(&s.o, f.key); s.ledger.knows([]byte(id)) {
			ids = append(ids, id)
		}
	}
	return ids
}

// limit returns how many of the waiting files the next epoch takes.
func (s *Source) limit(unlimited bool) int {
	n := len(s.waiting)
	if unlimited || n == 0 {
		return n
	}
	if s.o.MaxFiles > 0 {
		n = min(n, s.o.MaxFiles)
	}
	if s.o.MaxBytes > 0 {
		var sum int64
		for i := range n {
			sum += s.waiting[i].size
			if sum >= s.o.MaxBytes { // soft: at least one file, and the one that passes the limit
				return i + 1
			}
		}
	}
	return n
}

// Splits implements connector.Source.
func (s *Source) Splits(_ context.Context, from, to stream.Offset) ([]connector.Split, error) {
	a, err := parseOffset(from)
	if err != nil {
		return nil, err
	}
	b, err := parseOffset(to)
	if err != nil {
		return nil, err
	}
	if b == a+1 && s.recentLog == b {
		return s.splits(s.recent), nil
	}
	return s.splits(s.ledger.between(a, b, s.o.LatestFirst)), nil
}

func (s *Source) splits(fs []file) []connector.Split {
	out := make([]connector.Split, len(fs))
	for i, f := range fs {
		out[i] = connector.Split{Name: path.Join(s.o.Root, f.key), Bytes: f.size, Data: f}
	}
	return out
}

// Whole implements connector.Bounded.
func (s *Source) Whole(ctx context.Context) ([]connector.Split, string, error) {
	return s.whole(ctx, (&s.o).readable)
}

// whole lists all files; named says what is wrong with a name, if that counts.
func (s *Source) whole(ctx context.Context, named func(key string) error) ([]connector.Split, string, error) {
	var fs []file
	var failed error
	err := s.o.names(ctx, nil, func(key string) bool {
		if failed = named(key); failed != nil {
			return false
		}
		if s.o.readable(key) != nil {
			return true
		}
		f, err := s.o.stat(ctx, key)
		if errors.Is(err, stores.ErrNotExist) && s.o.Single == "" {
			return true
		}
		if err != nil {
			failed = err
			return false
		}
		t := time.UnixMicro(f.mtime)
		if (s.o.After.IsZero() || t.After(s.o.After)) && (s.o.Before.IsZero() || t.Before(s.o.Before)) {
			fs = append(fs, f)
		}
		return true
	})
	if err := errors.Join(err, failed); err != nil {
		return nil, "", fmt.Errorf("list %s: %w", s.o.Root, err)
	}
	sortFiles(fs, false)
	h := fnv.New128a()
	for _, f := range fs {
		fmt.Fprintf(h, "%s\x00%d\x00%d\x00", f.key, f.mtime, f.size)
	}
	return s.splits(fs), fmt.Sprintf("%x", h.Sum(nil)), nil
}
