package flow

import (
	"errors"
	"path/filepath"
	"time"

	"pipelines/runtime/checkpoint"
	"pipelines/runtime/connector"
	"pipelines/runtime/connector/noop"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// openDB opens the checkpoint of a folder as another process would, or makes it.
func openDB(s checkpoint.Settings, dir, app string) (*checkpoint.DB, error) {
	path, id := filepath.Join(dir, "flow.db"), checkpoint.Identity{Dataset: "t", Flow: "f", AppID: app}
	db, err := s.Open(path, id)
	if errors.Is(err, checkpoint.ErrMissing) {
		return s.Create(path, id)
	}
	return db, err
}

// keeping are the options of a flow of which only the state is looked at.
func keeping(plan logical.Node, gen connector.Source, db *checkpoint.DB, pool *column.Pool) Options {
	return Options{
		Dataset: "t", Flow: "f", Plan: plan, Session: &funcs.Session{ANSI: true, Location: time.UTC},
		Streams: map[string]connector.Source{"gen": gen}, Sink: noop.Sink{}, DB: db, Lanes: 2, Pool: pool, Now: time.Now,
	}
}
