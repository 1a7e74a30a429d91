package option

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"pipelines/spec/diag"
)

func testSet() *Set {
	return NewSet("the test reader",
		Field{Name: "mode", Type: TypeEnum, Values: []string{"PERMISSIVE", "FAILFAST"}, Default: "permissive", Doc: "What happens to bad records."},
		Field{Name: "maxFilesPerTrigger", Type: TypeInt, Min: 1, Doc: "Files in one epoch."},
		Field{Name: "maxBytesPerTrigger", Type: TypeBytes, Doc: "Bytes in one epoch."},
		Field{Name: "multiLine", Aliases: []string{"wholeFile"}, Type: TypeBool, Default: "false", Doc: "One record a file."},
		Field{Name: "maxFileAge", Type: TypeDuration, Default: "7d", Doc: "Older files are left out."},
		Field{Name: "sep", Default: ",", Doc: "Separator.", Check: func(s string) error {
			if len(s) != 1 {
				return errors.New("one character is wanted")
			}
			return nil
		}},
		Field{Name: "servers", Required: true, Doc: "Where."},
		Field{Name: "password", Type: TypeSecret, Doc: "Secret."},
		Field{Name: "ratio", Type: TypeNumber, Doc: "A share."},
		Field{Name: "ttl", Type: TypeInterval, Doc: "Months too."},
		Field{Name: "kafka.", Prefix: true, Doc: "Passed on."},
		Field{Name: "cleanSource", NoEffect: "files are kept", Doc: "Clean-up."},
		Field{Name: "avroSchema", Later: true, Doc: "Avro."},
	)
}

func TestDecode(t *testing.T) {
	v, list := testSet().Decode(FromMap(map[string]string{
		"MODE": "failfast", "maxfilespertrigger": "10", "maxBytesPerTrigger": "1g", "wholefile": "TRUE", "maxFileAge": "1 hour 30 minutes",
		"sep": ";", "servers": "a:1", "password": "hunter2", "ratio": "0.5", "ttl": "1 month 2 days", "kafka.x": "1", "Kafka.y": "2",
	}), Context{})
	if list != nil {
		t.Fatal(list.Render())
	}
	got := fmt.Sprintln(v.String("mode"), v.Int("maxFilesPerTrigger"), v.Int("maxBytesPerTrigger"), v.Bool("multiLine"), v.Duration("maxFileAge"),
		v.String("sep"), v.String("servers"), v.Secret("password"), v.Number("ratio"), v.Interval("ttl"), len(v.WithPrefix("kafka.")), v.IsSet("sep"))
	if want := "FAILFAST 10 1073741824 true 1h30m0s ; a:1 [secret] 0.5 {1 2 0} 2 true\n"; got != want {
		t.Errorf("values: %q", got)
	}
	if v.Secret("password").Reveal() != "hunter2" {
		t.Error("the secret is lost")
	}
	v, _ = testSet().Decode(nil, Context{})
	if v.String("mode") != "PERMISSIVE" || v.Bool("multiLine") || v.Duration("maxFileAge") != 7*24*time.Hour || v.IsSet("mode") || !v.Known("mode") {
		t.Error("defaults")
	}
}

func TestDecodeFaults(t *testing.T) {
	f := func(entries map[string]string, code diag.Code, parts ...string) {
		t.Helper()
		if entries["servers"] == "" {
			entries["servers"] = "x"
		}
		_, list := testSet().Decode(FromMap(entries), Context{})
		if len(list) != 1 || list[0].Code != code {
			t.Errorf("%v: %s", entries, list.Render())
			return
		}
		for _, p := range parts {
			if !strings.Contains(diag.Render(list[0]), p) {
				t.Errorf("%v: no %q in %s", entries, p, diag.Render(list[0]))
			}
		}
	}
	f(map[string]string{"mod": "x"}, "UNKNOWN_OPTION", `did you mean "mode"?`)
	f(map[string]string{"zzzzzz": "x"}, "UNKNOWN_OPTION", "known options: mode")
	f(map[string]string{"mode": "PERMISIVE"}, "INVALID_OPTION", `did you mean "PERMISSIVE"?`)
	f(map[string]string{"maxFilesPerTrigger": "0"}, "INVALID_OPTION", "at least 1")
	f(map[string]string{"maxFilesPerTrigger": "x"}, "INVALID_OPTION", "whole number")
	f(map[string]string{"maxBytesPerTrigger": "1 gig"}, "INVALID_OPTION", "size")
	f(map[string]string{"maxFileAge": "1 month"}, "INVALID_OPTION", "no fixed length")
	f(map[string]string{"maxFileAge": "99999999999 days"}, "INVALID_OPTION", "above 292 years")
	f(map[string]string{"multiLine": "yes"}, "INVALID_OPTION", "true or false")
	f(map[string]string{"sep": "ab"}, "INVALID_OPTION", "one character")
	f(map[string]string{"ratio": "NaN"}, "INVALID_OPTION", "number")
	f(map[string]string{"avroSchema": "x"}, "FEATURE_NOT_AVAILABLE")
	f(map[string]string{"cleanSource": "delete"}, "NOT_MEANINGFUL_HERE", "warning", "files are kept")
	f(map[string]string{"multiLine": "true", "wholeFile": "true"}, "DUPLICATE_KEY")
	if _, list := testSet().Decode(nil, Context{}); len(list) != 1 || list[0].Code != "MISSING_OPTION" {
		t.Error(list.Render())
	}
}

