"""W1 by DuckDB, for `make bench-program BENCHFLAGS="-peer .tools/venv/bin/python"`:
JSON files to one Snappy Parquet file. usage: w1_duckdb.py DATA OUT"""

import sys

import duckdb

data, out = sys.argv[1:]
con = duckdb.connect()
con.execute("SET threads = 2; SET preserve_insertion_order = false; SET TimeZone = 'UTC'")
bid = "STRUCT(auction BIGINT, bidder BIGINT, price BIGINT, channel VARCHAR, url VARCHAR, dateTime TIMESTAMPTZ, extra VARCHAR)"
con.execute(f"""
COPY (
  SELECT event_id, bid.auction AS auction, bid.bidder AS bidder, bid.price AS price,
         CAST(0.908 * bid.price AS DECIMAL(23,3)) AS price_eur, bid.channel AS channel, bid.url AS url,
         bid.dateTime AS date_time, bid.extra AS extra, CAST(bid.dateTime AS DATE) AS dt, hour(bid.dateTime) AS hr, bid.price >= 1000000 AS big
  FROM read_json('{data}/*.json', format = 'newline_delimited',
                 columns = {{event_id: 'BIGINT', event_type: 'INTEGER', bid: '{bid}'}})
  WHERE event_type = 2
) TO '{out}' (FORMAT parquet, COMPRESSION snappy)""")
row = con.execute(f"""
SELECT count(*), sum(event_id), sum(price), sum(price_eur), sum(hr), count_if(big), sum(length(extra)), sum(length(url)), sum(epoch_ms(date_time))
FROM '{out}'""").fetchone()
print(*row)
