package parquet

import (
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go/deprecated"
	pqformat "github.com/parquet-go/parquet-go/format"

	"pipelines/tables/schema"
)

// fileNode is a value of the file's schema, with lists and maps in whatever
// form they were written.
type fileNode struct {
	name     string
	typ      schema.Type // the type of Infer
	nullable bool
	// err says why the node cannot be read; it counts only when it is wanted.
	err error
	// def is the definition level of a present value, rep the repetition level
	// of the place where it stands.
	def, rep uint8
	// elemDef and elemRep are the levels of the elements of a list or map.
	elemDef, elemRep uint8
	kids             []*fileNode // fields, element, or key and value
	leaf             *fileLeaf
}

// fileLeaf is a column of the file.
type fileLeaf struct {
	column int
	elem   *pqformat.SchemaElement
	unit   int64 // timestamps: nanoseconds of one unit
	// calendar is how old dates and timestamps are meant; nil: as they are.
	calendar *calendar
}

// rawNode is a schema element with its children.
type rawNode struct {
	e      *pqformat.SchemaElement
	kids   []*rawNode
	column int
}

var errSchema = errors.New("malformed schema in the footer")

// buildFileTree turns the flat list of schema elements into nodes and counts
// the leaves.
func buildFileTree(elements []pqformat.SchemaElement) (*fileNode, int, error) {
	p := treeParser{rest: elements}
	raw, err := p.parse(0)
	if err != nil {
		return nil, 0, err
	}
	if len(p.rest) > 0 || raw.kids == nil && len(elements) != 1 {
		return nil, 0, errSchema
	}
	root := &fileNode{name: raw.e.Name}
	return root, p.leaves, structNode(root, raw)
}

type treeParser struct {
	rest   []pqformat.SchemaElement
	leaves int
}

func (p *treeParser) parse(depth int) (*rawNode, error) {
	if len(p.rest) == 0 || depth > 120 {
		return nil, errSchema
	}
	n := &rawNode{e: &p.rest[0], column: -1}
	p.rest = p.rest[1:]
	if n.e.Type.Valid && depth > 0 {
		if n.e.Type.V < pqformat.Boolean || n.e.Type.V > pqformat.FixedLenByteArray || n.e.Type.V == pqformat.FixedLenByteArray && n.e.TypeLength.V < 1 {
			return nil, errSchema
		}
		n.column = p.leaves
		p.leaves++
		return n, nil
	}
	for range n.e.NumChildren.V {
		kid, err := p.parse(depth + 1)
		if err != nil {
			return nil, err
		}
		n.kids = append(n.kids, kid)
	}
	return n, nil
}

// convert builds the node of raw below a place with levels (def, rep).
func convert(raw *rawNode, def, rep uint8) (*fileNode, error) {
	switch raw.e.RepetitionType.V {
	case pqformat.Optional:
		return convertValue(raw, def+1, rep, true)
	case pqformat.Repeated: // a list without annotation
		elem, err := convertValue(raw, def+1, rep+1, false)
		if err != nil {
			return nil, err
		}
		return listNode(raw.e.Name, false, def, rep, elem), nil
	}
	return convertValue(raw, def, rep, false)
}

func listNode(name string, nullable bool, def, rep uint8, elem *fileNode) *fileNode {
	return &fileNode{name: name, nullable: nullable, def: def, rep: rep, elemDef: def + 1, elemRep: rep + 1,
		kids: []*fileNode{elem}, typ: schema.ArrayOf(elem.typ, elem.nullable), err: elem.err}
}

