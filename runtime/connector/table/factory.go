package table

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"pipelines/runtime/connector"
	"pipelines/spec/option"
	"pipelines/stores"
	"pipelines/tables"
	"pipelines/tables/format"
)

// Factory makes sources over Delta tables by path (format delta). open gives
// read access to a folder.
func Factory(f format.Format, open func(root string) (stores.Store, error)) connector.SourceFactory {
	return connector.SourceFactory{
		Name: "delta", NeedsPath: true,
		Fields: []option.Field{
			{Name: "startingVersion", Type: option.TypeString, Doc: "streams: start with this version, or latest"},
			{Name: "skipChangeCommits", Type: option.TypeBool, Default: "false", Doc: "streams: leave out commits that remove or change rows"},
			{Name: "maxFilesPerTrigger", Type: option.TypeInt, Min: 1, Doc: "at most this many files an epoch"},
			{Name: "maxBytesPerTrigger", Type: option.TypeBytes, Min: 1, Doc: "take files until their sum passes this; at least one"},
			{Name: "versionAsOf", Type: option.TypeInt, Doc: "batch reads: this version"},
		},
		Open: func(ctx context.Context, c connector.SourceConfig) (connector.Opened, error) {
			store, err := open(c.Path)
			if err != nil {
				return connector.Opened{}, err
			}
			t, err := tables.Open(ctx, tables.Options{Store: store})
			if errors.Is(err, stores.ErrNotExist) {
				return connector.Opened{}, &connector.PathError{Path: c.Path}
			}
			if err != nil {
				return connector.Opened{}, err
			}
			return opened(ctx, t, f, c)
		},
	}
}

func opened(ctx context.Context, t *tables.Table, f format.Format, c connector.SourceConfig) (connector.Opened, error) {
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return connector.Opened{}, err
	}
	start := int64(-1)
	switch s := c.Options.String("startingVersion"); s {
	case "":
	case "latest":
		start = snap.Version() + 1
	default:
		if start, err = strconv.ParseInt(s, 10, 64); err != nil || start < 0 {
			return connector.Opened{}, fmt.Errorf("option startingVersion: %q is neither a version nor latest", s)
		}
	}
	w := &Whole{Reader: Reader{Table: t, Format: f}}
	version := c.Version
	if c.Options.IsSet("versionAsOf") {
		version = strconv.FormatInt(c.Options.Int("versionAsOf"), 10)
	}
	if version != "" {
		v, err := strconv.ParseInt(version, 10, 64)
		if err != nil {
			return connector.Opened{}, fmt.Errorf("version %q: a version number is wanted", version)
		}
		if w.Pinned, err = t.SnapshotAt(ctx, v); err != nil {
			return connector.Opened{}, err
		}
		snap = w.Pinned
	}
	s := NewStream(StreamOptions{
		Table: t, Format: f, Name: c.Name, StartingVersion: start, SkipChangeCommits: c.Options.Bool("skipChangeCommits"),
		MaxFiles: int(c.Options.Int("maxFilesPerTrigger")), MaxBytes: c.Options.Int("maxBytesPerTrigger"),
	})
	return connector.Opened{Schema: snap.Schema(), Stream: s, Table: w}, nil
}
