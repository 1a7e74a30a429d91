package parquet

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	pqformat "github.com/parquet-go/parquet-go/format"

	"pipelines/stores"
	"pipelines/tables/column"
	"pipelines/tables/format"
	"pipelines/tables/schema"
)

func field(n string, t schema.Type) schema.Field {
	return schema.Field{Name: n, Type: t, Nullable: true}
}

func fields(f ...schema.Field) schema.Schema { return schema.Schema{Fields: f} }

var (
	i32 = schema.Of(schema.Int32)
	i64 = schema.Of(schema.Int64)
	str = schema.Of(schema.String)
)

func TestProjection(t *testing.T) {
	st := schema.StructOf(field("x", i32), field("Y", str))
	s := fields(field("A", i32), field("s", st), field("l", schema.ArrayOf(st, true)), field("b", str))
	rows := [][]any{
		{int64(1), []any{int64(10), "y"}, []any{[]any{int64(5), nil}, nil}, "b1"},
		{nil, nil, nil, nil},
		{int64(3), []any{nil, nil}, []any{}, "b3"},
	}
	data, _ := writeAll(t, s, nil, batchOf(s, rows))
	for _, c := range []struct {
		name string
		cols schema.Schema
		want [][]any
	}{
		{"order and case", fields(field("B", str), field("a", i32)), [][]any{{"b1", int64(1)}, {nil, nil}, {"b3", int64(3)}}},
		{"missing", fields(field("nope", i64), field("gone", schema.ArrayOf(st, true)), field("a", i32), field("v", schema.Of(schema.Void))),
			[][]any{{nil, nil, int64(1), nil}, {nil, nil, nil, nil}, {nil, nil, int64(3), nil}}},
		{"pruned struct", fields(field("s", schema.StructOf(field("y", str), field("new", i64)))), [][]any{{[]any{"y", nil}}, {nil}, {[]any{nil, nil}}}},
		{"only missing fields", fields(field("s", schema.StructOf(field("new", i64)))), [][]any{{[]any{nil}}, {nil}, {[]any{nil}}}},
		{"inside list", fields(field("l", schema.ArrayOf(schema.StructOf(field("new", str), field("X", i64)), true))),
			[][]any{{[]any{[]any{nil, int64(5)}, nil}}, {nil}, {[]any{}}}},
		{"list of missing fields", fields(field("l", schema.ArrayOf(schema.StructOf(field("new", str)), true))),
			[][]any{{[]any{[]any{nil}, nil}}, {nil}, {[]any{}}}},
		{"none", fields(), [][]any{{}, {}, {}}},
	} {
		pool := column.NewPool()
		got, err := readAll(data, format.ReadSpec{Columns: c.cols, Pool: pool})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if d := cmp.Diff(c.want, got, allowPair); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
		if v, b := pool.Live(); v != 0 || b != 0 {
			t.Errorf("%s: %d vectors, %d batches leak", c.name, v, b)
		}
	}
	if _, err := readAll(data, format.ReadSpec{Columns: fields(field("a", i32)), CaseSensitive: true}); err != nil {
		t.Error(err)
	}
	if _, err := readAll(data, format.ReadSpec{Columns: fields(field("b", i32))}); err == nil {
		t.Error("a string was read as a number")
	}
}

