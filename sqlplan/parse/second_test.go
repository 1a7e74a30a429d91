package parse

import (
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xwb1989/sqlparser"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
)

// shared are texts that both dialects read alike.
var shared = []string{
	"select 1",
	"select a, b as c, t.d from t",
	"select * from t where a = 1 and b <> 2 or not c",
	"select distinct a from x.t order by a desc, b limit 10",
	"select count(*), sum(a) from t group by b, c having sum(a) > 3",
	"select t.*, u.a from t join u on t.id = u.id left join v on u.x = v.x",
	"select a from t where a in (1, 2, 3) and b not in (select c from u where d is null)",
	"select a from (select b as a from t) as q where a between 1 and 2",
	"select case when a > 1 then 'x' when b then 'y' else 'z' end from t",
	"select case a when 1 then 2 end, a like 'x%', a not like 'y' from t",
	"select a from t union all select b from u union select c from v",
	"select exists (select 1 from u) from t where exists (select 2 from w)",
	"select a + b * c - d / e % f, -a, (a + b) * c from t",
	"select a & b | c ^ d, a << 2, b >> 3 from t",
	"select `a b`, `select`.`from` from `where`",
	"select 'it''s', 'a\\nb' from t",
	"select f(a, g(b)), upper(c) as d from t",
	"select a from t, u, v where t.a = u.b and u.c = v.d",
	"select a from t left outer join u on t.a = u.a right join w on w.b = t.b",
	"select a from t join u using (a, b)",
	"select a is null, b is not null from t",
	"select 1.5, 1e3, .5, 100000000000 from t",
	"select a <=> b, a != b, a >= 1, a <= 2 from t",
	"select (select max(a) from u) as m, (select 1) from t",
	"select a from t cross join u",
	"select a from t natural join u",
	"insert into t(a, b) values (1, 2), (3, 4)",
	"insert into t select a, b from u",
	"select null, true, false from t where true",
	"select a from t where (a, b) in ((1, 2), (3, 4))",
	"select a from t where a regexp 'x'",
	"select a /* comment */ from t -- end\n where b",
	"select a from t order by a asc limit 3",
	"select max(distinct a) from t",
	"select a from t as x where x.a = 1",
	"select a div b from t",
	"select !a from t",
	"explain select 1",
	"set a = 1",
}

// outline is what both parsers must agree on.
type outline struct {
	Kind    string
	Items   []int    // lengths of the select lists, in order
	Tables  []string // sorted
	Calls   []string // sorted, lower case
	Strings []string // sorted
}

// TestSecondParser compares trees with those of an independent parser.
func TestSecondParser(t *testing.T) {
	for _, sql := range shared {
		theirs, err := sqlparser.Parse(sql)
		if err != nil {
			t.Errorf("the other parser refuses %s: %v", sql, err)
			continue
		}
		ours, errs := Statement(diag.NewText("t", sql))
		if errs.HasErrors() {
			t.Errorf("%s: %s", sql, errs[0].Message)
			continue
		}
		if d := cmp.Diff(outlineTheirs(theirs), outlineOurs(ours)); d != "" {
			t.Errorf("%s\n%s", sql, d)
		}
	}
}

func outlineOurs(s ast.Statement) outline {
	o := outline{Kind: strings.ToLower(strings.Fields(ast.String(s))[0])}
	if o.Kind == "explain" {
		return o
	}
	ast.Walk(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Select:
			o.Items = append(o.Items, len(n.Items))
		case *ast.Table:
			o.Tables = append(o.Tables, n.Name.Last().Name)
		case *ast.Insert:
			o.Tables = append(o.Tables, n.Table.Last().Name)
		case *ast.Call:
			o.Calls = append(o.Calls, strings.ToLower(n.Name.Last().Name))
		case *ast.StringLit:
			o.Strings = append(o.Strings, n.Value)
		}
		return true
	})
	o.sort()
	return o
}

func (o *outline) sort() {
	sort.Ints(o.Items)
	sort.Strings(o.Tables)
	sort.Strings(o.Calls)
	sort.Strings(o.Strings)
}

func outlineTheirs(s sqlparser.Statement) outline {
	o := outline{}
	switch s.(type) {
	case *sqlparser.Insert:
		o.Kind = "insert"
	case *sqlparser.Set:
		o.Kind = "set"
		return o
	case *sqlparser.OtherRead:
		o.Kind = "explain"
		return o
	default:
		o.Kind = "select"
	}
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.Insert:
			o.Tables = append(o.Tables, n.Table.Name.String())
		case *sqlparser.Select:
			o.Items = append(o.Items, len(n.SelectExprs))
		case *sqlparser.AliasedTableExpr:
			if t, ok := n.Expr.(sqlparser.TableName); ok && t.Name.String() != "dual" {
				o.Tables = append(o.Tables, t.Name.String())
			}
		case *sqlparser.FuncExpr:
			o.Calls = append(o.Calls, n.Name.Lowered())
		case *sqlparser.SQLVal:
			if n.Type == sqlparser.StrVal {
				o.Strings = append(o.Strings, string(n.Val))
			}
		}
		return true, nil
	}, s)
	o.sort()
	return o
}
