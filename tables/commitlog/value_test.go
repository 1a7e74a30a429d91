package commitlog

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pipelines/tables/column"
	"pipelines/tables/format"
	"pipelines/tables/schema"
)

func of(k schema.Kind) schema.Type { return schema.Of(k) }

// value returns the one-row vector of a text.
func value(t testing.TB, typ schema.Type, s string) *column.Vector {
	t.Helper()
	v := column.New(typ)
	if err := parseValue(v, s); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestPartitionText(t *testing.T) {
	f := func(typ schema.Type, in, want string) {
		t.Helper()
		got := PartitionText(value(t, typ, in), 0)
		if want == "NULL" {
			if got != nil {
				t.Errorf("%s of %s: got %q", in, typ, *got)
			}
			return
		}
		if got == nil || *got != want {
			t.Errorf("%s of %s: got %v, want %s", in, typ, got, want)
			return
		}
		back, err := PartitionValue(got, schema.Field{Name: "p", Type: typ}, 3)
		if err != nil || back.Len != 3 || !back.Const {
			t.Fatalf("%s: %v", *got, err)
		}
		if again := PartitionText(back, 2); again == nil || *again != want {
			t.Errorf("%s of %s came back as %v", want, typ, again)
		}
	}
	f(of(schema.Boolean), "true", "true")
	f(of(schema.Int8), "-4", "-4")
	f(of(schema.Int16), "32767", "32767")
	f(of(schema.Int32), "7", "7")
	f(of(schema.Int64), "-9223372036854775808", "-9223372036854775808")
	f(of(schema.Float64), "-0.0", "-0.0")
	f(of(schema.Float64), "1.0E300", "1.0E300")
	f(of(schema.Float64), "NaN", "NaN")
	f(of(schema.Float32), "-Infinity", "-Infinity")
	f(schema.DecimalOf(10, 2), "0", "0.00")
	f(schema.DecimalOf(10, 2), "1.1", "1.10")
	f(schema.DecimalOf(38, 3), "-12345678901234567890123456789012345.678", "-12345678901234567890123456789012345.678")
	f(of(schema.Date), "9999-12-31", "9999-12-31")
	f(of(schema.Date), "0001-01-01", "0001-01-01")
	f(of(schema.Timestamp), "1900-01-01 00:00:00", "1900-01-01T00:00:00.000000Z")
	f(of(schema.Timestamp), "1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z")
	f(of(schema.TimestampNTZ), "2026-01-02 03:04:05.12", "2026-01-02 03:04:05.120000")
	f(of(schema.String), "a/b =é", "a/b =é")
	f(of(schema.String), "", "")
	f(of(schema.String), hiveNull, "NULL")
	null := column.NullVector(nil, of(schema.Int32), 1)
	if PartitionText(null, 0) != nil {
		t.Error("NULL has a text")
	}
	v, err := PartitionValue(nil, schema.Field{Type: of(schema.Date)}, 2)
	if err != nil || !v.IsNull(1) {
		t.Error("nil is not NULL", err)
	}
	if _, err := PartitionValue(ptr("x"), schema.Field{Type: of(schema.Date)}, 2); err == nil {
		t.Error("a bad date was taken")
	}
}

func TestPaths(t *testing.T) {
	values := map[string]*string{"p": ptr("a/b c=%"), "q": nil, "ts": ptr("1900-01-01 00:00:00")}
	folder := PartitionFolder([]string{"p", "q", "ts"}, values)
	if folder != "p=a%2Fb c%3D%25/q=__HIVE_DEFAULT_PARTITION__/ts=1900-01-01 00%3A00%3A00/" {
		t.Error(folder)
	}
	path := PathOf(folder + "f")
	if path != "p=a%252Fb%20c%253D%2525/q=__HIVE_DEFAULT_PARTITION__/ts=1900-01-01%2000%253A00%253A00/f" {
		t.Error(path)
	}
	for _, key := range []string{folder + "f", "ü%20/ #?&+;:@x", "a:b"} {
		if back, err := KeyOf(PathOf(key)); err != nil || back != key {
			t.Errorf("%s became %s (%v)", key, back, err)
		}
	}
	for _, bad := range []string{"/abs", "file:///x", "s3://b/k", "../up", "a/../../b", "%zz", "", "abfss:/x"} {
		if key, err := KeyOf(bad); err == nil {
			t.Errorf("%s gave %s", bad, key)
		}
	}
	if key, err := KeyOf("./a//b"); err != nil || key != "a/b" {
		t.Error(key, err)
	}
	seen := map[string]bool{}
	for range 100 {
		id := NewID()
		if len(id) != 36 || id[14] != '4' || seen[id] {
			t.Fatal(id)
		}
		seen[id] = true
	}
}

func TestStats(t *testing.T) {
	col := func(low, high string, typ schema.Type, nulls int64, path ...string) format.ColumnStats {
		c := format.ColumnStats{Path: path, Type: typ, NullCount: nulls}
		if low != "" {
			c.Min, c.Max = value(t, typ, low), value(t, typ, high)
		}
		return c
	}
	long := strings.Repeat("ä", 40)
	got := Stats(format.FileStats{Rows: 4, Columns: []format.ColumnStats{
		col("-1", "7", of(schema.Int64), 0, "id"),
		col("0.0", "1.5", of(schema.Float64), 1, "f"),
		col("-4.500", "12345678901234567890.123", schema.DecimalOf(23, 3), 0, "s", "d"),
		col("a\"b", long, of(schema.String), 0, "s", "t"),
		col("2023-11-14", "2024-01-01", of(schema.Date), 0, "day"),
		col("2023-11-14 22:13:20.123456", "2023-11-14 22:13:21", of(schema.Timestamp), 0, "at"),
		col("2023-11-14 22:13:20.123456", "2023-11-14 22:13:21", of(schema.TimestampNTZ), 0, "ntz"),
		col("", "", of(schema.Boolean), 2, "ok"),
		col("1.0", "Infinity", of(schema.Float32), 0, "inf"),
		col("", "", of(schema.Int32), -1, "unknown"),
	}})
	want := `{"numRecords":4,"minValues":{"id":-1,"f":-0.0,"s":{"d":-4.500,"t":"a\"b"},"day":"2023-11-14","at":"2023-11-14T22:13:20.123456Z","ntz":"2023-11-14T22:13:20.123456"},` +
		`"maxValues":{"id":7,"f":1.5,"s":{"d":12345678901234567890.123,"t":"` + strings.Repeat("ä", 32) + "\U0010ffff" + `"},"day":"2024-01-01","at":"2023-11-14T22:13:21.000000Z","ntz":"2023-11-14T22:13:21.000000"},` +
		`"nullCount":{"id":0,"f":1,"s":{"d":0,"t":0},"day":0,"at":0,"ntz":0,"ok":2,"inf":0}}`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for in, want := range map[string]int64{got: 4, `{"numRecords":12}`: 12, `{"a":1,"numRecords":3}`: 3, ` { "numRecords" : 5 }`: 5, "": -1, "x": -1, `{"numRecords":"1"}`: -1, `{"numRecords":1.5}`: -1} {
		n, ok := NumRecords(in)
		if !ok {
			n = -1
		}
		if n != want {
			t.Errorf("%s: %d", in, n)
		}
	}
	if s := stringBound([]byte(strings.Repeat("s", 33)), true); s != `"`+strings.Repeat("s", 32)+"\u007f\"" {
		t.Error(s)
	}
}

func term(op format.TermOp, v *column.Vector) *format.Term { return &format.Term{Op: op, Value: v} }

// TestMayMatch compares pruning with looking at each value.
func TestMayMatch(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	kinds := []schema.Type{of(schema.Int64), of(schema.Float64), schema.DecimalOf(38, 2), of(schema.String), of(schema.Timestamp)}
	pick := func(typ schema.Type) string {
		n := rng.IntN(7) - 3
		switch typ.Kind {
		case schema.Float64:
			if n == 3 {
				return "NaN"
			}
			return fmt.Sprintf("%d.5", n)
		case schema.Decimal:
			return fmt.Sprintf("%d.25", n)
		case schema.String:
			return strings.Repeat("ab", 15) + strings.Repeat("c", n+3) + string(rune('a'+rng.IntN(3)))
		case schema.Timestamp:
			return time.UnixMicro(int64(n) * 700).UTC().Format("2006-01-02 15:04:05.000000")
		}
		return fmt.Sprint(n)
	}
	pruned := 0
	for range 4000 {
		typ := kinds[rng.IntN(len(kinds))]
		stats := format.FileStats{Columns: []format.ColumnStats{{Path: []string{"c"}, Type: typ}}}
		c := &stats.Columns[0]
		var rows []*column.Vector
		nan := false
		for range rng.IntN(4) {
			stats.Rows++
			if rng.IntN(4) == 0 {
				c.NullCount++
				rows = append(rows, column.NullVector(nil, typ, 1))
				continue
			}
			v := value(t, typ, pick(typ))
			rows = append(rows, v)
			if typ.IsFloat() && math.IsNaN(v.F64[0]) {
				nan = true
				continue
			}
			if c.Min == nil || column.Compare(v, 0, c.Min, 0) < 0 {
				c.Min = v
			}
			if c.Max == nil || column.Compare(v, 0, c.Max, 0) > 0 {
				c.Max = v
			}
		}
		if nan && rng.IntN(2) == 0 { // some writers leave NaN out of the bounds
			c.Min, c.Max = nil, nil
		}
		want := term(format.TermOp(rng.IntN(7)), value(t, typ, pick(typ)))
		decoded := DecodeStats(Stats(stats))
		if decoded.MayMatch([]string{"c"}, typ, want) {
			continue
		}
		pruned++
		for _, v := range rows {
			if holds(v, want) {
				t.Fatalf("%s: %s pruned although %s %d %s", typ, Stats(stats), appendValue(nil, v, 0), want.Op, appendValue(nil, want.Value, 0))
			}
		}
	}
	if pruned < 500 {
		t.Errorf("only %d files pruned", pruned)
	}
}

// holds evaluates a term as SQL does: NaN is the greatest value and equal to
// itself.
func holds(v *column.Vector, term *format.Term) bool {
	if term.Op == format.IsNull || term.Op == format.IsNotNull || v.IsNull(0) {
		return v.IsNull(0) == (term.Op == format.IsNull) && term.Op >= format.IsNull
	}
	c := column.Compare(v, 0, term.Value, 0)
	if v.Type.IsFloat() {
		a, b := math.IsNaN(v.F64[0]), math.IsNaN(term.Value.F64[0])
		switch {
		case a && b:
			c = 0
		case a:
			c = 1
		case b:
			c = -1
		}
	}
	switch term.Op {
	case format.Equal:
		return c == 0
	case format.Less:
		return c < 0
	case format.LessEqual:
		return c <= 0
	case format.Greater:
		return c > 0
	}
	return c >= 0
}

// TestForeignBounds reads bounds in the forms of other writers.
func TestForeignBounds(t *testing.T) {
	f := func(typ schema.Type, raw string, upper bool, want string) {
		t.Helper()
		v := decodeBound([]byte(raw), typ, upper)
		got := "none"
		if v != nil {
			got = string(appendValue(nil, v, 0))
		}
		if got != want {
			t.Errorf("%s as %s: got %s, want %s", raw, typ, got, want)
		}
	}
	ts, dec := of(schema.Timestamp), schema.DecimalOf(38, 3)
	f(ts, `"2023-11-14T22:13:20.123Z"`, true, "2023-11-14T22:13:20.123999Z")
	f(ts, `"2023-11-14T22:13:20.123Z"`, false, "2023-11-14T22:13:20.123000Z")
	f(ts, `"2023-11-14T22:13:20Z"`, true, "2023-11-14T22:13:20.000999Z")
	f(ts, `"2023-11-14T22:13:20.123456Z"`, true, "2023-11-14T22:13:20.123456Z")
	f(ts, `17`, true, "none")
	f(of(schema.Float64), `"NaN"`, true, "none")
	f(of(schema.Float64), `3`, true, "3.0")
	f(dec, `-4.500`, false, "-4.500")
	f(dec, `-1.8552628430930738e+24`, false, "none")
	f(dec, `12345678901234567`, false, "none")
	f(dec, `1234567890123456789.123`, false, "1234567890123456789.123")
	f(of(schema.Int64), `1.5`, false, "none")
	f(of(schema.Int8), `300`, false, "none")
	f(of(schema.Boolean), `true`, false, "none")
	f(of(schema.Date), `"2020-02-30"`, false, "none")
	f(of(schema.String), `"x"`, false, "x")
}
