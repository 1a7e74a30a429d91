package formattest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"pipelines/spec/option"
	"pipelines/tables/column"
	"pipelines/tables/format"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// Case is one file with what it holds.
type Case struct {
	Format  format.Format
	Name    string // with its extension
	Data    []byte
	Schema  schema.Schema
	Options map[string]string // keys in lower case
	Want    []string          // rows as Show prints them, nil: not compared
	// NoProjection leaves out the reads of single columns (modes whose result
	// depends on which columns are read).
	NoProjection bool
	// NoJoin leaves out compression in two members cut at a line.
	NoJoin bool
}

// object is a stores.Object over bytes.
type object struct {
	*bytes.Reader
	closed int
}

func (o *object) Close() error { o.closed++; return nil }

// Input returns data as a file called name.
func Input(name string, data []byte) format.Input {
	return format.Input{Name: name, Object: &object{Reader: bytes.NewReader(data)}, ModTime: time.Unix(0, 0)}
}

// Run checks the contract on a case.
func Run(t *testing.T, c Case) {
	t.Helper()
	spec := format.ReadSpec{Declared: c.Schema, Columns: c.Schema, Options: c.Options, Location: time.UTC}
	want := c.Want
	for _, rows := range []int{2048, 1, 7} {
		spec.BatchRows = rows
		got := mustRead(t, c, spec)
		if want == nil {
			want = got
		}
		compare(t, fmt.Sprintf("batches of %d rows", rows), got, want)
	}
	spec.BatchRows = 0
	for ext, data := range compressed(t, c) {
		compare(t, ext, mustRead(t, c.as(ext, data), spec), want)
	}
	if !c.NoProjection {
		projections(t, c, spec)
	}
}

func projections(t *testing.T, c Case, spec format.ReadSpec) {
	t.Helper()
	all := mustReadCells(t, c, spec)
	check := func(what string, idx []int) {
		t.Helper()
		spec.Columns = schema.Schema{}
		for _, k := range idx {
			spec.Columns.Fields = append(spec.Columns.Fields, c.Schema.Fields[k])
		}
		got := mustReadCells(t, c, spec)
		if len(got) != len(all) {
			t.Errorf("%s: %d rows, want %d", what, len(got), len(all))
			return
		}
		for r := range all {
			for n, k := range idx {
				if got[r][n] != all[r][k] {
					t.Errorf("%s, row %d: %s, want %s", what, r, got[r][n], all[r][k])
					return
				}
			}
		}
	}
	check("no column", nil)
	var reversed []int
	for k, f := range c.Schema.Fields {
		check("column "+f.Name, []int{k})
		reversed = append([]int{k}, reversed...)
	}
	check("columns reversed", reversed)
}

// compressed returns the file's bytes by the extension to add (and a remark).
func compressed(t *testing.T, c Case) map[string][]byte {
	t.Helper()
	zip := func(parts ...[]byte) []byte {
		var b bytes.Buffer
		for _, p := range parts {
			w := gzip.NewWriter(&b)
			if _, err := w.Write(p); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
		return b.Bytes()
	}
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{".gz": zip(c.Data), ".zst": z.EncodeAll(c.Data, nil)}
	if !c.NoJoin {
		half := len(c.Data) / 2
		out[".gz of two members and zeros"] = append(zip(c.Data[:half], c.Data[half:]), 0, 0, 0)
		out[".zst of two frames"] = z.EncodeAll(c.Data[half:], z.EncodeAll(c.Data[:half], nil))
	}
	return out
}

func compare(t *testing.T, what string, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		g, w := "no row", "no row"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Errorf("%s, row %d:\n got %s\nwant %s", what, i, g, w)
			return
		}
	}
}

// as returns the case with other bytes under a name with the first word of ext
// added.
func (c Case) as(ext string, data []byte) Case {
	word, _, _ := strings.Cut(ext, " ")
	c.Name, c.Data = c.Name+word, data
	return c
}

func mustRead(t *testing.T, c Case, spec format.ReadSpec) []string {
	t.Helper()
	var out []string
	for _, r := range mustReadCells(t, c, spec) {
		out = append(out, strings.Join(r, "|"))
	}
	return out
}

func mustReadCells(t *testing.T, c Case, spec format.ReadSpec) [][]string {
	t.Helper()
	rows, err := Read(c.Format, Input(c.Name, c.Data), spec)
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	return rows
}

// Read reads a file and returns its cells as Show prints them. It checks the
// invariants of batches and that nothing is left over.
func Read(f format.Format, in format.Input, spec format.ReadSpec) (rows [][]string, err error) {
	err = scan(f, in, spec, func(b *column.Batch, r int) {
		cells := make([]string, len(b.Cols))
		for k, c := range b.Cols {
			cells[k] = Show(c, r)
		}
		rows = append(rows, cells)
	})
	return rows, err
}

// scan reads a file row by row, with the checks of Read.
func scan(f format.Format, in format.Input, spec format.ReadSpec, fn func(b *column.Batch, r int)) (err error) {
	pool := column.NewPool()
	spec.Pool = pool
	s, err := f.Open(context.Background(), in, spec)
	if err != nil {
		return err
	}
	defer func() {
		if e := s.Close(); err == nil {
			err = e
		}
		if o, ok := in.Object.(*object); ok && o.closed != 1 && err == nil {
			err = fmt.Errorf("the file was closed %d times", o.closed)
		}
		if v, b := pool.Live(); err == nil && (v != 0 || b != 0) {
			err = fmt.Errorf("%d vectors and %d batches are left over", v, b)
		}
	}()
	for {
		b, err := s.Next()
		if err == io.EOF {
			if _, err := s.Next(); err != io.EOF {
				return fmt.Errorf("behind the end: %v", err)
			}
			return nil
		}
		if err != nil {
			return err
		}
		if b.Len == 0 || b.Sel != nil || len(b.Cols) != len(spec.Columns.Fields) {
			return fmt.Errorf("a batch of %d rows, %d columns", b.Len, len(b.Cols))
		}
		for k, c := range b.Cols {
			if err := Check(c, b.Len); err != nil {
				return fmt.Errorf("column %d: %w", k, err)
			}
		}
		for r := range b.Len {
			fn(b, r)
		}
		b.Release()
	}
}

