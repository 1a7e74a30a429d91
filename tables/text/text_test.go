package text

import (
	"math"
	"math/big"
	"math/rand"
	"strings"
	"testing"
	"time"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

func toBig(v column.Int128) *big.Int {
	b := new(big.Int).Lsh(big.NewInt(v.Hi), 64)
	return b.Add(b, new(big.Int).SetUint64(v.Lo))
}

func fromBig(b *big.Int) (column.Int128, bool) {
	lo := new(big.Int).And(b, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	hi := new(big.Int).Rsh(b, 64)
	return column.Int128{Hi: hi.Int64(), Lo: lo}, hi.IsInt64()
}

func random128(r *rand.Rand) column.Int128 {
	v := column.Int128{Hi: int64(r.Uint64()), Lo: r.Uint64()}
	s := uint(r.Intn(128))
	b, _ := fromBig(new(big.Int).Rsh(toBig(v), s))
	return b
}

// halfUp divides rounding half away from zero.
func halfUp(a, b *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(a, b, new(big.Int))
	if new(big.Int).Mul(new(big.Int).Abs(r), big.NewInt(2)).Cmp(new(big.Int).Abs(b)) >= 0 {
		q.Add(q, big.NewInt(int64(a.Sign()*b.Sign())))
	}
	return q
}

func pow(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

func TestDecimalAgainstBig(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	limit := new(big.Int).Lsh(big.NewInt(1), 127)
	check := func(op string, got column.Int128, ok bool, want *big.Int) {
		t.Helper()
		inside := new(big.Int).Abs(want).Cmp(limit) < 0
		if ok != inside && new(big.Int).Abs(want).Cmp(limit) != 0 || ok && inside && toBig(got).Cmp(want) != 0 {
			t.Fatalf("%s: got %v %v, want %v", op, toBig(got), ok, want)
		}
	}
	for i := 0; i < 30_000; i++ {
		a, b := random128(r), random128(r)
		A, B := toBig(a), toBig(b)
		got, ok := DecimalAdd(a, b)
		check("add", got, ok, new(big.Int).Add(A, B))
		got, ok = DecimalSub(a, b)
		check("sub", got, ok, new(big.Int).Sub(A, B))
		d := r.Intn(39)
		got, ok = DecimalMul(a, b, d)
		check("mul", got, ok, halfUp(new(big.Int).Mul(A, B), pow(d)))
		got, ok = DecimalRescale(a, d, 0)
		check("rescale down", got, ok, halfUp(A, pow(d)))
		got, ok = DecimalRescale(a, 0, d)
		check("rescale up", got, ok, new(big.Int).Mul(A, pow(d)))
		if B.Sign() != 0 {
			got, ok = DecimalDiv(a, b, d)
			wide := new(big.Int).Mul(A, pow(d))
			if wide.BitLen() < 256 {
				check("div", got, ok, halfUp(wide, B))
			}
			got, ok = DecimalDiv(a, b, -d)
			check("div down", got, ok, halfUp(A, new(big.Int).Mul(B, pow(d))))
			q, rem := DecimalDivRem(a, b)
			check("quo", q, true, new(big.Int).Quo(A, B))
			check("rem", rem, true, new(big.Int).Rem(A, B))
		}
		sa, sb := r.Intn(20), r.Intn(20)
		if c := new(big.Int).Mul(A, pow(sb)).Cmp(new(big.Int).Mul(B, pow(sa))); c != sign(DecimalCmp(a, sa, b, sb)) {
			t.Fatalf("cmp %v/%d %v/%d", A, sa, B, sb)
		}
		if s := string(AppendDecimal(nil, a, 0)); s != A.String() {
			t.Fatalf("text %s want %s", s, A)
		}
		if DecimalFits(a, 38) {
			s := AppendDecimal(nil, a, d)
			if v, st := ParseDecimal(s, 38, d); st != DecimalOK || v != a {
				t.Fatalf("reparse %s scale %d: %v %v", s, d, v, st)
			}
		}
	}
}

func sign(i int) int {
	switch {
	case i < 0:
		return -1
	case i > 0:
		return 1
	}
	return 0
}

func TestParseDecimal(t *testing.T) {
	for _, c := range []struct {
		in   string
		p, s int
		want string
	}{
		{"1.005", 10, 2, "1.01"}, {" 12.345 ", 10, 2, "12.35"}, {"-.5", 10, 2, "-0.50"}, {"100000000", 10, 2, "overflow"},
		{"abc", 10, 2, "invalid"}, {"", 10, 2, "invalid"}, {"1e10", 10, 2, "overflow"}, {"1.5e2", 10, 2, "150.00"},
		{"-0.005", 10, 2, "-0.01"}, {"0.004", 10, 2, "0.00"}, {"12.3.4", 10, 2, "invalid"}, {"5.", 5, 0, "5"},
		{"99999999999999999999999999999999999999", 38, 0, "99999999999999999999999999999999999999"},
		{"99999999999999999999999999999999999999.5", 38, 0, "overflow"}, {"1e-400", 10, 2, "0.00"}, {"0e400", 10, 2, "0.00"},
		{"123456789012345678901234567890123456789012e-10", 38, 2, "12345678901234567890123456789012.35"},
	} {
		v, st := ParseDecimal([]byte(c.in), c.p, c.s)
		got := string(AppendDecimal(nil, v, c.s))
		switch st {
		case DecimalInvalid:
			got = "invalid"
		case DecimalOverflow:
			got = "overflow"
		}
		if got != c.want {
			t.Errorf("%q: got %s, want %s", c.in, got, c.want)
		}
	}
	if s := string(AppendDecimalJava(nil, column.Int128{}, 18)); s != "0E-18" {
		t.Error(s)
	}
}

func TestNumbers(t *testing.T) {
	for in, want := range map[float64]string{1: "1.0", 0.1: "0.1", 1e7: "1.0E7", 1e-3: "0.001", 1e-4: "1.0E-4",
		123456789.123: "1.23456789123E8", 1e100: "1.0E100", 5e-324: "4.9E-324", math.MaxFloat64: "1.7976931348623157E308",
		33333333.333333332: "3.3333333333333332E7", 1e20: "1.0E20", 9999999: "9999999.0", -2.5: "-2.5"} {
		if got := string(AppendDouble(nil, in)); got != want {
			t.Errorf("double %v: %s, want %s", in, got, want)
		}
	}
	for in, want := range map[string]float64{" 1.5 ": 1.5, "-.5": -.5, "5.": 5, "1e3": 1000, "-inf": math.Inf(-1), "1e400": math.Inf(1),
		"1d": 1, "1.5f": 1.5, "4.9e-325": 0, "1e99999999999999999999": math.Inf(1), "9007199254740993": 9007199254740992} {
		if got, ok := ParseDouble([]byte(in)); !ok || got != want {
			t.Errorf("%q: %v %v, want %v", in, got, ok, want)
		}
	}
	for _, bad := range []string{"", "abc", "0x10", "1 2", "1,5", "1e", ".", "-", "1_0", "infd"} {
		if v, ok := ParseDouble([]byte(bad)); ok {
			t.Errorf("%q is %v", bad, v)
		}
	}
	for _, bad := range []string{"", "- 8", "1.0", "1e3", "9223372036854775808", "--1", "5."} {
		if v, ok := ParseInt64([]byte(bad)); ok {
			t.Errorf("%q is %v", bad, v)
		}
	}
	if v, ok := ParseInt64([]byte(" -9223372036854775808\t")); !ok || v != math.MinInt64 {
		t.Error(v, ok)
	}
	if v, ok := ParseIntLax([]byte("2147483647.999"), 32); !ok || v != math.MaxInt32 {
		t.Error(v, ok)
	}
}

func TestCalendar(t *testing.T) {
	for d := int64(-4_500_000); d < 3_500_000; d += 13 {
		y, m, day := DateOf(d)
		if DaysOf(y, m, day) != d {
			t.Fatal(d)
		}
		want := time.Unix(d*86400, 0).UTC()
		if y != want.Year() || m != int(want.Month()) || day != want.Day() || (Weekday(d)+1)%7 != int(want.Weekday()) {
			t.Fatal(d, y, m, day, want)
		}
		wy, ww := want.ISOWeek()
		if gy, gw := WeekOfYear(d); gy != wy || gw != ww {
			t.Fatal(d, gy, gw, wy, ww)
		}
	}
}

func TestZoneAgainstTime(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	for _, name := range []string{"America/Los_Angeles", "Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia", "UTC", "+05:30"} {
		z, err := LoadZone(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < 20_000; i++ {
			sec := r.Int63n(9_000_000_000) - 4_000_000_000
			_, off := time.Unix(sec, 0).In(z.Location()).Zone()
			if z.Offset(sec) != int64(off) {
				t.Fatal(name, sec, off)
			}
			local := z.ToLocal(sec * MicrosPerSecond)
			back := z.ToInstant(local)
			if back != sec*MicrosPerSecond && (z.ToLocal(back) != local || back > sec*MicrosPerSecond) {
				t.Fatal(name, sec, back)
			}
		}
	}
	for _, bad := range []string{"", "Local", "x/y", "+19:00", "UTC+99", "../etc", "+1:2:3:4"} {
		if z, err := LoadZone(bad); err == nil {
			t.Error(bad, z)
		}
	}
	for in, want := range map[string]string{"GMT+8": "GMT+08:00", "+1": "+01:00", "+0530": "+05:30", "UTC+1": "UTC+01:00", "EST": "-05:00"} {
		if z, err := LoadZone(in); err != nil || z.String() != want {
			t.Error(in, z, err)
		}
	}
}

func TestTimestamps(t *testing.T) {
	la, _ := LoadZone("America/Los_Angeles")
	f := func(in string, z *Zone, want string) {
		t.Helper()
		got := "none"
		if v, ok := ParseTimestamp([]byte(in), z); ok {
			got = string(AppendTimestamp(nil, v, UTC))
		}
		if got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
	f("2024-02-29 10:20:30", UTC, "2024-02-29 10:20:30")
	f("2024-02-29T10:20:30Z", la, "2024-02-29 10:20:30")
	f("2024-02-29 10:20", UTC, "2024-02-29 10:20:00")
	f("2024-02-29 10", UTC, "2024-02-29 10:00:00")
	f("2024-02", UTC, "2024-02-01 00:00:00")
	f("2024", UTC, "2024-01-01 00:00:00")
	f("2024-02-29 10:20:30+01:00", UTC, "2024-02-29 09:20:30")
	f("2024-02-29 10:20:30 +0100", UTC, "2024-02-29 09:20:30")
	f("2024-02-29 10:20:30 PST", UTC, "2024-02-29 18:20:30")
	f("2024-02-29 10:20:30 GMT+8", UTC, "2024-02-29 02:20:30")
	f("2024-2-9 1:2:3.1", UTC, "2024-02-09 01:02:03.1")
	f("2024-02-29 10:20:30.1234567", UTC, "2024-02-29 10:20:30.123456")
	f("1997-01-31 09:26:56.66666666UTC+08:00", UTC, "1997-01-31 01:26:56.666666")
	f("2026-03-15 14:45:30 America/New_York", UTC, "2026-03-15 18:45:30")
	f("2024-03-10 02:30:00", la, "2024-03-10 10:30:00")
	f("2021-11-07 01:30:00", la, "2021-11-07 08:30:00")
	for _, bad := range []string{"", "2024-02-29 24:00:00", "2024-02-29 10:20:30+19:00", "2024-02-29  10:20:30", "x", "2024-02-30 00:00:00", "1700000000", "10:20:30"} {
		f(bad, UTC, "none")
	}
	if v, ok := ParseTimestampNTZ([]byte("2024-02-29 10:20:30+01:00"), true); !ok || string(AppendTimestampNTZ(nil, v)) != "2024-02-29 10:20:30" {
		t.Error(v, ok)
	}
	if _, ok := ParseTimestampNTZ([]byte("2024-02-29T10:20:30Z"), false); ok {
		t.Error("zone taken")
	}
	for in, want := range map[string]string{"2024-2-9": "2024-02-09", "2024": "2024-01-01", "2024-02-29T": "2024-02-29", "2024-02-29 junk": "2024-02-29",
		"12024-01-01": "+12024-01-01", "-0001-01-01": "-0001-01-01", "20240229": "none", "2024-02-30": "none", "2024-02-29x": "none", "2024/02/29": "none", "": "none"} {
		got := "none"
		if d, ok := ParseDate([]byte(in)); ok {
			got = string(AppendDate(nil, d))
		}
		if got != want {
			t.Errorf("date %q: %s, want %s", in, got, want)
		}
	}
	if s := string(AppendISO(nil, 1719860400123456, la)); s != "2024-07-01T12:00:00.123-07:00" {
		t.Error(s)
	}
	if s := string(AppendTimestamp(nil, math.MaxInt64, UTC)); s != "+294247-01-10 04:00:54.775807" {
		t.Error(s)
	}
}

func TestPatternPrint(t *testing.T) {
	ts, _ := ParseTimestamp([]byte("2024-02-09 15:04:05.678901"), UTC)
	for _, c := range strings.Split(`yyyy-MM-dd=2024-02-09|yy-M-d=24-2-9|MMM=Feb|LLLL=February|E=Fri|EEE=Fri|EEEE=Friday|h:mm a=3:04 PM|k K=15 3|SSS=678|SSSSSSSSS=678901000|ss.S=05.6|QQ=01|QQQ=Q1|QQQQ=1st quarter|G=AD|zzzz=Coordinated Universal Time|O=GMT|X=Z|XXX=Z|x=+00|Z=+0000|ZZZZZ=Z|''='|dd''MM=09'02|yyyy-MM-dd'T'HH:mm:ss.SSSXXX=2024-02-09T15:04:05.678Z|D=40|d=9|yyyyyy=002024|F=2|'it''s'=it's|HH[:mm]=15:04`, "|") {
		pat, want, _ := strings.Cut(c, "=")
		p, err := CompilePattern(pat, false)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := string(p.AppendTimestamp(nil, ts, UTC)); got != want {
			t.Errorf("%q: %q, want %q", pat, got, want)
		}
	}
	names, _ := CompilePattern("z, zzzz", false)
	for _, c := range [][3]string{ // as of today, whatever the clocks were called then
		{"America/New_York", "1944-01-05 00:00:00", "EDT, Eastern Daylight Time"}, {"America/Los_Angeles", "1582-06-01 00:00:00", "PST, Pacific Standard Time"},
		{"Europe/Dublin", "2024-01-01 00:00:00", "GMT, Greenwich Mean Time"}, {"Europe/Dublin", "2024-07-01 00:00:00", "IST, Irish Standard Time"},
		{"Asia/Shanghai", "2024-07-01 00:00:00", "CST, China Standard Time"}, {"America/Chicago", "2024-07-01 00:00:00", "CDT, Central Daylight Time"},
	} {
		z, _ := LoadZone(c[0])
		at, _ := ParseTimestamp([]byte(c[1]), z)
		if got := string(names.AppendTimestamp(nil, at, z)); got != c[2] {
			t.Errorf("%s %s: %s, want %s", c[0], c[1], got, c[2])
		}
	}
	la, _ := LoadZone("America/Los_Angeles")
	p, _ := CompilePattern("VV XXX z O zzzz", false)
	ts, _ = ParseTimestamp([]byte("2024-07-01 12:00:00"), la)
	if got := string(p.AppendTimestamp(nil, ts, la)); got != "America/Los_Angeles -07:00 PDT GMT-7 Pacific Daylight Time" {
		t.Error(got)
	}
}

func TestPatternErrors(t *testing.T) {
	for pat, want := range map[string]string{"e": ClassPatternWeekBased, "u": ClassPatternRecognition, "w": ClassPatternRecognition, "Y": ClassPatternRecognition,
		"aa": ClassPatternRecognition, "n": ClassPatternIllegal, "A": ClassPatternIllegal, "MMMMM": ClassPatternRecognition, "EEEEE": ClassPatternRecognition,
		"#": ClassPatternRecognition, "{{": ClassPatternRecognition, "b": ClassPattern, "'open": ClassPattern, "]": ClassPatternRecognition, "QQQQQ": ClassPatternLength} {
		_, err := CompilePattern(pat, false)
		e, ok := err.(*PatternError)
		if !ok || e.Class != want {
			t.Errorf("%q: %v, want %s", pat, err, want)
		}
	}
	for pat, want := range map[string]string{"EEE yyyy-MM-dd": ClassPatternRecognition, "bad pattern": ClassPatternWeekBased, "YYYY-MM-dd": ClassPatternRecognition, "QQ": ClassPatternIllegal} {
		if _, err := CompilePattern(pat, true); err == nil || err.(*PatternError).Class != want {
			t.Errorf("%q: %v", pat, err)
		}
	}
}

func TestPatternParse(t *testing.T) {
	f := func(in, pat, want string) {
		t.Helper()
		p, err := CompilePattern(pat, true)
		if err != nil {
			t.Error(err)
			return
		}
		got := "none"
		if v, ok := p.ParseTimestamp([]byte(in), UTC); ok {
			got = string(AppendTimestamp(nil, v, UTC))
		}
		if got != want {
			t.Errorf("%q with %q: %s, want %s", in, pat, got, want)
		}
	}
	f("29.02.2024", "dd.MM.yyyy", "2024-02-29 00:00:00")
	f("Feb 29 2024", "MMM d yyyy", "2024-02-29 00:00:00")
	f("2024-060", "yyyy-DDD", "2024-02-29 00:00:00")
	f("2024-2-9", "yyyy-MM-dd", "none")
	f("2024-2-9", "yyyy-M-d", "2024-02-09 00:00:00")
	f("february 2024", "MMMM yyyy", "2024-02-01 00:00:00")
	f("2024-02-29x", "yyyy-MM-dd", "none")
	f("2024-02-29T10:20:30.123Z", "yyyy-MM-dd'T'HH:mm:ss.SSSX", "2024-02-29 10:20:30.123")
	f("2024-02-29 10:20:30 +0530", "yyyy-MM-dd HH:mm:ss Z", "2024-02-29 04:50:30")
	f("10:20", "HH:mm", "1970-01-01 10:20:00")
	f("2024-02-29 10:20:30.1", "yyyy-MM-dd HH:mm:ss.SSS", "2024-02-29 10:20:30.1")
	f("2024-02-29 24:00:00", "yyyy-MM-dd HH:mm:ss", "none")
	f("1709202030", "s", "none")
	f("20240229102030", "yyyyMMddHHmmss", "2024-02-29 10:20:30")
	f("20260615143045123", "yyyyMMddHHmmssSSS", "none")
	f("202606151430451", "yyyyMMddHHmmssS", "2026-06-15 14:30:45.1")
	f("260615143045123", "yyMMddHHmmssSSS", "2026-06-15 14:30:45.123")
	f("20260615.143045123", "yyyyMMdd.HHmmssSSS", "2026-06-15 14:30:45.123")
	f("2026-06-15", "yyyy-MM-dd[ HH:mm:ss]", "2026-06-15 00:00:00")
	f("2026-06-15T14:30:45.5", "yyyy-MM-dd'T'HH:mm:ss[.SSS]", "2026-06-15 14:30:45.5")
	f("24:30:00", "kk:mm:ss", "1970-01-01 00:30:00")
	f("12:00:00 am", "hh:mm:ss a", "1970-01-01 00:00:00")
	f("0:30:45 PM", "K:mm:ss a", "1970-01-01 12:30:45")
	f("2026-06-15 14:30:45 America/New_York", "yyyy-MM-dd HH:mm:ss VV", "2026-06-15 18:30:45")
	f("14 GMT+02:00", "HH OOOO", "1970-01-01 12:00:00")
	f("14 +023015", "HH XXXX", "1970-01-01 11:29:45")
	f("14 +01:60", "HH XXX", "none")
	f("AD 2026-06-15", "G yyyy-MM-dd", "2026-06-15 00:00:00")
	f("CE 2026-06-15", "G yyyy-MM-dd", "none")
	f("2026", "yyyy[", "2026-01-01 00:00:00")
	f("2024-02-30", "yyyy-MM-dd", "none")
}

func TestIntervals(t *testing.T) {
	for in, want := range map[string]string{"10 seconds": "10 seconds", "interval 1 hour 30 minutes": "1 hours 30 minutes", "-1 month": "-1 months",
		"1 year 2 months 25 days 5 hours 6 minutes 7.5 seconds": "1 years 2 months 25 days 5 hours 6 minutes 7.5 seconds", "0 days": "0 seconds",
		"-1.5 seconds": "-1.5 seconds", "2 WEEKS": "14 days", "": "none", "1": "none", "1.5 days": "none", "10seconds": "none", "1 dayz": "none"} {
		iv, st := ParseInterval([]byte(in))
		got := "none"
		if st == IntervalOK {
			got = string(AppendInterval(nil, iv))
		}
		if got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
	us, st := ParseDayTime([]byte("1 02:03:04.123456789"), schema.Day, schema.Second)
	if st != IntervalOK || string(AppendDayTimeShell(nil, us)) != "1 02:03:04.123456000" || string(AppendDayTime(nil, us, schema.Day, schema.Second)) != "INTERVAL '1 02:03:04.123456' DAY TO SECOND" {
		t.Error(us, st)
	}
	if us, st := ParseDayTime([]byte("INTERVAL -'90' MINUTE"), schema.Minute, schema.Minute); st != IntervalOK || string(AppendDayTime(nil, us, schema.Minute, schema.Minute)) != "INTERVAL '-90' MINUTE" {
		t.Error(us, st)
	}
	if m, st := ParseYearMonth([]byte("-1-2"), schema.Year, schema.Month); st != IntervalOK || m != -14 {
		t.Error(m, st)
	}
	if _, st := ParseYearMonth([]byte("1-13"), schema.Year, schema.Month); st != IntervalRange {
		t.Error(st)
	}
	for _, bad := range []string{"1", "1 day", "25:00", ""} {
		if _, st := ParseDayTime([]byte(bad), schema.Day, schema.Second); st != IntervalInvalid {
			t.Error(bad, st)
		}
	}
}
