package ast

import (
	"fmt"
	"strings"
)

// statement writes a statement.
//
//tidy:allow-long one case per kind
func (p *printer) statement(s Statement) {
	switch s := s.(type) {
	case *QueryStmt:
		p.query(s.Query)
	case *Insert:
		p.insert(s)
	case *CreateView:
		p.createView(s)
	case *CreateTable:
		p.createTable(s)
	case *CreateDataset:
		p.createDataset(s)
	case *CreateFlow:
		p.createFlow(s)
	case *CreateFunction:
		p.createFunction(s)
	case *CreateSchema:
		p.createSchema(s)
	case *AutoCDC:
		p.autoCDC(s)
	case *Drop:
		p.w("DROP ", flag(s.Temporary, "TEMPORARY "), s.Kind, " ", flag(s.IfExists, "IF EXISTS "))
		p.name(s.Name)
		p.w(flag(s.Cascade, " CASCADE"), flag(s.Purge, " PURGE"))
	case *Set:
		p.set(s)
	case *SetTimeZone:
		p.w("SET TIME ZONE ")
		switch {
		case s.Local:
			p.w("LOCAL")
		case s.Interval != nil:
			p.interval(s.Interval)
		default:
			p.w(Quote(s.Zone))
		}
	case *SetVar:
		p.w("SET VAR ")
		if s.Query == nil {
			each(p, s.Sets, ", ", p.assign)
			return
		}
		p.w("(")
		each(p, s.Sets, ", ", func(a Assign) { p.name(a.Name) })
		p.w(") = ")
		p.paren(s.Query)
	case *Reset:
		p.w("RESET")
		if s.Key != "" {
			p.w(" ", setText(s.Key))
		}
	case *Use:
		p.w("USE ")
		if s.Kind != "" {
			p.w(s.Kind, " ")
		}
		p.name(s.Name)
	case *Show:
		p.show(s)
	case *Describe:
		p.describe(s)
	case *Explain:
		p.w("EXPLAIN ")
		if s.Mode != "" {
			p.w(s.Mode, " ")
		}
		p.statement(s.Statement)
	case *Declare:
		p.w("DECLARE ", flag(s.Replace, "OR REPLACE "), "VARIABLE ")
		p.names(s.Names)
		if s.Type != nil {
			p.w(" ", s.Type.String())
		}
		clause(p, " DEFAULT ", s.Default)
	case *Truncate:
		p.w("TRUNCATE TABLE ")
		p.name(s.Table)
		p.partition(s.Partition)
	case *Cache:
		p.cache(s)
	case *Unsupported:
		p.w(s.Text)
	case *Broken:
		p.w("<broken>")
	default:
		panic(fmt.Sprintf("bug: String does not know %T", s))
	}
}

func flag(b bool, s string) string {
	if b {
		return s
	}
	return ""
}

func (p *printer) partition(ps []Property) {
	if ps == nil {
		return
	}
	p.w(" PARTITION (")
	each(p, ps, ", ", func(pr Property) {
		p.ident(Ident{Name: pr.Key})
		clause(p, " = ", pr.Value)
	})
	p.w(")")
}

func (p *printer) properties(ps []Property) {
	p.w("(")
	each(p, ps, ", ", func(pr Property) {
		p.w(Quote(pr.Key))
		clause(p, " = ", pr.Value)
	})
	p.w(")")
}

func (p *printer) insert(s *Insert) {
	if s.With != nil {
		p.with(s.With)
		p.w(" ")
	}
	p.w("INSERT ", flag(s.Overwrite, "OVERWRITE "), flag(!s.Overwrite, "INTO "), flag(s.Once, "ONCE "))
	p.name(s.Table)
	p.partition(s.Partition)
	p.w(flag(s.IfNotExists, " IF NOT EXISTS"), flag(s.ByName, " BY NAME"))
	listClause(p, " (", s.Columns, p.idents)
	clause(p, " REPLACE WHERE ", s.ReplaceWhere)
	p.w(" ")
	p.query(s.Query)
}

func (p *printer) createView(s *CreateView) {
	p.w("CREATE ", flag(s.Replace, "OR REPLACE "), flag(s.Refresh, "OR REFRESH "), flag(s.Global, "GLOBAL "),
		flag(s.Private, "PRIVATE "), flag(s.Temporary, "TEMPORARY "), flag(s.Legacy == StreamingLiveView, "STREAMING "),
		flag(s.Legacy != NotLegacy, "LIVE "), "VIEW ", flag(s.IfNotExists, "IF NOT EXISTS "))
	p.name(s.Name)
	p.columnList(s.Columns, s.Constraints)
	if s.Using != nil {
		p.w(" USING ")
		p.name(*s.Using)
		if s.Options != nil {
			p.w(" OPTIONS ")
			p.properties(s.Options)
		}
		return
	}
	p.comment(s.Comment)
	if s.Properties != nil {
		p.w(" TBLPROPERTIES ")
		p.properties(s.Properties)
	}
	if s.Schema != "" {
		p.w(" WITH SCHEMA ", s.Schema)
	}
	p.w(" AS ")
	p.query(s.Query)
}

