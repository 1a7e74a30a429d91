package json

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"pipelines/spec/option"
	codec "pipelines/tables/codec/json"
	"pipelines/tables/codec/record"
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
		word("columnNameOfCorruptRecord", record.DefaultCorruptColumn, "The column that gets the text of a malformed record."),
		word("rescuedDataColumn", "", "The column that gets fields which the schema has not, or which do not fit, as JSON: a STRING of the declared schema, or added to an inferred one."),
		flag("multiLine", "false", "A file is one JSON value that may have line breaks."),
		word("lineSep", "", "What ends a record; any line break by default."),
		word("timestampFormat", "", "The pattern of timestamps; the rules of casts by default."),
		word("timestampNTZFormat", "", "The pattern of timestamps without a zone."),
		word("dateFormat", "", "The pattern of dates."),
		word("timeZone", "", "The zone of timestamps without one; the session's by default."),
		word("locale", "en-US", "Only en-US is supported."),
		{Name: "encoding", Aliases: []string{"charset"}, Type: option.TypeString, Default: "UTF-8", Doc: "The charset of files that are read: US-ASCII, ISO-8859-1, UTF-8, UTF-16, UTF-16BE, UTF-16LE or UTF-32. Written are only files in UTF-8."},
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
func options(opts map[string]string, session *time.Location) (codec.Options, error) {
	o, err := codec.ParseOptions(opts)
	if o.Zone == nil {
		o.Zone = text.NewZone(session)
	}
	if o.Charset == "" && o.MultiLine {
		o.Charset = record.Detect
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
	// With an encoding named Spark's reader has no bytes to take texts from.
	_, encoding := spec.Options["encoding"]
	_, charset := spec.Options["charset"]
	o.RawText = !encoding && !charset
	dec, err := codec.NewDecoder(spec.Columns.Type(), o)
	if err != nil {
		return nil, err
	}
	dec.OnUnknown(spec.Unknown)
	dec.Declare(spec.Declared.Type())
	dec.SetFile(in.Name)
	return block.Scan(in, spec, o.Options, decoder{dec})
}

type decoder struct{ *codec.Decoder }

func (d decoder) DecodeRecord(rec []byte) error {
	_, err := d.DecodeRows(rec, 0)
	return err
}

// DecodeWhole decodes the file as one value, of which the rows of an array
// come batch by batch (but with DROPMALFORMED all at once).
func (d decoder) DecodeWhole(b []byte, from, limit int) (int, error) {
	var err error
	if d.Pending() {
		err = d.Resume()
	} else {
		_, err = d.DecodeRows(b[from:], limit)
	}
	if e, ok := errors.AsType[*record.Error](err); ok {
		e.Offset += from
	}
	if d.Pending() {
		return from, err
	}
	return len(b), err
}

// Infer finds the schema of the records of all files.
func (Format) Infer(ctx context.Context, files []format.Input, spec format.ReadSpec) (schema.Schema, error) {
	o, err := options(spec.Options, spec.Location)
	if err != nil {
		return schema.Schema{}, err
	}
	s, err := block.Infer(ctx, files, block.LayoutOf(o.Options), inferrer{codec.NewInferrer(o)})
	if err == nil {
		err = unique(s.Fields, spec.CaseSensitive)
	}
	if err != nil {
		return schema.Schema{}, err
	}
	return s, nil
}

// unique refuses columns, or fields of one struct, that have the same name.
func unique(fields []schema.Field, caseSensitive bool) error {
	seen := map[string]string{}
	for _, f := range fields {
		name := f.Name
		if !caseSensitive {
			name = strings.ToLower(name)
		}
		if other, ok := seen[name]; ok {
			return fmt.Errorf("[COLUMN_ALREADY_EXISTS] the data has fields `%s` and `%s`, which are one column: declare the columns", other, f.Name)
		}
		seen[name] = f.Name
		if err := uniqueIn(f.Type, caseSensitive); err != nil {
			return err
		}
	}
	return nil
}

func uniqueIn(t schema.Type, caseSensitive bool) error {
	switch t.Kind {
	case schema.Struct:
		return unique(t.Fields, caseSensitive)
	case schema.Array:
		return uniqueIn(*t.Elem, caseSensitive)
	}
	return nil
}

type inferrer struct{ *codec.Inferrer }

func (inferrer) StartFile() {}

func (i inferrer) AddRecord(rec []byte) error { return i.Add(rec) }
func (i inferrer) AddWhole(b []byte) error    { return i.Add(b) }

// Create starts writing one file of JSON lines.
func (Format) Create(w io.Writer, spec format.WriteSpec) (format.Writer, error) {
	if err := record.CheckWritten(spec.Options); err != nil {
		return nil, err
	}
	o, err := options(spec.Options, spec.Location)
	if err != nil {
		return nil, err
	}
	enc, err := codec.NewEncoder(spec.Schema.Type(), o)
	if err != nil {
		return nil, err
	}
	return block.NewRowWriter(w, enc, spec.Options["compression"], o.LineSep)
}
