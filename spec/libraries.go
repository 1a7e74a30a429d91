package spec

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"pipelines/spec/diag"
)

// libraries reads the files that the patterns of `libraries` name, each once.
func (b *builder) libraries() {
	seen := map[string]bool{}
	for _, l := range b.p.Libraries {
		for _, file := range b.match(l) {
			if !seen[file] {
				seen[file] = true
				b.definitions(l, file)
			}
		}
	}
}

func (b *builder) libraryFault(l *Library, code diag.Code, msg string) diag.Diagnostic {
	return diag.AtSpan(b.p.File, l.Include.Span, code, msg)
}

// match lists the files of a pattern, relative to the project folder, sorted.
func (b *builder) match(l *Library) []string {
	pattern := path.Clean(filepath.ToSlash(l.Include.Value))
	if _, err := path.Match(pattern, ""); err != nil {
		b.list = append(b.list, b.libraryFault(l, "PIPELINE_SPEC_INVALID_GLOB_PATTERN", "the pattern cannot be read: brackets do not match"))
		return nil
	}
	root, rest := fixedPart(pattern)
	if b.p.Form == Spark && (rest != "" && rest != "**" || root == "." || strings.HasSuffix(l.Include.Value, "**/")) {
		b.list = append(b.list, b.libraryFault(l, "PIPELINE_SPEC_INVALID_GLOB_PATTERN", "Spark takes a file, or a folder followed by `/**`").
			WithHint("write folder/**"))
		return nil
	}
	st, err := os.Stat(b.p.Path(root))
	switch {
	case err != nil && rest == "":
		b.list = append(b.list, b.libraryFault(l, "LIBRARY_NOT_FOUND", "the file "+root+": "+reason(err)))
		return nil
	case err == nil && rest == "" && !st.IsDir():
		return []string{root}
	case err == nil && rest == "" && b.p.Form == Native:
		rest = "**"
	}
	var files []string
	if err == nil && rest != "" {
		files = b.walk(l, root, rest)
	}
	if len(files) == 0 {
		b.list = append(b.list, b.libraryFault(l, "LIBRARY_NOT_FOUND", "the pattern finds no file").Warn().
			WithHint("write folder/** for all files below a folder"))
	}
	return files
}

// fixedPart splits a pattern into the folders without wildcards and the rest.
func fixedPart(pattern string) (root, rest string) {
	parts := strings.Split(pattern, "/")
	n := 0
	for n < len(parts) && !strings.ContainsAny(parts[n], "*?[") {
		n++
	}
	root, rest = strings.Join(parts[:n], "/"), strings.Join(parts[n:], "/")
	switch {
	case root == "" && strings.HasPrefix(pattern, "/"):
		root = "/"
	case root == "":
		root = "."
	}
	return root, rest
}

func (b *builder) walk(l *Library, root, pattern string) []string {
	var files []string
	base, storage := b.p.Path(root), b.p.StorageDir()
	err := filepath.WalkDir(base, func(at string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := b.p.Form == Native && strings.HasPrefix(e.Name(), ".") && at != base
		switch {
		case e.IsDir() && (e.Name() == "__pycache__" || hidden || at == storage):
			return fs.SkipDir
		case e.IsDir() || hidden:
			return nil
		}
		rel, err := filepath.Rel(base, at)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if file := path.Join(root, rel); matchParts(strings.Split(pattern, "/"), strings.Split(rel, "/")) && !b.isOwn(file) {
			files = append(files, file)
		}
		return nil
	})
	if err != nil {
		b.list = append(b.list, b.libraryFault(l, "LIBRARY_NOT_FOUND", "the folder "+root+": "+reason(err)))
	}
	return files
}

// matchParts matches a path with a pattern in which ** stands for any number
// of folders; at the end it stands for everything below.
func matchParts(pattern, parts []string) bool {
	if len(pattern) == 0 {
		return len(parts) == 0
	}
	if pattern[0] == "**" {
		if len(pattern) == 1 {
			return len(parts) > 0
		}
		for i := range parts {
			if matchParts(pattern[1:], parts[i:]) {
				return true
			}
		}
		return false
	}
	if len(parts) == 0 {
		return false
	}
	ok, err := path.Match(pattern[0], parts[0])
	return err == nil && ok && matchParts(pattern[1:], parts[1:])
}

// isOwn reports whether a file has another place in a project: the document
// itself, tests, pinned schemas.
func (b *builder) isOwn(file string) bool {
	base := path.Base(file)
	switch {
	case b.p.Form == Spark:
		return false
	case base == "schemas.lock.yml", strings.HasSuffix(base, "_test.yml"), strings.HasSuffix(base, "_test.yaml"):
		return true
	}
	return filepath.Join(b.shown, file) == filepath.Clean(b.p.File.Name)
}

// definitions takes one file of the libraries by its kind.
func (b *builder) definitions(l *Library, file string) {
	switch ext := path.Ext(file); {
	case ext == ".sql":
		text, err := b.readSQL(file)
		if err != nil {
			b.list = append(b.list, b.libraryFault(l, "LIBRARY_NOT_FOUND", "the file "+file+": "+reason(err)))
			return
		}
		b.p.SQLFiles = append(b.p.SQLFiles, &SQLFile{Path: file, Text: text})
	case (ext == ".yml" || ext == ".yaml") && b.p.Form == Native:
		b.fragment(l, file)
	case ext == ".py":
		b.list = append(b.list, b.libraryFault(l, "PYTHON_DEFINITIONS_NOT_SUPPORTED", file+" defines datasets in Python, which needs Spark itself").
			WithHint("hand the project over to Spark (`pipelines run --engine spark`, not available yet), or write these datasets in YAML or SQL"))
	default:
		b.list = append(b.list, b.libraryFault(l, "PIPELINE_UNSUPPORTED_DEFINITIONS_FILE_EXTENSION", file+" is neither a .sql nor a .yml file").
			WithHint("narrow the pattern, for example to *.sql"))
	}
}

// fragment merges a YAML fragment.
func (b *builder) fragment(l *Library, file string) {
	src, err := readLimited(b.p.Path(file), maxBytes+4)
	if err != nil {
		b.list = append(b.list, b.libraryFault(l, "LIBRARY_NOT_FOUND", "the file "+file+": "+reason(err)))
		return
	}
	w := b.walker(newFile(b.show(file), src))
	root, list := readDocument(w.file)
	b.list = append(b.list, list...)
	if root == nil {
		return
	}
	if r := w.record(fragmentObject, root); r != nil {
		w.sections(b.p, r)
	}
	b.list = append(b.list, w.list...)
}
