package simtest

import (
	"strings"
	"testing"

	"pipelines/pipelines"
)

// TestZoneOfState: state that was computed in a session time zone is refused
// in another one before anything runs; state that was not goes on.
func TestZoneOfState(t *testing.T) {
	table := func(query string) string {
		return "streaming_tables:\n  - name: out\n    output_mode: update\n    keys: [k]\n    sql: \"" + query + "\"\n"
	}
	appended := func(query string) string { return "streaming_tables:\n  - {name: out, sql: \"" + query + "\"}\n" }
	mark := "STREAM(raw) WATERMARK ts DELAY OF INTERVAL 1 SECOND"
	for _, c := range []struct {
		doc   string
		zoned bool
	}{
		{table("SELECT date(ts) AS k, count(*) AS n FROM STREAM(raw) GROUP BY date(ts)"), true},
		{table("SELECT to_date(ts) AS k, count(*) AS n FROM STREAM(raw) GROUP BY to_date(ts)"), true},
		{table("SELECT to_char(ts, 'yyyy-MM-dd') AS k, count(*) AS n FROM STREAM(raw) GROUP BY 1"), true},
		{table("SELECT time_bucket(INTERVAL '1' DAY, ts) AS k, count(*) AS n FROM STREAM(raw) GROUP BY 1"), true},
		{table("SELECT date_trunc('DAY', ts) AS k, count(*) AS n FROM STREAM(raw) GROUP BY 1"), true},
		{table("SELECT hour(ts) AS k, sum(id) AS n FROM STREAM(raw) GROUP BY hour(ts)"), true},
		{table("SELECT id AS k, max(cast(ts AS STRING)) AS n FROM STREAM(raw) GROUP BY id"), true},
		{table("SELECT k, count(*) AS n FROM (SELECT to_timestamp(s) AS k FROM STREAM(raw)) GROUP BY k"), true},
		{table("SELECT ts + INTERVAL 1 DAY AS k, count(*) AS n FROM STREAM(raw) GROUP BY 1"), true},
		{table("SELECT unix_timestamp(s) AS k, count(*) AS n FROM STREAM(raw) GROUP BY 1"), true},
		{appended("SELECT count(*) AS n, date(window.start) AS d FROM " + mark + " GROUP BY window, date(window.start)"), true},
		{"streaming_tables:\n  - name: out\n    deduplicate: {keys: [d]}\n    sql: SELECT year(ts) AS d FROM STREAM(raw)\n", true},
		{appended("SELECT a.id FROM STREAM(raw) a JOIN STREAM(raw) b ON date(a.ts) = date(b.ts)"), true},

		{table("SELECT date_trunc('SECOND', ts) AS k, count(*) AS n FROM STREAM(raw) GROUP BY 1"), false},
		{table("SELECT ts AS k, count(*) AS n FROM STREAM(raw) GROUP BY ts"), false},
		{table("SELECT unix_timestamp(ts) AS k, count(*) AS n FROM STREAM(raw) WHERE date(ts) > '2020-01-01' GROUP BY 1"), false},
		{table("SELECT id % 2 AS k, date(max(ts)) AS n FROM STREAM(raw) GROUP BY 1"), false},
		{appended("SELECT window.start AS s, date(window.start) AS d, count(*) AS n FROM " + mark + " GROUP BY window(ts, '1 day')"), false},
		{appended("SELECT a.id, date(a.ts) AS d FROM STREAM(raw) a JOIN STREAM(raw) b ON a.id = b.id AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 1 DAY"), false},
		{"streaming_tables:\n  - name: out\n    deduplicate: {keys: [k]}\n    sql: SELECT ts + INTERVAL 90 MINUTES AS k FROM STREAM(raw)\n", false},
	} {
		in := func(zone string) string {
			return strings.ReplaceAll(c.doc, "GROUP BY window, date", "GROUP BY window(ts, '1 day'), date") + "configuration: {spark.sql.session.timeZone: " + zone + "}\n"
		}
		const columns = "id BIGINT, ts TIMESTAMP, s STRING"
		dir := project(t, columns, in("UTC"))
		put(t, dir, "landing/1.json", `{"id":1,"ts":"2026-01-01T10:00:00Z","s":"2026-01-01 10:00:00"}`)
		run(t, dir, pipelines.RunOptions{})
		document(t, dir, columns, in("Etc/UTC")) // the same by another name
		run(t, dir, pipelines.RunOptions{})
		before := rows(t, dir, "out")
		document(t, dir, columns, in("Asia/Kolkata"))
		put(t, dir, "landing/2.json", `{"id":2,"ts":"2026-01-02T10:00:00Z","s":"2026-01-02 10:00:00"}`)
		if !c.zoned {
			run(t, dir, pipelines.RunOptions{})
			continue
		}
		fails(t, dir, pipelines.RunOptions{}, "time zone UTC, which is now asia/kolkata: spark.sql.session.timeZone", "--full-refresh out")
		p, _, err := pipelines.Load(t.Context(), pipelines.LoadOptions{Path: dir})
		if err != nil {
			t.Fatal(err)
		}
		if _, list, err := p.DryRun(t.Context(), pipelines.RunOptions{}); err != nil || !list.HasErrors() {
			t.Errorf("the dry run lets %s pass: %v", c.doc, err)
		}
		compare(t, c.doc, rows(t, dir, "out"), before)
		run(t, dir, pipelines.RunOptions{FullRefresh: []string{"out"}})
		run(t, dir, pipelines.RunOptions{})
	}
}

// TestZoneOfChanges: changes that are ordered or told apart by values of a
// session time zone do not go on in another one.
func TestZoneOfChanges(t *testing.T) {
	for _, c := range []struct {
		key, sequence string
		zoned         bool
	}{
		{"id", "to_timestamp(s)", true},
		{"id", "struct(id, date(ts))", true},
		{"d", "ts", true},
		{"id", "ts", false},
		{"id", "unix_timestamp(ts)", false},
	} {
		in := func(zone string) string {
			return "configuration: {spark.sql.session.timeZone: " + zone + "}\nviews:\n  - {name: v, sql: \"SELECT id, ts, s, date(ts) AS d FROM STREAM(raw)\"}\n" +
				"streaming_tables:\n  - name: out\n    auto_cdc: {source: v, keys: [" + c.key + "], sequence_by: \"" + c.sequence + "\"}\n"
		}
		const columns = "id BIGINT, ts TIMESTAMP, s STRING"
		dir := project(t, columns, in("UTC"))
		put(t, dir, "landing/1.json", `{"id":1,"ts":"2026-01-01T10:00:00Z","s":"2026-01-01 10:00:00"}`)
		run(t, dir, pipelines.RunOptions{})
		document(t, dir, columns, in("Etc/UTC"))
		run(t, dir, pipelines.RunOptions{})
		document(t, dir, columns, in("Asia/Kolkata"))
		put(t, dir, "landing/2.json", `{"id":2,"ts":"2026-01-02T10:00:00Z","s":"2026-01-02 10:00:00"}`)
		if c.zoned {
			fails(t, dir, pipelines.RunOptions{}, "time zone utc, which is now asia/kolkata: spark.sql.session.timeZone", "--full-refresh out")
			run(t, dir, pipelines.RunOptions{FullRefresh: []string{"out"}})
		}
		run(t, dir, pipelines.RunOptions{})
		if n := len(rows(t, dir, "out")); n != 2 {
			t.Errorf("%v: %d rows", c, n)
		}
	}
}
