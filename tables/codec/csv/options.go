package csv

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

// none stands for an option character that is switched off.
const none = 0

// Options are the reader and writer options; start from DefaultOptions or
// ParseOptions.
type Options struct {
	Sep           string
	Quote         byte // 0: none
	Escape        byte // 0: none
	EscapeEscape  byte // charToEscapeQuoteEscaping; 0: none
	Comment       byte // 0: none
	Header        bool
	EnforceSchema bool
	MultiLine     bool
	LineSep       string // empty: \n, \r\n, \r
	Mode          Mode
	CorruptColumn string
	MaxColumns    int
	MaxChars      int // of a value; -1 is no limit

	TrimLeft, TrimRight                 bool // on reading
	KeepLeft, KeepRight                 bool // on writing (the default trims)
	NullValue, EmptyValue               string
	WriteEmpty                          string
	NaN, PositiveInf, NegativeInf       string
	TimestampFormat, TimestampNTZFormat string
	DateFormat                          string
	Zone                                *text.Zone // session zone; nil is UTC
	QuoteAll, KeepQuotes                bool       // writing: KeepQuotes is escapeQuotes=false
	InferSchema, PreferDate             bool
	SamplingRatio                       float64
	StrayQuotes                         QuoteHandling
}

// QuoteHandling is unescapedQuoteHandling.
type QuoteHandling uint8

// The ways to read a quoted value with a stray quote.
const (
	StopAtDelimiter QuoteHandling = iota
	RaiseError
)

// DefaultOptions returns Spark's defaults.
func DefaultOptions() Options {
	return Options{Sep: ",", Quote: '"', Escape: '\\', EscapeEscape: '\\', EnforceSchema: true, CorruptColumn: DefaultCorruptColumn,
		MaxColumns: 20480, MaxChars: -1, WriteEmpty: `""`, NaN: "NaN", PositiveInf: "Inf", NegativeInf: "-Inf", PreferDate: true, SamplingRatio: 1}
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
	escapeEscape := false
	for name, value := range m {
		lower := strings.ToLower(name)
		escapeEscape = escapeEscape || lower == "chartoescapequoteescaping"
		if err := o.set(lower, value); err != nil {
			err.Option = name
			return o, err
		}
	}
	if !escapeEscape {
		o.EscapeEscape = o.Escape
		if o.Escape == o.Quote {
			o.EscapeEscape = none
		}
	}
	if len(o.Sep) == 1 && (o.Sep[0] == o.Quote || o.Sep[0] == '\n' || o.Sep[0] == '\r') {
		return o, &OptionError{Option: "sep", Value: o.Sep, Reason: "must differ from the quote and from line breaks"}
	}
	return o, nil
}

func (o *Options) flag(name string) *bool {
	switch name {
	case "header":
		return &o.Header
	case "enforceschema":
		return &o.EnforceSchema
	case "multiline":
		return &o.MultiLine
	case "quoteall":
		return &o.QuoteAll
	case "inferschema":
		return &o.InferSchema
	case "preferdate":
		return &o.PreferDate
	}
	return nil
}

func (o *Options) word(name string) *string {
	switch name {
	case "nullvalue":
		return &o.NullValue
	case "nanvalue":
		return &o.NaN
	case "positiveinf":
		return &o.PositiveInf
	case "negativeinf":
		return &o.NegativeInf
	case "timestampformat":
		return &o.TimestampFormat
	case "timestampntzformat":
		return &o.TimestampNTZFormat
	case "dateformat":
		return &o.DateFormat
	case "columnnameofcorruptrecord":
		return &o.CorruptColumn
	}
	return nil
}

func (o *Options) char(name string) *byte {
	switch name {
	case "quote":
		return &o.Quote
	case "escape":
		return &o.Escape
	case "chartoescapequoteescaping":
		return &o.EscapeEscape
	case "comment":
		return &o.Comment
	}
	return nil
}

// set reads one option; name is in lower case.
//
//tidy:allow-long a flat switch over the options
func (o *Options) set(name, value string) *OptionError {
	bad := func(reason string) *OptionError { return &OptionError{Value: value, Reason: reason} }
	flag := func(p *bool, want bool) *OptionError {
		b, ok := parseFlag(value)
		if !ok {
			return bad("must be true or false")
		}
		*p = b == want
		return nil
	}
	if p := o.flag(name); p != nil {
		return flag(p, true)
	}
	if p := o.word(name); p != nil {
		*p = value
		return nil
	}
	if p := o.char(name); p != nil {
		switch {
		case value == "" || value == "\x00":
			*p = none
		case len(value) > 1 || value[0] >= 0x80:
			return bad("must be one ASCII character")
		default:
			*p = value[0]
		}
		return nil
	}
	switch name {
	case "sep", "delimiter":
		sep, ok := parseSep(value)
		if !ok {
			return bad("is no separator")
		}
		o.Sep = sep
	case "escapequotes":
		return flag(&o.KeepQuotes, false)
	case "ignoreleadingwhitespace":
		b, ok := parseFlag(value)
		if !ok {
			return bad("must be true or false")
		}
		o.TrimLeft, o.KeepLeft = b, !b
	case "ignoretrailingwhitespace":
		b, ok := parseFlag(value)
		if !ok {
			return bad("must be true or false")
		}
		o.TrimRight, o.KeepRight = b, !b
	case "emptyvalue":
		o.EmptyValue, o.WriteEmpty = value, value
	case "mode":
		o.Mode = ParseMode(value)
	case "linesep":
		if len(value) == 0 || len(value) > 2 {
			return bad("must be one or two characters")
		}
		o.LineSep = value
	case "maxcolumns", "maxcharspercolumn":
		n, ok := text.ParseInt([]byte(value), 32)
		if !ok {
			return bad("must be a whole number")
		}
		if name == "maxcolumns" {
			o.MaxColumns = int(n)
		} else {
			o.MaxChars = int(n)
		}
	case "unescapedquotehandling":
		switch strings.ToUpper(value) {
		case "STOP_AT_DELIMITER":
		case "RAISE_ERROR":
			o.StrayQuotes = RaiseError
		default:
			return bad("is not supported: STOP_AT_DELIMITER and RAISE_ERROR are")
		}
	case "samplingratio":
		f, ok := text.ParseDouble([]byte(value))
		if !ok || !(f > 0) {
			return bad("must be a number above 0")
		}
		o.SamplingRatio = f
	case "timezone":
		z, err := text.LoadZone(value)
		if err != nil {
			return bad("is no time zone")
		}
		o.Zone = z
	case "encoding", "charset":
		if !strings.EqualFold(value, "UTF-8") && !strings.EqualFold(value, "UTF8") {
			return bad("is not supported: only UTF-8 is")
		}
	case "locale":
		if !strings.EqualFold(value, "en-US") && !strings.EqualFold(value, "en_US") {
			return bad("is not supported: only en-US is")
		}
	case "singlevariantcolumn":
		return bad("is not supported")
	}
	return nil
}

// parseSep reads a separator: any text, with \t, \\ and the like for one
// character.
func parseSep(s string) (string, bool) {
	switch s {
	case "", `\`:
		return "", false
	case `\t`:
		return "\t", true
	case `\\`:
		return `\`, true
	case `\b`:
		return "\b", true
	case `\f`:
		return "\f", true
	case `\'`:
		return "'", true
	case `\"`:
		return `"`, true
	case `\0`, `\u0000`:
		return "\x00", true
	}
	return s, true
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
