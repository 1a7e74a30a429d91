package files

import (
	"context"
	"slices"
	"strings"
	"time"

	"pipelines/runtime/connector"
	"pipelines/sqlplan/logical"
	"pipelines/tables/format"
	"pipelines/tables/schema"
)

// Describe implements connector.Described, for formats whose files say
// something of their rows.
func (s *Source) Describe(ctx context.Context, splits []connector.Split) []logical.FileFacts {
	d, ok := s.o.Format.(format.Describer)
	if !ok {
		return nil
	}
	out := make([]logical.FileFacts, len(splits))
	for i, sp := range splits {
		facts, ok := s.describe(ctx, d, sp)
		if !ok {
			return nil // reading it will say why it cannot be read
		}
		out[i] = facts
	}
	return out
}

func (s *Source) describe(ctx context.Context, d format.Describer, sp connector.Split) (logical.FileFacts, bool) {
	f := sp.Data.(file)
	obj, err := s.o.Store.Open(ctx, f.key)
	if err != nil {
		return logical.FileFacts{}, false
	}
	said, err := d.Describe(ctx, format.Input{Name: sp.Name, Object: obj, ModTime: time.UnixMicro(f.mtime)},
		format.ReadSpec{Options: s.o.FormatOptions, CaseSensitive: s.o.CaseSensitive})
	if err != nil {
		return logical.FileFacts{}, false
	}
	parts := folderValues(f.key)
	return logical.FileFacts{Rows: said.Rows, Column: func(name string) logical.ColumnFacts {
		all := s.o.Schema().Fields
		at := slices.IndexFunc(all, func(c schema.Field) bool {
			return c.Name == name || !s.o.CaseSensitive && strings.EqualFold(c.Name, name)
		})
		switch {
		case at < 0:
			return logical.ColumnFacts{Nulls: -1}
		case at < len(s.o.Data.Fields):
			c := said.Column(all[at].Name, all[at].Type)
			return logical.ColumnFacts{Nulls: c.NullCount, Min: c.Min, Max: c.Max}
		}
		v, err := partitionValue(parts, all[at], s.o.Location)
		if err != nil {
			return logical.ColumnFacts{Nulls: -1}
		}
		return logical.ColumnFacts{Nulls: -1, Constant: v}
	}}, true
}
