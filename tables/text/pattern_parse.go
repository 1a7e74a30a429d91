package text

// parts are the fields that a parse has found.
type parts struct {
	set                                uint32 // bit by field
	year, month, day, dayOfYear        int
	era                                int // 0 BC, 1 AD
	hour, hour12, ampm, minute, second int
	micro                              int
	offset                             int
	zone                               *Zone
	hasOffset, hasZone                 bool
}

func (t *parts) has(f field) bool { return t.set&(1<<f) != 0 }

// put stores a field; a second, different value is a conflict.
func (t *parts) put(f field, dst *int, v int) bool {
	if t.has(f) && *dst != v {
		return false
	}
	t.set |= 1 << f
	*dst = v
	return true
}

// ParseTimestamp reads a text that must match the pattern as a whole. A text
// without zone or offset is the wall clock of z. A part that the pattern does
// not have is that of 1970-01-01 00:00:00.
func (p *Pattern) ParseTimestamp(b []byte, z *Zone) (micros int64, ok bool) {
	var t parts
	if !p.parse(b, &t) {
		return 0, false
	}
	local, ok := t.local()
	if !ok {
		return 0, false
	}
	switch {
	case t.hasOffset:
		return local - int64(t.offset)*MicrosPerSecond, true
	case t.hasZone:
		z = t.zone
	}
	return z.ToInstant(local), true
}

// ParseLocal reads a local timestamp; a zone in the text is ignored if
// allowZone, else it makes the text invalid.
func (p *Pattern) ParseLocal(b []byte, allowZone bool) (local int64, ok bool) {
	var t parts
	if !p.parse(b, &t) || !allowZone && (t.hasOffset || t.hasZone) {
		return 0, false
	}
	return t.local()
}

// ParseDate reads the day.
func (p *Pattern) ParseDate(b []byte) (days int32, ok bool) {
	var t parts
	if !p.parse(b, &t) {
		return 0, false
	}
	if _, ok := t.ofDay(); !ok {
		return 0, false
	}
	d, ok := t.days()
	return int32(d), ok && d == int64(int32(d))
}

func (p *Pattern) parse(b []byte, t *parts) bool {
	n, ok := parseItems(p.items, b, 0, t)
	return ok && n == len(b)
}

// parseItems reads items from b at i and returns where they ended.
func parseItems(items []item, b []byte, i int, t *parts) (int, bool) {
	for k := 0; k < len(items); k++ {
		it := &items[k]
		switch it.field {
		case fieldOptional:
			saved := *t
			if n, ok := parseItems(items[k+1:k+it.skip], b, i, t); ok {
				i = n
			} else {
				*t = saved
			}
			k += it.skip
			continue
		case fieldOptionalEnd:
			continue
		}
		n, ok := it.parse(b, i, t)
		if !ok {
			return 0, false
		}
		i = n
	}
	return i, true
}

//tidy:allow-long a flat switch over the fields
func (it *item) parse(b []byte, i int, t *parts) (int, bool) {
	switch it.field {
	case fieldLiteral:
		if !hasFold(b[i:], it.text) {
			return 0, false
		}
		return i + len(it.text), true
	case fieldEra:
		return it.parseEra(b, i, t)
	case fieldMonth:
		if it.min == 0 {
			return it.parseMonth(b, i, t)
		}
	case fieldAMPM:
		switch {
		case hasFold(b[i:], "AM"):
			return i + 2, t.put(fieldAMPM, &t.ampm, 0)
		case hasFold(b[i:], "PM"):
			return i + 2, t.put(fieldAMPM, &t.ampm, 1)
		}
		return 0, false
	case fieldFraction:
		return it.parseFraction(b, i, t)
	case fieldZoneID, fieldZoneName:
		return parseZoneText(b, i, t)
	case fieldOffset:
		if hasFold(b[i:], it.zero) && it.zero == "Z" {
			return i + 1, t.putOffset(0)
		}
		return parseOffsetText(b, i, it.offset, t)
	case fieldLocalized:
		return parseLocalized(b, i, t)
	}
	v, n, ok := it.parseNumber(b, i)
	if !ok {
		return 0, false
	}
	return n, it.store(v, t)
}

