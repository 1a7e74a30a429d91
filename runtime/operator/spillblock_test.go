package operator

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pipelines/runtime/budget"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// blockTypes has every storage class.
func blockTypes() []schema.Type {
	of := schema.Of
	item := schema.Type{Kind: schema.Struct, Fields: []schema.Field{{Name: "a", Type: of(schema.Int32), Nullable: true}, {Name: "b", Type: of(schema.String), Nullable: true}}}
	return []schema.Type{
		of(schema.Boolean), of(schema.Int8), of(schema.Int16), of(schema.Int32), of(schema.Int64), of(schema.Float32), of(schema.Float64),
		of(schema.String), of(schema.Binary), {Kind: schema.Decimal, Precision: 38, Scale: 2}, of(schema.Void),
		schema.ArrayOf(of(schema.Int64), true), schema.ArrayOf(schema.ArrayOf(of(schema.String), true), true), item, schema.ArrayOf(item, true),
		{Kind: schema.Map, Key: new(of(schema.String)), Elem: new(of(schema.Int32))}, of(schema.CalendarInterval), of(schema.Variant),
	}
}

// fillBlock appends n values of all sorts to v.
func fillBlock(v *column.Vector, n, seed int) {
	for i := range n {
		x := i*7 + seed
		if x%5 == 0 {
			v.AppendNull()
			continue
		}
		switch column.PhysicalOf(v.Type) {
		case column.PhysNone:
			v.AppendNull()
			continue
		case column.PhysBool:
			v.Bool = append(v.Bool, x%2 == 0)
		case column.PhysI8:
			v.I8 = append(v.I8, int8(x))
		case column.PhysI16:
			v.I16 = append(v.I16, int16(-x))
		case column.PhysI32:
			v.I32 = append(v.I32, int32(-x))
		case column.PhysI64:
			v.I64 = append(v.I64, int64(x)<<40)
		case column.PhysI128:
			v.I128 = append(v.I128, column.Int128{Hi: int64(-x), Lo: uint64(x)})
		case column.PhysF32:
			v.F32 = append(v.F32, float32(x)/3)
		case column.PhysF64:
			v.F64 = append(v.F64, float64(x)/3)
		case column.PhysBytes:
			v.AppendStr(fmt.Appendf(nil, "%*d", x%9, x))
			continue
		case column.PhysList:
			for _, c := range v.Children {
				fillBlock(c, x%4, x)
			}
			v.EndList()
			continue
		case column.PhysStruct:
			for _, c := range v.Children {
				fillBlock(c, 1, x)
			}
			v.EndStruct()
			continue
		}
		v.Len++
	}
}

func TestBlockRoundTrip(t *testing.T) {
	plan := &Plan{env: Env{TempDir: t.TempDir(), Budget: budget.New(0, 1)}}
	file, err := (&memory{p: plan, name: "test"}).file()
	if err != nil {
		t.Fatal(err)
	}
	defer plan.Close()
	failed := errors.New("failed")
	for _, typ := range blockTypes() {
		for _, n := range []int{0, 1, 63, 64, 65, 300} {
			v := column.New(typ)
			fillBlock(v, n, n)
			if n > 3 {
				v.Fail(3, failed)
			}
			blk, err := file.write([]*column.Vector{v}, n)
			if err != nil {
				t.Fatal(err)
			}
			out := column.New(typ)
			fillBlock(out, 2, 1) // appending to rows that are there
			var buf spillBuffer
			if err := file.read(blk, []*column.Vector{out}, &buf); err != nil {
				t.Fatalf("%v: %v", typ, err)
			}
			if out.Len != n+2 {
				t.Fatalf("%v: %d rows", typ, out.Len)
			}
			for i := range n {
				if d := cmp.Diff(column.At(v, i), column.At(out, i+2)); d != "" {
					t.Fatalf("%v row %d of %d: %s", typ, i, n, d)
				}
			}
			if n > 3 && out.Errs.At(5) != failed {
				t.Fatalf("%v: the mark of a failed row is lost", typ)
			}
		}
	}
}

func TestBlockDamage(t *testing.T) {
	plan := &Plan{env: Env{TempDir: t.TempDir()}}
	file, err := (&memory{p: plan, name: "test"}).file()
	if err != nil {
		t.Fatal(err)
	}
	defer plan.Close()
	v := column.New(schema.Of(schema.Int64))
	fillBlock(v, 100, 1)
	blk, err := file.write([]*column.Vector{v}, 100)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.f.WriteAt([]byte{0xff}, 3); err != nil {
		t.Fatal(err)
	}
	var buf spillBuffer
	if err := file.read(blk, []*column.Vector{column.New(v.Type)}, &buf); !errors.Is(err, errSpill) {
		t.Fatalf("got %v", err)
	}
}

// FuzzBlock: no bytes make the reader panic.
func FuzzBlock(f *testing.F) {
	for i, typ := range blockTypes() {
		v := column.New(typ)
		fillBlock(v, 9, 2)
		v.Fail(1, errSpill)
		w := blockWriter{}
		w.column(v, 9)
		f.Add(uint8(i), uint8(9), w.dst)
	}
	types := blockTypes()
	f.Fuzz(func(t *testing.T, typ, n uint8, src []byte) {
		v := column.New(types[int(typ)%len(types)])
		r := blockReader{src: src, errs: []error{errSpill}}
		r.column(v, int(n))
		if !r.failed && v.Len != int(n) {
			t.Fatalf("%d rows of %d", v.Len, n)
		}
	})
}

func TestPartsKeepRows(t *testing.T) {
	plan := &Plan{env: Env{TempDir: t.TempDir(), Pool: column.NewPool()}}
	file, err := (&memory{p: plan, name: "test"}).file()
	if err != nil {
		t.Fatal(err)
	}
	defer plan.Close()
	parts := newSpillParts(file, plan.env.Pool, []logical.Attr{{Type: schema.Of(schema.Int64)}}, 2)
	v := column.New(schema.Of(schema.Int64))
	var hashes []uint64
	for i := range 5000 {
		v.I64 = append(v.I64, int64(i))
		hashes = append(hashes, column.HashUint64(0, uint64(i%100)))
	}
	v.Len = 5000
	if err := parts.add([]*column.Vector{v}, identity(5000), hashes); err != nil {
		t.Fatal(err)
	}
	if err := parts.flush(); err != nil {
		t.Fatal(err)
	}
	seen := map[int64]int{}
	for i := range parts.parts {
		last := int64(-1)
		err := parts.read(&parts.parts[i], func(b *column.Batch) error {
			for _, x := range b.Cols[0].I64 {
				if x <= last || parts.place(hashes[x]) != i {
					t.Fatalf("row %d is out of place", x)
				}
				last = x
				seen[x]++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) != 5000 {
		t.Fatalf("%d rows", len(seen))
	}
	if n, b := plan.env.Pool.Live(); n+b != 0 {
		t.Fatalf("leak: %d, %d", n, b)
	}
}
