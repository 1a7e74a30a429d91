package parquet

import (
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	pqformat "github.com/parquet-go/parquet-go/format"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// node is one value of the schema to write: a column, struct field, element,
// key or map value.
type node struct {
	typ schema.Type
	// def is the definition level of a present value, rep the repetition level
	// of the place where it stands.
	def, rep uint8
	// required marks map keys.
	required bool
	// kids are the fields, the element, or key and value; child names the
	// vector child of each.
	kids  []*node
	child []int
	leaf  *leaf
}

// treeBuilder turns a schema into nodes, schema elements and leaves.
type treeBuilder struct {
	elements []pqformat.SchemaElement
	leaves   []*leaf
	path     []string
}

func (b *treeBuilder) element(name string, rep pqformat.FieldRepetitionType) *pqformat.SchemaElement {
	b.elements = append(b.elements, pqformat.SchemaElement{Name: name, RepetitionType: thrift.New(rep)})
	return &b.elements[len(b.elements)-1]
}

func (b *treeBuilder) group(name string, rep pqformat.FieldRepetitionType, children int) *pqformat.SchemaElement {
	e := b.element(name, rep)
	e.NumChildren = thrift.New(int32(children))
	return e
}

// build adds the value called name below parent levels (def, rep).
func (b *treeBuilder) build(name string, t schema.Type, parent *node, required bool) (*node, error) {
	b.path = append(b.path, name)
	defer func() { b.path = b.path[:len(b.path)-1] }()
	n := &node{typ: t, def: parent.def + 1, rep: parent.rep, required: required}
	kind := pqformat.Optional
	if required {
		n.def, kind = parent.def, pqformat.Required
	}
	if len(b.path) > 60 {
		return nil, fmt.Errorf("parquet: column %s: too deeply nested", b.path[0])
	}
	switch t.Kind {
	case schema.Struct:
		return n, b.buildStruct(n, name, kind)
	case schema.Array:
		e := b.group(name, kind, 1)
		e.LogicalType = pqformat.LogicalType{Value: &pqformat.ListType{}}
		e.ConvertedType = thrift.New(deprecated.List)
		return n, b.buildRepeated(n, "list", []string{"element"}, []schema.Type{*t.Elem})
	case schema.Map:
		e := b.group(name, kind, 1)
		e.LogicalType = pqformat.LogicalType{Value: &pqformat.MapType{}}
		e.ConvertedType = thrift.New(deprecated.Map)
		return n, b.buildRepeated(n, "key_value", []string{"key", "value"}, []schema.Type{*t.Key, *t.Elem})
	}
	l := &leaf{typ: t, def: n.def, rep: n.rep, path: slices.Clone(b.path)}
	if err := b.leafElement(l, b.element(name, kind)); err != nil {
		return nil, err
	}
	n.leaf = l
	b.leaves = append(b.leaves, l)
	return n, nil
}

func (b *treeBuilder) buildStruct(n *node, name string, kind pqformat.FieldRepetitionType) error {
	at := len(b.elements)
	b.group(name, kind, 0)
	for i, f := range n.typ.Fields {
		if f.Type.Kind == schema.Void {
			continue
		}
		kid, err := b.build(f.Name, f.Type, n, false)
		if err != nil {
			return err
		}
		n.kids, n.child = append(n.kids, kid), append(n.child, i)
	}
	if len(n.kids) == 0 {
		return fmt.Errorf("parquet: %s: a struct without stored fields cannot be written", pathText(b.path))
	}
	b.elements[at].NumChildren = thrift.New(int32(len(n.kids)))
	return nil
}

func (b *treeBuilder) buildRepeated(n *node, group string, names []string, types []schema.Type) error {
	b.path = append(b.path, group)
	defer func() { b.path = b.path[:len(b.path)-1] }()
	b.group(group, pqformat.Repeated, len(names))
	inner := &node{def: n.def + 1, rep: n.rep + 1}
	for i, name := range names {
		if types[i].Kind == schema.Void {
			return fmt.Errorf("parquet: %s: VOID inside an array or map cannot be written", pathText(b.path))
		}
		kid, err := b.build(name, types[i], inner, group == "key_value" && i == 0)
		if err != nil {
			return err
		}
		n.kids, n.child = append(n.kids, kid), append(n.child, i)
	}
	return nil
}

// leafElement sets the physical and logical type of a leaf.
func (b *treeBuilder) leafElement(l *leaf, e *pqformat.SchemaElement) error {
	logical := func(v pqformat.LogicalTypeValue, c deprecated.ConvertedType) {
		e.LogicalType = pqformat.LogicalType{Value: v}
		e.ConvertedType = thrift.New(c)
	}
	switch t := l.typ; t.Kind {
	case schema.Boolean:
		l.phys = pqformat.Boolean
	case schema.Int8:
		l.phys = pqformat.Int32
		logical(&pqformat.IntType{BitWidth: 8, IsSigned: true}, deprecated.Int8)
	case schema.Int16:
		l.phys = pqformat.Int32
		logical(&pqformat.IntType{BitWidth: 16, IsSigned: true}, deprecated.Int16)
	case schema.Int32:
		l.phys = pqformat.Int32
	case schema.Date:
		l.phys = pqformat.Int32
		logical(&pqformat.DateType{}, deprecated.Date)
	case schema.Int64:
		l.phys = pqformat.Int64
	case schema.Timestamp, schema.TimestampNTZ:
		l.phys = pqformat.Int64
		utc := t.Kind == schema.Timestamp
		e.LogicalType = pqformat.LogicalType{Value: &pqformat.TimestampType{
			IsAdjustedToUTC: utc, Unit: pqformat.TimeUnit{Value: &pqformat.MicroSeconds{}}}}
		if utc {
			e.ConvertedType = thrift.New(deprecated.TimestampMicros)
		}
	case schema.Float32:
		l.phys = pqformat.Float
	case schema.Float64:
		l.phys = pqformat.Double
	case schema.Decimal:
		logical(&pqformat.DecimalType{Scale: int32(t.Scale), Precision: int32(t.Precision)}, deprecated.Decimal)
		e.Scale, e.Precision = thrift.New(int32(t.Scale)), thrift.New(int32(t.Precision))
		switch {
		case t.Precision <= 9:
			l.phys = pqformat.Int32
		case t.Precision <= column.MaxDecimal64:
			l.phys = pqformat.Int64
		default:
			l.phys, l.size = pqformat.FixedLenByteArray, decimalBytes(t.Precision)
			e.TypeLength = thrift.New(int32(l.size))
		}
	case schema.String:
		l.phys = pqformat.ByteArray
		logical(&pqformat.StringType{}, deprecated.UTF8)
	case schema.Binary:
		l.phys = pqformat.ByteArray
	default:
		return fmt.Errorf("parquet: %s: type %s cannot be written", pathText(b.path), t)
	}
	e.Type = thrift.New(l.phys)
	return nil
}

// decimalBytes is the least number of bytes that holds precision digits.
func decimalBytes(precision int) int {
	return [...]int{9, 9, 9, 10, 10, 11, 11, 11, 12, 12, 13, 13, 13, 14, 14, 15, 15, 16, 16, 16}[precision-19]
}

func pathText(path []string) string {
	out := ""
	for i, p := range path {
		if i > 0 {
			out += "."
		}
		out += schema.QuoteIfNeeded(p)
	}
	return out
}
