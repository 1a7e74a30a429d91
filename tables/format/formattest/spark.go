package formattest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	codec "pipelines/tables/codec/json"
	"pipelines/tables/column"
	"pipelines/tables/format"
	"pipelines/tables/schema"
)

// sparkCase is a line of spark.jsonl, which spark.py fills with what a real
// Spark reads.
type sparkCase struct {
	Name    string            `json:"name"`
	Options map[string]string `json:"options"`
	Schema  string            `json:"schema"` // empty: inferred
	Data    string            `json:"data"`
	Columns json.RawMessage   `json:"columns"`
	Rows    []string          `json:"rows"`
	Error   string            `json:"error"`
	// Ours stands where we differ from Spark on purpose, with the reason.
	Ours *struct {
		Why   string   `json:"why"`
		DDL   string   `json:"ddl"` // of the inferred columns, where they differ
		Rows  []string `json:"rows"`
		Error string   `json:"error"`
	} `json:"ours"`
}

// result is what was read.
type result struct {
	ddl  string // of the columns found
	rows []string
	err  string
}

// equal compares errors only by there being one: Spark's job fails with the
// condition of the task that failed, or without any.
func (r result) equal(o result) bool {
	return r.ddl == o.ddl && (r.err == "") == (o.err == "") && slices.Equal(r.rows, o.rows)
}

func (r result) String() string {
	return "columns " + r.ddl + "\n\t" + strings.Join(r.rows, "\n\t") + "\n\terror " + r.err
}

// Spark compares what f reads from the cases of a file with what Spark does.
func Spark(t *testing.T, f format.Format, path string) {
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() }) // only read
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	n := 0
	for ; lines.Scan(); n++ {
		var c sparkCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		t.Run(c.Name, func(t *testing.T) { c.run(t, f) })
	}
	if err := lines.Err(); err != nil || n < 60 {
		t.Fatal(n, err)
	}
}

func (c *sparkCase) run(t *testing.T, f format.Format) {
	var declared schema.Schema
	if c.Columns != nil {
		var err error
		if declared, err = schema.ParseJSON(string(c.Columns)); err != nil {
			t.Fatal(err)
		}
	}
	got := c.read(f, declared)
	spark := result{ddl: declared.DDL(), rows: c.Rows, err: c.Error}
	if c.Ours == nil {
		if !got.equal(spark) {
			t.Errorf("%q %v\ngot %s\nSpark %s", c.Data, c.Options, got, spark)
		}
		return
	}
	ours := result{ddl: spark.ddl, rows: c.Ours.Rows, err: c.Ours.Error}
	if c.Ours.DDL != "" || c.Schema == "" && c.Ours.Error != "" {
		ours.ddl = c.Ours.DDL
	}
	if !got.equal(ours) || got.equal(spark) {
		t.Errorf("%q %v (%s)\ngot %s\nwant %s\nSpark %s", c.Data, c.Options, c.Ours.Why, got, ours, spark)
	}
}

// read infers where the case does, and prints the rows as to_json does.
func (c *sparkCase) read(f format.Format, s schema.Schema) result {
	spec := format.ReadSpec{Options: map[string]string{}, Location: time.UTC}
	for k, v := range c.Options {
		spec.Options[strings.ToLower(k)] = v
	}
	name := "f." + f.Name()
	failed := func(err error) result {
		var e *format.RecordError
		if errors.As(err, &e) {
			return result{ddl: s.DDL(), err: e.Class}
		}
		return result{ddl: s.DDL(), err: err.Error()}
	}
	if c.Schema == "" {
		var err error
		if s, err = f.Infer(context.Background(), []format.Input{Input(name, []byte(c.Data))}, spec); err != nil {
			return failed(err)
		}
	}
	o := codec.DefaultOptions()
	o.KeepNullFields = true
	o.TimestampFormat, o.TimestampNTZFormat = "yyyy-MM-dd HH:mm:ss.SSSSSS", "yyyy-MM-dd HH:mm:ss.SSSSSS"
	enc, err := codec.NewEncoder(s.Type(), o)
	if err != nil {
		return failed(err)
	}
	spec.Declared, spec.Columns = s, s
	out := result{ddl: s.DDL()}
	err = scan(f, Input(name, []byte(c.Data)), spec, func(b *column.Batch, r int) {
		out.rows = append(out.rows, string(enc.AppendRow(nil, b.Cols, r)))
	})
	if err != nil {
		return failed(err)
	}
	return out
}
