DECLARE x INT DEFAULT 5;
SELECT x AS a, x + 1 AS b, session.x AS c, system.session.x AS d;
SET VAR x = 7;
SELECT x AS a;
SET VAR x = DEFAULT;
SELECT x AS a;
DECLARE x INT;
DECLARE OR REPLACE VARIABLE x STRING DEFAULT 'abc';
SELECT x AS a, typeof(x) AS b;
DECLARE VARIABLE y DEFAULT 1.5;
SELECT y AS a, typeof(y) AS b;
SET VAR (x, y) = (SELECT 'q', 2.5);
SELECT x AS a, y AS b;
SET VAR x = (SELECT 'z' WHERE false);
SELECT x AS a;
SET VAR (x, y) = (SELECT 'q');
SET VAR nope = 1;
SET VAR x = 1, x = 2;
DECLARE z INT DEFAULT 'abc';
DECLARE w DATE = DATE '2020-01-01';
SELECT w + 1 AS a;
SET VAR y = 'nope';
DROP TEMPORARY VARIABLE w;
SELECT w;
DROP TEMPORARY VARIABLE w;
DROP TEMPORARY VARIABLE IF EXISTS w;
SELECT x FROM VALUES (1) AS t(x);
DECLARE p INT = 3;
SELECT * FROM VALUES (1), (3) AS t(c) WHERE c = p;
CREATE TEMPORARY FUNCTION twice(a INT) RETURNS INT RETURN a * 2;
SELECT twice(21) AS a, twice('3') AS b;
SELECT twice();
SELECT twice(1, 2);
SELECT twice('x');
CREATE TEMPORARY FUNCTION twice(a INT) RETURNS INT RETURN a * 3;
CREATE OR REPLACE TEMPORARY FUNCTION twice(a INT DEFAULT 4) RETURNS INT RETURN a * 3;
SELECT twice() AS a, twice(a => 5) AS b;
CREATE TEMPORARY FUNCTION addn(a INT, b INT DEFAULT 10) RETURN a + b;
SELECT addn(1) AS a, addn(1, 2) AS b, addn(b => 1, a => 5) AS c;
CREATE TEMPORARY FUNCTION lookup(k INT) RETURNS STRING RETURN (SELECT s FROM VALUES (1, 'one'), (2, 'two') AS t(i, s) WHERE i = k);
SELECT lookup(2) AS a, lookup(9) AS b;
-- differs: bodies are checked when they are called
CREATE TEMPORARY FUNCTION series(n INT) RETURNS TABLE (x BIGINT) RETURN SELECT id FROM range(n);
SELECT * FROM series(3);
-- differs: bodies are checked when they are called
SELECT t.n, s.x FROM VALUES (1), (2) AS t(n), LATERAL series(t.n) AS s ORDER BY n, x;
DROP TEMPORARY FUNCTION twice;
SELECT twice(1);
DROP TEMPORARY FUNCTION twice;
DROP TEMPORARY FUNCTION IF EXISTS twice;
CREATE TEMPORARY FUNCTION bad(a INT) RETURNS INT RETURN nope;
CREATE TEMPORARY FUNCTION bad(a INT, a INT) RETURNS INT RETURN 1;
CREATE TEMPORARY VIEW v AS SELECT 1 AS a, 'x' AS b;
CREATE TEMPORARY VIEW v AS SELECT 2 AS a;
CREATE OR REPLACE TEMPORARY VIEW v (c, d COMMENT 'second') AS SELECT 1, 'x';
SELECT * FROM v;
-- differs: allowed here
CREATE TEMPORARY VIEW IF NOT EXISTS v2 AS SELECT 3 AS z;
CREATE TEMPORARY VIEW v3 (a, b, c) AS SELECT 1;
CREATE TEMPORARY VIEW v3 (a) AS SELECT 1, 2;
CREATE TEMPORARY VIEW v3 AS SELECT 1 AS a, 2 AS a;
CREATE TEMPORARY VIEW v3 AS SELECT nope;
-- differs: all three columns
SHOW VIEWS;
-- differs: all three columns
SHOW TABLES;
-- differs: comments of view columns are not kept
DESCRIBE v;
-- differs: comments of view columns are not kept
DESCRIBE TABLE EXTENDED v;
DESCRIBE v c;
DESCRIBE QUERY SELECT 1 AS a, 'x' AS b;
DESCRIBE SELECT 1 AS a;
DESCRIBE nosuch;
SHOW COLUMNS IN v;
DROP VIEW v;
DROP VIEW v;
DROP VIEW IF EXISTS v;
DROP TABLE nosuch;
SELECT * FROM v;
SET spark.sql.ansi.enabled;
SET a.b.c=5;
SET a.b.c;
SET no.such.key;
RESET a.b.c;
SET a.b.c;
SET spark.sql.ansi.enabled=maybe;
SHOW FUNCTIONS LIKE 'array_ap*';
SHOW FUNCTIONS LIKE 'upper|lower';
SHOW SYSTEM FUNCTIONS LIKE 'abs';
SHOW USER FUNCTIONS;
DESCRIBE FUNCTION nosuchfunction;
USE default;
USE nosuch;
SHOW DATABASES;
SHOW SCHEMAS LIKE 'def*';
-- differs: the catalog is main
SHOW CATALOGS;
-- differs: the catalog is main
SHOW CURRENT NAMESPACE;
CACHE TABLE cached AS SELECT 1 AS a;
SELECT * FROM cached;
UNCACHE TABLE cached;
-- differs: refused by name
EXECUTE IMMEDIATE 'SELECT 1 AS x';
-- differs: refused by name
EXECUTE IMMEDIATE 'SELECT ? + :b AS x' USING 1, 2 AS b;
SELECT :p;
SELECT ?;
