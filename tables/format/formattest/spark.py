"""Fills the expected results of spark.jsonl with those of a real Spark.

    python tables/format/formattest/spark.py tables/format/{csv,json}/testdata/spark.jsonl

A line is a case: name, options, schema (DDL; absent: inferred), data (the
file's text). Written beside: the columns as Spark's JSON form of a schema, and
the rows as to_json shows them or the condition of the error. A line that has
them is left as it is: delete them to run it again. "ours" is what we read where
that differs on purpose, with the reason.
"""
import json
import os
import re
import sys
import tempfile

os.environ["TZ"] = "UTC"
from pyspark.sql import SparkSession

ROW = "map('ignoreNullFields','false','timestampFormat','yyyy-MM-dd HH:mm:ss.SSSSSS','timestampNTZFormat','yyyy-MM-dd HH:mm:ss.SSSSSS')"


def condition(e):
    get = getattr(e, "getCondition", None) or getattr(e, "getErrorClass", None)
    if get and get():
        return get()
    java = getattr(e, "java_exception", None)
    while java is not None:  # the job's failure has the condition of the task's in its text
        found = re.search(r"\[([A-Z_]+(\.[A-Z_]+)*)\]", java.getMessage() or "")
        if found:
            return found.group(1)
        java = java.getCause()
    return type(e).__name__ + ": " + str(e).split("\n")[0][:200]


def run(spark, fmt, case, folder):
    with open(os.path.join(folder, "f." + fmt), "wb") as f:
        f.write(case["data"].encode("utf-8"))
    out = {}
    try:
        r = spark.read.format(fmt).options(**case.get("options", {}))
        if "schema" in case:
            r = r.schema(case["schema"])
        df = r.load(folder)
        out["columns"] = json.loads(df.schema.json())
        if not df.columns:
            out["rows"] = ["{}"] * df.count()
            return out
        rows = df.cache().selectExpr("to_json(struct(*), %s) AS j" % ROW).collect()
        df.unpersist()
        out["rows"] = [row.j for row in rows]
    except Exception as e:
        out["error"] = condition(e)
    return out


def main():
    spark = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.sql.session.timeZone", "UTC")
             .config("spark.driver.extraJavaOptions", "-Duser.timezone=UTC").config("spark.sql.shuffle.partitions", "1").getOrCreate())
    spark.sparkContext.setLogLevel("OFF")
    for path in sys.argv[1:]:
        fmt = path.split("/")[-3]
        lines = []
        for line in open(path, encoding="utf-8"):
            case = json.loads(line)
            if "rows" not in case and "error" not in case:
                with tempfile.TemporaryDirectory() as folder:
                    case.update(run(spark, fmt, case, folder))
            lines.append(json.dumps(case, ensure_ascii=False))
        with open(path, "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")


main()
