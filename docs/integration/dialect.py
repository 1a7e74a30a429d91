"""The same statements on Spark and on `pipelines sql`: columns, type names,
values as the SQL shell prints them, and error classes must be equal.

usage: dialect.py --bin BINARY [--spark RESULTS] [--write RESULTS] FILE.sql ...

A file holds statements, each ended by ";" at the end of a line, and runs as one
session. Comment lines in front of a statement:
  -- unordered      the rows are a multiset
  -- differs: WHY   the results differ on purpose; equal ones are then a failure
  -- any error      Spark's error has no name, or one of another kind
A file whose first line is "-- sessions: NAME SET ...; NAME SET ...;" runs as
one session for each name, behind its SET; "-- NAME: note" is then for it alone.
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

here = os.path.dirname(os.path.abspath(__file__))
NOISE = ("_LEGACY_ERROR_TEMP", "INTERNAL_ERROR", "?")


def sessions(path):
    """The sessions of a file: (name, text, statements)."""
    body, base = open(path, encoding="utf-8").read(), os.path.basename(path)
    first, _, rest = body.partition("\n")
    if not first.startswith("-- sessions: "):
        return [(base, body, statements(path, body))]
    out, settings = [], re.findall(r"(\w+) (SET [^;]*;)", first)
    for name, setting in settings:
        others = tuple(f"{n}: " for n, _ in settings if n != name)
        text = setting + "\n" + rest
        out.append((f"{base} ({name})", text, [
            (line, [n.removeprefix(name + ": ") for n in notes if not n.startswith(others)], s)
            for line, notes, s in statements(path, text)]))
    return out


def statements(path, body):
    """The statements of a text: (line, notes, text)."""
    out, notes, text, start = [], [], [], 0
    for number, line in enumerate(body.split("\n"), 1):
        if not text and (line.startswith("-- ") or not line.strip()):
            notes += [line[3:]] if line.strip() else []
            continue
        start = start or number
        text.append(line)
        if line.rstrip().endswith(";"):
            out.append((start, notes, "\n".join(text).rstrip()[:-1]))
            notes, text, start = [], [], 0
    if text:
        sys.exit(f"{path}:{start}: no ; at the end")
    return out


def ours(binary, text):
    p = subprocess.run([binary, "sql", "--no-project", "--continue-on-error", "--output", "jsonstrings", "-f", "-"],
                       input=text, capture_output=True, text=True, timeout=600, cwd=tempfile.gettempdir())
    got = [json.loads(line) for line in p.stdout.splitlines()]
    for g in got:
        if "error" in g:
            yield {"error": g["error"]["class"], "message": g["error"]["message"]}
        else:
            rows = ["\t".join("NULL" if v is None else v for v in r) for r in g["rows"]]
            yield {"columns": [[c["name"], c["type"]] for c in g["columns"]], "rows": rows}


def near(a, b, tolerance):
    """Equal texts, or the same text but for the last digits of floats."""
    if a == b:
        return True
    number = r"-?\d+\.\d+(?:E-?\d+)?"
    if re.sub(number, "#", a) != re.sub(number, "#", b):
        return False
    return all(x == y or ("." in x and math.isclose(float(x), float(y), rel_tol=tolerance, abs_tol=1e-15))
               for x, y in zip(re.findall(number, a), re.findall(number, b)))


def difference(notes, got, want):
    """Why our result is not Spark's, or None."""
    if "error" in want:
        if "error" not in got:
            return f"Spark fails with {want['error']}, ours gives {shown(got)}"
        loose = want["error"].startswith(NOISE) or "any error" in notes
        return None if loose or got["error"] == want["error"] else f"Spark fails with {want['error']}, ours with {got['error']}: {got['message']}"
    if "error" in got:
        return f"Spark gives {shown(want)}, ours fails with {got['error']}: {got['message']}"
    if not want["columns"]:  # a command: that it succeeds is all
        return None
    a, b = got["rows"], want["rows"]
    if want["columns"][0][0] == "col_name":  # DESCRIBE: Spark's shell pads
        a, b = [[re.sub(r" *(\t|$)", r"\1", r) for r in rows] for rows in (a, b)]
    if "unordered" in notes:
        a, b = sorted(a), sorted(b)
    if got["columns"] != want["columns"]:
        return f"Spark's columns are {want['columns']}, ours {got['columns']}"
    tolerance = 1e-6 if any("float" in t for _, t in want["columns"]) else 1e-12
    if len(a) != len(b) or not all(near(x, y, tolerance) for x, y in zip(a, b)):
        return f"Spark gives {shown(want)}, ours {shown(got)}"
    return None


def shown(result):
    return str(result.get("rows", result))[:600] + "  " + str([t for _, t in result["columns"]])[:200]


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--bin", required=True)
    args.add_argument("--spark", help="Spark's results of an earlier run, not Spark itself")
    args.add_argument("--write", help="keep Spark's results in this file")
    args.add_argument("files", nargs="+")
    args = args.parse_args()
    jobs = [s for f in args.files for s in sessions(f)]
    if args.spark:
        wanted = json.load(open(args.spark))
    else:
        with tempfile.TemporaryDirectory(prefix="dialect-") as work:
            path = os.path.join(work, "jobs")
            json.dump([[f, [s for _, _, s in st]] for f, _, st in jobs], open(path, "w"))
            log = open(path + ".log", "w+")
            if subprocess.run([sys.executable, os.path.join(here, "dialect_spark.py"), path], stdout=log, stderr=log).returncode:
                log.seek(0)
                sys.exit("Spark: " + log.read()[-3000:])
            results = json.load(open(path + ".out"))
            wanted = {f: [[s, r] for (_, _, s), r in zip(st, rs)] for (f, _, st), rs in zip(jobs, results)}
        if args.write:
            json.dump(wanted, open(args.write, "w"))
    count, failed = collections.Counter(), 0
    for name, body, stated in jobs:
        got = list(ours(os.path.abspath(args.bin), body))
        if len(got) != len(stated):
            sys.exit(f"{name}: {len(stated)} statements, {len(got)} results")
        for (line, notes, text), g, (asked, want) in zip(stated, got, wanted[name]):
            if asked != text:
                sys.exit(f"{name}:{line}: the kept results are of other statements")
            why = difference(notes, g, want)
            if any(n.startswith("differs:") for n in notes):
                why = None if why else "no longer differs: take the note away"
                count["differ on purpose"] += 1
            count["statements"] += 1
            if why:
                failed += 1
                print(f"{name}:{line}: {text[:300]}\n    {why}")
    print(f"{count['statements']} statements, {failed} failed, {count['differ on purpose']} differ on purpose")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
