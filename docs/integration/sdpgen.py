"""The generator of sdp.py: small projects whose datasets all have the columns
id BIGINT, k STRING, v INT, with changes between runs and, in some, one fault."""

import random

BASE = "SELECT id, CASE id % 3 WHEN 0 THEN 'a' WHEN 1 THEN 'b' END AS k, CAST(id * {m} AS INT) AS v FROM range({a}, {b})"
ONE = [
    "SELECT id, k, v FROM {x}",
    "SELECT * FROM {x} WHERE id % 2 = 0",
    "SELECT id, upper(k) AS k, v + 1 AS v FROM {x} WHERE v IS NOT NULL",
    "SELECT id, coalesce(k, 'none') AS k, CASE WHEN v > 3 THEN v END AS v FROM {x}",
    "WITH c AS (SELECT * FROM {x}) SELECT id, k, v FROM c",
    "SELECT t.id, t.k, t.v FROM {x} AS t WHERE t.id < 7",
]
BATCH = [
    "SELECT max(id) AS id, k, CAST(sum(v) AS INT) AS v FROM {x} GROUP BY k",
    "SELECT DISTINCT id, k, v FROM {x}",
    "SELECT id, k, CAST(row_number() OVER (PARTITION BY k ORDER BY id, v) AS INT) AS v FROM {x}",
    "SELECT id, k, v FROM {x} WHERE id IN (SELECT max(id) FROM {x})",
    "SELECT id, k, CAST((SELECT count(*) FROM {x}) AS INT) AS v FROM {x}",
]
TWO = [
    "SELECT a.id, a.k, b.v FROM {x} AS a JOIN {y} AS b ON a.id = b.id",
    "SELECT a.id, a.k, b.v FROM {x} AS a LEFT JOIN {y} AS b ON a.id = b.id AND b.v > 2",
    "SELECT a.id, a.k, a.v FROM {x} AS a LEFT SEMI JOIN {y} AS b ON a.id = b.id",
]
UNION = "SELECT * FROM {x} UNION ALL SELECT id, k, v FROM {y}"
KINDS = ["MATERIALIZED VIEW", "STREAMING TABLE", "TEMPORARY VIEW", "VIEW"]


