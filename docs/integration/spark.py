"""The Spark side of run.py: one session that reads all states of our tables,
writes a table of its own, and changes a copy of ours. usage: spark.py JOBS"""

import json
import os
import shutil
import sys

from pyspark.sql import SparkSession

import rows as R

jobs = json.load(open(sys.argv[1]))
os.environ["TZ"] = "UTC"
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.jars.packages", "io.delta:delta-spark_4.2_2.13:4.4.0")
    .config("spark.jars.ivy", jobs["ivy"])
    .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    .config("spark.databricks.delta.snapshotPartitions", "1")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.sql.session.timeZone", "UTC")
    .config("spark.ui.enabled", "false")
    .config("spark.log.level", "ERROR")
    .getOrCreate()
)
out = {"version": spark.version, "checks": [], "written": []}


def read(path, version=None):
    reader = spark.read.format("delta")
    if version is not None:
        reader = reader.option("versionAsOf", version)
    return reader.load(path)


def plain(frame, key="id"):
    got = R.plain_rows([r.asDict(recursive=True) for r in frame.collect()], key)
    return json.loads(json.dumps(got))  # as the wanted rows came: through JSON


for j in jobs["read"]:
    try:
        frame = read(j["path"], j["version"])
        problem = R.differences(plain(frame, j["key"]), j["rows"])
        if not problem and frame.columns != j["columns"]:
            problem = f"columns {frame.columns}"
    except Exception as e:
        problem = repr(e)[:800]
    out["checks"].append([f"{j['what']}: Spark rows at version {j['version']}", problem])

# A table that Spark makes: partitions, INT96 timestamps, a delete, a checkpoint.
mine = os.path.join(jobs["work"], "by-spark")
spark.createDataFrame([], "x INT")  # warms the session before the writes
columns = ", ".join(f"{n} {t}" for n, t, _ in R.COLUMNS)
spark.sql(f"CREATE TABLE delta.`{mine}` ({columns}, p STRING) USING delta PARTITIONED BY (p) TBLPROPERTIES ('delta.checkpointInterval' = '3')")
schema = read(mine).schema
for k in range(4):
    data = []
    for i in range(k * 10, k * 10 + 10):
        r = R.row(i)
        data.append([r[n] for n, _, _ in R.COLUMNS] + [[None, "a b", "ü/%="][i % 3]])
    spark.createDataFrame(data, schema).coalesce(1).write.format("delta").mode("append").save(mine)
out["written"].append(["Spark's table", mine, plain(read(mine))])

# The same after a delete and an update that rewrite files.
changed = os.path.join(jobs["work"], "by-spark-changed")
shutil.copytree(mine, changed)
spark.sql(f"DELETE FROM delta.`{changed}` WHERE id < 7")
spark.sql(f"UPDATE delta.`{changed}` SET s = 'changed' WHERE id = 20")
out["written"].append(["Spark's table after DELETE and UPDATE", changed, plain(read(changed))])

# A copy of our table, continued by Spark.
copy = os.path.join(jobs["work"], "ours-continued-by-spark")
shutil.copytree(jobs["copy"], copy)
frame = read(copy)
frame.limit(5).write.format("delta").mode("append").save(copy)
spark.sql(f"DELETE FROM delta.`{copy}` WHERE id > 140")
out["written"].append(["our table, continued by Spark", copy, plain(read(copy))])
version = spark.sql(f"DESCRIBE HISTORY delta.`{copy}`").count()
out["checks"].append(["our table, continued by Spark: history is shown", "" if version > 3 else f"{version} versions"])

json.dump(out, open(sys.argv[1] + ".out", "w"))
spark.stop()
