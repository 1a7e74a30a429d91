"""Spark's own SQL test corpus on our binary: the statements of the test jar of
Spark with the results that stand in it. Column names, type names, rows and
classes of errors must be equal, but for the rules of corpus-known.txt.

usage: corpus.py --bin BINARY [-v] [PATTERN ...]

PATTERN is a part of a file's path, such as group-by or postgreSQL/join: only
those files run, and rules that meet nothing are then no failure. -v prints each
difference that no rule names. Kinds of difference:
  rows     other values             noerror  ours answers, Spark refuses
  error    ours refuses, Spark not  class    another class of error
  schema   names or types           none     no result at all
"""

import argparse
import collections
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import zipfile

VERSION = "4.2.0"
here = os.path.dirname(os.path.abspath(__file__))
root = os.path.join(here, "..", "..", ".tools", "spark-tests-" + VERSION)

# Files about what is outside the mission: languages, sketches, XML, collations,
# procedures, plans as text.
OUTSIDE = re.compile(
    r"(udf|udaf|udtf|scripting)/|.*collation|xml-|theta|tuplesketch|kll|hll|st-f|to_from_avro|transform|try_reflect"
    r"|explain|execute-immediate|show-create|describe|sql-path|time\.sql|.*-legacy")

Statement = collections.namedtuple("Statement", "text schema output")
Difference = collections.namedtuple("Difference", "file number kind text want got")


def fetch():
    """The corpus in .tools, fetched by Maven when it is not there."""
    if os.path.isdir(root):
        return
    subprocess.run(["mvn", "-q", "-B", "dependency:copy", f"-Dartifact=org.apache.spark:spark-sql_2.13:{VERSION}:jar:tests",
                    f"-DoutputDirectory={root}.jar"], check=True)
    with zipfile.ZipFile(os.path.join(root + ".jar", f"spark-sql_2.13-{VERSION}-tests.jar")) as jar:
        names = [n for n in jar.namelist() if n.startswith(("sql-tests/", "test-data/postgresql/"))]
        jar.extractall(root, names)


def results(file):
    """The statements of a file of results."""
    with open(os.path.join(root, "sql-tests/results", file + ".out"), encoding="utf-8") as f:
        parts = re.split(r"^-- !query(?: schema| output|)\n", f.read(), flags=re.M)[1:]
    return [Statement(parts[i].rstrip("\n"), parts[i + 1].strip("\n"), parts[i + 2].rstrip("\n")) for i in range(0, len(parts), 3)]


def settings(file):
    """The settings a file asks for, as (name, value)."""
    path = os.path.join(root, "sql-tests/inputs", file)
    out = []
    if not os.path.exists(path):
        return out
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.startswith("--SET "):
                pairs = (p.partition("=") for p in line[6:].split(","))
                out += [(k.strip(), v.strip()) for k, eq, v in pairs if eq]
            elif line.startswith("--IMPORT "):
                out += settings(line[9:].strip())
    return out


def preamble(file, tables):
    """What runs in front of a file: Spark's test tables and the settings."""
    maps = ", ".join("(map(" + ", ".join(f"{k}, '{chr(96 + k)}{n}'" for k in range(1, 7 - n)) + "))" for n in range(1, 6))
    out = [
        "CREATE VIEW testdata AS SELECT CAST(id AS INT) AS key, CAST(id AS STRING) AS value FROM range(1, 101)",
        "CREATE VIEW arraydata AS SELECT * FROM VALUES (array(1, 2, 3), array(array(1, 2, 3))), (array(2, 3, 4), array(array(2, 3, 4))) AS t(arraycol, nestedarraycol)",
        f"CREATE VIEW mapdata AS SELECT * FROM VALUES {maps} AS t(mapcol)",
    ]
    out += [f"CREATE VIEW {n} AS SELECT * FROM parquet.`{tables}/{n}.parquet`" for n in ("aggtest", "onek", "tenk1")]
    values = [("spark.sql.session.timeZone", "America/Los_Angeles")]
    if file.startswith("nonansi/"):
        values.append(("spark.sql.ansi.enabled", "false"))
    if file.startswith("timestampNTZ/"):
        values.append(("spark.sql.timestampType", "TIMESTAMP_NTZ"))
    return out + [f"SET {k}={v}" for k, v in values + settings(file)]


