"""Reads our tables with delta-rs and pyarrow, and theirs with ours.

python3 tables/testdata/interop.py, with deltalake and pyarrow installed.
"""
import datetime as dt, json, os, shutil, subprocess, sys, tempfile, urllib.parse
import pyarrow as pa, pyarrow.parquet as pq
from deltalake import DeltaTable, write_deltalake

here = os.path.dirname(os.path.abspath(__file__))
root = tempfile.mkdtemp(prefix="interop-")


def go(run, **env):
    p = subprocess.run(["go", "test", "-count=1", "-v", "-run", run, "."], cwd=os.path.join(here, ".."),
                       env={**os.environ, **env}, capture_output=True, text=True)
    if p.returncode:
        sys.exit(p.stdout + p.stderr)
    return p.stdout


def rows(table):
    return sorted(table.to_pylist(), key=lambda r: r["id"])


def plain(text):
    for _ in range(3):  # delta-rs shows some paths decoded once more than others
        text = urllib.parse.unquote(text)
    return text


def wanted(top):
    out = []
    for i in range(top):
        day = {0: dt.date(2026, 1, 1), 1: dt.date(1970, 1, 1), 2: dt.date(1969, 12, 31)}.get(i // 3, dt.date(1970, 1, 2))
        name = "ü" * 40 + str(i) if i % 2 == 0 else None
        out.append(dict(id=i, name=name, at=dt.datetime(2026, 1, 2, 3, 4, 5, 678901, dt.timezone.utc) + dt.timedelta(hours=i),
                        s={"x": i} if i % 2 == 0 else None, tags=["a", str(i)], day=day, item=None if i // 3 == 1 else "a/b c%=d",
                        more=name))
    return out


go("TestInteropWrite", PIPELINES_INTEROP=root)
for kind, top in ("plain", 12), ("checkpoint", 15):
    t = DeltaTable(os.path.join(root, kind))
    got = rows(t.to_pyarrow_table())
    want = wanted(top)
    assert got == want, (kind, [(a, b) for a, b in zip(got, want) if a != b][:2], len(got))
    assert t.transaction_version("app-1") == 7
    assert rows(t.to_pyarrow_table(filters=[("id", ">", 10)])) == want[11:], kind
    assert json.loads(t.schema().to_json()) == json.loads(DeltaTable(os.path.join(root, "plain")).schema().to_json())
    # they go on with our table, then we read it
    extra = t.to_pyarrow_table().slice(0, 2)
    write_deltalake(t, extra, mode="append")
    t.optimize.compact()
    t.create_checkpoint()
    assert len(rows(DeltaTable(os.path.join(root, kind)).to_pyarrow_table())) == top + 2

theirs = os.path.join(root, "theirs")
data = pa.table({"id": pa.array([1, 2, None], pa.int64()), "p": ["x/y", None, "é %"], "d": pa.array([None, 1, 2], pa.decimal128(20, 3)),
                 "ts": pa.array([1, 2, 3], pa.timestamp("us", "UTC")), "st": [{"a": 1}, None, {"a": None}],
                 "l": [[1], None, []], "f": [1.5, float("nan"), None]})
write_deltalake(theirs, data, partition_by=["p"], configuration={"delta.checkpointInterval": "3"})
for i in range(7):
    write_deltalake(theirs, data, mode="append")
write_deltalake(theirs, data, mode="append")
DeltaTable(theirs).create_checkpoint()
DeltaTable(theirs).delete("id = 1")
ntz = os.path.join(root, "ntz")
write_deltalake(ntz, pa.table({"t": pa.array([1, 2], pa.timestamp("us"))}))
dv = os.path.join(root, "dv")
write_deltalake(dv, data, configuration={"delta.enableDeletionVectors": "true"})

out = go("TestInteropRead", PIPELINES_INTEROP_READ=root, PIPELINES_INTEROP_TABLES="plain checkpoint theirs ntz dv")
for line in out.splitlines():
    if "RESULT" not in line:
        continue
    name, text = line.split("RESULT ")[1].split(" ", 1)
    if name == "dv":
        print(name, text)
        continue
    got = json.loads(text)
    t = DeltaTable(os.path.join(root, name))
    assert got["version"] == t.version(), (name, got, t.version())
    assert got["rows"] == t.to_pyarrow_table().num_rows, name
    assert got["schema"] == json.loads(t.schema().to_json()), (name, got["schema"], t.schema().to_json())
    files = sorted(plain(u.replace(os.path.join(root, name) + "/", "")) for u in t.file_uris())
    assert sorted(map(plain, got["files"])) == files, (name, got["files"][:2], files[:2])
    print(name, "ok: version", got["version"], "rows", got["rows"], "writable", got["writable"])
shutil.rmtree(root)
