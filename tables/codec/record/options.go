package record

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"pipelines/tables/text"
)

// Mode says what happens to malformed records.
type Mode uint8

// The modes.
const (
	Permissive Mode = iota
	DropMalformed
	FailFast
)

// ParseMode reads a mode in any case; an unknown one counts as PERMISSIVE, as
// in Spark.
func ParseMode(s string) Mode {
	switch strings.ToUpper(s) {
	case "DROPMALFORMED":
		return DropMalformed
	case "FAILFAST":
		return FailFast
	}
	return Permissive
}

// DefaultCorruptColumn is the column for the text of malformed records.
const DefaultCorruptColumn = "_corrupt_record"

// Options are the options that JSON and CSV share.
type Options struct {
	Mode          Mode
	CorruptColumn string // gets the text of malformed records if the schema has it
	MultiLine     bool
	LineSep       string // empty: \n, \r\n, \r
	SamplingRatio float64
	Charset       string     // of files, one of the names below; empty: UTF-8
	Zone          *text.Zone // session zone; nil is UTC

	// Formats are Java patterns; empty means the rules of casts.
	TimestampFormat, TimestampNTZFormat, DateFormat string
}

// The charsets of files besides UTF-8, by Spark's names.
const (
	UTF8    = "UTF-8"
	ASCII   = "US-ASCII"
	Latin1  = "ISO-8859-1"
	UTF16   = "UTF-16" // with a mark, or big-endian
	UTF16BE = "UTF-16BE"
	UTF16LE = "UTF-16LE"
	UTF32   = "UTF-32" // with a mark, or big-endian
	// Detect stands for what the first bytes of a JSON value say.
	Detect = "detect"
)

// Charsets are those that a user can name.
var Charsets = []string{ASCII, Latin1, UTF8, UTF16, UTF16BE, UTF16LE, UTF32}

// Compressions are the words that Spark takes for the compression of text
// files. A reader goes by the file's name, whatever is said here.
var Compressions = []string{"none", "uncompressed", "bzip2", "deflate", "gzip", "lz4", "snappy", "zstd"}

// CheckCompression refuses a word that names no compression.
func CheckCompression(value string) *OptionError {
	if slices.Contains(Compressions, strings.ToLower(value)) {
		return nil
	}
	return &OptionError{Value: value, Reason: "is no compression: " + strings.Join(Compressions, ", ") + " are"}
}

// CheckWritten refuses a charset that files are not written in: their options
// have lower-case names.
func CheckWritten(options map[string]string) error {
	for _, name := range []string{"encoding", "charset"} {
		if v := options[name]; v != "" && !strings.EqualFold(v, UTF8) {
			return &OptionError{Option: name, Value: v, Reason: "is not written: only UTF-8 is"}
		}
	}
	return nil
}

// Defaults returns Spark's defaults.
func Defaults() Options {
	return Options{CorruptColumn: DefaultCorruptColumn, SamplingRatio: 1}
}

// OptionError says which option is wrong.
type OptionError struct {
	Option, Value, Reason string
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("option %s: %q %s", e.Option, e.Value, e.Reason)
}

// Set reads one option, whose name is in lower case; known is false for one
// that is not among the shared ones.
func (o *Options) Set(name, value string) (known bool, err *OptionError) {
	bad := func(reason string) (bool, *OptionError) { return true, &OptionError{Value: value, Reason: reason} }
	switch name {
	case "mode":
		o.Mode = ParseMode(value)
	case "columnnameofcorruptrecord":
		o.CorruptColumn = value
	case "multiline":
		return true, SetFlag(&o.MultiLine, value, true)
	case "timestampformat":
		o.TimestampFormat = value
	case "timestampntzformat":
		o.TimestampNTZFormat = value
	case "dateformat":
		o.DateFormat = value
	case "timezone":
		z, err := text.LoadZone(value)
		if err != nil {
			return bad("is no time zone")
		}
		o.Zone = z
	case "linesep":
		if value == "" {
			return bad("must not be empty")
		}
		o.LineSep = value
	case "samplingratio":
		f, ok := text.ParseDouble([]byte(value))
		if !ok || !(f > 0) {
			return bad("must be a number above 0")
		}
		o.SamplingRatio = f
	case "encoding", "charset":
		o.Charset = strings.ToUpper(value)
		if o.Charset == "UTF8" {
			o.Charset = UTF8
		}
		if !slices.Contains(Charsets, o.Charset) {
			return bad("is no charset that can be read: [INVALID_PARAMETER_VALUE.CHARSET] expects one of " + strings.Join(Charsets, ", "))
		}
	case "locale":
		if !strings.EqualFold(value, "en-US") && !strings.EqualFold(value, "en_US") {
			return bad("is not supported: only en-US is")
		}
	case "singlevariantcolumn":
		return bad("is not supported")
	default:
		return false, nil
	}
	return true, nil
}

// SetFlag sets *p to whether the value, true or false, is want.
func SetFlag(p *bool, value string, want bool) *OptionError {
	switch {
	case strings.EqualFold(value, "true"):
		*p = want
	case strings.EqualFold(value, "false"):
		*p = !want
	default:
		return &OptionError{Value: value, Reason: "must be true or false"}
	}
	return nil
}

// ReadAll gives each option to set by its name in lower case, in order; the
// error names the option as it was written.
func ReadAll(m map[string]string, set func(name, value string) *OptionError) error {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if err := set(strings.ToLower(name), m[name]); err != nil {
			err.Option = name
			return err
		}
	}
	return nil
}

// Formats compiles the patterns of dates and timestamps.
func (o *Options) Formats(reading bool) (text.Formats, error) {
	return text.CompileFormats(o.Zone, o.TimestampFormat, o.TimestampNTZFormat, o.DateFormat, reading)
}

// CheckPatterns refuses a pattern of dates or timestamps that cannot be read
// by.
func (o *Options) CheckPatterns() error {
	for _, p := range []struct{ option, pattern string }{
		{"timestampformat", o.TimestampFormat}, {"timestampntzformat", o.TimestampNTZFormat}, {"dateformat", o.DateFormat},
	} {
		if p.pattern == "" {
			continue
		}
		if _, err := text.CompilePattern(p.pattern, true); err != nil {
			return &OptionError{Option: p.option, Value: p.pattern, Reason: "is no pattern: " + err.Error()}
		}
	}
	return nil
}
