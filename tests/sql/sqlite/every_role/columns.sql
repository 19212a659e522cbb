-- table
SELECT p.name FROM pragma_table_info(?) AS p;
