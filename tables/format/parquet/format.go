package parquet

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	pqformat "github.com/parquet-go/parquet-go/format"

	"pipelines/spec/option"
	"pipelines/tables/format"
	"pipelines/tables/schema"
)

// Name is the word users write.
const Name = "parquet"

// verifyOption is the option that turns page checksums off.
const verifyOption = "parquet.page.verify-checksum.enabled"

// Format is the Parquet format. It recycles buffers between files; make it
// with New.
type Format struct {
	pools *pools
}

// New returns the format.
func New() *Format { return &Format{pools: &pools{}} }

// Name is the word users write.
func (f *Format) Name() string { return Name }

// pools recycles the buffers of writers and the decompressors of scanners.
type pools struct {
	leaves sync.Pool
	spaces sync.Pool
	codecs sync.Pool
}

// workspace is what the leaves of a writer share.
type workspace struct {
	shred shredder
	maker pageMaker
}

func (p *pools) workspace(id pqformat.CompressionCodec) *workspace {
	w, ok := p.spaces.Get().(*workspace)
	if !ok {
		w = &workspace{maker: pageMaker{codec: &codec{}}}
	}
	w.maker.codec.id = id
	return w
}

func (p *pools) buffers() *leafBuffers {
	if b, ok := p.leaves.Get().(*leafBuffers); ok {
		return b
	}
	return &leafBuffers{}
}

func (p *pools) codec() *codec {
	if c, ok := p.codecs.Get().(*codec); ok {
		return c
	}
	return &codec{}
}

// put takes buffers back unless they grew large.
func (p *pools) put(b *leafBuffers) {
	if b.out.held() <= 16<<20 && cap(b.plain) <= 4<<20 {
		p.leaves.Put(b)
	}
}

// writeOptions are the decoded writer options.
type writeOptions struct {
	codec      pqformat.CompressionCodec
	groupBytes int64
	pools      *pools
}

// defaultGroupBytes bounds a row group before compression. Small groups keep the
// buffers in use small and warm; their cost is a few hundred bytes of footer.
const defaultGroupBytes = 24 << 20

