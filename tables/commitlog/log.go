package commitlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pipelines/stores"
)

// logFolder is Delta's folder inside a table.
const logFolder = "_delta_log/"

// Log is the log of one table in a store. It is safe for concurrent use.
type Log struct {
	store  stores.Store
	prefix string // of all keys of the table: "" or ends in a slash
}

// NewLog returns the log of the table in a folder of the store ("" is its
// root). Nothing is read.
func NewLog(store stores.Store, folder string) *Log {
	if folder != "" {
		folder += "/"
	}
	return &Log{store: store, prefix: folder}
}

func (l *Log) key(name string) string { return l.prefix + logFolder + name }

func (l *Log) commitKey(v int64) string { return l.key(fmt.Sprintf("%020d.json", v)) }

// VersionGoneError says that a version can no longer be read: its commit was
// cleaned up (delta.logRetentionDuration), or its log is incomplete.
type VersionGoneError struct {
	Version int64
	Oldest  int64 // the oldest version that can be read, -1 if unknown
}

func (e *VersionGoneError) Error() string {
	if e.Oldest < 0 {
		return fmt.Sprintf("version %d of the table is no longer in its log", e.Version)
	}
	return fmt.Sprintf("version %d of the table is no longer in its log (the oldest that can be read is %d): commits are kept for the table's delta.logRetentionDuration", e.Version, e.Oldest)
}

func corrupt(err error) error { return &stores.ClassError{Class: stores.Corrupt, Err: err} }

// Read returns the commit of one version, or stores.ErrNotExist.
func (l *Log) Read(ctx context.Context, v int64) (*Commit, error) {
	key := l.commitKey(v)
	data, err := l.store.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	c, err := Decode(data)
	if err != nil {
		if _, ok := errors.AsType[*UnsupportedError](err); ok {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		return nil, corrupt(fmt.Errorf("%s is damaged: %w", key, err))
	}
	return c, nil
}

// Write publishes a commit as version v, or returns stores.ErrExists when
// somebody else was first. Data comes from Encode.
func (l *Log) Write(ctx context.Context, v int64, data []byte) error {
	return l.store.PutIfAbsent(ctx, l.commitKey(v), data)
}

// Exists reports whether there is a log at all.
func (l *Log) Exists(ctx context.Context) (bool, error) {
	found := false
	err := l.store.List(ctx, stores.ListOptions{Prefix: l.prefix + logFolder, NamesOnly: true, Flat: true}, func(o stores.ObjectInfo) bool {
		_, found = parseName(strings.TrimPrefix(o.Key, l.prefix+logFolder))
		return !found
	})
	return found, err
}

// name is a parsed file name of the log folder.
type name struct {
	version     int64
	commit      bool
	part, parts int  // of a checkpoint; 1 of 1 for a single file
	v2          bool // checkpoint in the second form
}

var namePattern = regexp.MustCompile(`^(\d{20})\.(?:(json)|checkpoint\.(?:parquet|(\d{10})\.(\d{10})\.parquet|([0-9a-fA-F-]{36}\.(?:json|parquet))))$`)

func parseName(s string) (name, bool) {
	m := namePattern.FindStringSubmatch(s)
	if m == nil {
		return name{}, false
	}
	v, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return name{}, false
	}
	n := name{version: v, commit: m[2] != "", part: 1, parts: 1, v2: m[5] != ""}
	if m[3] != "" {
		n.part, _ = strconv.Atoi(m[3]) // ten digits
		n.parts, _ = strconv.Atoi(m[4])
	}
	return n, n.parts > 0
}

// checkpointName returns the file name of a part.
func checkpointName(v int64, part, parts int) string {
	if parts == 1 {
		return fmt.Sprintf("%020d.checkpoint.parquet", v)
	}
	return fmt.Sprintf("%020d.checkpoint.%010d.%010d.parquet", v, part, parts)
}

// listing is what the log folder holds from some version on.
type listing struct {
	commits     []int64       // ascending
	checkpoints map[int64]int // complete ones: version to number of parts
	v2          []int64       // versions with a checkpoint in the second form
}

// list lists the log from version from on.
func (l *Log) list(ctx context.Context, from int64) (listing, error) {
	out := listing{checkpoints: map[int64]int{}}
	folder := l.prefix + logFolder
	type multi struct {
		version int64
		parts   int
	}
	seen := map[multi]int{}
	opts := stores.ListOptions{Prefix: folder, NamesOnly: true, Flat: true}
	if from > 0 {
		opts.After = folder + fmt.Sprintf("%020d", from)
	}
	err := l.store.List(ctx, opts, func(o stores.ObjectInfo) bool {
		n, ok := parseName(o.Key[len(folder):])
		switch {
		case !ok:
		case n.commit:
			out.commits = append(out.commits, n.version)
		case n.v2:
			out.v2 = append(out.v2, n.version)
		default:
			k := multi{n.version, n.parts}
			if seen[k]++; seen[k] == n.parts {
				out.checkpoints[n.version] = n.parts
			}
		}
		return true
	})
	return out, err
}

