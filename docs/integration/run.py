"""Real peers against the tables of the product: what `make integration` runs.

1. A project writes tables: appends, a schema change, partitions, a log
   checkpoint, overwrites. After each state the rows and the schema that
   deltalake, pandas, Polars, DuckDB and `pipelines sql` read must equal what
   was put in; Spark reads all states at the end, by version.
2. deltalake and Spark write tables, and change copies of ours; `pipelines sql`
   and a pipeline that streams them must read what they read.
3. The Python snippets of the README run on the tables of its tour.

Spark 4.2.0 with Delta 4.4.0 (there is no Delta for Spark 4.3) runs once; skip
it with --no-spark.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import duckdb
import polars as pl
import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

import rows as R

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(os.path.dirname(here))
args = argparse.ArgumentParser()
args.add_argument("--bin", required=True)
args.add_argument("--no-spark", action="store_true")
args.add_argument("--keep", help="work in this folder and keep it")
args = args.parse_args()
args.bin = os.path.abspath(args.bin)

work = args.keep or tempfile.mkdtemp(prefix="integration-")
os.makedirs(work, exist_ok=True)
failures, passed = [], []
spark_jobs = []


def check(what, problem):
    (failures if problem else passed).append(what)
    print(("FAIL " if problem else "ok   ") + what + (f": {problem}" if problem else ""), flush=True)


def product(dir, *words, code=0):
    p = subprocess.run([args.bin, *words], cwd=dir, capture_output=True, text=True)
    if p.returncode != code:
        sys.exit(f"{' '.join(words)} in {dir}: exit {p.returncode}\n{p.stdout}{p.stderr}")
    return p.stdout


def sql(dir, text):
    """The rows of a query as dicts, in the natural JSON form of the product."""
    doc = json.loads(product(dir, "sql", "--output", "json", "-c", text))
    names = [c["name"] for c in doc["columns"]]
    return [dict(zip(names, r)) for r in doc["rows"]]


def ours(rows):
    """Our JSON values in the plain form of rows.py."""
    out = []
    for r in rows:
        r = dict(r)
        for k in ("ts", "last"):
            if isinstance(r.get(k), str):
                base, _, frac = r[k].rstrip("Z").replace("T", " ").partition(".")
                r[k] = f"{base}.{frac:0<6}"
        for k in ("f", "d"):
            if isinstance(r.get(k), (int, float)):
                r[k] = float(f"{r[k]:.9g}")
        if isinstance(r.get("m"), dict):
            r["m"] = sorted([k, v] for k, v in r["m"].items())
        out.append(r)
    return sorted(out, key=lambda r: (r["id"] is None, r["id"]))


def table_path(dir, name):
    for t in json.loads(product(dir, "tables", "--output", "json"))["tables"]:
        if t["name"].endswith("." + name):
            return t["path"], t["version"]
    sys.exit(f"no table {name}")


def peers(what, path, want, schema, key="id"):
    """All quick peers read the newest version of a table."""
    want = R.plain_rows(want, key)
    table = DeltaTable(path)
    arrow = table.to_pyarrow_table()
    check(f"{what}: deltalake rows", R.differences(R.plain_rows(arrow.to_pylist(), key), want))
    fields = [(f["name"], f["type"]) for f in json.loads(table.schema().to_json())["fields"]]
    check(f"{what}: deltalake schema", "" if fields == schema else f"{fields} is not {schema}")
    frame = pl.scan_delta(path).collect()
    check(f"{what}: Polars rows", R.differences(R.plain_rows(frame.to_dicts(), key), want))
    data = table.to_pyarrow_dataset()
    got = duckdb.sql("SELECT * FROM data").to_arrow_table().to_pylist()
    check(f"{what}: DuckDB rows", R.differences(R.plain_rows(got, key), want))
    pandas = table.to_pandas()
    check(f"{what}: pandas rows", "" if sorted(R.plain(v) for v in pandas[key]) == [r[key] for r in want] else "other keys")
    files = sorted(table.file_uris())
    sizes = [os.path.getsize(f.removeprefix("file://")) for f in files]
    check(f"{what}: files", "" if all(sizes) or not want else "an empty file")


def state(what, dir, name, want, schema, key="id"):
    """A state of one of our tables, read by everybody."""
    path, version = table_path(dir, name)
    peers(what, path, want, schema, key)
    if key == "id":
        got = ours(sql(dir, f"SELECT * FROM {name}"))
        check(f"{what}: pipelines sql rows", R.differences(got, R.plain_rows(want)))
    spark_jobs.append({"what": what, "path": path, "version": version, "key": key,
                       "rows": R.plain_rows(want, key), "columns": [n for n, _ in schema]})


ARRAY = {"type": "array", "elementType": "string", "containsNull": True}
MAP = {"type": "map", "keyType": "string", "valueType": "integer", "valueContainsNull": True}


def struct(st):
    return {"type": "struct", "fields": [{"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in st]}


NESTED = {"arr": ARRAY, "m": MAP, "st": struct([("a", "integer"), ("b", "string")])}
DELTA = [(n, t or NESTED[n]) for n, _, t in R.COLUMNS]


def spec(extra=""):
    return f"""name: peers
