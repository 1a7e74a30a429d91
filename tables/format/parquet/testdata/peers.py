"""Reads the files of peers_test.go with pyarrow and DuckDB and compares rows
and filters with what was written."""
import datetime, decimal, json, struct, sys
import duckdb, pyarrow as pa, pyarrow.parquet as pq

EPOCH = datetime.datetime(1970, 1, 1)

def canon(t, x):
    if x is None:
        return None
    if pa.types.is_struct(t):
        return [canon(f.type, x[f.name]) for f in t]
    if pa.types.is_map(t):
        items = x.items() if isinstance(x, dict) else x
        return [[canon(t.key_type, k), canon(t.item_type, v)] for k, v in items]
    if pa.types.is_list(t):
        return [canon(t.value_type, v) for v in x]
    if pa.types.is_decimal(t):
        return str(int(x.scaleb(t.scale)))
    if pa.types.is_float32(t):
        return "nan" if x != x else struct.pack(">f", x).hex()
    if pa.types.is_float64(t):
        return "nan" if x != x else struct.pack(">d", x).hex()
    if pa.types.is_timestamp(t):
        return (x.replace(tzinfo=None) - EPOCH) // datetime.timedelta(microseconds=1)
    if pa.types.is_date(t):
        return (x - EPOCH.date()).days
    if pa.types.is_binary(t):
        return x.hex()
    return x

decimal.getcontext().prec = 60
for base in sys.argv[1:]:
    want = json.load(open(base + ".json"))
    table = pq.read_table(base + ".parquet", page_checksum_verification=True)
    s = table.schema
    rows = [[canon(f.type, r[f.name]) for f in s] for r in table.to_pylist()]
    assert rows == want, (base, "pyarrow", next((i, a, b) for i, (a, b) in enumerate(zip(rows, want)) if a != b))
    con = duckdb.connect()
    con.execute("set timezone='UTC'")
    got = con.execute(f"select * from read_parquet('{base}.parquet')").fetchall()
    rows = [[canon(f.type, x) for f, x in zip(s, r)] for r in got]
    assert rows == want, (base, "duckdb", next((i, a, b) for i, (a, b) in enumerate(zip(rows, want)) if a != b))
    filters = 0
    for i, f in enumerate(s):
        if pa.types.is_nested(f.type):
            continue
        vals = [v for v in table.column(i).to_pylist() if v is not None]
        for v in vals[:: max(1, len(vals) // 6)]:
            nan = v != v
            n = len(vals) and sum(1 for x in vals if x == v or (nan and x != x))
            less = sum(1 for x in vals if x < v)
            name = '"' + f.name + '"'
            d = con.execute(f"select count(*) filter ({name} = ?), count(*) filter ({name} < ?) from read_parquet('{base}.parquet')", [v, v]).fetchone()
            e = con.execute(f"select count(*) from read_parquet('{base}.parquet') where {name} = ?", [v]).fetchone()[0]
            g = con.execute(f"select count(*) from read_parquet('{base}.parquet') where {name} < ?", [v]).fetchone()[0]
            assert (e, g) == d, (base, "duckdb", f, v, e, g, d)
            if nan:
                continue
            lit = pa.scalar(v, f.type)
            a = pq.read_table(base + ".parquet", filters=[(f.name, "=", lit)]).num_rows
            b = pq.read_table(base + ".parquet", filters=[(f.name, "<", lit)]).num_rows
            assert (a, b) == (n, less), (base, "pyarrow", f, v, a, n, b, less)
            filters += 1
    print(base, len(want), "rows", len(s), "columns", filters, "filters: same")
