// Package schema has the data types, fields and schemas of tables and plans,
// and the rules by which schemas may change.
//
// Reading order: Kind, Type, Field, Schema, then the Spark forms (type names
// as DESCRIBE prints them, DDL, the JSON of Delta's metaData).
//
// Invariants: a Type is a value and never changes after it is made; types are
// compared with Equal, never with ==. Field names keep their case and are
// found ignoring case. The package imports nothing of ours.
package schema
