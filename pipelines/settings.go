package pipelines

import (
	"fmt"
	"maps"
	"slices"

	"pipelines/spec/diag"
	"pipelines/sqlplan"
)

// reading is one query of a dataset that is to be compiled.
type reading struct {
	dataset *dataset
	flow    string            // as messages name it
	conf    map[string]string // what SET said above it
	in      space
	file    *diag.File
	place   diag.Span
	o       *sqlplan.Options
}

// compiled runs a compilation, and once more when views that the query reads
// bring settings: a flow runs under one set, its own and its views'. Tables
// keep theirs to themselves.
func (a *analyzer) compiled(r reading, run func(sqlplan.Catalog, sqlplan.Options) diag.List) diag.List {
	cat := &catalogOf{a: a, reader: r.dataset, space: r.in, views: &viewsRead{}}
	list := run(cat, *r.o)
	all := a.settingsOf(r.conf)
	from := map[string]string{}
	changed := false
	for _, v := range cat.views.list {
		conf := a.settingsOf(v.conf)
		for _, key := range slices.Sorted(maps.Keys(conf)) {
			old, taken := all[key]
			switch {
			case !taken:
				all[key], from[key], changed = conf[key], "the view "+v.shown(), true
			case old != conf[key]:
				who := from[key]
				if who == "" {
					who = r.flow
				}
				return append(list, diag.AtSpan(r.file, r.place, "DUPLICATE_FLOW_SQL_CONF",
					fmt.Sprintf("%s is %s for %s and %s for the view %s, and a query runs under one value together with the views that it reads", key, old, who, conf[key], v.shown())))
			}
		}
	}
	if !changed {
		return list
	}
	r.o.Session = a.sessionOf(all)
	known := len(a.list)
	list = run(&catalogOf{a: a, reader: r.dataset, space: r.in, views: &viewsRead{}}, *r.o)
	// What was said the first time is not said again.
	fresh := slices.DeleteFunc(slices.Clone(a.list[known:]), func(d diag.Diagnostic) bool {
		return slices.ContainsFunc(a.list[:known], func(o diag.Diagnostic) bool { return o.Code == d.Code && o.Message == d.Message && o.Span == d.Span })
	})
	a.list = append(a.list[:known], fresh...)
	return list
}

// viewsRead are the views that a query was found to read, itself or through
// others.
type viewsRead struct{ list []*dataset }

func (v *viewsRead) add(d *dataset) {
	if v != nil && !slices.Contains(v.list, d) {
		v.list = append(v.list, d)
	}
}

// settingsOf lays what SET said over the configuration.
func (a *analyzer) settingsOf(conf map[string]string) map[string]string {
	all := maps.Clone(a.project.conf)
	maps.Copy(all, conf)
	return all
}

// session returns the settings that a query sees.
func (a *analyzer) session(conf map[string]string) *sqlplan.Session {
	if len(conf) == 0 {
		return a.project.session
	}
	return a.sessionOf(a.settingsOf(conf))
}

func (a *analyzer) sessionOf(conf map[string]string) *sqlplan.Session {
	s, list := newSession(conf, a.project.spec)
	a.list = append(a.list, list...)
	return s
}
