package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pipelines/runtime/connector"
	"pipelines/spec/option"
	"pipelines/stores"
	"pipelines/tables/codec/record"
	"pipelines/tables/format"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// Fields are the options of every file source, beside those of its format.
func Fields() []option.Field {
	return []option.Field{
		{Name: "maxFilesPerTrigger", Type: option.TypeInt, Min: 1, Doc: "at most this many new files an epoch"},
		{Name: "maxBytesPerTrigger", Type: option.TypeBytes, Min: 1, Doc: "take new files until their sum passes this; at least one"},
		{Name: "latestFirst", Type: option.TypeBool, Default: "false", Doc: "take the newest files first"},
		{Name: "maxFileAge", Type: option.TypeDuration, Default: "7d", Doc: "leave out files that much older than the newest one seen; one whose time is ahead of the clock does not count"},
		{Name: "fileNameOnly", Type: option.TypeBool, Default: "false", Doc: "tell files apart by their own name instead of the path"},
		{Name: "allowOverwrites", Aliases: []string{"cloudFiles.allowOverwrites"}, Type: option.TypeBool, Default: "false", Doc: "read a file again, whole, when its size, time or node changed after it was read: its rows come again; each look at the folder then looks at every file"},
		{Name: "pathGlobFilter", Type: option.TypeString, Doc: "take only files whose own name matches this glob", Check: checkGlob},
		{Name: "recursiveFileLookup", Type: option.TypeBool, Default: "false", Doc: "look into all sub-folders; no partition columns then"},
		{Name: "ignoreMissingFiles", Type: option.TypeBool, Default: "false", Doc: "skip files that vanish before they are read"},
		{Name: "modifiedAfter", Type: option.TypeString, Doc: "batch reads: only files changed after this time", Check: isTime},
		{Name: "modifiedBefore", Type: option.TypeString, Doc: "batch reads: only files changed before this time", Check: isTime},
		{Name: "basePath", Type: option.TypeString, Doc: "where partition folders start", Later: true},
		{Name: "cleanSource", Type: option.TypeEnum, Values: []string{"off", "archive", "delete"}, Default: "off", Doc: "what happens to files once their rows are committed; the source may have one reader then"},
		{Name: "sourceArchiveDir", Type: option.TypeString, Doc: "cleanSource archive: where files go, under their full path; on the same disk, outside of the source's folder"},
		{Name: "ignoreCorruptFiles", Type: option.TypeBool, Default: "false", Doc: "skip files that cannot be read", Check: onlyFalse},
	}
}

func onlyFalse(s string) error {
	if strings.EqualFold(s, "false") {
		return nil
	}
	return errors.New("only false is available yet: a damaged file is an error")
}

// Factory makes file sources of one format. open gives read access to a folder.
func Factory(f format.Format, open func(root string) (stores.Reader, error)) connector.SourceFactory {
	fields := Fields()
	for _, own := range f.Fields() {
		fields = slices.DeleteFunc(fields, func(x option.Field) bool { return strings.EqualFold(x.Name, own.Name) })
		fields = append(fields, own)
	}
	return connector.SourceFactory{
		Name: f.Name(), Fields: fields, NeedsPath: true, Metadata: MetadataFields(),
		Check:  func(texts map[string]string) (string, error) { return checkOptions(f, texts) },
		Within: listed,
		Open: func(ctx context.Context, c connector.SourceConfig) (connector.Opened, error) {
			o, err := configure(f, open, c)
			if err != nil {
				return connector.Opened{}, err
			}
			if err := o.resolveSchema(ctx, c); err != nil {
				return connector.Opened{}, err
			}
			s := New(o)
			return connector.Opened{Schema: o.Schema(), Stream: s, Table: s, Columnless: c.Schema == nil && len(o.Data.Fields) == 0}, nil
		},
	}
}

// checkOptions asks a format what it says of its options.
func checkOptions(f format.Format, texts map[string]string) (name string, err error) {
	if c, ok := f.(format.OptionChecker); ok {
		err = c.CheckOptions(texts)
	}
	if e, ok := errors.AsType[*record.OptionError](err); ok {
		return e.Option, fmt.Errorf("%q %s", e.Value, e.Reason)
	}
	return "", err
}

func configure(f format.Format, open func(root string) (stores.Reader, error), c connector.SourceConfig) (Options, error) {
	v := c.Options
	o := Options{
		Format: f, Declared: c.Declared, FormatOptions: c.Texts, MaxFiles: int(v.Int("maxFilesPerTrigger")), MaxBytes: v.Int("maxBytesPerTrigger"),
		LatestFirst: v.Bool("latestFirst"), MaxFileAge: v.Duration("maxFileAge"), NameOnly: v.Bool("fileNameOnly"),
		Name: c.Name, NewColumns: c.NewColumns, CaseSensitive: c.CaseSensitive, Location: c.Location,
		NameGlob: v.String("pathGlobFilter"), Recursive: v.Bool("recursiveFileLookup"), IgnoreMissing: v.Bool("ignoreMissingFiles"), Overwrites: v.Bool("allowOverwrites"),
	}
	_, enforced := c.Texts["enforceschema"]
	o.ByName = c.ByName && !enforced
	var err error
	if o.After, err = bound(v, "modifiedAfter", c.Location); err != nil {
		return o, err
	}
	if o.Before, err = bound(v, "modifiedBefore", c.Location); err != nil {
		return o, err
	}
	if err := o.place(c.Path); err != nil {
		return o, err
	}
	if err := o.checkClean(c); err != nil {
		return o, err
	}
	o.Store, err = open(o.Root)
	return o, err
}

