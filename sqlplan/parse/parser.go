package parse

import (
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
)

// MaxDepth is how deep expressions, queries, relations and types may nest.
const MaxDepth = 1000

// maxChain bounds chains that make trees leaning to one side (a + b + c ...).
const maxChain = 50_000

// parser is a cursor over tokens. Faults leave a construct by panicking with a
// bailout, which clause and statement ends catch.
type parser struct {
	*lexed
	text        *diag.Text
	dialect     Dialect
	i           int
	end         int // index of the token that ends the running query: ")" or the statement's end
	depth       int
	params      int // ? seen in this statement
	errs        diag.List
	query       []int8    // memo of isQuery by token: 0 unknown, 1 yes, 2 no
	failed      bool      // a fault of this statement was caught
	cdcSourcing bool      // in FROM of AUTO CDC: its clauses are no aliases
	inserting   bool      // in the query of INSERT: DEFAULT is a value
	defines     *ast.Name // what the statement makes, once it is read
}

// bailout carries a diagnostic out of a construct that cannot be read.
type bailout struct {
	d      diag.Diagnostic
	silent bool // the fault is noted already
}

// catch notes the fault of a bailout. It reports false if r is no bailout, and
// goes on with any other panic.
func (p *parser) catch(r any) bool {
	if r == nil {
		return false
	}
	b, ok := r.(bailout)
	if !ok {
		panic(r)
	}
	p.failed = true
	for i := len(p.errs) - 1; i >= max(0, len(p.errs)-8); i-- {
		// One fault at one place is enough: the rest follows from it.
		if p.errs[i].Span.Start == b.d.Span.Start {
			return true
		}
	}
	if !b.silent {
		p.errs = append(p.errs, b.d)
	}
	return true
}

func newParser(t *diag.Text, d Dialect) *parser {
	p := &parser{lexed: lex(t.Body), text: t}
	p.speak(d)
	p.pipes()
	p.end = len(p.toks) - 1
	p.query = make([]int8, len(p.toks))
	for _, e := range p.lexed.errs {
		p.errs = append(p.errs, diag.At(t, diag.Range{Start: e.start, End: e.end}, diag.Code(e.code), e.msg))
	}
	return p
}

// tok is the current token.
func (p *parser) tok() token { return p.toks[p.i] }

// at is the token n places on.
func (p *parser) at(n int) token {
	if p.i+n >= len(p.toks) {
		return p.toks[len(p.toks)-1]
	}
	return p.toks[p.i+n]
}

// textOf is a token as written.
func (p *parser) textOf(t token) string { return p.src[t.start:t.end] }

func (p *parser) advance() token {
	t := p.toks[p.i]
	if t.kind != eof {
		p.i++
	}
	return t
}

// isOp reports whether the current token is the operator o.
func (p *parser) isOp(o string) bool { return p.tok().kind == op && p.tok().up == o }

func (t token) isOp(o string) bool { return t.kind == op && t.up == o }

func (t token) isWord(w string) bool { return t.kind == word && t.up == w }

// isWords reports whether the next words are ws.
func (p *parser) isWords(ws ...string) bool {
	for n, w := range ws {
		if !p.at(n).isWord(w) {
			return false
		}
	}
	return true
}

// isAny reports whether the current token is one of the words.
func (p *parser) isAny(ws ...string) bool {
	t := p.tok()
	if t.kind != word {
		return false
	}
	for _, w := range ws {
		if t.up == w {
			return true
		}
	}
	return false
}

// acceptOp takes the operator if it is there.
func (p *parser) acceptOp(o string) bool {
	if p.isOp(o) {
		p.i++
		return true
	}
	return false
}

// accept takes the words if all are there.
func (p *parser) accept(ws ...string) bool {
	if p.isWords(ws...) {
		p.i += len(ws)
		return true
	}
	return false
}

// acceptAny takes one of the words and returns it.
func (p *parser) acceptAny(ws ...string) string {
	if p.isAny(ws...) {
		return p.advance().up
	}
	return ""
}

// expectOp takes the operator or fails.
func (p *parser) expectOp(o string) token {
	if !p.isOp(o) {
		p.fail("expected '" + o + "'")
	}
	return p.advance()
}

// expect takes the words or fails.
func (p *parser) expect(ws ...string) {
	for _, w := range ws {
		if !p.isAny(w) {
			p.fail("expected " + w)
		}
		p.i++
	}
}

// expectAny takes one of the words or fails.
func (p *parser) expectAny(ws ...string) string {
	if w := p.acceptAny(ws...); w != "" {
		return w
	}
	p.fail("expected " + strings.Join(ws, " or "))
	return ""
}

// ended reports whether the statement ends here.
func (p *parser) ended() bool {
	t := p.tok()
	return t.kind == eof || t.kind == cell || t.isOp(";")
}

// start is the place of the current token, for the range of a node.
func (p *parser) start() int { return p.tok().start }

// since is the range from start to the last token read.
func (p *parser) since(start int) diag.Range {
	end := start
	if p.i > 0 {
		end = max(start, p.toks[p.i-1].end)
	}
	return diag.Range{Start: start, End: end}
}

// pos is since as the embedded part of a node.
func (p *parser) pos(start int) ast.Pos { return ast.Pos{Span: p.since(start)} }

// tokRange is the place of a token.
func tokRange(t token) diag.Range { return diag.Range{Start: t.start, End: t.end} }

// fail leaves the construct with a syntax error at the current token. what says
// what was expected, or "".
func (p *parser) fail(what string) {
	p.failAt(p.tok(), what)
}

