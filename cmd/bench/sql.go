package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// tpchTables are the tables of cmd/tpch with the types of their columns.
var tpchTables = []struct{ name, schema string }{
	{"region", "r_regionkey INT, r_name STRING, r_comment STRING"},
	{"nation", "n_nationkey INT, n_name STRING, n_regionkey INT, n_comment STRING"},
	{"supplier", "s_suppkey INT, s_name STRING, s_address STRING, s_nationkey INT, s_phone STRING, s_acctbal DECIMAL(12,2), s_comment STRING"},
	{"customer", "c_custkey INT, c_name STRING, c_address STRING, c_nationkey INT, c_phone STRING, c_acctbal DECIMAL(12,2), c_mktsegment STRING, c_comment STRING"},
	{"part", "p_partkey INT, p_name STRING, p_mfgr STRING, p_brand STRING, p_type STRING, p_size INT, p_container STRING, p_retailprice DECIMAL(12,2), p_comment STRING"},
	{"partsupp", "ps_partkey INT, ps_suppkey INT, ps_availqty INT, ps_supplycost DECIMAL(12,2), ps_comment STRING"},
	{"orders", "o_orderkey INT, o_custkey INT, o_orderstatus STRING, o_totalprice DECIMAL(12,2), o_orderdate DATE, o_orderpriority STRING, o_clerk STRING, o_shippriority INT, o_comment STRING"},
	{"lineitem", "l_orderkey INT, l_partkey INT, l_suppkey INT, l_linenumber INT, l_quantity DECIMAL(12,2), l_extendedprice DECIMAL(12,2), l_discount DECIMAL(12,2), l_tax DECIMAL(12,2), " +
		"l_returnflag STRING, l_linestatus STRING, l_shipdate DATE, l_commitdate DATE, l_receiptdate DATE, l_shipinstruct STRING, l_shipmode STRING, l_comment STRING"},
}

// sqlFiles are the queries, each behind a comment with its name, and the
// checksums of their rows, which DuckDB has confirmed.
const (
	sqlQueries = "docs/bench/queries.sql"
	sqlAnswers = "docs/bench/answers.txt"
)

