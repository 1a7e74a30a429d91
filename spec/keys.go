package spec

import "strings"

// kind is the kind of value that a key takes.
type kind uint8

const (
	kindText      kind = iota // any text
	kindName                  // an identifier of one part
	kindQualified             // an identifier of one to three parts
	kindColumn                // a column name
	kindSQL                   // a query
	kindDDL                   // a column list
	kindExpr                  // a SQL expression
	kindBool
	kindInt
	kindDuration
	kindMemory
	kindTexts    // list of texts
	kindColumns  // list of column names
	kindSettings // map of texts
	kindOptions  // map of texts that may refer to secrets
	kindObject   // one object
	kindObjects  // list of objects
	kindNamed    // map of names to objects
	kindTrigger  // a word or an object
	kindScalar   // any single value, as written
	kindAny      // not looked into
)

// key declares one key of the document: all that the strict walk, the docs and
// the JSON Schema need to know.
type key struct {
	name     string
	aliases  []string
	kind     kind
	required bool
	values   []string // of an enumeration
	def      string
	doc      string
	object   *object
	min, max int64 // of kindInt, when max > 0
}

// object declares a mapping of the document.
type object struct {
	name string // stands in messages and in later.go
	doc  string
	keys []key
}

// a returns the object's name with its article.
func (o *object) a() string {
	if strings.ContainsRune("aeio", rune(o.name[0])) {
		return "an " + o.name
	}
	return "a " + o.name
}

// find returns the key of a name or alias.
func (o *object) find(name string) *key {
	for i := range o.keys {
		k := &o.keys[i]
		if k.name == name {
			return k
		}
		for _, a := range k.aliases {
			if a == name {
				return k
			}
		}
	}
	return nil
}

// names lists the keys for suggestions.
func (o *object) names() []string {
	var out []string
	for _, k := range o.keys {
		out = append(append(out, k.name), k.aliases...)
	}
	return out
}

