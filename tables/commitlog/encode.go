package commitlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"pipelines/tables/schema"
)

// The JSON forms of the actions, one struct each, in Delta's field order.

type lineJSON struct {
	CommitInfo json.RawMessage `json:"commitInfo,omitempty"`
	MetaData   *metaJSON       `json:"metaData,omitempty"`
	Protocol   *protocolJSON   `json:"protocol,omitempty"`
	Txn        *txnJSON        `json:"txn,omitempty"`
	Domain     *domainJSON     `json:"domainMetadata,omitempty"`
	Remove     *removeJSON     `json:"remove,omitempty"`
	Add        *addJSON        `json:"add,omitempty"`
	CDC        json.RawMessage `json:"cdc,omitempty"`
}

type protocolJSON struct {
	MinReader      int       `json:"minReaderVersion"`
	MinWriter      int       `json:"minWriterVersion"`
	ReaderFeatures *[]string `json:"readerFeatures,omitempty"`
	WriterFeatures *[]string `json:"writerFeatures,omitempty"`
}

type metaJSON struct {
	ID               string            `json:"id"`
	Name             string            `json:"name,omitempty"`
	Description      string            `json:"description,omitempty"`
	Format           formatJSON        `json:"format"`
	SchemaString     string            `json:"schemaString"`
	PartitionColumns []string          `json:"partitionColumns"`
	Configuration    map[string]string `json:"configuration"`
	CreatedTime      int64             `json:"createdTime,omitempty"`
}

type formatJSON struct {
	Provider string            `json:"provider"`
	Options  map[string]string `json:"options"`
}

type txnJSON struct {
	AppID       string `json:"appId"`
	Version     int64  `json:"version"`
	LastUpdated int64  `json:"lastUpdated,omitempty"`
}

type domainJSON struct {
	Domain        string `json:"domain"`
	Configuration string `json:"configuration"`
	Removed       bool   `json:"removed"`
}

type addJSON struct {
	Path             string             `json:"path"`
	PartitionValues  map[string]*string `json:"partitionValues"`
	Size             int64              `json:"size"`
	ModificationTime int64              `json:"modificationTime"`
	DataChange       bool               `json:"dataChange"`
	Stats            string             `json:"stats,omitempty"`
	Tags             map[string]string  `json:"tags,omitempty"`
	DeletionVector   json.RawMessage    `json:"deletionVector,omitempty"`
}

type removeJSON struct {
	Path              string             `json:"path"`
	DeletionTimestamp int64              `json:"deletionTimestamp,omitempty"`
	DataChange        bool               `json:"dataChange"`
	Extended          bool               `json:"extendedFileMetadata,omitempty"`
	PartitionValues   map[string]*string `json:"partitionValues,omitempty"`
	Size              int64              `json:"size,omitempty"`
	DeletionVector    json.RawMessage    `json:"deletionVector,omitempty"`
}

// Encode returns the commit as lines of JSON.
func Encode(c *Commit) ([]byte, error) {
	e := newEncoder()
	if c.HasInfo {
		info, err := c.Info.encode()
		if err != nil {
			return nil, err
		}
		e.line(lineJSON{CommitInfo: info})
	}
	if m := c.Metadata; m != nil {
		e.line(lineJSON{MetaData: m.json()})
	}
	if p := c.Protocol; p != nil {
		e.line(lineJSON{Protocol: p.json()})
	}
	for _, t := range c.Txns {
		e.line(lineJSON{Txn: &txnJSON{t.AppID, t.Version, t.LastUpdated}})
	}
	for _, d := range c.Domains {
		e.line(lineJSON{Domain: &domainJSON{d.Name, d.Configuration, d.Removed}})
	}
	for i := range c.Removes {
		e.line(lineJSON{Remove: c.Removes[i].json()})
	}
	for i := range c.Adds {
		e.line(lineJSON{Add: c.Adds[i].json()})
	}
	return e.buf.Bytes(), e.err
}

type encoder struct {
	buf bytes.Buffer
	enc *json.Encoder
	err error
}

