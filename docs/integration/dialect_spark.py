"""The Spark side of dialect.py: runs the statements of JOBS (JSON: [[file,
[statement, ...]], ...]) in one application, each file in a session of its own,
and writes what each gave to JOBS.out: {"columns": [[name, type], ...],
"rows": [text, ...]} as Spark's SQL shell prints them, or {"error": class}.
usage: dialect_spark.py JOBS"""

import json
import sys
import tempfile

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

jobs = json.load(open(sys.argv[1]))
warehouse = tempfile.mkdtemp(prefix="dialect-warehouse-")
root = (
    SparkSession.builder.master("local[1]")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.sql.session.timeZone", "UTC")
    .config("spark.sql.warehouse.dir", warehouse)
    .config("spark.sql.catalogImplementation", "in-memory")
    .config("spark.driver.extraJavaOptions", f"-Dderby.system.home={warehouse} -Duser.timezone=UTC")
    .config("spark.ui.enabled", "false")
    .config("spark.log.level", "OFF")
    .getOrCreate()
)
printed = root._jvm.org.apache.spark.sql.execution.HiveResult


def error_class(e):
    """The error class of an exception or of what caused it."""
    if isinstance(e, PySparkException) and e.getCondition():
        return e.getCondition()
    cause = getattr(e, "_origin", None) or getattr(e, "java_exception", None)
    while cause is not None:
        if hasattr(cause, "getCondition"):
            try:
                if cause.getCondition():
                    return cause.getCondition()
            except Exception:  # not a SparkThrowable
                pass
        cause = cause.getCause()
    return "?" + str(e).splitlines()[0][:200]


def run(spark, statement):
    try:
        frame = spark.sql(statement)
        lines = printed.hiveResultString(frame._jdf.queryExecution().executedPlan())
        rows = [lines.apply(i) for i in range(lines.size())]
        return {"columns": [[f.name, f.dataType.simpleString()] for f in frame.schema.fields], "rows": rows}
    except Exception as e:
        return {"error": error_class(e)}


out = []
for name, statements in jobs:
    spark = root.newSession()
    root._jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(spark._jsparkSession)  # what is printed follows its settings
    for table in spark.catalog.listTables():
        spark.sql(f"DROP TABLE IF EXISTS {table.name}")
    out.append([run(spark, s) for s in statements])
json.dump(out, open(sys.argv[1] + ".out", "w"))
root.stop()
