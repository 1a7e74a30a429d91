package fault

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"pipelines/stores"
)

// ErrCrashed is returned by every call after a crash that did not end the
// process.
var ErrCrashed = errors.New("crashed (fault script)")

type action uint8

const (
	actNone action = iota
	actError
	actAfter
	actFull
	actWait
	actTorn
	actCrash
	actCrashAfter
)

var actionNames = map[string]action{
	"error": actError, "after": actAfter, "full": actFull, "wait": actWait, "torn": actTorn, "crash": actCrash, "crash-after": actCrashAfter,
}

var storeOps = []string{"get", "open", "read", "stat", "list", "put", "absent", "create", "write", "commit", "delete"}

type rule struct {
	text              string
	when              []string
	key               string // "" any
	nth, from, every  int
	act               action
	class             stores.Class
	message           string
	wait              time.Duration
	bytes             int
	seen, acted, line int
}

// Script is a parsed fault script with its counters. It is safe for concurrent
// use.
type Script struct {
	// Crash ends the process, or returns to play the crash; nil returns. Set
	// it before use.
	Crash func(where string)

	mu      sync.Mutex // guards all below
	rules   []*rule
	crashed bool
}

// Parse reads a script.
func Parse(text string) (*Script, error) {
	s := &Script{}
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		r, err := parseRule(line)
		if err != nil {
			return nil, fmt.Errorf("fault script line %d: %w", i+1, err)
		}
		r.line = i + 1
		s.rules = append(s.rules, r)
	}
	return s, nil
}

// MustParse is Parse for tests.
func MustParse(text string) *Script {
	s, err := Parse(text)
	if err != nil {
		panic(err)
	}
	return s
}

func parseRule(line string) (*rule, error) {
	left, right, ok := strings.Cut(line, " : ")
	if !ok {
		return nil, fmt.Errorf("%q has no ' : '", line)
	}
	r := &rule{text: line}
	words := strings.Fields(left)
	if len(words) == 0 || len(words)%2 == 0 {
		return nil, fmt.Errorf("%q: want WHEN [key GLOB] [nth N | from N | every N]", left)
	}
	r.when = strings.Split(words[0], ",")
	for i := 1; i < len(words); i += 2 {
		if words[i] == "key" {
			r.key = words[i+1]
			continue
		}
		n, err := strconv.Atoi(words[i+1])
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is not a count from 1", words[i+1])
		}
		switch words[i] {
		case "nth":
			r.nth = n
		case "from":
			r.from = n
		case "every":
			r.every = n
		default:
			return nil, fmt.Errorf("unknown word %q", words[i])
		}
	}
	return r, r.parseAction(strings.Fields(right))
}

func (r *rule) parseAction(words []string) error {
	if len(words) == 0 {
		return errors.New("no action")
	}
	var ok bool
	if r.act, ok = actionNames[words[0]]; !ok {
		return fmt.Errorf("unknown action %q", words[0])
	}
	rest := words[1:]
	var err error
	switch r.act {
	case actError, actAfter:
		if len(rest) > 0 {
			if class := slices.Index([]string{"permanent", "retryable", "corrupt"}, rest[0]); class >= 0 {
				r.class, rest = stores.Class(class), rest[1:]
			}
		}
		r.message = strings.Join(rest, " ")
		return nil
	case actWait:
		if len(rest) == 1 {
			r.wait, err = time.ParseDuration(rest[0])
			return err
		}
	case actTorn:
		if len(rest) == 1 {
			r.bytes, err = strconv.Atoi(rest[0])
			return err
		}
	default:
		if len(rest) == 0 {
			return nil
		}
	}
	return fmt.Errorf("wrong words after %s", words[0])
}

// decide counts the call in every rule that matches it and returns the first
// rule that acts.
func (s *Script) decide(op, key string) (*rule, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.crashed {
		return nil, ErrCrashed
	}
	var first *rule
	for _, r := range s.rules {
		if !r.matches(op, key) {
			continue
		}
		r.seen++
		if first == nil && r.due() {
			r.acted++
			first = r
		}
	}
	return first, nil
}

func (r *rule) matches(op, key string) bool {
	if !slices.Contains(r.when, op) && !(slices.Contains(r.when, "*") && slices.Contains(storeOps, op)) {
		return false
	}
	return r.key == "" || glob(r.key, key)
}

func (r *rule) due() bool {
	switch {
	case r.nth > 0:
		return r.seen == r.nth
	case r.from > 0:
		return r.seen >= r.from
	case r.every > 0:
		return r.seen%r.every == 0
	}
	return true
}

// glob matches '*' against any text and the rest literally.
func glob(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(text) < len(first)+len(last) || !strings.HasPrefix(text, first) || !strings.HasSuffix(text, last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(text, p)
		if i < 0 {
			return false
		}
		text = text[i+len(p):]
	}
	return true
}

// crash plays the crash of rule r.
func (s *Script) crash(r *rule, op, key string) error {
	s.mu.Lock()
	s.crashed = true
	s.mu.Unlock()
	if s.Crash != nil {
		s.Crash(strings.TrimSpace(op + " " + key))
	}
	return fmt.Errorf("%s: %w", r.text, ErrCrashed)
}

// before does what rule r asks for before the call; skip says that the call
// must not be done.
func (s *Script) before(r *rule, op, key string) (skip bool, err error) {
	if r == nil {
		return false, nil
	}
	switch r.act {
	case actError:
		return true, r.failure(op, key)
	case actFull:
		return true, fmt.Errorf("%s %s: %w (fault script)", op, key, stores.ErrFull)
	case actWait:
		time.Sleep(r.wait)
	case actCrash:
		return true, s.crash(r, op, key)
	}
	return false, nil
}

// after does what rule r asks for after the call.
func (s *Script) after(r *rule, op, key string, err error) error {
	if r == nil {
		return err
	}
	switch r.act {
	case actAfter:
		return r.failure(op, key)
	case actCrashAfter:
		return s.crash(r, op, key)
	}
	return err
}

func (r *rule) failure(op, key string) error {
	text := r.message
	if text == "" {
		text = "fault script"
	}
	return &stores.ClassError{Class: r.class, Err: fmt.Errorf("%s %s: %s", op, key, text)}
}

// At announces a named crash point; the program goes on when it returns nil.
func (s *Script) At(point string) error {
	if s == nil {
		return nil
	}
	r, err := s.decide(point, "")
	if err != nil {
		return err
	}
	if skip, err := s.before(r, point, ""); skip {
		return err
	}
	return s.after(r, point, "", nil)
}

// Crashed reports whether a crash was played.
func (s *Script) Crashed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.crashed
}

// Idle returns the rules that never acted: a test that relies on a fault
// checks that it came.
func (s *Script) Idle() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, r := range s.rules {
		if r.acted == 0 {
			out = append(out, r.text)
		}
	}
	return out
}
