package shell

import (
	"context"
	"errors"
	"fmt"

	"pipelines/runtime/flow"
	"pipelines/spec/diag"
	"pipelines/sqlplan"
)

// Failure is why a statement has no result.
type Failure struct {
	Class, SQLState, Message string
	// Findings are all findings of a statement that was never run; nil for
	// errors of the run.
	Findings diag.List
	// Place is where an error of the run was raised, if that is known.
	Place diag.Span

	file *diag.File
	err  error
}

// Error makes a Failure an error.
func (f *Failure) Error() string {
	if f.Class == "" {
		return f.Message
	}
	return "[" + f.Class + "] " + f.Message
}

// Unwrap returns the cause, if there is one.
func (f *Failure) Unwrap() error { return f.err }

// Static reports whether the statement was refused before it ran.
func (f *Failure) Static() bool { return f.Findings != nil }

// Render is the text for people, with the place in the script.
func (f *Failure) Render() string {
	if f.Findings != nil {
		return f.Findings.Render()
	}
	if f.Place.IsValid() {
		return diag.Render(diag.AtSpan(f.file, f.Place, diag.Code(f.Class), f.Message))
	}
	if f.Class == "" {
		return "error: " + f.Message + "\n"
	}
	return "error: " + f.Message + " [" + f.Class + "]\n"
}

// findings makes a Failure of diagnostics: the first error names it.
func findings(l diag.List) *Failure {
	for _, d := range l {
		if d.Severity == diag.Error {
			return &Failure{Class: string(d.Code), SQLState: d.SQLState, Message: d.Message, Findings: l}
		}
	}
	panic("bug: shell: a failure without errors")
}

// failf is the failure of a statement that is refused.
func failf(class diag.Code, format string, args ...any) *Failure {
	d := diag.AtSpan(nil, diag.Span{}, class, fmt.Sprintf(format, args...))
	return findings(diag.List{d})
}

// refuse is failf at the statement's name.
func (r *run) refuse(class diag.Code, format string, args ...any) *Failure {
	at := r.st.NameAt
	if at.End == 0 {
		at = r.st.At
	}
	return findings(diag.List{diag.At(r.text, at, class, fmt.Sprintf(format, args...))})
}

// refused makes a Failure of an error of looking a name up.
func (r *run) refused(err error) *Failure {
	if e, ok := errors.AsType[*sqlplan.Error](err); ok {
		return r.refuse(diag.Code(e.Class), "%s", e.Message)
	}
	return failure(err, r.text)
}

// refusedFile is refused for a statement over files: what is wrong with the
// path stands at the path.
func (r *run) refusedFile(err error) *Failure {
	e, ok := errors.AsType[*sqlplan.Error](err)
	if ok && e.Class == "PATH_NOT_FOUND" && r.st.PathAt.End > 0 {
		return findings(diag.List{diag.At(r.text, r.st.PathAt, diag.Code(e.Class), e.Message)})
	}
	return r.refused(err)
}

// failure makes a Failure of an error of the run.
func failure(err error, text *diag.Text) *Failure {
	if e, ok := errors.AsType[*sqlplan.Error](err); ok {
		f := &Failure{Class: e.Class, SQLState: e.SQLState, Message: e.Message, err: err}
		if e.Span.File == text.File().Name {
			f.Place, f.file = e.Span, text.File()
		}
		return f
	}
	if b, ok := errors.AsType[*flow.Bug](err); ok {
		return internal(b.Value, b.Stack)
	}
	if errors.Is(err, context.Canceled) {
		return &Failure{Class: "OPERATION_CANCELED", SQLState: "HY008", Message: "Operation has been canceled.", err: err}
	}
	return &Failure{Message: err.Error(), err: err}
}

// internal is a panic as a failure.
func internal(x any, stack []byte) *Failure {
	return &Failure{Class: "INTERNAL_ERROR", SQLState: "XX000", Message: fmt.Sprintf("%v\n%s", x, stack)}
}
