package builtin

import (
	"pipelines/tables/format"
	"pipelines/tables/format/json"
	"pipelines/tables/format/parquet"
)

// tableFormat is the format of data files; it recycles buffers between files.
var tableFormat = parquet.New()

// Formats lists the file formats.
func Formats() []format.Format {
	return []format.Format{
		json.New(),
		tableFormat,
	}
}
