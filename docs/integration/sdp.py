"""Whole projects on our binary and on Spark's Declarative Pipelines: success,
error classes, tables, columns and rows after each command.
usage: see main(), or run.sh.
"""

import argparse
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

import sdpcases
import sdpgen

here = os.path.dirname(os.path.abspath(__file__))
CLASS = re.compile(r"\[([A-Z_][A-Z0-9_]*(?:\.[A-Z0-9_]+)?)\]")


# Our side.


def ours(bin, case, dir):
    out = {"steps": []}
    for i, step in enumerate(case["steps"]):
        spec = sdpcases.write_ours(case, i, dir)
        call = lambda *a: subprocess.run([bin, a[0], "--spec", spec, *a[1:]], cwd=dir, capture_output=True, text=True, timeout=60)
        for t in step.get("drop") or []:
            shutil.rmtree(f"{dir}/state/tables/main/{t.replace('.', '/')}")
        p = call(*step["args"])
        text = p.stdout + p.stderr
        got = {"ok": p.returncode == 0, "rc": p.returncode, "text": text, "classes": sorted(set(CLASS.findall(text)))}
        if step["args"][0] == "run":
            got["tables"] = tables(call)
        out["steps"].append(got)
    return out


def tables(call):
    p = call("tables", "--output", "json")
    if p.returncode:
        return {}
    out = {}
    for t in json.loads(p.stdout)["tables"]:
        name = t["name"].partition(".")[2]
        if not name:
            continue  # a temporary view
        q = call("sql", "--output", "json", "-c", "SELECT * FROM " + ".".join(f"`{x}`" for x in name.split(".")))
        if q.returncode:
            out[name] = {"error": q.stdout + q.stderr}
            continue
        o = json.loads(q.stdout.splitlines()[0])
        out[name] = {"columns": [[c["name"], c["type"].lower()] for c in o["columns"]], "rows": o["rows"], "kind": t["kind"]}
    return out


# The comparison.


