// Package block reads the bytes of one file for the text formats: large
// blocks that end at a record's end, decompressed by the file's extension,
// without a byte-order mark.
//
// Reading order: Open (decompression), Reader.Lines (blocks of whole lines),
// Reader.Records (one record at a time for other separators), Reader.All; Scan
// and Infer, which show what is read to a format's decoder or inferrer;
// RowWriter.
//
// Invariants: every byte of the file behind the mark is handed out once and in
// order. A last line without an end gets a line feed, since a file that is
// read is complete. A file cut in the middle of a compressed part is an error
// of class stores.Corrupt that names the file. Blocks are valid until the next
// call. Single-threaded.
package block
