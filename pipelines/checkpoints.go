package pipelines

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"pipelines/runtime/checkpoint"
	"pipelines/runtime/stream"
)

// CheckpointInfo describes one flow's checkpoint.
type CheckpointInfo struct {
	Dataset string `json:"dataset"` // catalog.database.table
	Flow    string `json:"flow"`
	Version int64  `json:"version"` // goes up with each full refresh
	Path    string `json:"path"`
	Bytes   int64  `json:"bytes"`
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

// Checkpoints lists the newest checkpoint of each flow. With verify set each is
// read whole and its checksums are checked.
func (r *Reader) Checkpoints(verify bool) ([]CheckpointInfo, error) {
	if !r.p.spec.Storage.IsSet() {
		return nil, nil
	}
	root := r.p.spec.CheckpointDir()
	newest := map[string]CheckpointInfo{}
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
		c := CheckpointInfo{Dataset: plainPath(parts[:n-2]), Flow: plainPath(parts[n-2 : n-1]), Version: version, Path: p}
		if st, err := d.Info(); err == nil {
			c.Bytes = st.Size()
		}
		key := c.Dataset + "\x00" + c.Flow
		if old, ok := newest[key]; !ok || old.Version < version {
			newest[key] = c
		}
		return nil
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var out []CheckpointInfo
	for _, c := range newest {
		c.State = "ok"
		if err := c.read(verify); errors.Is(err, checkpoint.ErrLocked) {
			c.State = "running"
		} else if err != nil {
			c.State = err.Error()
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b CheckpointInfo) int {
		return strings.Compare(a.Dataset+"\x00"+a.Flow, b.Dataset+"\x00"+b.Flow)
	})
	return out, nil
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

// read fills in what the file holds.
func (c *CheckpointInfo) read(verify bool) (err error) {
	db, err := checkpoint.View(c.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	s, err := db.Load()
	if err != nil {
		return err
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
		return err
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
			return err
		}
	}
	if !verify {
		return nil
	}
	c.LedgerRows = map[string]int64{}
	for id := range c.Offsets {
		err := db.ReadLedger(id, func(_, _ []byte) error {
			c.LedgerRows[id]++
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
