"""Rows that are the same whoever reads them: made from their number, and
brought to one plain form before they are compared."""

import datetime as dt
import decimal
import json
import math

D = decimal.Decimal
UTC = dt.timezone.utc

# Column, SQL type, Delta type. `amount NULL` and the like come from row().
COLUMNS = [
    ("id", "BIGINT", "long"),
    ("flag", "BOOLEAN", "boolean"),
    ("ti", "TINYINT", "byte"),
    ("si", "SMALLINT", "short"),
    ("i", "INT", "integer"),
    ("f", "FLOAT", "float"),
    ("d", "DOUBLE", "double"),
    ("amount", "DECIMAL(12,2)", "decimal(12,2)"),
    ("big", "DECIMAL(30,5)", "decimal(30,5)"),
    ("s", "STRING", "string"),
    ("day", "DATE", "date"),
    ("ts", "TIMESTAMP", "timestamp"),
    ("arr", "ARRAY<STRING>", None),
    ("m", "MAP<STRING, INT>", None),
    ("st", "STRUCT<a: INT, b: STRING>", None),
]
SCHEMA = ", ".join(f"{n} {t}" for n, t, _ in COLUMNS)


def row(i):
    """Row i, as Python values; every seventh value of a column is NULL."""
    null = lambda k: (i + k) % 7 == 0
    out = {
        "id": i,
        "flag": i % 2 == 0,
        "ti": i % 128,
        "si": -i % 30000,
        "i": i * 100003 % 2**31,
        "f": i / 4,
        "d": -i / 3,
        "amount": D(i * 37 - 1000).scaleb(-2),
        "big": D(f"{i}12345678901234567890.{i % 100000:05d}") * (-1) ** i,
        "s": f"row {i} ü \"quoted\" \\ {'x' * (i % 50)}",
        "day": dt.date(2026, 1, 1) + dt.timedelta(days=i % 3),
        "ts": dt.datetime(2026, 1, 2, 3, 4, 5, 678901, UTC) + dt.timedelta(hours=i, microseconds=i),
        "arr": ["a", None, str(i)][: i % 4],
        "m": {f"k{j}": (None if j == 1 else i + j) for j in range(i % 3)},
        "st": {"a": i, "b": None if i % 5 == 0 else f"b{i}"},
    }
    for k, (name, _, _) in enumerate(COLUMNS):
        if name not in ("id", "day") and null(k):
            out[name] = None
    return out


def as_json(r):
    """The row as a line of JSON."""
    def enc(v):
        if isinstance(v, D):
            return json.loads(str(v), parse_float=str, parse_int=str)
        if isinstance(v, dt.datetime):
            return v.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        if isinstance(v, dt.date):
            return v.isoformat()
        return v
    # decimals stay exact: numbers are written by hand
    parts = []
    for k, v in r.items():
        parts.append(f"{json.dumps(k)}: {v if isinstance(v, D) else json.dumps(enc(v), ensure_ascii=False)}")
    return "{" + ", ".join(parts) + "}"


def plain(v, column=""):
    """One form for the values of all readers."""
    if v is None or isinstance(v, (bool, str, bytes)):
        return v
    if isinstance(v, float):
        return "NaN" if math.isnan(v) else float(f"{v:.9g}")
    if isinstance(v, int):
        return v
    if isinstance(v, D):
        return str(v)
    if isinstance(v, dt.datetime):
        if v.tzinfo is None:
            v = v.replace(tzinfo=UTC)
        return v.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
    if isinstance(v, dt.date):
        return v.isoformat()
    if isinstance(v, dict):
        if column == "m":
            return sorted([str(k), plain(x)] for k, x in v.items())
        return {k: plain(x, k) for k, x in v.items()}
    if isinstance(v, (list, tuple)):
        if column == "m":  # pyarrow: pairs; Polars: structs of key and value
            pairs = [(x["key"], x["value"]) if isinstance(x, dict) else x for x in v]
            return sorted([str(k), plain(x)] for k, x in pairs)
        return [plain(x) for x in v]
    raise TypeError(f"{type(v)} in {column}")


def plain_rows(rows, key="id"):
    out = [{k: plain(v, k) for k, v in r.items()} for r in rows]
    return sorted(out, key=lambda r: (r[key] is None, r[key]))


def differences(got, want):
    """What differs, as a short text; empty when equal."""
    if len(got) != len(want):
        return f"{len(got)} rows, {len(want)} wanted"
    for a, b in zip(got, want):
        if a != b:
            keys = [k for k in {**a, **b} if a.get(k, "missing") != b.get(k, "missing")]
            return f"row {b.get('id')}: " + "; ".join(f"{k}: {a.get(k, 'missing')!r}, {b.get(k, 'missing')!r} wanted" for k in keys)
    return ""
