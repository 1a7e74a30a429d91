package parquet

import (
	"errors"
	"fmt"
	"strings"
	"time"

	pqformat "github.com/parquet-go/parquet-go/format"

	"pipelines/tables/format"
	"pipelines/tables/schema"
)

// calendar says how a file's dates and timestamps before calendarDay and
// calendarMicros are meant. Spark before 3.0, and later in the mode LEGACY, wrote
// them in the hybrid calendar of Java, Julian up to 4 October 1582, and names
// that in the footer.
type calendar struct {
	legacy bool           // else an old value is an error
	zone   *time.Location // of the writer
	before int64          // microseconds: what standardOffset is
}

const (
	calendarDay    = -141_427                   // 1582-10-15
	calendarMicros = -2_208_988_800_000_000     // 1900-01-01: from here on both have the same offsets
	julianEpoch    = 2_440_588                  // the Julian day number of 1970-01-01
	rebaseOption   = "datetimerebasemode"       // of dates and timestamps in files that do not say it
	rebaseInt96    = "int96rebasemode"          // of INT96
	sparkVersion   = "org.apache.spark.version" // keys of the footer
	sparkZone      = "org.apache.spark.timeZone"
	legacyDates    = "org.apache.spark.legacyDateTime"
	legacyInt96    = "org.apache.spark.legacyINT96"
)

var errCalendar = errors.New("[INCONSISTENT_BEHAVIOR_CROSS_VERSION.READ_ANCIENT_DATETIME] a date before 1582-10-15 or a timestamp before 1900-01-01 may be of one of two calendars: the option datetimeRebaseMode or int96RebaseMode says which")

// setCalendars gives the columns with dates and timestamps their calendar, by
// the rules of Spark's DataSourceUtils: the footer counts, then the options.
func (f *file) setCalendars(spec format.ReadSpec) error {
	dates, err := f.calendar(spec, "3.0.0", legacyDates, rebaseOption)
	if err != nil {
		return err
	}
	int96, err := f.calendar(spec, "3.1.0", legacyInt96, rebaseInt96)
	if err != nil {
		return err
	}
	if dates != nil || int96 != nil {
		f.root.setCalendars(dates, int96)
	}
	return nil
}

func (n *fileNode) setCalendars(dates, int96 *calendar) {
	for _, k := range n.kids {
		k.setCalendars(dates, int96)
	}
	switch {
	case n.leaf == nil:
	case n.leaf.elem.Type.V == pqformat.Int96:
		n.leaf.calendar = int96
	case n.typ.Kind == schema.Date, n.typ.Kind == schema.Timestamp:
		n.leaf.calendar = dates
	}
}

// calendar is nil when the values are as they are.
func (f *file) calendar(spec format.ReadSpec, since, legacyKey, modeOption string) (*calendar, error) {
	keys := map[string]string{}
	for _, kv := range f.meta.KeyValueMetadata {
		keys[kv.Key] = kv.Value
	}
	mode := strings.ToUpper(spec.Options[modeOption])
	if version, ok := keys[sparkVersion]; ok {
		mode = "CORRECTED"
		if _, legacy := keys[legacyKey]; legacy || version < since {
			mode = "LEGACY"
		}
	}
	switch mode {
	case "EXCEPTION":
		return &calendar{}, nil
	case "LEGACY":
	default:
		return nil, nil
	}
	c := &calendar{legacy: true, zone: spec.Location}
	if name, ok := keys[sparkZone]; ok {
		var err error
		if c.zone, err = time.LoadLocation(name); err != nil {
			return nil, fmt.Errorf("parquet file %s: the time zone %q that wrote its timestamps: %w", f.name, name, err)
		}
	}
	if c.zone == nil {
		c.zone = time.UTC
	}
	c.before = int64(standardOffset(c.zone)) * 1e6
	return c, nil
}

// standardOffset is the zone's offset in seconds without daylight saving, of
// today: what Java's old classes use for all before 1900.
func standardOffset(zone *time.Location) int {
	_, january := time.Date(2025, 1, 1, 0, 0, 0, 0, zone).Zone()
	_, july := time.Date(2025, 7, 1, 0, 0, 0, 0, zone).Zone()
	return min(january, july)
}

// day turns a day of the hybrid calendar into the day that has the same date in
// the Gregorian one; 29 February where that has none is 1 March.
func (c *calendar) day(d int64) int64 {
	if d >= calendarDay {
		return d
	}
	// Years from March on, as in the usual conversion of Julian day numbers.
	n := d + julianEpoch + 32_082
	year := floorDiv(4*n+3, 1461)
	in := n - floorDiv(1461*year, 4)
	month := (5*in + 2) / 153
	day := in - (153*month+2)/5
	first := time.Date(int(year-4800+month/10), time.Month(month+3-12*(month/10)), 1, 0, 0, 0, 0, time.UTC)
	return floorDiv(first.Unix(), 86_400) + day
}

// micros turns an instant that Java's old classes show as some local time into
// the one that its new classes, and time, show so.
func (c *calendar) micros(us int64) int64 {
	if us >= calendarMicros {
		return us
	}
	local := us + c.before
	days := floorDiv(local, dayMicros)
	in := local - days*dayMicros
	days = c.day(days)
	return c.instant(days, in)
}

// instant is when the clocks of the zone show microseconds in of a day.
func (c *calendar) instant(days, in int64) int64 {
	d := time.Unix(days*86_400, 0).UTC()
	t := time.Date(d.Year(), d.Month(), d.Day(), 0, 0, int(in/1e6), int(in%1e6)*1000, c.zone)
	return t.UnixMicro()
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// in32 and in64 make an emitter give dates and timestamps of the calendar.
func (c *calendar) in32(emit emitter) emitter {
	return func(r *leafReader, from, to int) error {
		at := len(r.dst.I32)
		if err := emit(r, from, to); err != nil {
			return err
		}
		for i, v := range r.dst.I32[at:] {
			if v < calendarDay {
				if !c.legacy {
					return errCalendar
				}
				r.dst.I32[at+i] = int32(c.day(int64(v)))
			}
		}
		return nil
	}
}

func (c *calendar) in64(emit emitter) emitter {
	return func(r *leafReader, from, to int) error {
		at := len(r.dst.I64)
		if err := emit(r, from, to); err != nil {
			return err
		}
		for i, v := range r.dst.I64[at:] {
			if v < calendarMicros {
				if !c.legacy {
					return errCalendar
				}
				r.dst.I64[at+i] = c.micros(v)
			}
		}
		return nil
	}
}

// dateToNTZ is in64 for dates that are read as timestamps without a zone.
func (c *calendar) dateToNTZ(emit emitter) emitter {
	return func(r *leafReader, from, to int) error {
		at := len(r.dst.I64)
		if err := emit(r, from, to); err != nil {
			return err
		}
		for i, v := range r.dst.I64[at:] {
			if v < calendarDay*dayMicros {
				if !c.legacy {
					return errCalendar
				}
				r.dst.I64[at+i] = c.day(v/dayMicros) * dayMicros
			}
		}
		return nil
	}
}
