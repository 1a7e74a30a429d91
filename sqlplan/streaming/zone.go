package streaming

import (
	"slices"
	"strings"
	"time"

	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// ZoneTag marks, in the meaning of state, what is computed in the session time
// zone. UTC is not named: the time of a zone without an offset is the instant.
func ZoneTag(loc *time.Location) string {
	if loc == nil || text.NewZone(loc).IsUTC() {
		return ""
	}
	return "@[" + strings.ToLower(loc.String()) + "]"
}

// ZonedColumns reports whether columns of a node give other values in another
// session time zone, by whatever they are computed from.
func ZonedColumns(n logical.Node, columns ...logical.Attr) bool {
	const mark = "@[zoned]"
	d := definitions{of: map[logical.ColumnID]string{}, zone: mark}
	d.describe(n)
	return slices.ContainsFunc(columns, func(a logical.Attr) bool { return strings.Contains(d.column(a), mark) })
}

// alwaysZoned are functions that read the zone whatever their types.
var alwaysZoned = []string{"current_date", "curdate", "localtimestamp", "current_timezone", "from_unixtime"}

// zonedFunctions read the zone when a TIMESTAMP is among their types.
var zonedFunctions = []string{
	"hour", "minute", "second", "date_part", "datepart", "extract", "date_trunc", "time_bucket", "date_format", "to_char", "to_varchar", "timestampadd", "timestampdiff",
	"dateadd", "datediff", "date_add", "date_diff", "months_between", "to_date", "try_to_date", "to_timestamp", "try_to_timestamp", "to_timestamp_ltz", "to_timestamp_ntz",
	"make_timestamp", "try_make_timestamp", "make_timestamp_ltz", "try_make_timestamp_ltz", "sequence",
	"to_json", "from_json", "to_csv", "from_csv", "variant_get", "try_variant_get", "format_string", "printf",
}

// unixFunctions read the zone unless they are given an instant.
var unixFunctions = []string{"unix_timestamp", "to_unix_timestamp"}

// Zoned reports whether an expression itself, columns aside, gives other values
// in another time zone.
func Zoned(e logical.Expr) bool {
	found := false
	logical.WalkExpr(e, func(x logical.Expr) bool {
		switch x := x.(type) {
		case *logical.Cast:
			found = found || castZoned(x.Input.Type(), x.To)
		case *logical.Call:
			found = found || callZoned(x)
		}
		return !found
	})
	return found
}

// castZoned reports whether a cast goes between instants and local times or
// texts.
func castZoned(from, to schema.Type) bool {
	local := func(t schema.Type) bool {
		return t.Kind == schema.Date || t.Kind == schema.String || t.Kind == schema.TimestampNTZ || t.Kind == schema.Variant
	}
	switch {
	case local(to):
		return holdsInstant(from)
	case local(from):
		return holdsInstant(to)
	case from.Kind != to.Kind:
		return false
	case from.Kind == schema.Struct:
		for i := range min(len(from.Fields), len(to.Fields)) {
			if castZoned(from.Fields[i].Type, to.Fields[i].Type) {
				return true
			}
		}
	case from.Kind == schema.Map:
		return castZoned(*from.Key, *to.Key) || castZoned(*from.Elem, *to.Elem)
	case from.Kind == schema.Array:
		return castZoned(*from.Elem, *to.Elem)
	}
	return false
}

func holdsInstant(t schema.Type) bool {
	switch t.Kind {
	case schema.Timestamp:
		return true
	case schema.Array:
		return holdsInstant(*t.Elem)
	case schema.Map:
		return holdsInstant(*t.Key) || holdsInstant(*t.Elem)
	}
	return slices.ContainsFunc(t.Fields, func(f schema.Field) bool { return holdsInstant(f.Type) })
}

func callZoned(c *logical.Call) bool {
	name := strings.ToLower(c.Fn.Fn.Name)
	instant := holdsInstant(c.Fn.Result)
	for _, a := range c.Args {
		instant = instant || holdsInstant(a.Type())
	}
	switch {
	case slices.Contains(alwaysZoned, name):
		return true
	case name == "convert_timezone":
		return len(c.Args) == 2
	case slices.Contains(unixFunctions, name):
		return len(c.Args) > 0 && c.Args[0].Type().Kind != schema.Timestamp
	case !instant:
		return false
	case name == "+" || name == "-" || name == "try_add" || name == "try_subtract":
		return arithmeticZoned(c)
	case name == "date_trunc":
		return !belowMinute(c.Args[0])
	case strings.Contains(name, "make_timestamp"):
		return len(c.Args) < 7
	}
	return slices.Contains(zonedFunctions, name)
}

// arithmeticZoned: days and months are added to local times, shorter intervals
// to the instant.
func arithmeticZoned(c *logical.Call) bool {
	for _, a := range c.Args {
		switch t := a.Type(); t.Kind {
		case schema.YearMonthInterval:
			return true
		case schema.DayTimeInterval:
			v, ok := a.(*logical.Literal)
			return !ok || !v.Value.IsNull(0) && v.Value.I64[v.Value.Row(0)]/text.MicrosPerDay != 0
		case schema.CalendarInterval:
			return true
		}
	}
	return true // the difference of two
}

// belowMinute reports whether a unit is one that every zone cuts alike.
func belowMinute(unit logical.Expr) bool {
	l, ok := unit.(*logical.Literal)
	if !ok || l.Value.Type.Kind != schema.String || l.Value.IsNull(0) {
		return false
	}
	switch strings.ToUpper(string(l.Value.Str(0))) {
	case "SECOND", "MILLISECOND", "MICROSECOND":
		return true
	}
	return false
}
