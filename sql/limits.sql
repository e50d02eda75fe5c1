--
-- limits: both sides of every bound, filters filled to the brim, hot values,
-- values that collide on purpose, sizes.
--
SET client_min_messages = warning;
CREATE SCHEMA limits;
SET search_path = limits, public;

-- the result of an expression as text, or the error with its SQLSTATE
CREATE FUNCTION try(expression text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE 'SELECT (' || expression || ')::text' INTO result;
	RETURN coalesce(result, 'null');
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ': ' || SQLERRM;
END $$;

--
-- Parameters: the range is named
--
SELECT cf_new(0);
SELECT cf_new(1000, 0);
SELECT cf_new(1000, max_copies => 0);
SELECT a, try('cf_count(cf_new(' || a || '))') FROM (VALUES
	('0'), ('-1'), ('-0.0'), ('5e-324'), ('0.5'), ('1'), ('''NaN'''), ('''Infinity'''), ('''-Infinity'''), ('9007199254740992'), ('9007199254740994'), ('1e300'),
	('1000, 0'), ('1000, 1'), ('1000, -0.01'), ('1000, ''NaN'''), ('1000, ''Infinity'''), ('1000, 1.0000000000000002'), ('1000, 0.9999999999999999'), ('1000, 5e-324'), ('1000, 1e-9'), ('1000, 1e-15'),
	('1000, 0.01, 0'), ('1000, 0.01, -1'), ('1000, 0.01, 1'), ('1000, 0.01, 4'), ('1000, 0.01, 5'), ('1000, 0.01, 2147483647'),
	('1000, 0.01, 4, 9223372036854775807'), ('1000, 0.01, 4, -9223372036854775808')) v(a);
-- the smallest rate is named, and it is possible; a little less is not
SELECT cf_new(1000, 1e-15);
CREATE FUNCTION smallest_rate(capacity float8) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
	rate float8;
BEGIN
	PERFORM cf_new(capacity, 1e-200);
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	rate := substring(hint FROM 'about (.*)\.$');
	RETURN split_part(try(format('cf_count(cf_new(%s, %s))', capacity, rate)), ':', 1) || ' ' ||
		split_part(try(format('cf_count(cf_new(%s, %s))', capacity, rate * 0.999)), ':', 1);
END $$;
SELECT n, smallest_rate(n) FROM unnest('{1,24,100,1000,1e5,1e8}'::float8[]) n;
-- 512 MiB: the largest capacity is named, and it is possible; one more is not
SELECT cf_new(1e9);
CREATE FUNCTION largest_capacity(rate float8) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
	capacity float8;
BEGIN
	PERFORM cf_new(1e15, rate);
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	capacity := substring(hint FROM 'is ([0-9]+)\.');
	RETURN (SELECT bytes BETWEEN 536870912 * 0.98 AND 536870912 FROM cf_plan(capacity, rate)) || ' ' ||
		try(format('cf_count(cf_new(%s, %s))', capacity::bigint, rate)) || ' ' ||
		split_part(try(format('cf_count(cf_new(%s, %s))', capacity::bigint + 1, rate)), ':', 1);
END $$;
SELECT r, largest_capacity(r) FROM unnest('{0.01,0.001,0.0001,0.5}'::float8[]) r;

--
-- Sizes: an empty filter costs its header, few values their hashes, and at
-- capacity the bits per value are what was promised
--
SELECT n, r, (cf_info(f)).bytes AS empty, (cf_info(cf_add_all(f, ARRAY(SELECT generate_series(1, 20))))).bytes AS twenty
	FROM (VALUES (100, 0.01), (1e4, 0.01), (1e7, 0.01), (1e7, 1e-6), (4e8, 0.01)) v(n, r), cf_new(n, r) f;
-- at least 10,000 values: 9.6, 12.8 and 19.1 bits; at least 1,000: 15 % more
SELECT rate::float8, most, count(*) AS capacities, count(*) FILTER (WHERE round(bits_per_value::numeric, 2) > most) AS wrong
	FROM (VALUES (0.01, 9.6), (0.001, 12.8), (1.0 / 65536, 19.1)) v(rate, most),
		(SELECT 10000 + i * 37 AS n FROM generate_series(0, 1000) i UNION SELECT 2 ^ i + j FROM generate_series(14, 27) i, generate_series(-2, 2) j) s, cf_plan(n, rate) GROUP BY rate, most ORDER BY most;
SELECT rate::float8, count(*) AS capacities, count(*) FILTER (WHERE bits_per_value > most * 1.15) AS wrong
	FROM (VALUES (0.01, 9.6), (0.001, 12.8), (1.0 / 65536, 19.1)) v(rate, most), generate_series(1000, 10000, 3) n, cf_plan(n, rate) GROUP BY rate, most ORDER BY most;
-- and that is what they cost when filled, for a capacity just above a power of two
SELECT n, rate::float8, i.bytes = p.bytes AS as_planned, i.entries = n AS all_in, round(i.bits_per_value::numeric, 1) AS bits
	FROM (VALUES (10000, 0.01), (16385, 0.001), (65537, 0.01), (32769, 1.0 / 65536)) v(n, rate), cf_add_all(cf_new(n, rate, seed => n), ARRAY(SELECT generate_series(1, n))) f, cf_info(f) i, cf_plan(n, rate) p;
-- on the way there it never costs more than twice its share of that and one
-- smallest table, which has as many buckets as columns: built at once, and
-- grown
SELECT how, n, rate, count(*), count(*) FILTER (WHERE i.bytes > 2 * m * p.bytes / n + 48 + i.columns * (i.prefix_bits - 1) / 2 + 8) AS wrong
	FROM (VALUES (10000, 0.01), (9000, 0.001), (2000, 1e-6)) v(n, rate), cf_plan(n, rate) p, generate_series(0, n, 100) m,
		LATERAL (SELECT 'built' AS how, cf_agg(i, n, rate) AS f FROM generate_series(1, m) i
			UNION ALL SELECT 'grown', cf_add_all(cf_new(n, rate), ARRAY(SELECT generate_series(1, m)))) s, cf_info(f) i GROUP BY how, n, rate ORDER BY how, n DESC;

--
-- To the brim: no add is refused before the capacity, for any capacity from 1
-- to 300, whatever the seed and rate; and nothing is lost
--
SELECT rate, copies, count(*) AS fills, count(*) FILTER (WHERE NOT cf_contains_all(f, a)) AS lost, count(*) FILTER (WHERE cf_count(f) < n * 0.85) AS entries_missing,
	count(*) FILTER (WHERE EXISTS (SELECT cf_check(f))) AS not_sound, count(*) FILTER (WHERE cf_fpr(f) > rate) AS above_rate
	FROM (VALUES (0.01, 4), (0.01, 1), (1e-6, 4)) v(rate, copies), generate_series(1, 300) n, generate_series(1, 3) seed,
		LATERAL (SELECT ARRAY(SELECT generate_series(1, n)) AS a) s, cf_add_all(cf_new(n, rate, copies, seed), a) f GROUP BY rate, copies ORDER BY rate, copies;
-- one value at a time, and more: up to the capacity, and then an error that
-- says so and leaves the filter as it was
CREATE FUNCTION fill(capacity int, rate float8) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	f cuckoofilter := cf_new(capacity, rate);
	detail text;
	hint text;
	n int := 0;
BEGIN
	LOOP
		BEGIN
			f := cf_add(f, n + 1);
		EXCEPTION WHEN OTHERS THEN
			GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
			RETURN format('%s: %s, %s, %s, %s, %s, %s', SQLSTATE, SQLERRM, n >= capacity AND n < 1.5 * capacity + 40, cf_contains_all(f, ARRAY(SELECT generate_series(1, n))),
				(SELECT count(*) FROM cf_check(f)),
				detail = format('It holds %s %s of a capacity of %s, at a load factor of %s.', cf_count(f), CASE cf_count(f) WHEN 1 THEN 'entry' ELSE 'entries' END, capacity, to_char((cf_info(f)).load_factor, 'FM0.000')), hint);
		END;
		n := n + 1;
		EXIT WHEN n > 10000;
	END LOOP;
	RETURN 'never full';
END $$;
SELECT n, fill(n, 0.01) FROM unnest('{1,2,23,24,25,100,300,1000}'::int[]) n;
SELECT cf_add_all(cf_new(2), ARRAY[1, 2, 3]);
SELECT cf_add_all(cf_new(200), ARRAY(SELECT generate_series(1, 1000)));
-- what the hints say helps: the largest capacity to resize to is named, and it
-- is possible, takes that many values and loses none; one more is not
CREATE FUNCTION raise_capacity(f cuckoofilter) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	held bigint := cf_count(f);
	hint text;
	most bigint;
	g cuckoofilter;
BEGIN
	PERFORM cf_resize(f, 1e8);
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	most := substring(hint FROM ' is ([0-9]+);');
	g := cf_add_all(cf_resize(f, most), ARRAY(SELECT generate_series(held + 1, most)));
	RETURN format('%s %s %s %s', most > (cf_info(f)).capacity, cf_contains_all(g, ARRAY(SELECT generate_series(1, most))), (cf_info(g)).fpr <= (cf_info(g)).promised_fpr,
		split_part(try(format('cf_count(cf_resize(%L, %s))', f, most + 1)), ':', 1));
END $$;
SELECT n, r, raise_capacity(cf_add_all(cf_new(n, r), ARRAY(SELECT generate_series(1, n)))) FROM unnest('{24,25,100,300,1000,5000}'::int[]) n, unnest('{0.01,0.001}'::float8[]) r;
SELECT cf_contains_all(cf_add(cf_resize(cf_add_all(cf_new(2), ARRAY[1, 2]), 3), 3), ARRAY[1, 2, 3]);
-- an update that fails leaves the row alone
CREATE TABLE one AS SELECT cf_add_all(cf_new(3), ARRAY[1, 2, 3]) AS f;
UPDATE one SET f = cf_add(f, 4);
SELECT f = cf_add_all(cf_new(3), ARRAY[1, 2, 3]) AS untouched FROM one;

--
-- The rate is a bound at every size on the way: of 20,000 values never added
-- at most 1 % and six standard deviations of that (200 + 6 * 14.1) are found
--
SELECT n, (SELECT count(*) FROM unnest(cf_contains_each(f, ARRAY(SELECT generate_series(100001, 120000)))) e WHERE e) <= 285 AS within,
	cf_contains_all(f, ARRAY(SELECT generate_series(1, n))) AS holds
	FROM unnest('{30,300,3000,10000,20000,30000}'::int[]) n, cf_add_all(cf_new(30000), ARRAY(SELECT generate_series(1, n))) f;
-- and it is no worse than cf_fpr() says, within four standard deviations
SELECT rate, (SELECT count(*) FROM unnest(cf_contains_each(f, ARRAY(SELECT generate_series(100001, 200000)))) e WHERE e) BETWEEN 1e5 * cf_fpr(f) - 4 * sqrt(1e5 * cf_fpr(f)) AND 1e5 * cf_fpr(f) + 4 * sqrt(1e5 * cf_fpr(f)) AS as_said
	FROM unnest('{0.015,0.01,0.003,0.001}'::float8[]) rate, cf_add_all(cf_new(5000, rate), ARRAY(SELECT generate_series(1, 5000))) f;

--
-- Hot values: any number of adds costs max_copies slots, and many of them at
-- once lower max_copies; none is lost
--
SELECT m, cf_count(f), cf_count(f, 7), (cf_info(f)).bytes FROM generate_series(1, 4) m, cf_add_all(cf_new(1000, max_copies => m), array_fill(7, ARRAY[100000])) f;
SELECT m, cf_count(f), cf_count(f, 7) FROM generate_series(1, 4) m, cf_add_all(cf_new(1000, max_copies => m), ARRAY(SELECT generate_series(101, 600)) || array_fill(7, ARRAY[100000])) f;
SELECT n, m, i.max_copies, i.current_copies < m OR m < 3 AS lowered, i.current_copies >= least(m, 2) AS at_least_two, cf_contains_all(f, a) AS holds, (SELECT count(*) FROM cf_check(f)) AS problems
	FROM unnest('{1000,5000}'::int[]) n, generate_series(1, 4) m, LATERAL (SELECT ARRAY(SELECT i FROM generate_series(1, n / m) i, generate_series(1, m)) AS a) s, cf_add_all(cf_new(n, max_copies => m), a) f, cf_info(f) i;

--
-- Values that collide on purpose: the same column, permanent bits and top
-- variable bits, so the same two buckets in a table of any size.  They are
-- refused at once, not with gigabytes, and honest values still come in.
--
CREATE FUNCTION evil(i int) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT (x''1234abcd''::bigint << 32) | (i::bigint << 16) | 85';
CREATE FUNCTION evil_fill(f cuckoofilter, first int, last int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n int := 0;
BEGIN
	FOR i IN first..last LOOP
		f := cf_add_hash(f, evil(i));
		n := n + 1;
	END LOOP;
	RETURN format('all %s taken, %s', n, (cf_info(f)).form);
EXCEPTION WHEN OTHERS THEN
	RETURN format('%s: %s after %s, %s, %s, honest: %s, all there: %s', SQLSTATE, SQLERRM, CASE WHEN n BETWEEN 4 AND 12 THEN 'a few' ELSE n::text END, (cf_info(f)).form,
		CASE WHEN pg_column_size(f) < 1000000 THEN 'small' ELSE 'large' END,
		cf_contains_all(cf_add_all(f, ARRAY(SELECT generate_series(200001, 200100))), ARRAY(SELECT generate_series(200001, 200100))),
		(SELECT bool_and(cf_contains_hash(f, evil(i))) FROM generate_series(first, first + n - 1) i));
END $$;
CREATE FUNCTION evil_list(n int) RETURNS cuckoofilter LANGUAGE plpgsql AS $$
DECLARE
	f cuckoofilter := cf_new(1e6, 1e-7);
BEGIN
	FOR i IN 1..n LOOP
		f := cf_add_hash(f, evil(i));
	END LOOP;
	RETURN f;
END $$;
CREATE FUNCTION evil_table(n int) RETURNS cuckoofilter LANGUAGE plpgsql AS $$
DECLARE
	f cuckoofilter := cf_add_all(cf_new(1e6, 1e-7), ARRAY(SELECT generate_series(1, 5000)));
BEGIN
	FOR i IN 1..n LOOP
		f := cf_add_hash(f, evil(i));
	END LOOP;
	RETURN f;
END $$;
-- they do collide: column and permanent bits are the hash's own
SELECT count(DISTINCT evil(i) >> 32), count(DISTINCT evil(i) & 255), count(DISTINCT evil(i)) FROM generate_series(1, 5000) i;
-- in a table: refused as soon as the two buckets are full
SELECT evil_fill(cf_add_all(cf_new(1e6, 1e-7), ARRAY(SELECT generate_series(1, 5000))), 1, 500);
-- a list takes them, and stays one: hundreds of them, and thousands of others
SELECT evil_fill(cf_new(1e6, 1e-7), 1, 500);
SELECT (cf_info(f)).form, cf_count(f), cf_contains_all(f, ARRAY(SELECT generate_series(1, 3500))) AS holds
	FROM (SELECT cf_add_all(forged, ARRAY(SELECT generate_series(1, 3500))) AS f FROM (SELECT evil_list(500) AS forged) s) s;
-- until it is full; then as before, with the message for a list
SELECT cf_add(evil_list(4095), 1) @> 1 AS last_one;
SELECT cf_add(evil_list(4096), 1);
SELECT cf_add_all(evil_list(500), ARRAY(SELECT generate_series(1, 4000)));
-- the message, from a table
SELECT cf_add_hash(evil_table(8), evil(9));
-- an honest seed helps: the same values do not collide under another one
SELECT i.form, i.entries BETWEEN 4990 AND 5000 AS all_in FROM cf_info((SELECT cf_agg(evil(i), 1e6, 1e-7, 4, 1) FROM generate_series(1, 5000) i)) i;

DROP SCHEMA limits CASCADE;
