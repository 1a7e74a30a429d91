package main

import (
	"errors"
	"fmt"
	"path/filepath"
)

// littleMemory is a query that is run with all the memory it wants and with
// less than its state, or its partition, takes: the rows are compared.
type littleMemory struct {
	name, memory string
	tables       string
}

var littleMemories = []littleMemory{
	{
		name: "left join of streams", memory: "128 MiB", tables: `streaming_tables:
  - name: w
    sql: SELECT a.id, a.k, b.id AS bid, b.ts FROM STREAM(l) a LEFT JOIN STREAM(r) b ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 20 MINUTES
`,
	},
	{
		name: "sessions", memory: "64 MiB", tables: `streaming_tables:
  - name: w
    sql: SELECT session_window.start AS s, session_window.end AS e, k, count(*) AS n, sum(id) AS t FROM STREAM(l) GROUP BY session_window(ts, '10 minutes'), k
`,
	},
	{
		name: "count distinct by window", memory: "64 MiB", tables: `streaming_tables:
  - name: w
    sql: SELECT window.start AS s, k % 20 AS g, count(DISTINCT k) AS n, sum(id) AS t FROM STREAM(l) GROUP BY window(ts, '20 minutes'), k % 20
`,
	},
	{
		name: "window of one partition", memory: "128 MiB", tables: `streaming_tables:
  - name: big
    sql: SELECT id, k, v FROM STREAM(l)
materialized_views:
  - name: w
    sql: SELECT id, sum(v) OVER (ORDER BY k, id ROWS BETWEEN 100 PRECEDING AND CURRENT ROW) AS s, lag(v, 3) OVER (ORDER BY k, id) AS p, max(v) OVER (ORDER BY k) AS m, count(*) OVER () AS n FROM big
`,
	},
}

func (m littleMemory) workload(memory string) workload {
	source := func(name string, seed int) string {
		return fmt.Sprintf(`  - name: %s
    format: generate
    schema: "id BIGINT, k BIGINT, v BIGINT, ts TIMESTAMP"
    options: {rows: "2000000", rowsPerEpoch: "100000", keys: "1000000", seed: "%d"}
    watermark: {column: ts, delay: 10 seconds}
`, name, seed)
	}
	return workload{name: m.name, files: map[string]string{
		"pipeline.yml": "name: memory\nstorage: ./state\nmemory: " + memory + "\nsources:\n" + source("l", 1) + source("r", 2) + m.tables,
	}}
}

// littleMemory runs two million rows a source both ways.
func (b *bench) littleMemory() error {
	for _, m := range littleMemories {
		if !b.wanted("little memory " + m.name) {
			continue
		}
		var rows [2]string
		for i, memory := range []string{"8 GiB", m.memory} {
			dir := filepath.Join(b.dir, "project", "memory")
			if err := errors.Join(fresh(dir), m.workload(memory).write(dir)); err != nil {
				return err
			}
			u, _, err := call(b.bin, dir, "run")
			if err != nil {
				return err
			}
			const check = "SELECT count(*), sum(xxhash64(*) % 1000003), sum(shiftright(xxhash64(*), 20) % 1000003) FROM w"
			if rows[i], err = query(b.bin, dir, check); err != nil {
				return err
			}
			fmt.Printf("%-36s memory %8s  %s\n", m.name, memory, u)
		}
		if rows[0] != rows[1] {
			return fmt.Errorf("%s: in little memory the rows are others: %s, not %s", m.name, rows[1], rows[0])
		}
	}
	return nil
}
