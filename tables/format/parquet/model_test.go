package parquet

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"math/big"
	"strings"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"pgregory.net/rapid"

	"pipelines/tables/column"
	"pipelines/tables/format"
	"pipelines/tables/schema"
)

// The model of a value: nil, bool, int64, uint32 and uint64 (bits of floats),
// string, column.Int128, []any (list, struct), []pair (map).
type pair struct{ k, v any }

func genType(t *rapid.T, depth int) schema.Type {
	kinds := []schema.Kind{schema.Boolean, schema.Int8, schema.Int16, schema.Int32, schema.Int64, schema.Float32, schema.Float64,
		schema.Decimal, schema.Decimal, schema.String, schema.String, schema.Binary, schema.Date, schema.Timestamp, schema.TimestampNTZ}
	if depth > 0 {
		kinds = append(kinds, schema.Array, schema.Array, schema.Map, schema.Struct, schema.Struct)
	}
	switch k := rapid.SampledFrom(kinds).Draw(t, "kind"); k {
	case schema.Decimal:
		p := rapid.IntRange(1, 38).Draw(t, "precision")
		return schema.DecimalOf(p, rapid.IntRange(0, p).Draw(t, "scale"))
	case schema.Array:
		return schema.ArrayOf(genType(t, depth-1), true)
	case schema.Map:
		return schema.MapOf(genType(t, 0), genType(t, depth-1), true)
	case schema.Struct:
		return schema.StructOf(genFields(t, depth-1, "f")...)
	default:
		return schema.Of(k)
	}
}

func genFields(t *rapid.T, depth int, prefix string) []schema.Field {
	var out []schema.Field
	for i := range rapid.IntRange(1, 4).Draw(t, "fields") {
		// names that do not sort in declared order
		out = append(out, schema.Field{Name: fmt.Sprintf("%s%d", prefix, (i*7+3)%10), Type: genType(t, depth), Nullable: true})
	}
	return out
}

func genValue(t *rapid.T, ty schema.Type, nullable bool) any {
	if nullable && rapid.IntRange(0, 3).Draw(t, "null") == 0 {
		return nil
	}
	ints := func(lo, hi int64) any {
		if rapid.Bool().Draw(t, "edge") {
			return rapid.SampledFrom([]int64{lo, hi, 0, 1, -1}).Draw(t, "v")
		}
		return rapid.Int64Range(lo, hi).Draw(t, "v")
	}
	switch ty.Kind {
	case schema.Boolean:
		return rapid.Bool().Draw(t, "v")
	case schema.Int8:
		return ints(math.MinInt8, math.MaxInt8)
	case schema.Int16:
		return ints(math.MinInt16, math.MaxInt16)
	case schema.Int32, schema.Date:
		return ints(math.MinInt32, math.MaxInt32)
	case schema.Int64, schema.Timestamp, schema.TimestampNTZ:
		return ints(math.MinInt64, math.MaxInt64)
	case schema.Float32:
		return math.Float32bits(float32(genFloat(t)))
	case schema.Float64:
		return math.Float64bits(genFloat(t))
	case schema.Decimal:
		return genDecimal(t, ty.Precision)
	case schema.String:
		s := rapid.SampledFrom([]string{"", "a", "abc", "ä", "zzz", "\x00", strings.Repeat("é", 50), "b" + strings.Repeat("\U0010ffff", 20)}).Draw(t, "s")
		return s + strings.Repeat("x", rapid.IntRange(0, 2).Draw(t, "n"))
	case schema.Binary:
		return string(rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "b"))
	case schema.Array:
		out := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "len") {
			out = append(out, genValue(t, *ty.Elem, true))
		}
		return out
	case schema.Map:
		out := []pair{}
		for range rapid.IntRange(0, 3).Draw(t, "len") {
			out = append(out, pair{genValue(t, *ty.Key, false), genValue(t, *ty.Elem, true)})
		}
		return out
	}
	out := make([]any, len(ty.Fields))
	for i, f := range ty.Fields {
		out[i] = genValue(t, f.Type, true)
	}
	return out
}

