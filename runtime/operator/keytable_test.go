package operator

import (
	"testing"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// TestKeysWithNulls groups rows by keys of every type, alone and in pairs, where
// null rows have values of any kind under them, against keys row by row.
func TestKeysWithNulls(t *testing.T) {
	types := append(blockTypes(), schema.Type{Kind: schema.Decimal, Precision: 9, Scale: 2})
	for i, a := range types {
		checkKeys(t, []schema.Type{a})
		checkKeys(t, []schema.Type{a, types[(i+1)%len(types)]})
		checkKeys(t, []schema.Type{a, schema.Of(schema.Int64)})
	}
}

func checkKeys(t *testing.T, types []schema.Type) {
	t.Helper()
	const n, batches = 60, 3
	table := newGroupTable(types)
	groups := map[string]int32{}
	var texts []string // by group
	for batch := range batches {
		keys := make([]*column.Vector, len(types))
		for c, typ := range types {
			keys[c] = column.New(typ)
			fillBlock(keys[c], n/2, batch+c)
			fillBlock(keys[c], n/2, batch+c)
			for i := (batch + c) % 3; i < n; i += 3 {
				keys[c].SetNull(i)
			}
		}
		out := make([]int32, n)
		table.assign(keys, identity(n), out)
		for i, g := range out {
			key := string(asKey.row(nil, keys, i))
			want, ok := groups[key]
			if !ok {
				want = int32(len(texts))
				groups[key], texts = want, append(texts, key)
			}
			if g != want {
				t.Fatalf("%v: batch %d row %d: group %d, want %d", types, batch, i, g, want)
			}
		}
	}
	out := make([]*column.Vector, len(types))
	for c, typ := range types {
		out[c] = column.New(typ)
	}
	table.appendKeys(identity(len(texts)), out)
	for g, want := range texts {
		if got := string(asKey.row(nil, out, g)); got != want {
			t.Fatalf("%v: key of group %d: % x, want % x", types, g, got, want)
		}
		stored := table.storedKey(nil, int32(g))
		if at, ok := table.restoreKey(stored); !ok || int(at) != g {
			t.Fatalf("%v: stored key of group %d is %d, %v", types, g, at, ok)
		}
	}
}
