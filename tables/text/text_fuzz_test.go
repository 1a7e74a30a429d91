package text

import (
	"testing"

	"pipelines/tables/schema"
)

// FuzzTimestamp compares the quick forms with the general ones, and demands
// that what is printed is read back.
func FuzzTimestamp(f *testing.F) {
	for _, s := range []string{"2026-01-02T03:04:05.123Z", "2024-02-29 10:20:30+01:00", "2024-02-29 10:20:30.1234567", "-0001-01-01", "2024-2-9", "12024-01-01", "2024-02-29T", "1600-02-29 23:59:59.999999"} {
		f.Add([]byte(s))
	}
	la, err := LoadZone("America/Los_Angeles")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 100 {
			return
		}
		fast, ok := fixedTimestamp(b, la)
		slow, slowOK := parseTimestamp(b, la, nil)
		if ok && (!slowOK || fast != slow) {
			t.Errorf("%q: %d and %d %v", b, fast, slow, slowOK)
		}
		if slowOK {
			if back, ok := ParseTimestamp(AppendTimestamp(nil, slow, UTC), UTC); !ok || back != slow {
				t.Errorf("%q: %d printed as %s is %d %v", b, slow, AppendTimestamp(nil, slow, UTC), back, ok)
			}
		}
		if days, ok := ParseDate(b); ok {
			if back, ok := ParseDate(AppendDate(nil, days)); !ok || back != days {
				t.Errorf("%q: %d printed as %s is %d %v", b, days, AppendDate(nil, days), back, ok)
			}
		}
		if v, ok := ParseInt64(b); ok {
			if d, ok := ParseDouble(b); !ok || d != float64(v) {
				t.Errorf("%q: %d and %v", b, v, d)
			}
		}
	})
}

// FuzzPattern demands that compiling, parsing and printing never panic, and
// that a printed full pattern is read back.
func FuzzPattern(f *testing.F) {
	for _, s := range []string{"yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "[yy]MMM''d[", "G y QQQQ E a h K k D F VV z O Z", "yyyyMMddHHmmssS", "dd/MM/yyyy", "'x"} {
		f.Add(s, []byte("2026-01-02T03:04:05.123Z"), int64(1719860400123456))
	}
	f.Fuzz(func(t *testing.T, pattern string, b []byte, micros int64) {
		if len(pattern) > 60 || len(b) > 60 {
			return
		}
		if p, err := CompilePattern(pattern, true); err == nil {
			p.ParseTimestamp(b, UTC)
			p.ParseDate(b)
		}
		if p, err := CompilePattern(pattern, false); err == nil {
			p.AppendTimestamp(nil, micros, UTC)
		}
		p, _ := CompilePattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX", true)
		q, _ := CompilePattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX", false)
		if back, ok := p.ParseTimestamp(q.AppendTimestamp(nil, micros, UTC), UTC); !ok || back != micros {
			t.Errorf("%d: %s, %d %v", micros, q.AppendTimestamp(nil, micros, UTC), back, ok)
		}
		ParseInterval(b)
		ParseDayTime(b, schema.Day, schema.Second)
		ParseYearMonth(b, schema.Year, schema.Month)
		ParseDecimal(b, 38, 10)
		_, _ = LoadZone(string(b))
	})
}
