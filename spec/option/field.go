package option

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Type is the type of an option's value. Users always write text.
type Type uint8

// The types.
const (
	TypeString Type = iota
	TypeBool
	TypeInt
	TypeNumber
	TypeBytes    // "10m", "1 GiB": a number of bytes
	TypeDuration // "10 seconds", "7d": a fixed length of time
	TypeInterval // "1 month": may have months
	TypeEnum     // one of Values, case ignored
	TypeSecret   // text that never prints
)

var typeNames = [...]string{"text", "true or false", "whole number", "number", "size", "duration", "interval", "word", "secret"}

// String returns the type in words.
func (t Type) String() string { return typeNames[t] }

// Field declares one option.
type Field struct {
	Name    string
	Aliases []string
	Type    Type
	Default string // as a user would write it; "" means none
	Doc     string // a sentence

	Required bool
	Values   []string // of TypeEnum, in canonical spelling
	Min, Max int64    // of TypeInt and TypeBytes, unless both are 0

	// Check refuses texts that the type alone would take. It may be nil.
	Check func(text string) error

	// Prefix makes the field stand for every option whose name starts with
	// Name, such as "kafka."; Values.WithPrefix returns them.
	Prefix bool

	// NoEffect names why the option does nothing here: it is accepted with a
	// warning.
	NoEffect string

	// Later refuses the option until its issue lands.
	Later bool
}

// item is one decoded option.
type item struct {
	set    bool // given by the user
	entry  Entry
	text   Secret // the text, also of defaults; hidden, since it may be one
	ready  bool   // false: holds a reference that is not resolved yet
	flag   bool
	number int64
	float  float64
	length time.Duration
	period Interval
}

// decode fills it from its text by the field's type.
func (f *Field) decode(it *item) error {
	text := it.text.Reveal()
	var err error
	switch trimmed := strings.TrimSpace(text); f.Type {
	case TypeBool:
		it.flag = strings.EqualFold(trimmed, "true")
		if !it.flag && !strings.EqualFold(trimmed, "false") {
			err = errors.New("true or false is wanted")
		}
	case TypeInt:
		it.number, err = strconv.ParseInt(trimmed, 10, 64)
		if err != nil {
			err = errors.New("a whole number is wanted")
		}
	case TypeNumber:
		it.float, err = strconv.ParseFloat(trimmed, 64)
		if err != nil || math.IsNaN(it.float) || math.IsInf(it.float, 0) {
			err = errors.New("a number is wanted")
		}
	case TypeBytes:
		it.number, err = ParseBytes(trimmed)
	case TypeDuration:
		it.length, err = ParseDuration(trimmed)
	case TypeInterval:
		it.period, err = ParseInterval(trimmed)
	case TypeEnum:
		err = f.decodeEnum(it, trimmed)
	}
	if err == nil && (f.Type == TypeInt || f.Type == TypeBytes) && (f.Min != 0 || f.Max != 0) {
		switch {
		case it.number < f.Min:
			err = fmt.Errorf("at least %d is wanted", f.Min)
		case f.Max > 0 && it.number > f.Max:
			err = fmt.Errorf("at most %d is allowed", f.Max)
		}
	}
	if err == nil && f.Check != nil {
		err = f.Check(text)
	}
	it.ready = err == nil
	return err
}

func (f *Field) decodeEnum(it *item, word string) error {
	for _, v := range f.Values {
		if strings.EqualFold(v, word) {
			it.text = NewSecret(v)
			return nil
		}
	}
	return errors.New("one of these is wanted: " + strings.Join(f.Values, ", "))
}

// matches reports whether an option of that name is this field.
func (f *Field) matches(name string) bool {
	if f.Prefix {
		return len(name) > len(f.Name) && strings.EqualFold(name[:len(f.Name)], f.Name)
	}
	if strings.EqualFold(f.Name, name) {
		return true
	}
	for _, a := range f.Aliases {
		if strings.EqualFold(a, name) {
			return true
		}
	}
	return false
}

// ParseBytes reads a number of bytes with an optional unit. As in Spark, every
// unit is a power of 1024: "k", "kb" and "KiB" are the same.
func ParseBytes(text string) (int64, error) {
	t := strings.ToLower(strings.TrimSpace(text))
	i := strings.IndexFunc(t, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if i < 0 {
		i = len(t)
	}
	f, err := strconv.ParseFloat(t[:i], 64)
	unit := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(t[i:]), "b"), "i")
	power := strings.Index("_kmgtp", unit)
	switch {
	case unit == "":
		power = 0
	case len(unit) != 1 || power < 1:
		err = strconv.ErrSyntax
	}
	if err != nil {
		return 0, errors.New("a size such as 64m or 1 GiB is wanted")
	}
	if f *= math.Pow(1024, float64(power)); f > math.MaxInt64/2 {
		return 0, errors.New("the size is too large")
	}
	return int64(f), nil
}

var shortUnits = map[string]time.Duration{
	"us": time.Microsecond, "ms": time.Millisecond, "s": time.Second, "m": time.Minute, "min": time.Minute,
	"h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour,
}

// ParseDuration reads an interval text without months ("10 seconds") or the
// short form of Spark's options ("7d", "500ms").
func ParseDuration(text string) (time.Duration, error) {
	wanted := errors.New("a length of time such as `10 seconds` is wanted")
	if iv, err := ParseInterval(text); err == nil {
		d, ok := iv.Duration()
		if !ok && iv.Months == 0 {
			return 0, errors.New("no length of time above 292 years fits")
		}
		if !ok {
			return 0, errors.New("months and years have no fixed length")
		}
		return d, nil
	}
	t := strings.ToLower(strings.TrimSpace(text))
	i := strings.IndexFunc(t, func(r rune) bool { return r < '0' || r > '9' })
	if i <= 0 {
		return 0, wanted
	}
	n, err := parseDigits(t[:i])
	unit := shortUnits[strings.TrimSpace(t[i:])]
	if err != nil || unit == 0 || n > math.MaxInt64/int64(unit) {
		return 0, wanted
	}
	return time.Duration(n) * unit, nil
}