func genFloat(t *rapid.T) float64 {
	return rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1.5, -2.25, math.NaN(), math.Inf(1), math.Inf(-1), 1e30}).Draw(t, "f")
}

func genDecimal(t *rapid.T, precision int) any {
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(precision)), nil)
	x := new(big.Int).SetUint64(rapid.Uint64().Draw(t, "lo"))
	x.Add(x, new(big.Int).Lsh(big.NewInt(rapid.Int64Range(0, math.MaxInt64).Draw(t, "hi")), 64))
	x.Mod(x, limit)
	if rapid.Bool().Draw(t, "small") {
		x.SetInt64(x.Int64() % 10)
		x.Mod(x, limit)
	}
	if rapid.Bool().Draw(t, "neg") {
		x.Neg(x)
	}
	b := new(big.Int).And(x, new(big.Int).SetUint64(math.MaxUint64))
	v := column.Int128{Lo: b.Uint64(), Hi: new(big.Int).Rsh(x, 64).Int64()}
	if precision <= column.MaxDecimal64 {
		return int64(v.Lo)
	}
	return v
}

// push appends a value to a vector under construction.
func push(v *column.Vector, x any) {
	row := v.Len
	v.Len++
	if x == nil {
		switch column.PhysicalOf(v.Type) {
		case column.PhysStruct:
			for _, c := range v.Children {
				push(c, nil)
			}
		case column.PhysBytes:
			v.Offsets = append(v.Offsets, int32(len(v.Bytes)))
		case column.PhysList:
			v.Offsets = append(v.Offsets, v.Offsets[row])
		default:
			pushScalar(v, zeroOf(v.Type))
		}
		v.SetNull(row)
		return
	}
	switch v.Type.Kind {
	case schema.Struct:
		for i, c := range v.Children {
			push(c, x.([]any)[i])
		}
	case schema.Array:
		for _, e := range x.([]any) {
			push(v.Children[0], e)
		}
		v.Offsets = append(v.Offsets, int32(v.Children[0].Len))
	case schema.Map:
		for _, e := range x.([]pair) {
			push(v.Children[0], e.k)
			push(v.Children[1], e.v)
		}
		v.Offsets = append(v.Offsets, int32(v.Children[0].Len))
	default:
		pushScalar(v, x)
	}
}

func zeroOf(t schema.Type) any {
	switch column.PhysicalOf(t) {
	case column.PhysBool:
		return false
	case column.PhysI128:
		return column.Int128{}
	case column.PhysF32:
		return uint32(0)
	case column.PhysF64:
		return uint64(0)
	}
	return int64(0)
}

func pushScalar(v *column.Vector, x any) {
	switch column.PhysicalOf(v.Type) {
	case column.PhysBool:
		v.Bool = append(v.Bool, x.(bool))
	case column.PhysI8:
		v.I8 = append(v.I8, int8(x.(int64)))
	case column.PhysI16:
		v.I16 = append(v.I16, int16(x.(int64)))
	case column.PhysI32:
		v.I32 = append(v.I32, int32(x.(int64)))
	case column.PhysI64:
		v.I64 = append(v.I64, x.(int64))
	case column.PhysI128:
		v.I128 = append(v.I128, x.(column.Int128))
	case column.PhysF32:
		v.F32 = append(v.F32, math.Float32frombits(x.(uint32)))
	case column.PhysF64:
		v.F64 = append(v.F64, math.Float64frombits(x.(uint64)))
	case column.PhysBytes:
		v.Bytes = append(v.Bytes, x.(string)...)
		v.Offsets = append(v.Offsets, int32(len(v.Bytes)))
	}
}

