package sqlplan_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pipelines/sqlplan"
)

// Every setting that the code names is in the one list, so that hints and SHOW
// know it.
func TestSettingsAreListed(t *testing.T) {
	key := regexp.MustCompile(`[cC]onf(?:\["|\(")(spark\.sql\.[A-Za-z.]+)"|setting\("(spark\.sql\.[A-Za-z.]+)"`)
	known := sqlplan.Defaults()
	seen := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		src, err := os.ReadFile(path)
		for _, m := range key.FindAllStringSubmatch(string(src), -1) {
			seen++
			if _, ok := known[m[1]+m[2]]; !ok {
				t.Errorf("%s: %s is not among Defaults", path, m[1]+m[2])
			}
		}
		return err
	})
	if err != nil || seen < 15 {
		t.Fatalf("%d settings found: %v", seen, err)
	}
}

func TestCheckSetting(t *testing.T) {
	for _, c := range []struct{ key, value, class string }{
		{"spark.sql.caseSensitive", "TRUE", ""},
		{"spark.sql.caseSensitive", "yes", "INVALID_CONF_VALUE.TYPE_MISMATCH"},
		{"spark.sql.legacy.sizeOfNull", "1", "INVALID_CONF_VALUE.TYPE_MISMATCH"},
		{"spark.sql.cteRecursionLevelLimit", "7", ""},
		{"spark.sql.cteRecursionLevelLimit", "many", "INVALID_CONF_VALUE.TYPE_MISMATCH"},
		{"spark.sql.columnNameOfCorruptRecord", "bad", ""},
		{"spark.sql.session.timeZone", "Mars", "INVALID_CONF_VALUE.TIME_ZONE"},
		{"spark.sql.readSideCharPadding", "false", "FEATURE_NOT_AVAILABLE"},
		{"spark.sql.timestampType", "timestamp_ntz", ""},
		{"spark.sql.timestampType", "x", "INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS"},
	} {
		got := ""
		if err := sqlplan.CheckSetting(c.key, c.value); err != nil {
			got = err.Class
		}
		if got != c.class {
			t.Errorf("%s=%s: %q, want %q", c.key, c.value, got, c.class)
		}
	}
}
