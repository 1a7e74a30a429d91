package parquet

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func TestPageBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var p pageBlocks
	for range 5 { // row groups: blocks are used again
		var want []byte
		for range rng.IntN(40) {
			b := make([]byte, rng.IntN(200_000))
			for i := range b {
				b[i] = byte(rng.Uint32())
			}
			p.add(b)
			want = append(want, b...)
		}
		if got := bytes.Join(p.used(), nil); !bytes.Equal(got, want) || p.size != len(want) || p.held() < p.size {
			t.Fatalf("%d bytes, size %d, held %d, want %d", len(got), p.size, p.held(), len(want))
		}
		p.reset()
	}
}
