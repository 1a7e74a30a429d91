package text

import "math"

// clock is a local date and time in parts, as a timestamp text has them.
type clock struct {
	year, month, day     int
	hour, minute, second int
	micro                int
	timeOnly             bool
	zone                 []byte // the zone text, nil without one
}

// ParseTimestamp reads a timestamp by Spark's cast rules:
// yyyy[-m[-d[( |T)h[:m[:s[.fraction][zone]]]]]]; a text without a zone is the
// wall clock of z. A time without a date is refused (see ParseTimestampAt).
func ParseTimestamp(b []byte, z *Zone) (micros int64, ok bool) {
	if micros, ok = fixedTimestamp(b, z); ok {
		return micros, true
	}
	return parseTimestamp(b, z, nil)
}

// ParseTimestampAt is ParseTimestamp where a text of only a time (10:20:30)
// means the day of the instant now.
func ParseTimestampAt(b []byte, z *Zone, now int64) (micros int64, ok bool) {
	if micros, ok = fixedTimestamp(b, z); ok {
		return micros, true
	}
	return parseTimestamp(b, z, &now)
}

// ParseTimestampNTZ reads a local timestamp by the same rules. A zone in the
// text is ignored if allowZone, else it makes the text invalid.
func ParseTimestampNTZ(b []byte, allowZone bool) (local int64, ok bool) {
	if local, ok = fixedLocal(b); ok {
		return local, true
	}
	var c clock
	if !c.scan(Trim(b)) || c.timeOnly || c.zone != nil && !allowZone {
		return 0, false
	}
	if c.zone != nil {
		if _, ok := UTC.textZone(c.zone); !ok {
			return 0, false
		}
	}
	return c.local()
}

// SpecialTimestamp reads epoch, now, today, yesterday and tomorrow, which text
// constants may be. A zone behind a blank must be one, and has no effect; now
// has none.
func SpecialTimestamp(b []byte, z *Zone, now int64) (micros int64, ok bool) {
	b = Trim(b)
	for i, c := range b {
		if c == ' ' {
			if _, known := z.textZone(b[i:]); !known || equalFold(b[:i], "now") {
				return 0, false
			}
			b = b[:i]
			break
		}
	}
	day := func(n int64) (int64, bool) {
		today, _ := SplitMicros(z.ToLocal(now))
		return z.ToInstant((today + n) * MicrosPerDay), true
	}
	switch {
	case equalFold(b, "epoch"):
		return 0, true
	case equalFold(b, "now"):
		return now, true
	case equalFold(b, "today"):
		return day(0)
	case equalFold(b, "yesterday"):
		return day(-1)
	case equalFold(b, "tomorrow"):
		return day(1)
	}
	return 0, false
}

// SpecialDate is SpecialTimestamp for a DATE: the day of the instant in z.
func SpecialDate(b []byte, z *Zone, now int64) (days int32, ok bool) {
	if equalFold(Trim(b), "epoch") {
		return 0, true
	}
	micros, ok := SpecialTimestamp(b, z, now)
	if !ok {
		return 0, false
	}
	d, _ := SplitMicros(z.ToLocal(micros))
	return int32(d), true
}

// fixedLocal reads yyyy-mm-dd( |T)hh:mm:ss[.f{1,9}] without a zone.
func fixedLocal(b []byte) (local int64, ok bool) {
	local, n, ok := fixedClock(b)
	return local, ok && n == len(b)
}

// fixedTimestamp is fixedLocal with an optional Z or ±hh:mm behind it.
func fixedTimestamp(b []byte, z *Zone) (micros int64, ok bool) {
	local, n, ok := fixedClock(b)
	switch {
	case !ok:
		return 0, false
	case n == len(b):
		return z.ToInstant(local), true
	case n == len(b)-1 && b[n] == 'Z':
		return local, true
	case n == len(b)-6 && b[n+3] == ':':
		h, m := two(b[n+1:]), two(b[n+4:])
		if h > 17 || m > 59 {
			return 0, false
		}
		off := int64(h)*MicrosPerHour + int64(m)*MicrosPerMinute
		switch b[n] {
		case '+':
			return local - off, true
		case '-':
			return local + off, true
		}
	}
	return 0, false
}

var fractionScale = [7]int64{0, 100_000, 10_000, 1_000, 100, 10, 1}

