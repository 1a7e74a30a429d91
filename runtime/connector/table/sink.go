package table

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"pipelines/runtime/connector"
	"pipelines/tables"
	"pipelines/tables/column"
	"pipelines/tables/format"
	"pipelines/tables/schema"
)

// rollBytes is the size at which a data file is finished and a new one begun.
const rollBytes = 128 << 20

// SinkOptions configures a Sink.
type SinkOptions struct {
	Table  *tables.Table
	Format format.Format
	// Extension of data files with its dot, ".snappy.parquet".
	Extension string
	// Schema is that of the rows which are written: columns of the table by
	// name, in any order.
	Schema schema.Schema
	// PartitionColumns are the table's.
	PartitionColumns []string
	// NewSchema, when set, becomes the table's schema (and PartitionColumns its
	// partitioning) in the same commit that replaces its rows.
	NewSchema *schema.Schema
	// FormatOptions are the writer's options.
	FormatOptions map[string]string
	Location      *time.Location
	Pool          *column.Pool
	// At is called at the borders of staging and committing; see flow.Options.
	At func(point string) error
}

// Sink writes epochs into a table.
type Sink struct{ o SinkOptions }

// NewSink returns a sink.
func NewSink(o SinkOptions) *Sink { return &Sink{o: o} }

func (s *Sink) at(point string) error {
	if s.o.At == nil {
		return nil
	}
	return s.o.At(point)
}

// Held implements connector.Sink.
func (s *Sink) Held(ctx context.Context, appID string) (connector.Held, error) {
	snap, err := s.o.Table.Snapshot(ctx)
	if err != nil {
		return connector.Held{}, err
	}
	h := connector.Held{Knows: true, Epoch: -1}
	if v, ok := snap.Txn(appID); ok {
		h.Epoch = v
	}
	return h, nil
}

// Clean implements connector.Sink.
func (s *Sink) Clean(ctx context.Context, appID string) error {
	_, err := s.o.Table.RemoveOrphans(ctx, appID, nil)
	return err
}

// token is what Prepare hands to Commit, also across processes.
type token struct {
	Files []staged `json:"files"`
	Rows  int64    `json:"rows"`
}

type staged struct {
	Key        string             `json:"key"`
	Partitions map[string]*string `json:"partitions,omitempty"`
	Size       int64              `json:"size"`
	ModTime    int64              `json:"modTime"` // milliseconds
	Stats      string             `json:"stats"`
}

// Commit implements connector.Sink.
func (s *Sink) Commit(ctx context.Context, info connector.EpochInfo, raw []byte) error {
	var t token
	if err := json.Unmarshal(raw, &t); err != nil {
		return fmt.Errorf("prepared token: %w", err)
	}
	if err := s.at("commit.begin"); err != nil {
		return err
	}
	tx, err := s.o.Table.Begin(ctx)
	if err != nil {
		return err
	}
	for _, f := range t.Files {
		tx.AddFiles(tables.NewFile{
			Key: f.Key, PartitionValues: f.Partitions, Size: f.Size, ModTime: time.UnixMilli(f.ModTime), Stats: f.Stats,
		})
	}
	if info.AppID != "" {
		tx.SetTxn(info.AppID, info.Epoch)
	}
	if info.Overwrite {
		tx.Overwrite()
		if s.o.NewSchema != nil {
			tx.SetSchema(*s.o.NewSchema)
			tx.SetPartitionColumns(s.o.PartitionColumns)
		}
	}
	if len(info.Info) > 0 {
		text, err := json.Marshal(info.Info)
		if err != nil {
			return fmt.Errorf("commit info: %w", err)
		}
		tx.SetInfo("pipelines", text)
	}
	if err := s.at("commit.log"); err != nil {
		return err
	}
	_, err = tx.Commit(ctx)
	if _, ok := errors.AsType[*tables.CommittedError](err); ok {
		return fmt.Errorf("%w: %w", connector.ErrCommitted, err)
	}
	if err != nil {
		return err
	}
	return s.at("commit.logged")
}

// Begin implements connector.Sink.
func (s *Sink) Begin(_ context.Context, info connector.EpochInfo) (connector.Epoch, error) {
	return newEpoch(s, info), nil
}
