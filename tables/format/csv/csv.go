package csv

import (
	"context"
	"io"

	"pipelines/spec/option"
	codec "pipelines/tables/codec/csv"
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
		flag("enforceSchema", "true", "The header of a file is not compared with the schema."),
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
		{Name: "encoding", Aliases: []string{"charset"}, Type: option.TypeString, Default: "UTF-8", Doc: "Only UTF-8 is supported."},
		{Name: "maxColumns", Type: option.TypeInt, Default: "20480", Doc: "The most values of a record."},
		{Name: "maxCharsPerColumn", Type: option.TypeInt, Default: "-1", Doc: "The longest value in bytes; -1 is no limit."},
		word("unescapedQuoteHandling", "STOP_AT_DELIMITER", "How a stray quote inside quotes is read: STOP_AT_DELIMITER or RAISE_ERROR."),
		{Name: "mode", Type: option.TypeEnum, Default: "PERMISSIVE", Values: []string{"PERMISSIVE", "DROPMALFORMED", "FAILFAST"}, Doc: "What happens to a malformed record."},
		word("columnNameOfCorruptRecord", codec.DefaultCorruptColumn, "The column that gets the text of a malformed record."),
		flag("multiLine", "false", "Quoted values may have line breaks."),
		word("lineSep", "", "What ends a record; any line break by default."),
		{Name: "samplingRatio", Type: option.TypeNumber, Default: "1", Doc: "The part of the records that inference looks at."},
		flag("quoteAll", "false", "The writer quotes every value."),
		flag("escapeQuotes", "true", "The writer quotes values that hold a quote."),
		word("compression", "none", "What the writer compresses with: none, gzip or zstd."),
	}
}

func options(spec format.ReadSpec) (codec.Options, error) {
	o, err := codec.ParseOptions(spec.Options)
	if o.Zone == nil {
		o.Zone = text.NewZone(spec.Location)
	}
	return o, err
}

// Open starts reading one file.
func (Format) Open(_ context.Context, in format.Input, spec format.ReadSpec) (format.Scanner, error) {
	o, err := options(spec)
	if err != nil {
		return nil, err
	}
	dec, err := codec.NewDecoder(spec.Declared, spec.Columns, o)
	if err != nil {
		return nil, err
	}
	r, err := block.Open(in)
	if err != nil {
		return nil, err
	}
	dec.StartFile(spec.CaseSensitive)
	return &scanner{r: r, dec: dec, spec: spec, opts: o, name: in.Name, rows: limit(spec)}, nil
}

// Infer finds the columns of the files; names come from the first record.
func (Format) Infer(ctx context.Context, files []format.Input, spec format.ReadSpec) (schema.Schema, error) {
	o, err := options(spec)
	if err != nil {
		return schema.Schema{}, err
	}
	inf := codec.NewInferrer(o)
	for _, in := range files {
		if err := ctx.Err(); err != nil {
			return schema.Schema{}, err
		}
		if err := inferFile(inf, in, o); err != nil {
			return schema.Schema{}, err
		}
	}
	return inf.Schema()
}

func inferFile(inf *codec.Inferrer, in format.Input, o codec.Options) (err error) {
	r, err := block.Open(in)
	if err != nil {
		return err
	}
	defer func() {
		if e := r.Close(); err == nil {
			err = e
		}
	}()
	inf.StartFile()
	for {
		switch {
		case o.MultiLine:
			b, err := r.All()
			if err == nil {
				inf.AddRecords(b.Buf[b.From:b.End])
			}
			return err
		case custom(o.LineSep):
			rec, _, err := r.Records([]byte(o.LineSep))
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			inf.AddLine(rec)
		default:
			b, err := r.Lines()
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			inf.AddLines(b.Buf[b.From:b.End])
		}
	}
}

// custom reports a separator that is no usual line break.
func custom(sep string) bool { return sep != "" && sep != "\n" && sep != "\r\n" && sep != "\r" }
