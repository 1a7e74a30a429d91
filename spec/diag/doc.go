// Package diag is the lowest floor: places in texts, diagnostics about them,
// lists of diagnostics, and their text and JSON form. It imports nothing of
// ours, so that the spec, the SQL front and the runtime can all point at the
// character that is wrong.
//
// Reading order: Pos and Span (a place in a file), Text (a piece of text, for
// example an SQL body inside YAML, that knows where its bytes stand in the
// outer file), Range (a place inside a Text), Diagnostic, List, Render.
//
// Invariants: lines and columns count from 1, columns in characters (runes);
// offsets count bytes from 0. A List keeps its order of adding until Sort.
// Anybody may import it.
package diag
