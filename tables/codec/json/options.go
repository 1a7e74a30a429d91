package json

import "pipelines/tables/codec/record"

// Options are the reader and writer options. The zero value is not the
// default: start from DefaultOptions or ParseOptions.
type Options struct {
	record.Options
	// RescuedColumn gets, as a JSON object, the fields that the schema has not
	// or that do not fit; empty: none.
	RescuedColumn string

	AllowComments             bool
	AllowUnquotedFieldNames   bool
	AllowSingleQuotes         bool // default true
	AllowNumericLeadingZeros  bool
	AllowNonNumericNumbers    bool // default true
	AllowBackslashEscapingAny bool
	AllowUnquotedControlChars bool

	// RawText makes a STRING of the bytes of a number, object or array as they
	// stand in the file, as Spark's file reader does; else they are printed
	// again, as from_json does.
	RawText bool

	// For inference.
	PrimitivesAsString, PrefersDecimal, DropFieldIfAllNull bool
	InferTimestamp                                         bool

	// For writing.
	KeepNullFields bool // ignoreNullFields=false
	SortKeys       bool
}

// DefaultOptions returns Spark's defaults.
func DefaultOptions() Options {
	return Options{Options: record.Defaults(), AllowSingleQuotes: true, AllowNonNumericNumbers: true}
}

// ParseOptions reads options by Spark's names, which ignore case. Names that
// are not of this codec are ignored; an option that Spark has and this codec
// does not implement is an error unless its value changes nothing.
func ParseOptions(m map[string]string) (Options, error) {
	o := DefaultOptions()
	err := record.ReadAll(m, o.set)
	return o, err
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
func (o *Options) set(name, value string) *record.OptionError {
	if p := o.boolOption(name); p != nil {
		return record.SetFlag(p, value, true)
	}
	switch name {
	case "ignorenullfields":
		return record.SetFlag(&o.KeepNullFields, value, false)
	case "rescueddatacolumn":
		o.RescuedColumn = value
	case "compression":
		return record.CheckCompression(value)
	case "pretty":
		pretty := false
		if err := record.SetFlag(&pretty, value, true); err != nil || pretty {
			return &record.OptionError{Value: value, Reason: "is not supported"}
		}
	default:
		_, err := o.Set(name, value)
		return err
	}
	return nil
}
