"""A seeded generator of queries over generated tables, in two dialects: each
piece of a query knows its text for Spark (and us) and its text for DuckDB.

Where the dialects differ by rule, the rule is met here, once, in RULES; no
query is ever left out because of its result.
"""

import datetime as dt
import decimal
import random

D = decimal.Decimal

# How the generator meets differences between Spark's and DuckDB's dialects.
RULES = [
    ("x / 0, x % 0, x div 0", "an error in Spark, NULL in DuckDB: divisors are nullif(x, 0)"),
    ("a div b", "a // b in DuckDB, which rounds down: only of numbers of one sign"),
    ("order of NULL", "default_null_order makes DuckDB's Spark's"),
    ("x IN (query) with an unknown value", "false in Spark wherever it is no filter: only stands in WHERE"),
    ("count_if of no rows", "0 in Spark, NULL in DuckDB: coalesce"),
    ("ROLLUP, CUBE, GROUPING SETS of no rows", "no row in Spark, the row of () in DuckDB: HAVING count(*) > 0 in DuckDB's text"),
    ("avg(DECIMAL), DECIMAL / DECIMAL", "DECIMAL in Spark, DOUBLE in DuckDB: such values compare to 1e-5"),
    ("corr, regr_r2 of constants", "an error or NULL in Spark, NaN in DuckDB: not made, sqlplan/funcs tests them"),
    ("GROUP BY ALL, IN (query) of sqlplan's queries", "DuckDB groups constants over no rows into one row, and IN is three-valued: only Spark is asked (oracles.py)"),
    ("sum(DECIMAL)", "DECIMAL(38, s) in DuckDB, whose set operations then cut the digits of the other side: CAST AS DECIMAL(34,10)"),
    ("types of results", "compared with Spark only: DuckDB's sum(INT) is HUGEINT, its DECIMAL / is DOUBLE"),
    ("names of columns", "compared with Spark only"),
    ("CAST(number AS INT)", "Spark cuts, DuckDB rounds: trunc() in DuckDB's text"),
    ("CAST(double AS STRING)", "printed differently: not made"),
    ("dayofweek, date_trunc, datediff, date_add", "other base, result type or arguments: translated"),
    ("collect_list", "leaves NULL out in Spark: FILTER in DuckDB's text"),
    ("substring from 0 or below", "counts differently: starts are 1 or more"),
    ("TIMESTAMP", "UTC in both: TIMESTAMP without a zone in DuckDB"),
    ("failing rows", "a query that fails in Spark must fail for us with the same class; DuckDB is not asked"),
]

WORDS = ["apple", "Bär", "", "a b", "Zoë", "10", "x%y", "under_score", " pad ", "APPLE", "b", "ab", "abab", "日本語"]
COLUMNS = [("id", "int"), ("k", "int"), ("i", "int"), ("n", "big"), ("d", "dbl"), ("m", "dec"), ("s", "str"), ("f", "bool"), ("day", "date"), ("ts", "ts")]
TABLES = {"t1": 60, "t2": 40, "t3": 9, "t0": 0}


def tables(seed):
    """Rows of the tables, as dicts."""
    r = random.Random(seed)
    out = {}
    for name, n in TABLES.items():
        rows = []
        for id in range(n):
            row = {
                "id": id,
                "k": r.randint(0, 7),
                "i": r.randint(-20, 20),
                "n": r.choice([r.randint(-5, 5), r.randint(-10**12, 10**12)]),
                "d": r.randint(-4000, 4000) / 4,
                "m": D(r.randint(-200000, 200000)).scaleb(-2),
                "s": r.choice(WORDS),
                "f": r.random() < 0.5,
                "day": dt.date(2023, 12, 25) + dt.timedelta(days=r.randint(0, 800)),
                "ts": dt.datetime(2024, 2, 28) + dt.timedelta(seconds=r.randint(0, 10**7), microseconds=r.choice([0, 0, 123456, 1000])),
            }
            for c in row:
                if c != "id" and r.random() < 0.15:
                    row[c] = None
            rows.append(row)
        out[name] = rows
    return out


