"""Edge values through every function: calls of Spark's functions with their own
examples' arguments, each in turn replaced by an edge value of any type, as
constants and as columns, and aggregates over rows of edge values, alone and as
window functions, run on Spark and on `pipelines sql` in both ANSI modes. Types, names of columns, values
and error classes must be equal; what differs on purpose stands in
edges-known.txt, one rule a line.

usage: edges.py --bin BINARY [--values N] [--seed S] [--only REGEXP] [--show N]
                [--form FORM ...] [--keep FILE]
"""

import argparse
import collections
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile

import dialect

here = os.path.dirname(os.path.abspath(__file__))

# The edge values by kind.
EDGES = {
    "null": ["NULL", "CAST(NULL AS INT)", "CAST(NULL AS STRING)", "CAST(NULL AS ARRAY<INT>)", "CAST(NULL AS TIMESTAMP)"],
    "integer": ["0", "-1", "1", "-128Y", "127Y", "-32768S", "2147483647", "-2147483648", "9223372036854775807L", "-9223372036854775808L"],
    "float": ["0.0D", "-0.0D", "0.5D", "-1.5F", "1E308D", "4.9E-324D", "double('NaN')", "double('Infinity')", "float('-Infinity')"],
    "decimal": ["1.50", "-0.00", "99999999999999999999999999999999999999", "-0.00000000000000000000000000000000000001", "12345678901234567890.123456789012345678"],
    "text": ["''", "'a'", "' 12 '", "'-1'", "'NaN'", "'2020-02-30'", "'2020-11-01 01:30:00'", "'héß'", "'😀𝒳日本'", "repeat('xy', 40)", "'%'", "'['", "'{\"a\":1}'"],
    "binary": ["x''", "x'ff00'", "x'c3a9'"],
    "boolean": ["true", "false"],
    "date": ["DATE '0001-01-01'", "DATE '1582-10-15'", "DATE '1969-12-31'", "DATE '2020-02-29'", "DATE '9999-12-31'"],
    "timestamp": ["TIMESTAMP '0001-01-01 00:00:00'", "TIMESTAMP '1969-12-31 23:59:59.999999'", "TIMESTAMP '2020-03-08 03:30:00'",
                  "TIMESTAMP '2020-11-01 01:30:00'", "TIMESTAMP '9999-12-31 23:59:59.999999'", "TIMESTAMP_NTZ '2020-03-08 02:30:00'"],
    "interval": ["INTERVAL '0' MONTH", "INTERVAL '-178956970-8' YEAR TO MONTH", "INTERVAL '1 02:03:04.5' DAY TO SECOND",
                 "INTERVAL '-106751991 04:00:54.775808' DAY TO SECOND", "make_interval(1, 2, 0, 3)"],
    "nested": ["array()", "array(1, NULL)", "array('b', NULL, 'a')", "array(array(1), NULL)", "map()", "map('a', NULL)", "map(1, 2)",
               "named_struct('a', 1, 'b', 'x')", "struct(NULL)"],
    "broken text": ["CAST(x'ff61c3' AS STRING)", "CAST(x'f09f' AS STRING)", "'\\u0000'", "'e\\u0301'", "'ǅİß'"],
    "deeper": ["array(named_struct('a', 1), NULL)", "map('k', array(1, NULL))", "named_struct('a', array('x'), 'b', map(1, 2))",
               "array(99999999999999999999999999999999999999, NULL)", "array(map(1, 2))", "map(named_struct('a', 1), 'v')"],
    "variant": ["parse_json('1')", "parse_json('null')", "parse_json('{\"a\":[1]}')"],
}

# What is no function of values, or not in the mission (docs/functions.md).
OUT = re.compile(
    r"sketch|theta|tuple_|hll_|kll_|approx_top_k|xml|xpath|avro|protobuf|^st_|reflect|java_method|^(make_|to_|try_to_|current_|local)?time$|^time_(?!bucket)"
    r"|^(current|input_file|session_user|user$|version|now$|uuid|rand|uniform|shuffle|monotonically|spark_partition|curdate|localtimestamp|unix_timestamp|aes_encrypt)"
    r"|^(measure|python_worker_logs|collations|sql_keywords|raise_error|window|session_window|grouping|cube|rollup)")

