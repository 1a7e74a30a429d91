package commitlog

import (
	"fmt"
	"testing"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// TestExact takes from statistics only what is the very value.
func TestExact(t *testing.T) {
	s := DecodeStats(`{"numRecords":9,"minValues":{"i":-3,"d":"2026-01-01","m":1.50,"w":1.5,"f":0.5,"s":"ab","l":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","t":"2026-01-01T00:00:00.123Z","e":1e3},` +
		`"maxValues":{"i":7,"d":"2026-02-01","m":2.25,"w":2.5,"f":1.5,"s":"zz","l":"b","t":"2026-01-01T00:00:00.124Z","e":1e4},"nullCount":{"i":2,"d":0,"s":1,"f":3,"x":-1}}`)
	f := func(name string, typ schema.Type, whole bool, want string) {
		t.Helper()
		nulls, low, high := s.Exact([]string{name}, typ, whole)
		text := func(v *column.Vector) any {
			if v == nil {
				return "?"
			}
			return column.At(v, 0)
		}
		if got := fmt.Sprintf("%d %v %v", nulls, text(low), text(high)); got != want {
			t.Errorf("%s %s: got %s, want %s", name, typ, got, want)
		}
	}
	f("i", schema.Of(schema.Int32), false, "2 -3 7")
	f("d", schema.Of(schema.Date), false, "0 20454 20485")
	f("s", schema.Of(schema.String), true, "1 ab zz")
	f("s", schema.Of(schema.String), false, "1 ? ?") // others may cut shorter
	f("l", schema.Of(schema.String), true, "-1 ? ?") // maybe cut
	f("f", schema.Of(schema.Float64), true, "3 ? ?") // NaN may be left out
	f("t", schema.Of(schema.Timestamp), true, "-1 ? ?")
	f("w", schema.DecimalOf(30, 1), true, "-1 ? ?")
	f("e", schema.DecimalOf(10, 1), true, "-1 ? ?") // went through a double
	f("x", schema.Of(schema.Int32), true, "-1 ? ?")
	f("none", schema.Of(schema.Int32), true, "-1 ? ?")
	if nulls, low, high := s.Exact([]string{"m"}, schema.DecimalOf(10, 2), true); nulls != -1 || low.I64[0] != 150 || high.I64[0] != 225 {
		t.Errorf("%d %v %v", nulls, low, high)
	}
}
