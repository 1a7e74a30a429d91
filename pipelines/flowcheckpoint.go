package pipelines

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"pipelines/runtime/checkpoint"
	"pipelines/runtime/connector"
	exec "pipelines/runtime/flow"
	"pipelines/stores"
	"pipelines/tables/catalog"
)

// made marks flows in a record's Extra whose checkpoint was made: one that is
// not there any more was lost.
const made = "made/"

func forgetMade(extra map[string]string) {
	maps.DeleteFunc(extra, func(k, _ string) bool { return strings.HasPrefix(k, made) })
}

// recordOf is the record of a target while flows run.
func (u *update) recordOf(t *target) catalog.Record {
	u.recordMu.Lock()
	defer u.recordMu.Unlock()
	return t.record
}

// noteMade says in the catalog that a flow has a checkpoint, before the flow
// uses it.
func (u *update) noteMade(ctx context.Context, t *target, flow string) error {
	u.recordMu.Lock()
	defer u.recordMu.Unlock()
	if t.record.Extra[made+flow] != "" {
		return nil
	}
	rec := t.record
	rec.Extra = maps.Clone(rec.Extra) // others read the old one
	if rec.Extra == nil {
		rec.Extra = map[string]string{}
	}
	rec.Extra[made+flow] = "true"
	if err := u.st.catalog.Put(ctx, rec); err != nil {
		return err
	}
	t.record = rec
	return nil
}

// checkpointFile is where a flow's checkpoint is and what it says of itself.
func (u *update) checkpointFile(tg *target, flow string) (string, checkpoint.Identity) {
	rec := u.recordOf(tg)
	id := checkpoint.Identity{Dataset: rec.Name.String(), Flow: flow, Version: int(rec.CheckpointVersion), AppID: rec.Flows[flow]}
	return u.checkpointPath(rec.Name.CheckpointFolder(flow, rec.CheckpointVersion)), id
}

// checkpoint opens the flow's checkpoint, or makes it where there cannot be
// one yet.
func (u *update) checkpoint(ctx context.Context, t *task, tg *target, sink connector.Sink) (*checkpoint.DB, error) {
	path, id := u.checkpointFile(tg, t.f.name)
	db, err := checkpoint.Open(path, id)
	if errors.Is(err, checkpoint.ErrMissing) {
		db, err = u.newCheckpoint(ctx, t, tg, sink)
		if err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, checkpointError(t.d, err)
	}
	if db.Identity().AppID != id.AppID {
		return nil, errors.Join(otherID(t.d, path, db.Identity().AppID, id.AppID), db.Close())
	}
	err = u.noteMade(ctx, tg, t.f.name)
	if err == nil {
		err = dropVersions(filepath.Dir(path))
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// newCheckpoint makes a checkpoint unless the target already holds epochs of
// the flow or the catalog says that there was one.
func (u *update) newCheckpoint(ctx context.Context, t *task, tg *target, sink connector.Sink) (*checkpoint.DB, error) {
	path, id := u.checkpointFile(tg, t.f.name)
	held, err := sink.Held(ctx, id.AppID)
	if err != nil {
		return nil, err
	}
	if held.Knows && held.Epoch >= 0 {
		return nil, aheadError(t.d, t.f.name, path, held.Epoch)
	}
	if u.recordOf(tg).Extra[made+t.f.name] != "" || exists(path+".made") {
		return nil, lostError(t.d, t.f.name, path)
	}
	db, err := checkpoint.Create(path, id)
	if err != nil || held.Knows {
		return db, err
	}
	// Beside the catalog's record, in case that is lost.
	if err := os.WriteFile(path+".made", nil, 0o644); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// checkpointError adds the way out of a checkpoint that cannot be used; one
// that is only held or not to be opened is whole, and is not to be thrown away.
func checkpointError(d *dataset, err error) error {
	switch {
	case errors.Is(err, checkpoint.ErrLocked):
		return &stores.ClassError{Class: stores.Retryable, Err: fmt.Errorf("%w; end that process and run again", err)}
	case errors.Is(err, checkpoint.ErrDamaged), errors.Is(err, checkpoint.ErrForeign):
		return fmt.Errorf("%w; restore it from a copy, or run with --full-refresh %s", err, d.typed())
	}
	return err
}

// otherID says that a checkpoint and the catalog are not of one moment.
func otherID(d *dataset, path, have, want string) error {
	if want == "" {
		want = "nothing of it"
	}
	return fmt.Errorf("checkpoint %s belongs to transaction id %s, the catalog says %s; restore both from one copy, or run with --full-refresh %s", path, have, want, d.typed())
}

// dropVersions removes the checkpoints of a flow before the one in folder: full
// refreshes have replaced them.
func dropVersions(folder string) error {
	now, err := strconv.ParseInt(filepath.Base(folder), 10, 64)
	if err != nil {
		panic("bug: pipelines: a checkpoint in " + folder)
	}
	return removeFolders(filepath.Dir(folder), func(name string) bool {
		version, err := strconv.ParseInt(name, 10, 64)
		return err == nil && version < now
	})
}

// dropGone removes the checkpoints of flows that a refresh has found to be out
// of the project.
func (u *update) dropGone(rec catalog.Record) error {
	keep := map[string]bool{}
	for name := range rec.Flows {
		keep[catalog.PathPart(name)] = true
	}
	folder := filepath.Dir(filepath.Dir(filepath.Dir(u.checkpointPath(rec.Name.CheckpointFolder("x", 0)))))
	return removeFolders(folder, func(name string) bool { return !keep[name] })
}

func removeFolders(in string, which func(name string) bool) error {
	list, err := os.ReadDir(in)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, x := range list {
		if x.IsDir() && which(x.Name()) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(in, x.Name())))
		}
	}
	if err != nil {
		return fmt.Errorf("remove old checkpoints: %w", err)
	}
	return nil
}

// aheadError says that a table holds epochs of a flow that has no checkpoint.
func aheadError(d *dataset, flow, path string, epoch int64) error {
	return fmt.Errorf("%w: %s holds epochs up to %d of flow %s, and the checkpoint %s is missing; restore it from a copy, or run with --full-refresh %s",
		exec.ErrAhead, d.shown(), epoch, flow, path, d.typed())
}

// lostError says that a checkpoint that was made is not there.
func lostError(d *dataset, flow, path string) error {
	return fmt.Errorf("%w: the checkpoint %s of flow %s is gone, so what it has written is not known; restore it from a copy, or run with --full-refresh %s, which reads and writes everything again",
		checkpoint.ErrMissing, path, flow, d.typed())
}
