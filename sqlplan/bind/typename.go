package bind

import (
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/funcs"
	"pipelines/tables/schema"
)

var typeKinds = map[string]schema.Kind{
	"void": schema.Void, "boolean": schema.Boolean, "tinyint": schema.Int8, "smallint": schema.Int16,
	"int": schema.Int32, "bigint": schema.Int64, "float": schema.Float32, "double": schema.Float64,
	"string": schema.String, "binary": schema.Binary, "date": schema.Date, "timestamp": schema.Timestamp,
	"timestamp_ltz": schema.Timestamp, "timestamp_ntz": schema.TimestampNTZ, "variant": schema.Variant,
}

// typeName resolves a type as written.
func (b *Binder) typeName(t ast.TypeName) (schema.Type, bool) {
	r := typeResolver{text: b.text, ntz: localTimestamps(b.session)}
	out := r.resolve(t)
	for _, x := range r.diags {
		b.report(x)
	}
	return out, len(r.diags) == 0
}

// TypeOf resolves a type as written in text.
func TypeOf(text *diag.Text, t ast.TypeName) (schema.Type, diag.List) {
	r := typeResolver{text: text}
	out := r.resolve(t)
	return out, r.diags
}

// TypeIn resolves a type as written in text under a session's settings.
func TypeIn(s *funcs.Session, text *diag.Text, t ast.TypeName) (schema.Type, diag.List) {
	r := typeResolver{text: text, ntz: localTimestamps(s)}
	out := r.resolve(t)
	return out, r.diags
}

// localTimestamps reports whether TIMESTAMP means TIMESTAMP_NTZ.
func localTimestamps(s *funcs.Session) bool {
	return strings.EqualFold(s.Conf["spark.sql.timestampType"], "TIMESTAMP_NTZ")
}

type typeResolver struct {
	text  *diag.Text
	diags diag.List
	ntz   bool // TIMESTAMP is TIMESTAMP_NTZ
}

func (r *typeResolver) fail(at diag.Range, code diag.Code, msg string) schema.Type {
	r.diags = append(r.diags, diag.At(r.text, at, code, msg))
	return schema.Type{}
}

func (r *typeResolver) resolve(t ast.TypeName) schema.Type {
	if t.Collation != "" {
		if err := funcs.CheckCollation(t.Collation); err != nil {
			return r.fail(t.Span, diag.Code(err.Class), err.Message)
		}
	}
	if k, ok := typeKinds[t.Name]; ok {
		if r.ntz && t.Name == "timestamp" {
			k = schema.TimestampNTZ
		}
		return schema.Of(k)
	}
	switch t.Name {
	case "decimal":
		return r.decimal(t)
	case "char", "varchar":
		s := schema.Of(schema.String)
		if len(t.Args) > 0 {
			s.Length, s.Char = t.Args[0], t.Name == "char"
		}
		return s
	case "array":
		return schema.ArrayOf(r.resolve(t.Elem[0]), true)
	case "map":
		return schema.MapOf(r.resolve(t.Elem[0]), r.resolve(t.Elem[1]), true)
	case "struct":
		fields := make([]schema.Field, len(t.Fields))
		for i, f := range t.Fields {
			fields[i] = schema.Field{Name: f.Name.Name, Type: r.resolve(f.Type), Nullable: !f.NotNull, Comment: f.Comment}
		}
		return schema.StructOf(fields...)
	case "interval":
		return r.interval(t)
	case "time":
		return r.fail(t.Span, "UNSUPPORTED_TIME_TYPE", "The data type TIME is not supported.")
	}
	return r.fail(t.Span, "UNSUPPORTED_DATATYPE", "Unsupported data type \""+strings.ToUpper(t.Name)+"\".")
}

func (r *typeResolver) decimal(t ast.TypeName) schema.Type {
	p, s := 10, 0
	if len(t.Args) > 0 {
		p = t.Args[0]
	}
	if len(t.Args) > 1 {
		s = t.Args[1]
	}
	switch {
	case p > 38:
		return r.fail(t.Span, "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION", "Decimal precision exceeds max precision 38.")
	case s > p:
		return r.fail(t.Span, "DECIMAL_SCALE_EXCEEDS_PRECISION", "Decimal scale cannot be greater than its precision.")
	}
	return schema.DecimalOf(p, s)
}

func (r *typeResolver) interval(t ast.TypeName) schema.Type {
	if t.Start == ast.NoField {
		return schema.Of(schema.CalendarInterval)
	}
	end := t.End
	if end == ast.NoField {
		end = t.Start
	}
	kind := schema.DayTimeInterval
	if t.Start == ast.Year || t.Start == ast.Month {
		kind = schema.YearMonthInterval
	}
	return schema.Type{Kind: kind, From: intervalFields[t.Start], To: intervalFields[end]}
}