// convertValue builds the node of raw, whose own repetition is in the levels
// already.
func convertValue(raw *rawNode, def, rep uint8, nullable bool) (*fileNode, error) {
	if def > 200 || rep > 200 {
		return nil, errSchema
	}
	n := &fileNode{name: raw.e.Name, nullable: nullable, def: def, rep: rep}
	if raw.column >= 0 {
		n.leaf = &fileLeaf{column: raw.column, elem: raw.e}
		n.typ, n.err = leafType(n.leaf)
		return n, nil
	}
	repeated := len(raw.kids) == 1 && raw.kids[0].e.RepetitionType.V == pqformat.Repeated
	if repeated && isList(raw.e) {
		elem, err := listElement(raw, def+1, rep+1)
		if err != nil {
			return nil, err
		}
		return listNode(raw.e.Name, nullable, def, rep, elem), nil
	}
	if repeated && isMap(raw.e) && len(raw.kids[0].kids) == 2 {
		key, err := convert(raw.kids[0].kids[0], def+1, rep+1)
		if err != nil {
			return nil, err
		}
		value, err := convert(raw.kids[0].kids[1], def+1, rep+1)
		if err != nil {
			return nil, err
		}
		n.elemDef, n.elemRep, n.kids = def+1, rep+1, []*fileNode{key, value}
		n.typ, n.err = schema.MapOf(key.typ, value.typ, value.nullable), errors.Join(key.err, value.err)
		return n, nil
	}
	if err := structNode(n, raw); err != nil {
		return nil, err
	}
	if _, variant := raw.e.LogicalType.Value.(*pqformat.VariantType); variant {
		n.err = fmt.Errorf("column %s: type VARIANT cannot be read", n.name)
	}
	return n, nil
}

func structNode(n *fileNode, raw *rawNode) error {
	var fields []schema.Field
	for _, k := range raw.kids {
		kid, err := convert(k, n.def, n.rep)
		if err != nil {
			return err
		}
		n.kids = append(n.kids, kid)
		fields = append(fields, schema.Field{Name: kid.name, Type: kid.typ, Nullable: kid.nullable})
		n.err = errors.Join(n.err, kid.err)
	}
	n.typ = schema.StructOf(fields...)
	return nil
}

// listElement finds the element of an annotated list: the child of the
// repeated group, or in the old two-level forms the repeated node itself.
func listElement(raw *rawNode, def, rep uint8) (*fileNode, error) {
	r := raw.kids[0]
	name := r.e.Name
	if r.column >= 0 || len(r.kids) != 1 || name == "array" || name == raw.e.Name+"_tuple" ||
		r.kids[0].e.RepetitionType.V == pqformat.Repeated {
		return convertValue(r, def, rep, false)
	}
	return convert(r.kids[0], def, rep)
}

func isList(e *pqformat.SchemaElement) bool {
	_, ok := e.LogicalType.Value.(*pqformat.ListType)
	return ok || e.ConvertedType.Valid && e.ConvertedType.V == deprecated.List
}

func isMap(e *pqformat.SchemaElement) bool {
	_, ok := e.LogicalType.Value.(*pqformat.MapType)
	return ok || e.ConvertedType.Valid && (e.ConvertedType.V == deprecated.Map || e.ConvertedType.V == deprecated.MapKeyValue)
}

// leafType is the type of a column as Spark would infer it.
func leafType(l *fileLeaf) (schema.Type, error) {
	e := l.elem
	if p, s, ok := decimalOf(e); ok {
		t := schema.DecimalOf(p, s)
		if p < 1 || p > 38 || s < 0 || s > p {
			return t, fmt.Errorf("column %s: %s cannot be read", e.Name, t)
		}
		return t, nil
	}
	switch e.Type.V {
	case pqformat.Boolean:
		return schema.Of(schema.Boolean), nil
	case pqformat.Float:
		return schema.Of(schema.Float32), nil
	case pqformat.Double:
		return schema.Of(schema.Float64), nil
	case pqformat.Int96:
		return schema.Of(schema.Timestamp), nil
	case pqformat.Int32, pqformat.Int64:
		return intType(l)
	case pqformat.ByteArray:
		switch e.LogicalType.Value.(type) {
		case *pqformat.StringType, *pqformat.EnumType, *pqformat.JsonType:
			return schema.Of(schema.String), nil
		}
		if c := e.ConvertedType; c.Valid && (c.V == deprecated.UTF8 || c.V == deprecated.Enum || c.V == deprecated.Json) {
			return schema.Of(schema.String), nil
		}
		return schema.Of(schema.Binary), nil
	}
	if _, half := e.LogicalType.Value.(*pqformat.Float16Type); half || e.ConvertedType.Valid && e.ConvertedType.V == deprecated.Interval {
		return schema.Of(schema.Binary), fmt.Errorf("column %s: its logical type cannot be read", e.Name)
	}
	return schema.Of(schema.Binary), nil
}

