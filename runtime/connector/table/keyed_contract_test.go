package table_test

import (
	"testing"
	"time"

	"pipelines/runtime/connector"
	"pipelines/runtime/connector/connectortest"
	"pipelines/runtime/connector/table"
	"pipelines/tables/column"
	"pipelines/tables/format/parquet"
)

// Rows of different keys are rows like others.
func TestKeyedContract(t *testing.T) {
	for _, partition := range [][]string{nil, {"k"}} {
		p := newPlace(t, partition...)
		connectortest.Sink(t, connectortest.SinkCase{
			Overwrites: true,
			Read:       func(*testing.T) []string { return p.rows() },
			Open: func(*testing.T) connector.Sink {
				return table.NewKeyed(table.KeyedOptions{
					SinkOptions: table.SinkOptions{
						Table: p.table(), Format: parquet.New(), Extension: ".parquet", Schema: p.def.Schema,
						PartitionColumns: p.def.PartitionColumns, Location: time.UTC, Pool: column.NewPool(),
					},
					Name: "t", Keys: []int{0},
				})
			},
		})
	}
}
