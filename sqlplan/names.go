package sqlplan

import (
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/bind"
)

// dynamicNames are the names of a statement of a SQL file that say what it is
// about: what it defines, writes and reads from.
func dynamicNames(st ast.Statement) []*ast.Name {
	switch st := st.(type) {
	case *ast.CreateDataset:
		return append([]*ast.Name{&st.Name}, cdcNames(st.CDC)...)
	case *ast.CreateView:
		return []*ast.Name{&st.Name}
	case *ast.CreateFlow:
		out := append([]*ast.Name{&st.Name}, cdcNames(st.CDC)...)
		if st.Insert != nil {
			out = append(out, &st.Insert.Table)
		}
		return out
	case *ast.AutoCDC:
		return cdcNames(st)
	case *ast.Use:
		return []*ast.Name{&st.Name}
	}
	return nil
}

func cdcNames(c *ast.AutoCDC) []*ast.Name {
	if c == nil {
		return nil
	}
	out := []*ast.Name{&c.Target}
	switch src := c.Source.(type) {
	case *ast.Table:
		out = append(out, &src.Name)
	case *ast.TableFunc:
		out = append(out, &src.Name)
	}
	return out
}

// named puts the names that IDENTIFIER(constant) stands for into a statement.
// It reports false when one has none.
func (s *scripter) named(st ast.Statement) bool {
	ok := true
	for _, n := range dynamicNames(st) {
		if n.Dynamic == nil {
			continue
		}
		parts, list := bind.New(s.text, Empty{}, bind.Options{}).Name(*n)
		if list.HasErrors() {
			s.list, ok = append(s.list, list...), false
			continue
		}
		n.Dynamic, n.Parts = nil, nil
		for _, p := range parts {
			n.Parts = append(n.Parts, ast.Ident{Pos: n.Pos, Name: p, Quoted: true})
		}
	}
	return ok
}
