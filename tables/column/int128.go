package column

// Int128 is a signed 128-bit integer in two's complement: the unscaled value
// of a decimal with more than 18 digits.
type Int128 struct {
	Hi int64
	Lo uint64
}

// FromInt64 widens v.
func FromInt64(v int64) Int128 { return Int128{Hi: v >> 63, Lo: uint64(v)} }

// Int64 returns v as int64 and whether it fits.
func (v Int128) Int64() (int64, bool) { return int64(v.Lo), v.Hi == int64(v.Lo)>>63 }

// Cmp compares v with o: -1, 0, +1.
func (v Int128) Cmp(o Int128) int {
	switch {
	case v.Hi < o.Hi || v.Hi == o.Hi && v.Lo < o.Lo:
		return -1
	case v == o:
		return 0
	}
	return 1
}
