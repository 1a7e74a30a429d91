package sqlplan

import (
	"pipelines/sqlplan/bind"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
)

// Catalog answers what a name in FROM means.
type Catalog = bind.Catalog

// Functions is implemented by a Catalog with SQL functions of its own.
type Functions = bind.Functions

// Variables is implemented by a Catalog with session variables.
type Variables = bind.Variables

// Request is one mention of a relation.
type Request = bind.Request

// Answer is what a name means.
type Answer = bind.Answer

// View is a stored query that is inlined where it is read.
type View = bind.View

// ViewBinding holds a view's columns to what they were.
type ViewBinding = bind.ViewBinding

// ViewMode is what a view does when the columns of its query change.
type ViewMode = bind.ViewMode

// The modes of views: WITH SCHEMA.
const (
	ViewCompensation  = bind.ViewCompensation
	ViewStrict        = bind.ViewStrict
	ViewTypeEvolution = bind.ViewTypeEvolution
	ViewEvolution     = bind.ViewEvolution
)

// EventTime is a watermark that a Catalog declares.
type EventTime = bind.EventTime

// NotFound is what a Catalog returns for an unknown name.
type NotFound = bind.NotFound

// OptionError is what a Catalog returns for an option that cannot be.
type OptionError = bind.OptionError

// UserFunction is a scalar SQL function of a Catalog.
type UserFunction = bind.UserFunction

// Empty is a Catalog without tables.
type Empty = bind.Empty

// Session is what functions may know of the settings; NewSession makes one.
type Session = funcs.Session

// Literal is a constant, as parameters have them.
type Literal = logical.Literal

// Dedup keeps the first row of each key of a query's rows.
type Dedup = bind.Dedup
