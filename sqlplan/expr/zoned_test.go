package expr_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"pipelines/spec/diag"
	"pipelines/sqlplan"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/sqlplan/streaming"
	"pipelines/tables/schema"
)

// TestZoned evaluates every example and every statement of the semantics files
// in two time zones: what differs must be known to depend on the zone, else a
// changed zone would mix two meanings in one state.
func TestZoned(t *testing.T) {
	var texts []string
	for _, f := range funcs.Scalars() {
		if f.Example != "" {
			texts = append(texts, f.Example)
		}
	}
	for _, file := range []string{"semantics.txt", "nested.txt", "values.txt"} {
		src, err := os.ReadFile("../funcs/testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(src), "\n") {
			if parts := strings.Split(line, " | "); len(parts) > 2 {
				texts = append(texts, parts[1])
			}
		}
	}
	texts = append(texts,
		"SELECT make_timestamp(2026,1,1,1,0,0) - make_timestamp(2025,7,1,1,0,0)", "SELECT printf('%s', timestamp_seconds(0))",
		"SELECT hour(timestamp_seconds(0))", "SELECT array(timestamp_seconds(0)) = array('1970-01-01 00:00:00'::timestamp)", "SELECT to_json(struct(timestamp_seconds(0) AS t))",
		"SELECT timestamp_seconds(0)::date", "SELECT array(timestamp_seconds(0))::string", "SELECT extract(MINUTE FROM timestamp_seconds(0))",
		"SELECT unix_timestamp(timestamp_seconds(1780000000) + INTERVAL 300 DAYS)", "SELECT unix_timestamp(date'2026-01-01')",
		"SELECT unix_timestamp(date_trunc('HOUR', timestamp_seconds(1780000000)))", "SELECT unix_timestamp(timestampadd(DAY, 200, timestamp_seconds(1780000000)))",
		"SELECT months_between(timestamp_seconds(0), timestamp_seconds(100000000))", "SELECT from_json('{\"t\":\"2026-01-01\"}', 't TIMESTAMP') = named_struct('t', timestamp_seconds(0))")
	differ := 0
	utc, err := sqlplan.NewSession(sqlplan.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	far, err := sqlplan.NewSession(sqlplan.Settings{Conf: map[string]string{"spark.sql.session.timeZone": "America/St_Johns"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		if strings.Contains(strings.ToUpper(text), "TIMESTAMP '") {
			continue // the literal itself is read in the zone
		}
		plan, list := sqlplan.Compile(diag.NewText("q.sql", text), sqlplan.Empty{}, sqlplan.Options{Session: utc})
		if list.HasErrors() || slices.ContainsFunc(plan.Schema.Fields, func(f schema.Field) bool { return strings.Contains(f.Type.SQL(), "TIMESTAMP") }) {
			continue // shown in the zone
		}
		a, ok := run(text, utc)
		b, _ := run(text, far)
		if !ok || a == b {
			continue
		}
		differ++
		zoned := false
		logical.EachExpr(plan.Bound, func(e logical.Expr) { zoned = zoned || streaming.Zoned(e) })
		if !zoned && !strings.Contains(strings.ToLower(text), "rand") && !strings.Contains(strings.ToLower(text), "uuid") && !strings.Contains(text, "shuffle") {
			t.Errorf("%s: %s in UTC, %s elsewhere, and it is not known to depend on the zone", text, a, b)
		}
	}
	if differ < 10 {
		t.Errorf("only %d texts differ", differ)
	}
	t.Logf("%d of %d texts differ", differ, len(texts))
}
