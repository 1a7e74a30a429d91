package pipelines

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"pipelines/runtime/checkpoint"
	exec "pipelines/runtime/flow"
	"pipelines/runtime/stream"
	"pipelines/tables/catalog"
)

// CheckpointInfo describes one flow's checkpoint.
type CheckpointInfo struct {
	Dataset string `json:"dataset"` // catalog.database.table
	Flow    string `json:"flow"`
	Version int64  `json:"version"` // goes up with each full refresh
	Path    string `json:"path"`
	Bytes   int64  `json:"bytes"` // of all its files
	// State is "ok", "running" or what is wrong.
	State string `json:"state"`
	// Epochs counts the committed epochs; Pending says that one more was begun.
	Epochs  int64 `json:"epochs"`
	Pending bool  `json:"pending"`
	// At is the wall time of the newest epoch.
	At         *time.Time               `json:"at,omitempty"`
	Offsets    map[string]stream.Offset `json:"offsets,omitempty"`
	Watermark  *time.Time               `json:"watermark,omitempty"`
	Operators  []CheckpointState        `json:"operators,omitempty"`
	LedgerRows map[string]int64         `json:"ledgers,omitempty"`
}

// CheckpointState is the stored state of one operator; Rows and Bytes are known
// after a verification.
type CheckpointState struct {
	ID    string `json:"id"`
	Rows  int64  `json:"rows"`
	Bytes int64  `json:"bytes"`
}

// OK reports whether nothing is wrong.
func (c CheckpointInfo) OK() bool { return c.State == "ok" || c.State == "running" }

// Checkpoints lists the checkpoint of each flow; one that the catalog says was
// made, and is gone, is listed as missing. With verify set each is read whole,
// with the files of its state, and its checksums are checked.
func (r *Reader) Checkpoints(ctx context.Context, verify bool) ([]CheckpointInfo, error) {
	if !r.p.spec.Storage.IsSet() {
		return nil, nil
	}
	found, err := checkpointsIn(r.p.spec.CheckpointDir())
	if err == nil {
		err = r.expected(ctx, found)
	}
	if err != nil {
		return nil, err
	}
	var out []CheckpointInfo
	for _, key := range slices.Sorted(maps.Keys(found)) {
		c := found[key]
		if c.State == "" {
			c.look(verify)
		}
		out = append(out, *c)
	}
	slices.SortStableFunc(out, func(a, b CheckpointInfo) int {
		return strings.Compare(a.Dataset+"\x00"+a.Flow, b.Dataset+"\x00"+b.Flow)
	})
	return out, nil
}

// checkpointsIn finds the newest version of each flow's checkpoint by the
// flow's folder.
func checkpointsIn(root string) (map[string]*CheckpointInfo, error) {
	newest := map[string]*CheckpointInfo{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(p))
		parts := strings.Split(filepath.ToSlash(rel), "/")
		if err != nil || d.IsDir() || d.Name() != "flow.db" || len(parts) < 3 {
			return err
		}
		n := len(parts)
		version, err := strconv.ParseInt(parts[n-1], 10, 64)
		if err != nil {
			return nil //nolint:nilerr // not a folder of ours
		}
		folder := filepath.Dir(filepath.Dir(p))
		if old, ok := newest[folder]; !ok || old.Version < version {
			newest[folder] = &CheckpointInfo{Dataset: plainPath(parts[:n-2]), Flow: plainPath(parts[n-2 : n-1]), Version: version, Path: p}
		}
		return nil
	})
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return newest, err
}

// expected compares what was found with what the catalog says of the project's
// flows.
func (r *Reader) expected(ctx context.Context, found map[string]*CheckpointInfo) error {
	if r.st == nil {
		return nil
	}
	root := r.p.spec.CheckpointDir()
	return r.st.catalog.List(ctx, func(rec catalog.Record, err error) bool {
		if err != nil || rec.Owner != r.p.Name() {
			return true
		}
		for _, flow := range slices.Sorted(maps.Keys(rec.Flows)) {
			path := filepath.Join(root, filepath.FromSlash(rec.Name.CheckpointFolder(flow, rec.CheckpointVersion)), "flow.db")
			folder := filepath.Dir(filepath.Dir(path))
			if c := found[folder]; c != nil && c.Version == rec.CheckpointVersion {
				continue
			}
			if exists(path) || rec.Extra[made+flow] != "" {
				parts := strings.Split(filepath.ToSlash(rec.Name.CheckpointFolder(flow, 0)), "/")
				found[folder] = &CheckpointInfo{Dataset: plainPath(parts[:len(parts)-2]), Flow: plainPath(parts[len(parts)-2 : len(parts)-1]), Version: rec.CheckpointVersion, Path: path}
			}
		}
		return true
	})
}

