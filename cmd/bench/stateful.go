package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// stateful is a workload with state: its query over the views bid and auction,
// and its answers, of which the watermark has closed the windows.
type stateful struct {
	name, table, check string
	generate           []string // further flags of the data generator
	side               bool     // a static table of 10,000 rows
	answers            map[int64]string
}

const watermark = "WATERMARK dateTime DELAY OF INTERVAL 4 SECONDS"

// stateWorkloads are W4 to W9; W6 and W7 have data of their own, of one size.
var stateWorkloads = []stateful{
	{
		name: "W4 tumbling", table: "sql: SELECT bidder, count(*) AS cnt, sum(price) AS total, window.start AS ws FROM STREAM(bid) " + watermark + " GROUP BY bidder, window(dateTime, '10 seconds')",
		check:   "SELECT count(*), sum(cnt), sum(total), sum(bidder) FROM w",
		answers: map[int64]string{1_000_000: "24610 828000 6018623612803 241979232", 4_000_000: "109615 3588000 25967593673224 4363449713"},
	},
	{
		name: "W5 sliding", table: "sql: SELECT window.start AS ws, max(num) AS num, max_by(auction, num) AS auction FROM (SELECT auction, window(dateTime, '10 seconds', '2 seconds') AS window, count(*) AS num FROM STREAM(bid) " + watermark + " GROUP BY auction, window(dateTime, '10 seconds', '2 seconds')) GROUP BY window",
		check:   "SELECT count(*), sum(num) FROM w",
		answers: map[int64]string{1_000_000: "47 38884", 4_000_000: "197 163546"},
	},
	{
		name: "W6 sessions", table: "sql: SELECT bidder, count(*) AS cnt, session_window.start AS ws FROM STREAM(bid) " + watermark + " GROUP BY bidder, session_window(dateTime, '10 seconds')",
		check: "SELECT sum(cnt), max(cnt) FROM w", generate: []string{"-rate", "1000"},
		answers: map[int64]string{1_000_000: "893106 3539"},
	},
	{
		name: "W7 deduplication", table: "deduplicate: {keys: [event_id], within_watermark: true}\n    sql: SELECT event_id, auction, bidder, price, dateTime FROM STREAM(bid) " + watermark,
		check: "SELECT count(*), count(DISTINCT event_id), sum(event_id), sum(price) FROM w", generate: []string{"-dup", "5"},
		answers: map[int64]string{1_000_000: "920000 920000 460001380000 6685385073578"},
	},
	{
		name: "W8 interval join", table: "sql: SELECT b.event_id, a.id, a.seller, a.category, a.initialBid, b.bidder, b.price, b.dateTime AS date_time FROM STREAM(bid) " + watermark + " b JOIN STREAM(auction) " + watermark + " a ON b.auction = a.id AND b.dateTime BETWEEN a.dateTime AND a.dateTime + INTERVAL 10 SECONDS",
		check:   "SELECT count(*), sum(event_id), sum(price), sum(id), sum(seller) FROM w",
		answers: map[int64]string{1_000_000: "878276 439212848425 6379844433012 27187758798 9511646269", 4_000_000: "3513938 7028000229519 25429555072674 425020590688 143474600060"},
	},
	{
		name: "W9 static join", side: true, table: "sql: SELECT b.auction, b.bidder, b.price, b.dateTime AS date_time, s.value FROM STREAM(bid) b JOIN side s ON b.auction % 10000 = s.key",
		check:   "SELECT count(*), sum(price), sum(CAST(value AS BIGINT)) FROM w",
		answers: map[int64]string{1_000_000: "920000 6685385073578 4576100610", 4_000_000: "3680000 26627575339569 18305269206"},
	},
}

// withState runs the stateful workloads, in epochs of a million events.
func (b *bench) withState() error {
	for _, s := range stateWorkloads {
		if !b.wanted("state " + s.name) {
			continue
		}
		if len(s.answers) > 1 {
			if err := b.sizes(func(data string) workload { return b.state(s, data) }, b.data); err != nil {
				return err
			}
			continue
		}
		n := int64(1_000_000)
		data := filepath.Join(b.dir, "json"+strings.Join(s.generate, "-"))
		if _, err := os.Stat(data); err != nil {
			if _, _, err := call(b.nexmark, ".", append([]string{"-n", fmt.Sprint(n), "-files", "8", "-out", data}, s.generate...)...); err != nil {
				return err
			}
		}
		if _, err := b.run(b.state(s, data), n); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) state(s stateful, data string) workload {
	w := workload{name: s.name, check: s.check, answers: s.answers, files: map[string]string{}}
	side := ""
	if s.side {
		side = "  - {name: side, format: json, path: side, schema: \"key BIGINT, value STRING\"}\n"
		var rows strings.Builder
		for k := range 10_000 {
			fmt.Fprintf(&rows, "{\"key\":%d,\"value\":\"%d\"}\n", k, k)
		}
		w.files["side/1.json"] = rows.String()
	}
	w.files["pipeline.yml"] = fmt.Sprintf(`name: state
storage: ./state
sources:
  - name: events
    format: json
    path: %s
    schema: "%s"
    options: {maxFilesPerTrigger: "8"}
%sviews:
  - name: bid
    sql: |
      SELECT event_id, bid.* FROM STREAM(events) WHERE event_type = 2
  - name: auction
    sql: |
      SELECT event_id, auction.* FROM STREAM(events) WHERE event_type = 1
streaming_tables:
  - name: w
    %s
`, data, yamlText(eventSchema), side, s.table)
	return w
}
