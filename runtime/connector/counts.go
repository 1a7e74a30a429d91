package connector

import "pipelines/tables/format"

// Counts is what a Reader counted.
type Counts = format.Counts
