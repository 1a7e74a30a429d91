package rewrite

import (
	"strings"

	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// sharedScans gives the scans that one read can serve one number. A stream is
// read once for all of them, without its filters; a table once for those that
// skip the same rows. Scans that want other parts of one struct are apart.
func sharedScans(_ *Context, n logical.Node) logical.Node {
	var groups []*scanGroup
	of := map[*logical.Scan]*scanGroup{}
	logical.WalkNode(n, func(m logical.Node) bool {
		s, ok := m.(*logical.Scan)
		if !ok || of[s] != nil {
			return true
		}
		for _, g := range groups {
			if g.takes(s) {
				g.add(s)
				of[s] = g
				return true
			}
		}
		g := &scanGroup{relation: s.Relation, filters: filtersText(s), types: map[string]schema.Type{}}
		g.add(s)
		of[s] = g
		groups = append(groups, g)
		return true
	})
	number := 0
	for _, g := range groups {
		if g.scans > 1 {
			number++
			g.number = number
		}
	}
	if number == 0 {
		return n
	}
	return logical.MapNode(n, func(m logical.Node) logical.Node {
		s, ok := m.(*logical.Scan)
		if !ok || of[s].number == s.Shared {
			return m
		}
		c := *s
		c.Shared = of[s].number
		return &c
	})
}

// scanGroup is a set of scans that one read serves.
type scanGroup struct {
	relation *logical.Relation
	filters  string
	types    map[string]schema.Type // of the columns, by source
	scans    int
	number   int
}

func (g *scanGroup) takes(s *logical.Scan) bool {
	if g.relation.ID != s.Relation.ID || g.relation.Streaming != s.Relation.Streaming || g.filters != filtersText(s) {
		return false
	}
	for i, a := range s.Columns {
		if t, ok := g.types[sourceOf(s, i)]; ok && !t.Equal(a.Type) {
			return false
		}
	}
	return true
}

func (g *scanGroup) add(s *logical.Scan) {
	g.scans++
	for i, a := range s.Columns {
		g.types[sourceOf(s, i)] = a.Type
	}
}

// sourceOf names what column i of a scan is read from.
func sourceOf(s *logical.Scan, i int) string {
	if m, ok := s.Metadata[i]; ok {
		return "_metadata." + m
	}
	return s.Relation.Schema.Fields[s.Fields[i]].Name
}

// filtersText is equal for scans whose readers skip the same rows; those of a
// stream are given up.
func filtersText(s *logical.Scan) string {
	if s.Relation.Streaming {
		return ""
	}
	by := map[logical.ColumnID]logical.Expr{}
	for i, a := range s.Columns {
		a.ID, a.Name = 0, sourceOf(s, i)
		by[s.Columns[i].ID] = a.Ref()
	}
	var parts []string
	for _, f := range s.Filters {
		parts = append(parts, logical.Text(substitute(f, by)))
	}
	return strings.Join(parts, "\n")
}
