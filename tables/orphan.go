package tables

import (
	"context"
	"fmt"
	"path"
	"strings"

	"pipelines/stores"
)

// RemoveOrphans deletes the data files that a flow wrote for epochs later than
// the last one it committed and that are not part of the table: what a runner
// that died has left. Keep holds the keys of staged files that are still to be
// committed. It returns how many files it deleted. Only files whose name
// carries the application id are looked at.
func (t *Table) RemoveOrphans(ctx context.Context, appID string, keep map[string]bool) (int, error) {
	s, err := t.Snapshot(ctx)
	if err != nil {
		return 0, err
	}
	committed := int64(-1)
	if v, ok := s.Txn(appID); ok {
		committed = v
	}
	live := map[string]bool{}
	for _, f := range s.Files() {
		live[f.Key] = true
	}
	prefix := t.Key("")
	var dead []string
	err = t.opts.Store.List(ctx, stores.ListOptions{Prefix: prefix, NamesOnly: true}, func(o stores.ObjectInfo) bool {
		key := strings.TrimPrefix(o.Key, prefix)
		n, ours := parseFileName(path.Base(key))
		if ours && !reserved(key) && n.AppID == appID && n.Epoch > committed && !live[key] && !keep[key] {
			dead = append(dead, key)
		}
		return true
	})
	if err != nil {
		return 0, fmt.Errorf("orphans of table %s: %w", t.opts.Folder, err)
	}
	for i, key := range dead {
		if err := t.opts.Store.Delete(ctx, t.Key(key)); err != nil {
			return i, fmt.Errorf("orphans of table %s: %w", t.opts.Folder, err)
		}
	}
	return len(dead), nil
}

// reserved reports keys in folders that start with "_" or ".": the log's and
// other programs'.
func reserved(key string) bool {
	return strings.HasPrefix(key, "_") && strings.Contains(key, "/") || strings.HasPrefix(key, ".")
}
