package sqlplan

import "pipelines/sqlplan/funcs"

// Error is a failure with Spark's class, as a Catalog returns it.
type Error = funcs.Error

// NewError makes an Error.
func NewError(class, message string) *Error { return funcs.NewError(class, message, nil) }