// failAt is fail at another token.
func (p *parser) failAt(t token, what string) {
	if n := len(p.lexed.errs); t.kind == bad && n > 0 && p.lexed.errs[n-1].start == t.start {
		panic(bailout{silent: true}) // the lexer has said that a quote is open
	}
	msg := "Syntax error at or near " + p.near(t)
	if what != "" {
		msg += ": " + what
	}
	d := diag.At(p.text, tokRange(t), "PARSE_SYNTAX_ERROR", msg)
	if t.kind == word && keywords[t.up] && nameExpected(what) {
		d = d.WithHint("to use the word as a name, write it in back quotes: `" + p.textOf(t) + "`")
	}
	panic(bailout{d: d})
}

// near names a token in a syntax error.
func (p *parser) near(t token) string {
	if t.kind == eof {
		return "end of input"
	}
	return "'" + clip(p.textOf(t)) + "'"
}

// nameExpected reports whether a name could have stood at the fault.
func nameExpected(what string) bool {
	return what == "expected an expression" || what == "expected a table" || what == "expected a name"
}

// failCode leaves the construct with an error of its own class.
func (p *parser) failCode(r diag.Range, code diag.Code, msg string) {
	panic(bailout{d: diag.At(p.text, r, code, msg)})
}

// report notes an error and goes on.
func (p *parser) report(r diag.Range, code diag.Code, msg string) {
	p.errs = append(p.errs, diag.At(p.text, r, code, msg))
}

// clip shortens long text in messages.
func clip(s string) string {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i]
	}
	if r := []rune(s); len(r) > 40 {
		s = string(r[:40]) + "…"
	}
	return s
}

// enter goes one level deeper; the caller defers leave.
func (p *parser) enter() {
	p.depth++
	if p.depth > MaxDepth {
		p.failCode(tokRange(p.tok()), "FAILED_TO_PARSE_TOO_COMPLEX",
			"The statement is nested too deeply (more than 1000 levels)")
	}
}

func (p *parser) leave() { p.depth-- }

// chain fails when a chain of operators gets too long for trees.
func (p *parser) chain(n int) {
	if n > maxChain {
		p.failCode(tokRange(p.tok()), "FAILED_TO_PARSE_TOO_COMPLEX",
			"The expression has too many parts in one chain (more than 50000)")
	}
}

// clause runs f. If f fails or does not end where a clause may end, the error is
// noted and the cursor goes to the next clause of the running query.
func (p *parser) clause(f func()) {
	first, depth, end := p.i, p.depth, p.end
	defer func() {
		if !p.catch(recover()) {
			return
		}
		p.depth, p.end = depth, end
		p.skipClause(first)
	}()
	f()
	if !p.clauseEnd() {
		p.failTypo()
	}
}

// clauseWords are the words that a misspelt word may have meant.
var clauseWords = []string{"FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "UNION", "JOIN", "WINDOW", "OFFSET"}

// failTypo fails at the current token; if the word before it, which was taken for
// a name, looks like a clause, a hint says so.
func (p *parser) failTypo() {
	t := p.toks[max(p.i-1, 0)]
	near := ""
	if t.kind == word {
		near = nearest(t.up, clauseWords)
	}
	if near == "" || near == t.up {
		p.fail("")
	}
	d := diag.At(p.text, tokRange(p.tok()), "PARSE_SYNTAX_ERROR", "Syntax error at or near '"+clip(p.textOf(p.tok()))+"'")
	panic(bailout{d: d.WithHint("did you mean " + near + " in place of " + p.textOf(t) + "?")})
}

// clauseEnd reports whether a clause of a query may end before the current
// token.
func (p *parser) clauseEnd() bool {
	t := p.tok()
	return p.i >= p.end || p.ended() || t.isOp(")") || t.isOp("|>") || p.clauseStart(p.i)
}

// clauseStart reports whether a clause of a query starts at token i.
func (p *parser) clauseStart(i int) bool {
	t := p.toks[i]
	if t.kind != word {
		return false
	}
	next := token{}
	if i+1 < len(p.toks) {
		next = p.toks[i+1]
	}
	switch t.up {
	case "GROUP", "ORDER", "SORT", "CLUSTER", "DISTRIBUTE":
		return next.isWord("BY")
	case "FROM", "WHERE", "HAVING", "LIMIT", "OFFSET", "WINDOW", "QUALIFY", "UNION", "EXCEPT",
		"MINUS", "INTERSECT", "LATERAL", "SELECT", "PIVOT", "UNPIVOT":
		return true
	}
	return false
}

// skipClause goes to the next clause after the current token that belongs to
// the query whose clause started at first.
func (p *parser) skipClause(first int) {
	at := p.i
	for j := first; j < p.end; j++ {
		t := p.toks[j]
		if t.isOp("(") && t.match > 0 {
			j = t.match
			continue
		}
		if t.isOp(";") || t.kind == cell || t.isOp(")") && t.match < 0 && j >= at {
			p.i = max(j, at)
			return
		}
		if j >= at && j > first && (p.clauseStart(j) || t.isOp("|>")) {
			p.i = j
			return
		}
	}
	p.i = max(p.end, at)
}

// list reads items separated by commas.
func list[T any](p *parser, item func() T) []T {
	s := []T{item()}
	for p.acceptOp(",") {
		s = append(s, item())
	}
	return s
}

// parenList reads a list in parentheses.
func parenList[T any](p *parser, item func() T) []T {
	p.expectOp("(")
	s := list(p, item)
	p.expectOp(")")
	return s
}
