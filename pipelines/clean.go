package pipelines

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"pipelines/pipelines/graph"
	"pipelines/spec"
	"pipelines/spec/diag"
	"pipelines/spec/option"
)

// cleans reports whether a source takes files away that were read.
func (r *sourceRelation) cleans() bool {
	return slices.ContainsFunc(r.factory.Fields, func(f option.Field) bool { return f.Name == "cleanSource" }) &&
		r.config.Options != nil && r.config.Options.String("cleanSource") != "off"
}

// sourceRead is one flow that reads one source.
type sourceRead struct {
	flow   *flow
	source *sourceRelation
	stream bool
}

// cleanedSources refuses sources that take files away from a second reader,
// from a batch reader, from a table, or from another source over the same
// files.
func (a *analyzer) cleanedSources() {
	var reads []sourceRead
	for _, d := range a.project.datasets {
		for _, f := range d.flows {
			if f.plan == nil {
				continue
			}
			for _, r := range f.plan.Reads {
				if h, ok := r.Handle.(handle); ok && h.source != nil {
					reads = append(reads, sourceRead{f, h.source, r.Streaming})
				}
			}
		}
	}
	readers := map[*spec.Source]*flow{}
	for i, r := range reads {
		if r.source.cleans() {
			a.cleanedSource(r.flow, r.source, r.stream, readers)
			a.cleanedBeside(r, i, reads)
		}
	}
}

// cleanedBeside refuses other sources over files that r takes away; of two that
// both do, the later one.
func (a *analyzer) cleanedBeside(r sourceRead, at int, reads []sourceRead) {
	for i, o := range reads {
		if r.source.spec == nil || o.source.spec == r.source.spec || o.source.cleans() && i < at || !filesOf(r.source).shares(filesOf(o.source)) {
			continue
		}
		x := diag.AtSpan(o.flow.file, o.flow.place, "INVALID_OPTION", fmt.Sprintf("%s reads %s, whose files the cleanSource of %s takes away", o.flow.name, o.source.name, r.source.name))
		a.list = append(a.list, x.WithHint("read the files by one source in one streaming table, and read that table").WithRelated(r.flow.place, "the reader of "+r.source.name))
	}
}

// fileSet is what a source may read: the names that match in a folder, or in
// all folders of it.
type fileSet struct {
	dir, names string
	deep       bool
}

// filesOf reads the path and the options of a source; the zero value for one
// without files.
func filesOf(r *sourceRelation) fileSet {
	has := func(name string) bool {
		return r.config.Options != nil && slices.ContainsFunc(r.factory.Fields, func(f option.Field) bool { return f.Name == name })
	}
	if r.config.Path == "" || !has("pathGlobFilter") {
		return fileSet{}
	}
	s := fileSet{dir: filepath.Clean(r.config.Path), names: r.config.Options.String("pathGlobFilter"), deep: r.config.Options.Bool("recursiveFileLookup")}
	if base := filepath.Base(s.dir); strings.ContainsAny(base, "*?[{") || filepath.Ext(base) != "" {
		s.dir = filepath.Dir(s.dir)
		if s.names == "" {
			s.names = base
		}
	}
	if s.names == "" {
		s.names = "*"
	}
	return s
}

// shares reports whether two sources certainly may read the same file. Of two
// patterns of names it is known only when they are the same.
func (s fileSet) shares(o fileSet) bool {
	if s.dir == "" || o.dir == "" {
		return false
	}
	within := func(out, in fileSet) bool {
		rel, err := filepath.Rel(out.dir, in.dir)
		return out.deep && err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
	}
	if s.dir != o.dir && !within(s, o) && !within(o, s) {
		return false
	}
	match := func(pattern, name string) bool {
		ok, err := filepath.Match(pattern, name)
		return ok && err == nil
	}
	return s.names == "*" || o.names == "*" || s.names == o.names || match(s.names, o.names) || match(o.names, s.names)
}

func (a *analyzer) cleanedSource(f *flow, rel *sourceRelation, stream bool, readers map[*spec.Source]*flow) {
	hint := "read it in one streaming table, and read that table"
	switch {
	case rel.spec == nil:
		a.list = append(a.list, diag.AtSpan(f.file, f.place, "INVALID_OPTION", "cleanSource needs a declared source: "+rel.name+" is named by its path").WithHint("declare it in `sources`"))
	case !stream:
		a.list = append(a.list, diag.AtSpan(f.file, f.place, "INVALID_OPTION", fmt.Sprintf("%s reads %s whole, and its cleanSource takes files away once they were read as a stream", f.name, rel.name)).WithHint(hint))
	case readers[rel.spec] != nil && readers[rel.spec] != f:
		x := diag.AtSpan(f.file, f.place, "INVALID_OPTION", fmt.Sprintf("%s and %s both read %s, and its cleanSource takes files away after the first", readers[rel.spec].name, f.name, rel.name))
		a.list = append(a.list, x.WithHint(hint).WithRelated(readers[rel.spec].place, "the other reader"))
	default:
		readers[rel.spec] = f
	}
}

// checkClean refuses cleaning inside of the storage: tables would lose rows.
func (p *Project) checkClean(s *spec.Source, rel *sourceRelation) diag.List {
	if !rel.cleans() || rel.config.Path == "" {
		return nil
	}
	if o := rel.config.Options; o.String("cleanSource") == "archive" && !o.IsSet("sourceArchiveDir") {
		return diag.List{diag.AtSpan(s.File, o.Span("cleanSource"), "MISSING_OPTION", "cleanSource archive needs the option sourceArchiveDir").
			WithHint("name a folder outside of the source's")}
	}
	inside, err := filepath.Rel(p.spec.StorageDir(), rel.config.Path)
	outer, oerr := filepath.Rel(rel.config.Path, p.spec.StorageDir())
	if err == nil && !strings.HasPrefix(inside, "..") || oerr == nil && !strings.HasPrefix(outer, "..") {
		return diag.List{diag.AtSpan(s.File, rel.config.Options.Span("cleanSource"), "INVALID_OPTION", fmt.Sprintf("cleanSource would take files out of the storage %s", p.spec.Storage.Value)).
			WithHint("read the table instead of its files")}
	}
	return nil
}

// refreshOfCleaned refuses to empty a table whose files are not there any more.
func (u *update) refreshOfCleaned(t *target) diag.List {
	d := t.d
	if !u.fresh[d] || !t.known || d.kind != graph.StreamingTable || resetSaid(d) {
		return nil
	}
	for _, f := range d.flows {
		if f.plan == nil {
			continue
		}
		for _, r := range f.plan.Reads {
			if h, ok := r.Handle.(handle); ok && h.source != nil && h.source.cleans() {
				x := diag.AtSpan(d.file, d.place, "TABLE_NOT_RESETTABLE", fmt.Sprintf("%s was made from files of %s, which its cleanSource has taken away: a full refresh would lose their rows", d.shown(), h.source.name))
				return diag.List{x.WithHint("put archived files back and set the table property pipelines.reset.allowed to true, if that is meant")}
			}
		}
	}
	return nil
}

// resetSaid reports whether the table says itself that it may be reset.
func resetSaid(d *dataset) bool {
	for k, v := range d.properties {
		if strings.EqualFold(k, resetProperty) {
			return strings.EqualFold(v, "true")
		}
	}
	return false
}
