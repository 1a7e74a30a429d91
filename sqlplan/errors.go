package sqlplan

import (
	"pipelines/sqlplan/bind"
	"pipelines/sqlplan/funcs"
)

// Error is a failure with Spark's class, as a Catalog returns it.
type Error = funcs.Error

// NewError makes an Error.
func NewError(class, message string) *Error { return funcs.NewError(class, message, nil) }

// Dedup keeps the first row of each key of a query's rows.
type Dedup = bind.Dedup
