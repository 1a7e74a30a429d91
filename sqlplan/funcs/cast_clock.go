package funcs

import (
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// castClockFunction stands for a cast of a constant text that means a time of
// the run, such as 'now', 'today' or '10:30'.
var castClockFunction = &Function{Name: "cast", Group: "conversion", Usage: castFunction.Usage, Doc: castFunction.Doc, Volatility: Stable}

// readsClock reports whether a text as a date or timestamp depends on now.
func readsClock(s *Session, b []byte, to schema.Type) bool {
	zone := s.zone()
	if to.Kind == schema.Date {
		d, ok := text.SpecialDate(b, zone, 0)
		e, _ := text.SpecialDate(b, zone, text.MicrosPerDay)
		return ok && d != e
	}
	t, ok := text.SpecialTimestamp(b, zone, 0)
	u, _ := text.SpecialTimestamp(b, zone, text.MicrosPerDay)
	if !ok && to.Kind == schema.Timestamp {
		t, ok = text.ParseTimestampAt(b, zone, 0)
		u, _ = text.ParseTimestampAt(b, zone, text.MicrosPerDay)
	}
	return ok && t != u
}

// clockCast is the kernel of a cast of a constant that depends on now, or nil
// when arg is none.
func clockCast(s *Session, arg Arg, to schema.Type) Kernel {
	if arg.Type.Kind != schema.String || arg.Const == nil || arg.Const.IsNull(0) || !isTemporal(to) || !readsClock(s, arg.Const.Str(0), to) {
		return nil
	}
	word, zone := arg.Const.Str(0), s.zone()
	return func(c *Ctx, _ []*vector, out *vector) {
		if to.Kind == schema.Date {
			d, _ := text.SpecialDate(word, zone, c.Now)
			c.Each(func(i int) { out.I32[i] = d })
			return
		}
		t, ok := text.SpecialTimestamp(word, zone, c.Now)
		if !ok {
			t, _ = text.ParseTimestampAt(word, zone, c.Now)
		}
		if to.Kind == schema.TimestampNTZ {
			t = zone.ToLocal(t)
		}
		c.Each(func(i int) { out.I64[i] = t })
	}
}
