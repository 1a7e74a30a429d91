"""Streaming cases from a seed, in the form of testdata/conformance/streaming.

A case is drawn from (seed, number) alone. What Spark does not define (the first
of rows that come from several places or are of one session, ties of max_by) and
ranges that nothing can be in (Spark drops a side of such a join) are not drawn.
"""

import datetime as dt
import random

START = dt.datetime(2024, 1, 1)
STREAMS = {
    "a": ("ts TIMESTAMP, k STRING, v INT, d DOUBLE, x DECIMAL(10,2), day DATE, f BOOLEAN", {
        "time": "ts", "str": "k", "int": "v", "dbl": "d", "dec": "x", "date": "day", "bool": "f"}),
    "b": ("bt TIMESTAMP, bk STRING, bv INT, bd DOUBLE", {"time": "bt", "str": "bk", "int": "bv", "dbl": "bd"}),
    "c": ("ct TIMESTAMP, ck STRING, cv INT", {"time": "ct", "str": "ck", "int": "cv"}),
}
DIM = {"schema": "dk STRING, label STRING, w INT", "rows": [["a", "Alpha", 1], ["b", "Beta", 2], ["b", "Beta2", 3], [None, "Nothing", 4], ["z", "Zed", 5]]}


class Rel:
    """Something to select from: its text after FROM and its columns by kind."""

    def __init__(self, text, cols, time=None, ordered=False):
        self.text, self.cols, self.time, self.ordered = text, cols, time, ordered

    def of(self, *kinds):
        return [c for k in kinds for c in self.cols.get(k, [])]


