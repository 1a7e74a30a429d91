package shell

import (
	"context"
	"strings"
)

// databases are the databases of a catalog: their names by lower case.
func (r *run) databases(ctx context.Context, catalog string) (map[string]string, *Failure) {
	out := map[string]string{"default": "default"}
	add := func(c, d string) {
		if strings.EqualFold(c, catalog) && out[lower(d)] == "" {
			out[lower(d)] = d
		}
	}
	stored, err := r.o.Reader.Tables(ctx)
	if err != nil {
		return nil, failure(err, r.text)
	}
	for _, t := range stored {
		if len(t.Name) == 3 {
			add(t.Name[0], t.Name[1])
		}
	}
	add(r.o.Reader.Namespace())
	for k, d := range r.schemas {
		c, _, _ := strings.Cut(k, keySep)
		add(c, d)
	}
	return out, nil
}

// newName is the full name of what a statement makes: its database must exist.
func (r *run) newName(ctx context.Context) ([]string, *Failure) {
	full := r.st.Name
	if len(full) <= 3 {
		full = r.fullName(full)
	}
	if len(full) > 3 || !strings.EqualFold(full[0], r.catalog) {
		return nil, r.refuse("REQUIRES_SINGLE_PART_NAMESPACE", "%s requires a single-part namespace, but got %s.", quoted([]string{r.catalog}), quoted(full[:len(full)-1]))
	}
	return full, r.needSchema(ctx, full[0], full[1])
}

func (r *run) needSchema(ctx context.Context, catalog, database string) *Failure {
	known, f := r.databases(ctx, catalog)
	if f == nil && known[lower(database)] == "" {
		f = r.refuse("SCHEMA_NOT_FOUND", "The schema %s cannot be found. Verify the spelling and correctness of the schema and catalog.", quoted([]string{catalog, database}))
	}
	return f
}

// schemaName completes the name of a schema.
func (r *run) schemaName() (catalog, database string, f *Failure) {
	switch n := r.st.Name; len(n) {
	case 1:
		return r.catalog, n[0], nil
	case 2:
		return n[0], n[1], nil
	}
	return "", "", r.refuse("REQUIRES_SINGLE_PART_NAMESPACE", "%s requires a single-part namespace, but got %s.", quoted([]string{r.catalog}), quoted(r.st.Name))
}

// createSchema makes a database of the session.
func (r *run) createSchema(ctx context.Context) *Failure {
	c, d, f := r.schemaName()
	if f != nil {
		return f
	}
	known, f := r.databases(ctx, c)
	switch {
	case f != nil:
		return f
	case known[lower(d)] != "" && !r.st.IfNotExists:
		return r.refuse("SCHEMA_ALREADY_EXISTS", "Cannot create schema %s because it already exists. Choose a different name, drop the existing schema, or add the IF NOT EXISTS clause to tolerate pre-existing schema.", quoted([]string{c, d}))
	case known[lower(d)] == "":
		r.schemas[lower(c, d)] = d
	}
	return nil
}

// dropSchema drops a database of the session with what is in it.
func (r *run) dropSchema(ctx context.Context) *Failure {
	c, d, f := r.schemaName()
	if f != nil {
		return f
	}
	key := lower(c, d)
	if r.schemas[key] == "" {
		f := r.needSchema(ctx, c, d)
		switch {
		case f == nil && lower(d) == "default":
			return r.refuse("UNSUPPORTED_FEATURE.DROP_DATABASE", "Drop the default database %s.", quoted([]string{c, d}))
		case f == nil:
			return r.refuse("FEATURE_NOT_AVAILABLE", "%s belongs to the project: it is never dropped from the SQL shell", quoted([]string{c, d}))
		case r.st.IfExists && f.Class == "SCHEMA_NOT_FOUND":
			return nil
		}
		return f
	}
	prefix := key + keySep
	if !r.st.Cascade && (anyKey(r.tables, prefix) || anyKey(r.stored, prefix) || anyKey(r.functions, prefix)) {
		return r.refuse("SCHEMA_NOT_EMPTY", "Cannot drop a schema %s because it contains objects. Use DROP SCHEMA ... CASCADE to drop the schema and all its objects.", quoted([]string{c, d}))
	}
	deleteKeys(r.tables, prefix)
	deleteKeys(r.stored, prefix)
	deleteKeys(r.functions, prefix)
	delete(r.schemas, key)
	return nil
}

func anyKey[V any](m map[string]V, prefix string) bool {
	for k := range m {
		if strings.HasPrefix(k, prefix) {
			return true
		}
	}
	return false
}

func deleteKeys[V any](m map[string]V, prefix string) {
	for k := range m {
		if strings.HasPrefix(k, prefix) {
			delete(m, k)
		}
	}
}

// use changes the database, and the catalog where one is named.
func (r *run) use(ctx context.Context) *Failure {
	c, d := r.catalog, ""
	switch n := r.st.Name; {
	case len(n) == 1 && (r.st.What == "CATALOG" || r.st.What == "" && strings.EqualFold(n[0], r.catalog)):
		c, d = n[0], "default"
	case len(n) == 2 && r.st.What != "CATALOG":
		c, d = n[0], n[1]
	case len(n) == 1:
		d = n[0]
	default:
		return r.refuse("REQUIRES_SINGLE_PART_NAMESPACE", "%s requires a single-part namespace, but got %s.", quoted([]string{r.catalog}), quoted(r.st.Name))
	}
	if f := r.needCatalog(ctx, c); f != nil {
		return f
	}
	if f := r.needSchema(ctx, c, d); f != nil {
		return f
	}
	r.catalog, r.database = c, d
	if err := r.configure(); err != nil {
		return failure(err, r.text)
	}
	return nil
}

// needCatalog refuses a catalog that the project does not have.
func (r *run) needCatalog(ctx context.Context, catalog string) *Failure {
	if c, _ := r.o.Reader.Namespace(); strings.EqualFold(c, catalog) || strings.EqualFold(r.catalog, catalog) {
		return nil
	}
	stored, err := r.o.Reader.Tables(ctx)
	if err != nil {
		return failure(err, r.text)
	}
	for _, t := range stored {
		if len(t.Name) == 3 && strings.EqualFold(t.Name[0], catalog) {
			return nil
		}
	}
	return r.refuse("CATALOG_NOT_FOUND", "The catalog %s not found. Consider to set the SQL config \"spark.sql.catalog.%s\" to a catalog plugin.", quoted([]string{catalog}), catalog)
}