// store keeps a number in its field, checking its range.
//
//tidy:allow-long a flat switch over the numeric fields
func (it *item) store(v int, t *parts) bool {
	in := func(lo, hi int) bool { return v >= lo && v <= hi }
	switch it.field {
	case fieldYear:
		return in(-999_999_999, 999_999_999) && t.put(fieldYear, &t.year, v)
	case fieldYear2:
		return t.put(fieldYear, &t.year, 2000+v)
	case fieldYearOfEra:
		return in(1, 999_999_999) && t.put(fieldYearOfEra, &t.year, v)
	case fieldMonth:
		return in(1, 12) && t.put(fieldMonth, &t.month, v)
	case fieldDay:
		return in(1, 31) && t.put(fieldDay, &t.day, v)
	case fieldDayOfYear:
		return in(1, 366) && t.put(fieldDayOfYear, &t.dayOfYear, v)
	case fieldHour:
		return in(0, 23) && t.put(fieldHour, &t.hour, v)
	case fieldClockHour:
		return in(1, 24) && t.put(fieldHour, &t.hour, v%24)
	case fieldHour12:
		return in(0, 11) && t.put(fieldHour12, &t.hour12, v)
	case fieldClockHour12:
		return in(1, 12) && t.put(fieldHour12, &t.hour12, v%12)
	case fieldMinute:
		return in(0, 59) && t.put(fieldMinute, &t.minute, v)
	case fieldSecond:
		return in(0, 59) && t.put(fieldSecond, &t.second, v)
	}
	return false
}

// parseNumber reads digits by Java's strict rules for widths and signs.
func (it *item) parseNumber(b []byte, i int) (v, n int, ok bool) {
	start, neg, signed := i, false, false
	variable := it.min != it.max
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		if !variable || b[i] == '+' && !it.exceeds {
			return 0, 0, false
		}
		neg, signed = b[i] == '-', true
		i++
	}
	start = i
	most := it.max + it.reserve
	for i < len(b) && i-start < most && b[i]-'0' <= 9 {
		i++
	}
	width := i - start
	if it.reserve > 0 {
		width = max(it.min, width-it.reserve)
		if start+width > len(b) {
			return 0, 0, false
		}
		i = start + width
	}
	if width < it.min || width > 10 {
		return 0, 0, false
	}
	for _, c := range b[start:i] {
		if c-'0' > 9 {
			return 0, 0, false
		}
		v = v*10 + int(c-'0')
	}
	if it.exceeds && (signed && !neg && width <= it.min || !signed && width > it.min) || neg && v == 0 {
		return 0, 0, false
	}
	if neg {
		v = -v
	}
	return v, i, true
}

func (it *item) parseFraction(b []byte, i int, t *parts) (int, bool) {
	start, v := i, 0
	for i < len(b) && i-start < it.max && b[i]-'0' <= 9 {
		if i-start < 6 {
			v = v*10 + int(b[i]-'0')
		}
		i++
	}
	if i == start {
		return 0, false
	}
	for d := i - start; d < 6; d++ {
		v *= 10
	}
	return i, t.put(fieldFraction, &t.micro, v)
}

func (it *item) parseEra(b []byte, i int, t *parts) (int, bool) {
	for era, year := range [2]int{0, 1} {
		if name := eraName(year, it.min); hasFold(b[i:], name) {
			return i + len(name), t.put(fieldEra, &t.era, era)
		}
	}
	return 0, false
}

// parseMonth reads a month's name, of three letters or in full, in any case.
func (it *item) parseMonth(b []byte, i int, t *parts) (int, bool) {
	for k, name := range monthNames[1:] {
		if it.max == 3 {
			name = name[:3]
		}
		if hasFold(b[i:], name) {
			return i + len(name), t.put(fieldMonth, &t.month, k+1)
		}
	}
	return 0, false
}

// hasFold reports whether b starts with the ASCII text s in any case.
func hasFold(b []byte, s string) bool {
	if len(b) < len(s) {
		return false
	}
	for i := 0; i < len(s); i++ {
		x, y := b[i], s[i]
		if x != y && (x|0x20 != y|0x20 || !isLetter(x)) {
			return false
		}
	}
	return true
}

func (t *parts) putOffset(sec int) bool {
	if t.hasOffset && t.offset != sec {
		return false
	}
	t.offset, t.hasOffset = sec, true
	return true
}