func decimalOf(e *pqformat.SchemaElement) (precision, scale int, ok bool) {
	if d, ok := e.LogicalType.Value.(*pqformat.DecimalType); ok {
		return int(d.Precision), int(d.Scale), true
	}
	if e.ConvertedType.Valid && e.ConvertedType.V == deprecated.Decimal {
		return int(e.Precision.V), int(e.Scale.V), true
	}
	return 0, 0, false
}

// intType is the type of an INT32 or INT64 column; it sets the unit of
// timestamps.
func intType(l *fileLeaf) (schema.Type, error) {
	e := l.elem
	plain := schema.Int32
	if e.Type.V == pqformat.Int64 {
		plain = schema.Int64
	}
	switch t := e.LogicalType.Value.(type) {
	case *pqformat.DateType:
		return schema.Of(schema.Date), nil
	case *pqformat.TimeType:
		return schema.Of(plain), fmt.Errorf("column %s: type TIME cannot be read", e.Name)
	case *pqformat.TimestampType:
		if t.Unit.Value == nil || plain != schema.Int64 {
			return schema.Of(plain), fmt.Errorf("column %s: malformed timestamp type", e.Name)
		}
		l.unit = int64(t.Unit.Value.Duration())
		if t.IsAdjustedToUTC {
			return schema.Of(schema.Timestamp), nil
		}
		return schema.Of(schema.TimestampNTZ), nil
	case *pqformat.IntType:
		return sizedInt(t.BitWidth, t.IsSigned), nil
	}
	if !e.ConvertedType.Valid {
		return schema.Of(plain), nil
	}
	switch e.ConvertedType.V {
	case deprecated.Date:
		return schema.Of(schema.Date), nil
	case deprecated.TimestampMillis, deprecated.TimestampMicros:
		l.unit = 1e3
		if e.ConvertedType.V == deprecated.TimestampMillis {
			l.unit = 1e6
		}
		return schema.Of(schema.Timestamp), nil
	case deprecated.TimeMillis, deprecated.TimeMicros:
		return schema.Of(plain), fmt.Errorf("column %s: type TIME cannot be read", e.Name)
	case deprecated.Int8:
		return sizedInt(8, true), nil
	case deprecated.Int16:
		return sizedInt(16, true), nil
	case deprecated.Uint8:
		return sizedInt(8, false), nil
	case deprecated.Uint16:
		return sizedInt(16, false), nil
	case deprecated.Uint32:
		return sizedInt(32, false), nil
	case deprecated.Uint64:
		return sizedInt(64, false), nil
	}
	return schema.Of(plain), nil
}

// sizedInt maps an annotated integer; unsigned ones take the next wider type.
func sizedInt(bits int8, signed bool) schema.Type {
	if !signed {
		switch bits {
		case 8:
			return schema.Of(schema.Int16)
		case 16:
			return schema.Of(schema.Int32)
		case 32:
			return schema.Of(schema.Int64)
		}
		return schema.DecimalOf(20, 0)
	}
	switch bits {
	case 8:
		return schema.Of(schema.Int8)
	case 16:
		return schema.Of(schema.Int16)
	case 32:
		return schema.Of(schema.Int32)
	}
	return schema.Of(schema.Int64)
}