// Check verifies the invariants of a flat vector of n rows.
func Check(v *column.Vector, n int) error {
	if v.Len != n {
		return fmt.Errorf("%s has %d rows of %d", v.Type, v.Len, n)
	}
	have := n
	switch column.PhysicalOf(v.Type) {
	case column.PhysBool:
		have = len(v.Bool)
	case column.PhysI8:
		have = len(v.I8)
	case column.PhysI16:
		have = len(v.I16)
	case column.PhysI32:
		have = len(v.I32)
	case column.PhysI64:
		have = len(v.I64)
	case column.PhysI128:
		have = len(v.I128)
	case column.PhysF32:
		have = len(v.F32)
	case column.PhysF64:
		have = len(v.F64)
	case column.PhysBytes:
		have = len(v.Offsets) - 1
		if int(v.Offsets[n]) != len(v.Bytes) {
			return fmt.Errorf("%d bytes, last offset %d", len(v.Bytes), v.Offsets[n])
		}
	case column.PhysList:
		have = len(v.Offsets) - 1
		for _, c := range v.Children {
			if err := Check(c, int(v.Offsets[n])); err != nil {
				return err
			}
		}
	case column.PhysStruct:
		for _, c := range v.Children {
			if err := Check(c, n); err != nil {
				return err
			}
			for i := range n {
				if v.IsNull(i) && !c.IsNull(i) {
					return fmt.Errorf("row %d: a field of a null struct is not null", i)
				}
			}
		}
	}
	if have != n {
		return fmt.Errorf("%s has a payload of %d rows for %d", v.Type, have, n)
	}
	return nil
}

// Show prints row i of a flat vector: texts in quotes, nested values in the
// shell's form.
func Show(v *column.Vector, i int) string {
	if v.IsNull(i) {
		return "null"
	}
	switch v.Type.Kind {
	case schema.Array, schema.Map:
		from, to := v.List(i)
		var parts []string
		for k := from; k < to; k++ {
			p := Show(v.Children[0], k)
			if v.Type.Kind == schema.Map {
				p += ":" + Show(v.Children[1], k)
			}
			parts = append(parts, p)
		}
		if v.Type.Kind == schema.Map {
			return "{" + strings.Join(parts, ",") + "}"
		}
		return "[" + strings.Join(parts, ",") + "]"
	case schema.Struct:
		var parts []string
		for k, f := range v.Type.Fields {
			parts = append(parts, `"`+f.Name+`":`+Show(v.Children[k], i))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	return showScalar(v, i)
}

func showScalar(v *column.Vector, i int) string {
	switch v.Type.Kind {
	case schema.Boolean:
		return fmt.Sprint(v.Bool[i])
	case schema.Int8:
		return fmt.Sprint(v.I8[i])
	case schema.Int16:
		return fmt.Sprint(v.I16[i])
	case schema.Int32:
		return fmt.Sprint(v.I32[i])
	case schema.Int64:
		return fmt.Sprint(v.I64[i])
	case schema.Float32:
		return string(text.AppendFloat(nil, v.F32[i]))
	case schema.Float64:
		return string(text.AppendDouble(nil, v.F64[i]))
	case schema.Decimal:
		if v.Type.Precision > column.MaxDecimal64 {
			return string(text.AppendDecimal(nil, v.I128[i], v.Type.Scale))
		}
		return string(text.AppendDecimal64(nil, v.I64[i], v.Type.Scale))
	case schema.Date:
		return string(text.AppendDate(nil, v.I32[i]))
	case schema.Timestamp, schema.TimestampNTZ:
		return string(text.AppendTimestampNTZ(nil, v.I64[i]))
	case schema.String:
		return `"` + string(v.Str(i)) + `"`
	case schema.Binary:
		return fmt.Sprintf("%x", v.Str(i))
	}
	return "?"
}

// WriteAll writes batches of the rows that a file holds and returns the bytes.
func WriteAll(f format.Format, in format.Input, spec format.ReadSpec, options map[string]string) ([]byte, error) {
	s, err := f.Open(context.Background(), in, spec)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w, err := f.Create(&out, format.WriteSpec{Schema: spec.Columns, Options: options, Location: spec.Location})
	if err != nil {
		return nil, err
	}
	for {
		b, err := s.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := w.Write(b); err != nil {
			return nil, err
		}
		b.Release()
	}
	if _, err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), s.Close()
}

// Fields decodes the option list of a format with its defaults, with good
// values and with an unknown option.
func Fields(t *testing.T, f format.Format, good map[string]string) {
	t.Helper()
	set := option.NewSet("format "+f.Name(), f.Fields()...)
	if _, list := set.Decode(nil, option.Context{}); len(list) > 0 {
		t.Error(list)
	}
	if _, list := set.Decode(option.FromMap(good), option.Context{}); len(list) > 0 {
		t.Error(list)
	}
	if _, list := set.Decode(option.FromMap(map[string]string{"nope": "1"}), option.Context{}); len(list) == 0 {
		t.Error("an unknown option is taken")
	}
	for _, field := range f.Fields() {
		if field.Doc == "" {
			t.Errorf("%s has no doc", field.Name)
		}
	}
}
