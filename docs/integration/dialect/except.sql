CREATE TEMPORARY VIEW st AS SELECT * FROM VALUES (1, named_struct('x', 1, 'y', 2, 'z', named_struct('p', 1, 'q', 2))), (2, NULL) AS t(k, a);
SELECT * EXCEPT (a.x) FROM st ORDER BY k;
SELECT * EXCEPT (a.z.p) FROM st ORDER BY k;
SELECT a IS NULL AS n, a FROM (SELECT * EXCEPT (a.x) FROM st) ORDER BY 1;
SELECT * EXCEPT (a.x, a.y, a.z) FROM st ORDER BY k;
SELECT * EXCEPT (a.x, a.X) FROM st ORDER BY k;
SELECT * EXCEPT (a.x, A.x) FROM st;
SELECT * EXCEPT (k, K) FROM st;
SELECT st.* EXCEPT (st.a.z.q) FROM st ORDER BY k;
SELECT a.* EXCEPT (z.p) FROM st ORDER BY x;
SELECT * EXCEPT (k.x) FROM st;
SELECT * EXCEPT (a.z, a.z.p) FROM st;
SELECT * EXCEPT (a.nope) FROM st;
SET spark.sql.caseSensitive=true;
SELECT * EXCEPT (a.x, a.X) FROM st ORDER BY k;
SELECT * EXCEPT (k, K) FROM st;
SELECT * EXCEPT (a.x, a.X) FROM VALUES (1, named_struct('x', 1, 'X', 2, 'w', 3)) AS t(k, a);
SELECT * EXCEPT (a, A) FROM VALUES (1, 2, 3) AS t(a, A, b);
SELECT * EXCEPT (a.z.p, a.z.P) FROM VALUES (1, named_struct('z', named_struct('p', 1, 'P', 2, 'r', 3))) AS t(k, a);
SET spark.sql.caseSensitive=false;
SELECT * EXCEPT (k, k) FROM st;
SELECT * EXCEPT (k, st.k) FROM st;
SELECT * EXCEPT (k, st.K) FROM st;
SELECT * EXCEPT (k, ST.k) FROM st;
SELECT * EXCEPT (a, a.x) FROM st;
SELECT * EXCEPT (a.x, a) FROM st;
-- differs: names in two cases overlap; in Spark the last one of them counts
SELECT * EXCEPT (a, A.x) FROM st;
-- differs: names in two cases overlap; in Spark the last one of them counts
SELECT * EXCEPT (A.z.p, a.z) FROM st;
-- differs: names in two cases overlap; in Spark the last one of them counts
SELECT * EXCEPT (a.z, A.z.p) FROM st;
SELECT * EXCEPT (a.z.p, a.Z) FROM st;