// The objects of the document. Order of keys is the order in the docs.
var (
	pipelineObject = &object{name: "pipeline", doc: "A pipeline: its settings, sources, tables, views, flows and sinks.", keys: concat([]key{
		{name: "name", kind: kindText, required: true, doc: "Name of the pipeline."},
		{name: "storage", kind: kindText, required: true, doc: "Folder of tables, checkpoints and event log."},
		{name: "checkpoints", kind: kindText, doc: "Local folder of the checkpoints. Default: `<storage>/checkpoints`."},
		{name: "catalog", kind: kindText, def: "main", doc: "Default catalog of tables."},
		{name: "database", aliases: []string{"schema"}, kind: kindText, def: "default", doc: "Default database of tables."},
		{name: "configuration", kind: kindSettings, doc: "Spark configuration and values for `${key}`, as texts."},
		{name: "parameters", kind: kindNamed, object: parameterObject, doc: "Typed values for `:name` in SQL; `--param name=value` overrides."},
		{name: "libraries", kind: kindObjects, object: libraryObject, doc: "SQL files and YAML fragments that belong to the pipeline."},
		{name: "trigger", kind: kindTrigger, object: triggerObject, values: triggerWords, def: "available_now", doc: triggerDoc},
		{name: "max_concurrent_flows", kind: kindInt, min: 1, max: 1024, def: "16", doc: "How many flows run at once."},
		{name: "memory", kind: kindMemory, doc: "Share of the machine's memory that a run may use: `50%` or `2 GiB`."},
		{name: "notifications", kind: kindAny, doc: "Who is told about updates."},
		{name: "targets", kind: kindAny, doc: "Overrides for environments."},
		{name: "alerts", kind: kindAny, doc: "Conditions that raise an alert."},
		{name: "schedule", kind: kindAny, doc: "When the pipeline runs by itself."},
	}, sectionKeys)}

	fragmentObject = &object{name: "fragment", doc: "A YAML fragment: more sources, tables, views, flows and sinks.", keys: sectionKeys}

	sparkObject = &object{name: "spark pipeline", doc: "Spark's spark-pipeline.yml.", keys: []key{
		{name: "name", kind: kindScalar, required: true, doc: "Name of the pipeline."},
		{name: "storage", kind: kindScalar, required: true, doc: "Folder of tables, checkpoints and event log."},
		{name: "catalog", kind: kindScalar, doc: "Default catalog."},
		{name: "database", kind: kindScalar, doc: "Default database; wins over `schema`."},
		{name: "schema", kind: kindScalar, doc: "Default database."},
		{name: "configuration", kind: kindSettings, doc: "Spark configuration, as texts."},
		{name: "libraries", kind: kindObjects, object: libraryObject, doc: "SQL files."},
	}}

	sectionKeys = []key{
		{name: "sources", kind: kindObjects, object: sourceObject, doc: "What is read from outside. `STREAM(name)` reads it as a stream, `name` as a batch."},
		{name: "streaming_tables", kind: kindObjects, object: streamingTableObject, doc: "Tables that flows append to."},
		{name: "materialized_views", kind: kindObjects, object: materializedViewObject, doc: "Tables that hold the result of a query."},
		{name: "views", kind: kindObjects, object: viewObject, doc: "Temporary views: named queries of this pipeline."},
		{name: "flows", kind: kindObjects, object: flowObject, doc: "Queries that write into a streaming table or a sink."},
		{name: "sinks", kind: kindObjects, object: sinkObject, doc: "Targets outside of the storage."},
	}

	parameterObject = &object{name: "parameter", doc: "A typed value for `:name` in SQL.", keys: []key{
		{name: "type", kind: kindText, required: true, doc: "SQL type: string, int, bigint, double, decimal(p,s), boolean, date, timestamp, …"},
		{name: "default", kind: kindScalar, doc: "Value where `--param` gives none."},
	}}

	libraryObject = &object{name: "library", doc: "One entry of `libraries`.", keys: []key{
		{name: "glob", kind: kindObject, required: true, object: globObject, doc: "Which files."},
	}}

	globObject = &object{name: "glob", doc: "A pattern of files.", keys: []key{
		{name: "include", kind: kindText, required: true, doc: "A file, a folder followed by `/**`, or a pattern such as `transformations/*.sql`."},
	}}

	triggerObject = &object{name: "trigger", doc: "A trigger with its interval.", keys: []key{
		{name: "processing_time", kind: kindDuration, doc: "An epoch each interval."},
		{name: "real_time", kind: kindDuration, doc: "Rows at once; a checkpoint each interval."},
	}}

	sourceObject = &object{name: "source", doc: "Something outside that tables read.", keys: []key{
		{name: "name", kind: kindName, required: true, doc: "Name in SQL."},
		{name: "format", kind: kindText, required: true, values: sourceFormats, doc: "Format or connector."},
		{name: "path", kind: kindText, doc: "Folder, file or glob; new files are picked up."},
		{name: "schema", kind: kindDDL, doc: "Columns as DDL. Without it the schema is inferred and pinned in schemas.lock.yml."},
		{name: "options", kind: kindOptions, doc: "Reader options, Spark's names, as texts."},
		{name: "on_new_columns", kind: kindText, values: []string{"rescue", "ignore", "add", "fail"}, doc: "What happens to columns that the schema does not know, in JSON, CSV with a header, and Parquet. Where it is given or the schema was inferred, columns of CSV are found by the names in the header, unless the option `enforceSchema` is set: a column that a file has not is null. `ignore` leaves them out; `rescue` keeps them as JSON in the column `_rescued_data` (JSON and CSV); `add` ends the epoch, pins the wider schema, adds the columns to the tables and goes on (a flow whose state holds whole rows fails alone, until its table is refreshed fully or its query leaves the column out); `fail` names file and column. Default: `rescue` when the schema was inferred, else `ignore`."},
		{name: "idle_timeout", kind: kindDuration, doc: "After this time without rows (by the clock, as each epoch recorded it; rows without an event time do not count) the source stops holding the watermark back; it takes part again with its next row."},
		{name: "watermark", kind: kindObject, object: watermarkObject, doc: "Event time of the source."},
		{name: "version", kind: kindScalar, doc: "Version or timestamp that pins a static table."},
		{name: "bad_records", kind: kindAny, doc: "Where records go that cannot be decoded."},
	}}

	watermarkObject = &object{name: "watermark", doc: "Event time of a source.", keys: []key{
		{name: "column", kind: kindColumn, required: true, doc: "A timestamp column."},
		{name: "delay", kind: kindDuration, required: true, doc: "How late rows may come."},
		{name: "per_partition", kind: kindBool, def: "false", doc: "One watermark for each partition of the source: for sources that have partitions (Kafka)."},
		{name: "max_future", kind: kindDuration, doc: "Rows further ahead of the clock than this do not move the watermark; they are kept. Without it any row does."},
	}}

	streamingTableObject = &object{name: "streaming table", doc: "A table that flows append to.", keys: concat(datasetKeys, storedKeys, []key{
		{name: "flows", kind: kindObjects, object: tableFlowObject, doc: "Several queries into this table."},
		{name: "auto_cdc", kind: kindObject, object: autoCDCObject, doc: "Apply a stream of changes."},
		{name: "output_mode", kind: kindText, values: []string{"append", "update"}, def: "append", doc: "`update` keeps the table by upsert on `keys`."},
		{name: "keys", kind: kindColumns, doc: "Key columns of `output_mode: update`."},
		{name: "state_ttl", kind: kindDuration, doc: "State that no row touched for this long, by the clock, is dropped with the next epoch."},
		{name: "on_upstream_reset", kind: kindText, values: []string{"reread", "skip"}, doc: "What to do when a table that this one streams was fully refreshed: `reread` takes its rows again, `skip` leaves out what the refresh reads until it has caught up, new rows among it, and takes all later ones. Without it such a refresh is refused. `skip` also leaves out commits that change rows by key, with the rows that they add."},
		{name: "trigger", kind: kindTrigger, object: triggerObject, values: triggerWords, doc: triggerDoc},
	})}

	materializedViewObject = &object{name: "materialized view", doc: "A table that holds the result of a query.", keys: concat(datasetKeys, storedKeys)}

	viewObject = &object{name: "view", doc: "A temporary view: a named query of this pipeline.", keys: datasetKeys}

	datasetKeys = []key{
		{name: "name", kind: kindQualified, required: true, doc: "Name of one to three parts; databases are made on demand. A view has one part."},
		{name: "comment", kind: kindText, doc: "What it is."},
		{name: "sql", kind: kindSQL, doc: "The query."},
		{name: "sql_file", kind: kindText, doc: "A file that holds the query."},
		{name: "schema", kind: kindDDL, doc: "Columns as DDL, checked against the query."},
		{name: "expectations", kind: kindObjects, object: expectationObject, doc: "Conditions that rows should meet, after `deduplicate`. Those of a view act in each flow that reads it."},
		{name: "deduplicate", kind: kindObject, object: deduplicateObject, doc: "Keep the first row of each key of the query's rows. It comes before `expectations`: a row that violates one has used its key up. To judge rows first, put the expectations on a view that the query reads."},
		{name: "on_error", kind: kindText, values: []string{"fail", "drop", "quarantine"}, def: "fail", doc: "Rows whose expressions fail."},
		{name: "depends_on", kind: kindTexts, doc: "Datasets that run before this one though it does not read them."},
		{name: "tags", kind: kindAny, doc: "Labels for selection."},
	}

	storedKeys = []key{
		{name: "properties", kind: kindSettings, doc: "Table properties, as texts. Of Delta's, `delta.appendOnly`, `delta.isolationLevel`, `delta.checkpointInterval` and `delta.deletedFileRetentionDuration` are honoured; what only tunes other writers is kept with a warning; others are refused. A changed comment or property is brought to the table by the next run; one that is no longer there stays, as in Spark."},
		{name: "partitioned_by", kind: kindColumns, doc: "Partition columns."},
		{name: "cluster_by", kind: kindColumns, doc: "Clustering columns."},
		{name: "location", kind: kindText, doc: "Folder of the table's data."},
		{name: "moved_from", kind: kindQualified, doc: "Former name: rows, state and checkpoints are kept under the new one, and so are those of its readers. The data stays in its folder. It does nothing once that is done. In a SQL file: TBLPROPERTIES ('pipelines.moved_from' = 'old')."},
	}

	expectationObject = &object{name: "expectation", doc: "A condition that rows should meet. NULL counts as a violation.", keys: []key{
		{name: "name", kind: kindText, required: true, doc: "Name in reports, unique in its dataset."},
		{name: "expect", kind: kindExpr, required: true, doc: "A boolean expression."},
		{name: "on_violation", kind: kindText, values: []string{"warn", "drop", "fail", "quarantine"}, def: "warn", doc: "`warn` keeps and counts the row, `drop` leaves it out, `fail` stops the flow."},
	}}

	deduplicateObject = &object{name: "deduplicate", doc: "Keep the first row of each key.", keys: []key{
		{name: "keys", kind: kindColumns, required: true, doc: "Key columns; `[]` means all."},
		{name: "within_watermark", kind: kindBool, def: "false", doc: "Forget a key when the watermark has passed it."},
	}}

	tableFlowObject = &object{name: "flow", doc: "A query into the table it stands in.", keys: flowKeys}

	flowObject = &object{name: "flow", doc: "A query into a streaming table or a sink.", keys: concat(flowKeys[:1:1], []key{
		{name: "target", kind: kindQualified, required: true, doc: "Streaming table or sink."},
	}, flowKeys[1:])}

	flowKeys = []key{
		{name: "name", kind: kindName, required: true, doc: "Name of the flow, unique in the pipeline."},
		{name: "sql", kind: kindSQL, doc: "The query."},
		{name: "once", kind: kindBool, def: "false", doc: "Run once (and again after a full refresh); the query is a batch query."},
		{name: "auto_cdc", kind: kindObject, object: autoCDCObject, doc: "Apply a stream of changes."},
		{name: "output_mode", kind: kindText, values: []string{"append", "update", "complete"}, def: "append", doc: "`complete` only into sinks."},
		{name: "deduplicate", kind: kindObject, object: deduplicateObject, doc: "Keep the first row of each key of the query's rows. It comes before `expectations`: a row that violates one has used its key up. To judge rows first, put the expectations on a view that the query reads."},
		{name: "trigger", kind: kindTrigger, object: triggerObject, values: triggerWords, doc: triggerDoc},
		{name: "moved_from", kind: kindName, doc: "Former name: the flow goes on from its checkpoint under the new one."},
	}

	autoCDCObject = &object{name: "auto_cdc", doc: "Apply a stream of changes. The names of Databricks' Python API are accepted too.", keys: []key{
		{name: "source", kind: kindQualified, required: true, doc: "A stream: source, table or view."},
		{name: "keys", kind: kindColumns, required: true, doc: "Columns that name a row."},
		{name: "sequence_by", kind: kindExpr, required: true, doc: "Expression (or struct) that orders the changes."},
		{name: "apply_as_deletes", kind: kindExpr, doc: "Condition of changes that delete."},
		{name: "apply_as_truncates", kind: kindExpr, doc: "Condition of changes that empty the table."},
		{name: "columns", aliases: []string{"column_list"}, kind: kindColumns, doc: "Columns that are kept."},
		{name: "except_columns", aliases: []string{"except_column_list"}, kind: kindColumns, doc: "Columns that are left out."},
		{name: "ignore_null_updates", kind: kindBool, def: "false", doc: "NULL in a change keeps the old value."},
		{name: "scd_type", aliases: []string{"stored_as_scd_type"}, kind: kindScalar, values: []string{"1", "2"}, def: "1", doc: "1 keeps the last state, 2 the history."},
		{name: "track_history", aliases: []string{"track_history_column_list"}, kind: kindColumns, doc: "Columns whose change makes a new history row."},
		{name: "track_history_except", aliases: []string{"track_history_except_column_list"}, kind: kindColumns, doc: "Columns whose change makes none."},
	}}

	sinkObject = &object{name: "sink", doc: "A target outside of the storage.", keys: []key{
		{name: "name", kind: kindName, required: true, doc: "Name that flows give as target."},
		{name: "format", kind: kindText, required: true, values: sinkFormats, doc: "Format or connector."},
		{name: "options", kind: kindOptions, doc: "Writer options, as texts."},
		{name: "moved_from", kind: kindName, doc: "Former name: the flows go on from their checkpoints under the new one."},
	}}
)

const triggerDoc = "`available_now`: everything that is there at the start, then end. `triggered`: the same in one epoch a flow. `continuous`: until stopped. `{processing_time: 10 seconds}`: an epoch each interval."

var (
	triggerWords  = []string{"available_now", "triggered", "continuous"}
	sourceFormats = []string{"json", "csv", "parquet", "text", "delta", "rate", "generate", "kafka", "avro", "orc", "xml", "binaryFile"}
	sinkFormats   = []string{"console", "noop", "kafka", "delta", "json", "csv", "parquet", "text"}
)

func concat(lists ...[]key) []key {
	var out []key
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}
