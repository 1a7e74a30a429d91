package builtin

import (
	"pipelines/tables/format"
	"pipelines/tables/format/csv"
	"pipelines/tables/format/json"
	"pipelines/tables/format/parquet"
	"pipelines/tables/format/text"
)

// tableFormat is the format of data files; it recycles buffers between files.
var tableFormat = parquet.New()

// Formats lists the file formats.
func Formats() []format.Format {
	return []format.Format{
		json.New(),
		csv.New(),
		tableFormat,
		text.New(),
	}
}