func TestWidening(t *testing.T) {
	dec := schema.DecimalOf
	for _, c := range []struct {
		have, want schema.Type
		in, out    any
	}{
		{schema.Of(schema.Int8), i64, int64(-5), int64(-5)},
		{schema.Of(schema.Int16), i32, int64(-5), int64(-5)},
		{i32, i64, int64(-7), int64(-7)},
		{i32, schema.Of(schema.Int8), int64(7), int64(7)},
		{i32, schema.Of(schema.Float64), int64(-7), math.Float64bits(-7)},
		{i32, dec(10, 0), int64(-7), int64(-7)},
		{i32, dec(20, 2), int64(-7), column.FromInt64(-700)},
		{i64, dec(20, 0), int64(-7), column.FromInt64(-7)},
		{schema.Of(schema.Float32), schema.Of(schema.Float64), math.Float32bits(1.5), math.Float64bits(1.5)},
		{dec(5, 2), dec(7, 2), int64(-123), int64(-123)},
		{dec(5, 2), dec(12, 4), int64(-123), int64(-12300)},
		{dec(5, 2), dec(30, 10), int64(-123), column.FromInt64(-12300000000)},
		{dec(20, 2), dec(38, 3), column.FromInt64(-123), column.FromInt64(-1230)},
		{schema.Of(schema.Date), schema.Of(schema.TimestampNTZ), int64(-1), int64(-dayMicros)},
		{schema.Of(schema.TimestampNTZ), schema.Of(schema.Timestamp), int64(-1), int64(-1)},
		{str, schema.Of(schema.Binary), "x", "x"},
		{schema.Of(schema.Binary), str, "x", "x"},
	} {
		s := fields(field("c", c.have))
		data, _ := writeAll(t, s, nil, batchOf(s, [][]any{{c.in}, {nil}}))
		got, err := readAll(data, format.ReadSpec{Columns: fields(field("c", c.want))})
		if err != nil {
			t.Errorf("%s as %s: %v", c.have, c.want, err)
		} else if d := cmp.Diff([][]any{{c.out}, {nil}}, got); d != "" {
			t.Errorf("%s as %s: %s", c.have, c.want, d)
		}
	}
	for _, c := range []struct{ have, want schema.Type }{
		{i64, i32}, {schema.Of(schema.Float64), schema.Of(schema.Float32)}, {i64, schema.Of(schema.Float64)}, {i32, dec(9, 0)},
		{dec(10, 2), dec(10, 1)}, {dec(10, 2), dec(10, 3)}, {i32, str}, {schema.Of(schema.Timestamp), schema.Of(schema.TimestampNTZ)},
		{schema.ArrayOf(i32, true), i32}, {i32, schema.StructOf(field("a", i32))}, {schema.StructOf(field("a", i32)), schema.ArrayOf(i32, true)},
	} {
		s := fields(field("c", c.have))
		data, _ := writeAll(t, s, nil, batchOf(s, nil))
		if _, err := readAll(data, format.ReadSpec{Columns: fields(field("c", c.want))}); err == nil {
			t.Errorf("%s was read as %s", c.have, c.want)
		}
	}
	s := fields(field("c", i32))
	data, _ := writeAll(t, s, nil, batchOf(s, [][]any{{int64(300)}}))
	if _, err := readAll(data, format.ReadSpec{Columns: fields(field("c", schema.Of(schema.Int8)))}); err == nil {
		t.Error("300 was read as a TINYINT")
	}
}

