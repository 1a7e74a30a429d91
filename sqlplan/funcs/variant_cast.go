package funcs

import (
	"pipelines/tables/codec/variant"
	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// fromVariant reports whether variants cast to t.
func fromVariant(t schema.Type) bool {
	switch t.Kind {
	case schema.Array:
		return fromVariant(*t.Elem)
	case schema.Map:
		return t.Key.Kind == schema.String && fromVariant(*t.Elem)
	case schema.Struct:
		for _, f := range t.Fields {
			if !fromVariant(f.Type) {
				return false
			}
		}
		return true
	case schema.Void:
		return false
	}
	return !isInterval(t)
}

// toVariant reports whether t casts to VARIANT; objects says that structs and
// maps do.
func toVariant(t schema.Type, objects bool) bool {
	switch t.Kind {
	case schema.Array:
		return toVariant(*t.Elem, objects)
	case schema.Map:
		return objects && t.Key.Kind == schema.String && toVariant(*t.Elem, objects)
	case schema.Struct:
		for _, f := range t.Fields {
			if !toVariant(f.Type, objects) {
				return false
			}
		}
		return objects
	}
	return !isInterval(t)
}

// castVariant is the kernel of a cast from or to VARIANT, nil when there is none.
func castVariant(from, to schema.Type) Kernel {
	if to.Kind == schema.Variant {
		if !toVariant(from, false) {
			return nil
		}
		return toVariantKernel
	}
	if !fromVariant(to) {
		return nil
	}
	return func(c *Ctx, args []*vector, out *vector) {
		f, ok := c.Scratch.(*variantFinder)
		if !ok {
			f = &variantFinder{}
			c.Scratch = f
		}
		f.vals, f.place = f.vals[:0], f.place[:0]
		for range c.Rows {
			f.place = append(f.place, -1)
		}
		c.live(out, func(i int) {
			f.place[i] = int32(len(f.vals))
			f.vals = append(f.vals, variantAt(args[0], i))
		})
		r := f.cast.run(c, f.vals, to)
		if c.Try {
			r.Errs = nil
		}
		column.Gather(out, r, f.place)
		r.Release()
	}
}

// variantCast turns values into columns.
type variantCast struct {
	b       *variant.Builder
	buckets []variantBucket
	place   []int32
}

// variantBucket gathers the values of one source type, so that one cast serves
// them all.
type variantBucket struct {
	kind  variant.Kind
	scale int
	src   *vector
	rows  []int32
}

var nullVariant = []byte{0}

// run casts all values to one type; values that do not fit are failed rows.
func (k *variantCast) run(c *Ctx, vals []variant.Value, to schema.Type) *vector {
	out := c.Pool.Vector(to)
	switch to.Kind {
	case schema.Variant:
		if k.b == nil {
			k.b = variant.NewBuilder()
		}
		for _, v := range vals {
			k.b.Reset()
			k.b.Value(v)
			if k.b.AppendTo(out) != nil {
				out.AppendNull()
			}
		}
		return out
	case schema.Array, schema.Map:
		k.lists(c, vals, to, out)
		return out
	case schema.Struct:
		k.structs(c, vals, to, out)
		return out
	}
	k.scalars(c, vals, to, out)
	return out
}

// misfit appends a null and fails it, unless the variant is a null itself.
func misfit(c *Ctx, out *vector, v variant.Value, to schema.Type) {
	out.AppendNull()
	if v.Kind() != variant.Null {
		out.Fail(out.Len-1, errVariantCast(v, c.Session, to))
	}
}

func (k *variantCast) lists(c *Ctx, vals []variant.Value, to schema.Type, out *vector) {
	want := variant.Array
	if to.Kind == schema.Map {
		want = variant.Object
	}
	var inner []variant.Value
	var owner []int32
	for i, v := range vals {
		if v.Kind() != want {
			misfit(c, out, v, to)
			continue
		}
		for e := range v.Len() {
			if want == variant.Object {
				out.Children[0].AppendStr(v.Name(e))
			}
			inner, owner = append(inner, v.At(e)), append(owner, int32(i))
		}
		out.Offsets = append(out.Offsets, int32(len(inner)))
		out.Len++
	}
	last := len(out.Children) - 1
	setChild(out, last, (&variantCast{}).run(c, inner, *to.Elem), owner)
}

// setChild puts a computed child in place; its errors become those of the rows
// that own its values.
func setChild(out *vector, k int, child *vector, owner []int32) {
	if child.Errs.Any() {
		for e := range child.Len {
			if err := child.Errs.At(e); err != nil {
				if owner != nil {
					e = int(owner[e])
				}
				out.Fail(e, err)
			}
		}
		child.Errs = nil
	}
	out.Children[k].Release()
	out.Children[k] = child
}

func (k *variantCast) structs(c *Ctx, vals []variant.Value, to schema.Type, out *vector) {
	fields := make([]variant.Value, len(vals))
	out.Len = len(vals)
	for f, field := range to.Fields {
		for i, v := range vals {
			x, ok := v.Field([]byte(field.Name))
			if !ok {
				x = variant.Of(nullVariant, nil)
			}
			fields[i] = x
		}
		setChild(out, f, (&variantCast{}).run(c, fields, field.Type), nil)
	}
	for i, v := range vals {
		switch v.Kind() {
		case variant.Object:
		case variant.Null:
			out.SetNull(i)
		default:
			out.Fail(i, errVariantCast(v, c.Session, to))
		}
	}
}

func variantSource(kind variant.Kind, scale int) schema.Type {
	switch kind {
	case variant.Bool:
		return tBool
	case variant.Int:
		return tBigint
	case variant.Double:
		return tDouble
	case variant.Float:
		return typ(schema.Float32)
	case variant.Decimal:
		return schema.DecimalOf(maxPrecision, min(scale, maxPrecision))
	case variant.Date:
		return tDate
	case variant.Timestamp:
		return tTime
	case variant.TimestampNTZ:
		return tTimeNTZ
	case variant.Binary:
		return tBinary
	}
	return tString
}

// bucket returns the bucket of a value's type.
func (k *variantCast) bucket(c *Ctx, kind variant.Kind, scale int) *variantBucket {
	for i := range k.buckets {
		if b := &k.buckets[i]; b.kind == kind && b.scale == scale {
			return b
		}
	}
	k.buckets = append(k.buckets, variantBucket{kind: kind, scale: scale, src: c.Pool.Vector(variantSource(kind, scale))})
	return &k.buckets[len(k.buckets)-1]
}

func (k *variantCast) scalars(c *Ctx, vals []variant.Value, to schema.Type, out *vector) {
	k.buckets, k.place = k.buckets[:0], k.place[:0]
	done := c.Pool.Vector(to)
	zone := c.Session.zone()
	for i, v := range vals {
		k.place = append(k.place, -1)
		kind := v.Kind()
		if to.Kind == schema.String && kind != variant.Null && kind != variant.Binary {
			k.place[i] = int32(done.Len)
			done.Bytes = appendVariantText(done.Bytes, v, zone)
			done.Offsets = append(done.Offsets, int32(len(done.Bytes)))
			done.Len++
			continue
		}
		switch kind {
		case variant.Null, variant.Invalid:
		case variant.Object, variant.Array:
			k.place[i] = int32(done.Len)
			misfit(c, done, v, to)
		default:
			scale := 0
			if kind == variant.Decimal {
				_, scale = v.Decimal()
			}
			b := k.bucket(c, kind, scale)
			appendVariantScalar(b.src, v, zone)
			b.rows = append(b.rows, int32(i))
		}
	}
	for i := range k.buckets {
		k.finish(c, &k.buckets[i], vals, to, done)
	}
	column.Gather(out, done, k.place)
	done.Release()
}

// finish casts a bucket and appends its values to done.
func (k *variantCast) finish(c *Ctx, b *variantBucket, vals []variant.Value, to schema.Type, done *vector) {
	kernel := castKernel(c.Session, b.src.Type, to, CastTry)
	r := c.Pool.Vector(to)
	if kernel == nil {
		for range b.src.Len {
			r.AppendNull()
		}
	} else {
		castChild(c, kernel, b.src, r)
	}
	base := done.Len
	column.AppendRange(done, r, 0, r.Len)
	for e, i := range b.rows {
		k.place[i] = int32(base + e)
		if r.IsNull(e) {
			done.Fail(base+e, errVariantCast(vals[i], c.Session, to))
		}
	}
	r.Release()
	b.src.Release()
	b.src = nil
}

func appendVariantText(b []byte, v variant.Value, zone *text.Zone) []byte {
	switch v.Kind() {
	case variant.Object, variant.Array:
		return v.AppendJSON(b, zone)
	case variant.Timestamp: // as a cast, without the offset
		return text.AppendTimestamp(b, v.Int(), zone)
	}
	return v.AppendText(b, zone)
}

func appendVariantScalar(dst *vector, v variant.Value, zone *text.Zone) {
	switch v.Kind() {
	case variant.Bool:
		dst.Bool = append(dst.Bool, v.Bool())
	case variant.Int, variant.Timestamp, variant.TimestampNTZ:
		dst.I64 = append(dst.I64, v.Int())
	case variant.Date:
		dst.I32 = append(dst.I32, int32(v.Int()))
	case variant.Double:
		dst.F64 = append(dst.F64, v.Float())
	case variant.Float:
		dst.F32 = append(dst.F32, float32(v.Float()))
	case variant.Decimal:
		x, _ := v.Decimal()
		dst.I128 = append(dst.I128, x)
	case variant.String, variant.Binary:
		dst.AppendStr(v.Str())
		return
	default:
		dst.AppendStr(v.AppendText(nil, zone))
		return
	}
	dst.Len++
}

func toVariantKernel(c *Ctx, args []*vector, out *vector) {
	b, ok := c.Scratch.(*variant.Builder)
	if !ok {
		b = variant.NewBuilder()
		c.Scratch = b
	}
	c.appendVariants(out, b, func(i int) bool {
		if name := buildVariant(b, args[0], i); name != "" {
			c.Fail(out, i, errVariantDuplicate(name))
			return false
		}
		return true
	})
}

// buildVariant appends row i of v to a builder. It returns the name of a field
// that an object would have twice, or "".
//
//tidy:allow-long one flat switch over the types
func buildVariant(b *variant.Builder, v *vector, i int) string {
	if v.IsNull(i) {
		b.Null()
		return ""
	}
	i = v.Row(i)
	switch v.Type.Kind {
	case schema.Boolean:
		b.Bool(v.Bool[i])
	case schema.Int8, schema.Int16, schema.Int32, schema.Int64:
		b.Int(intAt(v, i))
	case schema.Float32:
		b.Float(v.F32[i])
	case schema.Float64:
		b.Double(v.F64[i])
	case schema.Decimal:
		b.Decimal(decimalAt(v, i), v.Type.Scale)
	case schema.String:
		b.String(v.Str(i))
	case schema.Binary:
		b.Binary(v.Str(i))
	case schema.Date:
		b.Date(v.I32[i])
	case schema.Timestamp:
		b.Timestamp(v.I64[i])
	case schema.TimestampNTZ:
		b.TimestampNTZ(v.I64[i])
	case schema.Variant:
		b.Value(variantAt(v, i))
	case schema.Array:
		m := b.Array()
		from, to := v.List(i)
		for k := from; k < to; k++ {
			b.Element(m)
			if dup := buildVariant(b, v.Children[0], k); dup != "" {
				return dup
			}
		}
		b.EndArray(m)
	case schema.Map:
		m := b.Object()
		from, to := v.List(i)
		for k := from; k < to; k++ {
			b.Field(m, v.Children[0].Str(k))
			if dup := buildVariant(b, v.Children[1], k); dup != "" {
				return dup
			}
		}
		return duplicate(b.EndObject(m))
	case schema.Struct:
		m := b.Object()
		for k, f := range v.Type.Fields {
			b.Field(m, []byte(f.Name))
			if dup := buildVariant(b, v.Children[k], i); dup != "" {
				return dup
			}
		}
		return duplicate(b.EndObject(m))
	default:
		b.Null()
	}
	return ""
}

func duplicate(err error) string {
	if d, ok := err.(*variant.DuplicateError); ok {
		return d.Name
	}
	return ""
}
