package expr_test

import (
	"os"
	"strings"
	"testing"

	"pipelines/sqlplan"
	"pipelines/sqlplan/funcs"
)

// noExample are functions whose result is not a constant, or which are
// operators that the golden statements cover.
var noExample = map[string]bool{
	"time": true, "measure": true, "timestamp_nanos": true, "unix_nanos": true,
	"current_date": true, "current_timestamp": true, "localtimestamp": true, "raise_error": true, "rand": true, "randn": true, "uuid": true,
	"monotonically_increasing_id": true, "spark_partition_id": true, "input_file_name": true, "input_file_block_start": true,
	"input_file_block_length": true, "current_catalog": true, "current_database": true, "current_path": true, "current_user": true, "current_timezone": true,
	"version": true, "shuffle": true, "randstr": true, "uniform": true, "dateadd": true, "timestampadd": true, "timestampdiff": true, "[]": true,
	// refused: the TIME type is off, as in Spark by default, and there is no Java
	"make_time": true, "to_time": true, "try_to_time": true, "time_diff": true, "time_trunc": true, "current_time": true, "localtime": true,
	"time_from_seconds": true, "time_from_millis": true, "time_from_micros": true, "time_to_seconds": true, "time_to_millis": true,
	"time_to_micros": true, "reflect": true, "java_method": true, "try_reflect": true,
}

// TestExamples runs the example of each listed function, once as it stands
// and once with ANSI mode off.
func TestExamples(t *testing.T) {
	ansi, err := sqlplan.NewSession(sqlplan.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	missing := 0
	for _, f := range funcs.Scalars() {
		if f.Usage == "" || f.Doc == "" || f.Group == "" {
			t.Errorf("%s: usage, doc or group is missing", f.Name)
		}
		if f.Example == "" {
			if !noExample[f.Name] {
				missing++
				t.Errorf("%s: no example", f.Name)
			}
			continue
		}
		got, ok := run(f.Example, ansi)
		if !ok {
			t.Errorf("%s: %s does not run", f.Name, f.Example)
			continue
		}
		want := strings.ReplaceAll(f.Result, "\n", `\n`)
		if !sameRows(got, want) {
			t.Errorf("%s: %s gives %s, want %s", f.Name, f.Example, got, want)
		}
	}
}

// TestSemantics runs the rows of the semantics file in the mode that they name.
func TestSemantics(t *testing.T) {
	var src []byte
	for _, file := range []string{"semantics.txt", "nested.txt", "values.txt"} {
		more, err := os.ReadFile("../funcs/testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		src = append(src, more...)
	}
	sessions := map[string]*funcs.Session{}
	for mode, conf := range map[string]string{"ansi": "true", "off": "false"} {
		var err error
		if sessions[mode], err = sqlplan.NewSession(sqlplan.Settings{Conf: map[string]string{"spark.sql.ansi.enabled": conf}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range strings.Split(string(src), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.Split(line, " | ")
		rule, mode, _ := strings.Cut(parts[0], " ")
		got, ok := run(parts[1], sessions[mode])
		if !ok {
			got = "does not run"
		}
		if !sameRows(got, parts[2]) && got != parts[2] {
			t.Errorf("%s %s: %s gives %s, want %s", rule, mode, parts[1], got, parts[2])
		}
	}
}