class X:
    """An expression: its text in both dialects and its kind."""

    def __init__(self, t, sp, du=None):
        self.t, self.sp, self.du = t, sp, sp if du is None else du


def f(t, sp, *args, du=None):
    """The template with the arguments' texts; {0} is the first."""
    return X(t, sp.format(*(a.sp for a in args)), (du or sp).format(*(a.du for a in args)))


class Q:
    """A relation: FROM text in both dialects, with columns by kind."""

    def __init__(self, sp, du, columns):
        self.sp, self.du, self.columns = sp, du, columns


# Calls by kind of result: kinds of arguments, Spark's text, DuckDB's.
CALLS = {
    "int": [
        ("int int", "({0} + {1})"), ("int int", "({0} - {1})"), ("int", "(- {0})"), ("int", "abs({0})"),
        ("int int", "({0} % nullif({1}, 0))"), ("int int", "greatest({0}, {1})"), ("int int", "least({0}, {1})"),
        ("str", "length({0})"), ("str", "instr({0}, 'b')"), ("date", "year({0})"), ("date", "month({0})"), ("date", "quarter({0})"),
        ("date", "day({0})"), ("date", "dayofweek({0})", "(dayofweek({0}) + 1)"), ("date", "weekday({0})", "(isodow({0}) - 1)"), ("date", "weekofyear({0})"), ("date", "dayofyear({0})"),
        ("ts", "hour({0})"), ("ts", "minute({0})"), ("date date", "datediff({0}, {1})", "date_diff('day', {1}, {0})"),
        ("dbl", "CAST({0} AS INT)", "CAST(trunc({0}) AS INT)"), ("dec", "CAST({0} AS INT)", "CAST(trunc({0}) AS INT)"),
        ("dbl", "sign({0})::int", "CAST(sign({0}) AS INT)"), ("str", "ascii({0})", "coalesce(ascii(nullif({0}, '')), CASE WHEN {0} = '' THEN 0 END)"),
        ("bool", "CAST({0} AS INT)"), ("str", "levenshtein({0}, 'abc')"),
    ],
    "big": [
        ("big int", "({0} + {1})"), ("big int", "({0} - {1})"), ("int int", "(CAST({0} AS BIGINT) * {1})"), ("big", "abs({0})"),
        ("int int", "(abs({0}) div nullif(abs({1}), 0))", "(abs({0}) // nullif(abs({1}), 0))"), ("big int", "({0} % nullif({1}, 0))"),
        ("big big", "({0} & {1})"), ("big big", "({0} | {1})"), ("big big", "({0} ^ {1})", "xor({0}, {1})"), ("int", "CAST({0} AS BIGINT)"),
        ("dbl", "ceil({0})", "CAST(ceil({0}) AS BIGINT)"), ("dbl", "floor({0})", "CAST(floor({0}) AS BIGINT)"),
        ("ts", "unix_timestamp({0})", "CAST(floor(epoch({0})) AS BIGINT)"), ("int", "shiftleft(CAST({0} & 15 AS BIGINT), 3)", "(CAST({0} & 15 AS BIGINT) << 3)"),
    ],
    "dbl": [
        ("dbl dbl", "({0} + {1})"), ("dbl dbl", "({0} - {1})"), ("dbl int", "({0} * {1})"), ("dbl dbl", "({0} / nullif({1}, 0))"), ("int int", "({0} / nullif({1}, 0))"),
        ("dbl", "abs({0})"), ("dbl", "sqrt(abs({0}))"), ("int", "CAST({0} AS DOUBLE)"), ("dec", "CAST({0} AS DOUBLE)"), ("dbl", "round({0})"),
        ("dbl", "ln(abs({0}) + 1)"), ("dbl", "exp({0} / 1000)"), ("int", "power({0}, 2)"), ("dbl", "cbrt({0})"), ("dbl", "atan({0})"), ("dbl dbl", "greatest({0}, {1})"),
    ],
    "dec": [
        ("dec dec", "({0} + {1})"), ("dec dec", "({0} - {1})"), ("dec", "({0} * 1.25)"), ("dec int", "({0} * {1})"), ("dec", "(- {0})"), ("dec", "abs({0})"),
        ("int", "CAST({0} AS DECIMAL(10,2))"), ("dec", "round({0}, 1)"), ("dec dec", "greatest({0}, {1})"), ("dec", "CAST({0} AS DECIMAL(14,1))"),
    ],
    "str": [
        ("str str", "concat({0}, {1})", "({0} || {1})"), ("str", "upper({0})"), ("str", "lower({0})"), ("str", "trim({0})"), ("str", "reverse({0})"), ("str", "substring({0}, 2, 3)"),
        ("str", "replace({0}, 'a', 'xy')"), ("str", "left({0}, 2)"), ("str", "right({0}, 2)"), ("str", "lpad({0}, 4, '*')"), ("str", "rpad({0}, 4, '-')"), ("int", "CAST({0} AS STRING)"), ("big", "CAST({0} AS STRING)"),
        ("dec", "CAST({0} AS STRING)"), ("date", "CAST({0} AS STRING)"), ("bool", "CAST({0} AS STRING)"), ("str", "repeat({0}, 2)"), ("str", "split_part({0}, 'a', 1)"),
        ("str str", "concat_ws('-', {0}, {1})"), ("date", "date_format({0}, 'yyyy/MM/dd')", "strftime({0}, '%Y/%m/%d')"), ("str", "ltrim({0})"), ("str", "rtrim({0})"), ("str", "md5({0})"),
        ("str", "regexp_replace({0}, '[ab]+', '_')", "regexp_replace({0}, '[ab]+', '_', 'g')"), ("str", "regexp_extract({0}, '([a-z])(.)', 2)"), ("str", "translate({0}, 'ab', 'xy')"), ("str", "hex({0})"), ("str", "nullif({0}, 'b')"),
    ],
    "bool": [],
    "date": [
        ("date int", "date_add({0}, {1})", "({0} + CAST({1} AS INT))"), ("date int", "date_sub({0}, {1})", "({0} - CAST({1} AS INT))"), ("date", "last_day({0})"), ("ts", "CAST({0} AS DATE)"), ("date", "trunc({0}, 'MONTH')", "CAST(date_trunc('month', {0}) AS DATE)"),
        ("date", "trunc({0}, 'WEEK')", "CAST(date_trunc('week', {0}) AS DATE)"), ("date int", "add_months({0}, {1})", "CAST({0} + to_months(CAST({1} AS INT)) AS DATE)"), ("date date", "least({0}, {1})"),
    ],
    "ts": [
        ("ts", "date_trunc('HOUR', {0})", "date_trunc('hour', {0})"), ("ts", "date_trunc('DAY', {0})", "CAST(date_trunc('day', {0}) AS TIMESTAMP)"), ("date", "CAST({0} AS TIMESTAMP)"), ("ts", "({0} + INTERVAL 90 MINUTES)", "({0} + INTERVAL '90 minutes')"), ("ts", "({0} - INTERVAL '1' DAY)"), ("ts int", "greatest({0}, TIMESTAMP '2024-03-01 00:00:00')"),
    ],
}
KINDS = list(CALLS)
LITERALS = {
    "int": ["0", "1", "2", "7", "-3"], "big": ["CAST(5 AS BIGINT)", "CAST(4000000000 AS BIGINT)"], "dec": ["1.50", "0.25", "100.00"],
    "str": ["'a'", "'apple'", "''", "'%'"], "bool": ["true", "false"], "date": ["DATE '2024-02-29'", "DATE '2025-01-01'"], "ts": ["TIMESTAMP '2024-03-10 12:34:56'"],
    "dbl": ["CAST(0.5 AS DOUBLE)", "CAST(-12 AS DOUBLE)"],
}
AGGREGATES = {
    "int": [("int", "min({0})"), ("int", "max({0})"), ("str", "min(length({0}))"), ("int", "bit_or({0})"), ("int", "any_value({0}) FILTER (WHERE false)")],
    "big": [("int", "sum({0})"), ("int", "count({0})"), ("str", "count(DISTINCT {0})"), ("bool", "count(*) FILTER (WHERE {0})"), ("bool", "count_if({0})", "coalesce(count_if({0}), 0)"), ("int", "sum(DISTINCT {0})"), ("big", "max({0})"), ("big", "sum({0})")],
    "dbl": [("dbl", "sum({0})"), ("dbl", "avg({0})"), ("int", "avg({0})"), ("dbl", "max({0})"), ("dbl", "stddev_samp({0})"), ("int", "var_pop({0})"), ("dbl", "median({0})"), ("int", "percentile({0}, 0.25)", "quantile_cont({0}, 0.25)"), ("dbl dbl", "covar_pop({0}, {1})")],
    "dec": [("dec", "sum({0})", "CAST(sum({0}) AS DECIMAL(34,10))"), ("dec", "min({0})"), ("dec", "max({0})"), ("dec", "avg({0})")],
    "str": [("str", "min({0})"), ("str", "max({0})"), ("str", "array_join(sort_array(collect_set({0})), '|')", "coalesce(array_to_string(list_sort(list(DISTINCT {0}) FILTER (WHERE {0} IS NOT NULL)), '|'), '')"),
            ("int", "CAST(size(collect_list({0})) AS STRING)", "CAST(count({0}) AS STRING)")],
    "bool": [("bool", "bool_and({0})"), ("bool", "bool_or({0})"), ("bool", "max({0})")],
    "date": [("date", "min({0})"), ("date", "max({0})")],
    "ts": [("ts", "max({0})"), ("ts", "min({0})")],
}


