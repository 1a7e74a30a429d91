"""A query over the Parquet tables of `make bench-program` by DuckDB.
usage: sql_duckdb.py DATA SQL; prints the rows as CSV"""

import csv
import os
import sys

import duckdb

data, sql = sys.argv[1:]
con = duckdb.connect()
con.execute("SET enable_progress_bar = false; SET threads = 2; SET TimeZone = 'UTC'; SET default_null_order = 'nulls_first_on_asc_last_on_desc'")
for table in os.listdir(data):
    con.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{data}/{table}/*.parquet')")
csv.writer(sys.stdout, lineterminator="\n").writerows(con.execute(sql).fetchall())