// queries measures SQL over the TPC-H-like tables and the Nexmark bids and
// auctions as Parquet, beside DuckDB where a peer is given.
func (b *bench) queries() error {
	text, err := os.ReadFile(sqlQueries)
	if err != nil {
		return err
	}
	var names, wanted []string
	for part := range strings.SplitSeq(string(text), "-- ") {
		name, sql, ok := strings.Cut(strings.TrimSpace(part), "\n")
		if ok && b.wanted("sql "+name) {
			names, wanted = append(names, name), append(wanted, sql)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	data, err := b.sqlTables()
	if err != nil {
		return err
	}
	answers, err := os.ReadFile(sqlAnswers)
	if err != nil {
		return err
	}
	views, err := os.ReadDir(data)
	if err != nil {
		return err
	}
	setup := ""
	for _, v := range views {
		setup += fmt.Sprintf("CREATE TEMPORARY VIEW %s USING parquet OPTIONS (path '%s');\n", v.Name(), filepath.Join(data, v.Name()))
	}
	for i, sql := range wanted {
		if err := b.sqlQuery(names[i], setup, sql, string(answers)); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) sqlQuery(name, setup, sql, answers string) error {
	file := filepath.Join(b.dir, "query.sql")
	if err := os.WriteFile(file, []byte(setup+sql+";\n"), 0o644); err != nil {
		return err
	}
	var rows []byte
	ours, err := median(b.runs, func() (u usage, err error) {
		u, rows, err = call(b.bin, b.dir, "sql", "--no-project", "--output", "csv", "-f", file)
		return u, err
	})
	if err != nil {
		return err
	}
	sum := fmt.Sprintf("%s: %08x\n", name, crc32.ChecksumIEEE(rows))
	if b.peer == "" {
		if !strings.Contains(answers, sum) {
			return fmt.Errorf("%s: wrong answer, or another size than that of %s:\n%s%.500s", name, sqlAnswers, sum, rows)
		}
		fmt.Printf("| %s | %.2f | | | %d MB |\n", name, ours.cpu.Seconds(), ours.rss/1024)
		return nil
	}
	var want []byte
	theirs, err := median(b.runs, func() (u usage, err error) {
		u, want, err = call(b.peer, ".", filepath.Join("docs", "bench", "sql_duckdb.py"), b.sqlData(), sql)
		return u, err
	})
	if err != nil {
		return err
	}
	if err := sameRows(rows, want); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	known := ""
	if !strings.Contains(answers, sum) {
		known = " new answer: " + strings.TrimSpace(sum)
	}
	fmt.Printf("| %s | %.2f | %.2f | %.1f | %d MB |%s\n", name, ours.cpu.Seconds(), theirs.cpu.Seconds(), ours.cpu.Seconds()/theirs.cpu.Seconds(), ours.rss/1024, known)
	return nil
}

// sameRows compares our CSV (with a header) with the peer's, cell by cell;
// numbers may differ in the tenth digit, decimals as means in the fifth.
func sameRows(ours, theirs []byte) error {
	a, err := csv.NewReader(strings.NewReader(string(ours))).ReadAll()
	if err != nil {
		return err
	}
	c, err := csv.NewReader(strings.NewReader(string(theirs))).ReadAll()
	if err != nil {
		return err
	}
	if len(a) != len(c)+1 {
		return fmt.Errorf("%d rows, the peer has %d", len(a)-1, len(c))
	}
	for i, want := range c {
		for k, w := range want {
			g := a[i+1][k]
			x, e1 := strconv.ParseFloat(g, 64)
			y, e2 := strconv.ParseFloat(w, 64)
			if g != w && (e1 != nil || e2 != nil || math.Abs(x-y) > 1e-5+1e-10*math.Abs(y)) {
				return fmt.Errorf("row %d, column %d: %s, the peer has %s", i, k, g, w)
			}
		}
	}
	return nil
}

func (b *bench) sqlData() string {
	return filepath.Join(b.dir, fmt.Sprintf("sql-%g-%d", b.scale, b.large))
}

// sqlTables makes the Parquet files once: a folder a table.
func (b *bench) sqlTables() (string, error) {
	out := b.sqlData()
	if _, err := os.Stat(out); err == nil {
		return out, nil
	}
	raw := filepath.Join(b.dir, "tpch-csv")
	if _, _, err := call(b.tpch, ".", "-scale", fmt.Sprint(b.scale), "-out", raw); err != nil {
		return "", err
	}
	events, err := b.data(b.large)
	if err != nil {
		return "", err
	}
	doc, tables := "name: tables\nstorage: ./state\nsources:\n", "streaming_tables:\n"
	for _, t := range tpchTables {
		doc += fmt.Sprintf("  - {name: raw_%s, format: csv, path: %s, options: {header: \"true\"}, schema: \"%s\"}\n", t.name, filepath.Join(raw, t.name), t.schema)
		tables += fmt.Sprintf("  - {name: %s, sql: \"SELECT * FROM STREAM(raw_%s)\"}\n", t.name, t.name)
	}
	doc += fmt.Sprintf("  - {name: events, format: json, path: %s, schema: \"%s\"}\n", events, yamlText(eventSchema))
	tables += "  - {name: bid, sql: \"SELECT event_id, bid.* FROM STREAM(events) WHERE event_type = 2\"}\n" +
		"  - {name: auction, sql: \"SELECT event_id, auction.* FROM STREAM(events) WHERE event_type = 1\"}\n"
	dir := filepath.Join(b.dir, "project", "tables")
	w := workload{files: map[string]string{"pipeline.yml": doc + tables}}
	if err := errors.Join(fresh(dir), w.write(dir)); err != nil {
		return "", err
	}
	if _, _, err := call(b.bin, dir, "run"); err != nil {
		return "", err
	}
	if err := keepParquet(filepath.Join(dir, "state/tables/main/default"), out); err != nil {
		return "", err
	}
	return out, errors.Join(fresh(dir), os.RemoveAll(raw))
}

// keepParquet moves the data files of the tables in dir to out.
func keepParquet(dir, out string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*/*.parquet"))
	if err != nil {
		return err
	}
	for _, f := range files {
		table := filepath.Join(out+".new", filepath.Base(filepath.Dir(f)))
		if err := os.MkdirAll(table, 0o755); err != nil {
			return err
		}
		if err := os.Rename(f, filepath.Join(table, filepath.Base(f))); err != nil {
			return err
		}
	}
	return os.Rename(out+".new", out)
}