storage: ./state
sources:
  - name: raw
    format: json
    path: landing
    schema: "{R.SCHEMA}"
streaming_tables:
  - name: flat
    sql: |
      SELECT *{extra} FROM STREAM(raw)
  - name: parts
    partitioned_by: [day, flag]
    sql: |
      SELECT * FROM STREAM(raw)
  - name: local
    sql: |
      SELECT id, CAST(ts AS TIMESTAMP_NTZ) AS ts FROM STREAM(raw)
materialized_views:
  - name: totals
    sql: |
      SELECT day, count(*) AS n, sum(amount) AS total, max(ts) AS last
      FROM flat
      GROUP BY day
"""


def land(dir, name, numbers):
    tmp = os.path.join(dir, "landing", "." + name)
    with open(tmp, "w", encoding="utf-8") as f:
        for i in numbers:
            f.write(R.as_json(R.row(i)) + "\n")
    os.rename(tmp, os.path.join(dir, "landing", name))


def totals(rows):
    out = {}
    for r in rows:
        t = out.setdefault(r["day"], {"day": r["day"], "n": 0, "total": None, "last": None})
        t["n"] += 1
        if r["amount"] is not None:
            t["total"] = (t["total"] or R.D("0.00")) + r["amount"]
        if r["ts"] is not None:
            t["last"] = max(t["last"] or r["ts"], r["ts"])
    return list(out.values())


TOTALS = [("day", "date"), ("n", "long"), ("total", "decimal(22,2)"), ("last", "timestamp")]


def write_side():
    dir = os.path.join(work, "peers")
    os.makedirs(os.path.join(dir, "landing"))
    put = lambda text: open(os.path.join(dir, "pipeline.yml"), "w").write(text)
    put(spec())
    land(dir, "a.json", range(0, 50))
    product(dir, "run")
    want = [R.row(i) for i in range(50)]
    state("first append", dir, "flat", want, DELTA)
    state("first append, partitions", dir, "parts", want, DELTA)
    state("view", dir, "totals", totals(want), TOTALS, "day")

    land(dir, "b.json", range(50, 120))
    product(dir, "run")
    want = [R.row(i) for i in range(120)]
    state("second append", dir, "flat", want, DELTA)
    state("second append, partitions", dir, "parts", want, DELTA)
    state("view overwritten", dir, "totals", totals(want), TOTALS, "day")

    put(spec(", id * 2 AS twice, named_struct('x', si) AS more"))
    land(dir, "c.json", range(120, 130))
    product(dir, "run")
    add = lambda r: r if r["id"] < 120 else {**r, "twice": r["id"] * 2, "more": {"x": r["si"]}}
    old = {"twice": None, "more": None}
    wide = DELTA + [("twice", "long"), ("more", struct([("x", "short")]))]
    rows_at = lambda n: [{**R.row(i), **old} if i < 120 else add(R.row(i)) for i in range(n)]
    state("columns added", dir, "flat", rows_at(130), wide)

    n = 130
    for k in range(12):
        land(dir, f"d{k:02}.json", range(n, n + 2))
        n += 2
        product(dir, "run")
    path, _ = table_path(dir, "flat")
    log = os.listdir(os.path.join(path, "_delta_log"))
    check("log checkpoint written", "" if any(f.endswith(".checkpoint.parquet") for f in log) else f"no checkpoint among {sorted(log)}")
    state("after log checkpoints", dir, "flat", rows_at(n), wide)
    state("after log checkpoints, partitions", dir, "parts", [R.row(i) for i in range(n)], DELTA)
    checkpoint_only(path, rows_at(n), wide)

    path, _ = table_path(dir, "local")
    naive = [{"id": i, "ts": r["ts"] and r["ts"].replace(tzinfo=None)} for i in range(n) for r in [R.row(i)]]
    state("TIMESTAMP_NTZ", dir, "local", naive, [("id", "long"), ("ts", "timestamp_ntz")])

    product(dir, "run", "--full-refresh", "flat")
    full = [{**R.row(i), "twice": i * 2, "more": {"x": R.row(i)["si"]}} for i in range(n)]
    state("full refresh (overwrite)", dir, "flat", full, wide)
    return dir, n


def keyed_side():
    """Tables kept by key (AUTO CDC), rewritten by each run."""
    dir = os.path.join(work, "keyed")
    os.makedirs(os.path.join(dir, "landing"))
    with open(os.path.join(dir, "pipeline.yml"), "w") as f:
        f.write("""name: keyed
