"""The Spark side of sdp.py: runs projects with Spark's Declarative Pipelines.
usage: sdp_spark.py FOLDER: each N.json there gets N.result.
It starts `sdp_spark.py FOLDER PORT` for itself, the Connect server."""

import base64
import contextlib
import datetime as dt
import decimal
import glob
import io
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import traceback
from pathlib import Path

os.environ["TZ"] = "UTC"

# What the recorded results were made with, and nothing that only costs time.
SETTINGS = {
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.streaming.stateStore.maintenanceInterval": "1h",
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
    "spark.sql.streaming.checkpointFileManagerClass": "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager",
    "spark.sql.pipelines.maxFlowRetryAttempts": "0",
    "spark.sql.pipelines.execution.streamstate.pollingInterval": "1",
    "spark.default.parallelism": "1",
    "spark.ui.enabled": "false",
    "spark.log.level": "OFF",
    "spark.driver.memory": "1500m",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


def server(folder, port):
    """A Connect server, until its standard input ends."""
    from pyspark.sql import SparkSession

    b = SparkSession.builder.master("local[2]").config("spark.sql.warehouse.dir", f"{folder}/warehouse").config("spark.connect.grpc.binding.port", port)
    for k, v in SETTINGS.items():
        b = b.config(k, v)
    spark = b.getOrCreate()
    print("up", spark.version, flush=True)
    sys.stdin.read()


def value(v):
    """A value as JSON has it in the results of our binary."""
    if isinstance(v, (bytes, bytearray)):
        return base64.b64encode(v).decode()
    if isinstance(v, decimal.Decimal):
        return format(v, "f")
    if isinstance(v, dt.datetime):
        return v.isoformat()
    if isinstance(v, dt.date):
        return v.isoformat()
    if isinstance(v, tuple):
        return {k: value(x) for k, x in v.asDict().items()} if hasattr(v, "asDict") else [value(x) for x in v]
    if isinstance(v, list):
        return [value(x) for x in v]
    if isinstance(v, dict):
        return {str(k): value(x) for k, x in v.items()}
    if isinstance(v, float) and (v != v or v in (float("inf"), float("-inf"))):
        return str(v)
    return v


CLASS = re.compile(r"\[([A-Z_][A-Z0-9_]*(?:\.[A-Z0-9_]+)?)\]")


def tables(spark):
    """All tables and views that the catalog knows: columns and rows."""
    out = {}
    for db in [r[0] for r in spark.sql("SHOW DATABASES").collect()]:
        for t in [r for r in spark.sql(f"SHOW TABLES IN `{db}`").collect() if not r[2]]:
            try:
                frame = spark.table(f"`{db}`.`{t[1]}`")
                columns = [[f.name, f.dataType.simpleString()] for f in frame.schema.fields]
                out[f"{db}.{t[1]}"] = {"columns": columns, "rows": [[value(x) for x in r] for r in frame.collect()]}
            except Exception as e:
                out[f"{db}.{t[1]}"] = {"error": str(e)[:300]}
    return out


def step(case, step, dir):
    """One command in the project's folder: success, classes, tables."""
    from pyspark.pipelines import cli
    from pyspark.sql import SparkSession

    said, out = io.StringIO(), {"ok": True, "classes": [], "text": ""}
    refresh, full, everything = options(step["args"])
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            cli.run(Path(f"{dir}/spark-pipeline.yml"), full, everything, refresh, step["args"][0] == "dry-run")
    except BaseException as e:
        out["ok"] = False
        condition = getattr(e, "getCondition", lambda: None)()
        out["text"] = f"{type(e).__name__}: {e}"
        out["classes"] = [condition] if condition else CLASS.findall(str(e).split("JVM stacktrace")[0])[:1]
    events = said.getvalue()
    failed = re.findall(r"(?:Failed to resolve flow: |Flow )'\S+(?: has FAILED.*?)?\.?\nError: \[([A-Z_][A-Z0-9_]*(?:\.[A-Z0-9_]+)?)\]", events)
    out["events"] = sorted(set(failed))
    out["log"] = "\n".join(x for x in events.splitlines() if "Flow" in x or "rror" in x)[-3000:]
    spark = SparkSession.builder.getOrCreate()
    if step["args"][0] == "run":
        out["tables"] = tables(spark)
    return out


def options(args):
    import argparse

    names = lambda v: [x.strip() for x in v.split(",") if x.strip()]
    p = argparse.ArgumentParser()
    p.add_argument("command")
    p.add_argument("--full-refresh", type=names, action="extend", default=[])
    p.add_argument("--refresh", type=names, action="extend", default=[])
    p.add_argument("--full-refresh-all", action="store_true")
    a = p.parse_args(args)
    return a.refresh, a.full_refresh, a.full_refresh_all


def clean(warehouse):
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.getOrCreate()
    for db in [r[0] for r in spark.sql("SHOW DATABASES").collect()]:
        for kind in ("VIEWS", "TABLES"):
            for t in [r for r in spark.sql(f"SHOW {kind} IN `{db}`").collect() if not r[2]]:
                with contextlib.suppress(Exception):
                    spark.sql(f"DROP {kind[:-1]} IF EXISTS `{db}`.`{t[1]}`")
        if db != "default":
            spark.sql(f"DROP DATABASE `{db}` CASCADE")
    for name in os.listdir(warehouse) if os.path.isdir(warehouse) else []:
        shutil.rmtree(f"{warehouse}/{name}", ignore_errors=True)
    spark.stop()


def run_case(case, write):
    from pyspark.sql import SparkSession

    dir = case["dir"]
    spark = SparkSession.builder.getOrCreate()
    for db in case.get("databases") or []:
        spark.sql(f"CREATE DATABASE IF NOT EXISTS {db}")
    out = {"steps": []}
    for i, s in enumerate(case["steps"]):
        write(case, i, dir)
        for t in s.get("drop") or []:
            SparkSession.builder.getOrCreate().sql(f"DROP TABLE {t}")
        out["steps"].append(step(case, s, dir))
    return out


def main():
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import sdpcases

    folder = sys.argv[1]
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = str(free.getsockname()[1])
    log = open(f"{folder}/server.log", "w")
    peer = subprocess.Popen([sys.executable, __file__, folder, port], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True)
    try:
        version = peer.stdout.readline().split()[1]
        os.environ["SPARK_REMOTE"] = f"sc://localhost:{port}"
        with open(f"{folder}/version", "w") as f:
            f.write(version)
        for path in sorted(glob.glob(f"{folder}/*.json")):
            with open(path) as f:
                case = json.load(f)
            start = time.time()
            os.makedirs(case["dir"])
            os.chdir(case["dir"])
            try:
                out = run_case(case, sdpcases.write_spark)
            except Exception:
                out = {"broken": traceback.format_exc()[-2000:]}
            clean(f"{folder}/warehouse")
            os.chdir(folder)
            shutil.rmtree(case["dir"], ignore_errors=True)
            out["seconds"] = time.time() - start
            with open(path[: -len("json")] + "part", "w") as f:
                json.dump(out, f, default=str)
            os.rename(path[: -len("json")] + "part", path[: -len("json")] + "result")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(peer.pid, signal.SIGKILL)


if __name__ == "__main__":
    server(*sys.argv[1:]) if len(sys.argv) > 2 else main()
