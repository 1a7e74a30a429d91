package spec

import "strings"

// configurationKey is a key of the configuration that is known.
type configurationKey struct {
	name   string
	effect bool // false: accepted, means nothing on one machine
}

// configurationKeys lists the keys of Spark's and our own namespace that are
// honoured, and those that can have no effect on results here.
var configurationKeys = []configurationKey{
	{"pipelines.commit.interval", true},
	{"pipelines.trigger.interval", true},
	{"pipelines.reset.allowed", true},
	{"spark.sql.ansi.enabled", true},
	{"spark.sql.ansi.doubleQuotedIdentifiers", true},
	{"spark.sql.caseSensitive", true},
	{"spark.sql.decimalOperations.allowPrecisionLoss", true},
	{"spark.sql.groupByAliases", true},
	{"spark.sql.groupByOrdinal", true},
	{"spark.sql.orderByOrdinal", true},
	{"spark.sql.legacy.timeParserPolicy", true},
	{"spark.sql.mapKeyDedupPolicy", true},
	{"spark.sql.session.timeZone", true},
	{"spark.sql.timestampType", true},
	{"spark.sql.storeAssignmentPolicy", true},
	{"spark.sql.crossJoin.enabled", true},
	{"spark.sql.streaming.multipleWatermarkPolicy", true},
	{"spark.sql.streaming.noDataMicroBatches.enabled", true},
	{"spark.sql.pipelines.maxFlowRetryAttempts", true},
	{"spark.sql.pipelines.execution.maxConcurrentFlows", true},
	{"spark.sql.pipelines.execution.watchdog.minRetryTime", true},
	{"spark.sql.pipelines.execution.watchdog.maxRetryTime", true},
	{"spark.sql.columnNameOfCorruptRecord", true},
	{"spark.sql.files.ignoreMissingFiles", true},
	{"spark.sql.files.ignoreCorruptFiles", true},

	{"spark.sql.shuffle.partitions", false},
	{"spark.sql.catalogImplementation", false},
	{"spark.sql.warehouse.dir", false},
	{"spark.sql.leafNodeDefaultParallelism", false},
	{"spark.sql.files.maxPartitionBytes", false},
	{"spark.sql.autoBroadcastJoinThreshold", false},
	{"spark.sql.pipelines.execution.streamstate.pollingInterval", false},
	{"spark.sql.pipelines.timeoutMsForTerminationJoinAndLock", false},
	{"spark.sql.streaming.stateStore.providerClass", false},
	{"spark.sql.streaming.schemaInference", false},
}

// ignoredPrefixes start keys that steer how Spark works inside.
var ignoredPrefixes = []string{
	"spark.sql.optimizer.", "spark.sql.codegen.", "spark.sql.adaptive.", "spark.sql.join.", "spark.sql.ui.",
	"spark.sql.execution.arrow.", "spark.sql.parquet.", "spark.sql.orc.", "spark.sql.hive.", "spark.sql.inmemorycolumnarstorage.",
	"spark.sql.catalog.",
}

// knownConfiguration reports whether a key is honoured or harmless.
func knownConfiguration(key string) bool {
	low := strings.ToLower(key)
	for _, k := range configurationKeys {
		if strings.EqualFold(k.name, key) {
			return true
		}
	}
	for _, p := range ignoredPrefixes {
		if strings.HasPrefix(low, p) {
			return true
		}
	}
	return false
}

func configurationNames() []string {
	out := make([]string, len(configurationKeys))
	for i, k := range configurationKeys {
		out[i] = k.name
	}
	return out
}
