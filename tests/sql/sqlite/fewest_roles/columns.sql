-- table
SELECT p.name FROM pragma_table_xinfo(?) AS p;
