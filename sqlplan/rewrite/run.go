package rewrite

import (
	"strings"

	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
)

// Options steer the rewriting.
type Options struct {
	Session *funcs.Session
	// Off switches rules off by name.
	Off map[string]bool
	// FirstID is the first column id that is free.
	FirstID logical.ColumnID
	// Trace is called after each rule; a caller that wants timing reads its
	// clock there.
	Trace func(rule string, before, after logical.Node)
	// Facts is what is known of the data, for Refine.
	Facts logical.Facts
}

// ExcludedRules is the setting that names rules, with commas between them,
// which are not to run.
const ExcludedRules = "spark.sql.optimizer.excludedRules"

// Context is what a rule may use.
type Context struct {
	Session *funcs.Session
	facts   logical.Facts
	next    logical.ColumnID
	commons int // common expressions so far
}

// id returns a fresh column id.
func (c *Context) id() logical.ColumnID {
	c.next++
	return c.next - 1
}

// Run applies the rules in order, but for the late ones. The error is an
// *Unsupported.
func Run(n logical.Node, opts Options) (out logical.Node, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *Unsupported:
			err = p
		default:
			panic(p)
		}
	}()
	return apply(&Context{Session: opts.Session, next: opts.FirstID}, n, opts, false), nil
}

// Refine applies the late rules to what Run has made, for the data that
// opts.Facts describes.
func Refine(n logical.Node, opts Options) logical.Node {
	return apply(&Context{Session: opts.Session, facts: opts.Facts}, n, opts, true)
}

func apply(c *Context, n logical.Node, opts Options, late bool) logical.Node {
	excluded := excludedRules(opts.Session)
	for _, r := range rules {
		if r.Late != late || (opts.Off[r.Name] || excluded[r.Name]) && !r.Needed {
			continue
		}
		before := n
		n = r.Apply(c, n)
		check(r.Name, before, n)
		if opts.Trace != nil {
			opts.Trace(r.Name, before, n)
		}
	}
	return n
}

// excludedRules reads the session's setting. As in Spark, names of no rule are
// nothing to it.
func excludedRules(s *funcs.Session) map[string]bool {
	if s == nil || s.Conf[ExcludedRules] == "" {
		return nil
	}
	out := map[string]bool{}
	for _, name := range strings.Split(s.Conf[ExcludedRules], ",") {
		out[strings.ToLower(strings.TrimSpace(name))] = true
	}
	return out
}

// check panics when a rule has changed what the plan gives.
func check(rule string, before, after logical.Node) {
	a, b := before.Output(), after.Output()
	if len(a) != len(b) {
		panic("bug: rewrite: " + rule + " changes the number of columns")
	}
	for i := range a {
		if a[i].ID != b[i].ID || a[i].Name != b[i].Name || !a[i].Type.SameShape(b[i].Type) {
			panic("bug: rewrite: " + rule + " changes column " + a[i].Name)
		}
	}
}
