package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// spillProject is a table of rows of 80 bytes (two numbers and 64 characters
// that do not compress well) under a budget of 1 GiB.
func spillProject(rows int64) workload {
	return workload{name: "spill", files: map[string]string{"pipeline.yml": fmt.Sprintf(`name: spill
storage: ./state
memory: 1 GiB
sources:
  - name: rows
    format: generate
    schema: "id BIGINT"
    options: {rows: "%d"}
streaming_tables:
  - name: big
    sql: |
      SELECT id, xxhash64(id) AS k, sha2(CAST(id AS STRING), 256) AS pad FROM STREAM(rows)
`, rows)}}
}

// spillQueries sorts and joins more than memory holds, with checked answers: b.spill
// rows of 80 bytes, 125 million for 10 GB. The table is kept between runs.
func (b *bench) spillQueries() error {
	if b.spill == 0 || !b.wanted("spill") {
		return nil
	}
	n := b.spill
	w := spillProject(n)
	dir := filepath.Join(b.dir, "project", fmt.Sprintf("spill-%d", n))
	if _, err := os.Stat(filepath.Join(dir, "state", "made")); err != nil {
		if err := errors.Join(fresh(dir), w.write(dir)); err != nil {
			return err
		}
		u, _, err := call(b.bin, dir, "run")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "state", "made"), nil, 0o644); err != nil {
			return err
		}
		fmt.Printf("%-36s %10d  %s\n", "spill: the table is made", n, u)
	}
	check := sortCheck{}
	u, err := stream(&check, b.bin, dir, "sql", "--output", "csv", "-c", "SELECT k, id, pad FROM big ORDER BY k")
	if err != nil {
		return err
	}
	if check.rows != n || check.ids != n*(n-1)/2 || check.disorder > 0 || check.bytes != 64*n {
		return fmt.Errorf("spill, sort: wrong answer: %+v", check)
	}
	fmt.Printf("%-36s %10d  %s (the rows are written as CSV and checked)\n", "spill: sort", n, u)
	return b.spillJoin(dir)
}

// spillJoin joins all rows with a quarter of them, both sides wide.
func (b *bench) spillJoin(dir string) error {
	m := (b.spill + 3) / 4
	const sql = "SELECT count(*), sum(a.id), count_if(a.pad = b.pad) FROM big a JOIN big b ON a.k = b.k AND b.id % 4 = 0"
	u, out, err := call(b.bin, dir, "sql", "--output", "csv", "-c", sql)
	if err != nil {
		return err
	}
	want := fmt.Sprintf("%d,%d,%d", m, 2*m*(m-1), m)
	if lines := bytes.Split(bytes.TrimSpace(out), []byte("\n")); string(lines[len(lines)-1]) != want {
		return fmt.Errorf("spill, join: wrong answer\n got %s\nwant %s", out, want)
	}
	fmt.Printf("%-36s %10d  %s\n", "spill: join with a quarter", b.spill, u)
	return nil
}

// sortCheck reads lines of key,id,pad.
type sortCheck struct {
	rows, ids, bytes, disorder int64
	last                       int64
}

func (c *sortCheck) line(s []byte) error {
	key, rest, _ := bytes.Cut(s, []byte(","))
	id, pad, ok := bytes.Cut(rest, []byte(","))
	k, err := strconv.ParseInt(string(key), 10, 64)
	v, err2 := strconv.ParseInt(string(id), 10, 64)
	if !ok || err != nil || err2 != nil {
		return fmt.Errorf("no row: %q", s)
	}
	if c.rows > 0 && k < c.last {
		c.disorder++
	}
	c.rows, c.ids, c.bytes, c.last = c.rows+1, c.ids+v, c.bytes+int64(len(pad)), k
	return nil
}

// stream runs the binary and hands each line of its output but the header to
// the check.
func stream(c *sortCheck, bin, dir string, args ...string) (usage, error) {
	cmd := exec.Command(bin, args...)
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		return usage{}, err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return usage{}, err
	}
	lines := bufio.NewScanner(bufio.NewReaderSize(out, 1<<20))
	lines.Scan()
	for err == nil && lines.Scan() {
		err = c.line(lines.Bytes())
	}
	_, drain := io.Copy(io.Discard, out)
	if err = errors.Join(err, lines.Err(), drain, cmd.Wait()); err != nil {
		return usage{}, fmt.Errorf("%s %v: %w\n%s", bin, args, err, errs.Bytes())
	}
	ru := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return usage{cpu: time.Duration(ru.Utime.Nano() + ru.Stime.Nano()), wall: time.Since(start), rss: ru.Maxrss}, nil
}
