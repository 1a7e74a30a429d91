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

func main() {
	scale := flag.Float64("scale", 1, "1 is six million rows of lineitem, 1.1 GB")
	seed := flag.Uint64("seed", 42, "seed")
	out := flag.String("out", "", "output folder, a folder a table; empty: only the checksums")
	flag.Parse()
	for _, t := range newGenerator(*seed, *scale).tables() {
		rows, sum, err := t.write(*out)
		if err != nil {
			fmt.Fprintln(os.Stderr, "tpch:", err)
			os.Exit(1)
		}
		fmt.Printf("{\"table\":%q,\"bytes\":%d,\"crc32c\":\"%08x\"}\n", t.name, rows, sum)
	}
}

// write makes the table's file and gives its size and checksum.
func (t table) write(dir string) (size int64, sum uint32, err error) {
	var file *os.File
	var w *bufio.Writer
	if dir != "" {
		if err := os.MkdirAll(filepath.Join(dir, t.name), 0o755); err != nil {
			return 0, 0, err
		}
		if file, err = os.Create(filepath.Join(dir, t.name, "part-0.csv")); err != nil {
			return 0, 0, err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		w = bufio.NewWriterSize(file, 1<<20)
	}
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	buf := append([]byte(t.header), '\n')
	for n := int64(0); n < t.steps || len(buf) > 0; n++ {
		if n < t.steps {
			buf = t.rows(buf, n)
		}
		if len(buf) < 1<<18 && n < t.steps {
			continue
		}
		size, sum = size+int64(len(buf)), crc32.Update(sum, castagnoli, buf)
		if w != nil {
			if _, err := w.Write(buf); err != nil {
				return 0, 0, err
			}
		}
		buf = buf[:0]
	}
	if w != nil {
		err = w.Flush()
	}
	return size, sum, err
}
