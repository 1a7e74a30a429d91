SELECT date_format(TIMESTAMP '2020-02-03 04:05:06.789', 'yyyy-MM-dd HH:mm:ss.SSS') AS a, date_format(TIMESTAMP '2020-02-03 16:05:06', 'h:mm a') AS b, date_format(DATE '2020-02-03', 'EEEE, d MMMM yyyy') AS c, date_format(DATE '2020-02-03', 'EEE MMM') AS d;
SELECT date_format(TIMESTAMP '2020-02-03 04:05:06', 'D') AS a, date_format(DATE '2020-12-31', 'Q') AS b, date_format(DATE '2020-12-31', 'QQQ') AS c, date_format(DATE '2020-12-31', 'QQQQ') AS d, date_format(DATE '2020-12-31', 'G') AS e, date_format(DATE '2020-12-31', 'q') AS f;
SELECT date_format(TIMESTAMP '2020-02-03 04:05:06', 'K:m') AS a, date_format(TIMESTAMP '2020-02-03 00:05:06', 'k') AS b, date_format(TIMESTAMP '2020-02-03 04:05:06', 'VV') AS c, date_format(TIMESTAMP '2020-02-03 04:05:06', 'z') AS d, date_format(TIMESTAMP '2020-02-03 04:05:06', 'XXX') AS e, date_format(TIMESTAMP '2020-02-03 04:05:06', 'Z') AS f, date_format(TIMESTAMP '2020-02-03 04:05:06', 'O') AS g, date_format(TIMESTAMP '2020-02-03 04:05:06', 'x') AS h;
SELECT date_format(TIMESTAMP '2020-02-03 04:05:06', 'zzzz') AS a, date_format(TIMESTAMP '2020-02-03 04:05:06', 'OOOO') AS b, date_format(TIMESTAMP '2020-02-03 04:05:06', 'xxx') AS c, date_format(TIMESTAMP '2020-02-03 04:05:06', 'ZZZZZ') AS d;
SELECT date_format(DATE '2020-02-03', 'yy') AS a, date_format(DATE '2020-02-03', 'y') AS b, date_format(DATE '2020-02-03', 'yyyyy') AS c, date_format(DATE '2020-02-03', 'L') AS d, date_format(DATE '2020-02-03', 'LLL') AS e, date_format(DATE '2020-02-03', 'LLLL') AS f, date_format(DATE '2020-02-03', 'F') AS g;
SELECT date_format(DATE '2020-02-03', 'YYYY');
SELECT date_format(DATE '2020-02-03', 'w');
SELECT date_format(DATE '2020-02-03', 'MMMMM');
SELECT date_format(DATE '2020-02-03', 'e');
SELECT date_format(DATE '2020-02-03', 'A');
SELECT date_format(DATE '2020-02-03', 'yyyy ''T'' ''''') AS a, date_format(DATE '2020-02-03', '[yyyy]-[MM]') AS b;
SELECT date_format(DATE '2020-02-03', 'yyyyyyy');
SELECT date_format(DATE '2020-02-03', '') AS a, date_format(DATE '2020-02-03', NULL) AS b;
SELECT date_format(TIMESTAMP '2020-02-03 04:05:06.123456', 'SSSSSS') AS a, date_format(TIMESTAMP '2020-02-03 04:05:06.123456', 'S') AS b, date_format(TIMESTAMP '2020-02-03 04:05:06.12', 'SSSSSSSSS') AS c;
SELECT to_date('2020-02-03') AS a, to_date('03/02/2020', 'dd/MM/yyyy') AS b, to_date('20200203', 'yyyyMMdd') AS c, to_date('Feb 3, 2020', 'MMM d, yyyy') AS d, to_date(NULL) AS e, to_date('2020-034', 'yyyy-DDD') AS f;
SELECT to_date('2020-02-30');
SELECT to_date('2020-02-30', 'yyyy-MM-dd');
SELECT to_date('abc', 'yyyy');
SELECT to_date('2020-2-3', 'yyyy-MM-dd');
SELECT try_to_date('2020-02-30') AS a, try_to_date('x', 'yyyy') AS b, try_to_timestamp('x') AS c, try_to_timestamp('2020-01-01 00:00:00', 'yyyy-MM-dd HH:mm:ss') AS d;
SELECT to_timestamp('2020-02-03 04:05:06.789') AS a, to_timestamp('2020-02-03T04:05:06Z') AS b, to_timestamp('2020-02-03 04:05:06+02:00') AS c, to_timestamp('2020-02-03') AS d, to_timestamp('2020') AS e;
SELECT to_timestamp('2020-02-03 04:05 PM', 'yyyy-MM-dd hh:mm a') AS a, to_timestamp('12.34', 'ss.SS') AS b, to_timestamp('2020-02-03 04:05:06 America/New_York', 'yyyy-MM-dd HH:mm:ss VV') AS c, to_timestamp('2020-02-03 04:05:06 +0230', 'yyyy-MM-dd HH:mm:ss Z') AS d;
SELECT to_timestamp('2020-13-03 04:05:06', 'yyyy-MM-dd HH:mm:ss');
SELECT to_timestamp('2020-02-03 24:00:00', 'yyyy-MM-dd HH:mm:ss');
SELECT to_timestamp_ntz('2020-02-03 04:05:06') AS a, to_timestamp_ltz('2020-02-03 04:05:06') AS b, try_to_timestamp_ntz('x') AS c;
SELECT unix_timestamp('2020-02-03 04:05:06') AS a, unix_timestamp('03.02.2020', 'dd.MM.yyyy') AS b, unix_timestamp(DATE '2020-02-03') AS c, to_unix_timestamp('2020-02-03', 'yyyy-MM-dd') AS d, from_unixtime(0) AS e, from_unixtime(86400, 'yyyy') AS f;
SELECT unix_date(DATE '2020-01-01') AS a, date_from_unix_date(100) AS b, unix_seconds(TIMESTAMP '2020-01-01 00:00:01.5') AS c, unix_millis(TIMESTAMP '2020-01-01 00:00:01.5') AS d, unix_micros(TIMESTAMP '2020-01-01 00:00:01.5') AS e, timestamp_seconds(1.5) AS f, timestamp_millis(1500) AS g, timestamp_micros(-1) AS h;
SELECT timestamp_seconds(9223372036854775807);
SELECT make_date(2020, 2, 29) AS a, make_timestamp(2020, 2, 29, 1, 2, 3.004005) AS b, make_timestamp(2020, 2, 29, 1, 2, 60) AS c, make_timestamp_ntz(2020, 2, 29, 1, 2, 3) AS d, make_timestamp(2020, 2, 29, 1, 2, 3, 'Asia/Tokyo') AS e, make_timestamp_ltz(2020, 2, 29, 1, 2, 3) AS f;
-- differs: 4.3 names no function
SELECT make_date(2020, 2, 30);
SELECT make_timestamp(2020, 2, 29, 1, 2, 60.5);
-- differs: 4.3 names no function
SELECT make_timestamp(2020, 13, 29, 1, 2, 3);
SELECT try_make_timestamp(2020, 13, 29, 1, 2, 3) AS a, try_make_timestamp_ntz(2020, 1, 1, 25, 0, 0) AS b, try_make_timestamp_ltz(2020, 1, 1, 0, 0, 0) AS c;
SELECT year(DATE '2020-02-03') AS a, quarter('2020-05-01') AS b, month(TIMESTAMP '2020-02-03 00:00:00') AS c, day(DATE '2020-02-03') AS d, dayofmonth(DATE '2020-02-03') AS e, dayofweek(DATE '2020-02-03') AS f, weekday(DATE '2020-02-03') AS g, dayofyear(DATE '2020-12-31') AS h, weekofyear(DATE '2021-01-03') AS i, hour('2020-01-01 12:34:56') AS j, minute(TIMESTAMP '2020-01-01 12:34:56') AS k, second(TIMESTAMP '2020-01-01 12:34:56.7') AS l;
SELECT extract(YEAR FROM DATE '2020-02-03') AS a, extract(YEAROFWEEK FROM DATE '2021-01-03') AS b, extract(DOW FROM DATE '2020-02-03') AS c, extract(DOW_ISO FROM DATE '2020-02-02') AS d, extract(DOY FROM DATE '2020-02-03') AS e, extract(WEEK FROM DATE '2020-02-03') AS f, extract(SECONDS FROM TIMESTAMP '2020-01-01 00:00:01.234567') AS g, date_part('QTR', DATE '2020-02-03') AS h, datepart('days', DATE '2020-02-03') AS i;
SELECT extract(FOO FROM DATE '2020-02-03');
SELECT extract(HOUR FROM DATE '2020-02-03') AS a;
-- differs: another class for a field that is no constant
SELECT date_part(x, DATE '2020-01-01') FROM VALUES ('year') AS t(x);
SELECT dayname(DATE '2020-02-03') AS a, monthname(DATE '2020-02-03') AS b, last_day(DATE '2020-02-03') AS c, next_day(DATE '2020-02-03', 'Fri') AS d, next_day(DATE '2020-02-03', 'TUESDAY') AS e;
SELECT next_day(DATE '2020-02-03', 'xx');
SELECT add_months(DATE '2020-01-31', 1) AS a, add_months('2020-02-29', 12) AS b, months_between(DATE '2020-02-29', DATE '2020-01-31') AS c, months_between('2020-03-15 12:00:00', '2020-01-01') AS d, months_between('2020-03-15', '2020-01-01', false) AS e, date_add(DATE '2020-02-28', 2) AS f, date_sub('2020-03-01', 1) AS g, datediff('2020-03-01', '2020-02-01') AS h;
SELECT date_add(DATE '2020-02-28', 1.5);
SELECT date_add('x', 1);
SELECT trunc(DATE '2020-05-17', 'MM') AS a, trunc(DATE '2020-05-17', 'YEAR') AS b, trunc(DATE '2020-05-17', 'week') AS c, trunc(DATE '2020-05-17', 'quarter') AS d, trunc(DATE '2020-05-17', 'foo') AS e, trunc('2020-05-17', 'mon') AS f;
SELECT date_trunc('HOUR', TIMESTAMP '2020-05-17 12:34:56.789') AS a, date_trunc('week', TIMESTAMP '2020-05-17 12:34:56') AS b, date_trunc('MILLISECOND', TIMESTAMP '2020-05-17 12:34:56.789123') AS c, date_trunc('foo', TIMESTAMP '2020-05-17 12:34:56') AS d, date_trunc('DAY', DATE '2020-05-17') AS e, date_trunc('MICROSECOND', '2020-05-17 12:34:56.789123') AS f, date_trunc('dd', TIMESTAMP '2020-05-17 12:34:56') AS g;
SELECT from_utc_timestamp('2020-07-01 12:00:00', 'America/Los_Angeles') AS a, to_utc_timestamp('2020-07-01 12:00:00', 'Asia/Seoul') AS b, convert_timezone('Europe/Brussels', 'America/Los_Angeles', TIMESTAMP_NTZ '2021-12-06 00:00:00') AS c, convert_timezone('Asia/Tokyo', TIMESTAMP_NTZ '2021-12-06 00:00:00') AS d;
SELECT from_utc_timestamp('2020-07-01 12:00:00', 'Nowhere/City');
SELECT from_utc_timestamp('2020-07-01 12:00:00', 'PST') AS a, from_utc_timestamp('2020-07-01 12:00:00', '+05:30') AS b, from_utc_timestamp('2020-07-01 12:00:00', 'UTC+3') AS c;
SELECT DATE '2020-02-30';
SELECT TIMESTAMP 'foo';
SELECT DATE '+10000-01-01' AS a, DATE '0000-01-01' AS b, DATE '-0044-03-15' AS c, DATE '2020' AS d, DATE '2020-5' AS e, DATE '2020-05-01T12' AS f;
SELECT TIMESTAMP '2020-01-01 1:2:3' AS a, TIMESTAMP '2020-01-01T01:02:03.1234567' AS b, TIMESTAMP '2020-01-01 01:02:03 UTC+1' AS c, TIMESTAMP '2020-01-01 01:02:03-08:00' AS d, TIMESTAMP_NTZ '2020-01-01 01:02:03' AS e, TIMESTAMP_LTZ '2020-01-01 01:02:03' AS f, TIMESTAMP '9999-12-31 23:59:59.999999' AS g, TIMESTAMP '0001-01-01 00:00:00' AS h;
SELECT TIMESTAMP_NTZ '2020-01-01 01:02:03 UTC+1';
SELECT CAST('epoch' AS TIMESTAMP);
-- differs: the name of the column
SELECT DATE 'epoch';
SELECT DATE '1582-10-10' AS a, DATE '1500-02-29';
SELECT CAST(TIMESTAMP '2020-01-01 00:00:00' AS DATE) AS a, CAST(DATE '2020-01-01' AS TIMESTAMP) AS b, CAST(TIMESTAMP '2020-01-01 01:00:00.5' AS DOUBLE) AS c, CAST(1.5D AS TIMESTAMP) AS d, CAST(1577836800 AS TIMESTAMP) AS e, CAST(TIMESTAMP '2020-01-01 01:00:00.5' AS BIGINT) AS f, CAST(TIMESTAMP '2020-01-01 01:00:00' AS DECIMAL(20,3)) AS g;
SELECT DATE '2020-01-01' = '2020-01-01' AS a, DATE '2020-01-01' < TIMESTAMP '2020-01-01 00:00:01' AS b, TIMESTAMP '2020-01-01 00:00:00' = TIMESTAMP_NTZ '2020-01-01 00:00:00' AS c, '2020-01-01' > DATE '2019-01-01' AS d;
SELECT DATE '2020-01-01' > 1;
SELECT window.start, window.end, count(*) AS n FROM VALUES (TIMESTAMP '2020-01-01 00:00:03'), (TIMESTAMP '2020-01-01 00:00:07'), (TIMESTAMP '2020-01-01 00:00:13') AS t(ts) GROUP BY window(ts, '5 seconds') ORDER BY 1;
SELECT window.start, window.end, count(*) AS n FROM VALUES (TIMESTAMP '2020-01-01 00:00:03'), (TIMESTAMP '2020-01-01 00:00:07') AS t(ts) GROUP BY window(ts, '10 seconds', '5 seconds', '1 second') ORDER BY 1;
SELECT session_window.start, session_window.end, count(*) AS n FROM VALUES (TIMESTAMP '2020-01-01 00:00:03'), (TIMESTAMP '2020-01-01 00:00:07'), (TIMESTAMP '2020-01-01 00:00:23') AS t(ts) GROUP BY session_window(ts, '10 seconds') ORDER BY 1;
SELECT window_time(window) AS a, count(*) AS n FROM VALUES (TIMESTAMP '2020-01-01 00:00:03') AS t(ts) GROUP BY window(ts, '5 seconds');
SELECT current_date() = current_date AS a, now() = current_timestamp AS b, current_timezone() AS c, typeof(localtimestamp()) AS d, curdate() = current_date AS e;
-- differs: tells no row
SET TIME ZONE 'America/Los_Angeles';
SELECT TIMESTAMP '2020-03-08 02:30:00' AS a, TIMESTAMP '2020-11-01 01:30:00' AS b, TIMESTAMP '2020-03-08 01:30:00' + INTERVAL '1' HOUR AS c, TIMESTAMP '2020-03-07 02:30:00' + INTERVAL '1' DAY AS d, TIMESTAMP '2020-03-07 02:30:00' + INTERVAL '24' HOUR AS e;
SELECT TIMESTAMP '2020-10-31 01:30:00' + INTERVAL '1' MONTH AS a, TIMESTAMP '2020-11-01 00:30:00' + INTERVAL '90' MINUTE AS b, unix_timestamp(TIMESTAMP '2020-11-01 01:30:00') AS c, TIMESTAMP '2020-11-01 23:00:00' - TIMESTAMP '2020-11-01 00:00:00' AS d;
SELECT date_trunc('DAY', TIMESTAMP '2020-03-08 12:00:00') AS a, CAST(DATE '2020-03-08' AS TIMESTAMP) AS b, to_date(TIMESTAMP '2020-03-08 23:59:59') AS c, hour(TIMESTAMP '2020-03-08 12:00:00Z') AS d, date_format(TIMESTAMP '2020-07-01 00:00:00', 'XXX VV z zzzz') AS e, date_format(TIMESTAMP '2020-01-01 00:00:00', 'O z') AS f;
SELECT sequence(TIMESTAMP '2020-03-07 12:00:00', TIMESTAMP '2020-03-09 12:00:00', INTERVAL '1' DAY) AS a, sequence(TIMESTAMP '2020-03-08 00:00:00', TIMESTAMP '2020-03-08 06:00:00', INTERVAL '2' HOUR) AS b;
SELECT TIMESTAMP '1883-11-18 12:00:00' AS a, CAST(TIMESTAMP '1850-01-01 00:00:00' AS BIGINT) AS b, TIMESTAMP '0001-01-01 00:00:00' AS c;
SELECT CAST(TIMESTAMP '2020-11-01 01:30:00' AS TIMESTAMP_NTZ) AS a, CAST(TIMESTAMP_NTZ '2020-03-08 02:30:00' AS TIMESTAMP) AS b, make_timestamp(2020, 3, 8, 2, 30, 0) AS c, to_timestamp('2020-03-08 02:30:00') AS d;
SELECT timestampdiff(DAY, TIMESTAMP '2020-03-07 12:00:00', TIMESTAMP '2020-03-08 12:00:00') AS a, timestampdiff(HOUR, TIMESTAMP '2020-03-07 12:00:00', TIMESTAMP '2020-03-08 12:00:00') AS b, timestampadd(DAY, 1, TIMESTAMP '2020-03-07 12:00:00') AS c, timestampadd(HOUR, 24, TIMESTAMP '2020-03-07 12:00:00') AS d;
SELECT months_between(TIMESTAMP '2020-03-31 00:00:00', TIMESTAMP '2020-02-29 00:00:00') AS a, add_months(TIMESTAMP '2020-03-31 10:00:00', -1) AS b;
SELECT window.start FROM VALUES (TIMESTAMP '2020-03-08 12:00:00') AS t(ts) GROUP BY window(ts, '1 day');
-- differs: tells no row
SET TIME ZONE LOCAL;
-- differs: tells no row
SET TIME ZONE 'Nowhere/City';
-- differs: tells no row
SET TIME ZONE INTERVAL '5:30' HOUR TO MINUTE;
SELECT TIMESTAMP '2020-01-01 00:00:00Z' AS a, current_timezone() AS b;
-- differs: tells no row
SET TIME ZONE 'UTC';
SET spark.sql.legacy.timeParserPolicy=CORRECTED;
SELECT to_date('2020-2-3', 'yyyy-MM-dd');
SELECT date_format(DATE '2020-02-03', 'YYYY');
-- differs: refused by name
SET spark.sql.legacy.timeParserPolicy=EXCEPTION;
SET spark.sql.timestampType=TIMESTAMP_NTZ;
SELECT TIMESTAMP '2020-01-01 00:00:00' AS a, typeof(TIMESTAMP '2020-01-01 00:00:00Z') AS b, CAST('2020-01-01' AS TIMESTAMP) AS d;
SET spark.sql.timestampType=TIMESTAMP_LTZ;
SET spark.sql.ansi.enabled=false;
SELECT to_date('2020-02-30') AS a, to_date('x', 'yyyy') AS b, to_timestamp('x') AS c, make_date(2020, 2, 30) AS d, next_day(DATE '2020-01-01', 'x') AS e, unix_timestamp('x') AS f, make_timestamp(2020, 13, 1, 0, 0, 0) AS g, CAST('x' AS DATE) AS h, date_add('x', 1) AS i;
SELECT DATE '2020-01-01' + INTERVAL '1' HOUR AS a, CAST(5 AS TIMESTAMP) AS b, CAST(true AS TIMESTAMP) AS c, CAST(TIMESTAMP '2020-01-01 00:00:00' AS INT) AS d, CAST(CAST('Infinity' AS DOUBLE) AS TIMESTAMP) AS e;
SELECT DATE '2020-01-01' > 1;
SELECT year('x') AS a, hour('2020') AS b, add_months('2020-01-01', '1') AS c, datediff('x', '2020-01-01') AS d;
