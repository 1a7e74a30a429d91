package main

import "testing"

func TestChecksums(t *testing.T) {
	f := func(n, size int64, sum uint32) {
		t.Helper()
		o := options{events: n, rate: 10000, seed: 42, files: 3, out: t.TempDir()}
		gotSize, gotSum, err := o.generate()
		if err != nil || gotSize != size || gotSum != sum {
			t.Errorf("%d events: %d bytes, %08x, %v; want %d, %08x", n, gotSize, gotSum, err, size, sum)
		}
	}
	f(1000, 317_689, 0x86c10d0f)
	f(100_000, 31_995_317, 0x66f6d690)
}