// TestForeignTypes reads types that we never write.
func TestForeignTypes(t *testing.T) {
	big20 := new(big.Int).SetBytes([]byte{1, 2})
	g := orderedGroup{Group: pq.Group{}}
	add := func(n string, node pq.Node) { g.Group[n], g.names = pq.Optional(node), append(g.names, n) }
	add("i96", pq.Leaf(pq.Int96Type))
	add("ms", pq.Timestamp(pq.Millisecond))
	add("ns", pq.TimestampAdjusted(pq.Nanosecond, false))
	add("u32", pq.Uint(32))
	add("u64", pq.Uint(64))
	add("u8", pq.Uint(8))
	add("dec", pq.Decimal(2, 25, pq.ByteArrayType))
	add("enum", pq.Enum())
	add("json", pq.JSON())
	add("uuid", pq.UUID())
	var out bytes.Buffer
	w := pq.NewGenericWriter[any](&out, pq.NewSchema("m", g))
	vals := []pq.Value{
		pq.Int96Value(deprecated.Int96{5_000_000, 0, 2440589}), pq.Int64Value(-5), pq.Int64Value(-1500), pq.Int32Value(-1), pq.Int64Value(-1), pq.Int32Value(200),
		pq.ByteArrayValue(big20.Bytes()), pq.ByteArrayValue([]byte("e")), pq.ByteArrayValue([]byte("{}")), pq.FixedLenByteArrayValue([]byte("0123456789abcdef")),
	}
	var row pq.Row
	for i, v := range vals {
		row = append(row, v.Level(0, 1, i))
	}
	if _, err := w.WriteRows([]pq.Row{row}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := New().Infer(context.Background(), []format.Input{{Object: memFile(out.Bytes())}}, format.ReadSpec{})
	if err != nil {
		t.Fatal(err)
	}
	want := "i96 TIMESTAMP, ms TIMESTAMP, ns TIMESTAMP_NTZ, u32 BIGINT, u64 DECIMAL(20,0), u8 SMALLINT, dec DECIMAL(25,2), enum STRING, json STRING, uuid BINARY"
	if s.DDL() != want {
		t.Errorf("inferred %s", s.DDL())
	}
	got, err := readAll(out.Bytes(), format.ReadSpec{Columns: s})
	if err != nil {
		t.Fatal(err)
	}
	wantRow := []any{int64(dayMicros + 5000), int64(-5000), int64(-2), int64(math.MaxUint32), column.Int128{Lo: math.MaxUint64}, int64(200),
		column.FromInt64(258), "e", "{}", "0123456789abcdef"}
	if d := cmp.Diff([][]any{wantRow}, got); d != "" {
		t.Error(d)
	}
}

// TestListForms checks the old forms of lists and maps.
func TestListForms(t *testing.T) {
	e := func(name string, rep pqformat.FieldRepetitionType, kids int32, c deprecated.ConvertedType) pqformat.SchemaElement {
		s := pqformat.SchemaElement{Name: name, RepetitionType: thrift.New(rep)}
		if kids > 0 {
			s.NumChildren = thrift.New(kids)
		} else {
			s.Type = thrift.New(pqformat.Int32)
		}
		if c >= 0 {
			s.ConvertedType = thrift.New(c)
		}
		return s
	}
	const none = deprecated.ConvertedType(-1)
	opt, rep, req := pqformat.Optional, pqformat.Repeated, pqformat.Required
	for _, c := range []struct {
		want string
		tree []pqformat.SchemaElement
	}{
		{"array<int>", []pqformat.SchemaElement{e("c", opt, 1, deprecated.List), e("list", rep, 1, none), e("element", opt, 0, none)}},
		{"array<int>", []pqformat.SchemaElement{e("c", opt, 1, deprecated.List), e("bag", rep, 1, none), e("array_element", req, 0, none)}},
		{"array<int>", []pqformat.SchemaElement{e("c", opt, 1, deprecated.List), e("array", rep, 0, none)}},
		{"array<struct<a:int>>", []pqformat.SchemaElement{e("c", opt, 1, deprecated.List), e("array", rep, 1, none), e("a", opt, 0, none)}},
		{"array<struct<a:int>>", []pqformat.SchemaElement{e("c", opt, 1, deprecated.List), e("c_tuple", rep, 1, none), e("a", opt, 0, none)}},
		{"array<struct<a:int,b:int>>", []pqformat.SchemaElement{e("c", opt, 1, deprecated.List), e("x", rep, 2, none), e("a", opt, 0, none), e("b", opt, 0, none)}},
		{"array<int>", []pqformat.SchemaElement{e("c", rep, 0, none)}},
		{"array<struct<a:int>>", []pqformat.SchemaElement{e("c", rep, 1, none), e("a", opt, 0, none)}},
		{"map<int,int>", []pqformat.SchemaElement{e("c", opt, 1, deprecated.MapKeyValue), e("map", rep, 2, deprecated.MapKeyValue), e("k", req, 0, none), e("v", opt, 0, none)}},
	} {
		root, _, err := buildFileTree(append([]pqformat.SchemaElement{e("root", req, 1, none)}, c.tree...))
		if err != nil {
			t.Fatal(err)
		}
		if got := root.kids[0].typ.String(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	// A list without annotation, with values.
	var out bytes.Buffer
	w := pq.NewGenericWriter[struct {
		L []int32 `parquet:"l"`
	}](&out)
	if _, err := w.Write([]struct {
		L []int32 `parquet:"l"`
	}{{[]int32{1, 2}}, {nil}, {[]int32{3}}}); err != nil {
		t.Fatal(err)
	}
	w.Close()
	got, err := readAll(out.Bytes(), format.ReadSpec{Columns: fields(field("l", schema.ArrayOf(i32, true)))})
	if d := cmp.Diff([][]any{{[]any{int64(1), int64(2)}}, {[]any{}}, {[]any{int64(3)}}}, got); d != "" || err != nil {
		t.Error(err, d)
	}
}

// TestDamaged cuts and changes files: errors only, marked as corrupt.
func TestDamaged(t *testing.T) {
	s := fields(field("a", i64), field("s", str), field("l", schema.ArrayOf(schema.DecimalOf(20, 2), true)))
	data, _ := writeAll(t, s, nil, batchOf(s, [][]any{{int64(1), "x", []any{column.FromInt64(3)}}}))
	for n := range data {
		_, err := readAll(data[:n], format.ReadSpec{Columns: s})
		if err == nil {
			t.Fatalf("%d of %d bytes were read", n, len(data))
		}
		if n < 12 && stores.Classify(err) != stores.Corrupt {
			t.Errorf("%d bytes: %v is not corrupt", n, err)
		}
	}
}

func TestChecksum(t *testing.T) {
	s := fields(field("a", i64))
	data, _ := writeAll(t, s, nil, batchOf(s, [][]any{{int64(1234567)}}))
	at := bytes.Index(data, []byte{0x87, 0xd6, 0x12})
	data[at]++
	if got, err := readAll(data, format.ReadSpec{Columns: s}); err == nil || stores.Classify(err) != stores.Corrupt {
		t.Errorf("a changed value was read: %v %v", got, err)
	}
}

func TestFirstRow(t *testing.T) {
	s := fields(field("a", i64))
	var bs []*column.Batch
	for i := range int64(5) {
		bs = append(bs, batchOf(s, [][]any{{2 * i}, {2*i + 1}}))
	}
	data, _ := writeAll(t, s, map[string]string{"parquet.block.size": "1"}, bs...)
	v := column.New(i64)
	push(v, int64(5))
	sc, err := New().Open(context.Background(), format.Input{Object: memFile(data)}, format.ReadSpec{Columns: s, BatchRows: 1,
		Terms: []format.Term{{Path: []string{"a"}, Op: format.GreaterEqual, Value: v}}})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for {
		b, err := sc.Next()
		if err != nil {
			break
		}
		n++
		if first := sc.(interface{ FirstRow() int64 }).FirstRow(); first != b.Cols[0].I64[0] {
			t.Errorf("row %d is said to be %d", b.Cols[0].I64[0], first)
		}
	}
	if n != 6 {
		t.Errorf("%d rows", n)
	}
}

func FuzzRead(f *testing.F) {
	st := schema.StructOf(field("x", i32), field("y", str))
	s := fields(field("a", i64), field("s", str), field("l", schema.ArrayOf(st, true)), field("m", schema.MapOf(i32, schema.Of(schema.Float64), true)),
		field("d", schema.DecimalOf(20, 2)), field("b", schema.Of(schema.Boolean)))
	var rows [][]any
	for i := range int64(40) {
		rows = append(rows, []any{i, []any{"x", "y", nil}[i%3], []any{[]any{i, "z"}, nil}, []pair{{i, uint64(i)}}, column.FromInt64(i), i%2 == 0}, []any{nil, nil, nil, nil, nil, nil})
	}
	data, _ := writeAll(f, s, map[string]string{"compression": "none"}, batchOf(s, rows))
	f.Add(data, 0, uint64(0))
	f.Add(refWrite(f, s, rows, pq.DataPageVersion(2), pq.PageBufferSize(100)), 20, uint64(77))
	f.Add(refWrite(f, s, rows, pq.DefaultEncodingFor(pq.ByteArray, &pq.DeltaByteArray)), 50, uint64(1<<40))
	f.Fuzz(func(t *testing.T, data []byte, at int, x uint64) {
		if len(data) > 1<<16 {
			return
		}
		if n := len(data) - 8; n > 0 && at >= 0 { // reach bytes without breaking the tail
			data = bytes.Clone(data)
			for i := range 8 {
				if p := at + i; p < n {
					data[p] ^= byte(x >> (8 * i))
				}
			}
		}
		damagedRead(data, s)
	})
}

// damagedRead reads whatever can be read.
func damagedRead(data []byte, s schema.Schema) {
	in := format.Input{Object: memFile(data)}
	inferred, err := New().Infer(context.Background(), []format.Input{in}, format.ReadSpec{})
	if err != nil {
		inferred = s
	}
	for _, cols := range []schema.Schema{s, inferred} {
		sc, err := New().Open(context.Background(), in, format.ReadSpec{Columns: cols, Options: map[string]string{verifyOption: "false"}})
		if err != nil {
			continue
		}
		for range 100 {
			b, err := sc.Next()
			if err != nil {
				break
			}
			for _, v := range b.Cols {
				for i := range b.Len {
					at(v, i)
				}
			}
			b.Release()
		}
		sc.Close()
	}
}

// TestFlips changes each byte of small files in several ways.
func TestFlips(t *testing.T) {
	st := schema.StructOf(field("x", i32), field("y", str))
	s := fields(field("a", i64), field("s", str), field("l", schema.ArrayOf(st, true)), field("m", schema.MapOf(i32, schema.Of(schema.Boolean), true)))
	var rows [][]any
	for i := range int64(30) {
		rows = append(rows, []any{i, "s", []any{[]any{i, "z"}, nil}, []pair{{i, true}}}, []any{nil, nil, nil, nil})
	}
	ours, _ := writeAll(t, s, map[string]string{"compression": "none"}, batchOf(s, rows))
	for _, data := range [][]byte{ours, refWrite(t, s, rows, pq.DataPageVersion(2))} {
		for i := range data {
			for _, x := range []byte{1, 0x80, 0xff} {
				data[i] ^= x
				damagedRead(data, s)
				data[i] ^= x
			}
		}
	}
}

// failing is an object whose reads fail.
type failing struct{ memFile }

func (failing) ReadAt([]byte, int64) (int, error) { return 0, errors.New("disk on fire") }

func TestReadError(t *testing.T) {
	s := fields(field("a", i64))
	data, _ := writeAll(t, s, nil, batchOf(s, [][]any{{int64(1)}}))
	_, err := New().Open(context.Background(), format.Input{Object: failing{data}}, format.ReadSpec{Columns: s})
	if err == nil || errors.Is(err, io.ErrUnexpectedEOF) || stores.Classify(err) == stores.Corrupt {
		t.Errorf("got %v", err)
	}
}