storage: ./state
sources:
  - {name: changes, format: json, path: landing, schema: "id BIGINT, name STRING, amount DECIMAL(12,2), op STRING, seq BIGINT"}
streaming_tables:
  - name: newest
    auto_cdc: {source: changes, keys: [id], sequence_by: seq, apply_as_deletes: "op = 'D'", except_columns: [op, seq]}
""")
    want = {}
    for k in range(3):
        with open(os.path.join(dir, "landing", f"{k}.json"), "w") as f:
            for i in range(40):
                id, op = (i * 7 + k * 3) % 25, "D" if (i + k) % 9 == 0 else "U"
                f.write(json.dumps({"id": id, "name": f"n{k}-{i}", "amount": i, "op": op, "seq": k * 100 + i}) + "\n")
                want.pop(id, None) if op == "D" else want.update({id: {"id": id, "name": f"n{k}-{i}", "amount": R.D(f"{i}.00")}})
        product(dir, "run")
        state(f"kept by key, run {k + 1}", dir, "newest", list(want.values()), [("id", "long"), ("name", "string"), ("amount", "decimal(12,2)")])


def checkpoint_only(path, want, schema):
    """A copy of a table whose older commits are gone: readers need the
    checkpoint."""
    copy = os.path.join(work, "checkpoint-only")
    shutil.copytree(path, copy)
    log = os.path.join(copy, "_delta_log")
    last = json.load(open(os.path.join(log, "_last_checkpoint")))["version"]
    for f in os.listdir(log):
        if f.endswith(".json") and f[:20].isdigit() and int(f[:20]) <= last:
            os.remove(os.path.join(log, f))
    peers("checkpoint only", copy, want, schema)
    got = ours(sql(work, f"SELECT * FROM delta.`{copy}`"))
    check("checkpoint only: pipelines sql rows", R.differences(got, R.plain_rows(want)))
    spark_jobs.append({"what": "checkpoint only", "path": copy, "version": None, "key": "id",
                       "rows": R.plain_rows(want), "columns": [n for n, _ in schema]})


def theirs_by_deltalake():
    """deltalake writes a table of its own and goes on with a copy of ours."""
    path = os.path.join(work, "by-deltalake")
    schema = pa.schema([("id", pa.int64()), ("p", pa.string()), ("amount", pa.decimal128(12, 2)), ("ts", pa.timestamp("us", "UTC")),
                        ("st", pa.struct([("a", pa.int32()), ("b", pa.string())])), ("arr", pa.list_(pa.string())), ("f", pa.float32()), ("d", pa.float64())])
    def data(lo, hi):
        return pa.Table.from_pylist([{k: R.row(i).get(k) for k in schema.names} | {"p": [None, "a b", "ü/%="][i % 3]} for i in range(lo, hi)], schema=schema)
    write_deltalake(path, data(0, 30), partition_by=["p"], configuration={"delta.checkpointInterval": "3"})
    for k in range(5):
        write_deltalake(path, data(30 + k * 4, 34 + k * 4), mode="append")
    read_side("deltalake's table", path)
    stream_side("deltalake's table", path)
    t = DeltaTable(path)
    t.delete("id < 10")
    t.optimize.compact()
    t.create_checkpoint()
    read_side("deltalake's table after delete, compact, checkpoint", path)

    copy = os.path.join(work, "ours-continued")
    shutil.copytree(table_path(os.path.join(work, "peers"), "parts")[0], copy)
    t = DeltaTable(copy)
    write_deltalake(copy, t.to_pyarrow_table().slice(0, 5), mode="append")
    DeltaTable(copy).delete("id > 140")
    read_side("our table, continued by deltalake", copy)


def read_side(what, path):
    want = R.plain_rows(DeltaTable(path).to_pyarrow_table().to_pylist())
    check(f"{what}: pipelines sql rows", R.differences(ours(sql(work, f"SELECT * FROM delta.`{path}`")), want))


def stream_side(what, path):
    """A pipeline streams their table: all rows, then only the new ones."""
    dir = os.path.join(work, "stream-" + re.sub(r"\W+", "-", what))
    os.makedirs(dir)
    with open(os.path.join(dir, "pipeline.yml"), "w") as f:
        f.write(f"""name: reader
