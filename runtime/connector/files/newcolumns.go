package files

import (
	"context"
	"maps"
	"slices"
	"strings"

	"pipelines/runtime/connector"
	"pipelines/tables/schema"
)

// newColumns looks at columns that a file has and the schema has not. That a
// name stands in a record proves little (the record may be damaged): the
// schema is inferred from the file, and from the others of the range, so that
// what they bring is found at once.
func (s *Source) newColumns(ctx context.Context, sp connector.Split, names []string) error {
	if !slices.ContainsFunc(names, func(n string) bool { return !s.o.knows(n) }) {
		return nil
	}
	options := maps.Clone(s.o.FormatOptions)
	delete(options, "samplingratio") // a column in one record is a column
	e := &connector.NewColumnsError{Source: s.o.Name, File: sp.Name, Add: s.o.NewColumns == "add"}
	found, err := s.o.infer(ctx, []connector.Split{sp}, options)
	if err != nil {
		return err
	}
	wider, added := s.o.widen(s.o.Data.Type(), found.Type(), "")
	if len(added) == 0 {
		return nil
	}
	e.Names = added
	if s.o.Format.Name() == "csv" && !s.o.ByName {
		e.Problem = s.o.misplaced(found)
	} else if e.Add && len(s.recent) > 1 {
		if found, err = s.o.infer(ctx, s.splits(s.recent), options); err != nil {
			return err
		}
		wider, _ = s.o.widen(wider, found.Type(), "")
	}
	e.Wider.Fields = append(wider.Fields, s.o.Partition...)
	return e
}

// knows reports whether the name of a column stands in the schema, be it of
// the files or of their folders.
func (o *Options) knows(name string) bool {
	has := func(fields []schema.Field) bool {
		return slices.ContainsFunc(fields, func(f schema.Field) bool { return o.same(f.Name, name) })
	}
	return has(o.Data.Fields) || has(o.Partition)
}

// corruptColumn is what inference calls the column for damaged records.
func (o *Options) corruptColumn() string {
	if name := o.FormatOptions["columnnameofcorruptrecord"]; name != "" {
		return name
	}
	return "_corrupt_record"
}

func (o *Options) same(a, b string) bool {
	return a == b || !o.CaseSensitive && strings.EqualFold(a, b)
}

// widen adds the fields that found has and t has not, at the end and nullable,
// and names them. What t has keeps its type.
func (o *Options) widen(t, found schema.Type, path string) (wider schema.Type, added []string) {
	if t.Kind != found.Kind {
		return t, nil
	}
	switch t.Kind {
	case schema.Array:
		elem, names := o.widen(*t.Elem, *found.Elem, path)
		t.Elem = &elem
		return t, names
	case schema.Struct:
		t.Fields = slices.Clone(t.Fields)
		for _, f := range found.Fields {
			i := slices.IndexFunc(t.Fields, func(x schema.Field) bool { return o.same(x.Name, f.Name) })
			switch {
			case i >= 0:
				var names []string
				t.Fields[i].Type, names = o.widen(t.Fields[i].Type, f.Type, path+f.Name+".")
				added = append(added, names...)
			case path != "" || !o.knows(f.Name) && !o.same(f.Name, o.corruptColumn()):
				t.Fields, added = append(t.Fields, schema.Field{Name: f.Name, Type: f.Type, Nullable: true}), append(added, path+f.Name)
			}
		}
	}
	return t, added
}

// misplaced says what is wrong with the places of new columns: the columns of
// CSV are taken by their place, whatever the header calls them.
func (o *Options) misplaced(found schema.Schema) string {
	for i, f := range o.Data.Fields {
		if i >= len(found.Fields) || !o.same(found.Fields[i].Name, f.Name) {
			return "the columns of CSV are taken by their place, and " + f.Name + " is not at its own: new columns stand behind the known ones"
		}
	}
	return ""
}
