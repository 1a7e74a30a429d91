package main

import "testing"

func TestChecksums(t *testing.T) {
	want := map[string]uint32{
		"region": 0xe77f0508, "nation": 0xb03213b5, "supplier": 0x8305f62d, "customer": 0x67c9d942,
		"part": 0x7073f1a6, "partsupp": 0xd212fe8c, "orders": 0xbe027c1b, "lineitem": 0xe9ddcf37,
	}
	for _, tb := range newGenerator(42, 0.01).tables() {
		if _, sum, err := tb.write(""); err != nil || sum != want[tb.name] {
			t.Errorf("%s: %08x, %v; want %08x", tb.name, sum, err, want[tb.name])
		}
	}
}
