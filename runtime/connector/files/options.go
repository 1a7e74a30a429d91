package files

import (
	"fmt"
	"strings"
	"time"

	"pipelines/stores"
	"pipelines/tables/format"
	"pipelines/tables/schema"
)

// Options configures a Source.
type Options struct {
	// Store is rooted at the folder that all keys are below; Root is its path,
	// for messages and _metadata.file_path.
	Store stores.Reader
	Root  string
	// Declared is the path as the user wrote it, "" if that is not known.
	Declared string
	// Pattern selects keys: "" for everything below the root (Flat unless
	// Recursive or partitioned), else a glob over the key's parts.
	Pattern string
	// Single is set when the path names one file: its key.
	Single string
	Format format.Format
	// Data is the schema inside the files, Partition the columns from k=v
	// folder names; the relation's schema is Data then Partition.
	Data      schema.Schema
	Partition []schema.Field
	// FormatOptions are passed to the format, keys in lower case.
	FormatOptions map[string]string
	// MaxFiles and MaxBytes bound an epoch; 0: no bound.
	MaxFiles int
	MaxBytes int64
	// LatestFirst takes new files from the newest on.
	LatestFirst bool
	// MaxFileAge leaves out files that much older than the newest seen; 0: none.
	MaxFileAge time.Duration
	// NameGlob is pathGlobFilter: a pattern on the file's own name.
	NameGlob string
	// Recursive looks into sub-folders and turns partition columns off.
	Recursive bool
	// NameOnly identifies files by their own name instead of the path.
	NameOnly bool
	// Overwrites reads files again that changed after they were read.
	Overwrites bool
	// IgnoreMissing skips files that vanished.
	IgnoreMissing bool
	// Clean is what happens to files whose epoch is committed: "" nothing,
	// "delete", or "archive" into ArchiveDir under their full path.
	Clean, ArchiveDir string
	// Name is the source's, for messages; NewColumns what it does about columns
	// that Data has not (see connector.SourceConfig).
	Name, NewColumns string
	CaseSensitive    bool
	// ByName is format.ReadSpec.ByName.
	ByName bool
	// Location is the zone in which a schema is inferred.
	Location *time.Location
	// After and Before bound the modification time of a bounded read.
	After, Before time.Time
}

// Schema is the relation's schema.
func (o *Options) Schema() schema.Schema {
	out := schema.Schema{Fields: append([]schema.Field(nil), o.Data.Fields...)}
	out.Fields = append(out.Fields, o.Partition...)
	return out
}

// MissingError says that a planned file is not there any more.
type MissingError struct{ Path string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("[FAILED_READ_FILE.FILE_NOT_EXIST] file %s was planned and has vanished; put it back, or set ignoreMissingFiles to true", e.Path)
}

// MovedError says that a stream's path is another than the one whose files it
// has read.
type MovedError struct{ Was, Is string }

func (e *MovedError) Error() string {
	return fmt.Sprintf("[STREAMING_SOURCE_CHANGED] the source read %q so far and now names %q: which of its files are new is not known; run with --full-refresh, or declare a second source for the new path", e.Was, e.Is)
}

// hidden reports names that are never data.
func hidden(name string) bool {
	return strings.HasPrefix(name, "_") && !strings.Contains(name, "=") || strings.HasPrefix(name, ".") ||
		strings.HasSuffix(name, "._COPYING_")
}
