package spec

import (
	"slices"
	"strings"

	"pipelines/spec/diag"
)

// honouredKeys are the keys of Spark's and our own namespace that mean something
// beside those that SQL depends on, which a caller hands in (Options.Settings):
// there is one list of them, with the code that reads them.
var honouredKeys = []string{
	"pipelines.commit.interval",
	"pipelines.trigger.interval",
	"spark.sql.streaming.multipleWatermarkPolicy",
	"spark.sql.streaming.noDataMicroBatches.enabled",
	"spark.sql.pipelines.maxFlowRetryAttempts",
	"spark.sql.pipelines.execution.maxConcurrentFlows",
}

// harmlessKeys can have no effect on results here.
var harmlessKeys = []string{
	"spark.sql.shuffle.partitions",
	"spark.sql.catalogImplementation",
	"spark.sql.warehouse.dir",
	"spark.sql.leafNodeDefaultParallelism",
	"spark.sql.files.maxPartitionBytes",
	"spark.sql.autoBroadcastJoinThreshold",
	"spark.sql.pipelines.execution.streamstate.pollingInterval",
	"spark.sql.pipelines.execution.watchdog.minRetryTime",
	"spark.sql.pipelines.execution.watchdog.maxRetryTime",
	"spark.sql.pipelines.timeoutMsForTerminationJoinAndLock",
	"spark.sql.streaming.stateStore.providerClass",
	"spark.sql.streaming.schemaInference",
}

// ignoredPrefixes start keys that steer how Spark works inside.
var ignoredPrefixes = []string{
	"spark.sql.optimizer.", "spark.sql.codegen.", "spark.sql.adaptive.", "spark.sql.join.", "spark.sql.ui.",
	"spark.sql.execution.arrow.", "spark.sql.parquet.", "spark.sql.orc.", "spark.sql.hive.", "spark.sql.inmemorycolumnarstorage.",
	"spark.sql.catalog.",
}

// UnknownSetting reports a key of Spark's or our namespace that means nothing
// here; the hint names the one that may have been meant. sql are the keys that
// SQL depends on; without them nothing is said of Spark's. Keys are compared as they are, as in Spark.
func UnknownSetting(key string, sql []string) (hint string, unknown bool) {
	low := strings.ToLower(key)
	if spark := strings.HasPrefix(low, "spark.sql."); !spark && !strings.HasPrefix(low, "pipelines.") || spark && sql == nil {
		return "", false
	}
	for _, p := range ignoredPrefixes {
		if strings.HasPrefix(low, p) {
			return "", false
		}
	}
	known := slices.Concat(honouredKeys, harmlessKeys, sql)
	if slices.Contains(known, key) {
		return "", false
	}
	return diag.DidYouMean(key, known), true
}
