-- table, schema
SELECT p.name FROM pragma_table_xinfo(?, ?) AS p;
