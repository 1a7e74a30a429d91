"""Streaming queries on our binary and on Spark, micro-batch by micro-batch:
rows, watermarks, no-data batches, state counts, classes of refusals.
usage: see main(), or run.sh.
"""

import argparse
import collections
import datetime as dt
import hashlib
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import time

import yaml

import streamcases
import streams_io as io
from oracles import same_rows

here = os.path.dirname(os.path.abspath(__file__))
D = io.D


# Our side.


def project(case, dir):
    """The case as a project whose sink appends to out.jsonl."""
    conf = {"spark.sql.session.timeZone": "UTC"} | {k: str(v) for k, v in (case.get("conf") or {}).items()}
    spec = {
        "name": "case", "storage": "./state", "database": "default", "configuration": conf, "sources": [],
        "sinks": [{"name": "out", "format": "console", "options": {"path": "out.jsonl"}}],
    }
    for name, ddl in case["inputs"].items():
        os.makedirs(f"{dir}/in/{name}")
        spec["sources"].append({"name": name, "format": "json", "path": f"in/{name}", "schema": ddl})
    for name, table in (case.get("static") or {}).items():
        os.makedirs(f"{dir}/static/{name}")
        io.write_rows(f"{dir}/static/{name}/rows.json", io.columns(table["schema"]), table["rows"])
        spec["sources"].append({"name": name, "format": "json", "path": f"static/{name}", "schema": table["schema"]})
    sql = case["query"]
    if case.get("dedup"):
        spec["views"] = [{"name": "deduped", "sql": sql, "deduplicate": case["dedup"]}]
        sql = case.get("then") or "SELECT * FROM STREAM(deduped)"
    spec["flows"] = [{"name": "f", "target": "out", "output_mode": case["output_mode"], "sql": sql}]
    with open(f"{dir}/pipeline.yml", "w") as f:
        yaml.safe_dump(spec, f, sort_keys=False)


def ours(bin, case):
    """Our result, in the form of Spark's: for each step its batches."""
    dir = tempfile.mkdtemp(prefix="streams-", dir=os.environ.get("STREAMS_TMP", "/dev/shm"))
    out = {"steps": []}
    try:
        project(case, dir)
        seen = 0
        for i, step in enumerate(io.steps(case)):
            for name, rows in (step.get("in") or {}).items():
                io.write_rows(f"{dir}/in/{name}/b{i:04d}.json", io.columns(case["inputs"][name]), rows)
            p = subprocess.run([bin, "run", "--trigger", "available_now", "--output", "json"], cwd=dir, capture_output=True, text=True, timeout=60)
            if p.returncode:
                text = p.stderr + p.stdout
                found = re.search(r"\berror\b.*?\[([A-Z_][A-Z0-9_]*(?:\.[A-Z0-9_]+)?)\]", text, re.S)
                out["error"] = {"class": found and found.group(1), "text": text[-1500:]}
                break
            lines = []
            if os.path.exists(f"{dir}/out.jsonl"):
                with open(f"{dir}/out.jsonl") as f:
                    lines = f.read().splitlines()
            rows = collections.defaultdict(list)
            for line in lines[seen:]:
                x = json.loads(line, parse_float=D)
                rows[x["epoch"]].append(list(x["row"].values()))
            seen = len(lines)
            out["steps"].append([batch(json.loads(line)["event"], rows) for line in p.stdout.splitlines() if '"type":"progress"' in line])
        return out
    except subprocess.TimeoutExpired:
        return out | {"error": {"class": "TIMEOUT", "text": "no end after 60 s"}}
    finally:
        shutil.rmtree(dir, ignore_errors=True)


def batch(event, rows):
    ops = [{
        "name": o["operatorName"], "total": o["numRowsTotal"], "updated": o["numRowsUpdated"],
        "removed": o["numRowsRemoved"], "dropped": o["numRowsDroppedByWatermark"],
    } for o in event.get("stateOperators", [])]
    return {
        "batch": event["batchId"], "rows": rows.get(event["batchId"], []), "no_data": event["numInputRows"] == 0,
        "watermark": event.get("watermark"), "operators": ops,
    }


