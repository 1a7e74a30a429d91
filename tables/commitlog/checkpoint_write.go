package commitlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go"
)

// One row of a checkpoint has one action; the others are null.
type rowParquet struct {
	Txn      *txnParquet      `parquet:"txn,optional"`
	Add      *addParquet      `parquet:"add,optional"`
	Remove   *removeParquet   `parquet:"remove,optional"`
	MetaData *metaParquet     `parquet:"metaData,optional"`
	Protocol *protocolParquet `parquet:"protocol,optional"`
	Domain   *domainParquet   `parquet:"domainMetadata,optional"`
}

type txnParquet struct {
	AppID       string `parquet:"appId,optional"`
	Version     int64  `parquet:"version"`
	LastUpdated *int64 `parquet:"lastUpdated,optional"`
}

type addParquet struct {
	Path             string             `parquet:"path,optional"`
	PartitionValues  map[string]*string `parquet:"partitionValues,optional"`
	Size             int64              `parquet:"size"`
	ModificationTime int64              `parquet:"modificationTime"`
	DataChange       bool               `parquet:"dataChange"`
	Tags             map[string]*string `parquet:"tags,optional"`
	Stats            *string            `parquet:"stats,optional"`
}

type removeParquet struct {
	Path              string             `parquet:"path,optional"`
	DeletionTimestamp *int64             `parquet:"deletionTimestamp,optional"`
	DataChange        bool               `parquet:"dataChange"`
	Extended          *bool              `parquet:"extendedFileMetadata,optional"`
	PartitionValues   map[string]*string `parquet:"partitionValues,optional"`
	Size              *int64             `parquet:"size,optional"`
}

type formatParquet struct {
	Provider string             `parquet:"provider,optional"`
	Options  map[string]*string `parquet:"options,optional"`
}

type metaParquet struct {
	ID               string             `parquet:"id,optional"`
	Name             *string            `parquet:"name,optional"`
	Description      *string            `parquet:"description,optional"`
	Format           *formatParquet     `parquet:"format,optional"`
	SchemaString     string             `parquet:"schemaString,optional"`
	PartitionColumns []string           `parquet:"partitionColumns,list"`
	Configuration    map[string]*string `parquet:"configuration,optional"`
	CreatedTime      *int64             `parquet:"createdTime,optional"`
}

type protocolParquet struct {
	MinReader      int32    `parquet:"minReaderVersion"`
	MinWriter      int32    `parquet:"minWriterVersion"`
	ReaderFeatures []string `parquet:"readerFeatures,list,optional"`
	WriterFeatures []string `parquet:"writerFeatures,list,optional"`
}

type domainParquet struct {
	Domain        string `parquet:"domain,optional"`
	Configuration string `parquet:"configuration,optional"`
	Removed       bool   `parquet:"removed"`
}

// checkpointBatch is how many rows are handed to the Parquet writer at once.
const checkpointBatch = 256

// WriteCheckpoint writes a log checkpoint (one file) and points to it.
func (l *Log) WriteCheckpoint(ctx context.Context, c *Checkpoint) error {
	key := l.key(checkpointName(c.Version, 1, 1))
	up, err := l.store.Create(ctx, key)
	if err != nil {
		return fmt.Errorf("log checkpoint of version %d: %w", c.Version, err)
	}
	n := &counter{w: up}
	err = c.write(n)
	if err == nil {
		err = up.Commit()
	} else {
		err = errors.Join(err, up.Abort())
	}
	if err != nil {
		return fmt.Errorf("log checkpoint of version %d: %w", c.Version, err)
	}
	last, err := json.Marshal(lastCheckpoint{Version: c.Version, Size: int64(c.Actions()), SizeInBytes: n.n, NumOfAddFiles: int64(c.NumFiles)})
	if err != nil {
		panic("bug: commitlog: " + err.Error())
	}
	return l.store.Put(ctx, l.key("_last_checkpoint"), last)
}

type counter struct {
	w interface{ Write([]byte) (int, error) }
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

func (c *Checkpoint) write(to *counter) error {
	w := parquet.NewGenericWriter[rowParquet](to, parquet.Compression(&parquet.Snappy), parquet.DataPageVersion(1),
		parquet.DefaultEncodingFor(parquet.ByteArray, &parquet.Plain), parquet.CreatedBy("pipelines", "1", ""))
	rows := make([]rowParquet, 0, checkpointBatch)
	var err error
	put := func(r rowParquet) {
		rows = append(rows, r)
		if len(rows) == checkpointBatch && err == nil {
			_, err = w.Write(rows)
			rows = rows[:0]
		}
	}
	put(rowParquet{Protocol: c.Protocol.parquet()})
	put(rowParquet{MetaData: c.Metadata.parquet()})
	for _, id := range sortedKeys(c.Txns) {
		t := c.Txns[id]
		put(rowParquet{Txn: &txnParquet{t.AppID, t.Version, orNull(t.LastUpdated)}})
	}
	for _, d := range c.Domains {
		put(rowParquet{Domain: &domainParquet{d.Name, d.Configuration, false}})
	}
	for i := range c.Tombstones {
		put(rowParquet{Remove: c.Tombstones[i].parquet()})
	}
	for _, f := range c.Files() {
		put(rowParquet{Add: f.Add.parquet()})
	}
	if err == nil && len(rows) > 0 {
		_, err = w.Write(rows)
	}
	if cerr := w.Close(); err == nil {
		err = cerr
	}
	return err
}

func orNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func pointers(m map[string]string) map[string]*string {
	out := make(map[string]*string, len(m))
	for k, v := range m {
		out[k] = &v
	}
	return out
}

func (p *Protocol) parquet() *protocolParquet {
	q := &protocolParquet{MinReader: int32(p.MinReader), MinWriter: int32(p.MinWriter)}
	if p.MinReader >= 3 {
		q.ReaderFeatures = p.ReaderFeatures
	}
	if p.MinWriter >= 7 {
		q.WriterFeatures = p.WriterFeatures
	}
	return q
}

func (m *Metadata) parquet() *metaParquet {
	j := m.json()
	return &metaParquet{
		ID: j.ID, Name: orNull(j.Name), Description: orNull(j.Description), Format: &formatParquet{"parquet", map[string]*string{}},
		SchemaString: j.SchemaString, PartitionColumns: j.PartitionColumns, Configuration: pointers(j.Configuration), CreatedTime: orNull(j.CreatedTime),
	}
}

func (a *Add) parquet() *addParquet {
	p := &addParquet{Path: a.Path, PartitionValues: a.PartitionValues, Size: a.Size, ModificationTime: a.ModificationTime, Stats: orNull(a.Stats)}
	if p.PartitionValues == nil {
		p.PartitionValues = map[string]*string{}
	}
	if a.Tags != nil {
		p.Tags = pointers(a.Tags)
	}
	return p
}

func (r *Remove) parquet() *removeParquet {
	p := &removeParquet{Path: r.Path, DeletionTimestamp: orNull(r.DeletionTimestamp), Extended: orNull(r.Extended)}
	if r.Extended {
		p.PartitionValues, p.Size = r.PartitionValues, &r.Size
		if p.PartitionValues == nil {
			p.PartitionValues = map[string]*string{}
		}
	}
	return p
}