def canonical(v):
    if isinstance(v, bool) or v is None:
        return v
    if isinstance(v, float):
        return float("%.12g" % v)
    if isinstance(v, list):
        return [canonical(x) for x in v]
    if isinstance(v, dict):
        return {k.lower(): canonical(x) for k, x in v.items()}
    if isinstance(v, str) and re.match(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d", v):
        return re.sub(r"(\.\d*?)0*Z?$", r"\1", v.replace(" ", "T") if "." in v else v.rstrip("Z") + ".").rstrip(".")
    return v


def sorted_rows(rows):
    return sorted(json.dumps(canonical(r), sort_keys=True) for r in rows)


def table_difference(name, ours, spark):
    if spark is None and "error" in (ours or {}):
        return None  # defined, and not made yet
    if ours is None or spark is None:
        return f"table {name}: {'not made by us' if ours is None else 'made by us only'}"
    if "error" in ours or "error" in spark:
        return None if "error" in ours and "error" in spark else f"table {name}: ours {ours.get('error', 'can be read')[-300:]}, Spark {spark.get('error', 'can be read')}"
    if ours["columns"] != spark["columns"]:
        return f"table {name}: columns ours {ours['columns']} Spark {spark['columns']}"
    a, b = sorted_rows(ours["rows"]), sorted_rows(spark["rows"])
    if a != b:
        return f"table {name}: {len(a)} rows, Spark {len(b)}: only ours {[x for x in a if x not in b][:3]}, only Spark's {[x for x in b if x not in a][:3]}"
    return None


def step_differences(case, i, ours, spark):
    """All that differs after step i."""
    o, s = ours["steps"][i], spark["steps"][i]
    said = f"step {i + 1} ({' '.join(case['steps'][i]['args'])})"
    wanted = set(s["classes"]) | set(s["events"])
    if o["ok"] and not s["ok"]:
        return [f"{said}: accepted, Spark: {' '.join(sorted(wanted)) or s['text'][:300]}"]
    if s["ok"] and not o["ok"]:
        later = [x for x in spark["steps"][i + 1:] if not x["ok"]]
        classes = {c for x in later for c in x["classes"] + x["events"]} - {"STREAM_FAILED", "COLUMN_NOT_DEFINED_IN_TABLE"}
        if case["steps"][i]["args"][0] == "dry-run" and later and (not classes or classes & set(o["classes"])):
            return []  # found before the run, as the design has it
        return [f"{said}: refused, Spark runs it: {' '.join(o['classes'])} {o['text'].strip()[-400:]}"]
    if not s["ok"]:
        missing = [c for c in sorted(wanted) if c not in o["text"] and c not in ("STREAM_FAILED",)]
        if missing:
            return [f"{said}: class {missing} is not in ours {o['classes']}: {o['text'].strip()[:400]}"]
        if o["rc"] == 2:
            return []
    found = []
    a, b = o.get("tables") or {}, s.get("tables") or {}
    for name in sorted(set(a) | set(b)):
        if not s["ok"] and not (b.get(name) or {}).get("rows"):
            continue  # Spark makes and empties tables before anything runs
        if d := table_difference(name, a.get(name), b.get(name)):
            found.append(f"{said}: {d}")
    return found


class Known:
    """The differences that are meant, each with its reason."""

    def __init__(self, path):
        with open(path) as f:
            self.rules = yaml.safe_load(f)
        for r in self.rules:
            r["hits"] = 0

    def find(self, name, text):
        for r in self.rules:
            if re.fullmatch(r["case"], name) and re.search(r["says"], text):
                r["hits"] += 1
                return r
        return None


def differences(case, ours, spark):
    if "broken" in spark:
        return ["the case is broken: " + spark["broken"]]
    found = []
    for i in range(len(case["steps"])):
        found += step_differences(case, i, ours, spark)
        if found:
            break  # what follows differs for the same reason
    return found


def recorded(case, spark):
    """A case with what Spark made of it, for the tests that run without it."""
    steps = []
    for step, got in zip(case["steps"], spark["steps"]):
        want = {"ok": got["ok"], "classes": sorted((set(got["classes"]) | set(got["events"])) - {"STREAM_FAILED"})}
        if got["ok"] and "tables" in got:
            want["tables"] = {k: t for k, t in got["tables"].items() if "error" not in t}
        steps.append(step | {"want": want})
    return {k: v for k, v in case.items() if k != "sql"} | {"steps": steps}


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--bin", required=True)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=4, help="projects from the generator")
    p.add_argument("--runs", type=int, default=10, help="written projects that run (each some seconds), chosen by the seed; 0: all")
    p.add_argument("--only", default="", help="cases whose name has this text")
    p.add_argument("--known", default=f"{here}/sdp-known.yml")
    p.add_argument("--record", help="write the cases that agree, with Spark's results, to this file")
    p.add_argument("-v", action="store_true", help="say what was compared")
    p.add_argument("files", nargs="*", help="case files; default: all of sdp/")
    a = p.parse_args()
    cases = []
    for path in a.files or sorted(glob.glob(f"{here}/sdp/*.yml")):
        with open(path) as f:
            cases += [c | {"files": {"t/a.sql": c["sql"]}} if "sql" in c else c for c in yaml.safe_load(f)]
    every = not a.runs or bool(a.only or a.files)
    if not every:
        slow = [c["name"] for c in cases if any(s["args"][0] == "run" for s in c.get("steps", []))]
        left = set(random.Random(a.seed).sample(slow, max(0, len(slow) - a.runs)))
        cases = [c for c in cases if c["name"] not in left]
    if not a.files:
        cases += [sdpgen.generate(a.seed * 1000 + n) for n in range(a.count)]
    cases = [c for c in cases if a.only in c["name"]]
    work = tempfile.mkdtemp(prefix="sdp-", dir=os.environ.get("SDP_TMP", "/dev/shm"))
    try:
        sys.exit(compare(a, cases, work, every and not a.only and not a.files))
    finally:
        shutil.rmtree(work, ignore_errors=True)


def compare(a, cases, work, every):
    os.makedirs(f"{work}/spark")
    for n, case in enumerate(cases):
        case.setdefault("steps", [{"args": ["dry-run"]}])
        with open(f"{work}/spark/{n:04d}.json", "w") as f:
            json.dump(case | {"dir": f"{work}/spark/case{n:04d}"}, f)
    peer = subprocess.Popen([sys.executable, f"{here}/sdp_spark.py", f"{work}/spark"])
    try:
        mine = []
        for n, case in enumerate(cases):
            dir = f"{work}/ours{n:04d}"
            os.makedirs(dir)
            mine.append(ours(a.bin, case, dir))
            shutil.rmtree(dir)
        peer.wait()
    finally:
        peer.terminate()
    if peer.returncode:
        print("Spark's side ended with", peer.returncode)
        with open(f"{work}/spark/server.log") as f:
            print(f.read()[-2000:])
        return 1
    known, bad, meant, agreed = Known(a.known), 0, 0, []
    for n, case in enumerate(cases):
        with open(f"{work}/spark/{n:04d}.result") as f:
            spark = json.load(f)
        found = differences(case, mine[n], spark)
        if a.v:
            print(f"{case['name']}: {spark.get('seconds', 0):.1f} s")
            for i, (x, y) in enumerate(zip(mine[n]["steps"], spark.get("steps", []))):
                print(f"  step {i + 1}: ours {x['rc']} {x['classes']} Spark {y['ok']} {y['classes']} {y['events']} {y['text'][:200]!r} tables {len(y.get('tables', {}))}")
        if not found:
            agreed.append(recorded(case, spark))
        unknown = [d for d in found if not known.find(case["name"], d)]
        for d in unknown:
            print(f"DIFF {case['name']}: {d}", flush=True)
        bad += bool(unknown)
        meant += bool(found) and not unknown
    if every:
        for r in known.rules:
            if not r["hits"] and not r["case"].startswith("generated"):
                print(f"KNOWN without a case: {r['case']}")
                bad += 1
    if a.record:
        with open(a.record, "w") as f:
            f.writelines(json.dumps(c, sort_keys=True) + "\n" for c in agreed)
    with open(f"{work}/spark/version") as f:
        print(f"sdp.py: {len(cases)} projects against Spark {f.read()}: {len(cases) - bad - meant} equal, {meant} differ as meant, {bad} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    main()
