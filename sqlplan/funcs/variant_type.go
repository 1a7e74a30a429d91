package funcs

import (
	"slices"
	"strings"

	"pipelines/tables/codec/variant"
	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// variantType is the type that a value shows: objects are structs, mixed
// elements VARIANT.
func variantType(s *Session, v variant.Value, depth int) schema.Type {
	if depth > variant.MaxDepth {
		return tVariant
	}
	switch v.Kind() {
	case variant.Object:
		fields := make([]schema.Field, v.Len())
		for i := range fields {
			fields[i] = schema.Field{Name: string(v.Name(i)), Type: variantType(s, v.At(i), depth+1), Nullable: true}
		}
		return schema.StructOf(fields...)
	case variant.Array:
		t := tVoid
		for i := range v.Len() {
			t = mergeVariantTypes(s, t, variantType(s, v.At(i), depth+1))
		}
		return schema.ArrayOf(t, true)
	case variant.Null, variant.Invalid:
		return tVoid
	case variant.Decimal:
		x, scale := v.Decimal()
		ten := column.FromInt64(10)
		for scale > 0 {
			q, rem := text.DecimalDivRem(x, ten)
			if rem != (column.Int128{}) {
				break
			}
			x, scale = q, scale-1
		}
		return schema.DecimalOf(min(max(text.DecimalDigits(x), scale, 1), maxPrecision), scale)
	}
	return variantSource(v.Kind(), 0)
}

// mergeVariantTypes is the type that holds values of both.
func mergeVariantTypes(s *Session, a, b schema.Type) schema.Type {
	switch {
	case a.Kind == schema.Struct && b.Kind == schema.Struct:
		return mergeVariantStructs(s, a, b)
	case a.Kind == schema.Array && b.Kind == schema.Array:
		return schema.ArrayOf(mergeVariantTypes(s, *a.Elem, *b.Elem), true)
	case a.Kind == schema.Decimal && b.Kind == schema.Int64:
		return mergeVariantTypes(s, a, decimalFor(b))
	case a.Kind == schema.Int64 && b.Kind == schema.Decimal:
		return mergeVariantTypes(s, decimalFor(a), b)
	case a.Kind == schema.Decimal && b.Kind == schema.Decimal:
		scale := max(a.Scale, b.Scale)
		precision := max(a.Precision-a.Scale, b.Precision-b.Scale) + scale
		if precision > maxPrecision {
			return tDouble
		}
		return schema.DecimalOf(precision, scale)
	}
	if t, ok := tightest(s, a, b); ok {
		return t
	}
	return tVariant
}

func mergeVariantStructs(s *Session, a, b schema.Type) schema.Type {
	fields := append([]schema.Field{}, a.Fields...)
	for _, f := range b.Fields {
		i := slices.IndexFunc(a.Fields, func(g schema.Field) bool { return g.Name == f.Name })
		if i < 0 {
			fields = append(fields, f)
		} else {
			fields[i].Type = mergeVariantTypes(s, fields[i].Type, f.Type)
		}
	}
	slices.SortFunc(fields, func(x, y schema.Field) int { return strings.Compare(x.Name, y.Name) })
	return schema.StructOf(fields...)
}

// appendVariantType prints a type with OBJECT for STRUCT.
func appendVariantType(b []byte, t schema.Type) []byte {
	switch t.Kind {
	case schema.Array:
		return append(appendVariantType(append(b, "ARRAY<"...), *t.Elem), '>')
	case schema.Struct:
		b = append(b, "OBJECT<"...)
		for i, f := range t.Fields {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = append(append(b, schema.QuoteIfNeeded(f.Name)...), ": "...)
			b = appendVariantType(b, f.Type)
		}
		return append(b, '>')
	}
	return append(b, t.SQL()...)
}
