"""The Spark side of streams.py: runs streaming cases, batch by batch.
usage: streams_spark.py FOLDER: each case N.pickle there gets N.result."""

import glob
import os
import pickle
import re
import shutil
import sys
import tempfile

os.environ["TZ"] = "UTC"
from pyspark.sql import SparkSession
from pyspark.java_gateway import ensure_callback_server_started

import streams_io as io

# What the recorded results were made with, and nothing that only costs time.
SETTINGS = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.streaming.numRecentProgressUpdates": "1000",
    "spark.sql.streaming.stateStore.maintenanceInterval": "1h",
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.sql.streaming.checkpointFileManagerClass": "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager",
    "spark.default.parallelism": "1",
    "spark.ui.enabled": "false",
    "spark.log.level": "OFF",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


class Locked:
    """A Scala function that runs while the stream cannot plan a batch."""

    class Java:
        implements = ["scala.Function0"]

    def __init__(self, work):
        self.work = work

    def apply(self):
        self.work()
        return None


class Query:
    """One case as a query with its checkpoint."""

    def __init__(self, spark, case, dir):
        self.spark, self.case, self.dir = spark, case, dir
        self.rows, self.query, self.failed = {}, None, None
        self.reported = set()

    def frame(self):
        spark, case = self.spark, self.case
        for name, ddl in case["inputs"].items():
            os.makedirs(f"{self.dir}/in/{name}", exist_ok=True)
            spark.readStream.schema(ddl).json(f"{self.dir}/in/{name}").createOrReplaceTempView(name)
        for name, table in (case.get("static") or {}).items():
            if not os.path.exists(f"{self.dir}/static/{name}"):
                os.makedirs(f"{self.dir}/static/{name}")
                io.write_rows(f"{self.dir}/static/{name}/rows.json", io.columns(table["schema"]), table["rows"])
            spark.read.schema(table["schema"]).json(f"{self.dir}/static/{name}").createOrReplaceTempView(name)
        out = spark.sql(case["query"])
        if dedup := case.get("dedup"):
            keys = dedup.get("keys") or None
            out = out.dropDuplicatesWithinWatermark(keys) if dedup.get("within_watermark") else out.dropDuplicates(keys)
            out.createOrReplaceTempView("deduped")
            if case.get("then"):
                out = spark.sql(case["then"])
        return out

    def start(self):
        out = self.frame()
        self.types = [(f.name, f.dataType.jsonValue()) for f in out.schema.fields]

        def keep(frame, batch):
            self.rows[batch] = [io.plain(r) for r in frame.collect()]

        writer = out.writeStream.outputMode(self.case["output_mode"]).option("checkpointLocation", f"{self.dir}/checkpoint")
        self.query = writer.foreachBatch(keep).start()

    def add(self, rows, step):
        """Puts the rows of all inputs into one batch and waits for what follows."""

        def write():
            for name, list in rows.items():
                io.write_rows(f"{self.dir}/in/{name}/b{step:04d}.json", io.columns(self.case["inputs"][name]), list)

        self.query._jsq.streamingQuery().withProgressLocked(Locked(write))
        self.query.processAllAvailable()
        return self.news()

    def news(self):
        """The batches that ended since the last call."""
        last = {p["batchId"]: p for p in map(dict_of, self.query.recentProgress)}
        out = []
        for batch in sorted(b for b in self.rows if b not in self.reported):
            self.reported.add(batch)
            p = last.get(batch, {})
            out.append({
                "batch": batch, "rows": self.rows[batch], "no_data": p.get("numInputRows") == 0,
                "watermark": (p.get("eventTime") or {}).get("watermark"), "took": p.get("durationMs"),
                "operators": [operator(o) for o in p.get("stateOperators", [])],
            })
        return out

    def stop(self):
        if self.query is not None:
            self.query.stop()
            self.query = None


def dict_of(progress):
    import json
    return json.loads(progress.json)


def operator(o):
    return {
        "name": o["operatorName"], "total": o["numRowsTotal"], "updated": o["numRowsUpdated"],
        "removed": o["numRowsRemoved"], "dropped": o["numRowsDroppedByWatermark"],
    }


# Classes that say only where something failed.
WRAPPERS = ("STREAM_FAILED", "FOREACH_BATCH_USER_FUNCTION_ERROR")


def error_of(e):
    """Class and text of the failure, the first class that says what failed."""
    text, found = str(e), None
    get = getattr(e, "getCondition", None)
    classes = ([get()] if get and get() else []) + re.findall(r"\[([A-Z][A-Z0-9_]*(?:\.[A-Z0-9_]+)?)\]", text)
    found = next((c for c in classes if c not in WRAPPERS), classes[0] if classes else None)
    return {"class": found, "text": text[:1500]}


def run(spark, case):
    """The result of a case: types, and for each step its batches or its error."""
    dir = tempfile.mkdtemp(prefix="streams-", dir=os.environ.get("STREAMS_TMP", "/dev/shm"))
    for k, v in (case.get("conf") or {}).items():
        spark.conf.set(k, v)
    q, steps = Query(spark, case, dir), []
    out = {"steps": steps}
    try:
        q.start()
        out["types"] = q.types
        for i, step in enumerate(io.steps(case)):
            if step.get("restart"):
                q.stop()
                if step.get("uncommitted"):
                    io.lose_commit(f"{dir}/checkpoint")
                    q.reported.discard(max(q.rows))
                q.start()
            steps.append(q.add(step.get("in") or {}, i))
    except Exception as e:
        out["error"] = error_of(e)
    finally:
        q.stop()
        for k in case.get("conf") or {}:
            spark.conf.unset(k)
        shutil.rmtree(dir, ignore_errors=True)
    return out


def main():
    builder = SparkSession.builder.master("local[1]")
    for k, v in SETTINGS.items():
        builder = builder.config(k, v)
    spark = builder.getOrCreate()
    ensure_callback_server_started(spark.sparkContext._gateway)
    for path in sorted(glob.glob(f"{sys.argv[1]}/*.pickle")):
        with open(path, "rb") as f:
            case = pickle.load(f)
        done = path[: -len(".pickle")] + ".result"
        if os.path.exists(done):
            continue
        result = run(spark, case)
        with open(done + ".tmp", "wb") as f:
            pickle.dump(result, f)
        os.rename(done + ".tmp", done)
    spark.stop()


if __name__ == "__main__":
    main()
