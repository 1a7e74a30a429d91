"""The Spark side of oracles.py: one session runs all queries, interpreted.
usage: oracle_spark.py FILE (pickled views and queries; results to FILE.out)"""

import os
import pickle
import sys

os.environ["TZ"] = "UTC"
from pyspark.sql import SparkSession

with open(sys.argv[1], "rb") as f:
    setup, texts = pickle.load(f)
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.sql.session.timeZone", "UTC")
    .config("spark.sql.ansi.enabled", "true")
    .config("spark.sql.codegen.wholeStage", "false")
    .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    .config("spark.ui.enabled", "false")
    .config("spark.log.level", "OFF")
    .getOrCreate()
)
for s in setup:
    spark.sql(s)


def run(text):
    try:
        frame = spark.sql(text)
        rows = [list(r) for r in frame.collect()]
        return "rows", frame.columns, [f.dataType.simpleString() for f in frame.schema.fields], rows
    except Exception as e:
        get = getattr(e, "getCondition", None)
        return "error", get() if get else type(e).__name__, str(e)[:600]


out = [run(t) for t in texts]
with open(sys.argv[1] + ".out", "wb") as f:
    pickle.dump(out, f)
spark.stop()
