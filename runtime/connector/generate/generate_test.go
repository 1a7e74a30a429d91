package generate_test

import (
	"context"
	"testing"
	"time"

	"pipelines/runtime/connector"
	"pipelines/runtime/connector/connectortest"
	"pipelines/runtime/connector/generate"
	"pipelines/tables/schema"
)

func TestContract(t *testing.T) {
	s := schema.Schema{Fields: []schema.Field{
		{Name: "id", Type: schema.Of(schema.Int64), Nullable: true},
		{Name: "user_id", Type: schema.Of(schema.Int64), Nullable: true},
		{Name: "name", Type: schema.Of(schema.String), Nullable: true},
		{Name: "ts", Type: schema.Of(schema.Timestamp), Nullable: true},
		{Name: "v", Type: schema.Of(schema.Float64), Nullable: true},
	}}
	rows := int64(95)
	open := func() *generate.Source {
		return generate.New(generate.Options{Schema: s, Rows: rows, RowsPerEpoch: 10, Keys: 7, Seed: 3, Step: 1000, Partitions: 3})
	}
	spec := connector.ScanSpec{Columns: s, Fields: []int{0, 1, 2, 3, 4}, Location: time.UTC}
	whole := func() (out []string) {
		src := open()
		splits, _, err := src.Whole(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, sp := range splits {
			part, err := connectortest.ReadSplit(src, sp, spec)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, part...)
		}
		return out
	}
	connectortest.Source(t, connectortest.SourceCase{
		Open: func(*testing.T) connector.Source { return open() },
		Spec: spec, Rows: whole(), Epochs: 10,
	})
}