def typed(v, t):
    """A value of our JSON as Spark's side has it, by Spark's type."""
    if v is None:
        return None
    if isinstance(t, dict):
        if t["type"] == "struct":
            return [typed(x, f["type"]) for x, f in zip(v.values() if isinstance(v, dict) else v, t["fields"])]
        if t["type"] == "array":
            return [typed(x, t["elementType"]) for x in v]
        return v
    if t in ("double", "float"):
        return float(v)
    if t.startswith("decimal"):
        return D(str(v))
    if t == "date":
        return dt.date.fromisoformat(v)
    if t.startswith("timestamp"):
        return dt.datetime.fromisoformat(v.replace("Z", "").replace(" ", "T"))
    return v


# Spark's side.


def spark(cases, dir):
    """Spark's results; those that the folder has already are not made again."""
    names = []
    os.makedirs(dir, exist_ok=True)
    for i, case in enumerate(cases):
        key = hashlib.sha256(repr({k: v for k, v in case.items() if k != "name"}).encode()).hexdigest()[:24]
        names.append(f"{dir}/{key}")
        if not os.path.exists(f"{dir}/{key}.pickle"):
            with open(f"{dir}/{key}.pickle", "wb") as f:
                pickle.dump(case, f)
    if not all(os.path.exists(n + ".result") for n in names):
        p = subprocess.run([sys.executable, f"{here}/streams_spark.py", dir], capture_output=True, text=True)
        if p.returncode:
            sys.exit(p.stdout[-2000:] + p.stderr[-4000:])
    out = []
    for n in names:
        with open(n + ".result", "rb") as f:
            out.append(pickle.load(f))
    return out


# The comparison.

# Where ours differs on purpose, or Spark from itself: (why, what is compared
# all the same: "rows" of each batch without counts, rows of all batches of a
# "step" together, "errors" alone, or "nothing"; whether a case is of this kind).
RULES = [
    ("the panes of a sliding window are the state, not its windows", "rows",
     lambda case, *_: re.search(r"window\(\w+(\.\w+)?, '\d+ \w+', '(\d+) ", case["query"] + case.get("then", ""))),
    ("Spark joins a table with LEFT SEMI or LEFT ANTI before it aggregates", "rows",
     lambda case, *_: re.search(r"\) AS g LEFT (SEMI|ANTI) JOIN dim", case["query"])),
    ("a condition that may fail is not moved below a join of streams", "rows",
     lambda case, *_: "JOIN STREAM" in case["query"] and "% 3 <> 0" in case["query"].rpartition("WHERE")[2]),
    ("what a session without a gap drops is not dropped below a join", "rows",
     lambda case, *_: "JOIN STREAM" in case["query"] and re.search(r"session_window\([^']*(CASE|make_interval)", case["query"])),
    ("which rows LIMIT takes is not defined", "errors", lambda case, *_: re.search(r"\) LIMIT ", case["query"] + case.get("then", ""))),
    ("a number of one side above a constant is a bound for Spark, at which no row ever goes or comes out", "nothing",
     lambda case, *_: re.search(r"(LEFT|FULL) (SEMI )?JOIN .* ON .*a\.v > 1", case["query"])),
    ("Spark infers nothing from a stream without new rows in the batch", "rows",
     lambda case, *_: "JOIN" in case["query"] and any(len(b.get("in") or {}) < len(case["inputs"]) for b in io.steps(case))),
    ("Spark makes one aggregation of two", "rows",
     lambda case, theirs, got: operators(theirs) < operators(got)),
    ("DESIGN 11: the watermarks of the nodes outlive a restart", "nothing",
     lambda case, *_: any(b.get("restart") for b in case.get("batches") or []) and watermarks(case) > 1),
    ("issue 5: refused before it runs; a join without an equality, a session without a key, watermarks one above the other", "nothing",
     lambda case, theirs, got: class_of(got) == "STREAM_FAILED" and not got["steps"]),
    ("issue 5: more than one event time is refused before it runs", "nothing",
     lambda case, theirs, got: class_of(got) == "MULTIPLE_EVENT_TIME_COLUMNS" and class_of(theirs) == "STREAM_FAILED"),
    ("the gap of a session may be an INTERVAL", "nothing", lambda case, theirs, got: class_of(theirs) == "_LEGACY_ERROR_TEMP_1040"),
    ("a source may be read as a stream and as a table", "nothing", lambda case, theirs, got: class_of(theirs) == "_LEGACY_ERROR_TEMP_1008"),
    ("exact DISTINCT aggregates run", "nothing", lambda case, theirs, got: "error" in theirs and "(DISTINCT" in case["query"]),
]


