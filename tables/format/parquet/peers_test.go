package parquet

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// TestPeers lets pyarrow and DuckDB read our files. It runs where
// PIPELINES_PEERS is set, with the virtual environment .tools/venv.
func TestPeers(t *testing.T) {
	if os.Getenv("PIPELINES_PEERS") == "" {
		t.Skip("run by make integration (PIPELINES_PEERS=1), which brings pyarrow and DuckDB")
	}
	python, err := filepath.Abs("../../../.tools/venv/bin/python")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(python); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	args := []string{"testdata/peers.py"}
	for i, o := range []map[string]string{
		{"compression": "snappy"}, {"compression": "zstd", "parquet.block.size": "100000"}, {"compression": "none"}, {"compression": "gzip"},
	} {
		s := peerSchema()
		rnd := rand.New(rand.NewPCG(uint64(i), 7))
		var rows [][]any
		for range []int{3000, 30000, 10, 3000}[i] {
			row := make([]any, len(s.Fields))
			for c, f := range s.Fields {
				row[c] = peerValue(rnd, f.Type, true)
			}
			rows = append(rows, row)
		}
		data, _ := writeAll(t, s, o, batchOf(s, rows))
		var text [][]any
		for _, r := range rows {
			text = append(text, peerText(s.Type(), r).([]any))
		}
		js, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		base := filepath.Join(dir, fmt.Sprint("f", i))
		if os.WriteFile(base+".json", js, 0o600) != nil || os.WriteFile(base+".parquet", data, 0o600) != nil {
			t.Fatal("writing files")
		}
		args = append(args, base)
	}
	out, err := exec.Command(python, args...).CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}

func peerSchema() schema.Schema {
	var s schema.Schema
	add := func(t schema.Type) {
		s.Fields = append(s.Fields, schema.Field{Name: fmt.Sprintf("c%d", (len(s.Fields)*7)%31), Type: t, Nullable: true})
	}
	for _, k := range []schema.Kind{schema.Boolean, schema.Int8, schema.Int16, schema.Int32, schema.Int64, schema.Float32, schema.Float64,
		schema.String, schema.Binary, schema.Date, schema.Timestamp, schema.TimestampNTZ} {
		add(schema.Of(k))
	}
	for _, p := range []int{5, 9, 10, 18, 19, 25, 38} {
		add(schema.DecimalOf(p, p/2))
	}
	i32, str := schema.Of(schema.Int32), schema.Of(schema.String)
	st := schema.StructOf(schema.Field{Name: "z", Type: i32, Nullable: true}, schema.Field{Name: "a", Type: schema.ArrayOf(str, true), Nullable: true})
	add(schema.ArrayOf(i32, true))
	add(schema.MapOf(str, schema.Of(schema.Float64), true))
	add(st)
	add(schema.ArrayOf(st, true))
	add(schema.ArrayOf(schema.ArrayOf(schema.DecimalOf(20, 2), true), true))
	add(schema.MapOf(i32, schema.ArrayOf(st, true), true))
	return s
}

func peerValue(r *rand.Rand, t schema.Type, nullable bool) any {
	if nullable && r.IntN(6) == 0 {
		return nil
	}
	switch t.Kind {
	case schema.Boolean:
		return r.IntN(2) == 0
	case schema.Int8:
		return int64(int8(r.Int()))
	case schema.Int16:
		return int64(int16(r.Int()))
	case schema.Int32:
		return int64(int32(r.Int()))
	case schema.Int64:
		return int64(r.Uint64()) >> r.IntN(60)
	case schema.Date:
		return int64(r.IntN(40000) - 20000)
	case schema.Timestamp, schema.TimestampNTZ:
		return int64(r.IntN(2e15)) - 1e15
	case schema.Float32:
		return math.Float32bits([]float32{0, float32(math.Copysign(0, -1)), float32(math.NaN()), float32(r.NormFloat64())}[r.IntN(4)])
	case schema.Float64:
		return math.Float64bits([]float64{0, math.Copysign(0, -1), math.NaN(), r.NormFloat64(), math.Inf(1)}[r.IntN(5)])
	case schema.String:
		return strings.Repeat([]string{"a", "é", "z\U0010ffff", ""}[r.IntN(4)], r.IntN(60)) + fmt.Sprint(r.IntN(400))
	case schema.Binary:
		return string([]byte{byte(r.Int()), byte(r.Int())})
	case schema.Decimal:
		if t.Precision <= column.MaxDecimal64 {
			return r.Int64N(int64(math.Pow10(t.Precision)))*2/2 - int64(math.Pow10(t.Precision))/2
		}
		if t.Precision == 19 || r.IntN(2) == 0 {
			return column.FromInt64(int64(r.Uint64()) >> r.IntN(60))
		}
		hi := int64(math.Pow10(t.Precision-20)) / 2
		return column.Int128{Hi: r.Int64N(2*hi+1) - hi, Lo: r.Uint64()}
	case schema.Array:
		out := []any{}
		for range r.IntN(4) {
			out = append(out, peerValue(r, *t.Elem, true))
		}
		return out
	case schema.Map:
		out := []pair{}
		for i := range r.IntN(4) {
			var k any = int64(i*1000 + r.IntN(100))
			if t.Key.Kind == schema.String {
				k = fmt.Sprint(k)
			}
			out = append(out, pair{k, peerValue(r, *t.Elem, true)})
		}
		return out
	}
	out := make([]any, len(t.Fields))
	for i, f := range t.Fields {
		out[i] = peerValue(r, f.Type, true)
	}
	return out
}

func peerText(t schema.Type, x any) any {
	switch x := x.(type) {
	case uint32:
		if f := math.Float32frombits(x); f != f {
			return "nan"
		}
		return fmt.Sprintf("%08x", x)
	case uint64:
		if f := math.Float64frombits(x); f != f {
			return "nan"
		}
		return fmt.Sprintf("%016x", x)
	case int64:
		if t.Kind == schema.Decimal {
			return fmt.Sprint(x)
		}
	case column.Int128:
		b := new(big.Int).Lsh(big.NewInt(x.Hi), 64)
		return b.Add(b, new(big.Int).SetUint64(x.Lo)).String()
	case string:
		if t.Kind == schema.Binary {
			return hex.EncodeToString([]byte(x))
		}
	case []pair:
		out := []any{}
		for _, p := range x {
			out = append(out, []any{peerText(*t.Key, p.k), peerText(*t.Elem, p.v)})
		}
		return out
	case []any:
		out := []any{}
		for i, e := range x {
			if t.Kind == schema.Array {
				out = append(out, peerText(*t.Elem, e))
			} else {
				out = append(out, peerText(t.Fields[i].Type, e))
			}
		}
		return out
	}
	return x
}
