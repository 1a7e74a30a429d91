"""Generated queries on our binary, on DuckDB and on Spark: same rows, and as
Spark same types, names and classes of errors. usage: see main(), or run.sh.
"""

import argparse
import collections
import datetime as dt
import decimal
import json
import math
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import time

import queries as G

here = os.path.dirname(os.path.abspath(__file__))
D = decimal.Decimal
KINDS = {"int": "int32", "big": "int64", "dbl": "float64", "str": "string", "bool": "bool_", "date": "date32"}


def write_tables(dir, tables):
    """The tables as Parquet files, by pyarrow."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {k: getattr(pa, v)() for k, v in KINDS.items()} | {"dec": pa.decimal128(12, 2), "ts": pa.timestamp("us", "UTC")}
    schema = pa.schema([(c, kinds[t]) for c, t in G.COLUMNS])
    for name, rows in tables.items():
        rows = [r | {"ts": r["ts"] and r["ts"].replace(tzinfo=dt.timezone.utc)} for r in rows]
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), f"{dir}/{name}.parquet")


def views(dir):
    return [f"CREATE TEMPORARY VIEW {n} USING parquet OPTIONS (path '{dir}/{n}.parquet')" for n in G.TABLES]


def plain(text):
    """Spark's text of a query of sqlplan's generator in DuckDB's."""
    if " IN (SELECT " in text or "GROUP BY ALL" in text:  # RULES
        return None
    return text.replace("LEFT SEMI JOIN", "SEMI JOIN").replace("LEFT ANTI JOIN", "ANTI JOIN").replace(" <=> ", " IS NOT DISTINCT FROM ")


# A result: ("rows", names, types, rows) or ("error", class, message).


def ours(bin, dir, texts):
    file = f"{dir}/queries.sql"
    with open(file, "w") as out:
        out.write(";\n".join(views(dir) + texts) + ";\n")
    p = subprocess.run([bin, "sql", "--no-project", "--output", "json", "--continue-on-error", "-f", file], capture_output=True, text=True)
    results = [json.loads(line, parse_float=D) for line in p.stdout.splitlines()]
    if len(results) != len(texts) + len(G.TABLES):
        sys.exit(f"{len(results)} results of {len(texts)} queries\n{p.stderr[-3000:]}")
    return [our_result(r) for r in results[len(G.TABLES):]]


def our_result(r):
    if "error" in r:
        return "error", r["error"]["class"], r["error"]["message"]
    types = [c["type"] for c in r["columns"]]
    return "rows", [c["name"] for c in r["columns"]], types, [[our_value(v, t) for v, t in zip(row, types)] for row in r["rows"]]


def our_value(v, t):
    if v is None:
        return None
    if t.startswith("decimal"):
        return D(v)
    if t in ("double", "float"):
        return float(v)
    if t == "date":
        return dt.date.fromisoformat(v)
    if t.startswith("timestamp"):
        return dt.datetime.fromisoformat(v.replace("Z", ""))
    return v


def theirs(dir, texts):
    """DuckDB's results."""
    import duckdb

    con = duckdb.connect()
    con.execute("SET default_null_order = 'nulls_first_on_asc_last_on_desc'")
    for n in G.TABLES:
        con.execute(f"CREATE VIEW {n} AS SELECT * REPLACE (make_timestamp(epoch_us(ts)) AS ts) FROM read_parquet('{dir}/{n}.parquet')")
    out = []
    for text in texts:
        if text is None:
            out.append(None)
            continue
        try:
            rows = con.execute(text).fetchall()
            out.append(("rows", None, None, rows))
        except Exception as e:
            out.append(("error", type(e).__name__, str(e)))
    return out


def same_value(a, b):
    if a is None or b is None:
        return a is b
    if isinstance(a, (list, tuple)):
        return isinstance(b, (list, tuple)) and len(a) == len(b) and all(map(same_value, a, b))
    number = lambda v: isinstance(v, (int, float, D)) and not isinstance(v, bool)
    if number(a) and number(b):
        if isinstance(a, float) or isinstance(b, float):
            loose = isinstance(a, D) or isinstance(b, D)  # RULES: avg(DECIMAL)
            return a == b or math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-5 if loose else 1e-9) or a != a and b != b
        return a == b
    return type(a) is type(b) and a == b


def sort_key(row):
    def one(v):
        if v is None:
            return "0"
        if isinstance(v, (int, float, D)) and not isinstance(v, bool):
            return f"1{float(v) + 0.0:.6g}"
        return f"2{v}"
    return [one(v) for v in row]


def same_rows(a, b):
    """Whether the rows are the same, in whatever order; doubles nearly."""
    if len(a) != len(b):
        return False
    a, b = sorted(a, key=sort_key), sorted(b, key=sort_key)
    if all(len(x) == len(y) and all(map(same_value, x, y)) for x, y in zip(a, b)):
        return True
    left = list(b)  # two doubles that round apart sort apart
    for x in a:
        hit = next((i for i, y in enumerate(left) if len(x) == len(y) and all(map(same_value, x, y))), None)
        if hit is None:
            return False
        left.pop(hit)
    return True