def operators(r):
    return min((len(b["operators"]) for s in r["steps"] for b in s), default=0)


def watermarks(case):
    return case["query"].count("WATERMARK")


def class_of(r):
    return (r.get("error") or {}).get("class")


def counts(batches):
    """The counts of each batch, summed over operators. Spark 4.2 counts the
    removed rows of a join only in part: the totals say how many they were. Of
    late rows Spark's aggregations count one a group and batch, ours each row
    (known-failures B10): only whether there were any is compared."""
    out, before = [], collections.Counter()
    for b in batches:
        c = collections.Counter(state=0, updated=0, removed=0, dropped=0)
        for i, o in enumerate(b["operators"]):
            removed = o["removed"]
            if o["name"].startswith("symmetricHashJoin"):
                removed = before[i] + o["updated"] - o["total"]
            before[i] = o["total"]
            dropped = o["dropped"]
            if o["name"].startswith("stateStoreSave") or "/aggregate(" in o["name"] or "/distinct(" in o["name"]:
                dropped = min(dropped, 1)
            c.update(state=o["total"], updated=o["updated"], removed=removed, dropped=dropped)
        out.append(dict(c))
    return out


def mark_of(b):
    w = b["watermark"]
    if not w:
        return None
    t = dt.datetime.fromisoformat(w.replace("Z", ""))
    return t if t > dt.datetime(1970, 1, 1) else None


def joined(batches):
    """The batches of a step as one."""
    return {"rows": sum((b["rows"] for b in batches), []), "watermark": None, "operators": []}


def difference(case, theirs, got, level=""):
    """The first difference as text, "" when there is none; see RULES."""
    if level == "nothing":
        return ""
    n = min(len(theirs["steps"]), len(got["steps"]))
    wants, gots = sum(theirs["steps"], []), sum(got["steps"], [])
    where = dict(zip(map(id, wants), counts(wants))) | dict(zip(map(id, gots), counts(gots)))
    for i in range(n if level != "errors" else 0):
        want, have = theirs["steps"][i], got["steps"][i]
        if level == "step":
            want, have = [joined(want)], [joined(have)]
        for j in range(max(len(want), len(have))):
            at = f"step {i} batch {j}: "
            if j >= len(want):
                return at + f"a batch that Spark has not: {have[j]}"
            if j >= len(have):
                return at + f"no such batch, Spark has {want[j]}"
            w, h = want[j], have[j]
            rows = [[typed(v, t) for v, (_, t) in zip(r, theirs["types"])] for r in h["rows"]]
            if not same_rows(rows, w["rows"]) or case.get("ordered") and not all(same_rows([x], [y]) for x, y in zip(rows, w["rows"])):
                return at + f"rows {rows}, Spark {w['rows']}"
            if mark_of(w) != mark_of(h) and w["operators"]:
                return at + f"watermark {h['watermark']}, Spark {w['watermark']}"
            if not level and where[id(w)] != where[id(h)]:
                return at + f"counts {where[id(h)]}, Spark {where[id(w)]}: {h['operators']} {w['operators']}"
    a, b = class_of(theirs), class_of(got)
    if "error" in theirs or "error" in got:
        if "error" not in theirs:
            return f"refused or failed at step {len(got['steps'])} [{b}]: {got['error']['text'][-400:]}"
        if "error" not in got:
            return f"runs, Spark fails at step {len(theirs['steps'])} [{a}]: {theirs['error']['text'][:300]}"
        if len(theirs["steps"]) != len(got["steps"]):
            return f"fails at step {len(got['steps'])}, Spark at {len(theirs['steps'])}: [{b}] [{a}]"
        if a and not a.startswith("_LEGACY") and a != b and a not in got["error"]["text"]:
            return f"fails with [{b}], Spark with [{a}] {theirs['error']['text'][:200]} / {got['error']['text'][-300:]}"
    return ""


