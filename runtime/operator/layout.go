package operator

import (
	"fmt"
	"strings"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// LaidOut is implemented by state handles whose entries may keep their form
// when a type they are made from is widened: equal layouts are equal bytes.
type LaidOut interface {
	// Layout names the stored types as far as they show in the bytes.
	Layout() string
}

// Layout implements LaidOut. Sets of distinct values hold arguments as they
// are, so that their types count too.
func (s *aggState) Layout() string {
	var b strings.Builder
	for _, g := range s.a.n.Groups {
		b.WriteString(layoutOf(g.Attr.Type) + ",")
	}
	for _, c := range s.a.calls {
		b.WriteByte(';')
		for _, col := range c.fn.State {
			fmt.Fprintf(&b, "%s %d,", layoutOf(col.Type), col.Form)
		}
		if c.distinct != nil {
			for _, x := range c.call.Args {
				b.WriteString(" distinct " + x.Type().String())
			}
		}
	}
	return b.String()
}

// layoutOf is a type as its encoding shows it: of decimals only whether they
// fit 64 bits, and the scale.
func layoutOf(t schema.Type) string {
	if t.Kind == schema.Decimal {
		return fmt.Sprintf("decimal %d .%d", column.PhysicalOf(t), t.Scale)
	}
	return t.String()
}

// Layout implements LaidOut. It starts with the number of rows that are kept of
// a partition, which the meaning of earlier versions has not; the rest shows
// every type.
func (t *topN) Layout() string { return fmt.Sprintf("first %d rows of %s", t.limit, t.Meaning()) }

// Layout implements LaidOut as the parts do, "" if they do not.
func (x *exchange) Layout() string {
	if l, ok := x.shares[0].(LaidOut); ok {
		return l.Layout()
	}
	return ""
}