// at reads the value of row i of a vector.
func at(v *column.Vector, i int) any {
	if v.IsNull(i) {
		return nil
	}
	if v.Dict != nil {
		return at(v.Dict, int(v.Index[i]))
	}
	i = v.Row(i)
	switch column.PhysicalOf(v.Type) {
	case column.PhysBool:
		return v.Bool[i]
	case column.PhysI8:
		return int64(v.I8[i])
	case column.PhysI16:
		return int64(v.I16[i])
	case column.PhysI32:
		return int64(v.I32[i])
	case column.PhysI64:
		return v.I64[i]
	case column.PhysI128:
		return v.I128[i]
	case column.PhysF32:
		return math.Float32bits(v.F32[i])
	case column.PhysF64:
		return math.Float64bits(v.F64[i])
	case column.PhysBytes:
		return string(v.Str(i))
	}
	if v.Type.Kind == schema.Struct {
		out := make([]any, len(v.Children))
		for k, c := range v.Children {
			out[k] = at(c, i)
		}
		return out
	}
	from, to := v.List(i)
	if v.Type.Kind == schema.Array {
		out := []any{}
		for ; from < to; from++ {
			out = append(out, at(v.Children[0], from))
		}
		return out
	}
	out := []pair{}
	for ; from < to; from++ {
		out = append(out, pair{at(v.Children[0], from), at(v.Children[1], from)})
	}
	return out
}

// memFile is an object in memory.
type memFile []byte