func newEncoder() *encoder {
	e := &encoder{}
	e.enc = json.NewEncoder(&e.buf)
	e.enc.SetEscapeHTML(false)
	return e
}

func (e *encoder) line(l lineJSON) {
	if e.err == nil {
		e.err = e.enc.Encode(l)
	}
}

func (p *Protocol) json() *protocolJSON {
	j := &protocolJSON{MinReader: p.MinReader, MinWriter: p.MinWriter}
	if p.MinReader >= 3 {
		j.ReaderFeatures = orEmpty(p.ReaderFeatures)
	}
	if p.MinWriter >= 7 {
		j.WriterFeatures = orEmpty(p.WriterFeatures)
	}
	return j
}

func orEmpty(s []string) *[]string {
	if s == nil {
		s = []string{}
	}
	return &s
}

func (m *Metadata) json() *metaJSON {
	j := &metaJSON{
		ID: m.ID, Name: m.Name, Description: m.Description, Format: formatJSON{"parquet", map[string]string{}},
		SchemaString: m.Schema.JSON(), PartitionColumns: m.PartitionColumns, Configuration: m.Configuration, CreatedTime: m.CreatedTime,
	}
	if j.PartitionColumns == nil {
		j.PartitionColumns = []string{}
	}
	if j.Configuration == nil {
		j.Configuration = map[string]string{}
	}
	return j
}

func (a *Add) json() *addJSON {
	j := &addJSON{a.Path, a.PartitionValues, a.Size, a.ModificationTime, a.DataChange, a.Stats, a.Tags, nil}
	if j.PartitionValues == nil {
		j.PartitionValues = map[string]*string{}
	}
	return j
}

func (r *Remove) json() *removeJSON {
	j := &removeJSON{Path: r.Path, DeletionTimestamp: r.DeletionTimestamp, DataChange: r.DataChange, Extended: r.Extended}
	if r.Extended {
		j.PartitionValues, j.Size = r.PartitionValues, r.Size
	}
	return j
}

// infoKeys are the fields of commitInfo that Info has a place for.
var infoKeys = []string{"timestamp", "operation", "operationParameters", "readVersion", "isolationLevel", "isBlindAppend", "operationMetrics", "engineInfo", "txnId"}

// encode writes the fields in Spark's order, then the extra ones by name.
func (i *Info) encode() (json.RawMessage, error) {
	var b bytes.Buffer
	sep := byte('{')
	field := func(name, value string) {
		b.WriteByte(sep)
		sep = ','
		b.WriteString(schema.QuoteJSON(name) + ":" + value)
	}
	quoted := func(m map[string]string) string {
		out, err := json.Marshal(m) // map of strings: cannot fail
		if err != nil {
			panic("bug: commitlog: " + err.Error())
		}
		return string(out)
	}
	field("timestamp", strconv.FormatInt(i.Timestamp, 10))
	field("operation", schema.QuoteJSON(i.Operation))
	if i.Parameters == nil {
		field("operationParameters", "{}")
	} else {
		field("operationParameters", quoted(i.Parameters))
	}
	if i.ReadVersion >= 0 {
		field("readVersion", strconv.FormatInt(i.ReadVersion, 10))
	}
	if i.Isolation != "" {
		field("isolationLevel", schema.QuoteJSON(i.Isolation))
	}
	field("isBlindAppend", strconv.FormatBool(i.IsBlindAppend))
	if len(i.Metrics) > 0 {
		field("operationMetrics", quoted(i.Metrics))
	}
	if i.Engine != "" {
		field("engineInfo", schema.QuoteJSON(i.Engine))
	}
	if i.TxnID != "" {
		field("txnId", schema.QuoteJSON(i.TxnID))
	}
	for _, k := range slices.Sorted(maps.Keys(i.Extra)) {
		if slices.Contains(infoKeys, k) || !json.Valid(i.Extra[k]) {
			return nil, fmt.Errorf("commitInfo field %q is reserved or not JSON", k)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, i.Extra[k]); err != nil {
			return nil, fmt.Errorf("commitInfo field %q: %w", k, err)
		}
		field(k, compact.String())
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