def split_args(text):
    """The arguments of a call's text, or None when it is not closed."""
    out, depth, quote, start, i = [], 0, None, 0, 0
    while i < len(text):
        c = text[i]
        if quote:
            i += c == "\\"
            quote = None if c == quote else quote
        elif c in "'\"`":
            quote = c
        elif c in "([":
            depth += 1
        elif c == ")" and depth == 0:
            out.append(text[start:i].strip())
            return [a for a in out if a], text[i + 1:]
        elif c in ")]":
            depth -= 1
        elif c == "," and depth == 0:
            out.append(text[start:i].strip())
            start = i + 1
        i += 1
    return None


def calls(name, description):
    """The calls in a function's own examples that are a whole statement."""
    seen = set()
    for m in re.finditer(rf"> SELECT {re.escape(name)}\((.*?);\s*$", description, re.M | re.I | re.S):
        got = split_args(m[1])
        if got is None or got[1].strip() or "->" in m[1] or " FROM " in m[1].upper():
            continue
        if len(got[0]) not in seen and len(got[0]) <= 7:
            seen.add(len(got[0]))
            yield got[0]


def asked(name, args):
    """The statement of a call. Of a local relation Spark makes no job."""
    return f"SELECT {name}({', '.join(args)}) FROM VALUES (1)"


def as_columns(name, args):
    """The call with its arguments as columns of one row."""
    names = [f"c{i}" for i in range(1, len(args) + 1)]
    return f"SELECT {name}({', '.join(names)}) FROM VALUES (0, {', '.join(args)}) AS t(k, {', '.join(names)})"