func (p *printer) comment(c *StringLit) {
	clause(p, " COMMENT ", c)
}

// columnList writes the columns and constraints of a dataset.
func (p *printer) columnList(cs []ColumnDef, ks []Constraint) {
	if len(cs)+len(ks) == 0 {
		return
	}
	p.w(" (")
	each(p, cs, ", ", p.columnDef)
	if len(cs) > 0 && len(ks) > 0 {
		p.w(", ")
	}
	each(p, ks, ", ", func(c Constraint) { p.w(c.Text) })
	p.w(")")
}

func (p *printer) columnDef(c ColumnDef) {
	p.ident(c.Name)
	if !c.Untyped {
		p.w(" ")
		p.typeName(c.Type)
	}
	p.w(flag(c.NotNull, " NOT NULL"))
	if c.Generated != nil {
		p.w(" GENERATED ALWAYS AS (")
		p.expr(c.Generated)
		p.w(")")
	}
	if id := c.Identity; id != nil {
		p.w(" GENERATED ", flag(id.ByDefault, "BY DEFAULT"), flag(!id.ByDefault, "ALWAYS"), " AS IDENTITY")
		if id.Start != "" || id.Step != "" {
			p.w(" (", flag(id.Start != "", "START WITH "+id.Start), flag(id.Start != "" && id.Step != "", " "),
				flag(id.Step != "", "INCREMENT BY "+id.Step), ")")
		}
	}
	clause(p, " DEFAULT ", c.Default)
	if c.Comment != "" {
		p.w(" COMMENT ", Quote(c.Comment))
	}
	if c.Mask != nil {
		p.w(" MASK ")
		p.name(*c.Mask)
	}
}

func (p *printer) spec(s TableSpec) {
	p.columnList(s.Columns, s.Constraints)
	if s.Using != nil {
		p.w(" USING ")
		p.name(*s.Using)
	}
	if s.Options != nil {
		p.w(" OPTIONS ")
		p.properties(s.Options)
	}
	listClause(p, " PARTITIONED BY (", s.Partitioned, p.exprs)
	listClause(p, " CLUSTER BY (", s.ClusterBy, p.names)
	p.w(flag(s.ClusterAuto, " CLUSTER BY AUTO"))
	clause(p, " LOCATION ", s.Location)
	p.comment(s.Comment)
	if s.Properties != nil {
		p.w(" TBLPROPERTIES ")
		p.properties(s.Properties)
	}
	for _, c := range s.Other {
		p.w(" ", c.Text)
	}
}

func (p *printer) createTable(s *CreateTable) {
	if s.ReplaceOnly {
		p.w("REPLACE ")
	} else {
		p.w("CREATE ", flag(s.Replace, "OR REPLACE "))
	}
	p.w(flag(s.Temporary, "TEMPORARY "), flag(s.External, "EXTERNAL "), "TABLE ", flag(s.IfNotExists, "IF NOT EXISTS "))
	p.name(s.Name)
	if s.Like != nil {
		p.w(" LIKE ")
		p.name(*s.Like)
	}
	p.spec(s.TableSpec)
	if s.Query != nil {
		p.w(" AS ")
		p.query(s.Query)
	}
}

func (p *printer) createDataset(s *CreateDataset) {
	p.w("CREATE ", flag(s.Refresh, "OR REFRESH "), flag(s.Replace, "OR REPLACE "), flag(s.Private, "PRIVATE "), flag(s.Temporary, "TEMPORARY "))
	switch {
	case s.Legacy == LiveTable:
		p.w("LIVE TABLE ")
	case s.Legacy == StreamingLive:
		p.w("STREAMING LIVE TABLE ")
	case s.Kind == StreamingTable:
		p.w("STREAMING TABLE ")
	default:
		p.w("MATERIALIZED VIEW ")
	}
	p.w(flag(s.IfNotExists, "IF NOT EXISTS "))
	p.name(s.Name)
	p.spec(s.TableSpec)
	if s.CDC != nil {
		p.w(" FLOW ")
		p.autoCDC(s.CDC)
	}
	if s.Query != nil {
		p.w(" AS ")
		p.query(s.Query)
	}
}

func (p *printer) createFlow(s *CreateFlow) {
	p.w("CREATE FLOW ", flag(s.IfNotExists, "IF NOT EXISTS "))
	p.name(s.Name)
	p.comment(s.Comment)
	p.w(" AS ")
	if s.CDC != nil {
		p.autoCDC(s.CDC)
		return
	}
	p.insert(s.Insert)
}