// Create starts a file.
func (f *Format) Create(w io.Writer, spec format.WriteSpec) (format.Writer, error) {
	o := writeOptions{groupBytes: defaultGroupBytes, pools: f.pools}
	var err error
	if o.codec, err = codecNamed(spec.Options["compression"]); err != nil {
		return nil, err
	}
	if s := spec.Options["parquet.block.size"]; s != "" {
		if o.groupBytes, err = option.ParseBytes(s); err != nil || o.groupBytes <= 0 {
			return nil, fmt.Errorf("parquet: parquet.block.size %q is no positive number of bytes", s)
		}
	}
	out, err := newWriter(w, spec, o)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Fields declares the options.
func (f *Format) Fields() []option.Field {
	return []option.Field{
		{Name: "compression", Type: option.TypeEnum, Default: "snappy",
			Values: []string{"snappy", "zstd", "gzip", "none", "uncompressed"},
			Doc:    "Codec of the pages of written files."},
		{Name: "parquet.block.size", Type: option.TypeBytes, Default: "24m",
			Doc: "Size, before compression, at which a row group of a written file ends."},
		{Name: verifyOption, Type: option.TypeBool, Default: "true",
			Doc: "Check the checksums of pages that have one."},
		{Name: "mergeSchema", Type: option.TypeBool, Default: "false",
			Doc: "Infer the schema from all files instead of the first."},
		{Name: "datetimeRebaseMode", Type: option.TypeEnum, Default: "CORRECTED",
			Values: []string{"EXCEPTION", "CORRECTED", "LEGACY"},
			Doc:    "Calendar of dates before 1582-10-15 and timestamps before 1900 in files that do not name it: the Gregorian, the hybrid one of Spark 2, or an error."},
		{Name: "int96RebaseMode", Type: option.TypeEnum, Default: "CORRECTED",
			Values: []string{"EXCEPTION", "CORRECTED", "LEGACY"},
			Doc:    "The same for INT96 timestamps."},
	}
}

// Infer finds the schema of the files: that of the first, or with the option
// mergeSchema of all. Every column is nullable, as in Spark.
func (f *Format) Infer(_ context.Context, files []format.Input, spec format.ReadSpec) (schema.Schema, error) {
	var out schema.Schema
	for i, in := range files {
		if i > 0 && !strings.EqualFold(spec.Options["mergeschema"], "true") {
			break
		}
		s, err := inferFile(in)
		if err != nil {
			return out, err
		}
		if out, err = mergeSchema(out, s, spec.CaseSensitive); err != nil {
			return out, fmt.Errorf("parquet file %s: %w", in.Name, err)
		}
	}
	if len(files) == 0 {
		return out, fmt.Errorf("parquet: no file to infer a schema from")
	}
	return out, nil
}

func inferFile(in format.Input) (schema.Schema, error) {
	file, err := openFile(in)
	if err != nil {
		return schema.Schema{}, err
	}
	if file.root.err != nil {
		return schema.Schema{}, fmt.Errorf("parquet file %s: %w", in.Name, file.root.err)
	}
	for _, kv := range file.meta.KeyValueMetadata {
		if kv.Key != sparkSchemaKey {
			continue
		}
		// Spark's own schema knows comments, CHAR and VARCHAR; it counts when it
		// fits the file.
		if s, err := schema.ParseJSON(kv.Value); err == nil && readable(file, s) {
			return schema.Schema{Fields: nullable(s.Type()).Fields}, nil
		}
	}
	return schema.Schema{Fields: nullable(file.root.typ).Fields}, nil
}

// sparkSchemaKey names the schema in the metadata of Spark's files.
const sparkSchemaKey = "org.apache.spark.sql.parquet.row.metadata"

// readable reports whether the columns of the file can be read as s.
func readable(f *file, s schema.Schema) bool {
	r := resolver{f: f, caseSensitive: true}
	for _, c := range s.Fields {
		n, err := r.find(f.root, c.Name)
		if err != nil || n == nil {
			return false
		}
		if _, err := r.resolve(c.Type, n); err != nil {
			return false
		}
	}
	return len(s.Fields) == len(f.root.kids)
}

// nullable returns t with everything nullable inside (map keys excepted).
func nullable(t schema.Type) schema.Type {
	if t.Elem != nil {
		e := nullable(*t.Elem)
		t.Elem, t.ElemNullable = &e, true
	}
	if t.Key != nil {
		k := nullable(*t.Key)
		t.Key = &k
	}
	fields := t.Fields
	t.Fields = nil
	for _, f := range fields {
		f.Type, f.Nullable = nullable(f.Type), true
		t.Fields = append(t.Fields, f)
	}
	return t
}

// mergeSchema adds the columns of b that a lacks.
func mergeSchema(a, b schema.Schema, caseSensitive bool) (schema.Schema, error) {
	for _, f := range b.Fields {
		at := a.Index(f.Name)
		if at >= 0 && caseSensitive && a.Fields[at].Name != f.Name {
			at = slices.IndexFunc(a.Fields, func(g schema.Field) bool { return g.Name == f.Name })
		}
		if at < 0 {
			a.Fields = append(a.Fields, f)
			continue
		}
		g := &a.Fields[at]
		if g.Type.Kind == schema.Struct && f.Type.Kind == schema.Struct {
			in, err := mergeSchema(schema.Schema{Fields: g.Type.Fields}, schema.Schema{Fields: f.Type.Fields}, caseSensitive)
			if err != nil {
				return a, err
			}
			g.Type = in.Type()
			continue
		}
		if !g.Type.SameShape(f.Type) {
			return a, fmt.Errorf("[CANNOT_MERGE_SCHEMAS] column %s is %s here and %s in a file before", f.Name, f.Type, g.Type)
		}
	}
	return a, nil
}

// Open starts reading one file.
func (f *Format) Open(_ context.Context, in format.Input, spec format.ReadSpec) (format.Scanner, error) {
	file, err := openFile(in)
	if err != nil {
		return nil, err
	}
	if err := file.setCalendars(spec); err != nil {
		return nil, err
	}
	s, err := newScanner(file, spec, f.pools)
	if err != nil {
		return nil, err
	}
	return s, nil
}

var _ format.Format = (*Format)(nil)