func (m memFile) ReadAt(b []byte, off int64) (int, error) {
	if off > int64(len(m)) {
		return 0, io.EOF
	}
	n := copy(b, m[off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}
func (m memFile) Size() int64  { return int64(len(m)) }
func (m memFile) Close() error { return nil }

func batchOf(s schema.Schema, rows [][]any) *column.Batch {
	b := &column.Batch{Len: len(rows)}
	for c, f := range s.Fields {
		v := column.New(f.Type)
		for _, r := range rows {
			push(v, r[c])
		}
		b.Cols = append(b.Cols, v)
	}
	return b
}

func writeAll(t rapid.TB, s schema.Schema, o map[string]string, batches ...*column.Batch) ([]byte, format.FileStats) {
	t.Helper()
	var out bytes.Buffer
	w, err := New().Create(&out, format.WriteSpec{Schema: s, Options: o, StatsColumns: -1})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range batches {
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	stats, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	if stats.Bytes != int64(out.Len()) {
		t.Fatalf("%d bytes announced, %d written", stats.Bytes, out.Len())
	}
	return out.Bytes(), stats
}

// readAll reads a file by our reader into rows.
func readAll(data []byte, spec format.ReadSpec) ([][]any, error) {
	s, err := New().Open(context.Background(), format.Input{Name: "test.parquet", Object: memFile(data)}, spec)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var out [][]any
	for {
		b, err := s.Next()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		for i := range b.Len {
			row := make([]any, len(b.Cols))
			for c, v := range b.Cols {
				row[c] = at(v, i)
			}
			out = append(out, row)
		}
		b.Release()
	}
}

// refNode is the slow reference's view of a type as parquet-go's nodes.
type orderedGroup struct {
	pq.Group
	names []string
}

func (o orderedGroup) Fields() []pq.Field {
	m := map[string]pq.Field{}
	for _, f := range o.Group.Fields() {
		m[f.Name()] = f
	}
	out := make([]pq.Field, len(o.names))
	for i, n := range o.names {
		out[i] = m[n]
	}
	return out
}

func refGroup(fields []schema.Field) pq.Node {
	g := orderedGroup{Group: pq.Group{}}
	for _, f := range fields {
		g.Group[f.Name] = pq.Optional(refNode(f.Type))
		g.names = append(g.names, f.Name)
	}
	return g
}

func refNode(t schema.Type) pq.Node {
	switch t.Kind {
	case schema.Boolean:
		return pq.Leaf(pq.BooleanType)
	case schema.Int8:
		return pq.Int(8)
	case schema.Int16:
		return pq.Int(16)
	case schema.Int32:
		return pq.Int(32)
	case schema.Int64:
		return pq.Int(64)
	case schema.Float32:
		return pq.Leaf(pq.FloatType)
	case schema.Float64:
		return pq.Leaf(pq.DoubleType)
	case schema.String:
		return pq.String()
	case schema.Binary:
		return pq.Leaf(pq.ByteArrayType)
	case schema.Date:
		return pq.Date()
	case schema.Timestamp, schema.TimestampNTZ:
		return pq.TimestampAdjusted(pq.Microsecond, t.Kind == schema.Timestamp)
	case schema.Decimal:
		switch {
		case t.Precision <= 9:
			return pq.Decimal(t.Scale, t.Precision, pq.Int32Type)
		case t.Precision <= 18:
			return pq.Decimal(t.Scale, t.Precision, pq.Int64Type)
		}
		return pq.Decimal(t.Scale, t.Precision, pq.FixedLenByteArrayType(decimalBytes(t.Precision)))
	case schema.Array:
		return pq.List(pq.Optional(refNode(*t.Elem)))
	case schema.Map:
		return pq.Map(refNode(*t.Key), pq.Optional(refNode(*t.Elem)))
	}
	return refGroup(t.Fields)
}

// refShred appends the values of x to the columns from col on and returns the
// next column.
func refShred(row [][]pq.Value, col int, t schema.Type, x any, rep, def, maxRep int, optional bool) int {
	if optional {
		if x == nil {
			return refNulls(row, col, t, rep, def)
		}
		def++
	}
	switch t.Kind {
	case schema.Struct:
		for i, f := range t.Fields {
			col = refShred(row, col, f.Type, x.([]any)[i], rep, def, maxRep, true)
		}
		return col
	case schema.Array:
		list := x.([]any)
		if len(list) == 0 {
			return refNulls(row, col, t, rep, def)
		}
		end := col
		for i, e := range list {
			r := rep
			if i > 0 {
				r = maxRep + 1
			}
			end = refShred(row, col, *t.Elem, e, r, def+1, maxRep+1, true)
		}
		return end
	case schema.Map:
		list := x.([]pair)
		if len(list) == 0 {
			return refNulls(row, col, t, rep, def)
		}
		end := col
		for i, e := range list {
			r := rep
			if i > 0 {
				r = maxRep + 1
			}
			mid := refShred(row, col, *t.Key, e.k, r, def+1, maxRep+1, false)
			end = refShred(row, mid, *t.Elem, e.v, r, def+1, maxRep+1, true)
		}
		return end
	}
	row[col] = append(row[col], refValue(t, x).Level(rep, def, col))
	return col + 1
}

func refNulls(row [][]pq.Value, col int, t schema.Type, rep, def int) int {
	for range leafCount(t) {
		row[col] = append(row[col], pq.NullValue().Level(rep, def, col))
		col++
	}
	return col
}

func leafCount(t schema.Type) int {
	switch t.Kind {
	case schema.Struct:
		n := 0
		for _, f := range t.Fields {
			n += leafCount(f.Type)
		}
		return n
	case schema.Array:
		return leafCount(*t.Elem)
	case schema.Map:
		return leafCount(*t.Key) + leafCount(*t.Elem)
	}
	return 1
}

func refValue(t schema.Type, x any) pq.Value {
	switch x := x.(type) {
	case bool:
		return pq.BooleanValue(x)
	case uint32:
		return pq.FloatValue(math.Float32frombits(x))
	case uint64:
		return pq.DoubleValue(math.Float64frombits(x))
	case string:
		return pq.ByteArrayValue([]byte(x))
	case column.Int128:
		return pq.FixedLenByteArrayValue(appendFixed(nil, x, decimalBytes(t.Precision)))
	}
	n := x.(int64)
	switch t.Kind {
	case schema.Int8, schema.Int16, schema.Int32, schema.Date:
		return pq.Int32Value(int32(n))
	case schema.Decimal:
		if t.Precision <= 9 {
			return pq.Int32Value(int32(n))
		}
	}
	return pq.Int64Value(n)
}

// refAssemble rebuilds a value from the values of its leaves.
func refAssemble(cols [][]pq.Value, t schema.Type, def, rep int, optional bool) any {
	first := cols[0][0]
	if optional {
		if first.DefinitionLevel() <= def {
			return nil
		}
		def++
	}
	split := func() [][][]pq.Value {
		var out [][][]pq.Value
		for c, vals := range cols {
			i := -1
			for _, v := range vals {
				if i < 0 || v.RepetitionLevel() <= rep+1 {
					i++
				}
				for len(out) <= i {
					out = append(out, make([][]pq.Value, len(cols)))
				}
				out[i][c] = append(out[i][c], v)
			}
		}
		return out
	}
	switch t.Kind {
	case schema.Struct:
		out := make([]any, len(t.Fields))
		at := 0
		for i, f := range t.Fields {
			n := leafCount(f.Type)
			out[i] = refAssemble(cols[at:at+n], f.Type, def, rep, true)
			at += n
		}
		return out
	case schema.Array:
		out := []any{}
		if first.DefinitionLevel() <= def {
			return out
		}
		for _, e := range split() {
			out = append(out, refAssemble(e, *t.Elem, def+1, rep+1, true))
		}
		return out
	case schema.Map:
		out := []pair{}
		if first.DefinitionLevel() <= def {
			return out
		}
		k := leafCount(*t.Key)
		for _, e := range split() {
			out = append(out, pair{refAssemble(e[:k], *t.Key, def+1, rep+1, false), refAssemble(e[k:], *t.Elem, def+1, rep+1, true)})
		}
		return out
	}
	return refScalar(t, first)
}

func refScalar(t schema.Type, v pq.Value) any {
	switch t.Kind {
	case schema.Boolean:
		return v.Boolean()
	case schema.Float32:
		return math.Float32bits(v.Float())
	case schema.Float64:
		return math.Float64bits(v.Double())
	case schema.String, schema.Binary:
		return string(v.ByteArray())
	}
	switch v.Kind() {
	case pq.FixedLenByteArray:
		x, _ := bigEndian(v.ByteArray())
		return x
	case pq.Int32:
		return int64(v.Int32())
	}
	return v.Int64()
}

func refRead(t rapid.TB, s schema.Schema, data []byte) [][]any {
	t.Helper()
	f, err := pq.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var out [][]any
	for _, g := range f.RowGroups() {
		rows := g.Rows()
		buf := make([]pq.Row, 10)
		for {
			n, err := rows.ReadRows(buf)
			for _, r := range buf[:n] {
				cols := make([][]pq.Value, leafCount(s.Type()))
				for _, v := range r {
					cols[v.Column()] = append(cols[v.Column()], v.Clone())
				}
				row := make([]any, len(s.Fields))
				at := 0
				for i, f := range s.Fields {
					k := leafCount(f.Type)
					row[i] = refAssemble(cols[at:at+k], f.Type, 0, 0, true)
					at += k
				}
				out = append(out, row)
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		rows.Close()
	}
	return out
}

func refWrite(t rapid.TB, s schema.Schema, rows [][]any, o ...pq.WriterOption) []byte {
	t.Helper()
	var out bytes.Buffer
	sc := pq.NewSchema("spark_schema", refGroup(s.Fields))
	w := pq.NewGenericWriter[any](&out, append([]pq.WriterOption{sc}, o...)...)
	for _, r := range rows {
		cols := make([][]pq.Value, leafCount(s.Type()))
		at := 0
		for i, f := range s.Fields {
			at = refShred(cols, at, f.Type, r[i], 0, 0, 0, true)
		}
		if _, err := w.WriteRows([]pq.Row{pq.MakeRow(cols...)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

var _ = deprecated.UTF8
