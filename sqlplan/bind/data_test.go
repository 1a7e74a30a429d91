package bind_test

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"pipelines/spec/diag"
	"pipelines/sqlplan/bind"
	"pipelines/sqlplan/logical"
	"pipelines/sqlplan/parse"
	"pipelines/tables/schema"
)

// tables is the catalog that a test file declares.
type tables struct {
	schemas map[string]schema.Schema
	streams map[string]bool
	views   map[string]*bind.View
	funcs   map[string]*bind.UserFunction
}

func newTables() *tables {
	return &tables{map[string]schema.Schema{}, map[string]bool{}, map[string]*bind.View{}, map[string]*bind.UserFunction{}}
}

func (c *tables) Resolve(r bind.Request) (bind.Answer, error) {
	name := strings.ToLower(strings.Join(r.Parts, "."))
	if v := c.views[name]; v != nil {
		return bind.Answer{View: v}, nil
	}
	s, ok := c.schemas[name]
	if !ok || r.Stream && !c.streams[name] {
		return bind.Answer{}, &bind.NotFound{Names: []string{"emp", "dept"}}
	}
	rel := &logical.Relation{ID: name, Name: r.Parts, Schema: s, Streaming: r.Stream}
	return bind.Answer{Relation: rel, Metadata: []schema.Field{{Name: "file_path", Type: schema.Of(schema.String)}, {Name: "file_size", Type: schema.Of(schema.Int64)}}}, nil
}

// Function implements bind.Functions.
func (c *tables) Function(parts []string) *bind.UserFunction {
	return c.funcs[strings.ToLower(parts[len(parts)-1])]
}

// ddl reads a list of columns through an empty CREATE TABLE of the parser.
func ddl(t testing.TB, text string) schema.Schema {
	t.Helper()
	var s schema.Schema
	for _, col := range strings.Split(text, ";") {
		name, typ, ok := strings.Cut(strings.TrimSpace(col), " ")
		if !ok {
			t.Fatalf("column %q", col)
		}
		s.Fields = append(s.Fields, schema.Field{Name: name, Type: typeOf(t, typ), Nullable: true})
	}
	return s
}

func typeOf(t testing.TB, text string) schema.Type {
	t.Helper()
	d := diag.NewText("type", text)
	name, list := parse.Type(d)
	if list.HasErrors() {
		t.Fatal(list.Render())
	}
	out, list := bind.TypeOf(d, name)
	if list.HasErrors() {
		t.Fatal(list.Render())
	}
	return out
}

// TestData runs testdata/*. "table NAME" and "view NAME" declare (columns are
// separated by ";"), "function NAME p INT ..." declares a SQL function whose
// text is its query or, in brackets, its value, "bind" prints the plan, errors
// with the line and the caret, "names" the names of the columns (testdata/names
// holds what Spark 4.2 calls them).
func TestData(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		cat := newTables()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return command(t, cat, d)
		})
	})
}

func command(t *testing.T, cat *tables, d *datadriven.TestData) string {
	text := diag.NewText("q.sql", d.Input)
	switch d.Cmd {
	case "table":
		name := d.CmdArgs[0].Key
		cat.schemas[name], cat.streams[name] = ddl(t, d.Input), len(d.CmdArgs) > 1
		return ""
	case "view":
		q, list := parse.Query(text)
		if list.HasErrors() {
			return list.Render()
		}
		name := d.CmdArgs[0].Key
		cat.views[name] = &bind.View{Name: []string{name}, Text: text, Query: q}
		return ""
	case "function":
		q, list := parse.Query(text)
		if list.HasErrors() {
			return list.Render()
		}
		f := &bind.UserFunction{Name: d.CmdArgs[0].Key, Text: text, Query: q}
		for _, a := range d.CmdArgs[1:] {
			if a.Key == "table" {
				f.Table = true
				continue
			}
			f.Params = append(f.Params, schema.Field{Name: a.Key, Type: typeOf(t, a.Vals[0]), Nullable: true})
		}
		cat.funcs[f.Name] = f
		return ""
	case "bind":
		return bound(text, cat)
	case "names":
		return columnNames(text, cat)
	}
	t.Fatalf("unknown command %s", d.Cmd)
	return ""
}

func bound(text *diag.Text, cat bind.Catalog) string {
	q, list := parse.Query(text)
	if list.HasErrors() {
		return list.Render()
	}
	b := bind.New(text, cat, bind.Options{})
	n, list := b.Query(q)
	if n == nil {
		return list.Render()
	}
	return list.Render() + logical.Explain(n) + logical.SchemaOf(n.Output()).DDL() + "\n"
}

// columnNames prints the names of a query's columns, one a line.
func columnNames(text *diag.Text, cat bind.Catalog) string {
	q, list := parse.Query(text)
	if list.HasErrors() {
		return list.Render()
	}
	n, list := bind.New(text, cat, bind.Options{}).Query(q)
	if n == nil {
		return list.Render()
	}
	out := ""
	for _, a := range n.Output() {
		out += a.Name + "\n"
	}
	return list.Render() + out
}

// FuzzBind demands that any text gives a plan or an error.
func FuzzBind(f *testing.F) {
	for _, sql := range []string{
		"SELECT * FROM emp e JOIN dept d USING (dept_id) WHERE e.id IN (SELECT id FROM emp WHERE dept_id = d.dept_id)",
		"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT max(n) FROM r HAVING max(n) > 1",
		"FROM emp |> EXTEND id + 1 AS k |> AGGREGATE sum(k) AS s GROUP BY 1 |> WHERE s > 1 |> ORDER BY s |> LIMIT 2",
		"SELECT * FROM emp PIVOT (sum(id) FOR dept_id IN (1, 2 AS two))",
		"SELECT lag(id, 2) OVER (PARTITION BY dept_id ORDER BY id), sum(id) OVER w FROM emp WINDOW w AS (ORDER BY id RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)",
		"SELECT dept_id, grouping(dept_id), count(DISTINCT name) FILTER (WHERE id > 1) FROM emp GROUP BY CUBE (dept_id, name) HAVING EXISTS (SELECT 1 FROM dept WHERE dept_id < min(emp.id))",
		"SELECT * FROM emp, LATERAL (SELECT emp.id + 1 AS k UNION SELECT 2) LEFT JOIN dept ON k = dept.dept_id AND k IN (SELECT 1)",
		"SELECT transform(array(id), x -> x + dept_id), named_struct('a', id).a, CASE id WHEN 1 THEN 'x' END FROM emp ORDER BY ALL",
		"SELECT _metadata, _metadata.file_path FROM emp",
	} {
		f.Add(sql)
	}
	cat := newTables()
	cat.schemas["emp"] = ddl(f, "id INT; name STRING; dept_id INT")
	cat.schemas["dept"] = ddl(f, "dept_id INT; title STRING")
	f.Fuzz(func(t *testing.T, sql string) {
		if len(sql) <= 2000 && bound(diag.NewText("q.sql", sql), cat) == "" {
			t.Fatalf("no plan and no error: %s", sql)
		}
	})
}