class Project:
    def __init__(self, seed):
        self.r = random.Random(seed)
        r = self.r
        self.case = {"name": f"generated-{seed}", "spec": {"configuration": {"spark.sql.session.timeZone": "UTC"}}}
        self.sets = []  # dict: name, db, kind, streaming, query, flows
        self.dbs = ["default"] + (["shop"] if r.random() < 0.4 else [])
        if len(self.dbs) > 1:
            self.case["databases"] = ["shop"]
        self.native = r.random() < 0.4
        if self.native:
            self.case["sources"] = {"s0": "id BIGINT, k STRING, v INT"}
            self.sets.append({"name": "s0", "kind": "SOURCE", "streaming": True, "db": None})
        self.base()
        for _ in range(r.randint(2, 6)):
            self.dataset()

    def base(self):
        q = BASE.format(m=self.r.randint(1, 4), a=0, b=self.r.randint(0, 9))
        self.sets.append({"name": "b0", "kind": "MATERIALIZED VIEW", "streaming": False, "db": self.r.choice(self.dbs), "query": q})

    def ref(self, d, stream):
        """The name of a dataset as a query writes it."""
        forms = [d["name"], f"`{d['name']}`"]
        if d["db"]:
            forms = [f"{d['db']}.{d['name']}", f"`{d['db']}`.`{d['name']}`", f"spark_catalog.{d['db']}.{d['name']}"] + (forms if d["db"] == "default" else [])
        name = self.r.choice(forms)
        return self.r.choice(["STREAM({})", "STREAM {}"]).format(name) if stream else name

    def readable(self, stream, reader):
        out = []
        for d in self.sets:
            if d["kind"] == "SOURCE":
                ok = stream
            elif d["kind"] in ("TEMPORARY VIEW", "VIEW"):
                ok = d["streaming"] == stream
            elif stream and self.native:
                ok = d["kind"] == "STREAMING TABLE"  # ours asks for on_upstream_reset
            else:
                ok = True
            if ok and not (reader == "VIEW" and d["kind"] == "TEMPORARY VIEW"):
                out.append(d)
        return out

    def query(self, stream, kind):
        r = self.r
        xs = self.readable(stream, kind)
        x = self.ref(r.choice(xs), stream)
        if r.random() < 0.3:
            y = self.ref(r.choice(self.readable(False, kind)), False)
            return r.choice(TWO).format(x=x, y=y)
        if r.random() < 0.15:
            return UNION.format(x=x, y=self.ref(r.choice(xs), stream))
        return r.choice(ONE if stream or r.random() < 0.5 else BATCH).format(x=x)

    def dataset(self):
        r = self.r
        kind = r.choices(KINDS, [4, 4, 3, 1])[0]
        stream = kind == "STREAMING TABLE" or kind == "TEMPORARY VIEW" and r.random() < 0.5
        if stream and not self.readable(True, kind):
            kind, stream = "MATERIALIZED VIEW", False
        d = {"name": f"d{len(self.sets)}", "kind": kind, "streaming": stream and kind == "TEMPORARY VIEW", "db": None if kind == "TEMPORARY VIEW" else r.choice(self.dbs)}
        d["query"] = self.query(stream, kind)
        if kind == "STREAMING TABLE" and r.random() < 0.3:
            d["flow"] = f"f{len(self.sets)}"
        if kind in KINDS[:2] and r.random() < 0.2:
            d["clauses"] = r.choice(["COMMENT 'text'", "TBLPROPERTIES ('a' = 'b')", "PARTITIONED BY (v)", "(id BIGINT, k STRING COMMENT 'c', v INT)"])
        self.sets.append(d)

    def statement(self, d):
        name = f"{d['db']}.{d['name']}" if d["db"] and d["db"] != "default" else d["name"]
        head = f"CREATE {d['kind']} {name} {d.get('clauses', '')}"
        if d.get("flow"):
            return f"{head};\nCREATE FLOW {d['flow']} AS INSERT INTO {name} BY NAME\n{d['query']};\n"
        return f"{head} AS\n{d['query']};\n"

    def files(self):
        """The statements in an order and in files that say nothing."""
        r = random.Random(self.case["name"])
        mine = [d for d in self.sets if d["kind"] != "SOURCE"]
        r.shuffle(mine)
        files = {"t/a.sql": "-- a\n", "t/sub/b.sql": "-- b\n"}
        for d in mine:
            files[r.choice(sorted(files))] += self.statement(d)
        return files

    # What changes between runs.

    def grow(self):
        if self.native:
            n = self.r.randint(1, 4)
            return {"in": {"s0": [[self.r.randint(0, 9), self.r.choice(["a", "b", None]), self.r.randint(0, 9)] for _ in range(n)]}}
        self.sets[0]["query"] = BASE.format(m=self.r.randint(1, 4), a=0, b=self.r.randint(0, 9))
        return {}

    def requery(self):
        """A materialized view or table gets another query."""
        mine = [d for d in self.sets if d["kind"] in KINDS[:2] and d["name"] != "b0"]
        if mine:
            d = self.r.choice(mine)
            if d["kind"] == "MATERIALIZED VIEW":
                d["query"] = self.r.choice([
                    "SELECT id, k, v, id * 2 AS w FROM ({q})", "SELECT id, v FROM ({q})", "SELECT id, k, CAST(v AS BIGINT) AS v FROM ({q})",
                ]).format(q=d["query"]) if not self.read(d) else d["query"].replace("id % 2 = 0", "id % 2 = 1")
            elif "clauses" not in d and not self.read(d):
                d["query"] = self.r.choice(["SELECT *, 1 AS w FROM ({q})", "SELECT id, v FROM ({q})", "SELECT id, k, CAST(v AS STRING) AS v FROM ({q})"]).format(q=d["query"])

    def read(self, d):
        return any(d["name"] in x.get("query", "") for x in self.sets if x is not d)

    def fault(self):
        """One mistake; what it leads to is for both sides to say."""
        r = self.r
        d = r.choice([x for x in self.sets if "query" in x])
        q = d["query"]
        kind = r.randrange(9)
        if kind == 0:
            q = q.replace("STREAM(", "(", 1).replace("STREAM ", "", 1)
        elif kind == 1:
            q = q.replace("FROM ", "FROM STREAM ", 1) if "STREAM" not in q and "FROM (" not in q else q
        elif kind == 2:
            q = q.replace("v", "nope", 1)
        elif kind == 3:
            q = q.replace(" d", " e", 1).replace(" b0", " c0", 1)
        elif kind == 4:
            self.sets.append(dict(d, query="SELECT 1 AS id, 'a' AS k, 1 AS v"))
        elif kind == 5:
            last = r.choice(self.sets)
            q = UNION.format(x=self.ref(last, False), y=self.ref(last, False))
        elif kind == 6:
            d["kind"] = r.choice(KINDS)
            if d["kind"] == "TEMPORARY VIEW":
                d.pop("clauses", None), d.pop("flow", None)
        elif kind == 7:
            d["flow"] = r.choice(["d1", "d2", "b0", "f1"])
        else:
            q = q.replace("SELECT ", "SELECT 1 AS id, ", 1)
        d["query"] = q


def generate(seed):
    p = Project(seed)
    r = p.r
    if r.random() < 0.45:
        p.fault()
        p.case["files"] = p.files()
        p.case["steps"] = [{"args": ["dry-run"]}]
        if r.random() < 0.3:
            p.case["steps"].append({"args": ["run"]} | p.grow())
        return p.case
    p.case["steps"] = []
    for i in range(r.randint(2, 3)):
        step = {"args": ["run"]} | (p.grow() if i == 0 or r.random() < 0.7 else {})
        if i and r.random() < 0.3:
            p.requery()
        tables = [f"{d['db']}.{d['name']}" for d in p.sets if d["kind"] in KINDS[:2]]
        if i and r.random() < 0.4:
            step["args"] = ["run"] + r.choice([["--refresh", r.choice(tables)], ["--full-refresh-all"], ["--full-refresh", r.choice(tables)]])
            if p.native and "--full-refresh" in step["args"]:
                step["args"] = ["run", "--full-refresh-all"]
        step["files"] = p.files()
        p.case["steps"].append(step)
    return p.case
