package table

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"pipelines/runtime/connector"
	"pipelines/stores"
	"pipelines/tables"
	"pipelines/tables/column"
	"pipelines/tables/format"
	"pipelines/tables/schema"
)

// epoch stages one epoch's rows as data files, each lane its own.
type epoch struct {
	sink *Sink
	info connector.EpochInfo
	data schema.Schema // columns inside the files
	cols []int         // their places in the rows
	part []int         // places of the partition columns

	mu    sync.Mutex // guards lanes
	lanes map[int]*lane
}

// lane holds one lane's open files, by partition.
type lane struct {
	epoch *epoch
	open  map[string]*dataFile
	done  []staged
	rows  int64
	key   []byte
	sel   map[string][]int32
}

type dataFile struct {
	key        string
	partitions map[string]*string
	upload     stores.Upload
	writer     format.Writer
}

func newEpoch(s *Sink, info connector.EpochInfo) *epoch {
	e := &epoch{sink: s, info: info, lanes: map[int]*lane{}}
	for i, f := range s.o.Schema.Fields {
		if slices.ContainsFunc(s.o.PartitionColumns, func(p string) bool { return strings.EqualFold(p, f.Name) }) {
			continue
		}
		e.cols = append(e.cols, i)
		e.data.Fields = append(e.data.Fields, f)
	}
	for _, p := range s.o.PartitionColumns {
		e.part = append(e.part, s.o.Schema.Index(p))
	}
	return e
}

func (e *epoch) lane(n int) *lane {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.lanes[n]
	if l == nil {
		l = &lane{epoch: e, open: map[string]*dataFile{}, sel: map[string][]int32{}}
		e.lanes[n] = l
	}
	return l
}

// Write implements connector.Epoch.
func (e *epoch) Write(n int, b *column.Batch) error {
	if b.Rows() == 0 {
		return nil
	}
	l := e.lane(n)
	l.rows += int64(b.Rows())
	if len(e.part) == 0 {
		return l.write("", nil, b, b.Sel)
	}
	return l.writePartitions(b)
}

// writePartitions deals the rows to the files of their partitions.
func (l *lane) writePartitions(b *column.Batch) error {
	var order []string
	for k := range b.Rows() {
		i := k
		if b.Sel != nil {
			i = int(b.Sel[k])
		}
		l.key = l.key[:0]
		for _, c := range l.epoch.part {
			if s := tables.PartitionText(b.Cols[c], i); s != nil {
				l.key = append(append(l.key, '='), *s...)
			}
			l.key = append(l.key, 0)
		}
		rows, ok := l.sel[string(l.key)]
		if !ok || len(rows) == 0 {
			order = append(order, string(l.key))
		}
		l.sel[string(l.key)] = append(rows, int32(i))
	}
	for _, key := range order {
		rows := l.sel[key]
		values := map[string]*string{}
		for n, c := range l.epoch.part {
			values[l.epoch.sink.o.PartitionColumns[n]] = tables.PartitionText(b.Cols[c], int(rows[0]))
		}
		if err := l.write(key, values, b, rows); err != nil {
			return err
		}
		l.sel[key] = rows[:0]
	}
	return nil
}

// write adds the selected rows of b to the lane's file of a partition.
func (l *lane) write(partition string, values map[string]*string, b *column.Batch, sel []int32) error {
	f := l.open[partition]
	if f == nil {
		var err error
		if f, err = l.create(values); err != nil {
			return err
		}
		l.open[partition] = f
	}
	out := l.epoch.sink.o.Pool.Batch()
	defer out.Release()
	out.Len = b.Len
	for _, c := range l.epoch.cols {
		out.Cols = append(out.Cols, b.Cols[c].Retain())
	}
	if sel != nil {
		out.Sel = append(out.SelBuffer(), sel...)
	}
	if err := f.writer.Write(out); err != nil {
		return fmt.Errorf("write %s: %w", f.key, err)
	}
	if f.writer.Size() < rollBytes {
		return nil
	}
	delete(l.open, partition)
	return l.finish(f)
}

func (l *lane) create(values map[string]*string) (*dataFile, error) {
	o := &l.epoch.sink.o
	name := tables.FileName{AppID: l.epoch.info.AppID, Epoch: l.epoch.info.Epoch, Extension: o.Extension}.New()
	f := &dataFile{key: tables.PartitionFolder(o.PartitionColumns, values) + name, partitions: values}
	var err error
	// The staging outlives the call that starts it, so it has no deadline of
	// its own; Prepare and Abort end it.
	if f.upload, err = o.Table.CreateFile(context.Background(), f.key); err != nil {
		return nil, fmt.Errorf("create data file: %w", err)
	}
	spec := format.WriteSpec{Schema: l.epoch.data, Options: o.FormatOptions, Location: o.Location, Pool: o.Pool, StatsColumns: 32}
	if f.writer, err = o.Format.Create(f.upload, spec); err != nil {
		return nil, errors.Join(fmt.Errorf("create data file: %w", err), f.upload.Abort())
	}
	return f, nil
}

// finish makes a data file durable.
func (l *lane) finish(f *dataFile) error {
	stats, err := f.writer.Close()
	if err != nil {
		return errors.Join(fmt.Errorf("finish %s: %w", f.key, err), f.upload.Abort())
	}
	if err := l.epoch.sink.at("stage.file"); err != nil {
		return err
	}
	if err := f.upload.Commit(); err != nil {
		return fmt.Errorf("finish %s: %w", f.key, err)
	}
	l.done = append(l.done, staged{
		Key: f.key, Partitions: f.partitions, Size: stats.Bytes, ModTime: time.Now().UnixMilli(), Stats: tables.Stats(stats),
	})
	return l.epoch.sink.at("stage.filed")
}

// Prepare implements connector.Epoch.
func (e *epoch) Prepare(context.Context) ([]byte, error) {
	var t token
	for n := 0; len(e.lanes) > 0; n++ {
		l, ok := e.lanes[n]
		if !ok {
			continue
		}
		for _, key := range sortedKeys(l.open) {
			f := l.open[key]
			delete(l.open, key)
			if err := l.finish(f); err != nil {
				return nil, err
			}
		}
		delete(e.lanes, n)
		t.Files = append(t.Files, l.done...)
		t.Rows += l.rows
	}
	out, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("prepared token: %w", err)
	}
	return out, nil
}

func sortedKeys(m map[string]*dataFile) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// Abort implements connector.Epoch.
func (e *epoch) Abort() error {
	var err error
	for _, l := range e.lanes {
		for _, f := range l.open {
			err = errors.Join(err, f.upload.Abort())
		}
	}
	clear(e.lanes)
	return err
}
