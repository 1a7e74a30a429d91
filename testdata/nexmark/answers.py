"""The answers of the Nexmark queries by DuckDB, from files of events alone.

    nexmark -n 1000000 -files 8 -out DIR
    python testdata/nexmark/answers.py DIR

Prints a line for each query: its name and the row that its check must give.
"""
import sys

import duckdb

db = duckdb.connect()
db.execute("SET TimeZone = 'UTC'")
db.execute(f"""
CREATE TABLE events AS SELECT * FROM read_json('{sys.argv[1]}/*.json', format = 'newline_delimited', columns = {{
  event_id: 'BIGINT', event_type: 'INTEGER',
  person: 'STRUCT(id BIGINT, "name" VARCHAR, emailAddress VARCHAR, creditCard VARCHAR, city VARCHAR, state VARCHAR, dateTime TIMESTAMP, extra VARCHAR)',
  auction: 'STRUCT(id BIGINT, itemName VARCHAR, description VARCHAR, initialBid BIGINT, reserve BIGINT, dateTime TIMESTAMP, expires TIMESTAMP, seller BIGINT, category BIGINT, extra VARCHAR)',
  bid: 'STRUCT(auction BIGINT, bidder BIGINT, price BIGINT, channel VARCHAR, url VARCHAR, dateTime TIMESTAMP, extra VARCHAR)'}});
CREATE VIEW person AS SELECT event_id, unnest(person) FROM events WHERE event_type = 0;
CREATE VIEW auction AS SELECT event_id, unnest(auction) FROM events WHERE event_type = 1;
CREATE VIEW bid AS SELECT event_id, unnest(bid) FROM events WHERE event_type = 2;
CREATE VIEW valid AS SELECT a.*, b.bidder, b.price, b.dateTime AS bid_time, b.event_id AS bid_id
  FROM auction a JOIN bid b ON b.auction = a.id AND b.dateTime BETWEEN a.dateTime AND a.expires;
CREATE MACRO tumble(t) AS time_bucket(INTERVAL 10 SECONDS, t, TIMESTAMP '1970-01-01');
CREATE VIEW panes AS SELECT auction, s, count(*) AS num FROM
  (SELECT auction, unnest([time_bucket(INTERVAL 2 SECONDS, dateTime, TIMESTAMP '1970-01-01') - to_seconds(2 * k) for k in range(5)]) AS s FROM bid) GROUP BY ALL;
CREATE VIEW gaps AS SELECT bidder, dateTime, event_id,
  CASE WHEN dateTime - lag(dateTime) OVER (PARTITION BY bidder ORDER BY dateTime, event_id) <= INTERVAL 10 SECONDS THEN 0 ELSE 1 END AS first FROM bid;
CREATE VIEW sessions AS SELECT bidder, n, count(*) AS bids FROM
  (SELECT bidder, sum(first) OVER (PARTITION BY bidder ORDER BY dateTime, event_id) AS n FROM gaps) GROUP BY ALL;
""")

RANKS = "count(*), count_if(price < 10000), count_if(price >= 10000 AND price < 1000000), count_if(price >= 1000000)"


def distinct(column):
    ranks = ("true", "price < 10000", "price >= 10000 AND price < 1000000", "price >= 1000000")
    return ", ".join(f"count(DISTINCT {column}) FILTER (WHERE {rank})" for rank in ranks)


