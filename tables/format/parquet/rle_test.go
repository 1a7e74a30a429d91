package parquet

import (
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/rle"
	"pgregory.net/rapid"
)

// TestHybrid compares the run-length codec with parquet-go's.
func TestHybrid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := uint(rapid.IntRange(1, 7).Draw(t, "width"))
		var vals []uint8
		for range rapid.IntRange(0, 6).Draw(t, "runs") {
			v := rapid.Uint8Range(0, 1<<width-1).Draw(t, "v")
			vals = append(vals, slices.Repeat([]uint8{v}, rapid.IntRange(1, 40).Draw(t, "n"))...)
		}
		enc := appendHybrid(nil, vals, width)
		var r hybridReader
		r.reset(enc, width)
		got := make([]uint8, len(vals))
		if err := fill(&r, got); err != nil || !slices.Equal(got, vals) {
			t.Fatalf("%v: got %v, want %v", err, got, vals)
		}
		e := rle.Encoding{BitWidth: int(width)}
		ref, err := e.DecodeLevels(nil, enc)
		if err != nil || !slices.Equal(ref[:min(len(ref), len(vals))], vals) {
			t.Fatalf("parquet-go: %v: got %v, want %v, bytes %x", err, ref, vals, enc)
		}
		if enc, err = e.EncodeLevels(nil, vals); err != nil {
			t.Fatal(err)
		}
		r.reset(enc, width)
		if err := fill(&r, got); err != nil || !slices.Equal(got, vals) {
			t.Fatalf("parquet-go's bytes: %v: got %v, want %v", err, got, vals)
		}
	})
}
