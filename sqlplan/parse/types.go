package parse

import (
	"strconv"
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
)

// typeWords maps the words of simple types to their names.
var typeWords = map[string]string{
	"BOOLEAN": "boolean", "TINYINT": "tinyint", "BYTE": "tinyint", "SMALLINT": "smallint", "SHORT": "smallint",
	"INT": "int", "INTEGER": "int", "BIGINT": "bigint", "LONG": "bigint", "FLOAT": "float", "REAL": "float",
	"DOUBLE": "double", "DATE": "date", "TIMESTAMP": "timestamp", "TIMESTAMP_NTZ": "timestamp_ntz",
	"TIMESTAMP_LTZ": "timestamp_ltz", "STRING": "string", "CHARACTER": "char", "CHAR": "char", "VARCHAR": "varchar",
	"BINARY": "binary", "DECIMAL": "decimal", "DEC": "decimal", "NUMERIC": "decimal", "VOID": "void",
	"INTERVAL": "interval", "VARIANT": "variant", "TIME": "time", "GEOMETRY": "geometry", "GEOGRAPHY": "geography",
}

// dataType reads a data type.
func (p *parser) dataType() ast.TypeName {
	p.enter()
	defer p.leave()
	t := p.tok()
	if t.kind != word && t.kind != quoted {
		p.fail("expected a data type")
	}
	next := p.at(1)
	switch {
	case t.kind == quoted:
	case t.up == "ARRAY" && next.isOp("<"):
		p.i += 2
		elem := p.dataType()
		p.expectOp(">")
		return ast.TypeName{Pos: p.pos(t.start), Name: "array", Elem: []ast.TypeName{elem}}
	case t.up == "MAP" && next.isOp("<"):
		p.i += 2
		k := p.dataType()
		p.expectOp(",")
		v := p.dataType()
		p.expectOp(">")
		return ast.TypeName{Pos: p.pos(t.start), Name: "map", Elem: []ast.TypeName{k, v}}
	case t.up == "STRUCT" && (next.isOp("<") || next.isOp("<>")):
		return p.structType()
	case t.up == "ARRAY" || t.up == "MAP" || t.up == "STRUCT":
		p.failCode(tokRange(t), diag.Code("INCOMPLETE_TYPE_DEFINITION."+t.up), "Incomplete complex type: \""+t.up+
			"\" needs its element types, as in "+map[string]string{"ARRAY": "ARRAY<INT>", "MAP": "MAP<STRING, INT>", "STRUCT": "STRUCT<a: INT>"}[t.up]+".")
	case t.up == "INTERVAL":
		return p.intervalType()
	}
	return p.simpleType()
}

func (p *parser) structType() ast.TypeName {
	start := p.start()
	p.i++
	ty := ast.TypeName{Name: "struct"}
	if !p.acceptOp("<>") {
		p.expectOp("<")
		if !p.isOp(">") {
			ty.Fields = list(p, p.structField)
		}
		p.expectOp(">")
	}
	ty.Pos = p.pos(start)
	return ty
}

func (p *parser) structField() ast.StructField {
	start := p.start()
	f := ast.StructField{Name: p.declared()}
	p.acceptOp(":")
	f.Type = p.dataType()
	for {
		switch {
		case p.isWords("NOT", "NULL"), p.isOp("!") && p.at(1).isWord("NULL"):
			p.i += 2
			f.NotNull = true
		case p.isWords("COMMENT") && (p.at(1).kind == str || p.at(1).kind == rawStr):
			p.i++
			f.Comment = p.stringLit().Value
		default:
			f.Pos = p.pos(start)
			return f
		}
	}
}

// intervalType reads INTERVAL [field [TO field]].
func (p *parser) intervalType() ast.TypeName {
	start := p.start()
	p.i++
	ty := ast.TypeName{Name: "interval"}
	if f, ok := fieldWords[p.tok().up]; ok && p.tok().kind == word {
		p.i++
		ty.Start, ty.End = f, f
		if p.isWords("TO") && p.at(1).kind == word {
			p.i++
			e, ok := fieldWords[p.tok().up]
			if !ok || f == ast.Year && e != ast.Month || f != ast.Year && (e <= f || f == ast.Month) {
				p.fail("expected a smaller unit")
			}
			p.i++
			ty.End = e
		}
	}
	ty.Pos = p.pos(start)
	return ty
}

// simpleType reads a type of one word with its arguments.
func (p *parser) simpleType() ast.TypeName {
	t := p.tok()
	id := p.ident()
	name, known := typeWords[t.up]
	if t.kind == quoted {
		known = false
	}
	ty := ast.TypeName{Name: name}
	if p.isOp("(") && p.at(1).kind == number {
		ty.Args = parenList(p, p.typeArg)
	} else if p.isOp("(") && known {
		p.i++
		p.fail("expected a whole number")
	}
	ty.Pos = p.pos(t.start)
	if !known {
		p.unknownType(ty.Span, id.Name)
		ty.Name = strings.ToLower(id.Name)
		return ty
	}
	if name == "string" && p.isWords("COLLATE") {
		p.i++
		ty.Collation = p.name().String()
		ty.Pos = p.pos(t.start)
	}
	p.checkType(ty)
	return ty
}

func (p *parser) typeArg() int {
	t := p.tok()
	n, err := strconv.Atoi(p.textOf(t))
	if t.kind != number || err != nil {
		p.fail("expected a whole number")
	}
	p.i++
	return n
}

