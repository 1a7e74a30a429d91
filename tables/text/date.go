package text

import "strconv"

// ParseDate reads a date by Spark's cast rules: yyyy[-[m]m[-[d]d]] with an
// optional sign; behind a full date anything that starts with a blank or T is
// ignored. Blanks around are ignored.
func ParseDate(b []byte) (days int32, ok bool) {
	if len(b) == 10 && b[4] == '-' && b[7] == '-' {
		if d, ok := fixedDate(b); ok {
			return int32(d), true
		}
	}
	b = Trim(b)
	if len(b) == 0 {
		return 0, false
	}
	neg := b[0] == '-'
	if neg || b[0] == '+' {
		b = b[1:]
	}
	seg := [3]int{1, 1, 1}
	i, digits, value, j := 0, 0, 0, 0
	for ; j < len(b) && b[j] != ' ' && b[j] != 'T'; j++ {
		c := b[j]
		switch {
		case c == '-' && i < 2:
			if !dateDigits(i, digits) {
				return 0, false
			}
			seg[i] = value
			i, digits, value = i+1, 0, 0
		case c-'0' <= 9 && digits < 8:
			value = value*10 + int(c-'0')
			digits++
		default:
			return 0, false
		}
	}
	if !dateDigits(i, digits) || i < 2 && j < len(b) {
		return 0, false
	}
	seg[i] = value
	if neg {
		seg[0] = -seg[0]
	}
	if !ValidDate(seg[0], seg[1], seg[2]) {
		return 0, false
	}
	d := DaysOf(seg[0], seg[1], seg[2])
	return int32(d), d == int64(int32(d))
}

func dateDigits(segment, digits int) bool {
	if segment == 0 {
		return digits >= 4 && digits <= 7
	}
	return digits == 1 || digits == 2
}

// two reads two digits; a value above 99 says that they are none.
func two(b []byte) uint {
	_ = b[1]
	x, y := uint(b[0]-'0'), uint(b[1]-'0')
	if x > 9 || y > 9 {
		return 1000
	}
	return x*10 + y
}

// fixedDate reads the first ten bytes of b as yyyy-mm-dd.
func fixedDate(b []byte) (days int64, ok bool) {
	c, y, m, d := two(b), two(b[2:]), two(b[5:]), two(b[8:])
	if c > 99 || y > 99 || m-1 > 11 || d-1 > 30 {
		return 0, false
	}
	year := int(c*100 + y)
	if d > 28 && int(d) > DaysInMonth(year, int(m)) {
		return 0, false
	}
	return DaysOf(year, int(m), int(d)), true
}

// AppendDate appends days as yyyy-MM-dd; years beyond four digits get a plus
// sign, years before the first a minus sign.
func AppendDate(dst []byte, days int32) []byte {
	y, m, d := DateOf(int64(days))
	return appendDate(dst, y, m, d)
}

func appendDate(dst []byte, y, m, d int) []byte {
	dst = appendYear(dst, y)
	dst = append(dst, '-')
	dst = append2(dst, m)
	dst = append(dst, '-')
	return append2(dst, d)
}

func appendYear(dst []byte, y int) []byte {
	switch {
	case y >= 0 && y <= 9999:
		dst = append2(dst, y/100)
		return append2(dst, y%100)
	case y > 9999:
		return strconv.AppendInt(append(dst, '+'), int64(y), 10)
	}
	dst = append(dst, '-')
	if y > -10000 {
		dst = append2(dst, -y/100)
		return append2(dst, -y%100)
	}
	return strconv.AppendInt(dst, int64(-y), 10)
}
