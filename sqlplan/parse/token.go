package parse

// kind is the kind of a token.
type kind uint8

const (
	eof    kind = iota
	word        // unquoted name or keyword; up is its upper case
	quoted      // `name`, and "name" in a dialect that has it
	str         // 'text' or "text"
	rawStr      // r'text'
	number      // digits with an optional suffix
	op          // operator or punctuation; up is its text
	bad         // a character that starts nothing, or an unended literal
	cell        // end of a notebook cell: ends a statement as ";" does
)

// token is one word of the text. match is the index of the other parenthesis
// of "(" and ")", or -1.
type token struct {
	kind       kind
	start, end int
	up         string
	match      int
	lead       int // index of the first comment before the token
}

// comment is a comment with its place; blank says how many blank lines stand
// before it. A formatter needs both.
type comment struct {
	start, end int
	blank      int
}

// lexed is a text cut into tokens. The last token is eof.
type lexed struct {
	src      string
	toks     []token
	comments []comment
	errs     []lexError
}

// lexError is a fault of the lexer at [start, end).
type lexError struct {
	start, end int
	code       string
	msg        string
}
