package ast

// DatasetKind is the kind of a CreateDataset.
type DatasetKind uint8

// The kinds of datasets; views are CreateView.
const (
	StreamingTable DatasetKind = iota
	MaterializedView
)

// Legacy marks an older form that is read with a hint to the new one.
type Legacy uint8

// The older forms.
const (
	NotLegacy         Legacy = iota
	LiveTable                // CREATE [OR REFRESH] LIVE TABLE: a materialized view
	StreamingLive            // CREATE [OR REFRESH] STREAMING LIVE TABLE
	LiveView                 // CREATE [TEMPORARY] LIVE VIEW
	StreamingLiveView        // CREATE STREAMING LIVE VIEW
	ApplyChanges             // APPLY CHANGES INTO
)

// CreateDataset is CREATE [OR REFRESH] [PRIVATE|TEMPORARY] STREAMING TABLE or
// MATERIALIZED VIEW.
type CreateDataset struct {
	Pos
	Kind        DatasetKind
	Refresh     bool // OR REFRESH
	Replace     bool // OR REPLACE
	Private     bool
	Temporary   bool
	IfNotExists bool
	Legacy      Legacy
	Name        Name
	TableSpec
	Query *Query   // nil if the table has no query here
	CDC   *AutoCDC // FLOW AUTO CDC ...: Target is empty
}

// CreateFlow is CREATE FLOW f [COMMENT 'x'] AS INSERT INTO ... or AS AUTO CDC
// INTO ...; one of Insert and CDC is set.
type CreateFlow struct {
	Pos
	IfNotExists bool
	Name        Name
	Comment     *StringLit
	Insert      *Insert
	CDC         *AutoCDC
}

// AutoCDC is AUTO CDC INTO target FROM source KEYS (...) ..., on its own in the
// older form APPLY CHANGES INTO.
type AutoCDC struct {
	Pos
	Legacy       Legacy // ApplyChanges for the older words
	Once         bool
	Target       Name
	Source       Relation // Table, TableFunc or SubqueryRel
	Keys         []Expr   // Columns; other expressions are an error of the caller
	IgnoreNulls  *ColumnList
	DeleteWhen   Expr
	TruncateWhen Expr
	SequenceBy   Expr
	Columns      *ColumnList
	SCDType      string // "", "1", "2"
	TrackHistory *ColumnList
}

// ColumnList is a list of columns, or * EXCEPT a list, or all.
type ColumnList struct {
	Pos
	All   bool // * EXCEPT (Names), or all if Names is empty
	Names []Expr
}
