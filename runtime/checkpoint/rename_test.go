package checkpoint

import (
	"maps"
	"path/filepath"
	"testing"

	"pipelines/runtime/stream"
)

func TestRename(t *testing.T) {
	path := filepath.Join(t.TempDir(), "flow.db")
	db, err := Create(path, Identity{Dataset: "main.default.a", Flow: "a", AppID: "app"})
	if err != nil {
		t.Fatal(err)
	}
	in := Intent{From: map[string]stream.Offset{"m.d.t": "", "source:x": ""}, To: map[string]stream.Offset{"m.d.t": "5", "source:x": "7"}}
	if err := db.WriteIntent(in, map[string][]Entry{"m.d.t": {{Key: []byte("k"), Value: []byte("v")}, {Key: []byte("l"), Value: []byte("w")}}}); err != nil {
		t.Fatal(err)
	}
	if err := db.WritePrepared(Prepared{Operators: map[string]string{"agg": "sum(m.d.t.v) over batch:m.d.t.k,xm.d.t.k"}}, nil); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := Rename(path, Renaming{Dataset: "main.default.b", Sources: map[string]string{"m.d.t": "m.d.u", "other": "more"}}); err != nil {
			t.Fatal(err)
		}
		db, err = Open(path, Identity{Dataset: "main.default.b", Flow: "a"})
		if err != nil {
			t.Fatal(err)
		}
		s, err := db.Load()
		if err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(s.Intent.To, map[string]stream.Offset{"m.d.u": "5", "source:x": "7"}) || db.Identity().AppID != "app" {
			t.Errorf("%v %v", s.Intent.To, db.Identity())
		}
		if got := s.Prepared.Operators["agg"]; got != "sum(m.d.u.v) over batch:m.d.u.k,xm.d.t.k" {
			t.Error(got)
		}
		for id, want := range map[string]string{"m.d.u": "k=v l=w ", "m.d.t": ""} {
			got := ""
			if err := db.ReadLedger(id, func(k, v []byte) error { got += string(k) + "=" + string(v) + " "; return nil }); err != nil || got != want {
				t.Errorf("%s: %q %v", id, got, err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := Rename(path, Renaming{Flow: "b"}); err != nil {
		t.Fatal(err)
	}
	if db, err = Open(path, Identity{Dataset: "main.default.b", Flow: "b"}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