type lastCheckpoint struct {
	Version       int64 `json:"version"`
	Size          int64 `json:"size"`
	SizeInBytes   int64 `json:"sizeInBytes,omitempty"`
	NumOfAddFiles int64 `json:"numOfAddFiles,omitempty"`
	Parts         int   `json:"parts,omitempty"`
}

// hint returns the version of the newest checkpoint as far as it is said, or
// 0. It only saves listing: whatever is wrong with it is no error.
func (l *Log) hint(ctx context.Context) (int64, error) {
	data, err := l.store.Get(ctx, l.key("_last_checkpoint"))
	if errors.Is(err, stores.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var last lastCheckpoint
	if json.Unmarshal(data, &last) != nil || last.Version < 0 {
		return 0, nil
	}
	return last.Version, nil
}

// Latest asks Load for the newest version.
const Latest = -1

// Load reads the state at a version, or the newest with Latest. A table that
// does not exist is stores.ErrNotExist, a version that cannot be read any more
// a *VersionGoneError.
func (l *Log) Load(ctx context.Context, at int64) (*State, error) {
	from, err := l.hint(ctx)
	if err != nil {
		return nil, err
	}
	if at >= 0 && from > at {
		from = 0
	}
	s, err := l.loadListed(ctx, from, at)
	if _, gone := errors.AsType[*VersionGoneError](err); from > 0 && (gone || errors.Is(err, stores.ErrNotExist) || stores.Classify(err) == stores.Corrupt) {
		return l.loadListed(ctx, 0, at) // the hint was wrong, or its checkpoint is damaged
	}
	return s, err
}

func (l *Log) loadListed(ctx context.Context, from, at int64) (*State, error) {
	found, err := l.list(ctx, from)
	if err != nil {
		return nil, err
	}
	if len(found.commits) == 0 && len(found.checkpoints) == 0 {
		if len(found.v2) > 0 {
			return nil, &UnsupportedError{Feature: "v2Checkpoint", What: "its only checkpoint is of the second form"}
		}
		return nil, fmt.Errorf("table log %s: %w", l.prefix+logFolder, stores.ErrNotExist)
	}
	return l.loadFrom(ctx, found, at)
}

// start returns the checkpoint versions that a load of version at may start
// from, newest first, with -1 for "from the first commit" last; nil if there is
// no way.
func (f *listing) start(at int64) []int64 {
	var out []int64
	for v := range f.checkpoints {
		if at < 0 || v <= at {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	slices.Reverse(out)
	if len(f.commits) > 0 && f.commits[0] == 0 {
		out = append(out, -1)
	}
	return out
}

// loadFrom builds the state from the newest checkpoint that can be read. One
// that is damaged is passed over if an older start exists.
func (l *Log) loadFrom(ctx context.Context, found listing, at int64) (*State, error) {
	newest := int64(-1)
	if n := len(found.commits); n > 0 {
		newest = found.commits[n-1]
	}
	for v := range found.checkpoints {
		newest = max(newest, v)
	}
	if at > newest {
		return nil, fmt.Errorf("version %d of the table is not there yet (the newest is %d): %w", at, newest, stores.ErrNotExist)
	}
	if at < 0 {
		at = newest
	}
	gone := &VersionGoneError{Version: at, Oldest: -1}
	for v := range found.checkpoints {
		if gone.Oldest < 0 || v < gone.Oldest {
			gone.Oldest = v
		}
	}
	err := error(gone)
	if len(found.v2) > 0 {
		err = &UnsupportedError{Feature: "v2Checkpoint", What: "its only checkpoint is of the second form"}
	}
	for _, start := range found.start(at) {
		var s *State
		if s, err = l.loadAt(ctx, start, at, found); err == nil {
			return s, nil
		}
		if stores.Classify(err) != stores.Corrupt {
			return nil, err
		}
	}
	return nil, err
}

// loadAt builds the state of version at from one start.
func (l *Log) loadAt(ctx context.Context, start, at int64, found listing) (*State, error) {
	s := NewState()
	if start >= 0 {
		if err := l.readCheckpoint(ctx, s, start, found.checkpoints[start]); err != nil {
			return nil, err
		}
	}
	for v := start + 1; v <= at; v++ {
		c, err := l.Read(ctx, v)
		if errors.Is(err, stores.ErrNotExist) {
			return nil, corrupt(fmt.Errorf("the log of the table has no version %d, but later ones", v))
		}
		if err != nil {
			return nil, err
		}
		if err := s.Apply(v, c); err != nil {
			return nil, err
		}
	}
	if s.metadata == nil || s.protocol == nil {
		return nil, corrupt(fmt.Errorf("the log of the table has no protocol or no metadata up to version %d", at))
	}
	return s, nil
}

// Oldest returns the oldest version from which on the log is complete: that of
// the first commit file, or of a checkpoint before it.
func (l *Log) Oldest(ctx context.Context) (int64, error) {
	found, err := l.list(ctx, 0)
	if err != nil {
		return 0, err
	}
	if len(found.commits) == 0 {
		return 0, fmt.Errorf("table log %s: %w", l.prefix+logFolder, stores.ErrNotExist)
	}
	return found.commits[0], nil
}
