package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const eventSchema = `event_id BIGINT, event_type INT, ` +
	`person STRUCT<id: BIGINT, name: STRING, emailAddress: STRING, creditCard: STRING, city: STRING, state: STRING, dateTime: TIMESTAMP, extra: STRING>, ` +
	`auction STRUCT<id: BIGINT, itemName: STRING, description: STRING, initialBid: BIGINT, reserve: BIGINT, dateTime: TIMESTAMP, expires: TIMESTAMP, seller: BIGINT, category: BIGINT, extra: STRING>, ` +
	`bid STRUCT<auction: BIGINT, bidder: BIGINT, price: BIGINT, channel: STRING, url: STRING, dateTime: TIMESTAMP, extra: STRING>`

// w1Columns is the select list of W1 over the bid's columns.
const w1Columns = `event_id, auction, bidder, price, CAST(0.908 * price AS DECIMAL(23,3)) AS price_eur, channel, url, ` +
	`dateTime AS date_time, extra, CAST(dateTime AS DATE) AS dt, hour(dateTime) AS hr, price >= 1000000 AS big`

const w1Check = `SELECT count(*), sum(event_id), sum(price), sum(price_eur), sum(hr), count_if(big), sum(length(extra)), sum(length(url)), sum(unix_millis(date_time)) FROM w1`

var w1Answers = map[int64]string{
	1_000_000: "920000 460001380000 6685385073578 6070329646808.824 0 307205 62095865 58270770 1625847597999700000",
	4_000_000: "3680000 7360005520000 26627575339569 24177838408328.652 0 1226500 248379885 233047915 6503390943998800000",
}

// workload is one project that is measured.
type workload struct {
	name  string
	files map[string]string
	// check is a query and the answer for each number of events.
	check   string
	answers map[int64]string
	// aside keeps the states of earlier runs until the end.
	aside bool
}

func (w workload) write(dir string) error {
	for name, text := range w.files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func yamlText(s string) string { return strings.ReplaceAll(s, "\n", " ") }

// w1 reads JSON files into a table.
func w1(data string) workload {
	return workload{
		name: "W1 JSON files -> Delta", check: w1Check, answers: w1Answers,
		files: map[string]string{"pipeline.yml": fmt.Sprintf(`name: w1
storage: ./state
sources:
  - name: events
    format: json
    path: %s
    schema: "%s"
views:
  - name: bid
    sql: |
      SELECT event_id, bid.* FROM STREAM(events) WHERE event_type = 2
streaming_tables:
  - name: w1
    sql: |
      SELECT %s FROM STREAM(bid)
`, data, yamlText(eventSchema), w1Columns)},
	}
}

// flat is W1 over files that hold the bids as flat columns.
func flat(format, data, options string) workload {
	return workload{
		name: "W1 " + format + " files -> Delta", check: w1Check, answers: w1Answers,
		files: map[string]string{"pipeline.yml": fmt.Sprintf(`name: flat
storage: ./state
sources:
  - name: bid
    format: %s
    path: %s
    schema: "event_id BIGINT, auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, dateTime TIMESTAMP, extra STRING"
%sstreaming_tables:
  - name: w1
    sql: |
      SELECT %s FROM STREAM(bid)
`, format, data, options, w1Columns)},
	}
}

// columns is a stateless projection over generated columns.
func columns(rows int64) workload {
	return workload{
		name: "projection over columns in memory", check: "SELECT 1", answers: map[int64]string{rows: "1"},
		files: map[string]string{"pipeline.yml": fmt.Sprintf(`name: columns
storage: ./state
sources:
  - name: rows
    format: generate
    schema: "id BIGINT, value BIGINT, n BIGINT"
    options: {rows: "%d"}
sinks:
  - {name: out, format: noop}
flows:
  - name: f
    target: out
    sql: |
      SELECT id, value + n AS a, value * 3 AS b, n > 100 AS c FROM STREAM(rows)
`, rows)},
	}
}

// chain is a project of n datasets, for validate.
func chain(n int) workload {
	var b strings.Builder
	b.WriteString("name: chain\nstorage: ./state\nsources:\n  - name: s\n    format: json\n    path: data\n    schema: \"id BIGINT, k STRING, amount DECIMAL(12,2), ts TIMESTAMP\"\nstreaming_tables:\n")
	for i := range n / 2 {
		fmt.Fprintf(&b, "  - name: t%d\n    sql: |\n      SELECT id, k, amount * 2 AS amount, ts, date(ts) AS day\n      FROM STREAM(s)\n      WHERE id %% %d = 0\n", i, i+2)
	}
	b.WriteString("materialized_views:\n")
	for i := range n / 2 {
		fmt.Fprintf(&b, "  - name: v%d\n    sql: |\n      SELECT a.day, a.k, sum(a.amount) AS total, count(*) AS n\n      FROM t%d a JOIN t%d b ON a.id = b.id\n      GROUP BY a.day, a.k\n", i, i, (i+1)%(n/2))
	}
	return workload{name: fmt.Sprintf("validate of %d datasets", n), files: map[string]string{"pipeline.yml": b.String(), "data/x.json": "{}\n"}}
}
