package main

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

type bench struct {
	bin, nexmark, dir string
	tpch              string
	scale             float64
	runs              int
	small, large      int64
	epochsLarge       int
	only              string
	matched           bool // a workload's name contained only
	peer              string
	spill             int64
}

func main() {
	var b bench
	flag.StringVar(&b.bin, "bin", "bin/pipelines", "the binary to measure")
	flag.StringVar(&b.nexmark, "nexmark", "bin/nexmark", "the data generator")
	flag.StringVar(&b.tpch, "tpch", "bin/tpch", "the generator of tables like TPC-H's")
	flag.Float64Var(&b.scale, "scale", 1, "scale of these tables")
	flag.StringVar(&b.dir, "dir", "bench-data", "folder for data and projects")
	flag.IntVar(&b.runs, "runs", 3, "runs of each workload; the median counts")
	flag.Int64Var(&b.small, "small", 1_000_000, "events of the small size")
	flag.Int64Var(&b.large, "large", 4_000_000, "events of the large size")
	flag.IntVar(&b.epochsLarge, "epochs", 1000, "epochs of the larger run of small epochs")
	flag.StringVar(&b.peer, "peer", "", "a Python with duckdb: W1 is also run by it, in the same minutes")
	flag.Int64Var(&b.spill, "spill", 0, "rows of 80 bytes that are sorted and joined in a budget of 1 GiB; 125000000 are 10 GB")
	flag.StringVar(&b.only, "only", "", "only workloads whose name contains this")
	flag.Parse()
	if err := b.all(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (b *bench) all() error {
	var err error
	for _, p := range []*string{&b.bin, &b.nexmark, &b.tpch, &b.dir} {
		if *p, err = filepath.Abs(*p); err != nil {
			return err
		}
	}
	for _, f := range []func() error{b.json, b.formats, b.memory, b.start, b.epochs, b.idle, b.validate, b.queries, b.spillQueries, b.littleMemory, b.withState, b.nexmarkQueries} {
		if err := f(); err != nil {
			return err
		}
	}
	if !b.matched {
		return fmt.Errorf("no workload's name contains %q (the one of spilling needs -spill too)", b.only)
	}
	return nil
}

func slug(name string) string { return strings.NewReplacer(" ", "-", ">", "", ",", "").Replace(name) }

func (b *bench) wanted(name string) bool {
	found := strings.Contains(name, b.only)
	b.matched = b.matched || found
	return found
}

// data makes n events once.
func (b *bench) data(n int64) (string, error) {
	dir := filepath.Join(b.dir, fmt.Sprintf("json-%d", n))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	_, _, err := call(b.nexmark, ".", "-n", fmt.Sprint(n), "-files", fmt.Sprint(max(1, n/125_000)), "-out", dir)
	return dir, err
}

// run measures a workload over n events and checks its answer.
func (b *bench) run(w workload, n int64) (usage, error) {
	want, known := w.answers[n]
	if !known {
		return usage{}, fmt.Errorf("%s: the answer for %d events is not known, only for %v: see -small and -large", w.name, n, slices.Sorted(maps.Keys(w.answers)))
	}
	dir := filepath.Join(b.dir, "project", slug(w.name))
	if err := w.write(dir); err != nil {
		return usage{}, err
	}
	u, err := median(b.runs, func() (usage, error) {
		if err := b.fresh(w, dir); err != nil {
			return usage{}, err
		}
		u, _, err := call(b.bin, dir, "run")
		return u, err
	})
	if err != nil {
		return u, err
	}
	got, err := query(b.bin, dir, w.check)
	if err != nil {
		return u, err
	}
	if got != want {
		return u, fmt.Errorf("%s, %d events: wrong answer\n got %s\nwant %s", w.name, n, got, want)
	}
	fmt.Printf("%-36s %10d  %s  %6.2f M/CPU s\n", w.name, n, u, float64(n)/u.cpu.Seconds()/1e6)
	return u, nil
}

// sizes measures two sizes and prints the rate beyond the fixed cost; one size
// where both are the same.
func (b *bench) sizes(make func(data string) workload, prepare func(n int64) (string, error)) error {
	var us [2]usage
	var name string
	for i, n := range []int64{b.small, b.large} {
		if i == 1 && b.large == b.small {
			break
		}
		data, err := prepare(n)
		if err != nil {
			return err
		}
		w := make(data)
		name = w.name
		if us[i], err = b.run(w, n); err != nil {
			return err
		}
	}
	if b.large > b.small {
		rate := float64(b.large-b.small) / (us[1].cpu - us[0].cpu).Seconds() / 1e6
		fmt.Printf("%-36s %10s  steady %.2f M events per CPU second\n", name, "", rate)
	}
	return nil
}

func (b *bench) json() error {
	if !b.wanted("json") {
		return nil
	}
	if err := b.sizes(w1, b.data); err != nil {
		return err
	}
	bytes, err := disk(filepath.Join(b.dir, "project", slug(w1("").name), "state", "tables"))
	if err != nil {
		return err
	}
	bids := b.large / 50 * 46
	fmt.Printf("%-36s %10d  %.1f bytes a bid\n", "W1 on disk", b.large, float64(bytes)/float64(bids))
	if b.peer == "" {
		return nil
	}
	return b.duckdb()
}

// duckdb runs W1 by DuckDB: read_json to Parquet.
func (b *bench) duckdb() error {
	var us [2]usage
	for i, n := range []int64{b.small, b.large} {
		data, err := b.data(n)
		if err != nil {
			return err
		}
		us[i], err = median(b.runs, func() (usage, error) {
			u, out, err := call(b.peer, ".", filepath.Join("docs", "bench", "w1_duckdb.py"), data, filepath.Join(b.dir, "w1-duckdb.parquet"))
			if got := strings.TrimSpace(string(out)); err == nil && got != w1Answers[n] {
				err = fmt.Errorf("DuckDB, %d events: %s", n, got)
			}
			return u, err
		})
		if err != nil {
			return err
		}
		fmt.Printf("%-36s %10d  %s  %6.2f M/CPU s\n", "W1 by DuckDB -> Parquet", n, us[i], float64(n)/us[i].cpu.Seconds()/1e6)
	}
	fmt.Printf("%-36s %10s  steady %.2f M events per CPU second\n", "W1 by DuckDB -> Parquet", "", float64(b.large-b.small)/(us[1].cpu-us[0].cpu).Seconds()/1e6)
	return nil
}

// formats writes the bids as CSV and Parquet by the program itself, then
// measures reading them.
func (b *bench) formats() error {
	for _, f := range []struct{ format, options string }{{"csv", "    options: {header: \"true\"}\n"}, {"parquet", ""}} {
		if !b.wanted(f.format) {
			continue
		}
		err := b.sizes(func(data string) workload { return flat(f.format, data, f.options) }, func(n int64) (string, error) {
			return b.flatData(f.format, n)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// flatData makes the bids of n events as flat files.
func (b *bench) flatData(format string, n int64) (string, error) {
	src, err := b.data(n)
	if err != nil {
		return "", err
	}
	out := filepath.Join(b.dir, fmt.Sprintf("%s-%d", format, n))
	if _, err := os.Stat(out); err == nil {
		return out, nil
	}
	if format == "parquet" {
		return out, b.parquetData(src, out)
	}
	sql := fmt.Sprintf("SELECT event_id, bid.* FROM read_files('%s', format => 'json', schema => '%s') WHERE event_type = 2", src, eventSchema)
	if err := os.MkdirAll(out, 0o755); err != nil {
		return "", err
	}
	// Straight into the file: what this process holds counts as the peak of
	// the processes that it starts.
	file, err := os.Create(filepath.Join(out, "part-0."+format))
	if err != nil {
		return "", err
	}
	cmd := exec.Command(b.bin, "sql", "--no-project", "--output", format, "-c", sql)
	cmd.Stdout, cmd.Stderr = file, os.Stderr
	return out, errors.Join(cmd.Run(), file.Close())
}

// parquetData makes a table of the bids and keeps its data files.
func (b *bench) parquetData(src, out string) error {
	dir := filepath.Join(b.dir, "project", "bids")
	w := workload{files: map[string]string{"pipeline.yml": fmt.Sprintf(`name: bids
storage: ./state
sources:
  - name: events
    format: json
    path: %s
    schema: "%s"
streaming_tables:
  - name: bid
    sql: |
      SELECT event_id, bid.* FROM STREAM(events) WHERE event_type = 2
`, src, eventSchema)}}
	if err := errors.Join(fresh(dir), w.write(dir)); err != nil {
		return err
	}
	if _, _, err := call(b.bin, dir, "run"); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(dir, "state/tables/main/default/bid/*.parquet"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no data files of %s: %w", dir, err)
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, f := range files {
		if err := os.Rename(f, filepath.Join(out, filepath.Base(f))); err != nil {
			return err
		}
	}
	return fresh(dir)
}

func (b *bench) memory() error {
	if !b.wanted("columns") {
		return nil
	}
	const small, large = 5_000_000, 45_000_000
	us, err := b.run(columns(small), small)
	if err != nil {
		return err
	}
	ul, err := b.run(columns(large), large)
	if err != nil {
		return err
	}
	fmt.Printf("%-36s %10s  steady %.1f M rows per CPU second\n", "projection over columns in memory", "", float64(large-small)/(ul.cpu-us.cpu).Seconds()/1e6)
	return nil
}

// start measures a one-table project on a 1,000-row file, and then an epoch of
// 1,000 rows in a project that has run before.
func (b *bench) start() error {
	if !b.wanted("start") {
		return nil
	}
	data, err := b.data(1000)
	if err != nil {
		return err
	}
	w := w1(data)
	dir := filepath.Join(b.dir, "project", "start")
	if err := w.write(dir); err != nil {
		return err
	}
	u, err := median(max(b.runs, 15), func() (usage, error) {
		if err := fresh(dir); err != nil {
			return usage{}, err
		}
		u, _, err := call(b.bin, dir, "run")
		return u, err
	})
	if err != nil {
		return err
	}
	fmt.Printf("%-36s %10d  %.3f CPU s %.3f wall s %d MB\n", "start to end, 1,000 events", 1000, u.cpu.Seconds(), u.wall.Seconds(), u.rss/1024)
	return nil
}

func (b *bench) validate() error {
	if !b.wanted("validate") {
		return nil
	}
	for _, n := range []int{200, 2000} {
		w := chain(n)
		dir := filepath.Join(b.dir, "project", fmt.Sprintf("chain-%d", n))
		if err := w.write(dir); err != nil {
			return err
		}
		u, err := median(b.runs, func() (usage, error) {
			u, _, err := call(b.bin, dir, "validate")
			return u, err
		})
		if err != nil {
			return err
		}
		fmt.Printf("%-36s %10d  %s\n", w.name, n, u)
	}
	return nil
}
