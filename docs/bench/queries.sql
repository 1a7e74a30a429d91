-- tpch q1
SELECT l_returnflag, l_linestatus, sum(l_quantity) AS q, sum(l_extendedprice) AS p, sum(l_extendedprice * (1 - l_discount)) AS d, sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS c, avg(l_quantity) AS aq, avg(l_extendedprice) AS ap, avg(l_discount) AS ad, count(*) AS n FROM lineitem WHERE l_shipdate <= DATE '1998-09-02' GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus
-- tpch q3
SELECT l_orderkey, sum(l_extendedprice * (1 - l_discount)) AS revenue, o_orderdate, o_shippriority FROM customer, orders, lineitem WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_orderkey = o_orderkey AND o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15' GROUP BY l_orderkey, o_orderdate, o_shippriority ORDER BY revenue DESC, o_orderdate, l_orderkey LIMIT 10
-- tpch q4
SELECT o_orderpriority, count(*) AS n FROM orders WHERE o_orderdate >= DATE '1993-07-01' AND o_orderdate < DATE '1993-10-01' AND EXISTS (SELECT * FROM lineitem WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate) GROUP BY o_orderpriority ORDER BY o_orderpriority
-- tpch q5
SELECT n_name, sum(l_extendedprice * (1 - l_discount)) AS revenue FROM customer, orders, lineitem, supplier, nation, region WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey AND c_nationkey = s_nationkey AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'ASIA' AND o_orderdate >= DATE '1994-01-01' AND o_orderdate < DATE '1995-01-01' GROUP BY n_name ORDER BY revenue DESC
-- tpch q6
SELECT sum(l_extendedprice * l_discount) AS revenue FROM lineitem WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01' AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24
-- tpch q9
SELECT nation, o_year, sum(amount) AS profit FROM (SELECT n_name AS nation, year(o_orderdate) AS o_year, l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity AS amount FROM lineitem, part, supplier, partsupp, orders, nation WHERE s_suppkey = l_suppkey AND ps_suppkey = l_suppkey AND ps_partkey = l_partkey AND p_partkey = l_partkey AND o_orderkey = l_orderkey AND s_nationkey = n_nationkey AND p_name LIKE '%green%') AS p GROUP BY nation, o_year ORDER BY nation, o_year DESC
-- tpch q10
SELECT c_custkey, c_name, sum(l_extendedprice * (1 - l_discount)) AS revenue, c_acctbal, n_name, c_address, c_phone, c_comment FROM customer, orders, lineitem, nation WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND o_orderdate >= DATE '1993-10-01' AND o_orderdate < DATE '1994-01-01' AND l_returnflag = 'R' AND c_nationkey = n_nationkey GROUP BY c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment ORDER BY revenue DESC, c_custkey LIMIT 20
-- tpch q12
SELECT l_shipmode, sum(CASE WHEN o_orderpriority = '1-URGENT' OR o_orderpriority = '2-HIGH' THEN 1 ELSE 0 END) AS high, sum(CASE WHEN o_orderpriority <> '1-URGENT' AND o_orderpriority <> '2-HIGH' THEN 1 ELSE 0 END) AS low FROM orders, lineitem WHERE o_orderkey = l_orderkey AND l_shipmode IN ('MAIL', 'SHIP') AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate AND l_receiptdate >= DATE '1994-01-01' AND l_receiptdate < DATE '1995-01-01' GROUP BY l_shipmode ORDER BY l_shipmode
-- tpch q18
SELECT c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice, sum(l_quantity) AS q FROM customer, orders, lineitem WHERE o_orderkey IN (SELECT l_orderkey FROM lineitem GROUP BY l_orderkey HAVING sum(l_quantity) > 300) AND c_custkey = o_custkey AND o_orderkey = l_orderkey GROUP BY c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice ORDER BY o_totalprice DESC, o_orderdate, o_orderkey LIMIT 100
-- filter number
SELECT count(*), sum(price) FROM bid WHERE auction % 123 = 0
-- filter text
SELECT count(*), sum(length(url)) FROM bid WHERE channel = 'Google' AND url LIKE '%item%'
-- aggregate few groups
SELECT channel, count(*) AS n, sum(price) AS s, max(price) AS m, avg(price) AS a FROM bid GROUP BY channel ORDER BY n DESC, channel LIMIT 5
-- aggregate many groups
SELECT count(*), sum(n), max(m) FROM (SELECT bidder, auction, count(*) AS n, max(price) AS m FROM bid GROUP BY bidder, auction) AS g
-- join
SELECT category, count(*) AS n, sum(price) AS s FROM bid JOIN auction ON bid.auction = auction.id WHERE price > initialBid GROUP BY category ORDER BY category
-- top-n
SELECT auction, bidder, price, url FROM bid ORDER BY price DESC, event_id LIMIT 100
-- top-n wide
SELECT auction, bidder, price, channel, url, extra FROM bid ORDER BY channel, price DESC, event_id LIMIT 1000
-- distinct
SELECT count(DISTINCT auction), count(DISTINCT bidder) FROM bid
-- top-n of each key
SELECT sum(r) FROM (SELECT row_number() OVER (PARTITION BY auction ORDER BY price DESC, event_id) AS r FROM bid) AS w WHERE r <= 3