func bound(v *option.Values, name string, loc *time.Location) (time.Time, error) {
	s := v.String(name)
	if s == "" {
		return time.Time{}, nil
	}
	us, ok := text.ParseTimestamp([]byte(s), text.NewZone(loc))
	if !ok {
		return time.Time{}, fmt.Errorf("option %s: %w, not %q", name, errNoTime, s)
	}
	return time.UnixMicro(us), nil
}

var errNoTime = errors.New("a time such as 2026-01-02T03:04:05 is wanted")

// isTime refuses what is no timestamp in any zone.
func isTime(s string) error {
	if _, ok := text.ParseTimestamp([]byte(s), text.UTC); !ok && s != "" {
		return errNoTime
	}
	return nil
}

// listed looks at paths only.
func listed(c connector.SourceConfig, file string) (key string, taken bool) {
	o := Options{NameGlob: c.Options.String("pathGlobFilter"), Recursive: c.Options.Bool("recursiveFileLookup"), Root: filepath.Clean(c.Path)}
	if root, pattern := cutPattern(c.Path); pattern != "" {
		o.Root, o.Pattern = filepath.Clean(root), pattern
	}
	key, err := filepath.Rel(o.Root, file)
	if err != nil || key == "." || key == ".." || strings.HasPrefix(key, ".."+string(filepath.Separator)) {
		return "", false
	}
	key = filepath.ToSlash(key)
	return key, o.selects(key)
}

// cutPattern splits a glob off at its first folder with a wildcard.
func cutPattern(path string) (root, pattern string) {
	i := strings.IndexAny(path, "*?[{")
	if i < 0 {
		return path, ""
	}
	root = path[:strings.LastIndexByte(path[:i], '/')+1]
	return root, path[len(root):]
}

// place splits a path into root and pattern, or root and single file.
func (o *Options) place(path string) error {
	if root, pattern := cutPattern(path); pattern != "" {
		if _, err := os.Stat(root); err != nil {
			return &connector.PathError{Path: path}
		}
		o.Root, o.Pattern = filepath.Clean(root), pattern
		return nil
	}
	st, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return &connector.PathError{Path: path}
	}
	if err != nil {
		return fmt.Errorf("look at %s: %w", path, err)
	}
	if st.IsDir() {
		o.Root = filepath.Clean(path)
		return nil
	}
	o.Root, o.Single = filepath.Dir(path), filepath.Base(path)
	return nil
}

// resolveSchema splits the declared schema into data and partition columns, or
// infers both.
func (o *Options) resolveSchema(ctx context.Context, c connector.SourceConfig) error {
	var keys []string
	// Without folders there are no partitions; a listing only to learn that costs
	// as much as the one that finds new files.
	if o.Single == "" && !o.Recursive && !noSubfolders(o.Root) {
		err := o.names(ctx, nil, func(key string) bool {
			if c.Schema == nil || strings.Contains(key, "=") {
				keys = append(keys, key)
			}
			return true
		})
		if err != nil && !errors.Is(err, stores.ErrNotExist) {
			return fmt.Errorf("list %s: %w", o.Root, err)
		}
	}
	o.Partition = InferPartitions(keys)
	if c.Schema != nil {
		o.split(*c.Schema)
		return nil
	}
	splits, _, err := New(*o).whole(ctx, func(string) error { return nil })
	if err != nil {
		return err
	}
	if len(splits) == 0 {
		return fmt.Errorf("[UNABLE_TO_INFER_SCHEMA] %s holds no files, so its schema cannot be inferred; declare it with schema", o.Root)
	}
	found, err := o.infer(ctx, splits, o.FormatOptions)
	if err != nil {
		return err
	}
	o.split(found)
	return nil
}

// infer finds the schema inside the files.
func (o *Options) infer(ctx context.Context, splits []connector.Split, options map[string]string) (schema.Schema, error) {
	var ins []format.Input
	for _, s := range splits {
		f := s.Data.(file)
		obj, err := o.Store.Open(ctx, f.key)
		if err != nil {
			return schema.Schema{}, fmt.Errorf("open %s: %w", s.Name, err)
		}
		ins = append(ins, format.Input{Name: s.Name, Object: obj, ModTime: time.UnixMicro(f.mtime)})
	}
	found, err := o.Format.Infer(ctx, ins, format.ReadSpec{Options: options, Location: o.Location, CaseSensitive: o.CaseSensitive})
	for _, in := range ins {
		if cerr := in.Object.Close(); cerr != nil && !errors.Is(cerr, os.ErrClosed) {
			err = errors.Join(err, cerr) // a format may have closed it already
		}
	}
	if err != nil {
		return found, fmt.Errorf("infer the schema of %s: %w", o.Root, err)
	}
	return found, nil
}

// split takes partition columns out of the file's schema; a declared type wins
// over the inferred one.
func (o *Options) split(s schema.Schema) {
	for _, f := range s.Fields {
		i := slices.IndexFunc(o.Partition, func(p schema.Field) bool { return strings.EqualFold(p.Name, f.Name) })
		if i >= 0 {
			o.Partition[i].Type = f.Type
			continue
		}
		f.Nullable = true
		o.Data.Fields = append(o.Data.Fields, f)
	}
}