def judge(case, theirs, got):
    """(verdict, text): "ok", the rule that explains it, or "differs"."""
    said = difference(case, theirs, got)
    if not said:
        return "ok", ""
    for why, level, test in RULES:
        if test(case, theirs, got) and not difference(case, theirs, got, level):
            return why, said
    return "differs", said


def recorded(case, theirs):
    """The results that a case carries, in the form of Spark's."""
    steps, names = [], {o["name"] for s in theirs["steps"] for b in s for o in b["operators"]}
    for b in case.get("batches") or []:
        if b.get("error_class"):
            return {"steps": steps, "error": {"class": b["error_class"], "text": b.get("error_contains") or ""}}
        if not b.get("no_data") or b.get("restart"):
            steps.append([])
        if not b.get("no_batch"):
            sums = {k: b.get(k + "_rows", 0) for k in ("state", "updated", "removed", "dropped")}
            ops = b.get("operators") or [{"name": min(names, default=""), "total": sums["state"]} | {k: sums[k] for k in ("updated", "removed", "dropped")}]
            steps[-1].append({"batch": b["batch"], "rows": b.get("out") or [], "watermark": b.get("watermark"), "operators": ops})
    if "error_class" in case and not case.get("batches"):
        return {"steps": [], "error": {"class": case["error_class"], "text": case.get("error_contains") or ""}}
    return {"steps": steps}


def stamp(v):
    """A value of Spark's as the recorded cases write it."""
    if isinstance(v, list):
        return [stamp(x) for x in v]
    if isinstance(v, dt.datetime):
        return v.isoformat() + "Z"
    if isinstance(v, dt.date):
        return v.isoformat()
    if isinstance(v, float) and (v != v or abs(v) == float("inf")):
        return "NaN" if v != v else "Infinity" if v > 0 else "-Infinity"
    return str(v) if isinstance(v, D) else v


def golden_case(case, result, name):
    """The case with Spark's results, in the form of the recorded ones."""
    out = {"name": name or case["name"]} | {k: v for k, v in case.items() if k not in ("batches", "name")}
    names = {"long": "bigint", "integer": "int"}
    out["output"] = ", ".join(f"{n} {names.get(t, t) if isinstance(t, str) else t['type']}" for n, t in result["types"])
    out["batches"] = []
    sums = iter(counts(sum(result["steps"], [])))
    for i, step in enumerate(io.steps(case)):
        if i >= len(result["steps"]):
            out["batches"].append(step | {"error_class": class_of(result)})
            break
        for j, b in enumerate(result["steps"][i]):
            c = next(sums)
            to = {"batch": b["batch"], "out": sorted((stamp(r) for r in b["rows"]), key=json.dumps)}
            if b["watermark"]:
                to["watermark"] = b["watermark"]
            to |= {k + "_rows": c[k] for k in ("state", "updated", "removed")}
            out["batches"].append((step if j == 0 else {"in": {}, "no_data": True}) | to)
        if not result["steps"][i]:
            out["batches"].append(step | {"no_batch": True, "out": []})
    return out