// parseOffsetText reads an offset in exactly the style.
func parseOffsetText(b []byte, i int, style offsetStyle, t *parts) (int, bool) {
	if i >= len(b) || b[i] != '+' && b[i] != '-' {
		return 0, false
	}
	neg := b[i] == '-'
	i++
	var v [3]int
	colon := style == offsetColon || style == offsetColonSeconds
	for k := range v {
		optional := k == 2 && (style == offsetNoColonSecs || style == offsetColonSeconds) || k == 1 && style == offsetHourMinute
		if k == 2 && !optional {
			break
		}
		j := i
		if k > 0 && colon {
			if j >= len(b) || b[j] != ':' {
				if optional {
					break
				}
				return 0, false
			}
			j++
		}
		if j+2 > len(b) || two(b[j:]) > 99 {
			if optional {
				break
			}
			return 0, false
		}
		v[k], i = int(two(b[j:])), j+2
	}
	sec := v[0]*3600 + v[1]*60 + v[2]
	if v[1] > 59 || v[2] > 59 || sec > 18*3600 {
		return 0, false
	}
	if neg {
		sec = -sec
	}
	return i, t.putOffset(sec)
}

// parseLocalized reads GMT with an optional offset.
func parseLocalized(b []byte, i int, t *parts) (int, bool) {
	if !hasFold(b[i:], "GMT") {
		return 0, false
	}
	i += 3
	end := i
	for end < len(b) && (b[end] == '+' || b[end] == '-' || b[end] == ':' || b[end]-'0' <= 9) {
		end++
	}
	if end == i {
		return i, t.putOffset(0)
	}
	sec, ok := parseOffset(b[i:end])
	return end, ok && t.putOffset(sec)
}

// parseZoneText reads the longest run of zone characters that names a zone.
func parseZoneText(b []byte, i int, t *parts) (int, bool) {
	end := i
	for end < len(b) && (isLetter(b[end]) || b[end]-'0' <= 9 || inSet(b[end], "/_+-:")) {
		end++
	}
	for ; end > i; end-- {
		if std, ok := standardOf[string(b[i:end])]; ok && std != "GMT" {
			if region, ok := shortZones[std]; ok && std != "EST" && std != "MST" {
				if z, err := LoadZone(region); err == nil {
					t.zone, t.hasZone = z, true
					return end, true
				}
			}
		}
		if z, ok := UTC.textZone(b[i:end]); ok {
			t.zone, t.hasZone = z, true
			return end, true
		}
	}
	return 0, false
}

// days resolves the date fields.
func (t *parts) days() (int64, bool) {
	year := 1970
	switch {
	case t.has(fieldYear):
		year = t.year
	case t.has(fieldYearOfEra):
		year = t.year
		if t.has(fieldEra) && t.era == 0 {
			year = 1 - year
		}
	}
	if t.has(fieldDayOfYear) && !(t.has(fieldMonth) && t.has(fieldDay)) {
		if t.dayOfYear == 366 && !IsLeap(year) {
			return 0, false
		}
		d := DaysOf(year, 1, 1) + int64(t.dayOfYear) - 1
		_, month, day := DateOf(d)
		return d, (!t.has(fieldMonth) || month == t.month) && (!t.has(fieldDay) || day == t.day)
	}
	month, day := 1, 1
	if t.has(fieldMonth) {
		month = t.month
	}
	if t.has(fieldDay) {
		day = t.day
	}
	if !ValidDate(year, month, day) || t.has(fieldDayOfYear) && DayOfYear(year, month, day) != t.dayOfYear {
		return 0, false
	}
	return DaysOf(year, month, day), true
}

// ofDay resolves the time fields to microseconds of the day.
func (t *parts) ofDay() (int64, bool) {
	hour := 0
	switch {
	case t.has(fieldHour):
		hour = t.hour
		if t.has(fieldAMPM) && hour/12 != t.ampm || t.has(fieldHour12) && hour%12 != t.hour12 {
			return 0, false
		}
	case t.has(fieldHour12):
		hour = t.hour12
		if t.has(fieldAMPM) {
			hour += 12 * t.ampm
		}
	case t.has(fieldAMPM):
		hour = 12 * t.ampm
	}
	return (int64(hour)*3600+int64(t.minute)*60+int64(t.second))*MicrosPerSecond + int64(t.micro), true
}

func (t *parts) local() (int64, bool) {
	days, ok := t.days()
	if !ok {
		return 0, false
	}
	ofDay, ok := t.ofDay()
	if !ok {
		return 0, false
	}
	return localOf(days, ofDay)
}
