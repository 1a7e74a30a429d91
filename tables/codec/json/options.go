package json

import (
	"fmt"
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

// Options are the reader and writer options. The zero value is not the
// default: start from DefaultOptions or ParseOptions.
type Options struct {
	Mode          Mode
	CorruptColumn string // gets the text of malformed records if the schema has it
	// RescuedColumn gets, as a JSON object, the fields that the schema has not
	// or that do not fit; empty: none.
	RescuedColumn string
	Zone          *text.Zone // session zone; nil is UTC

	// Formats are Java patterns; empty means the rules of casts.
	TimestampFormat, TimestampNTZFormat, DateFormat string

	AllowComments             bool
	AllowUnquotedFieldNames   bool
	AllowSingleQuotes         bool // default true
	AllowNumericLeadingZeros  bool
	AllowNonNumericNumbers    bool // default true
	AllowBackslashEscapingAny bool
	AllowUnquotedControlChars bool
	MultiLine                 bool
	LineSep                   string // empty: \n, \r\n, \r

	// For inference.
	PrimitivesAsString, PrefersDecimal, DropFieldIfAllNull bool
	InferTimestamp                                         bool
	SamplingRatio                                          float64

	// For writing.
	KeepNullFields bool // ignoreNullFields=false
	SortKeys       bool
}

// DefaultOptions returns Spark's defaults.
func DefaultOptions() Options {
	return Options{CorruptColumn: DefaultCorruptColumn, AllowSingleQuotes: true, AllowNonNumericNumbers: true, SamplingRatio: 1}
}

// OptionError says which option is wrong.
type OptionError struct {
	Option, Value, Reason string
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("option %s: %q %s", e.Option, e.Value, e.Reason)
}

// ParseOptions reads options by Spark's names, which ignore case. Names that
// are not of this codec are ignored; an option that Spark has and this codec
// does not implement is an error unless its value changes nothing.
func ParseOptions(m map[string]string) (Options, error) {
	o := DefaultOptions()
	for name, value := range m {
		if err := o.set(strings.ToLower(name), value); err != nil {
			err.Option = name
			return o, err
		}
	}
	return o, nil
}

// boolOptions are the options that take true or false.
func (o *Options) boolOption(name string) *bool {
	switch name {
	case "allowcomments":
		return &o.AllowComments
	case "allowunquotedfieldnames":
		return &o.AllowUnquotedFieldNames
	case "allowsinglequotes":
		return &o.AllowSingleQuotes
	case "allownumericleadingzeros":
		return &o.AllowNumericLeadingZeros
	case "allownonnumericnumbers":
		return &o.AllowNonNumericNumbers
	case "allowbackslashescapinganycharacter":
		return &o.AllowBackslashEscapingAny
	case "allowunquotedcontrolchars":
		return &o.AllowUnquotedControlChars
	case "multiline":
		return &o.MultiLine
	case "primitivesasstring":
		return &o.PrimitivesAsString
	case "prefersdecimal":
		return &o.PrefersDecimal
	case "dropfieldifallnull":
		return &o.DropFieldIfAllNull
	case "infertimestamp":
		return &o.InferTimestamp
	case "sortkeys":
		return &o.SortKeys
	}
	return nil
}

// set reads one option; name is in lower case.
func (o *Options) set(name, value string) *OptionError {
	if p := o.boolOption(name); p != nil {
		b, ok := parseFlag(value)
		if !ok {
			return &OptionError{Value: value, Reason: "must be true or false"}
		}
		*p = b
		return nil
	}
	switch name {
	case "ignorenullfields":
		b, ok := parseFlag(value)
		if !ok {
			return &OptionError{Value: value, Reason: "must be true or false"}
		}
		o.KeepNullFields = !b
	case "mode":
		o.Mode = ParseMode(value)
	case "columnnameofcorruptrecord":
		o.CorruptColumn = value
	case "rescueddatacolumn":
		o.RescuedColumn = value
	case "timestampformat":
		o.TimestampFormat = value
	case "timestampntzformat":
		o.TimestampNTZFormat = value
	case "dateformat":
		o.DateFormat = value
	case "timezone":
		z, err := text.LoadZone(value)
		if err != nil {
			return &OptionError{Value: value, Reason: "is no time zone"}
		}
		o.Zone = z
	case "linesep":
		if value == "" {
			return &OptionError{Value: value, Reason: "must not be empty"}
		}
		o.LineSep = value
	case "samplingratio":
		f, ok := text.ParseDouble([]byte(value))
		if !ok || !(f > 0) {
			return &OptionError{Value: value, Reason: "must be a number above 0"}
		}
		o.SamplingRatio = f
	case "encoding", "charset":
		if !strings.EqualFold(value, "UTF-8") && !strings.EqualFold(value, "UTF8") {
			return &OptionError{Value: value, Reason: "is not supported: only UTF-8 is"}
		}
	case "locale":
		if !strings.EqualFold(value, "en-US") && !strings.EqualFold(value, "en_US") {
			return &OptionError{Value: value, Reason: "is not supported: only en-US is"}
		}
	case "pretty":
		if b, ok := parseFlag(value); !ok || b {
			return &OptionError{Value: value, Reason: "is not supported"}
		}
	case "singlevariantcolumn":
		return &OptionError{Value: value, Reason: "is not supported"}
	}
	return nil
}

func parseFlag(s string) (v, ok bool) {
	switch {
	case strings.EqualFold(s, "true"):
		return true, true
	case strings.EqualFold(s, "false"):
		return false, true
	}
	return false, false
}

func (o *Options) formats(reading bool) (text.Formats, error) {
	return text.CompileFormats(o.Zone, o.TimestampFormat, o.TimestampNTZFormat, o.DateFormat, reading)
}