// unknownType notes a type that does not exist and goes on: the text around it is
// fine.
func (p *parser) unknownType(r diag.Range, name string) {
	p.failed = true
	p.report(r, "UNSUPPORTED_DATATYPE", "Unsupported data type \""+upper(clip(name))+"\".")
}

// checkType checks the arguments of a simple type.
func (p *parser) checkType(ty ast.TypeName) {
	n := len(ty.Args)
	switch ty.Name {
	case "char", "varchar":
		if n == 0 {
			p.failCode(ty.Span, "DATATYPE_MISSING_SIZE", "DataType \""+upper(ty.Name)+
				"\" requires a length parameter, for example \""+upper(ty.Name)+"\"(10). Please specify the length.")
		}
		if n == 1 && ty.Args[0] > 0 {
			return
		}
	case "decimal":
		p.checkDecimal(ty)
		if n <= 2 {
			return
		}
	case "time":
		if n == 1 && ty.Args[0] > 9 {
			p.failCode(ty.Span, "UNSUPPORTED_TIME_PRECISION", "The seconds precision "+strconv.Itoa(ty.Args[0])+
				" of the TIME data type is out of the supported range [0, 9].")
		}
		if n <= 1 {
			return
		}
	case "geometry", "geography":
		return
	}
	if n > 0 {
		p.unknownType(ty.Span, p.src[ty.Span.Start:ty.Span.End])
	}
}

func (p *parser) checkDecimal(ty ast.TypeName) {
	if len(ty.Args) > 0 && ty.Args[0] > 38 {
		p.failCode(ty.Span, "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION",
			"Decimal precision "+strconv.Itoa(ty.Args[0])+" exceeds max precision 38.")
	}
	if len(ty.Args) == 2 && ty.Args[1] > ty.Args[0] {
		p.failCode(ty.Span, "INVALID_DECIMAL_SCALE", "Decimal scale ("+strconv.Itoa(ty.Args[1])+
			") cannot be greater than precision ("+strconv.Itoa(ty.Args[0])+").")
	}
}

// columnDef reads a column of a declared schema. With options it also reads
// DEFAULT, GENERATED and MASK.
func (p *parser) columnDef(options bool) ast.ColumnDef {
	start := p.start()
	c := ast.ColumnDef{Name: p.declared()}
	if options || p.isOp(":") {
		p.acceptOp(":")
	}
	c.Type = p.dataType()
	for p.columnOption(&c, options) {
	}
	c.Pos = p.pos(start)
	return c
}

// columnOption reads one option of a column; it reports false at the end.
func (p *parser) columnOption(c *ast.ColumnDef, options bool) bool {
	start := p.start()
	switch {
	case p.isWords("NOT", "NULL"), p.isOp("!") && p.at(1).isWord("NULL"):
		p.once(c.NotNull, "NOT NULL", start)
		p.i += 2
		c.NotNull = true
	case p.isWords("COMMENT"):
		p.i++
		p.once(c.Comment != "", "COMMENT", start)
		c.Comment = p.stringLit().Value
	case !options:
		return false
	case p.accept("DEFAULT"):
		p.once(c.Default != nil, "DEFAULT", start)
		c.Default = p.expr()
	case p.isWords("GENERATED"):
		p.once(c.Generated != nil || c.Identity != nil, "GENERATED", start)
		p.generated(c)
	case p.accept("MASK"):
		n := p.name()
		c.Mask = &n
		if p.accept("USING", "COLUMNS") {
			parenList(p, p.expr)
		}
	case p.accept("COLLATE"):
		c.Type.Collation = p.name().String()
	default:
		return false
	}
	return true
}

// once fails when a column option is written twice.
func (p *parser) once(seen bool, what string, start int) {
	if seen {
		p.failCode(diag.Range{Start: start, End: max(start, p.tok().end)}, "CREATE_TABLE_COLUMN_DESCRIPTOR_DUPLICATE",
			"CREATE TABLE column specifies descriptor \""+what+"\" more than once, which is invalid.")
	}
}

// generated reads GENERATED ALWAYS AS (expr) or ... AS IDENTITY (...).
func (p *parser) generated(c *ast.ColumnDef) {
	start := p.start()
	p.i++
	byDefault := p.accept("BY", "DEFAULT")
	if !byDefault {
		p.expect("ALWAYS")
	}
	p.expect("AS")
	if !byDefault && p.isOp("(") {
		p.i++
		c.Generated = p.expr()
		p.expectOp(")")
		return
	}
	p.expect("IDENTITY")
	id := &ast.Identity{ByDefault: byDefault}
	if p.acceptOp("(") {
		for !p.isOp(")") {
			switch p.expectAny("START", "INCREMENT") {
			case "START":
				p.expect("WITH")
				id.Start = p.wholeNumber()
			default:
				p.expect("BY")
				id.Step = p.wholeNumber()
			}
		}
		p.expectOp(")")
	}
	id.Pos = p.pos(start)
	c.Identity = id
}

// wholeNumber reads an integer with an optional minus and returns its text.
func (p *parser) wholeNumber() string {
	s := ""
	if p.acceptOp("-") {
		s = "-"
	}
	t := p.tok()
	if t.kind != number {
		p.fail("expected a whole number")
	}
	if _, err := strconv.ParseInt(p.textOf(t), 10, 64); err != nil {
		p.fail("expected a whole number")
	}
	p.i++
	return s + p.textOf(t)
}