def write_tables(dir):
    """The tables of PostgreSQL's tests as Parquet files."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def lines(name):
        with open(os.path.join(root, "test-data/postgresql", name)) as f:
            return [line.rstrip("\n").split("\t") for line in f]

    rows = lines("agg.data")
    pq.write_table(pa.table({"a": pa.array([int(r[0]) for r in rows], pa.int32()), "b": pa.array([float(r[1]) for r in rows], pa.float32())}),
                   f"{dir}/aggtest.parquet")
    names = ("unique1 unique2 two four ten twenty hundred thousand twothousand fivethous tenthous odd even stringu1 stringu2 string4").split()
    for table, name in (("onek", "onek.data"), ("tenk1", "tenk.data")):
        columns = zip(names, zip(*lines(name)))
        pq.write_table(pa.table({n: pa.array(v) if n.startswith("string") else pa.array(map(int, v), pa.int32()) for n, v in columns}),
                       f"{dir}/{table}.parquet")


def ours(binary, dir, texts):
    """Our results of the statements of one session; None where there is none."""
    starts, line = [], 1
    for t in texts:
        starts.append(line)
        line += t.count("\n") + 2
    with open(os.path.join(dir, "pipeline.yml"), "w", encoding="utf-8") as f:
        f.write("name: corpus\nstorage: ./state\ncatalog: spark_catalog\n")
    p = subprocess.run([binary, "sql", "--continue-on-error", "--output", "jsonstrings", "-f", "-"],
                       input="".join(t + "\n;\n" for t in texts), capture_output=True, text=True, timeout=600, cwd=dir)
    out = [None] * len(texts)
    for r in map(json.loads, p.stdout.splitlines()):
        out[max(i for i, s in enumerate(starts) if s <= r["line"])] = r
    return out


def error_class(statement):
    """The class of the error a statement ends with; None if it does not."""
    if statement.schema not in ("struct<>", "") or not re.match(r"[\w.$]*(Exception|Error)\b", statement.output):
        return None
    found = re.search(r"\{.*\}", statement.output, re.S)
    return json.loads(found.group(0)).get("errorClass", "?") if found else "?"


def same_cell(a, b):
    if a == b:
        return True
    try:
        return math.isclose(float(a), float(b), rel_tol=1e-9)
    except ValueError:
        return False


def same_rows(got, want):
    got, want = (sorted(r.strip() for r in t.split("\n")) for t in (got, want))
    if got == want or not any(got) and not any(want):  # rows without columns are lines without text
        return True
    pairs = [(g.split("\t"), w.split("\t")) for g, w in zip(got, want)]
    return len(got) == len(want) and all(len(g) == len(w) and all(map(same_cell, g, w)) for g, w in pairs)


def described(text):
    """The text of DESCRIBE without what the suite blanks out and pads."""
    lines = [line for line in text.split("\n") if "not included in comparison" not in line and not line.startswith("Provider")]
    return "\n".join("\t".join(cell.strip() for cell in line.split("\t")).rstrip() for line in lines).strip()


def difference(statement, result):
    """The kind of difference and our side of it; None if there is none."""
    want = error_class(statement)
    if result is None:
        return "none", ""
    if "error" in result:
        got = result["error"]["class"]
        if want is None:
            return "error", f"{got}: {result['error']['message']}"
        loose = want == "?" or want.startswith(("_LEGACY", "INTERNAL_ERROR"))
        return None if loose or want == got else ("class", f"{got}: {result['error']['message']}")
    text = "\n".join("\t".join("NULL" if v is None else v for v in row) for row in result["rows"] or [])
    if want is not None:
        return "noerror", text
    output = statement.output
    if "col_name" in statement.schema or "info_name" in statement.schema or "not included in comparison" in output:
        text, output = described(text), described(output)
    if not same_rows(text, output):
        return "rows", text
    schema = "struct<" + ",".join(f"{c['name']}:{c['type']}" for c in result["columns"] or []) + ">"
    return None if statement.schema in (schema, "struct<>") else ("schema", schema)


def run(binary, file, tables):
    """The number of statements of a file, and the differences."""
    stated, front = results(file), preamble(file, tables)
    with tempfile.TemporaryDirectory(prefix="corpus-") as dir:
        got = ours(binary, dir, front + [s.text for s in stated])[len(front):]
    out = []
    for i, (s, r) in enumerate(zip(stated, got)):
        found = difference(s, r)
        if found:
            want = error_class(s) or (s.schema if found[0] == "schema" else s.output)
            out.append(Difference(file, i, found[0], s.text, want, found[1]))
    return len(stated), out


class Rule:
    """A line of corpus-known.txt: file pattern, kinds, pattern in the statement, reason."""

    def __init__(self, line):
        file, kinds, text, self.reason = line.split("\t")
        self.line, self.kinds, self.met = line, kinds.split(","), 0
        self.file, self.text = re.compile(file), re.compile(text, re.S | re.I)

    def covers(self, d):
        if not self.file.search(d.file) or d.kind not in self.kinds and self.kinds != ["*"] or not self.text.search(d.text):
            return False
        self.met += 1
        return True


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--bin", required=True)
    a.add_argument("-v", action="store_true")
    a.add_argument("pattern", nargs="*")
    args = a.parse_args()
    fetch()
    with open(os.path.join(here, "corpus-known.txt"), encoding="utf-8") as f:
        rules = [Rule(line) for line in f.read().splitlines() if line and not line.startswith("#")]
    base = os.path.join(root, "sql-tests/results")
    files = sorted(os.path.relpath(os.path.join(d, n), base)[:-4] for d, _, names in os.walk(base) for n in names if n.endswith(".sql.out"))
    files = [f for f in files if not OUTSIDE.match(f) and (not args.pattern or any(p in f for p in args.pattern))]
    statements, known, bad = 0, collections.Counter(), 0
    with tempfile.TemporaryDirectory(prefix="corpus-tables-") as tables:
        write_tables(tables)
        for file in files:
            n, found = run(os.path.abspath(args.bin), file, tables)
            statements += n
            for d in found:
                rule = next((r for r in rules if r.covers(d)), None)
                if rule:
                    known[rule.reason] += 1
                    continue
                bad += 1
                if args.v:
                    print(f"--- {d.file} #{d.number} {d.kind}\n{d.text}\n  want: {d.want[:1500]}\n  got:  {d.got[:1500]}")
                else:
                    print(f"FAIL {d.kind:8} {d.file} #{d.number} {d.text[:100]!r}")
    idle = [] if args.pattern else [r for r in rules if not r.met]
    for r in idle:
        print("FAIL a rule that meets nothing:", r.line)
    for reason, n in known.most_common():
        print(f"     {n:5} {reason}")
    print(f"{'FAIL' if bad or idle else 'ok  '} {len(files)} files, {statements} statements of Spark {VERSION}'s tests: {statements - bad - sum(known.values())} equal, {sum(known.values())} differ by a rule, {bad} differ")
    sys.exit(1 if bad or idle else 0)


if __name__ == "__main__":
    main()
