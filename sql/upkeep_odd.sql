--
-- upkeep_odd: what could have left a filter without a value of its table, or
-- brought the server down: odd tables, keys, indexes, triggers and statements.
--
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE SCHEMA upkeep_odd;
SET search_path = upkeep_odd, public;

--
-- A table that is written to through one above it, which fires no triggers of ours
--
CREATE TABLE above (k int, v int) PARTITION BY RANGE (v);
CREATE TABLE below PARTITION OF above FOR VALUES FROM (0) TO (100);
CREATE TABLE above_filter (k int PRIMARY KEY, f cuckoofilter);
SELECT cf_attach('below', '{v}', 'above_filter', 'f', '{k}', 100);
CREATE TABLE father (k int, v int);
CREATE TABLE mother (k int, v int);
CREATE TABLE child () INHERITS (father, mother);
\set VERBOSITY default
SELECT cf_attach('father', '{v}', 'above_filter', 'f', '{k}', 100);
\set VERBOSITY terse
ALTER TABLE child NO INHERIT mother;
SELECT cf_attach('father', '{v}', 'above_filter', 'f', '{k}', 100);
-- one that came to be a part later
CREATE TABLE grandfather (k int, v int);
ALTER TABLE father INHERIT grandfather;
SELECT cf_rebuild('above_filter', 'f');
SELECT cf_detach('above_filter', 'f');

DROP SCHEMA upkeep_odd CASCADE;
