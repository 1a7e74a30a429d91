package spec

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"pipelines/spec/diag"
)

// documentNames are the file names of a document, in order of preference; of
// each pair only one may be in a folder.
var documentNames = [][2]string{{"pipeline.yml", "pipeline.yaml"}, {"spark-pipeline.yml", "spark-pipeline.yaml"}}

// maxSQLBytes bounds one SQL file.
const maxSQLBytes = 16 << 20

// Find returns the document in dir or its nearest parent that has one.
func Find(dir string) (string, diag.List) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", notFound(dir, err.Error())
	}
	for at, shown := abs, dir; ; {
		if path, list := inFolder(shown); path != "" || list != nil {
			return path, list
		}
		parent := filepath.Dir(at)
		if parent == at {
			return "", notFound(dir, "no pipeline.yml or spark-pipeline.yml in this folder or one above")
		}
		at, shown = parent, filepath.Join(shown, "..")
	}
}

func notFound(path, msg string) diag.List {
	d := diag.AtSpan(nil, diag.Span{File: path}, "PIPELINE_SPEC_FILE_NOT_FOUND", msg)
	return diag.List{d.WithHint("name the document with --spec, or make a project with `pipelines init NAME`")}
}

// inFolder looks for a document in one folder.
func inFolder(dir string) (string, diag.List) {
	for _, pair := range documentNames {
		found := ""
		for _, name := range pair {
			path := filepath.Join(dir, name)
			if st, err := os.Stat(path); err != nil || st.IsDir() {
				continue
			}
			if found != "" {
				return "", diag.List{diag.AtSpan(nil, diag.Span{File: path}, "MULTIPLE_PIPELINE_SPEC_FILES_FOUND",
					"the folder holds both "+pair[0]+" and "+pair[1]).WithHint("remove one of them")}
			}
			found = path
		}
		if found != "" {
			return found, nil
		}
	}
	return "", nil
}

// Load reads a project: the document at path with all that it names. An empty
// path means the nearest document above the current folder; a folder means the
// document in it. The pipeline is nil only if no document was found or an
// error is returned, which means that a file cannot be read.
func Load(path string, opts Options) (*Pipeline, diag.List, error) {
	path, list := locate(path)
	if path == "" {
		return nil, list, nil
	}
	src, err := readLimited(path, maxBytes+4)
	if err != nil {
		return nil, nil, fmt.Errorf("read the pipeline document: %w", err)
	}
	b := newBuilder(path, src, opts)
	if b.p.Dir, err = filepath.Abs(filepath.Dir(path)); err != nil {
		return nil, nil, fmt.Errorf("find the project folder: %w", err)
	}
	b.shown = filepath.Dir(path)
	b.main()
	b.libraries()
	b.sqlFiles()
	b.checkNames()
	if err := b.lock(); err != nil {
		return nil, nil, err
	}
	return b.p, b.finish(), nil
}

func locate(path string) (string, diag.List) {
	if path == "" {
		return Find(".")
	}
	st, err := os.Stat(path)
	switch {
	case err != nil && errors.Is(err, fs.ErrNotExist):
		return "", diag.List{diag.AtSpan(nil, diag.Span{File: path}, "PIPELINE_SPEC_FILE_DOES_NOT_EXIST", "the file does not exist")}
	case err == nil && st.IsDir():
		found, list := inFolder(path)
		if found == "" && list == nil {
			list = notFound(path, "the folder holds no pipeline.yml or spark-pipeline.yml")
		}
		return found, list
	}
	return path, nil
}

// readLimited reads at most limit bytes of a file.
func readLimited(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("it is a folder")}
	}
	return io.ReadAll(io.LimitReader(f, limit))
}

// Path returns an absolute path for one of the document's paths, which are
// relative to the project folder. A file: URI becomes its path.
func (p *Pipeline) Path(path string) string {
	if rest, ok := strings.CutPrefix(path, "file:"); ok {
		path = "/" + strings.TrimLeft(rest, "/")
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(p.Dir, path)
}

// StorageDir returns the absolute folder of the storage.
func (p *Pipeline) StorageDir() string { return p.Path(p.Storage.Value) }

// CheckpointDir returns the absolute folder of the checkpoints.
func (p *Pipeline) CheckpointDir() string {
	if p.Checkpoints.IsSet() {
		return p.Path(p.Checkpoints.Value)
	}
	return filepath.Join(p.StorageDir(), "checkpoints")
}

// sqlFiles reads the files that sql_file names.
func (b *builder) sqlFiles() {
	for _, d := range b.p.Datasets {
		if !d.SQLFile.IsSet() || d.SQL != nil {
			continue
		}
		text, err := b.readSQL(d.SQLFile.Value)
		if err != nil {
			d.Faulty = true
			b.list = append(b.list, diag.AtSpan(d.File, d.SQLFile.Span, "SQL_FILE_NOT_FOUND", "the file "+d.SQLFile.Value+": "+reason(err)))
			continue
		}
		d.SQL = text
	}
}

// reason cuts the path off an error of the file system.
func reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

// readSQL reads one SQL file and replaces ${key} in it.
func (b *builder) readSQL(path string) (*diag.Text, error) {
	src, err := readLimited(b.p.Path(path), maxSQLBytes+1)
	switch {
	case err != nil:
		return nil, err
	case len(src) > maxSQLBytes:
		return nil, fmt.Errorf("it has more than %d bytes", maxSQLBytes)
	}
	body := strings.TrimPrefix(string(src), "\ufeff")
	file := diag.NewFile(b.show(path), body)
	if bad := firstInvalid(body); bad >= 0 {
		return nil, fmt.Errorf("it is not UTF-8 text (line %d)", file.Pos(bad).Line)
	}
	if len(references(body)) == 0 {
		return diag.NewText(file.Name, body), nil
	}
	w := &walker{file: file, form: b.p.Form, conf: b.conf}
	m, _ := w.substitute(mapped{body: body, segments: []diag.Segment{{}}, end: len(body)}, false)
	b.list = append(b.list, w.list...)
	return diag.NewSubstituted(file, m.body, m.segments), nil
}

// show returns the name of a project file in places.
func (b *builder) show(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(b.shown, path)
}
