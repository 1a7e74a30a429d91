-- The same things can be written as SQL files.

CREATE STREAMING TABLE large_orders
  COMMENT 'orders of 100 and more'
AS SELECT id, customer, sku, amount, ts
FROM STREAM(orders)
WHERE amount >= 100;

CREATE MATERIALIZED VIEW top_items
  COMMENT 'what sells best'
AS SELECT sku, sum(qty) AS sold, round(avg(unit_price), 2) AS average_price
FROM priced
GROUP BY sku;
