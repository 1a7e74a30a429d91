package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
)

// options are the flags.
type options struct {
	events, rate, dup, maxDist int64
	seed                       uint64
	files                      int
	out                        string
}

func main() {
	var o options
	flag.Int64Var(&o.events, "n", 1000, "events")
	flag.Uint64Var(&o.seed, "seed", 42, "seed")
	flag.Int64Var(&o.rate, "rate", 10000, "events per second of event time")
	flag.StringVar(&o.out, "out", "", "output folder; empty: only the checksum")
	flag.IntVar(&o.files, "files", 1, "number of files, each a contiguous range of events")
	flag.Int64Var(&o.dup, "dup", 0, "if >0: after every dup-th event an earlier event is repeated")
	flag.Int64Var(&o.maxDist, "maxdist", 20000, "largest distance of a duplicate, in events")
	flag.Parse()
	size, sum, err := o.generate()
	if err != nil {
		fmt.Fprintln(os.Stderr, "nexmark:", err)
		os.Exit(1)
	}
	fmt.Printf("{\"events\":%d,\"bytes\":%d,\"crc32c\":\"%08x\"}\n", o.events, size, sum)
}

// generate writes all files and returns the size and checksum over them.
func (o *options) generate() (size int64, sum uint32, err error) {
	g := NewGen(o.seed, o.rate)
	w := &writer{table: crc32.MakeTable(crc32.Castagnoli)}
	dups := stream(o.seed, 1<<61)
	for f := range int64(o.files) {
		if err := w.open(o.out, f); err != nil {
			return 0, 0, err
		}
		for e := o.events * f / int64(o.files); e < o.events*(f+1)/int64(o.files); e++ {
			w.buf = append(g.Append(w.buf, e), '\n')
			if o.dup > 0 && e%o.dup == o.dup-1 {
				if d := 1 + dups.u(o.maxDist); d <= e {
					w.buf = append(g.Append(w.buf, e-d), '\n')
				}
			}
			if err := w.flush(1 << 19); err != nil {
				return 0, 0, err
			}
		}
		if err := w.close(); err != nil {
			return 0, 0, err
		}
	}
	return w.size, w.sum, nil
}

// writer writes one file after the other and sums their bytes.
type writer struct {
	table *crc32.Table
	buf   []byte
	size  int64
	sum   uint32
	file  *os.File
	out   *bufio.Writer
}

func (w *writer) open(dir string, n int64) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, fmt.Sprintf("part-%05d.json", n)))
	if err != nil {
		return err
	}
	w.file, w.out = f, bufio.NewWriterSize(f, 1<<20)
	return nil
}

// flush writes the buffer if it holds more than limit bytes.
func (w *writer) flush(limit int) error {
	if len(w.buf) <= limit {
		return nil
	}
	w.sum = crc32.Update(w.sum, w.table, w.buf)
	w.size += int64(len(w.buf))
	buf := w.buf
	w.buf = w.buf[:0]
	if w.out == nil {
		return nil
	}
	_, err := w.out.Write(buf)
	return err
}

func (w *writer) close() error {
	if err := w.flush(0); err != nil || w.file == nil {
		return err
	}
	err := errors.Join(w.out.Flush(), w.file.Close())
	w.file, w.out = nil, nil
	return err
}
