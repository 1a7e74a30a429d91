package main

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"golang.org/x/term"

	"pipelines/pipelines"
	"pipelines/pipelines/shell"
	"pipelines/spec/diag"
)

// lineReader is a terminal as the prompt needs it.
type lineReader interface {
	ReadLine() (string, error)
	SetPrompt(string)
}

// rawLines reads lines from a terminal, which is in raw mode only meanwhile:
// a running query can be interrupted.
type rawLines struct {
	*term.Terminal
	fd int
}

// ReadLine reads one line.
func (r rawLines) ReadLine() (line string, err error) {
	state, err := term.MakeRaw(r.fd)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, term.Restore(r.fd, state)) }()
	return r.Terminal.ReadLine()
}

// stdio is a terminal's two directions.
type stdio struct {
	io.Reader
	io.Writer
}

// interactive reads statements from the terminal until its end.
func (a *app) interactive(s *shell.Session, out *shell.Printer) error {
	t := term.NewTerminal(stdio{os.Stdin, a.stdout}, "")
	h := &history{path: historyPath()}
	h.load()
	t.History = h
	t.AutoCompleteCallback = func(line string, pos int, key rune) (string, int, bool) {
		if key != '\t' {
			return "", 0, false
		}
		return complete(line, pos, s.Words())
	}
	return a.prompt(rawLines{t, int(os.Stdin.Fd())}, s, out)
}

// prompt reads lines and runs each statement when its ";" is there.
func (a *app) prompt(in lineReader, s *shell.Session, out *shell.Printer) error {
	var text strings.Builder
	in.SetPrompt("sql> ")
	for {
		line, err := in.ReadLine()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return &pipelines.EnvironmentError{Err: err}
		}
		word := strings.ToLower(strings.TrimSuffix(strings.TrimSpace(line), ";"))
		if text.Len() == 0 && (word == "exit" || word == "quit") {
			return nil
		}
		text.WriteString(line + "\n")
		whole := text.String()
		if strings.TrimSpace(whole) == "" {
			text.Reset()
			continue
		}
		if !strings.HasSuffix(strings.TrimSpace(line), ";") {
			in.SetPrompt("  -> ")
			continue
		}
		text.Reset()
		in.SetPrompt("sql> ")
		_, stop, _, done := signals(true)
		err = a.statements(stop, s, diag.NewText("stdin", whole), out, true)
		done()
		signal.Reset(os.Interrupt, syscall.SIGTERM)
		a.code = exitOK // the person has seen it
		if err != nil {
			return err
		}
	}
}

// complete extends the word before pos as far as all words that start with it
// agree. Case is ignored, and kept low where the person writes low.
func complete(line string, pos int, words []string) (string, int, bool) {
	start := pos
	for start > 0 && (unicode.IsLetter(rune(line[start-1])) || unicode.IsDigit(rune(line[start-1])) || line[start-1] == '_') {
		start--
	}
	prefix := line[start:pos]
	if prefix == "" {
		return "", 0, false
	}
	found := ""
	for _, w := range words {
		switch {
		case len(w) < len(prefix) || !strings.EqualFold(w[:len(prefix)], prefix):
		case found == "":
			found = w
		default:
			found = common(found, w)
		}
	}
	if len(found) <= len(prefix) {
		return "", 0, false
	}
	if prefix == strings.ToLower(prefix) {
		found = strings.ToLower(found)
	}
	return line[:start] + found + line[pos:], start + len(found), true
}

func common(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && strings.EqualFold(a[n:n+1], b[n:n+1]) {
		n++
	}
	return a[:n]
}

// keepLines is how many lines the history file keeps.
const keepLines = 1000

// history is what was typed, newest last, kept in a file.
type history struct {
	path  string // "" keeps nothing
	lines []string
}

// historyPath is the file of the history, "" where there is no home.
func historyPath() string {
	dir := os.Getenv("XDG_STATE_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "pipelines", "sql_history")
}

// load reads the file; one that is missing or cannot be read is no history.
func (h *history) load() {
	text, err := os.ReadFile(h.path)
	if err != nil {
		return
	}
	h.lines = slices.Collect(strings.SplitSeq(strings.TrimSpace(string(text)), "\n"))
	h.lines = h.lines[max(0, len(h.lines)-keepLines):]
}

// Add notes a line. A history that cannot be written ends no session.
func (h *history) Add(line string) {
	if line = strings.TrimSpace(line); line == "" || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return
	}
	h.lines = append(h.lines, line)
	if h.path == "" || os.MkdirAll(filepath.Dir(h.path), 0o700) != nil {
		return
	}
	kept := h.lines[max(0, len(h.lines)-keepLines):]
	_ = os.WriteFile(h.path, []byte(strings.Join(kept, "\n")+"\n"), 0o600)
}

// Len is the number of lines.
func (h *history) Len() int { return len(h.lines) }

// At returns a line, 0 is the newest.
func (h *history) At(i int) string { return h.lines[len(h.lines)-1-i] }
