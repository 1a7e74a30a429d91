package shell

import (
	"strings"

	"pipelines/sqlplan"
)

// function is a SQL function of the session: a temporary one, or one of a
// database that lives as long as the session.
type function struct {
	sql    *sqlplan.UserFunction
	key    string // in the session's map
	stored bool
	data   bool            // it reads tables, or says so
	reads  map[string]bool // views and functions that its body leads to
}

func (r *run) createFunction() *Failure {
	st := r.st
	u := *st.Function
	fn := &function{key: strings.ToLower(u.Name), stored: !st.Temporary}
	if _, ok := sqlplan.SessionName(st.Name); !ok && st.Temporary {
		return r.refuse("INVALID_TEMP_OBJ_QUALIFIER", "Temporary FUNCTION name %s has more than one part.", quoted(st.Name))
	}
	if fn.stored {
		if len(st.Name) > 3 || len(st.Name) == 3 && !strings.EqualFold(st.Name[0], r.catalog) {
			return r.refuse("REQUIRES_SINGLE_PART_NAMESPACE", "%s requires a single-part namespace, but got %s.", quoted([]string{r.catalog}), quoted(st.Name[:len(st.Name)-1]))
		}
		full := r.fullName(st.Name)
		fn.key, u.Shown, u.Catalog = lower(full...), strings.Join(full, "."), r.lasting()
	}
	there := r.functions[fn.key] != nil
	if there && !st.Replace {
		if st.IfNotExists {
			return nil
		}
		return r.refuse("ROUTINE_ALREADY_EXISTS", "Cannot create the function `%s` because a function of that name already exists.", fn.key[strings.LastIndex(fn.key, keySep)+1:])
	}
	u.Session = r.settings
	done, list := sqlplan.DefineFunction(&u, r.text, r.names(), r.options())
	if list.HasErrors() || done == nil {
		return findings(list)
	}
	if f := r.functionReads(fn); f != nil {
		return f
	}
	fn.sql, fn.reads, fn.data = done, r.touched, r.data || st.ReadsSQL
	r.functions[fn.key] = fn
	return nil
}

// functionReads checks what the body of a new function leads to.
func (r *run) functionReads(fn *function) *Failure {
	full := r.fullName(r.st.Name)
	if !fn.stored {
		full = r.st.Name
	}
	switch {
	case r.touched[functionKey+fn.key]:
		return r.refuse("CYCLIC_FUNCTION_REFERENCE", "Cyclic function reference detected: %s.", quoted(full))
	case r.st.ContainsSQL && r.data:
		return r.refuse("INVALID_SQL_FUNCTION_DATA_ACCESS", "Cannot create a SQL function with CONTAINS SQL that accesses a table/view or a SQL function that reads SQL data. Please use READS SQL DATA instead.")
	case fn.stored:
		return r.lasts("FUNCTION", full)
	}
	return nil
}

func (r *run) dropFunction() *Failure {
	st := r.st
	name, ok := sqlplan.SessionName(st.Name)
	if st.Temporary && !ok {
		return r.refuse("INVALID_TEMP_OBJ_QUALIFIER", "Temporary FUNCTION name %s has more than one part.", quoted(st.Name))
	}
	key := strings.ToLower(name[len(name)-1])
	if !st.Temporary {
		key = lower(r.fullName(st.Name)...)
	}
	_, _, builtin := sqlplan.DescribeFunction(strings.ToLower(st.Name[len(st.Name)-1]))
	switch {
	case r.functions[key] != nil:
		delete(r.functions, key)
	case builtin && len(st.Name) == 1:
		return r.refuse("FORBIDDEN_OPERATION", "The operation DROP FUNCTION is not allowed on the built-in function %s.", quoted(st.Name))
	case !st.IfExists:
		return r.refuse("ROUTINE_NOT_FOUND", "The routine %s cannot be found.", quoted(st.Name))
	}
	return nil
}

// shown is the name as it is printed.
func (f *function) shown() string { return strings.ReplaceAll(f.key, keySep, ".") }

// functionNames are the names of the session's functions as SHOW prints them.
func (r *run) functionNames() []string {
	var out []string
	for _, k := range sorted(r.functions) {
		out = append(out, r.functions[k].shown())
	}
	return out
}

func (r *run) describeFunction() *Failure {
	name := strings.ToLower(r.st.Name[len(r.st.Name)-1])
	lines := [][]string{{"Function: " + name}}
	if f := r.names().function(r.st.Name); f != nil {
		if f.stored {
			lines[0][0] = "Function: " + f.shown()
		}
		var ps []string
		for _, p := range f.sql.Params {
			ps = append(ps, p.Name+" "+p.Type.SQL())
		}
		lines = append(lines, []string{"Usage: " + f.sql.Name + "(" + strings.Join(ps, ", ") + ")"})
	} else {
		usage, doc, ok := sqlplan.DescribeFunction(name)
		if !ok {
			return r.refuse("UNRESOLVED_ROUTINE", "Cannot resolve routine %s on search path [`system`.`builtin`, `system`.`session`].", quoted(r.st.Name))
		}
		lines = append(lines, []string{"Usage: " + usage + " - " + doc})
	}
	r.rows([]string{"function_desc"}, lines)
	return nil
}
