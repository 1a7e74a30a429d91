package schema

import (
	"fmt"
	"slices"
	"strings"
)

// MergeError says which column keeps two schemas from being merged. Its class
// is CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE.
type MergeError struct {
	Path        []string // the names down to the field, "element", "key", "value" inside lists and maps
	Left, Right Type
}

func (e *MergeError) Error() string {
	return fmt.Sprintf("column %s cannot change its type from %s to %s", strings.Join(e.Path, "."), e.Left.SQL(), e.Right.SQL())
}

// Merge returns the schema that a table of schema left has after rows of
// schema right were added: columns are matched by name ignoring case and keep
// their place, name and comment; new ones come last and are nullable; structs,
// list elements and map values merge in the same way; a column is nullable if
// it is so on either side; decimals of equal scale take the greater precision.
// Any other difference of types is a *MergeError.
func Merge(left, right Schema) (Schema, error) {
	fields, err := mergeFields(left.Fields, right.Fields, nil)
	return Schema{Fields: fields}, err
}

func mergeFields(left, right []Field, path []string) ([]Field, error) {
	out := slices.Clone(left)
	for _, r := range right {
		i := slices.IndexFunc(out, func(f Field) bool { return strings.EqualFold(f.Name, r.Name) })
		if i < 0 {
			r.Nullable = true
			out = append(out, r)
			continue
		}
		t, err := mergeTypes(out[i].Type, r.Type, append(path, out[i].Name))
		if err != nil {
			return nil, err
		}
		out[i].Type = t
		out[i].Nullable = out[i].Nullable || r.Nullable
		if out[i].Comment == "" {
			out[i].Comment = r.Comment
		}
	}
	return out, nil
}

func mergeTypes(l, r Type, path []string) (Type, error) {
	if l.Kind == r.Kind {
		switch {
		case l.Kind == Struct:
			fields, err := mergeFields(l.Fields, r.Fields, path)
			return StructOf(fields...), err
		case l.Kind == Array:
			elem, err := mergeTypes(*l.Elem, *r.Elem, append(path, "element"))
			return ArrayOf(elem, l.ElemNullable || r.ElemNullable), err
		case l.Kind == Map:
			key, err := mergeTypes(*l.Key, *r.Key, append(path, "key"))
			if err != nil {
				return Type{}, err
			}
			value, err := mergeTypes(*l.Elem, *r.Elem, append(path, "value"))
			return MapOf(key, value, l.ElemNullable || r.ElemNullable), err
		case l.Kind == Decimal && l.Scale == r.Scale:
			return DecimalOf(max(l.Precision, r.Precision), l.Scale), nil
		case l.SameShape(r):
			return l, nil
		}
	}
	return Type{}, &MergeError{Path: slices.Clone(path), Left: l, Right: r}
}
