--
-- The tables of service.mjs: customers, and one filter of their addresses that
-- follows them.
--
--		psql -f service.sql DATABASE
--
CREATE TABLE customer (email text PRIMARY KEY, name text NOT NULL);
CREATE TABLE customer_filter (emails cuckoofilter);
SELECT cf_attach('customer', '{email}', 'customer_filter', 'emails', '{}', 100000);
