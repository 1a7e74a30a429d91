package commitlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"pipelines/tables/schema"
)

// Decode reads the lines of a commit. Unknown actions and fields are left out;
// a file with a deletion vector is an *UnsupportedError.
func Decode(data []byte) (*Commit, error) {
	c := &Commit{}
	n := 0
	// No writer makes an empty commit: this is what a power cut leaves.
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("the file is empty")
	}
	for len(data) > 0 {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if err := c.decodeLine(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return c, nil
}

func (c *Commit) decodeLine(line []byte) error {
	var j lineJSON
	if err := json.Unmarshal(line, &j); err != nil {
		return err
	}
	switch {
	case j.Add != nil:
		a, err := j.Add.action()
		if err != nil {
			return err
		}
		c.Adds = append(c.Adds, a)
	case j.Remove != nil:
		if j.Remove.Path == "" {
			return errors.New("remove without a path")
		}
		if present(j.Remove.DeletionVector) {
			return &UnsupportedError{Feature: "deletionVectors", What: "a removed file has a deletion vector"}
		}
		r := j.Remove
		c.Removes = append(c.Removes, Remove{r.Path, r.DeletionTimestamp, r.DataChange, r.Extended, r.PartitionValues, r.Size})
	case j.Txn != nil:
		c.Txns = append(c.Txns, Txn{j.Txn.AppID, j.Txn.Version, j.Txn.LastUpdated})
	case j.MetaData != nil:
		m, err := j.MetaData.action()
		if err != nil {
			return err
		}
		c.Metadata = m
	case j.Protocol != nil:
		c.Protocol = j.Protocol.action()
	case j.Domain != nil:
		c.Domains = append(c.Domains, Domain{j.Domain.Domain, j.Domain.Configuration, j.Domain.Removed})
	case j.CDC != nil:
		c.Changes++
	case j.CommitInfo != nil:
		c.HasInfo = true
		c.Info = decodeInfo(j.CommitInfo)
	}
	return nil
}

func present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

func (j *addJSON) action() (Add, error) {
	if j.Path == "" {
		return Add{}, errors.New("add without a path")
	}
	if present(j.DeletionVector) {
		return Add{}, &UnsupportedError{Feature: "deletionVectors", What: "file " + j.Path + " has a deletion vector"}
	}
	return Add{j.Path, j.PartitionValues, j.Size, j.ModificationTime, j.DataChange, j.Stats, j.Tags}, nil
}

func (j *protocolJSON) action() *Protocol {
	p := &Protocol{MinReader: j.MinReader, MinWriter: j.MinWriter}
	if j.ReaderFeatures != nil {
		p.ReaderFeatures = *j.ReaderFeatures
	}
	if j.WriterFeatures != nil {
		p.WriterFeatures = *j.WriterFeatures
	}
	return p
}

func (j *metaJSON) action() (*Metadata, error) {
	if j.Format.Provider != "" && j.Format.Provider != "parquet" {
		return nil, &UnsupportedError{What: fmt.Sprintf("data files of format %q", j.Format.Provider)}
	}
	s, err := schema.ParseJSON(j.SchemaString)
	if err != nil {
		return nil, fmt.Errorf("metaData: %w", err)
	}
	return &Metadata{j.ID, j.Name, j.Description, s, j.PartitionColumns, j.Configuration, j.CreatedTime}, nil
}

// decodeInfo reads what it can: provenance is free text of other engines.
func decodeInfo(raw []byte) Info {
	info := Info{ReadVersion: -1}
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(raw, &fields) != nil {
		return info
	}
	get := func(name string, to any) {
		raw, ok := fields[name]
		delete(fields, name)
		if ok && json.Unmarshal(raw, to) != nil {
			fields[name] = raw // not of the usual kind: kept as it is
		}
	}
	var params, metrics map[string]json.RawMessage
	get("timestamp", &info.Timestamp)
	get("operation", &info.Operation)
	get("operationParameters", &params)
	get("readVersion", &info.ReadVersion)
	get("isolationLevel", &info.Isolation)
	get("isBlindAppend", &info.IsBlindAppend)
	get("operationMetrics", &metrics)
	get("engineInfo", &info.Engine)
	get("txnId", &info.TxnID)
	info.Parameters, info.Metrics = texts(params), texts(metrics)
	if len(fields) > 0 {
		info.Extra = fields
	}
	return info
}

// texts turns values into text: strings as they are, others as their JSON.
func texts(in map[string]json.RawMessage) map[string]string {
	if in == nil {
		return nil
	}
	out := make(map[string]string, len(in))
	for k, raw := range in {
		var s string
		if json.Unmarshal(raw, &s) != nil {
			s = string(raw)
		}
		out[k] = s
	}
	return out
}