QUERIES = {
    "q0": "SELECT count(*), sum(price) FROM bid",
    "q1": "SELECT count(*), sum(CAST(0.908 * price AS DECIMAL(23,3))) FROM bid",
    "q2": "SELECT count(*), sum(price) FROM bid WHERE auction % 123 = 0",
    "q3": "SELECT count(*), sum(a.id) FROM auction a JOIN person p ON a.seller = p.id WHERE a.category = 10 AND p.state IN ('OR', 'ID', 'CA')",
    "q4": """SELECT count(*), string_agg(category || '>' || mean, ' ' ORDER BY category) FROM
        (SELECT category, CAST(floor(avg(final)) AS BIGINT) AS mean FROM (SELECT id, category, max(price) AS final FROM valid GROUP BY ALL) GROUP BY category)""",
    "q5": "SELECT count(*), sum(num), sum(auction) FROM (SELECT *, max(num) OVER (PARTITION BY s) AS top FROM panes) WHERE num = top",
    "q6": """SELECT count(*), count(DISTINCT seller), sum(CAST(floor(mean) AS BIGINT)) FROM (SELECT seller, avg(price) OVER
        (PARTITION BY seller ORDER BY expires, id ROWS BETWEEN 9 PRECEDING AND CURRENT ROW) AS mean
        FROM (SELECT id, seller, expires, max(price) AS price FROM valid GROUP BY ALL))""",
    "q7": "SELECT count(*), sum(price), sum(auction) FROM (SELECT *, max(price) OVER (PARTITION BY tumble(dateTime)) AS top FROM bid) WHERE price = top",
    "q8": """SELECT count(*), sum(id) FROM (SELECT DISTINCT id, name, tumble(dateTime) AS s FROM person) p
        JOIN (SELECT DISTINCT seller, tumble(dateTime) AS s FROM auction) a ON p.id = a.seller AND p.s = a.s""",
    "q9": """SELECT count(*), sum(id), sum(price), sum(bidder) FROM
        (SELECT *, row_number() OVER (PARTITION BY id ORDER BY price DESC, bid_time, bid_id) AS rn FROM valid) WHERE rn = 1""",
    "q10": """SELECT count(*), count(DISTINCT (dt, hm)), string_agg(DISTINCT hm, ' ' ORDER BY hm) FROM
        (SELECT strftime(dateTime, '%Y-%m-%d') AS dt, strftime(dateTime, '%H:%M') AS hm FROM bid)""",
    "q11": "SELECT count(*), sum(bids), max(bids), sum(bidder) FROM sessions",
    "q12": "SELECT count(*), sum(bids), max(bids) FROM (SELECT bidder, tumble(dateTime), count(*) AS bids FROM bid GROUP BY ALL)",
    "q13": "SELECT count(*), sum(price), sum(key) FROM bid JOIN range(10000) side(key) ON auction % 10000 = key",
    "q14": "SELECT count(*), sum(length(extra) - length(replace(extra, 'c', ''))) FROM bid WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000",
    "q15": f"""SELECT count(*), * EXCLUDE (day) FROM (SELECT strftime(dateTime, '%Y-%m-%d') AS day, {RANKS}, {distinct('bidder')}, {distinct('auction')}
        FROM bid GROUP BY day) GROUP BY ALL""",
    "q16": """SELECT count(*), sum(b), sum(a) FROM (SELECT channel, strftime(dateTime, '%Y-%m-%d') AS day,
        count(DISTINCT bidder) AS b, count(DISTINCT auction) AS a FROM bid GROUP BY ALL)""",
    "q17": """SELECT count(*), sum(lo), sum(hi), sum(CAST(floor(mean) AS BIGINT)) FROM (SELECT auction, strftime(dateTime, '%Y-%m-%d') AS day,
        min(price) AS lo, max(price) AS hi, avg(price) AS mean FROM bid GROUP BY ALL)""",
    "q18": "SELECT count(*), sum(price) FROM (SELECT *, row_number() OVER (PARTITION BY bidder, auction ORDER BY dateTime DESC, event_id DESC) AS rn FROM bid) WHERE rn = 1",
    "q19": "SELECT count(*), sum(price), sum(rn) FROM (SELECT *, row_number() OVER (PARTITION BY auction ORDER BY price DESC, event_id) AS rn FROM bid) WHERE rn <= 10",
    "q20": "SELECT count(*), sum(b.price) FROM bid b JOIN auction a ON b.auction = a.id WHERE a.category = 10",
    "q21": """SELECT count(*), sum(id) FROM (SELECT CASE lower(channel) WHEN 'apple' THEN 0 WHEN 'google' THEN 1 WHEN 'facebook' THEN 2 WHEN 'baidu' THEN 3
        ELSE CAST(nullif(regexp_extract(url, '(&|^)channel_id=([^&]*)', 2), '') AS BIGINT) END AS id FROM bid) WHERE id IS NOT NULL""",
    "q22": "SELECT count(*), count(DISTINCT split_part(url, '/', 4)), count(DISTINCT split_part(url, '/', 5)), count(DISTINCT split_part(url, '/', 6)) FROM bid",
    "q23": "SELECT count(*), sum(b.price) FROM bid b JOIN person p ON p.id = b.bidder JOIN auction a ON a.seller = b.bidder",
}

for name, query in QUERIES.items():
    print(name, *db.execute(query).fetchone())
