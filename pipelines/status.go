package pipelines

import (
	"errors"

	"pipelines/runtime/connector"
	exec "pipelines/runtime/flow"
	"pipelines/spec"
	"pipelines/spec/diag"
	"pipelines/spec/option"
	"pipelines/sqlplan"
)

// classOf finds the error class of a failure, "" if it has none.
func classOf(err error) (class, sqlState string) {
	if e, ok := errors.AsType[*sqlplan.Error](err); ok {
		return e.Class, e.SQLState
	}
	if _, ok := errors.AsType[*connector.PathError](err); ok {
		return "PATH_NOT_FOUND", diag.Code("PATH_NOT_FOUND").SQLState()
	}
	if _, ok := errors.AsType[*exec.Bug](err); ok {
		return "INTERNAL_ERROR", diag.Code("INTERNAL_ERROR").SQLState()
	}
	return "", ""
}

func decodeOptions(owner string, fields []option.Field, s *spec.Sink, p *Project) (*option.Values, diag.List) {
	return option.NewSet(owner, fields...).Decode(s.Options, p.optionContext(s.File, s.Span))
}
