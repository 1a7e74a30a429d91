package operator

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// TestTableGrows makes and removes many groups, so that segments of slots split
// and are swept, and those of keys fill, empty and are packed, against a map.
func TestTableGrows(t *testing.T) {
	for _, typ := range []schema.Kind{schema.Int64, schema.String} {
		checkGrowth(t, schema.Of(typ))
	}
}

//tidy:allow-long the table and the map side by side
func checkGrowth(t *testing.T, typ schema.Type) {
	rng := rand.New(rand.NewPCG(3, 4))
	table := newGroupTable([]schema.Type{typ})
	keyOf := func(n int) string {
		if typ.Kind == schema.String {
			return fmt.Sprintf("%0*d", 1+n%40, n)
		}
		return fmt.Sprint(n)
	}
	groups, owner := map[string]int32{}, map[int32]string{}
	row := func(v *column.Vector, n int) {
		if typ.Kind == schema.String {
			v.AppendStr([]byte(keyOf(n)))
			return
		}
		column.AppendValue(v, int64(n))
	}
	const batch = 2000
	out := make([]int32, batch)
	for round := range 240 {
		v, names := column.New(typ), make([]string, batch)
		for i := range names {
			n := rng.IntN(200_000)
			names[i] = keyOf(n)
			row(v, n)
		}
		table.assign([]*column.Vector{v}, identity(batch), out)
		for i, g := range out {
			if want, ok := groups[names[i]]; ok && want != g {
				t.Fatalf("round %d: %q is group %d, want %d", round, names[i], g, want)
			} else if other, taken := owner[g]; taken && other != names[i] {
				t.Fatalf("round %d: group %d of %q is given to %q", round, g, other, names[i])
			}
			groups[names[i]], owner[g] = g, names[i]
		}
		doomed := 0
		switch {
		case round == 200:
			doomed = len(groups) * 2 / 3
		case round > 200:
			doomed = 2500
		case round%3 == 0:
			doomed = 300
		}
		var gone []int32
		for name, g := range groups {
			if len(gone) == doomed {
				break
			}
			gone = append(gone, g)
			delete(groups, name)
			delete(owner, g)
		}
		if doomed > 2500 {
			if len(table.slots.segments()) < 4 {
				t.Fatalf("%d segments of slots for %d groups", len(table.slots.segments()), len(groups))
			}
			table.removeAll(gone)
			continue
		}
		for _, g := range gone {
			table.remove(g)
		}
	}
	if table.live() != len(groups) {
		t.Fatalf("%d groups, want %d", table.live(), len(groups))
	}
	v, want := column.New(typ), []int32(nil)
	for n := range 200_000 {
		row(v, n)
		g, ok := groups[keyOf(n)]
		if !ok {
			g = -1
		}
		want = append(want, g)
	}
	found := make([]int32, len(want))
	table.find(&keyBatch{}, []*column.Vector{v}, identity(len(want)), found)
	for n, g := range found {
		if g != want[n] {
			t.Fatalf("%q is group %d, want %d", keyOf(n), g, want[n])
		}
	}
	var all []int32
	for g := range owner {
		all = append(all, g)
	}
	keys := column.New(typ)
	table.appendKeys(all, []*column.Vector{keys})
	for i, g := range all {
		var got string
		if typ.Kind == schema.String {
			got = string(keys.Str(i))
		} else {
			got = fmt.Sprint(keys.I64[i])
		}
		if got != owner[g] {
			t.Fatalf("group %d has key %q, want %q", g, got, owner[g])
		}
	}
	held := 0
	for _, s := range table.text {
		held += len(s.bytes)
	}
	if held != table.held || table.slots.used-table.slots.tombs != len(groups) {
		t.Errorf("%d bytes of keys, %d counted; %d slots, %d tombstones, %d groups", held, table.held, table.slots.used, table.slots.tombs, len(groups))
	}
	if n := table.slots.size(); n > 8*slotsFull {
		t.Errorf("%d slots", n)
	}
	table.removeAll(all)
	if table.live() != 0 || table.held > textBytes || table.slots.tombs != 0 && table.slots.tombs != table.slots.used {
		t.Errorf("all is gone, but %d bytes and %d slots are left", table.held, table.slots.used)
	}
	table.reset()
	table.assign([]*column.Vector{v}, identity(len(want)), found)
	for n, g := range found {
		if int(g) != n {
			t.Fatalf("after a reset %q is group %d, want %d", keyOf(n), g, n)
		}
	}
}