def over_rows(name, description, values, r):
    """Calls of an aggregate over rows of edge values of one kind, its own
    further arguments kept, and the same over the rows so far."""
    found = re.search(rf"> SELECT {re.escape(name)}\((?:DISTINCT )?(\w+)((?:, [^()]*)?)\) FROM VALUES", description, re.I)
    if not found or found[1].isdigit() or name in ("collect_set", "mode"):  # order and ties are open there
        return
    rest = re.sub(r"\b(?:col|c)\d?\b|\b[xyb]\b", "c", found[2])
    for form, times in (("aggregate", values), ("window", values // 2)):
        for _ in range(times):
            kind = r.choice(list(EDGES))
            rows = r.choices(EDGES[kind], k=1 if kind in ("nested", "deeper") else 2) * 2 + ["NULL"]
            r.shuffle(rows)
            table = "VALUES " + ", ".join(f"({k}, {v})" for k, v in enumerate(rows)) + " AS t(k, c)"
            yield form, f"SELECT {name}(c{rest}){' OVER (ORDER BY k)' if form == 'window' else ''} FROM {table}"


def statements(described, values, seed, only):
    """The statements, function by function."""
    every = [v for vs in EDGES.values() for v in vs]
    for name, description in described:
        if OUT.search(name) or not re.fullmatch(r"\w+", name) or only and not re.search(only, name):
            continue
        r = random.Random(f"{seed} {name}")
        for args in calls(name, description):
            for at in range(len(args)):
                for v in r.sample(every, min(values, len(every))):
                    yield name, "constant", asked(name, args[:at] + [v] + args[at + 1:])
            if len(args) > 1:
                for _ in range(values // 2):
                    yield name, "constant", asked(name, [r.choice(every) for _ in args])
            for at in range(len(args)):
                for v in r.sample(every, values // 2):
                    yield name, "column", as_columns(name, args[:at] + [v] + args[at + 1:])
        for form, text in over_rows(name, description, values, r):
            yield name, form, text


def on_spark(jobs):
    with tempfile.TemporaryDirectory(prefix="edges-") as work:
        path = os.path.join(work, "jobs")
        json.dump(jobs, open(path, "w"))
        log = open(path + ".log", "w+")
        if subprocess.run([sys.executable, os.path.join(here, "dialect_spark.py"), path], stdout=log, stderr=log).returncode:
            log.seek(0)
            sys.exit("Spark: " + log.read()[-3000:])
        return json.load(open(path + ".out"))


def keeping(path):
    """on_spark with its results kept in a file, read again for the same jobs."""
    def run(jobs):
        keys = [hashlib.sha256(json.dumps(j).encode()).hexdigest() for j in jobs]
        kept = json.load(open(path)) if os.path.exists(path) else {}
        missing = [(k, j) for k, j in zip(keys, jobs) if k not in kept]
        if missing:
            kept.update(zip((k for k, _ in missing), on_spark([j for _, j in missing])))
            json.dump(kept, open(path, "w"))
        return [kept[k] for k in keys]
    return run


def describe(spark, binary):
    """(name, description) of the functions of Spark that are here as well."""
    names = list(next(dialect.ours(binary, "SHOW FUNCTIONS;\n"))["rows"])
    got = spark([["described", [f"DESCRIBE FUNCTION EXTENDED `{n}`" for n in names]]])[0]
    return [(n, "\n".join(g["rows"])) for n, g in zip(names, got) if "rows" in g]


class Rule:
    """A line of edges-known.txt: pattern of the call, pattern of the difference, reason."""

    def __init__(self, line):
        call, why, self.reason = line.split("\t")
        self.line, self.met = line, 0
        self.call, self.why = re.compile(call), re.compile(why, re.S)

    def covers(self, call, why):
        met = bool(self.call.match(call) and self.why.search(why))
        self.met += met
        return met


def rules():
    with open(os.path.join(here, "edges-known.txt"), encoding="utf-8") as f:
        return [Rule(line) for line in f.read().splitlines() if line and not line.startswith("#")]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--bin", required=True)
    p.add_argument("--values", type=int, default=4, help="edge values an argument")
    p.add_argument("--seed", default="1")
    p.add_argument("--only", help="functions whose name matches")
    p.add_argument("--show", type=int, default=3, help="differences shown a function and mode")
    p.add_argument("--zone", default="America/New_York")
    p.add_argument("--form", nargs="*", help="only these forms: constant, column, aggregate, window")
    p.add_argument("--keep", help="Spark's results are kept in this file and read from it")
    args = p.parse_args()
    spark = keeping(args.keep) if args.keep else on_spark
    binary = os.path.abspath(args.bin)
    made, jobs = collections.defaultdict(list), []
    for name, form, text in dict.fromkeys(statements(describe(spark, binary), args.values, args.seed, args.only)):
        made[form].append((name, text))
    for form in args.form or made:
        for ansi in ("true", "false"):
            head = [f"SET spark.sql.ansi.enabled={ansi}", f"SET spark.sql.session.timeZone={args.zone}"]
            jobs.append((f"{form}, ansi {ansi}", head + [s for _, s in made[form]], made[form]))
    count, failed, known = 0, 0, rules()
    for (title, texts, calls_made), want in zip(jobs, spark([[title, texts] for title, texts, _ in jobs])):
        got = list(dialect.ours(binary, ";\n".join(texts) + ";\n"))
        if len(got) != len(want):
            sys.exit(f"{len(want)} results of Spark, {len(got)} of ours")
        shown = collections.Counter()
        for (name, text), w, g in zip(calls_made, want[2:], got[2:]):
            count += 1
            why = dialect.difference(["unordered"], g, w)
            if not why or any(r.covers(text.removeprefix("SELECT "), why) for r in known):
                continue
            failed += 1
            shown[name] += 1
            if shown[name] <= args.show:
                print(f"[{title}] {text}\n    {why}")
        for name, n in sorted(shown.items()):
            if n > args.show:
                print(f"[{title}] {name}: {n - args.show} more")
    standard = all(getattr(args, n) == p.get_default(n) for n in ("values", "seed", "only", "zone", "form"))
    idle = [r for r in known if not r.met] if standard else []
    for r in idle:
        print("a rule that meets nothing:", r.line)
    for r in sorted(known, key=lambda r: -r.met):
        if r.met:
            print(f"{r.met:6} {r.reason}")
    print(f"{count} calls, {failed} failed, {sum(r.met for r in known)} by a rule, {len(idle)} rules that meet nothing")
    return failed > 0 or len(idle) > 0


if __name__ == "__main__":
    sys.exit(main())