func TestSecretsStayHidden(t *testing.T) {
	const marker = "MARKER-7f3"
	set := testSet()
	entries := []Entry{
		{Name: "servers", Value: ParseValue("${env:HOST}:1")}, {Name: "password", Value: ParseValue("${file:pw}")},
		{Name: "maxFilesPerTrigger", Value: ParseValue("${env:N}")},
	}
	v, list := set.Decode(entries, Context{})
	if list != nil || v.Known("servers") || !v.IsSet("servers") {
		t.Fatalf("offline: %s", list.Render())
	}
	res := Resolver{
		Env:  func(name string) (string, bool) { return marker, name != "GONE" },
		File: func(string) ([]byte, error) { return []byte(marker + "\n"), nil },
	}
	v, list = set.Decode(entries, Context{Resolver: &res})
	if len(list) != 1 || list[0].Code != "INVALID_OPTION" || v.String("servers") != marker+":1" || v.Secret("password").Reveal() != marker {
		t.Fatalf("resolved: %s", list.Render())
	}
	s := NewSecret(marker)
	js, err := json.Marshal(map[string]any{"s": s, "p": &s})
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "s", s)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "s", s, "v", entries[0].Value)
	all := fmt.Sprintf("%v %+v %#v %s %q %x %d %v %+v", s, s, s, s, s, s, s, []Secret{s}, struct{ S Secret }{s}) +
		string(js) + log.String() + list.Render() + fmt.Sprintf("%+v", v)
	if strings.Contains(all, marker) || strings.Contains(all, fmt.Sprintf("%x", marker)) {
		t.Errorf("the secret is printed: %s", all)
	}
	if _, err := ParseValue("a${env:GONE}").Resolve(res); err == nil || !strings.Contains(err.Error(), "GONE") {
		t.Errorf("unset: %v", err)
	}
}

func TestParseValue(t *testing.T) {
	for in, secret := range map[string]bool{"": false, "a": false, "${x}": false, "${env:A}": true, "a${env:A}b${file:c/d}": true, "${env:A": false, "$${env:A}": true} {
		v := ParseValue(in)
		if v.String() != in || v.HasSecret() != secret {
			t.Errorf("%q: %q, %v", in, v.String(), v.HasSecret())
		}
	}
}

func TestParseInterval(t *testing.T) {
	f := func(in string, want Interval) {
		t.Helper()
		got, err := ParseInterval(in)
		if err != nil || got != want {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
	f("10 seconds", Interval{Micros: 10e6})
	f("INTERVAL 5 Minutes", Interval{Micros: 300e6})
	f("1 hour 30 minutes", Interval{Micros: 5400e6})
	f("1.5 seconds", Interval{Micros: 1500000})
	f("-1.5 seconds", Interval{Micros: -1500000})
	f("2 weeks 1 day", Interval{Days: 15})
	f("1 year 2 months", Interval{Months: 14})
	f("500 milliseconds 3 microseconds", Interval{Micros: 500003})
	f("5minutes", Interval{Micros: 300e6})
	for _, bad := range []string{"", "interval", "10", "seconds", "10 secs", "1.5 minutes", "x seconds", "99999999999999999999 days", "1 2 seconds", "9223372036854775807 weeks", "+-1 day", "1.1234567890 seconds"} {
		if got, err := ParseInterval(bad); err == nil {
			t.Errorf("%q is taken as %v", bad, got)
		}
	}
}

func TestParseBytes(t *testing.T) {
	for in, want := range map[string]int64{"10": 10, "1k": 1024, "1kb": 1024, "2 MiB": 2 << 20, "1.5g": 3 << 29, "7b": 7, "1T": 1 << 40} {
		if got, err := ParseBytes(in); err != nil || got != want {
			t.Errorf("%q: %d, %v", in, got, err)
		}
	}
	for _, bad := range []string{"", "x", "1 x", "-1", "1e9", "99999999p", "1.2.3k", "kb"} {
		if got, err := ParseBytes(bad); err == nil {
			t.Errorf("%q is taken as %d", bad, got)
		}
	}
}

func FuzzParseInterval(f *testing.F) {
	f.Add("interval 1 day 2 hours")
	f.Add("-1.5 seconds")
	f.Fuzz(func(t *testing.T, s string) {
		if iv, err := ParseInterval(s); err == nil {
			_, _ = iv.Duration()
		}
		if n, err := ParseBytes(s); err == nil && n < 0 {
			t.Errorf("%q has %d bytes", s, n)
		}
		if v := ParseValue(s); !v.HasSecret() && v.String() != s {
			t.Errorf("%q became %q", s, v.String())
		}
	})
}

func TestDocuments(t *testing.T) {
	set := testSet()
	md := set.Markdown()
	for _, part := range []string{"| `mode` | `PERMISSIVE`, `FAILFAST` | `permissive` |", "`multiLine`, `wholeFile`", "`kafka.*`", "Not available yet.", "required"} {
		if !strings.Contains(md, part) {
			t.Errorf("no %q in\n%s", part, md)
		}
	}
	if _, err := json.Marshal(set.JSONSchema()); err != nil {
		t.Error(err)
	}
	defer func() {
		if p := recover(); p == nil {
			t.Error("a double declaration is taken")
		}
	}()
	set.With(Field{Name: "Mode"})
}