def write_case(path, case):
    """The case as YAML, one line a batch's field."""
    flow = lambda v: json.dumps(v, ensure_ascii=False)
    with open(path, "w") as f:
        f.write(f"name: {flow(case['name'])}\n")
        for k, v in case.items():
            if k == "inputs":
                f.write("inputs:\n" + "".join(f"  {n}: {flow(ddl)}\n" for n, ddl in v.items()))
            elif k == "static":
                f.write("static:\n" + "".join(f"  {n}: {{schema: {flow(t['schema'])}, rows: {flow(t['rows'])}}}\n" for n, t in v.items()))
            elif k in ("query", "then"):
                f.write(f"{k}: |\n  {v}\n")
            elif k == "batches":
                f.write("batches:\n")
                for b in v:
                    f.write("".join(f"{'  - ' if i == 0 else '    '}{n}: {flow(x)}\n" for i, (n, x) in enumerate(b.items())))
            elif k != "name":
                f.write(f"{k}: {v if k == 'output_mode' else flow(v)}\n")


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--bin", required=True)
    a.add_argument("--cases", type=int, default=int(os.environ.get("PIPELINES_STREAMS", 12)))
    a.add_argument("--seed", default=os.environ.get("PIPELINES_SEED", "1"))
    a.add_argument("--from", type=int, default=0, dest="first", help="number of the first case")
    a.add_argument("--shape", help="only cases of this shape")
    a.add_argument("--keep", help="keep Spark's results in this folder: they are not made twice")
    a.add_argument("--files", nargs="*", help="recorded cases instead: what Spark gives now against what they say, and ours against Spark")
    a.add_argument("--show", action="store_true", help="print cases and results")
    a.add_argument("--save", help="write a case that differs, with Spark's results, into this folder")
    args = a.parse_args()
    start = time.time()
    if args.files:
        cases = []
        for f in args.files:
            with open(f) as x:
                cases.append(yaml.safe_load(x) | {"name": os.path.basename(f)[:-4]})
    else:
        cases = [streamcases.case(args.seed, i, args.shape) for i in range(args.first, args.first + args.cases)]
    dir = args.keep or tempfile.mkdtemp(prefix="streams-spark-")
    theirs = spark(cases, dir)
    verdicts, batches, versions = collections.Counter(), 0, 0
    for case, want in zip(cases, theirs):
        if args.files and (said := difference(case, want, recorded(case, want))):
            versions += 1
            print(f"     {case['name']}: recorded otherwise than Spark gives now: {said}", flush=True)
        if any(b.get("uncommitted") for b in case.get("batches") or []):
            verdicts["not run: needs a lost commit record"] += 1
            continue
        got = ours(os.path.abspath(args.bin), case)
        verdict, said = judge(case, want, got)
        verdicts[verdict] += 1
        batches += sum(map(len, want["steps"]))
        if args.show:
            print(json.dumps(case, default=str, indent=1), *(f"  spark {b}" for s in want["steps"] for b in s), want.get("error"), sep="\n")
            print(*(f"  ours  {b}" for s in got["steps"] for b in s), got.get("error"), sep="\n")
        if verdict == "differs":
            print(f"FAIL {case['name']} ({case['output_mode']} {case['conf']} {case.get('dedup')}): {said}\n     {case['query']}" + (f"\n     {case['then']}" if case.get("then") else ""), flush=True)
            if args.save:
                write_case(f"{args.save}/{case['name']}.yml", golden_case(case, want, None))
    refused = collections.Counter(class_of(w) for w in theirs if "error" in w)
    print(f"{'FAIL' if verdicts['differs'] else 'ok  '} {len(cases)} streaming cases, {batches} batches, seed {args.seed}: {dict(verdicts)}{f', {versions} recorded otherwise' if args.files else ''}; refused or failing in Spark {dict(refused)}; {time.time() - start:.0f} s")
    if not args.keep:
        shutil.rmtree(dir)
    sys.exit(1 if verdicts["differs"] else 0)


if __name__ == "__main__":
    main()