// look fills in what the checkpoint says and holds.
func (c *CheckpointInfo) look(verify bool) {
	c.Bytes = fileBytes(filepath.Dir(c.Path))
	for {
		c.State, c.Operators, c.LedgerRows = "ok", nil, nil
		at, err := c.readAll(verify)
		if err == nil {
			return
		}
		if verify && !errors.Is(err, checkpoint.ErrLocked) {
			// A run that came in between removes files that it needs no more.
			now, nerr := c.readAll(false)
			if nerr == nil && now != at {
				continue
			}
			if errors.Is(nerr, checkpoint.ErrLocked) {
				err = nerr
			}
		}
		c.State = err.Error()
		if errors.Is(err, checkpoint.ErrLocked) {
			c.State = "running"
		}
		return
	}
}

// fileBytes is the size of the files in a checkpoint's folder.
func fileBytes(folder string) (n int64) {
	_ = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it went meanwhile
		}
		if st, err := d.Info(); err == nil && st.Mode().IsRegular() {
			n += st.Size()
		}
		return nil
	})
	return n
}

func plainPath(parts []string) string {
	out := make([]string, len(parts))
	for i, p := range parts {
		if plain, err := url.PathUnescape(p); err == nil {
			p = plain
		}
		out[i] = p
	}
	return strings.Join(out, ".")
}

// readAll reads the file and, to verify it, the files of the state; the file is
// not held meanwhile, so that a run can begin. It returns the newest prepared
// epoch.
func (c *CheckpointInfo) readAll(verify bool) (int64, error) {
	p, err := c.readFile(verify)
	if err != nil {
		return -1, err
	}
	if p == nil {
		return -1, nil
	}
	states := map[string]*CheckpointState{}
	for id := range p.Operators {
		if id != p.Sink {
			states[id] = &CheckpointState{ID: id}
		}
	}
	if verify {
		err = exec.ReadState(c.Path, p, func(operator string, k, v []byte) error {
			x := states[operator]
			if x == nil {
				x = &CheckpointState{ID: operator}
				states[operator] = x
			}
			x.Rows++
			x.Bytes += int64(len(k) + len(v))
			return nil
		})
	}
	for _, id := range slices.Sorted(maps.Keys(states)) {
		c.Operators = append(c.Operators, *states[id])
	}
	return p.Epoch, err
}

// read reads the file only.
func (c *CheckpointInfo) read() error {
	_, err := c.readFile(false)
	return err
}

// readFile fills in what the file holds.
func (c *CheckpointInfo) readFile(verify bool) (p *checkpoint.Prepared, err error) {
	db, err := checkpoint.View(c.Path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	s, err := db.Load()
	if err != nil {
		return nil, err
	}
	c.Epochs = s.Marked + 1
	if s.Intent != nil {
		c.Pending = s.Intent.Epoch > s.Marked
		c.Offsets = s.Intent.To
		at := time.UnixMicro(s.Intent.Now).UTC()
		c.At = &at
		if s.Intent.Evict != stream.NoWatermark {
			w := time.UnixMicro(s.Intent.Evict).UTC()
			c.Watermark = &w
		}
	}
	ids, err := db.StateOperators()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		x := CheckpointState{ID: id}
		if verify {
			err = db.ReadState(id, func(k, v []byte) error {
				x.Rows++
				x.Bytes += int64(len(k) + len(v))
				return nil
			})
		}
		c.Operators = append(c.Operators, x)
		if err != nil {
			return nil, err
		}
	}
	if !verify {
		return s.Prepared, nil
	}
	c.LedgerRows = map[string]int64{}
	for id := range c.Offsets {
		err := db.ReadLedger(id, func(_, _ []byte) error {
			c.LedgerRows[id]++
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return s.Prepared, nil
}
