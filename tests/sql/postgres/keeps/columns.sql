-- $1 table: text
SELECT a.attname::text
FROM pg_catalog.pg_attribute AS a
WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped;
