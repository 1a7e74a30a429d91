package spec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"pipelines/spec/diag"
)

// Limits of a document. They keep hostile and broken files from costing more
// than a moment.
const (
	maxBytes = 1 << 20
	maxDepth = 100
	maxNodes = 100_000
)

// newFile indexes the bytes of a YAML file, of a too large one only so many
// that its size is noticed. A byte order mark is dropped.
func newFile(name string, src []byte) *diag.File {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	return diag.NewFile(name, string(src[:min(len(src), maxBytes+1)]))
}

// readDocument parses the bytes of one YAML file into its root node; nil when
// there is none or something is wrong.
func readDocument(file *diag.File) (*yaml.Node, diag.List) {
	whole := diag.Span{File: file.Name, Start: file.Pos(0), End: file.Pos(0)}
	if len(file.Src) > maxBytes {
		return nil, diag.List{diag.AtSpan(file, whole, "DOCUMENT_TOO_LARGE", fmt.Sprintf("the file has more than %d bytes", maxBytes)).
			WithHint("split it into fragments that `libraries` names")}
	}
	if bad := firstInvalid(file.Src); bad >= 0 {
		return nil, diag.List{diag.AtSpan(file, spanOf(file, bad, bad+1), "INVALID_YAML", "the file is not UTF-8 text").
			WithHint("save it as UTF-8")}
	}
	node, more, err := decodeNodes(file.Src)
	switch {
	case err != nil:
		return nil, diag.List{syntaxError(file, err)}
	case more != nil:
		at := file.Offset(more.Line, more.Column)
		return nil, diag.List{diag.AtSpan(file, spanOf(file, at, lineEnd(file.Src, at)), "MULTIPLE_DOCUMENTS", "the file holds a second document after `---`").
			WithHint("put it into a file of its own that `libraries` names")}
	case node == nil || len(node.Content) == 0:
		return nil, nil
	}
	root := node.Content[0]
	if list := checkLimits(file, root); list != nil {
		return nil, list
	}
	return root, nil
}

// decodeNodes reads the first document and looks whether there is a second.
// The library panics on some broken input; that is a syntax error here.
func decodeNodes(src string) (node, more *yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			node, more, err = nil, nil, fmt.Errorf("yaml: %v", p)
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader([]byte(src)))
	var first, second yaml.Node
	if err := dec.Decode(&first); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil, nil
		}
		return nil, nil, err
	}
	switch err := dec.Decode(&second); {
	case errors.Is(err, io.EOF):
		return &first, nil, nil
	case err != nil:
		return nil, nil, err
	}
	return &first, &second, nil
}

func firstInvalid(src string) int {
	if utf8.ValidString(src) && strings.IndexByte(src, 0) < 0 {
		return -1
	}
	for i, r := range src {
		if r == 0 {
			return i
		}
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(src[i:]); n == 1 {
				return i
			}
		}
	}
	return 0
}

var syntaxLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?(.*)$`)

// syntaxError turns the library's message (a line at most) into a diagnostic.
func syntaxError(file *diag.File, err error) diag.Diagnostic {
	msg, line := err.Error(), 1
	if m := syntaxLine.FindStringSubmatch(strings.ReplaceAll(msg, "\n", " ")); m != nil {
		msg = m[2]
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = n
		}
	}
	line = brokenLine(file, line)
	text := file.Line(line)
	start := file.Offset(line, 1)
	from := start + len(text) - len(strings.TrimLeft(text, " \t"))
	d := diag.AtSpan(file, spanOf(file, from, start+len(text)), "INVALID_YAML", "invalid YAML: "+msg)
	return d.WithHint(syntaxHint(msg, text, file.Line(line-1)))
}

// brokenLine finds the line with the fault. The library often names the line
// where the surrounding thing starts, so the document is read up to each line
// from there on: the fault is in the line behind the last prefix that is well.
func brokenLine(file *diag.File, named int) int {
	budget := 4 << 20 // bytes to read at most
	last := 0
	for line := max(1, named-1); ; line++ {
		if budget < 0 {
			return named
		}
		end := file.Offset(line+1, 1)
		budget -= end + 1000
		if _, _, err := decodeNodes(file.Src[:end]); err == nil {
			last = line
		}
		if end >= len(file.Src) {
			break
		}
	}
	if last == 0 {
		last = named - 1
	}
	line := last + 1
	for t := strings.TrimSpace(file.Line(line)); (t == "" || t[0] == '#') && file.Offset(line+1, 1) < len(file.Src); t = strings.TrimSpace(file.Line(line)) {
		line++
	}
	if strings.TrimSpace(file.Line(line)) == "" {
		line = named
	}
	return line
}

func syntaxHint(msg, line, before string) string {
	switch {
	case strings.Contains(line, "\t") && strings.Contains(msg, "cannot start any token"):
		return "indent with blanks, not with tabs"
	case strings.Contains(msg, "mapping values are not allowed"):
		return "write text that holds `: ` in quotes, or as a block after `|`"
	case strings.Contains(msg, "cannot start any token"):
		return "write text that starts with a special character in quotes, or as a block after `|`"
	case strings.Contains(line, " #") || strings.Contains(before, " #"):
		return "` #` starts a comment: write such text in quotes, or as a block after `|`"
	case strings.ContainsAny(line, "{["):
		return "write text with brackets or commas inside `{…}` or `[…]` in quotes"
	}
	return ""
}

// checkLimits walks the tree with its aliases followed. An alias that contains
// itself runs into the depth limit, a bomb of aliases into the node limit.
func checkLimits(file *diag.File, root *yaml.Node) diag.List {
	count := 0
	var found diag.List
	var visit func(n *yaml.Node, depth int) bool
	visit = func(n *yaml.Node, depth int) bool {
		count++
		limit := ""
		switch {
		case depth > maxDepth:
			limit = fmt.Sprintf("the document is nested deeper than %d levels", maxDepth)
		case count > maxNodes:
			limit = fmt.Sprintf("the document has more than %d values, aliases followed", maxNodes)
		}
		if limit != "" {
			at := file.Offset(n.Line, n.Column)
			found = diag.List{diag.AtSpan(file, spanOf(file, at, min(at+1, len(file.Src))), "DOCUMENT_TOO_LARGE", limit)}
			return false
		}
		if n.Kind == yaml.AliasNode {
			return n.Alias != nil && visit(n.Alias, depth+1)
		}
		for _, c := range n.Content {
			if !visit(c, depth+1) {
				return false
			}
		}
		return true
	}
	visit(root, 1)
	return found
}

func spanOf(file *diag.File, start, end int) diag.Span {
	return diag.Span{File: file.Name, Start: file.Pos(start), End: file.Pos(max(start, end))}
}
