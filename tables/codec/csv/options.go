package csv

import (
	"strings"
	"unicode/utf8"

	"pipelines/tables/codec/record"
	"pipelines/tables/text"
)

// none stands for an option character that is switched off.
const none = 0

// Options are the reader and writer options; start from DefaultOptions or
// ParseOptions.
type Options struct {
	record.Options
	Sep           string
	Quote         byte // 0: none
	Escape        byte // 0: none
	EscapeEscape  byte // charToEscapeQuoteEscaping; 0: none
	Comment       byte // 0: none
	Header        bool
	EnforceSchema bool
	MaxColumns    int
	MaxChars      int // of a value; -1 is no limit

	TrimLeft, TrimRight   bool // on reading
	KeepLeft, KeepRight   bool // on writing (the default trims)
	NullValue, EmptyValue string
	// RescuedColumn gets, as a JSON object, the values that no column takes or
	// that do not fit; empty: none.
	RescuedColumn                 string
	WriteEmpty                    string
	NaN, PositiveInf, NegativeInf string
	QuoteAll, KeepQuotes          bool // writing: KeepQuotes is escapeQuotes=false
	InferSchema, PreferDate       bool
	StrayQuotes                   QuoteHandling
	Binary                        text.BinaryStyle // writing
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
	return Options{Options: record.Defaults(), Sep: ",", Quote: '"', Escape: '\\', EscapeEscape: '\\', EnforceSchema: true,
		MaxColumns: 20480, MaxChars: -1, WriteEmpty: `""`, NaN: "NaN", PositiveInf: "Inf", NegativeInf: "-Inf", PreferDate: true}
}

// ParseOptions reads options by Spark's names, which ignore case. Names that
// are not of this codec are ignored; an option that Spark has and this codec
// does not implement is an error unless its value changes nothing.
func ParseOptions(m map[string]string) (Options, error) {
	o := DefaultOptions()
	escapeEscape := false
	err := record.ReadAll(m, func(name, value string) *record.OptionError {
		escapeEscape = escapeEscape || name == "chartoescapequoteescaping"
		return o.set(name, value)
	})
	if err != nil {
		return o, err
	}
	if !escapeEscape {
		o.EscapeEscape = o.Escape
		if o.Escape == o.Quote {
			o.EscapeEscape = none
		}
	}
	if len(o.Sep) == 1 && (o.Sep[0] == o.Quote || o.Sep[0] == '\n' || o.Sep[0] == '\r') {
		return o, sepError(m, &o)
	}
	return o, nil
}

// sepError refuses a separator that is the quote or a line break, by the name
// of the option that was given.
func sepError(m map[string]string, o *Options) error {
	e := &record.OptionError{Option: "quote", Value: o.Sep, Reason: "must differ from the separator"}
	for name := range m {
		if strings.EqualFold(name, "sep") || strings.EqualFold(name, "delimiter") {
			e.Option, e.Reason = name, "must differ from the quote and from line breaks"
		}
	}
	return e
}

func (o *Options) flag(name string) *bool {
	switch name {
	case "header":
		return &o.Header
	case "enforceschema":
		return &o.EnforceSchema
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
	case "rescueddatacolumn":
		return &o.RescuedColumn
	case "nanvalue":
		return &o.NaN
	case "positiveinf":
		return &o.PositiveInf
	case "negativeinf":
		return &o.NegativeInf
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
func (o *Options) set(name, value string) *record.OptionError {
	bad := func(reason string) *record.OptionError { return &record.OptionError{Value: value, Reason: reason} }
	if p := o.flag(name); p != nil {
		return record.SetFlag(p, value, true)
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
		return record.SetFlag(&o.KeepQuotes, value, false)
	case "ignoreleadingwhitespace":
		if err := record.SetFlag(&o.TrimLeft, value, true); err != nil {
			return err
		}
		o.KeepLeft = !o.TrimLeft
	case "ignoretrailingwhitespace":
		if err := record.SetFlag(&o.TrimRight, value, true); err != nil {
			return err
		}
		o.KeepRight = !o.TrimRight
	case "compression", "codec":
		return record.CheckCompression(value)
	case "emptyvalue":
		o.EmptyValue, o.WriteEmpty = value, value
	case "linesep":
		if n := utf8.RuneCountInString(value); n == 0 || n > 2 {
			return bad("must be one or two characters")
		}
		o.LineSep = value
	case "maxcolumns", "maxcharspercolumn":
		n, ok := text.ParseInt([]byte(value), 32)
		if !ok {
			return bad("must be a whole number")
		}
		switch {
		case name == "maxcolumns" && n < 1:
			return bad("must be at least 1")
		case name == "maxcolumns":
			o.MaxColumns = int(n)
		case n < 1 && n != -1:
			return bad("must be at least 1, or -1 for no limit")
		default:
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
	default:
		_, err := o.Set(name, value)
		return err
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