// fixedClock reads the fixed form and returns where it ended.
func fixedClock(b []byte) (local int64, n int, ok bool) {
	if len(b) < 19 || b[4] != '-' || b[7] != '-' || b[10] != ' ' && b[10] != 'T' || b[13] != ':' || b[16] != ':' {
		return 0, 0, false
	}
	days, ok := fixedDate(b)
	h, m, s := two(b[11:]), two(b[14:]), two(b[17:])
	if !ok || h > 23 || m > 59 || s > 59 {
		return 0, 0, false
	}
	local = days*MicrosPerDay + (int64(h)*3600+int64(m)*60+int64(s))*MicrosPerSecond
	if len(b) == 19 || b[19] != '.' {
		return local, 19, true
	}
	var f int64
	i := 20
	for ; i < len(b) && i < 26; i++ {
		d := b[i] - '0'
		if d > 9 {
			break
		}
		f = f*10 + int64(d)
	}
	if i == 20 {
		return 0, 0, false
	}
	local += f * fractionScale[i-20]
	for i < len(b) && b[i]-'0' <= 9 { // more digits are cut off
		i++
	}
	return local, i, true
}

func parseTimestamp(b []byte, z *Zone, now *int64) (int64, bool) {
	var c clock
	if !c.scan(Trim(b)) {
		return 0, false
	}
	if c.zone != nil {
		var ok bool
		if z, ok = z.textZone(c.zone); !ok {
			return 0, false
		}
	}
	if c.timeOnly {
		if now == nil {
			return 0, false
		}
		day, _ := SplitMicros(z.ToLocal(*now))
		c.year, c.month, c.day = DateOf(day)
	}
	local, ok := c.local()
	if !ok {
		return 0, false
	}
	return z.ToInstant(local), true
}

// textZone returns the zone of a zone text inside a timestamp that is read with
// z as the session's.
func (z *Zone) textZone(b []byte) (*Zone, bool) {
	b = Trim(b)
	if len(b) == 1 && b[0] == 'Z' || string(b) == "UTC" {
		return UTC, true
	}
	if sec, ok := parseOffset(b); ok {
		return &Zone{loc: UTC.loc, fixed: true, offset: int64(sec)}, true
	}
	return z.named.load(b)
}

// scan splits the text into its parts; ranges are checked by local.
func (c *clock) scan(b []byte) bool {
	if len(b) == 0 {
		return false
	}
	seg := [7]int{1, 1, 1, 0, 0, 0, 0}
	neg, signed := b[0] == '-', b[0] == '-' || b[0] == '+'
	if signed {
		b = b[1:]
	}
	i, digits, value, j := 0, 0, 0, 0
	end := func() bool { // the segment ends here
		if !clockDigits(i, digits) {
			return false
		}
		seg[i] = value
		i, digits, value = i+1, 0, 0
		return true
	}
scan:
	for ; j < len(b); j++ {
		ch := b[j]
		switch {
		case ch-'0' <= 9:
			if i != 6 || digits < 6 {
				value = value*10 + int(ch-'0')
			}
			digits++
			if i < 6 && digits > 8 {
				return false
			}
		case j == 0 && ch == 'T' && !signed:
			c.timeOnly, i = true, 3
		case i == 0 && ch == ':' && !signed:
			c.timeOnly, i = true, 3
			if !end() {
				return false
			}
		case i < 2 && ch == '-', i == 2 && (ch == ' ' || ch == 'T'), (i == 3 || i == 4) && ch == ':', i == 5 && ch == '.':
			if !end() {
				return false
			}
		case i == 5 || i == 6:
			c.zone = b[j:]
			break scan
		default:
			return false
		}
	}
	if !clockDigits(i, digits) {
		return false
	}
	if i == 6 {
		for d := digits; d < 6; d++ {
			value *= 10
		}
	}
	seg[i] = value
	if neg {
		seg[0] = -seg[0]
	}
	c.year, c.month, c.day, c.hour, c.minute, c.second, c.micro = seg[0], seg[1], seg[2], seg[3], seg[4], seg[5], seg[6]
	return true
}

func clockDigits(segment, digits int) bool {
	switch segment {
	case 0:
		return digits >= 4 && digits <= 6
	case 6:
		return true
	}
	return digits == 1 || digits == 2
}

