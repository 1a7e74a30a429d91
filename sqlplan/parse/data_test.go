package parse

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
)

// TestData runs the files of testdata. Commands: script (statements), query,
// expr, type, columns. The result is the printed tree, each statement after its
// kind, then the errors with their places. Run with -rewrite to write results.
func TestData(t *testing.T) {
	datadriven.Walk(t, "testdata/cases", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			text := diag.NewText("t", strings.ReplaceAll(d.Input, "␣", " "))
			var b strings.Builder
			var errs diag.List
			switch d.Cmd {
			case "script":
				var ss []ast.Statement
				ss, errs = Statements(text)
				for _, s := range ss {
					line := ast.String(s)
					if br, ok := s.(*ast.Broken); ok {
						line = "<broken>"
						if br.Name != nil {
							line += " " + br.Name.String()
						}
					}
					fmt.Fprintf(&b, "%s: %s\n", strings.TrimPrefix(fmt.Sprintf("%T", s), "*ast."), line)
				}
				if !errs.HasErrors() {
					roundTrip(t, d.Input, ss)
				}
			case "query":
				q, es := Query(text)
				if errs = es; !errs.HasErrors() {
					fmt.Fprintln(&b, ast.String(q))
				}
			case "expr":
				x, es := Expr(text)
				if errs = es; !errs.HasErrors() {
					fmt.Fprintln(&b, tree(x))
				}
			case "type":
				ty, es := Type(text)
				if errs = es; !errs.HasErrors() {
					fmt.Fprintln(&b, ty.String())
				}
			case "columns":
				cs, es := Columns(text)
				if errs = es; !errs.HasErrors() {
					for _, c := range cs {
						fmt.Fprintf(&b, "%s %s notnull=%v comment=%q\n", c.Name.Name, c.Type, c.NotNull, c.Comment)
					}
				}
			default:
				t.Fatalf("unknown command %s", d.Cmd)
			}
			for _, e := range errs {
				fmt.Fprintf(&b, "%v-%v: %s: %s\n", e.Span.Start, e.Span.End, e.Code, e.Message)
				if e.Hint != "" {
					fmt.Fprintf(&b, "  hint: %s\n", e.Hint)
				}
			}
			return b.String()
		})
	})
}

// tree prints an expression with parentheses around each operation, to show
// what binds to what.
func tree(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Binary:
		return "(" + tree(x.L) + " " + x.Op.String() + " " + tree(x.R) + ")"
	case *ast.Unary:
		return "(" + x.Op.String() + " " + tree(x.X) + ")"
	case *ast.Paren:
		return "[" + tree(x.X) + "]"
	case *ast.Between:
		return fmt.Sprintf("(%s BETWEEN %s %s not=%v)", tree(x.X), tree(x.Low), tree(x.High), x.Not)
	case *ast.IsNull:
		return fmt.Sprintf("(%s IS NULL not=%v)", tree(x.X), x.Not)
	case *ast.Like:
		return fmt.Sprintf("(%s LIKE%d %s not=%v)", tree(x.X), x.Op, tree(x.Patterns[0]), x.Not)
	case *ast.Cast:
		return fmt.Sprintf("cast(%s as %s)", tree(x.X), x.Type)
	case *ast.Subscript:
		return fmt.Sprintf("%s{%s}", tree(x.X), tree(x.Index))
	case *ast.Field:
		return fmt.Sprintf("field(%s, %s)", tree(x.X), x.Name.Name)
	case *ast.VariantPath:
		return fmt.Sprintf("path(%s, %s)", tree(x.X), x.Path)
	case *ast.IntervalLit:
		return fmt.Sprintf("interval(%s to %s, months %d, micros %d)", x.Start, x.End, x.Months, x.Micros)
	case *ast.Row:
		var s []string
		for _, i := range x.Items {
			s = append(s, tree(i))
		}
		return "row(" + strings.Join(s, ", ") + ")"
	}
	return ast.String(x)
}
