package csv

import (
	"context"
	"errors"
	"io"
	"time"

	"pipelines/spec/option"
	codec "pipelines/tables/codec/csv"
	"pipelines/tables/codec/record"
	"pipelines/tables/format"
	"pipelines/tables/format/block"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// Format is the CSV format.
type Format struct{}

// New returns the format.
func New() Format { return Format{} }

// Name returns csv.
func (Format) Name() string { return "csv" }

// Fields returns the reader and writer options.
func (Format) Fields() []option.Field {
	flag := func(name, def, doc string) option.Field {
		return option.Field{Name: name, Type: option.TypeBool, Default: def, Doc: doc}
	}
	word := func(name, def, doc string) option.Field {
		return option.Field{Name: name, Type: option.TypeString, Default: def, Doc: doc}
	}
	return []option.Field{
		{Name: "sep", Aliases: []string{"delimiter"}, Type: option.TypeString, Default: ",", Doc: "What separates values."},
		word("quote", `"`, "The quote; empty for none."),
		word("escape", `\`, "What escapes a quote inside quotes."),
		word("charToEscapeQuoteEscaping", "", "What escapes the escape; the escape itself unless it is the quote."),
		word("comment", "", "Lines that start with this character are skipped."),
		flag("header", "false", "The first record of a file names the columns."),
		flag("inferSchema", "false", "Inference finds types, not only names."),
		flag("preferDate", "true", "Inference takes texts that are dates as such."),
		flag("enforceSchema", "true", "Columns are taken by place, whatever the header of a file says; with false, another header fails. Not set, an inferred schema, or a source with on_new_columns, is matched by the names in the header."),
		flag("ignoreLeadingWhiteSpace", "false", "Blanks before a value are cut; when writing they are unless this is false."),
		flag("ignoreTrailingWhiteSpace", "false", "Blanks behind a value are cut; when writing they are unless this is false."),
		word("nullValue", "", "The text of a null."),
		word("emptyValue", "", "The text of an empty value in quotes; \"\" when writing."),
		word("nanValue", "NaN", "The text of not-a-number."),
		word("positiveInf", "Inf", "The text of infinity."),
		word("negativeInf", "-Inf", "The text of negative infinity."),
		word("timestampFormat", "", "The pattern of timestamps; the rules of casts by default."),
		word("timestampNTZFormat", "", "The pattern of timestamps without a zone."),
		word("dateFormat", "", "The pattern of dates."),
		word("timeZone", "", "The zone of timestamps without one; the session's by default."),
		word("locale", "en-US", "Only en-US is supported."),
		{Name: "encoding", Aliases: []string{"charset"}, Type: option.TypeString, Default: "UTF-8", Doc: "The charset of files that are read: US-ASCII, ISO-8859-1, UTF-8, UTF-16, UTF-16BE, UTF-16LE or UTF-32. Written are only files in UTF-8."},
		{Name: "maxColumns", Type: option.TypeInt, Default: "20480", Doc: "The most values of a record."},
		{Name: "maxCharsPerColumn", Type: option.TypeInt, Default: "-1", Doc: "The longest value in bytes; -1 is no limit."},
		word("unescapedQuoteHandling", "STOP_AT_DELIMITER", "How a stray quote inside quotes is read: STOP_AT_DELIMITER or RAISE_ERROR."),
		{Name: "mode", Type: option.TypeEnum, Default: "PERMISSIVE", Values: []string{"PERMISSIVE", "DROPMALFORMED", "FAILFAST"}, Doc: "What happens to a malformed record."},
		word("columnNameOfCorruptRecord", record.DefaultCorruptColumn, "The column that gets the text of a malformed record."),
		word("rescuedDataColumn", "", "The column that gets values behind the declared columns, or which do not fit, as JSON: a STRING of the declared schema, or added to an inferred one."),
		flag("multiLine", "false", "Quoted values may have line breaks."),
		word("lineSep", "", "What ends a record; any line break by default."),
		{Name: "samplingRatio", Type: option.TypeNumber, Default: "1", Doc: "The part of the records that inference looks at."},
		flag("quoteAll", "false", "The writer quotes every value."),
		flag("escapeQuotes", "true", "The writer quotes values that hold a quote."),
		word("compression", "none", "What the writer compresses with: none, gzip or zstd."),
	}
}

func options(opts map[string]string, session *time.Location) (codec.Options, error) {
	o, err := codec.ParseOptions(opts)
	if o.Zone == nil {
		o.Zone = text.NewZone(session)
	}
	return o, err
}

// CheckOptions refuses values that no reader takes.
func (Format) CheckOptions(opts map[string]string) error {
	o, err := codec.ParseOptions(opts)
	if err != nil {
		return err
	}
	return o.CheckPatterns()
}

// Open starts reading one file.
func (Format) Open(_ context.Context, in format.Input, spec format.ReadSpec) (format.Scanner, error) {
	o, err := options(spec.Options, spec.Location)
	if err != nil {
		return nil, err
	}
	dec, err := codec.NewDecoder(spec.Declared, spec.Columns, o)
	if err != nil {
		return nil, err
	}
	if spec.Unknown != nil {
		dec.OnHeader(func(names []string) {
			for _, n := range names {
				if spec.Declared.Index(n) < 0 {
					spec.Unknown(n)
				}
			}
		})
	}
	if spec.ByName {
		dec.MatchHeader()
	}
	dec.SetFile(in.Name)
	dec.StartFile(spec.CaseSensitive)
	return block.Scan(in, spec, o.Options, decoder{dec})
}

// decoder tells a wrong header as an error of the file.
type decoder struct{ *codec.Decoder }

func (d decoder) DecodeLines(b []byte, from, end, limit int) (int, error) {
	at, err := d.Decoder.DecodeLines(b, from, end, limit)
	return at, fileError(err)
}

func (d decoder) DecodeRecord(rec []byte) error { return fileError(d.DecodeLine(rec)) }

func (d decoder) DecodeWhole(b []byte, from, limit int) (int, error) {
	at, err := d.DecodeRecords(b, from, limit)
	return at, fileError(err)
}

func fileError(err error) error {
	if h, ok := errors.AsType[*codec.HeaderError](err); ok {
		return &format.RecordError{Line: 1, Class: "CSV_HEADER_MISMATCH", Err: h}
	}
	return err
}

// Infer finds the columns of the files; names come from the first record.
func (Format) Infer(ctx context.Context, files []format.Input, spec format.ReadSpec) (schema.Schema, error) {
	o, err := options(spec.Options, spec.Location)
	if err != nil {
		return schema.Schema{}, err
	}
	return block.Infer(ctx, files, block.LayoutOf(o.Options), codec.NewInferrer(o))
}

// Create starts writing one file.
func (Format) Create(w io.Writer, spec format.WriteSpec) (format.Writer, error) {
	if err := record.CheckWritten(spec.Options); err != nil {
		return nil, err
	}
	o, err := options(spec.Options, spec.Location)
	if err != nil {
		return nil, err
	}
	for _, f := range spec.Schema.Fields {
		if f.Type.IsNested() || f.Type.Kind == schema.Variant {
			return nil, &codec.TypeError{Type: f.Type}
		}
	}
	enc, err := codec.NewEncoder(o)
	if err != nil {
		return nil, err
	}
	out, err := block.NewRowWriter(w, enc, spec.Options["compression"], spec.Options["linesep"])
	if err == nil && o.Header {
		err = out.WriteRecord(enc.AppendHeader(nil, spec.Schema.Names()))
	}
	return out, err
}
