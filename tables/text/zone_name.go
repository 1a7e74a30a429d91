package text

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// ErrZone is returned (wrapped) for a name that is no time zone.
var ErrZone = errors.New("unknown time zone")

// shortZones are the three-letter names that Java maps to regions or offsets.
var shortZones = map[string]string{
	"ACT": "Australia/Darwin", "AET": "Australia/Sydney", "AGT": "America/Argentina/Buenos_Aires",
	"ART": "Africa/Cairo", "AST": "America/Anchorage", "BET": "America/Sao_Paulo", "BST": "Asia/Dhaka",
	"CAT": "Africa/Harare", "CNT": "America/St_Johns", "CST": "America/Chicago", "CTT": "Asia/Shanghai",
	"EAT": "Africa/Addis_Ababa", "ECT": "Europe/Paris", "IET": "America/Indiana/Indianapolis",
	"IST": "Asia/Kolkata", "JST": "Asia/Tokyo", "MIT": "Pacific/Apia", "NET": "Asia/Yerevan",
	"NST": "Pacific/Auckland", "PLT": "Asia/Karachi", "PNT": "America/Phoenix", "PRT": "America/Puerto_Rico",
	"PST": "America/Los_Angeles", "SST": "Pacific/Guadalcanal", "VST": "Asia/Ho_Chi_Minh",
	"EST": "-05:00", "MST": "-07:00", "HST": "-10:00",
}

// LoadZone returns the zone called name: a region id, an offset (+1, +01:00,
// +0100, Z), UTC, GMT or UT with an offset, or one of Java's short names.
func LoadZone(name string) (*Zone, error) {
	loc, err := LoadLocation(name)
	if err != nil {
		return nil, err
	}
	return NewZone(loc), nil
}

// LoadLocation is LoadZone for callers that keep a *time.Location; offsets
// carry their normal form (+01:00) as name.
func LoadLocation(name string) (*time.Location, error) {
	bad := func() (*time.Location, error) { return nil, fmt.Errorf("%w %q", ErrZone, name) }
	id := strings.TrimSpace(name)
	if long, ok := shortZones[id]; ok {
		id = long
	}
	switch id {
	case "UTC", "GMT", "UT", "Z", "z":
		if id == "Z" || id == "z" {
			id = "Z"
		}
		if id == "UTC" {
			return time.UTC, nil
		}
		return time.FixedZone(id, 0), nil
	case "", "Local":
		return bad()
	}
	prefix := ""
	for _, p := range []string{"UTC", "GMT", "UT"} {
		if rest, ok := strings.CutPrefix(id, p); ok && rest != "" && (rest[0] == '+' || rest[0] == '-') {
			prefix, id = p, rest
			break
		}
	}
	if id[0] == '+' || id[0] == '-' {
		sec, ok := parseOffset([]byte(id))
		if !ok {
			return bad()
		}
		if sec == 0 {
			if prefix != "" {
				return time.FixedZone(prefix, 0), nil
			}
			return time.FixedZone("Z", 0), nil
		}
		return time.FixedZone(prefix+string(appendOffset(nil, sec, offsetColonSeconds)), sec), nil
	}
	loc, err := time.LoadLocation(id)
	if err != nil {
		return bad()
	}
	return loc, nil
}

// zoneCache keeps the zones that the texts read with one session zone name.
type zoneCache struct {
	mu   sync.Mutex // guards zone
	zone map[string]*Zone
}

// maxCachedZones bounds a cache; the names of all regions fit.
const maxCachedZones = 1024

// load is LoadZone with a memory; a nil cache has none.
func (c *zoneCache) load(name []byte) (*Zone, bool) {
	if c == nil {
		z, err := LoadZone(string(name))
		return z, err == nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if z, ok := c.zone[string(name)]; ok {
		return z, z != nil
	}
	z, err := LoadZone(string(name))
	if len(c.zone) < maxCachedZones {
		if c.zone == nil {
			c.zone = map[string]*Zone{}
		}
		c.zone[string(name)] = z
	}
	return z, err == nil
}

// parseOffset reads +h, +hh, +hhmm, +hh:mm, +h:mm, +hh:m, +hhmmss, +hh:mm:ss,
// within 18 hours.
func parseOffset(b []byte) (sec int, ok bool) {
	if len(b) < 2 || b[0] != '+' && b[0] != '-' {
		return 0, false
	}
	var parts [3]int
	s, colon, n := b[1:], false, 0
	for len(s) > 0 {
		if n == 3 {
			return 0, false
		}
		if n > 0 {
			if n == 1 {
				colon = s[0] == ':'
			}
			if colon {
				if s[0] != ':' {
					return 0, false
				}
				s = s[1:]
			}
		}
		w := 0
		for w < 2 && w < len(s) && s[w]-'0' <= 9 {
			parts[n] = parts[n]*10 + int(s[w]-'0')
			w++
		}
		if w == 0 || w == 1 && n > 0 && (!colon || len(s) > 1 || n > 1) {
			return 0, false
		}
		s = s[w:]
		n++
	}
	sec = parts[0]*3600 + parts[1]*60 + parts[2]
	if parts[1] > 59 || parts[2] > 59 || sec > 18*3600 {
		return 0, false
	}
	if b[0] == '-' {
		sec = -sec
	}
	return sec, true
}

// offsetStyle is a form of printing an offset.
type offsetStyle uint8

const (
	offsetHourMinute   offsetStyle = iota // +HHmm: X, x
	offsetNoColon                         // +HHMM
	offsetColon                           // +HH:MM
	offsetNoColonSecs                     // +HHMMss
	offsetColonSeconds                    // +HH:MM:ss
)

// appendOffset appends sec in the style, without a special zero.
func appendOffset(dst []byte, sec int, style offsetStyle) []byte {
	sign := byte('+')
	if sec < 0 {
		sign, sec = '-', -sec
	}
	h, m, s := sec/3600, sec/60%60, sec%60
	dst = append(dst, sign)
	dst = append2(dst, h)
	if style == offsetHourMinute && m == 0 {
		return dst
	}
	colon := style == offsetColon || style == offsetColonSeconds
	if colon {
		dst = append(dst, ':')
	}
	dst = append2(dst, m)
	if s != 0 && (style == offsetNoColonSecs || style == offsetColonSeconds) {
		if colon {
			dst = append(dst, ':')
		}
		dst = append2(dst, s)
	}
	return dst
}

func append2(dst []byte, v int) []byte {
	return append(dst, byte('0'+v/10%10), byte('0'+v%10))
}
