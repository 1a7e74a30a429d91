package console_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pipelines/runtime/connector"
	"pipelines/runtime/connector/connectortest"
	"pipelines/runtime/connector/console"
)

func read(t *testing.T, text []byte) (out []string) {
	t.Helper()
	for line := range bytes.Lines(text) {
		var l struct {
			Epoch int64
			Mode  string
			Row   struct {
				ID int64  `json:"id"`
				K  string `json:"k"`
			}
		}
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&l); err != nil || l.Mode != "append" {
			t.Errorf("%s: %v", line, err)
		}
		out = append(out, fmt.Sprintf("%d %q", l.Row.ID, l.Row.K))
	}
	return out
}

func TestContract(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.jsonl")
	connectortest.Sink(t, connectortest.SinkCase{
		Open: func(*testing.T) connector.Sink {
			return console.New(console.Options{Schema: connectortest.SinkSchema(), Path: path})
		},
		Read: func(t *testing.T) []string {
			text, err := os.ReadFile(path)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			return read(t, text)
		},
	})
	var out bytes.Buffer
	connectortest.Sink(t, connectortest.SinkCase{
		Open: func(*testing.T) connector.Sink {
			return console.New(console.Options{Schema: connectortest.SinkSchema(), Out: &out})
		},
		Read: func(t *testing.T) []string { return read(t, out.Bytes()) },
	})
}

// TestTornLine repeats an epoch whose write was cut at every byte.
func TestTornLine(t *testing.T) {
	token := []byte("{\"a\":1}\n{\"a\":2}\n")
	for n := range len(token) + 1 {
		path := filepath.Join(t.TempDir(), "out")
		before := "{\"a\":0}\n"
		if err := os.WriteFile(path, append([]byte(before), token[:n]...), 0o600); err != nil {
			t.Fatal(err)
		}
		s := console.New(console.Options{Path: path})
		if err := s.Commit(context.Background(), connector.EpochInfo{}, token); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(got) {
			if !json.Valid(line) {
				t.Errorf("cut at %d: %q", n, got)
			}
		}
		if !bytes.HasSuffix(got, token) || !bytes.HasPrefix(got, []byte(before)) {
			t.Errorf("cut at %d: %q", n, got)
		}
	}
}
