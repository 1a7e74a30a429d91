package pipelines

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"pipelines/spec"
	"pipelines/spec/diag"
	"pipelines/sqlplan"
	"pipelines/tables/catalog"
	"pipelines/tables/schema"
)

// rescuedColumn holds what an inferred schema does not know.
const rescuedColumn = "_rescued_data"

// rescuedOption names another one, in lower case.
const rescuedOption = "rescueddatacolumn"

// infers reports sources whose columns are found in their files.
func (r *sourceRelation) infers() bool {
	return r.factory.NeedsPath && r.factory.Schema == nil && r.config.Schema == nil && r.factory.Name != "delta"
}

// lockName is the source's name in the lock file: its own, or a hash of format
// and path.
func (r *sourceRelation) lockName() string {
	if r.spec != nil {
		return r.name
	}
	return r.factory.Name + "-" + hash(r.name)[:12]
}

// usePinned takes the pinned schema if there is one.
func (r *sourceRelation) usePinned(ddl *diag.Text) error {
	if ddl == nil {
		return nil
	}
	s, list := sqlplan.ParseSchema(nil, ddl)
	if list.HasErrors() {
		return classError(string(list[0].Code), fmt.Sprintf("the schema of %s in %s: %s", r.name, spec.LockFile, list[0].Message))
	}
	if s.Index(rescuedColumn) >= 0 {
		r.rescue(schema.Schema{})
	}
	r.config.Schema = &s
	return nil
}

// rescue adds the column for fields that the schema does not know, where the
// source asks for it and its format can tell.
func (r *sourceRelation) rescue(s schema.Schema) schema.Schema {
	if r.spec == nil || r.spec.NewColumns() != "rescue" || r.factory.Name != "json" && r.factory.Name != "csv" {
		return s
	}
	name := r.config.Texts[rescuedOption]
	if name == "" {
		name = rescuedColumn
		r.config.Texts[rescuedOption] = name
	}
	if s.Index(name) < 0 {
		s.Fields = append(s.Fields, schema.Field{Name: name, Type: schema.Of(schema.String), Nullable: true})
	}
	return s
}

// checkRescued refuses a rescued column that the declared schema has not: the
// option would do nothing.
func checkRescued(texts map[string]string, s schema.Schema) error {
	name := texts[rescuedOption]
	if name == "" {
		return nil
	}
	for _, f := range s.Fields {
		if f.Name == name && f.Type.Kind == schema.String {
			return nil
		}
	}
	return fmt.Errorf("%q is no column of type STRING of the declared schema, which it must be", name)
}

// Pin writes the schemas that were found in data into the lock file, beside
// those that it holds; it returns the file's path, "" if nothing is new.
func (p *Project) Pin() (string, error) {
	if len(p.inferred) == 0 {
		return "", nil
	}
	all := maps.Clone(p.inferred)
	for _, n := range p.spec.Lock.Names() {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(p.inferred)), func(x string) bool { return strings.EqualFold(x, n) }) {
			all[n] = p.spec.Lock.Schema(n).Body
		}
	}
	path := filepath.Join(p.spec.Dir, spec.LockFile)
	if err := catalog.ReplaceFile(path, spec.FormatLock(all)); err != nil {
		return "", fmt.Errorf("pin inferred schemas: %w", err)
	}
	clear(p.inferred)
	return strings.TrimPrefix(path, p.spec.Dir+"/"), nil
}
