package text

import "strconv"

var (
	monthNames   = [13]string{"", "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}
	weekdayNames = [7]string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
	quarterNames = [5]string{"", "1st quarter", "2nd quarter", "3rd quarter", "4th quarter"}
)

// MonthName returns the English name of month m (1..12).
func MonthName(m int) string { return monthNames[m] }

// WeekdayName returns the English name of a Weekday.
func WeekdayName(w int) string { return weekdayNames[w] }

// moment is an instant with its wall clock taken apart.
type moment struct {
	zone             *Zone
	micros, offset   int64
	days             int64
	year, month, day int
	second           int // of the day
	micro            int
}

// AppendTimestamp appends an instant in zone z.
func (p *Pattern) AppendTimestamp(dst []byte, micros int64, z *Zone) []byte {
	m := moment{zone: z, micros: micros, offset: z.Offset(floorDiv(micros, MicrosPerSecond))}
	m.split(micros + m.offset*MicrosPerSecond)
	return p.append(dst, &m)
}

// AppendLocal appends a local timestamp; zone letters print z at the instant
// that the wall clock means in it.
func (p *Pattern) AppendLocal(dst []byte, local int64, z *Zone) []byte {
	m := moment{zone: z, micros: z.ToInstant(local)}
	m.offset = z.Offset(floorDiv(m.micros, MicrosPerSecond))
	m.split(local)
	return p.append(dst, &m)
}

// AppendDate appends a date at midnight.
func (p *Pattern) AppendDate(dst []byte, days int32, z *Zone) []byte {
	return p.AppendLocal(dst, int64(days)*MicrosPerDay, z)
}

func (m *moment) split(local int64) {
	days, ofDay := SplitMicros(local)
	m.days = days
	m.year, m.month, m.day = DateOf(days)
	m.second, m.micro = int(ofDay/MicrosPerSecond), int(ofDay%MicrosPerSecond)
}

func (p *Pattern) append(dst []byte, m *moment) []byte {
	for i := range p.items {
		dst = p.items[i].append(dst, m)
	}
	return dst
}

//tidy:allow-long a flat switch over the fields
func (it *item) append(dst []byte, m *moment) []byte {
	switch it.field {
	case fieldLiteral:
		return append(dst, it.text...)
	case fieldYear:
		return it.appendNumber(dst, m.year)
	case fieldYear2:
		return append2(dst, int(floorMod(int64(m.year), 100)))
	case fieldYearOfEra:
		if m.year <= 0 {
			return it.appendNumber(dst, 1-m.year)
		}
		return it.appendNumber(dst, m.year)
	case fieldEra:
		return append(dst, eraName(m.year, it.min)...)
	case fieldQuarter:
		q := (m.month + 2) / 3
		switch {
		case it.min > 0:
			return it.appendNumber(dst, q)
		case it.max == 3:
			return append(dst, 'Q', byte('0'+q))
		}
		return append(dst, quarterNames[q]...)
	case fieldMonth:
		if it.min > 0 {
			return it.appendNumber(dst, m.month)
		}
		return appendName(dst, monthNames[m.month], it.max)
	case fieldDay:
		return it.appendNumber(dst, m.day)
	case fieldDayOfYear:
		return it.appendNumber(dst, DayOfYear(m.year, m.month, m.day))
	case fieldWeekday:
		return appendName(dst, weekdayNames[Weekday(m.days)], it.max)
	case fieldAlignedWeek:
		return it.appendNumber(dst, (m.day-1)%7+1)
	case fieldAMPM:
		if m.second < 12*3600 {
			return append(dst, "AM"...)
		}
		return append(dst, "PM"...)
	case fieldHour:
		return it.appendNumber(dst, m.second/3600)
	case fieldClockHour:
		return it.appendNumber(dst, (m.second/3600+23)%24+1)
	case fieldHour12:
		return it.appendNumber(dst, m.second/3600%12)
	case fieldClockHour12:
		return it.appendNumber(dst, (m.second/3600+11)%12+1)
	case fieldMinute:
		return it.appendNumber(dst, m.second/60%60)
	case fieldSecond:
		return it.appendNumber(dst, m.second%60)
	case fieldFraction:
		return appendNanos(dst, m.micro*1000, it.max)
	case fieldZoneID:
		return append(dst, m.zone.String()...)
	case fieldZoneName:
		return appendZoneName(dst, m, it.max == 4)
	case fieldOffset:
		if m.offset == 0 {
			return append(dst, it.zero...)
		}
		return appendOffset(dst, int(m.offset), it.offset)
	case fieldLocalized:
		return appendLocalized(dst, int(m.offset), it.max == 4)
	}
	return dst
}

// appendNumber pads to the item's least width; a wider year gets its sign.
func (it *item) appendNumber(dst []byte, v int) []byte {
	if v < 0 {
		dst = append(dst, '-')
		v = -v
	} else if it.exceeds && it.min < 19 && v >= int(pow10u64[it.min]) {
		dst = append(dst, '+')
	}
	for w := it.min - 1; w > 0 && v < int(pow10u64[w]); w-- {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, int64(v), 10)
}

func appendName(dst []byte, name string, letters int) []byte {
	if letters == 3 {
		name = name[:3]
	}
	return append(dst, name...)
}

func eraName(year, letters int) string {
	switch {
	case letters == 4 && year > 0:
		return "Anno Domini"
	case letters == 4:
		return "Before Christ"
	case year > 0:
		return "AD"
	}
	return "BC"
}

func appendNanos(dst []byte, nanos, width int) []byte {
	for div := 100_000_000; width > 0; width-- {
		dst = append(dst, byte('0'+nanos/div%10))
		div /= 10
	}
	return dst
}

// appendLocalized appends GMT, GMT+8, GMT-08:00 forms.
func appendLocalized(dst []byte, off int, full bool) []byte {
	dst = append(dst, "GMT"...)
	if off == 0 {
		return dst
	}
	if full {
		return appendOffset(dst, off, offsetColonSeconds)
	}
	sign := byte('+')
	if off < 0 {
		sign, off = '-', -off
	}
	dst = append(dst, sign)
	dst = strconv.AppendInt(dst, int64(off/3600), 10)
	if off%3600 != 0 {
		dst = append2(append(dst, ':'), off/60%60)
		if off%60 != 0 {
			dst = append2(append(dst, ':'), off%60)
		}
	}
	return dst
}

// fullZoneNames are the long English names of common zones: standard and
// daylight saving time.
var fullZoneNames = map[string][2]string{
	"PST": {"Pacific Standard Time", "Pacific Daylight Time"},
	"MST": {"Mountain Standard Time", "Mountain Daylight Time"},
	"CST": {"Central Standard Time", "Central Daylight Time"},
	"EST": {"Eastern Standard Time", "Eastern Daylight Time"},
	"CET": {"Central European Standard Time", "Central European Summer Time"},
	"EET": {"Eastern European Standard Time", "Eastern European Summer Time"},
	"WET": {"Western European Standard Time", "Western European Summer Time"},
	"JST": {"Japan Standard Time", "Japan Daylight Time"},
	"IST": {"India Standard Time", "India Daylight Time"},
	"GMT": {"Greenwich Mean Time", "British Summer Time"},
	"UTC": {"Coordinated Universal Time", "Coordinated Universal Time"},
}

// fullRegionNames are those of regions whose short names mean something else
// elsewhere.
var fullRegionNames = map[string][2]string{
	"Asia/Shanghai":  {"China Standard Time", "China Daylight Time"},
	"Asia/Taipei":    {"Taipei Standard Time", "Taipei Daylight Time"},
	"Asia/Jerusalem": {"Israel Standard Time", "Israel Daylight Time"},
	"America/Havana": {"Cuba Standard Time", "Cuba Daylight Time"},
	"Europe/Dublin":  {"Greenwich Mean Time", "Irish Standard Time"},
}

// standardOf maps the short name of daylight saving time to the standard one.
var standardOf = map[string]string{
	"PDT": "PST", "MDT": "MST", "CDT": "CST", "EDT": "EST", "CEST": "CET", "EEST": "EET", "WEST": "WET", "BST": "GMT",
}

// appendZoneName appends the short name (PDT) or the long one. A fixed offset
// prints as its id; a zone without a name in the tables as GMT and offset.
func appendZoneName(dst []byte, m *moment, full bool) []byte {
	id := m.zone.String()
	if id == "UTC" || id == "GMT" || id == "UT" {
		if full {
			if id == "UT" {
				id = "UTC"
			}
			return append(dst, fullZoneNames[id][0]...)
		}
		return append(dst, id...)
	}
	if m.zone.fixed && (id[0] == '+' || id[0] == '-' || id == "Z") {
		return append(dst, id...)
	}
	short := m.zone.Abbreviation(m.micros)
	if short == "" || short[0] == '+' || short[0] == '-' {
		return appendLocalized(dst, int(m.offset), true)
	}
	if !full {
		return append(dst, short...)
	}
	if names, ok := fullRegionNames[id]; ok {
		dst1 := m.zone.IsDST(m.micros)
		if id == "Europe/Dublin" { // where winter is the exception
			dst1 = short == "IST"
		}
		if dst1 {
			return append(dst, names[1]...)
		}
		return append(dst, names[0]...)
	}
	std, dst1 := standardOf[short]
	if !dst1 {
		std = short
	}
	names, ok := fullZoneNames[std]
	switch {
	case !ok:
		return appendLocalized(dst, int(m.offset), true)
	case dst1:
		return append(dst, names[1]...)
	}
	return append(dst, names[0]...)
}
