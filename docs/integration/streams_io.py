"""What both sides of streams.py share: cases, rows and values."""

import datetime as dt
import decimal
import glob
import json
import os

D = decimal.Decimal


def columns(ddl):
    """The column names of a schema in DDL."""
    out, depth, cur = [], 0, ""
    for ch in ddl + ",":
        depth += (ch in "<(") - (ch in ">)")
        if ch == "," and depth == 0:
            out.append(cur.split()[0].strip("`:"))
            cur = ""
            continue
        cur += ch
    return out


def text_of(v):
    return v.isoformat() if isinstance(v, (dt.datetime, dt.date)) else v


def write_rows(path, names, rows):
    """The rows as JSON lines; the file appears at once."""
    hidden = os.path.join(os.path.dirname(path), "." + os.path.basename(path))
    with open(hidden, "w") as f:
        for r in rows:
            f.write(json.dumps(dict(zip(names, map(text_of, r)))) + "\n")
    os.rename(hidden, path)


def plain(v):
    """A value of Spark's without its classes: rows and maps are lists."""
    if isinstance(v, tuple) or isinstance(v, list):
        return [plain(x) for x in v]
    if isinstance(v, dict):
        return sorted(([plain(k), plain(x)] for k, x in v.items()), key=repr)
    return bytes(v) if isinstance(v, bytearray) else v


def steps(case):
    """The batches of a case that something starts: no-data batches follow by
    themselves, unless the query was started again for them."""
    if "error_class" in case and not case.get("batches"):
        return [{"in": {n: [[None] * len(columns(ddl))] for n, ddl in case["inputs"].items()}}]
    return [b for b in case.get("batches") or [] if not b.get("no_data") or b.get("restart")]


def lose_commit(checkpoint):
    """Forgets that the last batch was committed."""
    last = max(int(os.path.basename(p)) for p in glob.glob(f"{checkpoint}/commits/[0-9]*"))
    for p in (f"{checkpoint}/commits/{last}", f"{checkpoint}/commits/.{last}.crc"):
        if os.path.exists(p):
            os.remove(p)
