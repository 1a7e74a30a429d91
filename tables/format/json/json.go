package json

import (
	"context"
	"io"

	"pipelines/spec/option"
	codec "pipelines/tables/codec/json"
	"pipelines/tables/format"
	"pipelines/tables/format/block"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// Format is the JSON format.
type Format struct{}

// New returns the format.
func New() Format { return Format{} }

// Name returns json.
func (Format) Name() string { return "json" }

// Fields returns the reader and writer options.
func (Format) Fields() []option.Field {
	flag := func(name, def, doc string) option.Field {
		return option.Field{Name: name, Type: option.TypeBool, Default: def, Doc: doc}
	}
	word := func(name, def, doc string) option.Field {
		return option.Field{Name: name, Type: option.TypeString, Default: def, Doc: doc}
	}
	return []option.Field{
		{Name: "mode", Type: option.TypeEnum, Default: "PERMISSIVE", Values: []string{"PERMISSIVE", "DROPMALFORMED", "FAILFAST"}, Doc: "What happens to a malformed record."},
		word("columnNameOfCorruptRecord", codec.DefaultCorruptColumn, "The column that gets the text of a malformed record."),
		word("rescuedDataColumn", "", "The column that gets fields which the schema has not, or which do not fit, as JSON."),
		flag("multiLine", "false", "A file is one JSON value that may have line breaks."),
		word("lineSep", "", "What ends a record; any line break by default."),
		word("timestampFormat", "", "The pattern of timestamps; the rules of casts by default."),
		word("timestampNTZFormat", "", "The pattern of timestamps without a zone."),
		word("dateFormat", "", "The pattern of dates."),
		word("timeZone", "", "The zone of timestamps without one; the session's by default."),
		word("locale", "en-US", "Only en-US is supported."),
		{Name: "encoding", Aliases: []string{"charset"}, Type: option.TypeString, Default: "UTF-8", Doc: "Only UTF-8 is supported."},
		flag("primitivesAsString", "false", "Inference takes all plain values as texts."),
		flag("prefersDecimal", "false", "Inference takes fractions as decimals."),
		flag("dropFieldIfAllNull", "false", "Inference leaves out columns of nulls and empty arrays or structs."),
		flag("inferTimestamp", "false", "Inference takes texts that are timestamps as such."),
		{Name: "samplingRatio", Type: option.TypeNumber, Default: "1", Doc: "The part of the records that inference looks at."},
		flag("allowComments", "false", "Comments as in Java are skipped."),
		flag("allowUnquotedFieldNames", "false", "Field names may stand without quotes."),
		flag("allowSingleQuotes", "true", "Texts may stand in single quotes."),
		flag("allowNumericLeadingZeros", "false", "Numbers may start with zeros."),
		flag("allowNonNumericNumbers", "true", "NaN and Infinity count as numbers."),
		flag("allowBackslashEscapingAnyCharacter", "false", "Any character may follow a backslash."),
		flag("allowUnquotedControlChars", "false", "Texts may hold control characters."),
		flag("ignoreNullFields", "true", "The writer leaves out null fields."),
		flag("sortKeys", "false", "The writer sorts the keys."),
		word("compression", "none", "What the writer compresses with: none, gzip or zstd."),
	}
}

// options reads the user's options; the zone defaults to the session's.
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
	dec, err := codec.NewDecoder(spec.Columns.Type(), o)
	if err != nil {
		return nil, err
	}
	dec.Declare(spec.Declared.Type())
	dec.SetFile(in.Name)
	r, err := block.Open(in)
	if err != nil {
		return nil, err
	}
	return &scanner{r: r, dec: dec, spec: spec, opts: o, name: in.Name, rows: limit(spec), sep: []byte(o.LineSep)}, nil
}

// Infer finds the schema of the records of all files.
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
	if o.MultiLine {
		b, err := r.All()
		if err == nil {
			err = inf.Add(b.Buf[b.From:b.End])
		}
		return err
	}
	if o.LineSep != "" {
		for {
			rec, _, err := r.Records([]byte(o.LineSep))
			if err == io.EOF {
				return nil
			}
			if err == nil {
				err = inf.Add(rec)
			}
			if err != nil {
				return err
			}
		}
	}
	for {
		b, err := r.Lines()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := inf.AddLines(b.Buf[b.From:b.End]); err != nil {
			return err
		}
	}
}