class Maker:
    def __init__(self, seed, number):
        self.r = random.Random(f"{seed}/{number}")
        self.used, self.static, self.conf, self.marks = [], False, {}, 0

    def chance(self, p):
        return self.r.random() < p

    def pick(self, *of):
        return self.r.choice(of)

    # Rows.

    def value(self, kind, clock, before):
        r = self.r
        if kind == "time":
            p = r.random()
            if p < 0.06:
                return None
            if p < 0.16 and before:
                return before
            if p < 0.17:
                return dt.datetime(1970, 1, 1) + dt.timedelta(seconds=r.randint(-20, 20))
            if p < 0.18:
                return clock + dt.timedelta(seconds=r.randint(100, 200))
            t = clock + dt.timedelta(seconds=r.randint(-25, 12))
            if p < 0.4:
                return t - dt.timedelta(seconds=t.second % 5)
            if p < 0.5:
                return t + dt.timedelta(microseconds=r.choice([1, 999, 1000, 500000, 999000, 999999]))
            return t
        if self.chance(0.1):
            return None
        return {
            "str": lambda: r.choice(["a", "a", "a", "b", "b", "c", "A", "a "]),
            "int": lambda: r.choice([-2, -1, 0, 1, 1, 2, 3, 4, 5, 6, 7, 2147483647 if self.chance(0.05) else 8]),
            "dbl": lambda: r.choice([0.0, -0.0, 1.5, 2.25, -1.75, 1e10, "NaN", "NaN", "Infinity", 0.1]),
            "dec": lambda: r.choice(["0.00", "1.10", "1.1", "-2.35", "99999.99", "3.33"]),
            "date": lambda: f"2024-01-0{r.randint(1, 3)}",
            "bool": lambda: r.choice([True, False]),
        }[kind]()

    def batches(self):
        r, clock, out, before = self.r, START + dt.timedelta(seconds=self.r.randint(0, 30)), [], None
        restarts = self.marks < 2  # RULES: several watermarks after a restart
        for i in range(r.randint(3, 5)):
            rows = {}
            for name in self.used:
                if self.chance(0.2) and len(self.used) > 1:
                    continue
                list = rows[name] = []
                for _ in range(r.choice([1, 1, 2, 3, 4, 5])):
                    row = [self.value(k, clock, before) for k in STREAMS[name][1]]
                    before = row[0] or before
                    list.append([v.isoformat() + "Z" if isinstance(v, dt.datetime) else float(v) if k == "dec" and v else v for k, v in zip(STREAMS[name][1], row)])
            step = {"in": rows}
            if i and restarts and self.chance(0.2):
                step["restart"] = True
            out.append(step)
            clock += dt.timedelta(seconds=r.choice([0, 3, 7, 10, 15, 25, 40, 90]))
        return out

    # Relations.

    def stream(self, name, mark=None, delay=None):
        cols = {k: [c] for k, c in STREAMS[name][1].items()}
        if name not in self.used:
            self.used.append(name)
        text, time = f"STREAM({name})", None
        if mark is not False and self.chance(0.12):  # a filter below the watermark
            text = f"(SELECT * FROM {text} WHERE {self.condition(Rel('', cols))})"
        if mark is None or mark:
            time = cols["time"][0]
            if delay is None:
                delay = self.pick(0, 0, 5, 10, 10, 20, 30)
            text += f" WATERMARK {time} DELAY OF INTERVAL {delay} SECONDS"
            self.marks += 1
        return Rel(text + f" AS {name}", cols, time, True)

    def filtered(self, rel):
        """Rows of the relation that pass a condition, or the relation."""
        if not self.chance(0.25):
            return rel
        return Rel(f"(SELECT * FROM {rel.text} WHERE {self.condition(rel)})", rel.cols, rel.time, rel.ordered)

    def present(self, rel):
        """Rows that have what a join may ask for: in FULL JOINs of streams
        Spark 4.2 lets NULL meet NULL, which ours does not (J-08)."""
        return Rel(f"(SELECT * FROM {rel.text} WHERE {' AND '.join(f'{c} IS NOT NULL' for c in rel.of('time', 'str', 'int'))})", rel.cols, rel.time, rel.ordered)

    def condition(self, rel):
        r, out = self.r, []
        for c in rel.of("int"):
            out += [f"{c} > {r.randint(-1, 4)}", f"{c} % 2 = 0", f"{c} IS NOT NULL"]
        for c in rel.of("str"):
            out += [f"{c} <> 'b'", f"{c} IN ('a', 'b')", f"{c} IS NOT NULL", f"coalesce({c}, 'x') <> 'a'"]
        for c in rel.of("dbl"):
            out += [f"{c} < 2", f"isnan({c})", f"{c} = 0"]
        for c in rel.of("bool"):
            out += [c, f"NOT {c}"]
        for c in rel.of("time"):
            out += [f"{c} >= TIMESTAMP '2024-01-01 00:00:10'", f"second({c}) % 3 <> 0"]
        text = r.choice(out)
        return f"{text} {self.pick('AND', 'OR')} {r.choice(out)}" if self.chance(0.25) else text

    def union(self, mark=True):
        """Rows of two streams under the names of the first."""
        one = self.stream("a", mark)
        other = self.stream(self.pick("b", "c"), mark)
        n, m = self.pick(("ts", "ct"), ("ts", "ct")), None
        cols = {"time": ["ts"], "str": ["k"], "int": ["v"]}
        oc = other.cols
        where = [f" WHERE {self.condition(x)}" if self.chance(0.2) else "" for x in (one, other)]
        text = f"(SELECT ts, k, v FROM {one.text}{where[0]} UNION ALL SELECT {oc['time'][0]}, {oc['str'][0]}, {oc['int'][0]} FROM {other.text}{where[1]})"
        return Rel(text, cols, "ts" if mark else None)

    def joined(self, kind=None, window=None):
        """A join of two streams; its columns carry names of their own."""
        r = self.r
        kind = kind or self.pick("JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN")
        marks = (True, True) if kind != "JOIN" or self.chance(0.8) else self.pick((True, False), (False, True), (False, False))
        left, right = self.filtered(self.stream("a", marks[0])), self.filtered(self.stream("b", marks[1]))
        if "FULL" in kind:
            left, right = self.present(left), self.present(right)
        if left.text.startswith("("):
            left.text += " AS a"
        if right.text.startswith("("):
            right.text += " AS b"
        conds = []
        if self.chance(0.85):
            conds.append(self.pick("a.k = b.bk", "a.k = b.bk", "upper(a.k) = upper(b.bk)", "a.k <=> b.bk", "a.v % 3 = b.bv % 3"))
        form = self.pick("range", "range", "range", "one", "equal", "bt")
        lo, hi = r.randint(-5, 10), r.randint(6, 30)
        if form == "equal":
            conds.append("a.ts = b.bt")
        elif form == "one":
            conds.append(self.pick(f"b.bt >= a.ts - INTERVAL {abs(lo)} SECONDS", f"b.bt < a.ts + INTERVAL {hi} SECONDS", f"a.ts <= b.bt + INTERVAL {abs(hi)} SECONDS", f"a.ts > b.bt"))
        elif form == "range":
            conds.append(f"b.bt {self.pick('>', '>=')} a.ts - INTERVAL {lo} SECONDS")
            conds.append(f"b.bt {self.pick('<', '<=')} a.ts + INTERVAL {hi} SECONDS")
        else:
            conds.append(f"a.ts BETWEEN b.bt - INTERVAL {max(lo, 0)} SECONDS AND b.bt + INTERVAL {max(hi, 0)} SECONDS")
        if self.chance(0.3):
            conds.append(self.pick("a.v > b.bv", "a.v > 1", "b.bv < 4", "a.v + b.bv > 3", "a.k <> 'c'", "b.bk <> 'c'"))
        r.shuffle(conds)
        cols = {"time": ["a.ts", "b.bt"], "str": ["a.k", "b.bk"], "int": ["a.v", "b.bv"], "dbl": ["a.d", "b.bd"], "bool": ["a.f"], "dec": ["a.x"]}
        if "SEMI" in kind:
            cols = {"time": ["a.ts"], "str": ["a.k"], "int": ["a.v"], "dbl": ["a.d"], "bool": ["a.f"], "dec": ["a.x"]}
        time = "a.ts" if marks[0] else "b.bt" if marks[1] and "SEMI" not in kind else None
        if time == "a.ts" and marks[1] and "SEMI" not in kind and self.chance(0.3):
            time = "b.bt"
        return Rel(f"{left.text} {kind} {right.text} ON {' AND '.join(conds)}", cols, time)

    def with_static(self, rel):
        """The relation joined with the table."""
        self.static = True
        key = rel.of("str")[0]
        kind = self.pick("JOIN", "LEFT JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN")
        on = self.pick(f"{key} = dim.dk", f"{key} <=> dim.dk", f"{key} = dim.dk AND {rel.of('int')[0]} > dim.w" if rel.of("int") else f"{key} = dim.dk")
        cols = dict(rel.cols)
        if kind in ("JOIN", "LEFT JOIN"):
            cols["str"] = cols["str"] + ["dim.label"]
            cols["int"] = cols.get("int", []) + ["dim.w"]
        return Rel(f"{rel.text} {kind} dim ON {on}", cols, rel.time, False)

    # Aggregation.

    def aggregate(self, rel):
        r = self.r
        ints, strs, dbls, decs, bools = (rel.of(k) for k in ("int", "str", "dbl", "dec", "bool"))
        any_of = ints + strs + decs + dbls + rel.of("date", "time")
        v = r.choice(ints) if ints else "1"
        k = r.choice(strs) if strs else "'x'"
        out = ["count(*)", f"count({r.choice(any_of)})", f"sum({v})", f"avg({v})", f"min({r.choice(any_of)})", f"max({r.choice(any_of)})",
               f"sort_array(collect_set({k}))", f"sort_array(collect_list({v}))", f"approx_count_distinct({r.choice(any_of)})",
               f"stddev({v})", f"var_pop({v})", f"max_by({k}, struct({v}, {k}))", f"min_by({v}, struct({k}, {v}))", f"count_if({v} > 1)",
               f"max(struct({v}, {k}))", f"bit_or({v})", f"percentile({v}, 0.5)", f"median({v})", f"skewness({v})", f"sum({v} * 2) + count(*)",
               f"size(collect_set({v}))", f"corr({v}, {v} + 1)", f"bit_xor({v})", f"try_sum({v})", f"kurtosis({v})", f"array_sort(array_agg({k}))",
               f"regr_count({v}, {v})", f"covar_pop({v}, {v} * {v})"]
        if decs:
            out += [f"sum({decs[0]})", f"avg({decs[0]})", f"stddev_pop({decs[0]})"]
        if dbls:
            out += [f"sum({dbls[0]})", f"avg({dbls[0]})", f"max({dbls[0]})", f"min({dbls[0]})", f"sort_array(collect_set({dbls[0]}))"]
        if bools:
            out += [f"bool_and({bools[0]})", f"bool_or({bools[0]})", f"every({bools[0]})"]
        if rel.ordered:
            out += [f"first({v})", f"last({v})", f"first({k}, true)", f"last({k}, true)", f"any_value({v})"]
        text = r.choice(out)
        if self.chance(0.2) and text.endswith(")") and "+" not in text and not text.startswith("size") and "sort" not in text:
            text += f" FILTER (WHERE {self.condition(rel)})"
        return text

    def keys(self, rel, most=2):
        """Grouping expressions."""
        out = []
        for k in rel.of("str"):
            out += [k, k, k, f"upper({k})", f"length({k})", f"struct({k})", f"array({k})", f"coalesce({k}, 'none')"]
        for v in rel.of("int"):
            out += [f"{v} % 2", f"{v}", f"CASE WHEN {v} > 1 THEN 'big' ELSE 'small' END", f"struct({v} % 2, {v} > 1)"]
        out += rel.of("dec", "date", "dbl", "bool") + rel.of("dbl")
        out += [f"CAST({t} AS DATE)" for t in rel.of("time")[:1]]
        n = self.r.choice([0, 1, 1, 2][: most + 2])
        return self.r.sample(sorted(set(out)), n)

    def windowed(self, rel, time):
        """A grouping by time: (expression, what to select of it)."""
        size = self.pick(5, 10, 10, 20)
        form = self.pick("tumble", "tumble", "tumble", "slide", "offset")
        w = f"window({time}, '{size} seconds')"
        if form == "slide":
            w = f"window({time}, '{size} seconds', '{self.pick(3, 5, 2)} seconds')"
        elif form == "offset":
            w = f"window({time}, '{size} seconds', '{size} seconds', '{self.pick(1, 2, 3)} seconds')"
        return w

    def session(self, rel, time):
        gap = f"'{self.pick(3, 5, 10)} seconds'"
        if self.chance(0.4):
            k, v = rel.of("str")[0], (rel.of("int") or ["1"])[0]
            gap = self.pick(f"CASE WHEN {k} = 'a' THEN '2 seconds' WHEN {k} = 'b' THEN '10 seconds' ELSE '0 seconds' END",
                            f"CASE WHEN {v} > 2 THEN INTERVAL 8 SECONDS ELSE INTERVAL 3 SECONDS END", f"make_interval(0, 0, 0, 0, 0, 0, {v})")
        return f"session_window({time}, {gap})"

    def aggregates(self, rel, most=4):
        return [self.aggregate(rel) for _ in range(self.r.randint(1, most))]

    def group(self, rel, keys, shown, aggs, sets=False):
        """SELECT shown keys and aggregates. Names are c1, c2, …"""
        names, list = [], []
        for e in shown + aggs:
            names.append(f"c{len(names) + 1}")
            list.append(f"{e} AS {names[-1]}")
        text = f"SELECT {', '.join(list)} FROM {rel.text}"
        if self.chance(0.15):
            text += f" WHERE {self.condition(rel)}"
        if keys:
            by = ", ".join(keys)
            if sets:
                by = self.pick(f"ROLLUP({by})", f"CUBE({by})", f"GROUPING SETS (({by}), ({keys[0]}), ())", f"GROUPING SETS (({keys[-1]}), ({by}))")
            text += f" GROUP BY {by}"
        if self.chance(0.15):
            text += f" HAVING {self.pick('count(*) > 1', 'count(*) % 2 = 1', 'count(*) >= 1', 'max(' + (rel.of('int') or ['1'])[0] + ') > 1')}"
        return text

    def event_group(self, rel, sessions=True):
        """An aggregation by event time, as (text, whether by sessions)."""
        if sessions and self.chance(0.25):
            s = self.session(rel, rel.time)
            rel = Rel(rel.text, rel.cols, rel.time)  # RULES: the first row of a session
            keys = self.keys(rel) or [rel.of("str")[0]]
            return self.group(rel, [s] + keys, ["session_window.start", "session_window.end"] + keys, self.aggregates(rel)), True
        if self.chance(0.08):
            keys = [rel.time] + self.keys(rel, 1)
            return self.group(rel, keys, keys, self.aggregates(rel)), False
        w = self.windowed(rel, rel.time)
        keys = self.keys(rel)
        if keys and self.chance(0.08):
            keys = [self.pick(f"ROLLUP({keys[0]})", f"CUBE({keys[0]})", f"GROUPING SETS (({keys[0]}), ())")]
            return self.group(rel, [w] + keys, ["window.start"], self.aggregates(rel)), False
        shown = self.pick(["window.start"], ["window"], ["window.start", "window.end"], ["window_time(window)"])
        return self.group(rel, [w] + keys, shown + keys, self.aggregates(rel)), False

    # Queries.

    def exploded(self, rel):
        """Some rows twice."""
        cols = dict(rel.cols) | {"int": rel.cols["int"] + ["e"]}
        return Rel(f"(SELECT * FROM {rel.text} LATERAL VIEW explode(CASE WHEN v > 2 THEN array(v, 1) WHEN v < 0 THEN array() ELSE array(v) END) AS e)", cols, rel.time)

    def source(self, mark=True):
        p = self.r.random()
        if p < 0.05:
            return self.exploded(self.stream("a", mark))
        if p < 0.09 and mark:  # a watermark on what is computed
            self.used.append("a") if "a" not in self.used else None
            self.marks += 1
            cols = {k: [c] for k, c in STREAMS["a"][1].items()} | {"time": ["wt"]}
            how = self.pick("ts + INTERVAL 3 SECONDS", "date_trunc('SECOND', ts)", "coalesce(ts, TIMESTAMP '2024-01-01 00:00:20')")
            return Rel(f"STREAM(a) WATERMARK {how} AS wt DELAY OF INTERVAL {self.pick(0, 5, 10)} SECONDS AS a", cols, "wt", True)
        if p < 0.6:
            return self.filtered(self.stream("a", mark))
        if p < 0.75:
            return self.union(mark)
        if p < 0.9:
            return self.with_static(self.filtered(self.stream("a", mark)))
        return self.filtered(self.stream("b", mark))

    def mode(self, *of):
        return self.pick(*of) if self.chance(0.96) else self.pick("append", "update", "complete")

    def q_event(self):
        text, session = self.event_group(self.source())
        return {"query": text, "output_mode": self.mode("append", "complete") if session else self.mode("append", "append", "update", "complete")}

    def q_plain(self):
        rel = self.source(self.chance(0.3))
        keys = self.keys(rel)
        sets = len(keys) > 0 and self.chance(0.25)
        return {"query": self.group(rel, keys, keys, self.aggregates(rel), sets), "output_mode": self.mode("update", "complete")}

    def q_chain(self):
        rel = self.filtered(self.stream("a")) if self.chance(0.8) else self.union()
        w = self.windowed(rel, rel.time)
        size = self.pick(10, 20, 30)
        key = rel.of("str")[0]
        inner = f"SELECT window, {key} AS k, count(*) AS n, sum({rel.of('int')[0]}) AS s FROM {rel.text} GROUP BY {w}, {key}"
        if self.chance(0.25):
            inner += " HAVING count(*) > 1"
        if self.chance(0.2):
            g = self.session(rel, rel.time)
            inner = f"SELECT session_window AS window, {key} AS k, count(*) AS n, sum({rel.of('int')[0]}) AS s FROM {rel.text} GROUP BY {g}, {key}"
        if self.chance(0.6):
            by = f"window(window, '{size} seconds')"
        else:
            by, inner = f"window(wt, '{size} seconds')", f"SELECT window_time(window) AS wt, k, n, s FROM ({inner})"
        keys = self.pick([], ["k"], ["n"], ["n % 2"])
        aggs = [self.pick("count(*)", "sum(n)", "max(n)", "avg(s)", "sort_array(collect_set(k))", "min(k)") for _ in range(self.r.randint(1, 3))]
        text = self.group(Rel(f"({inner})", {"int": ["n", "s"], "str": ["k"]}), [by] + keys, ["window.start", "window.end"] + keys, aggs)
        if self.chance(0.2) and "HAVING" not in text:
            text = text.replace("SELECT ", "SELECT window, ", 1)
            text = f"SELECT window(window, '60 seconds').end AS e, count(*) AS m, max(c1) AS z FROM ({text}) GROUP BY window(window, '60 seconds')"
        return {"query": text, "output_mode": self.mode("append")}

    def q_dedup(self):
        rel = self.filtered(self.stream("a", True if self.chance(0.85) else False)) if self.chance(0.75) else self.union()
        cols = [c for c in ("ts", "k", "v", "d", "x", "day") if c in sum(rel.cols.values(), [])]
        keys = self.pick(["k"], ["k", "v"], ["ts", "k"], ["ts"], ["v"], [], ["k", "ts", "v"], ["d"] if "d" in cols else ["k"], ["x", "day"] if "x" in cols else ["k"])
        within = rel.time is not None and self.chance(0.4)
        if not rel.ordered:  # which of several rows is first is not defined
            rel = Rel(rel.text, {"time": ["ts"], "str": ["k"], "int": ["v"]}, rel.time)
            keys, cols = ["ts", "k", "v"], ["ts", "k", "v"]
            within = False
        out = {"query": f"SELECT {', '.join(cols)} FROM {rel.text}", "dedup": {"keys": keys, "within_watermark": within}, "output_mode": self.mode("append", "append", "update")}
        if rel.time and self.chance(0.35):
            after = Rel("STREAM(deduped)", {"time": ["ts"], "str": ["k"], "int": ["v"]}, "ts", rel.ordered)
            out["then"] = self.event_group(after)[0]
            out["output_mode"] = self.mode("append")
        return out

    def q_distinct(self):
        rel = self.source(self.chance(0.7))
        cols = self.r.sample(rel.of("str", "int", "dbl", "dec", "date"), self.r.randint(1, 2))
        if rel.time and self.chance(0.6):
            cols.append(self.pick(rel.time, f"window({rel.time}, '10 seconds') AS w"))
        modes = ("append", "update") if any("window" in c or c == rel.time for c in cols) else ("update", "complete")
        return {"query": f"SELECT DISTINCT {', '.join(cols)} FROM {rel.text}", "output_mode": self.mode(*modes)}

    def show(self, rel, some=None):
        cols = rel.of("time", "str", "int", "dbl")
        if some:
            cols = self.r.sample(cols, min(some, len(cols)))
        return ", ".join(f"{c} AS c{i + 1}" for i, c in enumerate(cols))

    def q_join(self):
        rel = self.joined()
        text = f"SELECT {self.show(rel)} FROM {rel.text}"
        if self.chance(0.15):
            text += f" WHERE {self.condition(rel)}"
        return {"query": text, "output_mode": self.mode("append") if self.chance(0.9) else "update"}

    def q_join_window(self):
        left, right = self.stream("a"), self.stream("b")
        kind = self.pick("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN")
        if "FULL" in kind:
            left, right = self.present(left), self.present(right)
        key = "" if self.chance(0.3) else self.pick(" AND l.k = r.bk", " AND l.v = r.bv")
        shown = "l.w.start AS ws, l.k, l.v" + ("" if "SEMI" in kind else ", r.w.end AS we, r.bk, r.bv")
        text = f"SELECT {shown} FROM (SELECT window(ts, '10 seconds') AS w, k, v FROM {left.text}) AS l {kind} (SELECT window(bt, '10 seconds') AS w, bk, bv FROM {right.text}) AS r ON l.w = r.w{key}"
        return {"query": text, "output_mode": "append"}

    def q_join_then(self):
        rel = self.joined()
        if rel.time is None:
            return self.q_join()
        return {"query": self.event_group(rel)[0], "output_mode": self.mode("append")}

    def q_three(self):
        one, two, three = self.stream("a"), self.stream("b"), self.stream("c", self.chance(0.3))
        hi, lo = self.r.randint(0, 20), self.r.randint(0, 10)
        kind = self.pick("JOIN", "JOIN", "LEFT JOIN")
        text = (f"SELECT t, k, v, bv, cv FROM (SELECT a.ts AS t, a.k AS k, a.v AS v, b.bv AS bv FROM {one.text} {kind} {two.text} ON a.k = b.bk AND b.bt BETWEEN a.ts - INTERVAL {lo} SECONDS AND a.ts + INTERVAL {hi} SECONDS) AS j "
                f"{self.pick('JOIN', 'JOIN', 'LEFT JOIN')} {three.text} ON j.k = c.ck" + self.pick("", f" AND c.ct BETWEEN j.t AND j.t + INTERVAL {hi} SECONDS", " AND c.ct = j.t"))
        return {"query": text, "output_mode": "append"}

    def q_aggregates_joined(self):
        one, two = self.stream("a"), self.stream("b")
        kind = self.pick("JOIN", "LEFT JOIN", "FULL JOIN")
        if "FULL" in kind:
            one, two = self.present(one), self.present(two)
        k = self.chance(0.5)
        side = lambda rel, key: f"(SELECT window AS w, {key + ' AS k, ' if k else ''}count(*) AS n FROM {rel.text} GROUP BY window({rel.time}, '10 seconds'){', ' + key if k else ''})"
        text = f"SELECT x.w.start AS ws, y.w.end AS we, {'x.k AS xk, y.k AS yk, ' if k else ''}x.n AS xn, y.n AS yn FROM {side(one, 'k')} AS x {kind} {side(two, 'bk')} AS y ON x.w = y.w{' AND x.k = y.k' if k else ''}"
        return {"query": text, "output_mode": "append"}

    def q_aggregate_static(self):
        rel = self.filtered(self.stream("a"))
        self.static = True
        inner = f"SELECT window, k, count(*) AS n FROM {rel.text} GROUP BY {self.windowed(rel, 'ts')}, k"
        kind = self.pick("JOIN", "LEFT JOIN", "LEFT ANTI JOIN", "LEFT SEMI JOIN")
        shown = "g.window.start AS ws, g.k, g.n" + (", dim.label, dim.w" if kind in ("JOIN", "LEFT JOIN") else "")
        return {"query": f"SELECT {shown} FROM ({inner}) AS g {kind} dim ON g.k = dim.dk", "output_mode": self.mode("append", "update", "complete")}

    def q_aggregate_stream(self):
        """Windows of one stream joined with the rows of another."""
        one, two = self.stream("a"), self.stream("b")
        kind = self.pick("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN")
        inner = f"SELECT window AS w, k, count(*) AS n, max(v) AS m FROM {one.text} GROUP BY window(ts, '10 seconds'), k"
        key = self.pick("", " AND x.k = y.bk", " AND x.m >= y.bv")
        return {"query": f"SELECT x.w.start AS ws, x.k, x.n, x.m, y.bk, y.bv FROM ({inner}) AS x {kind} (SELECT window(bt, '10 seconds') AS w, bk, bv FROM {two.text}) AS y ON x.w = y.w{key}", "output_mode": "append"}

    def q_self_join(self):
        """A stream with itself: one source, two watermarks or one."""
        one, two = self.stream("a"), self.stream("a")
        for rel, alias in ((one, "l"), (two, "r")):
            rel.text = rel.text[: rel.text.rindex(" AS ")] + f" AS {alias}"
        kind = self.pick("JOIN", "JOIN", "LEFT JOIN", "LEFT SEMI JOIN")
        on = self.pick("l.k = r.k", "l.v = r.v", "l.k = r.k AND l.v < r.v")
        shown = "l.ts AS t, l.k, l.v" + ("" if "SEMI" in kind else ", r.ts AS u, r.v AS w")
        return {"query": f"SELECT {shown} FROM {one.text} {kind} {two.text} ON {on} AND r.ts BETWEEN l.ts AND l.ts + INTERVAL {self.r.randint(1, 20)} SECONDS", "output_mode": "append"}

    def q_stateless(self):
        rel = self.source(self.chance(0.4))
        text = f"SELECT {self.show(rel, 4)} FROM {rel.text}" + (f" WHERE {self.condition(rel)}" if self.chance(0.6) else "")
        return {"query": text, "output_mode": self.mode("append", "update")}

    def q_limit(self):
        rel = self.filtered(self.stream("a", self.chance(0.5)))
        if self.chance(0.5):
            return {"query": f"SELECT {self.show(rel, 3)} FROM {rel.text} LIMIT {self.r.randint(1, 6)}", "output_mode": "append"}
        return {"query": f"SELECT k, count(*) AS n, sum(v) AS s FROM {rel.text} GROUP BY k ORDER BY {self.pick('n DESC, k', 'k', 's NULLS LAST, k')} LIMIT {self.r.randint(1, 4)}", "output_mode": "complete", "ordered": True}

    def q_odd(self):
        """A query of another shape within one more operator, in any mode."""
        shape = self.pick("event", "plain", "chain", "join", "distinct", "join_window", "stateless", "aggregate_static", "dedup")
        out = getattr(self, "q_" + shape)()
        q = "then" if "then" in out else "query" if "dedup" not in out else None
        if q is None:
            q, out["then"] = "then", "SELECT * FROM STREAM(deduped)"
        inner = out[q]
        out[q] = self.pick(f"SELECT * FROM ({inner}) ORDER BY 1", f"SELECT * FROM ({inner}) LIMIT 2", f"SELECT DISTINCT * FROM ({inner})", f"SELECT count(*) AS n FROM ({inner})",
                           f"SELECT * FROM ({inner}) LIMIT 3 OFFSET 1", f"SELECT *, 1 AS one FROM ({inner})", f"SELECT * FROM ({inner}) UNION ALL SELECT * FROM ({inner})", f"SELECT q.*, row_number() OVER (ORDER BY 1) AS n FROM ({inner}) AS q",
                           f"SELECT * FROM ({inner}) EXCEPT SELECT * FROM ({inner})")
        out["output_mode"] = self.pick("append", "update", "complete")
        return out

    SHAPES = [("odd", 5), ("event", 26), ("plain", 12), ("chain", 10), ("dedup", 10), ("distinct", 4), ("join", 14), ("join_window", 4), ("join_then", 8),
              ("three", 3), ("aggregates_joined", 3), ("aggregate_static", 3), ("aggregate_stream", 3), ("self_join", 3), ("stateless", 2), ("limit", 2)]


def case(seed, number, shape=None):
    m = Maker(seed, number)
    names = [n for n, _ in Maker.SHAPES]
    shape = shape or m.r.choices(names, [w for _, w in Maker.SHAPES])[0]
    query = getattr(m, "q_" + shape)()
    if m.chance(0.12):
        m.conf["spark.sql.streaming.noDataMicroBatches.enabled"] = "false"
    if m.marks > 1 and m.chance(0.3):
        m.conf["spark.sql.streaming.multipleWatermarkPolicy"] = "max"
    out = {"name": f"{shape}-{seed}-{number}", "inputs": {n: STREAMS[n][0] for n in m.used}}
    if m.static:
        out["static"] = {"dim": DIM}
    return out | query | {"conf": m.conf, "batches": m.batches()}