storage: ./state
sources:
  - {{name: theirs, format: delta, path: {json.dumps(path)}}}
streaming_tables:
  - name: copy
    sql: |
      SELECT * FROM STREAM(theirs)
""")
    product(dir, "run")
    for again in (False, True):
        if again:
            t = DeltaTable(path)
            write_deltalake(path, t.to_pyarrow_table().slice(0, 3), mode="append")
            product(dir, "run")
        want = R.plain_rows(DeltaTable(path).to_pyarrow_table().to_pylist())
        got = R.plain_rows(DeltaTable(table_path(dir, "copy")[0]).to_pyarrow_table().to_pylist())
        check(f"{what}: streamed{' again after an append' if again else ''}", R.differences(got, want))


def snippets():
    """The README's tour, then its Python snippets."""
    text = open(os.path.join(root, "README.md"), encoding="utf-8").read()
    tour = re.search(r"<!-- tour -->(.*?)<!-- end of tour -->", text, re.S).group(1)
    script = "\n".join(re.findall(r"```sh\n(.*?)```", tour, re.S))
    dir = os.path.join(work, "tour")
    os.makedirs(dir)
    env = {**os.environ, "PATH": os.path.dirname(args.bin) + ":" + os.environ["PATH"]}
    subprocess.run(["sh", "-c", script], cwd=dir, env=env, check=True, capture_output=True)
    found = re.findall(r"```python\n(.*?)```\n```text\n(.*?)```", text, re.S)
    for code, want in found:
        p = subprocess.run([sys.executable, "-c", code], cwd=os.path.join(dir, "shop"), capture_output=True, text=True)
        title = code.splitlines()[0].lstrip("# ")
        check(f"README snippet: {title}", "" if p.stdout == want else f"printed {p.stdout!r}, not {want!r} {p.stderr[-500:]}")
    check("README snippets", "" if len(found) >= 4 else f"only {len(found)} found")
    con = duckdb.connect()
    try:
        con.execute(product(os.path.join(dir, "shop"), "tables", "--output", "duckdb"))
    except duckdb.IOException as e:  # the extension has to be downloaded
        print("skip tables --output duckdb: " + str(e).splitlines()[0].split(" at URL")[0])
        return
    got = con.execute("SELECT sum(orders) FROM daily").fetchone()
    check("tables --output duckdb", "" if got == (4,) else f"{got}")


def spark():
    jobs = {"read": spark_jobs, "work": work, "ivy": os.path.join(root, ".tools", "ivy"),
            "copy": table_path(os.path.join(work, "peers"), "parts")[0]}
    path = os.path.join(work, "spark-jobs.json")
    json.dump(jobs, open(path, "w"))
    start = time.time()
    p = subprocess.run([sys.executable, os.path.join(here, "spark.py"), path], text=True, capture_output=True)
    if p.returncode:
        sys.exit(p.stdout + p.stderr[-4000:])
    out = json.load(open(path + ".out"))
    for what, problem in out["checks"]:
        check(what, problem)
    for what, table, want in out["written"]:
        check(f"{what}: pipelines sql rows", R.differences(ours(sql(work, f"SELECT * FROM delta.`{table}`")), want))
    stream_side("Spark's table", out["written"][0][1])
    print(f"Spark {out['version']}: {time.time() - start:.0f} s")


start = time.time()
p = subprocess.run([sys.executable, os.path.join(root, "tables", "testdata", "interop.py")], capture_output=True, text=True)
check("tables/testdata/interop.py (logs written below the product)", "" if p.returncode == 0 else (p.stdout + p.stderr)[-1500:])
for step in (write_side, keyed_side, theirs_by_deltalake, snippets, *([] if args.no_spark else [spark])):
    try:
        step()
    except Exception as e:  # a peer that cannot read at all is a failure, too
        check(step.__name__, repr(e)[:1500])
print(f"{len(passed)} passed, {len(failures)} failed in {time.time() - start:.0f} s")
if not args.keep:
    shutil.rmtree(work)
sys.exit(1 if failures else 0)
