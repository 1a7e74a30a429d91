package tables

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"strings"
	"time"

	"pipelines/stores"
	"pipelines/tables/commitlog"
)

// RemoveOrphans deletes the data files that a flow wrote and never committed:
// what a runner that died, or an attempt that failed, has left. Keep holds the
// keys of staged files that are still to be committed. It returns how many
// files it deleted. Only files whose name carries the application id are
// looked at; those of epochs that the flow has committed (or of a flow without
// an id) are deleted only while the log would still tell if they had ever been
// part of the table.
func (t *Table) RemoveOrphans(ctx context.Context, appID string, keep map[string]bool) (int, error) {
	s, err := t.Snapshot(ctx)
	if err != nil {
		return 0, err
	}
	committed := int64(math.MaxInt64)
	if v, ok := s.Txn(appID); ok {
		committed = v
	} else if appID != "" {
		committed = -1
	}
	prefix := t.Key("")
	var dead []string
	err = t.opts.Store.List(ctx, stores.ListOptions{Prefix: prefix, NamesOnly: true}, func(o stores.ObjectInfo) bool {
		key := strings.TrimPrefix(o.Key, prefix)
		n, ours := parseFileName(path.Base(key))
		if ours && n.AppID == appID && !reserved(key) && !keep[key] && !t.knows(key) {
			dead = append(dead, key)
		}
		return true
	})
	n := 0
	for _, key := range dead {
		if err != nil {
			break
		}
		var gone bool
		if gone, err = t.removeOrphan(ctx, key, committed, commitlog.Retention(s.view.Metadata)); gone {
			n++
		}
	}
	if err != nil {
		return n, fmt.Errorf("orphans of table %s: %w", t.opts.Folder, err)
	}
	return n, nil
}

func (t *Table) knows(key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state.Knows(commitlog.PathOf(key))
}

// removeOrphan deletes an unknown file, unless it may have been part of the
// table so long ago that its tombstone is gone.
func (t *Table) removeOrphan(ctx context.Context, key string, committed int64, retention time.Duration) (bool, error) {
	if n, _ := parseFileName(path.Base(key)); n.Epoch <= committed {
		info, err := t.opts.Store.Stat(ctx, t.Key(key))
		if errors.Is(err, stores.ErrNotExist) {
			return false, nil
		}
		if err != nil || t.opts.Now().Sub(info.ModTime) >= retention {
			return false, err
		}
	}
	return true, t.opts.Store.Delete(ctx, t.Key(key))
}

// reserved reports keys in folders that start with "_" or ".": the log's and
// other programs'.
func reserved(key string) bool {
	return strings.HasPrefix(key, "_") && strings.Contains(key, "/") || strings.HasPrefix(key, ".")
}
