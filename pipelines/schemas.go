package pipelines

import (
	"fmt"
	"strings"

	"pipelines/tables/schema"
)

// mergeFlows puts the columns of two flows into one table together: columns of
// one name must have one type; what only one gives is null for the other.
func mergeFlows(a, b schema.Schema) (schema.Schema, error) {
	out := schema.Schema{Fields: append([]schema.Field(nil), a.Fields...)}
	for _, f := range b.Fields {
		i := out.Index(f.Name)
		if i < 0 {
			f.Nullable = true // the rows of the others lack it
			out.Fields = append(out.Fields, f)
			continue
		}
		out.Fields[i].Nullable = out.Fields[i].Nullable || f.Nullable
		if !asNullable(out.Fields[i].Type).SameShape(asNullable(f.Type)) {
			return a, fmt.Errorf("column %s is %s in one and %s in another", f.Name, out.Fields[i].Type.SQL(), f.Type.SQL())
		}
	}
	for i := range out.Fields {
		if b.Index(out.Fields[i].Name) < 0 {
			out.Fields[i].Nullable = true
		}
	}
	return out, nil
}

// compatible reports whether rows of type have can be stored as declared.
func compatible(declared, have schema.Schema) error {
	for _, f := range have.Fields {
		i := declared.Index(f.Name)
		if i < 0 {
			return fmt.Errorf("column %s of the query is not declared", f.Name)
		}
		d := declared.Fields[i]
		if !d.Type.SameShape(f.Type) {
			return fmt.Errorf("column %s is declared %s and the query gives %s", f.Name, d.Type.SQL(), f.Type.SQL())
		}
		if !d.Nullable && f.Nullable {
			return fmt.Errorf("column %s is declared NOT NULL and the query may give NULL", f.Name)
		}
	}
	for _, d := range declared.Fields {
		if !d.Nullable && have.Index(d.Name) < 0 {
			return fmt.Errorf("column %s is declared NOT NULL and the query does not give it", d.Name)
		}
	}
	return nil
}

// keepOrder orders the columns of a view's new query as the stored table has
// them; new columns stand at the end.
func keepOrder(old, next schema.Schema) schema.Schema {
	var out schema.Schema
	for _, f := range old.Fields {
		if i := next.Index(f.Name); i >= 0 {
			out.Fields = append(out.Fields, next.Fields[i])
		}
	}
	for _, f := range next.Fields {
		if old.Index(f.Name) < 0 {
			out.Fields = append(out.Fields, f)
		}
	}
	return out
}

// asNullable makes every nested value nullable, as stored tables have it.
func asNullable(t schema.Type) schema.Type {
	switch t.Kind {
	case schema.Array:
		return schema.ArrayOf(asNullable(*t.Elem), true)
	case schema.Map:
		return schema.MapOf(asNullable(*t.Key), asNullable(*t.Elem), true)
	case schema.Struct:
		out := schema.Type{Kind: schema.Struct, Fields: append([]schema.Field(nil), t.Fields...)}
		for i := range out.Fields {
			out.Fields[i].Type, out.Fields[i].Nullable = asNullable(out.Fields[i].Type), true
		}
		return out
	}
	return t
}

// ddlName is a schema as it is shown in a line.
func ddlName(s schema.Schema) string { return strings.ReplaceAll(s.DDL(), "\n", " ") }
