package text

// Formats are the compiled patterns and the zone that a codec reads and
// writes dates and timestamps with. A nil pattern stands for the rules of
// casts when reading and for the ISO form when writing.
type Formats struct {
	Zone                 *Zone
	Timestamp, NTZ, Date *Pattern
}

// CompileFormats compiles the patterns of a codec's options; empty ones are
// the defaults, and a nil zone is UTC. Reading takes patterns that writing
// does not, and the reverse.
func CompileFormats(zone *Zone, timestamp, ntz, date string, reading bool) (f Formats, err error) {
	f.Zone = zone
	if f.Zone == nil {
		f.Zone = UTC
	}
	for _, p := range []struct {
		pattern string
		dst     **Pattern
	}{{timestamp, &f.Timestamp}, {ntz, &f.NTZ}, {date, &f.Date}} {
		if p.pattern == "" {
			continue
		}
		if *p.dst, err = CompilePattern(p.pattern, reading); err != nil {
			return f, err
		}
	}
	return f, nil
}

// ParseDate reads days since 1970-01-01.
func (f *Formats) ParseDate(s []byte) (days int32, ok bool) {
	if f.Date != nil {
		return f.Date.ParseDate(s)
	}
	return ParseDate(s)
}

// ParseTimestamp reads microseconds since 1970-01-01 UTC.
func (f *Formats) ParseTimestamp(s []byte) (us int64, ok bool) {
	if f.Timestamp != nil {
		return f.Timestamp.ParseTimestamp(s, f.Zone)
	}
	return ParseTimestamp(s, f.Zone)
}

// ParseNTZ reads microseconds since 1970-01-01 of the wall clock.
func (f *Formats) ParseNTZ(s []byte) (local int64, ok bool) {
	if f.NTZ != nil {
		return f.NTZ.ParseLocal(s, false)
	}
	return ParseTimestampNTZ(s, false)
}

// AppendDate writes days since 1970-01-01.
func (f *Formats) AppendDate(dst []byte, days int32) []byte {
	if f.Date != nil {
		return f.Date.AppendDate(dst, days, f.Zone)
	}
	return AppendDate(dst, days)
}

// AppendTimestamp writes microseconds since 1970-01-01 UTC.
func (f *Formats) AppendTimestamp(dst []byte, us int64) []byte {
	if f.Timestamp != nil {
		return f.Timestamp.AppendTimestamp(dst, us, f.Zone)
	}
	return AppendISO(dst, us, f.Zone)
}

// AppendNTZ writes microseconds since 1970-01-01 of the wall clock.
func (f *Formats) AppendNTZ(dst []byte, local int64) []byte {
	if f.NTZ != nil {
		return f.NTZ.AppendLocal(dst, local, UTC)
	}
	return AppendISOLocal(dst, local)
}
