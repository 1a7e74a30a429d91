package commitlog

import (
	"fmt"
	"slices"
	"strings"

	"pipelines/tables/schema"
)

// ColumnError says why a column cannot stand in a table.
type ColumnError struct {
	Column string // its path with points; empty if the whole table is meant
	Class  string // Spark's or Delta's error class
	Reason string
	Hint   string // what to do
	// Partition says that it cannot be a partition column.
	Partition bool
}

func (e *ColumnError) Error() string {
	if e.Column == "" {
		return fmt.Sprintf("[%s] %s", e.Class, e.Reason)
	}
	return fmt.Sprintf("[%s] column %s %s", e.Class, schema.QuoteIfNeeded(e.Column), e.Reason)
}

// ColumnErrors are all that is wrong with a schema.
type ColumnErrors []*ColumnError

func (e ColumnErrors) Error() string {
	texts := make([]string, len(e))
	for i, c := range e {
		texts[i] = c.Error()
	}
	return strings.Join(texts, "; ")
}

// reservedNames are column names that Delta and Spark give a meaning.
var reservedNames = []string{"_change_type", "_commit_version", "_commit_timestamp", "__is_cdc", "_metadata", "_row_id", "_row_commit_version"}

const invalidCharacters = " ,;{}()\n\t="

// CheckSchema says which columns cannot stand in a table; nil is all good.
func CheckSchema(s schema.Schema, partitionColumns []string) ColumnErrors {
	c := checker{}
	for _, f := range s.Fields {
		if slices.ContainsFunc(reservedNames, func(r string) bool { return strings.EqualFold(r, f.Name) }) {
			c.add(f.Name, "DELTA_RESERVED_COLUMN_NAME", "has a name that Delta keeps for itself", "give it another name: `AS other_name`")
		}
	}
	c.fields(s.Fields, "")
	n := len(c.errs)
	c.partitions(s, partitionColumns)
	for _, e := range c.errs[n:] {
		e.Partition = true
	}
	return c.errs
}

type checker struct {
	errs ColumnErrors
}

func (c *checker) add(column, class, reason, hint string) {
	c.errs = append(c.errs, &ColumnError{Column: column, Class: class, Reason: reason, Hint: hint})
}

func (c *checker) fields(fields []schema.Field, prefix string) {
	seen := map[string]bool{}
	for _, f := range fields {
		path := prefix + f.Name
		if low := strings.ToLower(f.Name); seen[low] {
			c.add(path, "COLUMN_ALREADY_EXISTS", "is there twice (names ignore case)", "give one of them another name")
		} else {
			seen[low] = true
		}
		if f.Name == "" {
			c.add(path, "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES", "is a column with an empty name", "give it a name: `AS name`")
		}
		if i := strings.IndexAny(f.Name, invalidCharacters); i >= 0 {
			c.add(path, "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES", fmt.Sprintf("has the character %q in its name, which tables cannot hold", f.Name[i]),
				"give it a name without spaces and ,;{}()=: `AS name`")
		}
		c.typ(f.Type, path)
	}
}

func (c *checker) typ(t schema.Type, path string) {
	const class = "DELTA_UNSUPPORTED_DATA_TYPES"
	switch t.Kind {
	case schema.Void:
		c.add(path, class, "has the type VOID, which tables cannot hold", "cast it: `CAST(NULL AS STRING)`")
	case schema.YearMonthInterval, schema.DayTimeInterval, schema.CalendarInterval:
		c.add(path, class, "has the type "+t.SQL()+", which tables cannot hold", "cast it to STRING, or store a number")
	case schema.Variant:
		c.add(path, class, "has the type VARIANT, which tables cannot hold here yet", "cast it: `CAST(v AS STRING)` or to a STRUCT")
	case schema.Array:
		c.typ(*t.Elem, path+".element")
	case schema.Map:
		c.typ(*t.Key, path+".key")
		c.typ(*t.Elem, path+".value")
	case schema.Struct:
		c.fields(t.Fields, path+".")
	}
}

func (c *checker) partitions(s schema.Schema, columns []string) {
	seen := map[string]bool{}
	for _, name := range columns {
		i := s.Index(name)
		low := strings.ToLower(name)
		switch {
		case i < 0:
			c.add(name, "DELTA_INVALID_PARTITION_COLUMN", "is named as a partition column, but the table has no such column", "name one of: "+strings.Join(s.Names(), ", "))
			continue
		case seen[low]:
			c.add(name, "COLUMN_ALREADY_EXISTS", "is a partition column twice", "name it once")
			continue
		}
		seen[low] = true
		switch t := s.Fields[i].Type; {
		case t.IsNested():
			c.add(name, "INVALID_PARTITION_COLUMN_DATA_TYPE", "is a partition column of type "+t.SQL(), "partition by a column of a simple type")
		case t.Kind == schema.Binary:
			c.add(name, "INVALID_PARTITION_COLUMN_DATA_TYPE", "is a partition column of type BINARY, whose bytes the log cannot hold", "partition by another column, or by `hex(...)`")
		}
	}
	if len(columns) > 0 && len(seen) == len(s.Fields) && len(c.errs) == 0 {
		c.add("", "ALL_PARTITION_COLUMNS_NOT_ALLOWED", "all columns are partition columns", "leave at least one column out")
	}
}
