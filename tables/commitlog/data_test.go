package commitlog

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"pipelines/tables/schema"
)

// TestData runs testdata/log: actions in, decisions out.
//
//	reset                                    starts an empty table
//	commit                                   applies the lines as the next version and shows the table
//	decode                                   shows the lines as read and written again
//	judge [reads] [all] [ws] [app=…] [removes=…]   judges an attempt against the lines of another commit
//	protocol                                 says what may be done with a table of these actions
//	upgrade to=TYPE                          shows the protocol after a column of that type was added
//	property                                 judges properties given as lines name=value
//	check [by=…]                             checks a schema given as lines "name type"
func TestData(t *testing.T) {
	datadriven.Walk(t, "testdata/log", func(t *testing.T, path string) {
		state := NewState()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "reset":
				state = NewState()
				return ""
			case "check":
				return runCheck(t, d)
			case "property":
				return runProperty(d)
			}
			c, err := Decode([]byte(d.Input))
			if err != nil {
				return "error: " + err.Error()
			}
			switch d.Cmd {
			case "commit":
				if err := state.Apply(state.Version()+1, c); err != nil {
					return "error: " + err.Error()
				}
				return show(state)
			case "decode":
				out, err := Encode(c)
				if err != nil {
					return "error: " + err.Error()
				}
				return string(out)
			case "judge":
				return runJudge(d, c)
			case "protocol":
				return fmt.Sprintf("read: %v\nwrite: %v", orOK(c.Protocol.Readable(c.Metadata)), orOK(c.Protocol.Writable(c.Metadata)))
			case "upgrade":
				var to string
				d.ScanArgs(t, "to", &to)
				typ, err := schema.ParseTypeJSON(`"` + to + `"`)
				if err != nil {
					t.Fatal(err)
				}
				up := c.Protocol.Upgrade(schema.Schema{Fields: []schema.Field{{Name: "x", Type: typ}}})
				out, _ := Encode(&Commit{Protocol: up})
				return string(out)
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

func orOK(err error) string {
	if err == nil {
		return "ok"
	}
	if e, ok := errors.AsType[*UnsupportedError](err); ok {
		return e.Class() + " " + e.Error()
	}
	return err.Error()
}

func show(s *State) string {
	var b strings.Builder
	v := s.View()
	fmt.Fprintf(&b, "version %d, %d files, %d bytes\n", v.Version, v.NumFiles, v.Bytes)
	for _, f := range v.Files() {
		fmt.Fprintf(&b, "  %s %s\n", f.Path, showValues(f.PartitionValues))
	}
	for _, p := range slices.Sorted(maps.Keys(s.tombs)) {
		fmt.Fprintf(&b, "  removed %s\n", p)
	}
	for _, id := range slices.Sorted(maps.Keys(v.Txns)) {
		fmt.Fprintf(&b, "  txn %s %d\n", id, v.Txns[id].Version)
	}
	for _, id := range slices.Sorted(maps.Keys(s.domains)) {
		fmt.Fprintf(&b, "  domain %s %s\n", id, s.domains[id].Configuration)
	}
	return b.String()
}

func showValues(m map[string]*string) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if m[k] == nil {
			out = append(out, k+"=NULL")
		} else {
			out = append(out, k+"="+*m[k])
		}
	}
	return strings.Join(out, ",")
}

func runJudge(d *datadriven.TestData, c *Commit) string {
	a := &Attempt{Reads: d.HasArg("reads"), ReplacesAll: d.HasArg("all")}
	if d.HasArg("ws") {
		a.Isolation = WriteSerializable
	}
	for _, arg := range d.CmdArgs {
		switch arg.Key {
		case "app":
			a.AppIDs = arg.Vals
		case "removes":
			a.Removes = arg.Vals
		}
	}
	if conflict := Judge(a, 7, c); conflict != nil {
		return conflict.Error()
	}
	return "goes on"
}

func runCheck(t *testing.T, d *datadriven.TestData) string {
	var s schema.Schema
	for line := range strings.Lines(d.Input) {
		name, typ, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "|")
		if typ[0] != '{' {
			typ = `"` + typ + `"`
		}
		parsed, err := schema.ParseTypeJSON(typ)
		if err != nil {
			t.Fatal(err)
		}
		s.Fields = append(s.Fields, schema.Field{Name: strings.ReplaceAll(name, `\t`, "\t"), Type: parsed, Nullable: true})
	}
	var by []string
	for _, arg := range d.CmdArgs {
		if arg.Key == "by" {
			by = arg.Vals
		}
	}
	var out []string
	for _, e := range CheckSchema(s, by) {
		out = append(out, e.Error()+"\n  hint: "+e.Hint)
	}
	if out == nil {
		return "ok"
	}
	return strings.Join(out, "\n")
}

func TestProperties(t *testing.T) {
	m := &Metadata{Configuration: map[string]string{}}
	if Retention(m) != 168*time.Hour || CheckpointInterval(m, 0) != 10 || CheckpointInterval(m, 1000) != 50 || IsolationOf(m) != Serializable {
		t.Error("defaults")
	}
	m.Configuration = map[string]string{PropDeletedRetention: "interval 2 days 3 hours", PropCheckpointInterval: "7", PropIsolation: "writeserializable", PropAppendOnly: "TRUE"}
	if Retention(m) != 51*time.Hour || CheckpointInterval(m, 1000) != 7 || IsolationOf(m) != WriteSerializable || !AppendOnly(m) {
		t.Error("set")
	}
	for _, bad := range []string{"", "interval", "1", "1 fortnight", "-1 day", "x day"} {
		if d, ok := parseInterval(bad); ok {
			t.Errorf("%q is %v", bad, d)
		}
	}
}

func runProperty(d *datadriven.TestData) string {
	var b strings.Builder
	for line := range strings.Lines(d.Input) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		c := CheckProperty(name, value)
		finding := [...]string{PropertyHonoured: "honoured", PropertyWithoutEffect: "no effect", PropertyWrongValue: "wrong", PropertyUnavailable: "unavailable"}[c.Finding]
		fmt.Fprintf(&b, "%s: %s %s\n", c.Name, finding, c.Wanted)
	}
	return b.String()
}
