// Package variant reads and writes the binary form of VARIANT values: the
// encoding that Parquet defines, two binaries a value (value and metadata).
//
// Reading order: Value (looking into a value), Builder (making one), Parse
// (JSON text to a value), AppendJSON, Path.
//
// Invariants: reading never panics, whatever the bytes are: what lies outside
// its buffer has kind Invalid, prints as null and has no elements. Objects keep
// their fields in the order of their names, each once. A Builder gives the
// smallest form of every integer, length and offset; it is reused from value to
// value and allocates only while it grows. A Value holds no copies: it is valid
// as long as the bytes that it was made of.
//
// The package imports only tables/{schema,column,text}.
package variant
