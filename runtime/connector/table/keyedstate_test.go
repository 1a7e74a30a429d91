package table

import (
	"bytes"
	"testing"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// entries is a connector.StateReader.
type entries map[string][]byte

func (e entries) Prefixes(prefixes [][]byte, fn func(i int, k, v []byte) error) error {
	for i, p := range prefixes {
		for k, v := range e {
			if bytes.HasPrefix([]byte(k), p) {
				if err := fn(i, []byte(k), v); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// TestKeyedStateStart: the truncate of a state that was read before is not one
// of the state that is read next.
func TestKeyedStateStart(t *testing.T) {
	fields := []schema.Field{{Name: "k", Type: schema.Of(schema.Int64)}, {Name: "v", Type: schema.Of(schema.Int64)}}
	k := NewKeyed(KeyedOptions{
		SinkOptions: SinkOptions{Schema: schema.Schema{Fields: fields}, Pool: column.NewPool()},
		Name:        "t", Keys: []int{0}, Changes: &ChangeOptions{Sequence: schema.Of(schema.Int64)},
	}).(*changeSink)
	v := column.New(schema.Of(schema.Int64))
	column.AppendValue(v, int64(7))
	if err := k.StartState(entries{string(entryCut): column.AppendExact(nil, v, 0)}); err != nil || k.state.cut == nil {
		t.Fatal(err)
	}
	if err := k.StartState(entries{}); err != nil || k.state.cut != nil {
		t.Error("the truncate is still there", err)
	}
}