func (p *printer) autoCDC(c *AutoCDC) {
	p.w([...]string{"AUTO CDC", "APPLY CHANGES"}[map[bool]int{true: 1}[c.Legacy == ApplyChanges]], flag(c.Once, " ONCE"))
	if len(c.Target.Parts) > 0 || c.Target.Dynamic != nil {
		p.w(" INTO ")
		p.name(c.Target)
	}
	p.w(" FROM ")
	p.relation(c.Source)
	listClause(p, " KEYS (", c.Keys, p.exprs)
	if c.IgnoreNulls != nil {
		p.w(" IGNORE NULL UPDATES")
		if !c.IgnoreNulls.All || c.IgnoreNulls.Names != nil {
			p.list(" ON ", c.IgnoreNulls)
		}
	}
	p.clauseExpr(" APPLY AS DELETE WHEN ", c.DeleteWhen)
	p.clauseExpr(" APPLY AS TRUNCATE WHEN ", c.TruncateWhen)
	p.clauseExpr(" SEQUENCE BY ", c.SequenceBy)
	p.list(" COLUMNS ", c.Columns)
	if c.SCDType != "" {
		p.w(" STORED AS SCD TYPE ", c.SCDType)
	}
	p.list(" TRACK HISTORY ON ", c.TrackHistory)
}

func (p *printer) clauseExpr(w string, x Expr) {
	if x != nil {
		p.w(w)
		p.expr(x)
	}
}

func (p *printer) list(w string, l *ColumnList) {
	if l == nil {
		return
	}
	p.w(w, flag(l.All, "*"))
	if l.Names != nil {
		p.w(flag(l.All, " EXCEPT "), "(")
		p.exprs(l.Names)
		p.w(")")
	}
}

func (p *printer) createFunction(s *CreateFunction) {
	p.w("CREATE ", flag(s.Replace, "OR REPLACE "), flag(s.Temporary, "TEMPORARY "), "FUNCTION ", flag(s.IfNotExists, "IF NOT EXISTS "))
	p.name(s.Name)
	if s.Class != "" {
		p.w(" AS ", Quote(s.Class))
		return
	}
	p.w("(")
	each(p, s.Params, ", ", p.columnDef)
	p.w(")")
	switch {
	case s.Table:
		p.w(" RETURNS TABLE")
		p.columnList(s.Columns, nil)
	case s.Returns != nil:
		p.w(" RETURNS ", s.Returns.String())
	}
	p.comment(s.Comment)
	for _, t := range s.Traits {
		p.w(" ", t)
	}
	p.w(" RETURN ")
	if s.Query != nil {
		p.query(s.Query)
		return
	}
	p.expr(s.Body)
}

// setText writes a key of SET so that it is read as it is.
func setText(s string) string {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '_' && c != '.' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return "`" + strings.ReplaceAll(s, "`", "``") + "`"
		}
	}
	return s
}

func (p *printer) set(s *Set) {
	p.w("SET")
	if s.Verbose {
		p.w(" -v")
	}
	if s.Key != "" {
		p.w(" ", setText(s.Key))
	}
	if s.HasValue {
		v := s.Value
		if strings.IndexByte(v, ';') >= 0 && strings.IndexByte(v, '`') < 0 {
			v = "`" + v + "`"
		}
		p.w(" = ", v)
	}
}

func (p *printer) show(s *Show) {
	p.w("SHOW ", s.What)
	if s.Name != nil {
		if s.What != "CREATE TABLE" && s.What != "TBLPROPERTIES" && s.What != "PARTITIONS" {
			p.w(" IN")
		}
		p.w(" ")
		p.name(*s.Name)
	}
	if s.In != nil {
		p.w(" IN ")
		p.name(*s.In)
	}
	if s.HasLike {
		p.w(" LIKE ", Quote(s.Like))
	}
	if s.Key != "" {
		p.w(" (", Quote(s.Key), ")")
	}
}

func (p *printer) describe(s *Describe) {
	p.w("DESCRIBE ")
	switch s.What {
	case "QUERY":
		p.w("QUERY ")
		p.query(s.Query)
		return
	default:
		p.w(s.What, " ")
	}
	p.w(flag(s.Extended, "EXTENDED "))
	p.name(*s.Name)
	p.partition(s.Partition)
	if s.Column != nil {
		p.w(" ")
		p.name(*s.Column)
	}
	p.w(flag(s.AsJSON, " AS JSON"))
}

func (p *printer) cache(s *Cache) {
	switch s.What {
	case "CLEAR":
		p.w("CLEAR CACHE")
		return
	default:
		p.w(s.What, flag(s.Lazy, " LAZY"), " TABLE ")
	}
	p.name(*s.Table)
	if s.Options != nil {
		p.w(" OPTIONS ")
		p.properties(s.Options)
	}
	if s.Query != nil {
		p.w(" AS ")
		p.query(s.Query)
	}
}

func (p *printer) createSchema(s *CreateSchema) {
	p.w("CREATE SCHEMA ", flag(s.IfNotExists, "IF NOT EXISTS "))
	p.name(s.Name)
	clause(p, " COMMENT ", s.Comment)
	clause(p, " LOCATION ", s.Location)
	if s.Properties != nil {
		p.w(" WITH DBPROPERTIES ")
		p.properties(s.Properties)
	}
}