// local returns the wall clock in microseconds if all parts are in range.
func (c *clock) local() (int64, bool) {
	if c.hour > 23 || c.minute > 59 || c.second > 59 || !ValidDate(c.year, c.month, c.day) {
		return 0, false
	}
	ofDay := (int64(c.hour)*3600+int64(c.minute)*60+int64(c.second))*MicrosPerSecond + int64(c.micro)
	return localOf(DaysOf(c.year, c.month, c.day), ofDay)
}

// localOf joins a day and the microseconds of the day, if they fit.
func localOf(days, ofDay int64) (int64, bool) {
	if days > math.MaxInt64/MicrosPerDay || days < math.MinInt64/MicrosPerDay-1 {
		return 0, false
	}
	if days < 0 { // keep the product inside the range at the lower end
		v, ok := mulAdd(days+1, MicrosPerDay, ofDay-MicrosPerDay)
		return v, ok
	}
	return mulAdd(days, MicrosPerDay, ofDay)
}

// AppendTimestamp appends an instant as the wall clock of z, the fraction
// without trailing zeros.
func AppendTimestamp(dst []byte, micros int64, z *Zone) []byte {
	return AppendTimestampNTZ(dst, z.ToLocal(micros))
}

// AppendTimestampNTZ appends a local timestamp, the fraction without trailing
// zeros.
func AppendTimestampNTZ(dst []byte, local int64) []byte {
	days, ofDay := SplitMicros(local)
	y, m, d := DateOf(days)
	dst = appendDate(dst, y, m, d)
	return appendTimeOfDay(append(dst, ' '), ofDay)
}

func appendTimeOfDay(dst []byte, ofDay int64) []byte {
	sec := int(ofDay / MicrosPerSecond)
	dst = append2(dst, sec/3600)
	dst = append2(append(dst, ':'), sec/60%60)
	dst = append2(append(dst, ':'), sec%60)
	return appendFraction(dst, int(ofDay%MicrosPerSecond))
}

// appendFraction appends a point and up to six digits without trailing zeros,
// or nothing for zero.
func appendFraction(dst []byte, micro int) []byte {
	if micro == 0 {
		return dst
	}
	dst = append(dst, '.')
	for div := 100_000; micro > 0; div /= 10 {
		dst = append(dst, byte('0'+micro/div))
		micro %= div
	}
	return dst
}

// AppendISO appends an instant the way the JSON and CSV writers do by default:
// yyyy-MM-dd'T'HH:mm:ss.SSS and the offset, Z for zero.
func AppendISO(dst []byte, micros int64, z *Zone) []byte {
	off := z.Offset(floorDiv(micros, MicrosPerSecond))
	dst = AppendISOLocal(dst, micros+off*MicrosPerSecond)
	if off == 0 {
		return append(dst, 'Z')
	}
	return appendOffset(dst, int(off), offsetColon)
}

// AppendISOLocal is AppendISO for a local timestamp: no offset.
func AppendISOLocal(dst []byte, local int64) []byte {
	days, ofDay := SplitMicros(local)
	y, m, d := DateOf(days)
	dst = appendDate(dst, y, m, d)
	sec := int(ofDay / MicrosPerSecond)
	dst = append2(append(dst, 'T'), sec/3600)
	dst = append2(append(dst, ':'), sec/60%60)
	dst = append2(append(dst, ':'), sec%60)
	ms := int(ofDay % MicrosPerSecond / 1000)
	return append2(append(dst, '.', byte('0'+ms/100)), ms%100)
}

// AppendShellDate appends a date as the SQL shell prints it: the year of the
// era, without a sign.
func AppendShellDate(dst []byte, days int32) []byte {
	y, m, d := DateOf(int64(days))
	return appendShellDate(dst, y, m, d)
}

func appendShellDate(dst []byte, y, m, d int) []byte {
	if y <= 0 {
		y = 1 - y
	}
	n := len(dst)
	dst = appendDate(dst, y, m, d)
	if dst[n] == '+' {
		dst = append(dst[:n], dst[n+1:]...)
	}
	return dst
}

// AppendShellTimestamp is AppendShellDate for a local timestamp.
func AppendShellTimestamp(dst []byte, local int64) []byte {
	days, ofDay := SplitMicros(local)
	y, m, d := DateOf(days)
	return appendTimeOfDay(append(appendShellDate(dst, y, m, d), ' '), ofDay)
}