class Generator:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.aliases = 0

    def pick(self, *xs):
        return self.r.choice(xs)

    def alias(self):
        self.aliases += 1
        return f"q{self.aliases}"

    # Scalars.

    def leaf(self, q, t):
        fit = [c for c, k in q.columns if k == t]
        if fit and self.r.random() < 0.8:
            return X(t, self.r.choice(fit))
        return X(t, self.r.choice(LITERALS[t]))

    def expr(self, q, t, depth):
        if depth == 0 or self.r.random() < 0.25:
            return self.leaf(q, t)
        if t == "bool":
            return self.cond(q, depth - 1)
        shape = self.r.random()
        if shape < 0.12:
            whens = " ".join("WHEN {%d} THEN {%d}" % (2 * i, 2 * i + 1) for i in range(self.r.randint(1, 2)))
            args = [self.expr(q, k, depth - 1) for _ in range(whens.count("WHEN")) for k in ("bool", t)]
            if self.r.random() < 0.7:
                whens += " ELSE {%d}" % len(args)
                args.append(self.expr(q, t, depth - 1))
            return f(t, "CASE " + whens + " END", *args)
        if shape < 0.2:
            return f(t, "coalesce({0}, {1})", self.expr(q, t, depth - 1), self.expr(q, t, 0))
        if shape < 0.24:
            return f(t, "if({0}, {1}, {2})", self.cond(q, 0), self.expr(q, t, depth - 1), self.expr(q, t, 0), du="CASE WHEN {0} THEN {1} ELSE {2} END")
        kinds, sp, *du = self.r.choice(CALLS[t])
        return f(t, sp, *(self.expr(q, k, depth - 1) for k in kinds.split()), du=du[0] if du else None)

    def cond(self, q, depth):
        if depth > 0:
            shape = self.r.random()
            if shape < 0.2:
                return f("bool", "({0} AND {1})", self.cond(q, depth - 1), self.cond(q, depth - 1))
            if shape < 0.4:
                return f("bool", "({0} OR {1})", self.cond(q, depth - 1), self.cond(q, depth - 1))
            if shape < 0.5:
                return f("bool", "(NOT {0})", self.cond(q, depth - 1))
        t = self.pick("int", "int", "big", "dbl", "dec", "str", "str", "date", "ts")
        x, shape = self.expr(q, t, 1), self.r.random()
        if shape < 0.12:
            return f("bool", self.pick("({0} IS NULL)", "({0} IS NOT NULL)"), x)
        if shape < 0.22:
            return f("bool", "({0} BETWEEN {1} AND {2})", x, self.expr(q, t, 0), self.expr(q, t, 0))
        if shape < 0.3:
            return f("bool", self.pick("({0} IN ({1}, {2}))", "({0} NOT IN ({1}, {2}))", "({0} IN ({1}, NULL))"), x, self.leaf(q, t), self.leaf(q, t))
        if shape < 0.38:
            return f("bool", "({0} <=> {1})", x, self.expr(q, t, 0), du="({0} IS NOT DISTINCT FROM {1})")
        if shape < 0.45:
            return self.like(self.expr(q, "str", 1))
        return f("bool", "({0} " + self.pick("=", "<>", "<", "<=", ">", ">=") + " {1})", x, self.expr(q, t, 1))

    def like(self, s):
        sp, *du = self.r.choice([("({0} LIKE '%a%')",), ("({0} LIKE '_b%')",), ("({0} NOT LIKE 'a%')",), ("({0} ILIKE 'AP%')",), ("startswith({0}, 'a')", "starts_with({0}, 'a')"), ("contains({0}, 'b')",), ("({0} RLIKE '^[a-c]')", "regexp_matches({0}, '^[a-c]')"), ("endswith({0}, 'e')", "ends_with({0}, 'e')")])
        return f("bool", sp, s, du=du[0] if du else None)

    def filter(self, q):
        """A condition of WHERE: at times with a subquery."""
        shape = self.r.random()
        if shape > 0.3:
            return self.cond(q, 2)
        inner, t = self.table(), self.pick("int", "str", "date")
        x, y = self.leaf(q, t), X(t, self.r.choice([c for c, k in inner.columns if k == t]))
        extra = self.cond(inner, 1)
        if shape < 0.12:
            sub = f("bool", "({0} " + self.pick("IN", "NOT IN") + " (SELECT {1} FROM {3} WHERE {2}))", x, y, extra, inner)
        elif shape < 0.22:
            sub = f("bool", self.pick("", "NOT ") + "EXISTS (SELECT 1 FROM {3} WHERE {0} = {1} AND {2})", x, y, extra, inner)
        else:
            agg = f("big", "(SELECT count(*) FROM {3} WHERE {0} = {1} AND {2})", x, y, extra, inner)
            sub = f("bool", "({0} " + self.pick("<", ">=", "=") + " 2)", agg)
        return sub

    # Relations.

    def table(self):
        a = self.alias()
        name = self.r.choices(list(TABLES), [6, 5, 3, 1])[0]
        return Q(f"{name} AS {a}", f"{name} AS {a}", [(f"{a}.{c}", t) for c, t in COLUMNS])

    def from_(self, depth=1):
        shape = self.r.random()
        if depth == 0 or shape < 0.4:
            return self.table()
        if shape < 0.55:
            a, inner = self.alias(), self.select(self.r.sample(KINDS, 4), depth - 1)
            return Q(f"({inner[0]}) AS {a}", f"({inner[1]}) AS {a}", [(f"{a}.c{i}", t) for i, t in enumerate(inner[2])])
        l, r = self.from_(depth - 1), self.table()
        kind = self.pick("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN", "CROSS JOIN")
        both = Q("", "", l.columns + r.columns)
        on = self.equi(l, r)
        if self.r.random() < 0.4:
            on = f("bool", "{0} AND {1}", on, self.cond(both, 0))
        elif self.r.random() < 0.1 and kind != "FULL JOIN":
            on = self.cond(both, 1)
        tail = (" ON " + on.sp, " ON " + on.du)
        if kind == "CROSS JOIN":
            r = Q(r.sp.replace("t1", "t3").replace("t2", "t3"), r.du.replace("t1", "t3").replace("t2", "t3"), r.columns)
            tail = ("", "")
        du = kind.removeprefix("LEFT ") if "SEMI" in kind or "ANTI" in kind else kind
        columns = l.columns if du != kind else both.columns
        return Q(f"{l.sp} {kind} {r.sp}{tail[0]}", f"{l.du} {du} {r.du}{tail[1]}", columns)

    def equi(self, l, r):
        t = self.pick("int", "int", "str", "date", "big")
        if self.r.random() < 0.6 and any(c.endswith(".k") for c, _ in l.columns):
            x = self.r.choice([c for c, _ in l.columns if c.endswith((".k", ".id"))])
            return f("bool", "{0} = {1}", X("int", x), X("int", self.r.choice([c for c, _ in r.columns if c.endswith((".k", ".id"))])))
        x = [c for c, k in l.columns if k == t] or ["7" if t in ("int", "big") else "'a'" if t == "str" else "DATE '2024-02-29'"]
        y = [c for c, k in r.columns if k == t]
        return f("bool", "{0} = {1}", X(t, self.r.choice(x)), X(t, self.r.choice(y)))

    # Queries: (Spark's text, DuckDB's, kinds of the columns).

    def select(self, kinds, depth=1, named=True):
        q = self.from_(depth)
        where = self.filter(q) if self.r.random() < 0.45 else None
        shape = self.r.random()
        if shape < 0.3:
            return self.grouped(q, where, kinds, named)
        if shape < 0.5:
            return self.windows(q, where, kinds, named)
        items = [self.expr(q, t, 2) for t in kinds]
        return self.text("SELECT " + ("DISTINCT " if self.r.random() < 0.15 else ""), items, q, where, named)

    def text(self, head, items, q, where, named, tail=X("", "", "")):
        names = [f" AS c{i}" if named or self.r.random() < 0.6 else "" for i in range(len(items))]

        def one(side):
            w = f" WHERE {getattr(where, side)}" if where else ""
            return head + ", ".join(getattr(x, side) + n for x, n in zip(items, names)) + f" FROM {getattr(q, side)}{w}{getattr(tail, side)}"

        return one("sp"), one("du"), [x.t for x in items]

    def aggregate(self, q, t):
        kinds, sp, *du = self.r.choice(AGGREGATES[t])
        return f(t, sp, *(self.expr(q, k, 1) for k in kinds.split()), du=du[0] if du else None)

    def grouped(self, q, where, kinds, named):
        keys = [self.expr(q, self.pick("int", "str", "bool", "date"), 1) for _ in range(self.r.randint(0, 2))]
        keys = [k for k in keys if any(c in k.sp for c, _ in q.columns)]
        items = []
        for i, t in enumerate(kinds):
            fit = [k for k in keys if k.t == t]
            items.append(fit[0] if fit and self.r.random() < 0.7 else self.aggregate(q, t))
        tail = X("", "", "")
        if keys:
            form = self.pick("{}", "{}", "{}", "ROLLUP({})", "CUBE({})", "GROUPING SETS(({}), ())")
            tail = X("", *(" GROUP BY " + form.format(", ".join(getattr(k, s) for k in keys)) for s in ("sp", "du")))
        h = self.aggregate(q, "big") if keys and self.r.random() < 0.3 else None
        if h:
            tail = X("", f"{tail.sp} HAVING {h.sp} > 1", f"{tail.du} HAVING {h.du} > 1 AND count(*) > 0")
        elif keys and form != "{}":
            tail = X("", tail.sp, f"{tail.du} HAVING count(*) > 0")
        return self.text("SELECT ", items, q, where, named, tail)

    def windows(self, q, where, kinds, named):
        order = ", ".join(c + self.pick("", " DESC", " ASC NULLS LAST", " DESC NULLS FIRST") for c, _ in q.columns)
        items = []
        for t in kinds:
            part = self.expr(q, self.pick("int", "str", "bool"), 0)
            p = f("", "PARTITION BY {0} ", part) if self.r.random() < 0.7 else X("", "")
            items.append(self.window(q, t, p, order))
        return self.text("SELECT ", items, q, where, named)

    def window(self, q, t, p, order):
        x, shape = self.expr(q, t, 1), self.r.random()
        first = order.split(", ")[0] if self.r.random() < 0.5 else order
        n = self.r.randint(1, 3)
        if t in ("int",) and shape < 0.6:
            call = self.pick("row_number()", "rank()", "dense_rank()", f"ntile({n})")
            by = order if call[:3] in ("row", "nti") else first
            return f("int", call + " OVER ({0}ORDER BY %s)" % by, p)
        if t == "dbl" and shape < 0.3:
            return f("dbl", self.pick("percent_rank()", "cume_dist()") + " OVER ({0}ORDER BY %s)" % first, p)
        if shape < 0.5:
            call = self.pick(f"lag({{0}}, {n})", f"lead({{0}}, {n})", "first_value({0})", "last_value({0})", f"nth_value({{0}}, {n})")
            return f(t, call + " OVER ({1}ORDER BY %s)" % order, x, p)
        kinds, sp, *du = self.r.choice([a for a in AGGREGATES[t] if "DISTINCT" not in a[1] and "collect_set" not in a[1] and "(WHERE" not in a[1] and "percentile" not in a[1] and "median" not in a[1]] or [(t, "max({0})")])
        args = [self.expr(q, k, 1) for k in kinds.split()]
        frame = self.pick("", f"ORDER BY {first}", f"ORDER BY {order} ROWS BETWEEN {n} PRECEDING AND CURRENT ROW", f"ORDER BY {order} ROWS BETWEEN {n} PRECEDING AND {n} FOLLOWING",
                          f"ORDER BY {order} ROWS BETWEEN UNBOUNDED PRECEDING AND {n} PRECEDING", f"ORDER BY {first} RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW", f"ORDER BY {order} ROWS BETWEEN {n} FOLLOWING AND UNBOUNDED FOLLOWING")
        numbers = [c for c, k in q.columns if k in ("int", "big", "dbl")]
        if numbers and self.r.random() < 0.2:
            frame = f"ORDER BY {self.r.choice(numbers)} RANGE BETWEEN {n} PRECEDING AND {n} FOLLOWING"
        if t == "dbl" and sp[:3] in ("std", "var", "cov"):
            frame = self.pick("", f"ORDER BY {first}")
        over = " OVER ({%d}%s)" % (len(args), frame)
        return f(t, wrapped(sp, over), *args, p, du=wrapped(du[0] if du else sp, over))

    def query(self):
        """A query with its two texts."""
        kinds = self.r.choices(KINDS, k=self.r.randint(1, 4))
        shape = self.r.random()
        if shape < 0.15:
            op = self.pick("UNION ALL", "UNION", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL")
            a, b = self.select(kinds), self.select(kinds)
            return tuple(f"({x}) {op} ({y})" for x, y in zip(a[:2], b[:2]))
        a = self.select(kinds, 2, named=False)
        if shape < 0.3:
            tail = f" ORDER BY ALL LIMIT {self.r.randint(0, 20)} OFFSET {self.r.randint(0, 3)}"
            return tuple(f"SELECT * FROM ({x}) AS w{tail}" for x in a[:2])
        if shape < 0.4:
            w = self.select(kinds)
            on = " AND ".join(f"l.c{i} = r.c{i}" for i in range(len(kinds)))
            return tuple(f"WITH w AS ({x}) SELECT l.*, r.c0 AS other FROM w AS l LEFT JOIN w AS r ON {on}" for x in w[:2])
        return a[:2]


def wrapped(call, over):
    """The call with OVER, inside of what is around an aggregate."""
    for outer in ("CAST(size(", "CAST(", "coalesce("):
        if call.startswith(outer):
            depth, start = 0, len(outer)
            for i in range(start, len(call)):
                depth += {"(": 1, ")": -1}.get(call[i], 0)
                if call[i] == ")" and depth == 0:
                    return call[: i + 1] + over + call[i + 1 :]
    return call + over


def queries(seed, count):
    out = []
    for n in range(count):
        out.append(Generator(f"{seed}-{n}").query())
    return out
