package files

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// nullFolder is how Hive-style folders write a null.
const nullFolder = "__HIVE_DEFAULT_PARTITION__"

// folderValues reads the k=v folders of a key.
func folderValues(key string) map[string]string {
	out := map[string]string{}
	parts := strings.Split(key, "/")
	for _, p := range parts[:len(parts)-1] {
		name, value, ok := strings.Cut(p, "=")
		if !ok {
			continue
		}
		if s, err := url.PathUnescape(value); err == nil {
			value = s
		}
		if s, err := url.PathUnescape(name); err == nil {
			name = s
		}
		out[strings.ToLower(name)] = value
	}
	return out
}

// partitionValue reads the column's value from the folders, as one row.
func partitionValue(parts map[string]string, f schema.Field, loc *time.Location) (*column.Vector, error) {
	v := column.New(f.Type)
	s, ok := parts[strings.ToLower(f.Name)]
	if !ok || s == nullFolder {
		v.AppendNull()
		return v, nil
	}
	if !appendText(v, []byte(s), loc) {
		return nil, fmt.Errorf("partition folder %s=%s: not a %s", f.Name, s, f.Type.SQL())
	}
	v.Len = 1
	return v, nil
}

func appendText(v *column.Vector, b []byte, loc *time.Location) (ok bool) {
	switch v.Type.Kind {
	case schema.String:
		v.AppendStr(b)
		return true
	case schema.Boolean:
		x, ok := text.ParseBool(b)
		v.Bool = append(v.Bool, x)
		return ok
	case schema.Int8, schema.Int16, schema.Int32, schema.Int64:
		return appendInt(v, b)
	case schema.Float32:
		x, ok := text.ParseFloat(b)
		v.F32 = append(v.F32, x)
		return ok
	case schema.Float64:
		x, ok := text.ParseDouble(b)
		v.F64 = append(v.F64, x)
		return ok
	case schema.Date:
		x, ok := text.ParseDate(b)
		v.I32 = append(v.I32, x)
		return ok
	case schema.Timestamp:
		if loc == nil {
			loc = time.UTC
		}
		x, ok := text.ParseTimestamp(b, text.NewZone(loc))
		v.I64 = append(v.I64, x)
		return ok
	case schema.Decimal:
		x, st := text.ParseDecimal(b, v.Type.Precision, v.Type.Scale)
		if v.Type.Precision > column.MaxDecimal64 {
			v.I128 = append(v.I128, x)
		} else {
			small, _ := x.Int64()
			v.I64 = append(v.I64, small)
		}
		return st == text.DecimalOK
	}
	return false
}

func appendInt(v *column.Vector, b []byte) bool {
	bits := map[schema.Kind]uint{schema.Int8: 8, schema.Int16: 16, schema.Int32: 32, schema.Int64: 64}[v.Type.Kind]
	x, ok := text.ParseInt(b, bits)
	switch v.Type.Kind {
	case schema.Int8:
		v.I8 = append(v.I8, int8(x))
	case schema.Int16:
		v.I16 = append(v.I16, int16(x))
	case schema.Int32:
		v.I32 = append(v.I32, int32(x))
	default:
		v.I64 = append(v.I64, x)
	}
	return ok
}

// InferPartitions finds the partition columns of keys: all keys must have the
// same folders in the same order, else there are none. Types follow Spark's
// inference: INT, BIGINT, DOUBLE, DATE, STRING.
func InferPartitions(keys []string) []schema.Field {
	var names []string
	values := map[string][]string{}
	for i, key := range keys {
		var these []string
		parts := strings.Split(key, "/")
		for _, p := range parts[:len(parts)-1] {
			if name, _, ok := strings.Cut(p, "="); ok {
				these = append(these, name)
			}
		}
		if i > 0 && strings.Join(these, "/") != strings.Join(names, "/") {
			return nil
		}
		names = these
		for k, v := range folderValues(key) {
			values[k] = append(values[k], v)
		}
	}
	var out []schema.Field
	for _, n := range names {
		out = append(out, schema.Field{Name: n, Type: inferType(values[strings.ToLower(n)]), Nullable: true})
	}
	return out
}

func inferType(values []string) schema.Type {
	fits := func(k schema.Kind) bool {
		for _, s := range values {
			if s != nullFolder && !appendText(column.New(schema.Of(k)), []byte(s), time.UTC) {
				return false
			}
		}
		return true
	}
	for _, k := range []schema.Kind{schema.Int32, schema.Int64, schema.Float64, schema.Date} {
		if fits(k) {
			return schema.Of(k)
		}
	}
	return schema.Of(schema.String)
}