def only_in(a, b):
    """Up to two rows of a that b lacks."""
    return [x for x in a if not any(all(map(same_value, x, y)) for y in b)][:2]


def difference(got, want, exact):
    """How our result differs, as text; empty if it does not."""
    if got[0] != want[0]:
        return f"{got[:3] if got[0] == 'error' else 'rows'}, theirs {want[:3] if want[0] == 'error' else 'rows'}"
    if got[0] == "error":
        return "" if not exact or got[1] == want[1] else f"error {got[1:]}, theirs {want[1:]}"
    if exact and got[1] != want[1]:
        return f"names {got[1]}, theirs {want[1]}"
    if exact and got[2] != want[2]:
        return f"types {got[2]}, theirs {want[2]}"
    if not same_rows(got[3], want[3]):
        return f"{len(got[3])} rows, theirs {len(want[3])}; only ours {only_in(got[3], want[3])}, only theirs {only_in(want[3], got[3])}"
    return ""


def spark_results(dir, texts):
    path = f"{dir}/spark.pickle"
    with open(path, "wb") as out:
        pickle.dump((views(dir), texts), out)
    p = subprocess.run([sys.executable, os.path.join(here, "oracle_spark.py"), path], text=True, capture_output=True)
    if p.returncode:
        sys.exit(p.stdout + p.stderr[-4000:])
    with open(path + ".out", "rb") as f:
        return pickle.load(f)


# What Spark refuses and we run: its class, what its message has, what it is.
# The generator calls tables t and u, those of subqueries w, and those within them v.
ONLY_OURS = (
    ("UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.UNSUPPORTED_CORRELATED_SCALAR_SUBQUERY", "", "a correlated scalar subquery in the condition of a join"),
    ("UNRESOLVED_COLUMN.WITH_SUGGESTION", r"with name `[tu]`\.`\w+` cannot be resolved.*\? \[`v`\.", "a column of the query around a query around a subquery"),
)


def only_ours(error):
    """Which of ONLY_OURS an error of Spark is, or None."""
    return next((what for name, text, what in ONLY_OURS if error[1] == name and re.search(text, error[2])), None)


# Errors without a class in which Spark's planner ends by a fault of its own.
SPARK_FAULTS = ("java.util.NoSuchElementException: key not found",)


def compare(what, texts, got, want, exact):
    """Prints the differences; returns how many there are."""
    bad, errors = 0, collections.Counter()
    for i, (g, w) in enumerate(zip(got, want)):
        if w is None:
            errors["not asked"] += 1
            continue
        if not exact and g[0] == "error":
            errors["ours fails, too" if w[0] == "error" else "not asked: fails in Spark's dialect"] += 1
            continue
        if exact and w[0] == "error" and only_ours(w):
            errors["refused by Spark only: " + only_ours(w)] += 1
            continue
        if exact and w[0] == "error" and any(fault in w[2] for fault in SPARK_FAULTS):
            errors["Spark's planner fails"] += 1
            continue
        problem = difference(g, w, exact)
        if problem:
            bad += 1
            print(f"FAIL query {i} and {what}: {problem}\n     {texts[i][0]}" + ("" if exact else f"\n     {texts[i][1]}"), flush=True)
        elif g[0] == "error":
            errors[g[1]] += 1
    empty = sum(g[0] == "rows" and not g[3] for g in got)
    print(f"{'FAIL' if bad else 'ok  '} {len(got)} queries as {what}: {bad} differ; {empty} without rows, failing alike {dict(errors)}", flush=True)
    return bad


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--bin", required=True)
    a.add_argument("--no-spark", action="store_true")
    a.add_argument("--keep", help="work in this folder and keep it")
    a.add_argument("--queries", type=int, default=int(os.environ.get("PIPELINES_QUERIES", 300)))
    a.add_argument("--seed", default=os.environ.get("PIPELINES_SEED", "1"))
    a.add_argument("--file", help="more queries, one a line: those of TestRandom in sqlplan")
    a.add_argument("--only", type=int, help="one query of the seed, with all results")
    args = a.parse_args()
    dir = args.keep or tempfile.mkdtemp(prefix="oracles-")
    os.makedirs(dir, exist_ok=True)
    start = time.time()
    write_tables(dir, G.tables(args.seed))
    texts = G.queries(args.seed, args.queries)
    if args.file:
        with open(args.file) as f:
            texts += [(line, plain(line)) for line in map(str.strip, f)]
    if args.only is not None:
        texts = [texts[args.only]]
    got = ours(os.path.abspath(args.bin), dir, [t[0] for t in texts])
    duck = theirs(dir, [t[1] for t in texts])
    bad = compare("DuckDB", texts, got, duck, False)
    if not args.no_spark:
        spark = spark_results(dir, [t[0] for t in texts])
        bad += compare("Spark", texts, got, spark, True)
    if args.only is not None:
        print(texts[0][0], texts[0][1], got, duck, *([] if args.no_spark else [spark]), sep="\n\n")
    print(f"seed {args.seed}: {time.time() - start:.0f} s")
    if not args.keep:
        shutil.rmtree(dir)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
