package funcs

import "pipelines/spec/diag"

// Error is the failure of one row's value (ANSI mode), or of the resolution
// of a call when the binder asks. Class is Spark's error class.
type Error struct {
	Class    string
	SQLState string
	// Params are Spark's message parameters, for messages and tests.
	Params map[string]string
	// Message is the text in Spark's wording, one line.
	Message string
	// Span is the fragment of SQL that failed; set by the evaluator.
	Span diag.Span
}

func (e *Error) Error() string { return "[" + e.Class + "] " + e.Message }

// NewError makes an Error whose SQLSTATE comes from the list of codes.
func NewError(class, message string, params map[string]string) *Error {
	return &Error{Class: class, SQLState: diag.Code(class).SQLState(), Message: message, Params: params}
}
