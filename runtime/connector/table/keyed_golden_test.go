package table_test

import (
	"bufio"
	"encoding/hex"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pipelines/runtime/connector/table"
)

var rewrite = flag.Bool("rewrite-state", false, "write the golden states anew")

// goldenCases are the shapes of state that a checkpoint may hold.
var goldenCases = map[string]keyedCase{
	"newest":  {truncates: true},
	"values":  {keepOld: true, structs: true},
	"history": {history: true, tracked: []int{1}},
	"filled":  {history: true, keepOld: true, structs: true, tracked: []int{1, 2}},
}

// goldenChanges are two epochs; the second follows a restart.
func goldenChanges(c keyedCase) (first, second []change) {
	first = []change{
		{key: 1, seq: 2, a: int32(1), b: "x"}, {key: 1, seq: 5, b: "y"}, {key: 2, seq: 4, op: table.OpDelete},
		{key: 3, seq: 3, a: int32(-7)}, {key: 3, seq: 6, op: table.OpDelete}, {key: -4, seq: 1, a: int32(0), b: ""},
	}
	second = []change{{key: 1, seq: 3, a: int32(2)}, {key: 2, seq: 3, b: "late"}, {key: 3, seq: 5, a: int32(9), b: "z"}, {key: -4, seq: 1, op: table.OpDelete}}
	if c.truncates {
		first = append(first, change{key: 0, seq: 1, op: table.OpTruncate})
		second = append(second, change{key: 9, seq: 0, a: int32(1)})
	}
	return first, second
}

// The state of earlier versions is read, and what is written is the same.
func TestGoldenState(t *testing.T) {
	for name, c := range goldenCases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, c, rand.New(rand.NewPCG(1, 1)))
			first, second := goldenChanges(c)
			b.run(first)
			path := filepath.Join("testdata", "state", "1", name+".txt")
			if *rewrite {
				writeState(t, path, b.state)
			}
			golden := readState(t, path)
			if !maps.Equal(texts(golden), texts(b.state)) {
				t.Errorf("the state is\n%v\nwant\n%v", texts(b.state), texts(golden))
			}
			b.state = golden
			b.restart()
			b.run(second)
			if got, want := b.rows(), b.model(append(first, second...)); !slices.Equal(got, want) {
				t.Errorf("got %v\nwant %v", got, want)
			}
		})
	}
}

func texts(state map[string][]byte) map[string]string {
	out := map[string]string{}
	for k, v := range state {
		out[hex.EncodeToString([]byte(k))] = hex.EncodeToString(v)
	}
	return out
}

func writeState(t *testing.T, path string, state map[string][]byte) {
	var out strings.Builder
	for _, k := range slices.Sorted(maps.Keys(state)) {
		fmt.Fprintf(&out, "%x %x\n", k, state[k])
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readState(t *testing.T, path string) map[string][]byte {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // read only
	out := map[string][]byte{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		k, v, _ := strings.Cut(lines.Text(), " ")
		key, err := hex.DecodeString(k)
		if err != nil {
			t.Fatal(err)
		}
		if out[string(key)], err = hex.DecodeString(v); err != nil {
			t.Fatal(err)
		}
	}
	return out
}
