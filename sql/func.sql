--
-- func: making, changing, probing and describing filters.
--
SET client_min_messages = warning;
CREATE SCHEMA func;
SET search_path = func, public;

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
-- what a call changed in a filter
CREATE FUNCTION family(f cuckoofilter) RETURNS text LANGUAGE sql AS 'SELECT family FROM public.cf_info(f)';

--
-- cf_new: defaults, NULL for a default, argument names
--
SELECT i.form, i.family, i.capacity, i.entries, i.load_factor, i.fpr, i.promised_fpr <= 0.01 AS promised, i.bytes,
	i.bits_per_value, i.max_copies, i.current_copies, i.merged, i.seed, i.fingerprint_bits, i.kicks, i.longest_path,
	i.growths, i.load_at_growth, i.format_version, i.hash_version
	FROM cf_info(cf_new(1000)) i \gx
SELECT cf_new(1000) = cf_new(1000, 0.01, 4, 0) AS defaults,
	cf_new(1000) = cf_new(1000, NULL, NULL, NULL) AS nulls,
	cf_new(1000) = cf_new(capacity => 1000, fpr => 0.01, max_copies => 4, seed => 0) AS names,
	cf_new(1e3) = cf_new(1000::bigint) AND cf_new(1000::numeric) = cf_new(1000::real) AS number_types,
	cf_new(999.01) = cf_new(1000) AS rounded_up,
	cf_new(1.3) = cf_new(2) AS fraction,
	cf_new(1000, 0.5) = cf_new(1000, 1.0 / 64) AS coarsest_rate;
SELECT i.capacity, i.max_copies, i.current_copies, i.seed, i.promised_fpr <= 0.001 AS promised
	FROM cf_info(cf_new(12345.6, 0.001, 2, -5)) i;
SELECT cf_new(NULL);

--
-- Adding: what was added is found; a NULL value changes nothing, a NULL
-- filter is an error, since the value would be lost
--
SELECT cf_contains(cf_add(cf_new(10), 5), 5), cf_contains(cf_add(cf_new(10), 5), 6), cf_contains(cf_new(10), 5);
SELECT cf_add(cf_new(10), NULL) = cf_new(10), cf_add(cf_new(10), NULL::int) = cf_new(10),
	cf_add_all(cf_new(10), NULL::int[]) = cf_new(10), cf_add_hash(cf_new(10), NULL) = cf_new(10);
SELECT cf_add(NULL, 5);
SELECT e, try(e) FROM (VALUES
	('cf_add(NULL::cuckoofilter, NULL::int)'), ('cf_add_all(NULL, ARRAY[1])'), ('cf_add_hash(NULL, 1)'),
	('cf_remove(NULL, 1)'), ('cf_remove_all(NULL, ARRAY[1])'), ('cf_remove_hash(NULL, 1)'),
	('cf_contains(NULL, 1)'), ('cf_contains(cf_new(10), NULL::int)'), ('NULL::cuckoofilter @> 1'), ('NULL::int <@ cf_new(10)'),
	('cf_contained(1, NULL)'), ('cf_contains_hash(NULL, 1)'), ('cf_contains_hash(cf_new(1), NULL)'),
	('cf_contains_any(NULL, ARRAY[1])'), ('cf_contains_all(cf_new(1), NULL::int[])'), ('cf_contains_each(cf_new(1), NULL::int[])'),
	('cf_count(NULL)'), ('cf_count(NULL, 1)'), ('cf_count(cf_new(1), NULL::int)'), ('cf_fpr(NULL)'),
	('cf_resize(NULL, 10)'), ('cf_hash(NULL::int)'), ('NULLIF(cf_hash(1, NULL), cf_hash(1))'),
	('(SELECT count(*) FROM cf_plan(NULL))'), ('(SELECT count(*) FROM cf_check(NULL))')) v(e);
SELECT * FROM cf_info(NULL);

--
-- Copies: adding is counting up to max_copies; a saturated value stays
--
SELECT m AS max_copies, array_agg(cf_count(cf_add_all(cf_new(capacity, max_copies => m), array_fill(7, ARRAY[n])), 7) ORDER BY n) AS copies_of_n
	FROM generate_series(1, 4) m, generate_series(0, 6) n, (VALUES (10), (24), (100000)) c(capacity)
	GROUP BY m, capacity ORDER BY m, capacity;
SELECT m AS max_copies, array_agg(cf_count(cf_remove(cf_add_all(cf_new(100, max_copies => m), array_fill(7, ARRAY[n])), 7), 7) ORDER BY n) AS one_removed
	FROM generate_series(2, 4) m, generate_series(0, 6) n GROUP BY m ORDER BY m;
-- the same in a table
CREATE TABLE t AS SELECT m, cf_add_all(cf_new(1000, max_copies => m), ARRAY(SELECT generate_series(1000, 1399))) AS f FROM generate_series(1, 4) m;
SELECT m AS max_copies, form, array_agg(cf_count(cf_add_all(f, array_fill(7, ARRAY[n])), 7) ORDER BY n) AS copies_of_n
	FROM t, cf_info(f), generate_series(0, 6) n GROUP BY m, form ORDER BY m;
SELECT m AS max_copies, array_agg(cf_count(cf_remove(cf_add_all(f, array_fill(7, ARRAY[n])), 7), 7) ORDER BY n) AS one_removed
	FROM t, generate_series(0, 6) n WHERE m > 1 GROUP BY m ORDER BY m;
-- what changes nothing gives the same value to the byte
SELECT m, cf_add(g, 7) = g AS saturated_add, m = 1 OR cf_remove(g, 7) = g AS saturated_remove,
	m = 1 OR cf_remove(g, 8) = g AS absent_remove
	FROM t, LATERAL (SELECT cf_add_all(f, array_fill(7, ARRAY[5])) AS g) s ORDER BY m;

--
-- Removing
--
SELECT cf_contains(f, 1), cf_contains(f, 2), cf_count(f), f = cf_add(cf_new(100), 2) AS as_if_never_there
	FROM (SELECT cf_remove(cf_add_all(cf_new(100), ARRAY[1, 2]), 1) AS f) s;
SELECT cf_remove(cf_new(100), 1) = cf_new(100) AS from_empty,
	cf_remove(f, 3) = f AS absent, cf_remove(f, NULL::int) = f AS null_value, cf_remove_all(f, NULL::int[]) = f AS null_array,
	cf_remove_all(f, '{}'::int[]) = f AS empty_array, cf_remove_all(f, '{NULL,NULL}'::int[]) = f AS null_elements,
	cf_count(cf_remove_all(f, ARRAY[1, NULL, 2, 3])) AS left_over,
	cf_remove_hash(f, cf_hash(1)) = cf_remove(f, 1) AS by_hash, cf_remove_hash(f, NULL) = f AS null_hash
	FROM (SELECT cf_add_all(cf_new(100), ARRAY[1, 2, 2]) AS f) s;
-- the family stays when the last value is gone
SELECT cf_count(f), family(f), cf_contains(f, 'a'::text) FROM (SELECT cf_remove(cf_add(cf_new(100), 1), 1) AS f) s;
-- one that cannot lose values
SELECT cf_remove(cf_add(cf_new(100, max_copies => 1), 1), 1);
SELECT e, try(e) FROM (VALUES ('cf_remove(cf_new(100, max_copies => 1), 1)'),
	('cf_remove_all(cf_new(100, max_copies => 1), ARRAY[1])'), ('cf_remove_hash(cf_new(100, max_copies => 1), 1)'),
	('cf_remove(cf_new(100, max_copies => 2), 1) = cf_new(100, max_copies => 2)'),
	('cf_remove(cf_new(100, max_copies => 1), NULL::int) = cf_new(100, max_copies => 1)')) v(e);
-- one that a union has marked (flag 2), its list made here by hand
CREATE FUNCTION forge(bytea, int) RETURNS cuckoofilter LANGUAGE internal IMMUTABLE STRICT AS 'bytea_substr_no_len';
CREATE FUNCTION image_of(f cuckoofilter) RETURNS bytea LANGUAGE sql AS $$
	SELECT substring(f::bytea FROM 1 FOR length(f::bytea) - 8)
$$;
CREATE TABLE merged AS SELECT forge(set_byte(image_of(f), 2, get_byte(image_of(f), 2) | 2), 1) AS f FROM t WHERE m = 4;
SELECT cf_contains(f, 1000), (cf_info(f)).merged FROM merged;
SELECT cf_remove(f, 1000) FROM merged;
SELECT cf_remove_all(f, ARRAY[1000]) FROM merged;
SELECT cf_contains(cf_add(f, 1), 1), (cf_info(cf_add(f, 1))).merged FROM merged;

--
-- Arrays: each element that is not NULL, whatever the shape
--
CREATE TABLE arrays AS SELECT cf_add_all(cf_new(100), '{1,2,3,4}'::int[]) AS f;
SELECT cf_add_all(cf_new(100), '{{1,2},{3,4}}'::int[]) = f AS two_dimensions,
	cf_add_all(cf_new(100), '[5:8]={1,2,3,4}'::int[]) = f AS other_bounds,
	cf_add_all(cf_new(100), '{NULL,1,2,NULL,3,4,NULL}'::int[]) = f AS with_nulls,
	cf_add_all(cf_add_all(cf_new(100), '{1,2}'::int[]), '{3,4}'::int[]) = f AS in_parts,
	cf_add(cf_add(cf_add(cf_add(cf_new(100), 4), 3), 2), 1) = f AS one_by_one,
	cf_add_all(cf_new(100), '{1,2,3,4}'::bigint[]) = f AS of_bigint,
	cf_add_all(f, '{}'::int[]) = f AS empty, cf_add_all(f, '{NULL}'::int[]) = f AS only_null FROM arrays;
-- no element stamps no family, and none is checked
SELECT family(cf_add_all(cf_new(10), '{}'::int[])), family(cf_add_all(cf_new(10), '{NULL}'::text[])),
	cf_add_all(f, '{}'::text[]) = f, cf_add_all(f, '{NULL}'::text[]) = f, cf_remove_all(f, '{NULL}'::text[]) = f,
	cf_contains_any(f, '{}'::text[]), cf_contains_all(f, '{NULL}'::text[]), cf_contains_each(f, '{NULL}'::text[]) FROM arrays;
-- any: false of nothing; all: true of nothing; NULL elements count for neither
SELECT a, cf_contains_any(f, a::int[]), cf_contains_all(f, a::int[]), cf_contains_each(f, a::int[]), array_dims(cf_contains_each(f, a::int[])) AS dims
	FROM arrays, (VALUES ('{}'), ('{NULL}'), ('{1}'), ('{9}'), ('{1,9}'), ('{1,NULL}'), ('{9,NULL}'), ('{1,2,3,4}'), ('{9,8}'), ('{1,NULL,9}'),
		('{{1,2},{9,NULL}}'), ('[0:1]={1,9}'), ('{{{1}},{{9}}}'), ('[-1:0][3:4]={{1,2},{3,9}}')) v(a);
-- all three agree with cf_contains(), in lists and tables
SELECT form, count(*), bool_and(each = ARRAY(SELECT cf_contains(f, e) FROM unnest(a) WITH ORDINALITY u(e, n) ORDER BY n)) AS each,
	bool_and(cf_contains_any(f, a) = (true = ANY (each))) AS any, bool_and(cf_contains_all(f, a) = NOT (false = ANY (each))) AS all
	FROM (SELECT f FROM arrays UNION ALL SELECT f FROM t) s, cf_info(f), generate_series(1, 40) n,
		LATERAL (SELECT array_agg((n * 37 + i * 13) % 1500) AS a FROM generate_series(1, 1 + n % 5) i) b,
		LATERAL (SELECT cf_contains_each(f, a) AS each) c GROUP BY form ORDER BY form;
-- a long array: every batch of probes
SELECT n, (SELECT count(*) FROM unnest(cf_contains_each(f, ARRAY(SELECT generate_series(1000, 999 + n)))) e WHERE e) AS found
	FROM t, unnest('{0,1,2,31,32,33,63,64,65,400}'::int[]) n WHERE m = 4;

--
-- Counts
--
SELECT cf_count(cf_new(10)), cf_count(f), cf_count(f, 1), cf_count(f, 2), cf_count(f, 3), cf_count(f, 9)
	FROM (SELECT cf_add_all(cf_new(100), '{1,1,2,3,3,3,3,3}'::int[]) AS f) s;

--
-- cf_info: every column, of a table that has grown
--
SELECT i.form, i.family, i.capacity, i.entries, round(i.load_factor::numeric, 3) AS load_factor,
	i.fpr BETWEEN i.promised_fpr * 0.39 AND i.promised_fpr * 0.41 AS fpr, i.promised_fpr BETWEEN 0.005 AND 0.01 AS promised_fpr,
	i.bytes = pg_column_size(f) AS bytes, i.bits_per_value = 8.0 * i.bytes / i.entries AS bits_per_value,
	i.max_copies, i.current_copies, i.merged, i.seed, i.columns, i.index_bits, i.prefix_bits,
	i.fingerprint_bits = i.prefix_bits - i.index_bits AS fingerprint_bits, i.kicks > 0 AS kicks, i.longest_path > 0 AS longest_path,
	i.growths, i.load_at_growth BETWEEN 0.9 AND 1 AS load_at_growth, i.format_version, i.hash_version
	FROM (SELECT cf_add_all(cf_new(10000, seed => -7), ARRAY(SELECT generate_series(1, 4000))) AS f) s, cf_info(f) i \gx
SELECT string_agg(name || ' ' || format_type(type, NULL), ', ' ORDER BY n) FROM pg_proc, unnest(proargnames, proallargtypes, proargmodes) WITH ORDINALITY u(name, type, mode, n)
	WHERE oid = 'cf_info'::regproc AND mode = 'o';
-- the rate as it is: 0 of nothing, and within what was promised at capacity
SELECT cf_fpr(cf_new(1000)) AS empty, cf_fpr(cf_add(cf_new(10), 1)) < 1e-15 AS list,
	cf_fpr(f) = fpr AND fpr BETWEEN 0.001 AND promised_fpr AND promised_fpr <= 0.01 AS table
	FROM (SELECT cf_add_all(cf_new(1000), ARRAY(SELECT generate_series(1, 1000))) AS f) s, cf_info(f);

--
-- cf_plan: one rate, several rates; it says what a filled filter will cost
--
SELECT requested_fpr, promised_fpr <= requested_fpr AS kept, fingerprint_bits, round(bits_per_value::numeric, 2) AS bits_per_value, bytes FROM cf_plan(1e6);
SELECT requested_fpr, promised_fpr <= requested_fpr AS kept, fingerprint_bits, round(bits_per_value::numeric, 2) AS bits_per_value, bytes FROM cf_plan(1000.5, 0.02);
SELECT requested_fpr, fingerprint_bits, bytes FROM cf_plan(capacity => 23, fpr => 0.01);
SELECT n, rate, p.bytes = i.bytes AS bytes, p.promised_fpr = i.promised_fpr AS promised_fpr
	FROM (VALUES (1, 0.01), (23, 0.01), (24, 0.01), (100, 0.001), (1000, 0.01), (5000, 1e-6), (20000, 0.0000152)) v(n, rate),
		cf_plan(n, rate) p, cf_info(cf_add_all(cf_new(n, rate), ARRAY(SELECT generate_series(1, n)))) i;
-- what stays a list has the rate of one, capacity / 2^64
SELECT n, i.form, p.fingerprint_bits IS NULL AS no_bits, p.promised_fpr = n / 2 ^ 64::float8 AS planned, i.promised_fpr = p.promised_fpr AS declared,
	i.fpr = p.promised_fpr AS full
	FROM (VALUES (1), (23), (24), (30)) v(n), cf_plan(n, 0.001) p, cf_info(cf_add_all(cf_new(n, 0.001), ARRAY(SELECT generate_series(1, n)))) i;
-- only the rates that are possible, but an error if none is
SELECT count(*) FROM cf_plan(300000000);
SELECT count(*) FROM cf_plan(1e12);
SELECT e, try(e) FROM (VALUES ('(SELECT count(*) FROM cf_plan(0))'), ('(SELECT count(*) FROM cf_plan(1000, 0))'), ('(SELECT count(*) FROM cf_plan(1000, 1))'),
	('(SELECT count(*) FROM cf_plan(1e9, 0.001))'), ('(SELECT count(*) FROM cf_plan(''NaN''))')) v(e);

--
-- Hashes: cf_hash() is what the functions on hashes take
--
SELECT cf_contains(cf_add_hash(cf_new(100, seed => s), cf_hash(5, s)), 5) AS found,
	cf_contains_hash(cf_add(cf_new(100, seed => s), 5), cf_hash(5, s)) AS found_by_hash,
	cf_contains_hash(cf_add(cf_new(100, seed => s), 5), cf_hash(5, s + 1)) AS other_seed
	FROM unnest('{0,1,-1,9223372036854775806,-9223372036854775808}'::bigint[]) s;
-- a hash has no family: it stamps none, and whatever is in may be looked for
SELECT family(f) IS NULL AS no_family, cf_contains(f, 5), cf_contains(f, 'five'::text), family(cf_add(f, 'five'::text)),
	cf_contains(cf_add(f, 'five'::text), 'five'::text), family(cf_add_hash(cf_add(cf_new(10), 1), 2)),
	family(cf_remove(f, 5)) IS NULL AS still_none
	FROM (SELECT cf_add_hash(cf_new(100), cf_hash(5)) AS f) s;
SELECT bool_and(cf_contains_hash(cf_add_hash(cf_new(100), h), h)) FROM unnest('{0,-1,1,9223372036854775807,-9223372036854775808}'::bigint[]) h;

--
-- Families: a filter knows what kind of values it holds
--
SELECT cf_contains(cf_add(cf_new(100), 5), 'five'::text);
SELECT cf_add(cf_add(cf_new(100), 5), 'five'::text);
SELECT cf_remove(cf_add(cf_new(100), 'five'::text), 5);
SELECT e, try(e) FROM (VALUES
	('cf_add(cf_new(9), 5) @> ''5'''), ('5 <@ cf_add(cf_new(9), ''5''::text)'), ('cf_contained(''5''::text, cf_add(cf_new(9), 5))'),
	('cf_contains_any(cf_add(cf_new(9), 5), ARRAY[''5''])'), ('cf_contains_all(cf_add(cf_new(9), 5), ARRAY[''5'', NULL])'),
	('cf_contains_each(cf_add(cf_new(9), 5), ARRAY[''5''])'), ('cf_count(cf_add(cf_new(9), 5), ''5''::text)'),
	('cf_add_all(cf_add(cf_new(9), 5), ARRAY[''5''])'), ('cf_remove_all(cf_add(cf_new(9), 5), ARRAY[''5''])'),
	('cf_contains(cf_add(cf_new(9), ''\x05''::bytea), ''5''::text)'),
	('cf_contains(cf_add(cf_new(9), ''5''::text), ''\x05''::bytea)'),
	('cf_contains(cf_add(cf_new(9), 5), ''00000000-0000-0000-0000-000000000005''::uuid)')) v(e);
-- an empty filter holds nothing of any kind; one family over all its types
SELECT cf_contains(cf_new(9), 5), cf_contains(cf_new(9), 'five'::text), cf_new(9) @> '\x05'::bytea, cf_count(cf_new(9), 5),
	cf_contains_any(cf_new(9), ARRAY['a', 'b']), cf_contains_each(cf_new(9), ARRAY[1, NULL]), cf_remove(cf_new(9), 'x'::text) = cf_new(9);
SELECT bool_and(f @> 5::smallint AND f @> 5 AND f @> 5::bigint AND NOT f @> 6::smallint AND NOT f @> 6 AND NOT f @> 6::bigint)
	FROM (VALUES (cf_add(cf_new(9), 5::smallint)), (cf_add(cf_new(9), 5)), (cf_add(cf_new(9), 5::bigint))) v(f);
SELECT bool_and(f @> 'five'::text AND f @> 'five'::varchar AND f @> 'five'::name AND NOT f @> 'Five'::text)
	FROM (VALUES (cf_add(cf_new(9), 'five'::text)), (cf_add(cf_new(9), 'five'::varchar)), (cf_add(cf_new(9), 'five'::char(9))), (cf_add(cf_new(9), 'five'::name))) v(f);

--
-- cf_check: no row for what is sound; a reason for what is not
--
SELECT count(*) FROM t, cf_check(f);
SELECT what, c FROM t, LATERAL (VALUES
	('sound', image_of(f)),
	('truncated', substring(image_of(f) FROM 1 FOR 100)),
	('no header', '\x01'), ('nothing', ''), ('format version', set_byte(image_of(f), 0, 9)),
	('hash version', set_byte(image_of(f), 1, 9)), ('flag', set_byte(image_of(f), 2, 65)), ('family', set_byte(image_of(f), 3, 99)),
	('columns', set_byte(image_of(f), 4, 0)), ('entries', set_byte(image_of(f), 24, 7)), ('copies', set_byte(image_of(f), 7, 0)),
	('padding', set_byte(image_of(f), length(image_of(f)) - 1, 1)),
	('bucket', set_byte(set_byte(image_of(f), 44, 255), 45, 255))) v(what, image)
	LEFT JOIN cf_check(forge(image, 1)) c ON true WHERE m = 4;
SELECT cf_check(forge(overlay(image_of(cf_add_all(cf_new(9), '{1,2,3}'::int[])) PLACING '\xffffffffffffffff' FROM 45), 1));
-- what is damaged is refused, or at least does no harm
SELECT cf_contains(forge('\x01', 1), 5);
SELECT cf_add(forge(substring(image_of(f) FROM 1 FOR 100), 1), 5) FROM t WHERE m = 4;
SELECT cf_contains(forge(set_byte(image_of(f), 0, 9), 1), 5) FROM t WHERE m = 4;
CREATE TABLE calls (call text);
INSERT INTO calls VALUES ('cf_contains($1, 1001)'), ('$1 @> 5'), ('5 <@ $1'), ('cf_contains_hash($1, 7)'), ('cf_contains_any($1, ARRAY[1,2,3])'),
	('cf_contains_all($1, ARRAY[1000,1001])'), ('cf_contains_each($1, ARRAY[1000,5])'), ('cf_add($1, 5)'), ('cf_add($1, 1001)'), ('cf_add_all($1, ARRAY(SELECT generate_series(1, 300)))'),
	('cf_add_hash($1, 7)'), ('cf_remove($1, 1001)'), ('cf_remove_all($1, ARRAY(SELECT generate_series(1000, 1300)))'), ('cf_remove_hash($1, 7)'), ('cf_count($1)'), ('cf_count($1, 1000)'),
	('cf_resize($1, 2000)'), ('cf_resize($1, 500)'), ('cf_resize($1, NULL, 0.015)'), ('cf_resize($1, 410)'),
	('cf_fpr($1)'), ('cf_info($1)'), ('(SELECT string_agg(c, '''') FROM cf_check($1) c)'), ('$1::text'), ('$1::bytea'), ('cf_cmp($1, cf_new(10))'), ('$1 = $1'),
	('cuckoofilter_hash($1)'), ('(SELECT count(*) FROM (SELECT DISTINCT $1) s)'),
	('cf_union($1, $1)'), ('cf_union_all($1, cf_new(9, max_copies => 3))'), ('cf_intersection($1, $1)'), ('cf_overlap($1, $1)'),
	('(SELECT cf_union_agg(g) FROM (VALUES ($1), ($1)) v(g))'), ('(SELECT cf_union_all_agg(g) FROM (VALUES ($1), ($1)) v(g))');
CREATE FUNCTION hurt(call text, f cuckoofilter) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE 'SELECT ' || call USING f;
	RETURN 'ok';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;
-- headers that are wrong: everything that looks into the image says so
SELECT call, string_agg(DISTINCT hurt(call, forge(image, 1)), ' ') FROM calls, t, LATERAL (VALUES
	(''::bytea), ('\x01'), (substring(image_of(f) FROM 1 FOR 43)), (substring(image_of(f) FROM 1 FOR 44)),
	(substring(image_of(f) FROM 1 FOR length(image_of(f)) - 1)), (image_of(f) || '\x00'),
	(set_byte(image_of(f), 4, 7)), (set_byte(image_of(f), 5, 40)), (set_byte(image_of(f), 6, 5)), (set_byte(image_of(f), 7, 0)),
	(overlay(image_of(f) PLACING '\xffffffffffffff7f' FROM 25)), (overlay(image_of(f) PLACING '\x0000000000000000' FROM 17))) v(image)
	WHERE m = 4 GROUP BY call ORDER BY call COLLATE "C";
-- even a damaged one compares: by its bytes, the shorter first
SELECT cf_cmp(forge(substring(image_of(f) FROM 1 FOR 50), 1), f) AS shorter, cf_cmp(f, forge(substring(image_of(f) FROM 1 FOR 50), 1)) AS longer, f > forge('', 1) AS nothing FROM t WHERE m = 4;
-- bodies that are wrong: no answer is promised, but no harm is done
SELECT DISTINCT hurt(call, forge(image, 1)) IN ('ok', 'XX001', '54000', '22023') AS harmless FROM calls,
	(SELECT image_of(f) AS good FROM t WHERE m = 4 UNION ALL SELECT image_of(cf_add_all(cf_new(9), '{1,2,3}'::int[]))) s,
	LATERAL (SELECT set_byte(good, n, get_byte(good, n) # 255) AS image FROM generate_series(44, length(good) - 1, 7) n
		UNION ALL SELECT substring(good FROM 1 FOR 44) || decode(repeat(x, length(good) - 44), 'hex') FROM unnest('{00,ff,0f,55,01}'::text[]) x) v;

--
-- cf_clear: an empty filter of the same parameters; cf_new makes it, too, of what cf_info shows
--
SELECT c, r, m, s, cf_clear(f) = cf_new(c, r, m, s) AS cleared, cf_new(i.capacity, i.declared_fpr, i.max_copies, i.seed) = cf_new(c, r, m, s) AS twin, i.declared_fpr
	FROM (VALUES (1, 0.01, 4, 0), (23, 0.01, 1, 0), (24, 0.3, 4, 5), (1000, 0.01, 4, 0), (1000, 0.001, 2, -5), (1e6, 1e-6, 3, 7), (20000, 0.005, 4, 0),
			(20000, 0.0123, 4, 0), (1e7, 0.00002, 4, 1)) v(c, r, m, s),
		LATERAL (SELECT cf_add_all(cf_new(c, r, m, s), ARRAY(SELECT generate_series(1, least(c, 3000)::int))) AS f) x, cf_info(f) i ORDER BY c, r, m;
SELECT n, r FROM generate_series(1, 4000, 37) n, unnest('{0.9,0.0156,0.011,0.01,0.007,0.0033,1e-3,1.9e-4,1e-6,7e-9,1e-12}'::float8[]) r, cf_info(cf_new(n, r)) i
	WHERE cf_new(i.capacity, i.declared_fpr) <> cf_new(n, r);
-- as it was written, down to the finest that there is
SELECT n, r, declared_fpr FROM (VALUES (1, 1e-15), (1, 2e-15), (2, 2e-15), (5, 1e-14), (24, 2e-14), (1000, 1e-12)) v(n, r), cf_info(cf_new(n, r)) i
	WHERE declared_fpr <> r;
-- nothing but the parameters: no family, copies as declared, no mark, and it can be merged with what it was made of, resized or not
SELECT i.family, i.entries, i.max_copies, i.current_copies, i.merged, i.growths, cf_count(cf_clear(f) | f) = cf_count(f) AS merges, cf_clear(f) @> 1 AS found, cf_add(cf_clear(f), 'a'::text) @> 'a'::text AS any_kind
	FROM (SELECT cf_resize(cf_union(f, f), 3000, 0.002) AS f FROM (SELECT cf_add_all(cf_new(2000, 0.001), ARRAY(SELECT i % 500 FROM generate_series(1, 5000) i)) AS f) made) s, cf_info(cf_clear(f)) i;
SELECT cf_clear(NULL);

--
-- cf_resize: nothing lost, as small as possible, refused where bits are missing
--
CREATE TABLE keys AS SELECT i AS v FROM generate_series(1, 3000) i;
CREATE FUNCTION holds(f cuckoofilter) RETURNS bool LANGUAGE sql AS 'SELECT public.cf_contains_all(f, ARRAY(SELECT v FROM func.keys))';
CREATE TABLE big AS SELECT cf_add_all(cf_new(20000, 0.001), (SELECT array_agg(v) FROM keys)) AS f;
SELECT c, r, i.form, i.capacity, i.entries, holds(g) AS holds, i.bytes < (cf_info(f)).bytes AS smaller, i.fpr <= i.promised_fpr AS below,
	i.promised_fpr <= coalesce(r, 1) AS as_asked, (SELECT count(*) FROM cf_check(g)) AS problems,
	cf_count(g) = cf_count(f) AS copies
	FROM big, (VALUES (NULL, NULL), (20000, NULL), (30000, NULL), (19999, NULL), (3000, NULL), (NULL, 0.001), (NULL, 0.01), (3000, 0.01), (40000, 0.002), (3000, 0.9), (4000.5, NULL)) v(c, r),
		LATERAL cf_resize(f, c, r) g, cf_info(g) i ORDER BY c, r;
-- a smaller capacity allows a finer rate with the same bits
SELECT i.promised_fpr < 0.0002 AS finer, holds(g) FROM big, cf_resize(f, 3000, 0.00019) g, cf_info(g) i;
SELECT cf_resize(f) = f, cf_resize(f, NULL, NULL) = f FROM big;
-- a larger capacity at the rate it then has, and it can be filled
SELECT i.promised_fpr > 0.001 AS coarser, i.promised_fpr < 0.01 AS still_fine, holds(h), cf_count(h), cf_contains_all(h, ARRAY(SELECT generate_series(3001, 60000)))
	FROM big, cf_resize(f, 60000) g, cf_info(g) i, cf_add_all(g, ARRAY(SELECT generate_series(3001, 60000))) h;
-- removals leave room, which it takes back
SELECT cf_count(s), holds(s), i.bytes > 2 * (cf_info(s)).bytes AS compacted
	FROM (SELECT cf_remove_all(cf_add_all(f, ARRAY(SELECT generate_series(3001, 20000))), ARRAY(SELECT generate_series(3001, 20000))) AS g FROM big) b,
		cf_info(g) i, cf_resize(g) s;
-- lists take any parameters, also into a table and back down to a small list
SELECT c, r, i.form, i.entries, i.capacity, cf_contains_all(g, ARRAY(SELECT generate_series(1, 20))) AS holds, i.promised_fpr <= r AS as_asked
	FROM (SELECT cf_add_all(cf_new(1000), ARRAY(SELECT generate_series(1, 20))) AS f) s, (VALUES (20, 0.01), (24, 0.01), (1e6, 1e-6), (4e8, 0.01), (25, 1e-9)) v(c, r),
		LATERAL cf_resize(f, c, r) g, cf_info(g) i;
SELECT cf_resize(cf_new(100), 200, 0.001) = cf_new(200, 0.001) AS empty;
-- refused
SELECT cf_resize(f, 2999) FROM big;
SELECT cf_resize(f, NULL, 0.0001) FROM big;
SELECT cf_resize(f, 1e6) FROM big;
SELECT cf_resize(f, 1e9) FROM big;
SELECT cf_resize(cf_new(10), 1e12);
SELECT cf_resize(cf_new(10), 1e8, 1e-12);
SELECT cf_resize(cf_new(100, 1e-12), 1e8);
-- whatever the rate, down to those that no integer of the core stands for
SELECT r, split_part(try(format('cf_count(cf_resize(cf_new(10), NULL, %s))', r)), ':', 1) FROM unnest('{1e-13,1e-18,1e-19,1e-300}'::float8[]) r;
SELECT e, try(e) FROM (VALUES ('cf_resize(cf_new(10), 0)'), ('cf_resize(cf_new(10), -1)'), ('cf_resize(cf_new(10), ''NaN'')'),
	('cf_resize(cf_new(10), NULL, 0)'), ('cf_resize(cf_new(10), NULL, 1)'), ('cf_resize(cf_new(10), NULL, ''NaN'')'),
	('cf_resize(cf_add_all(cf_new(10), ARRAY[1,2,3]), 2)'), ('cf_count(cf_resize(cf_add_all(cf_new(10), ARRAY[1,2,3]), 3))')) v(e);
-- copies, copies lowered and marks stay
SELECT i.max_copies, i.merged, cf_count(g, 5), cf_count(cf_remove(g, 6), 6), cf_count(cf_remove(g, 5), 5)
	FROM cf_resize(cf_add_all(cf_new(1000, 0.001, 3), ARRAY[5,5,5,5,6,6] || ARRAY(SELECT generate_series(100, 600))), 700, 0.01) g, cf_info(g) i;
SELECT (cf_info(cf_resize(f, 2000))).merged FROM merged;

--
-- Random adds and removals against an exact table: lists, tables, growth and
-- every max_copies that allows removing
--
CREATE FUNCTION churn(capacity int, rate float8, copies int, seed int, steps int, domain int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	f cuckoofilter := cf_new(capacity, rate, copies, seed);
	held int[] := array_fill(0, ARRAY[domain]);
	saturated bool[] := array_fill(false, ARRAY[domain]);
	v int;
	total int := 0;
	x bigint := seed;
BEGIN
	FOR i IN 1..steps LOOP
		x := x * 48271 % 2147483647;
		v := 1 + x % domain;
		IF (x / 7) % 5 < 3 AND total < capacity THEN
			f := cf_add(f, v);
			IF held[v] < copies THEN
				held[v] := held[v] + 1;
				total := total + 1;
			END IF;
			-- lowered: what has as many copies as are left is there for good
			IF (cf_info(f)).current_copies < copies THEN
				copies := (cf_info(f)).current_copies;
				FOR w IN 1..domain LOOP
					held[w] := least(held[w], copies);
					saturated[w] := saturated[w] OR held[w] = copies;
				END LOOP;
				total := (SELECT sum(h) FROM unnest(held) h);
			END IF;
			saturated[v] := saturated[v] OR held[v] = copies;
		ELSIF held[v] > 0 THEN
			-- removing only what is there; what is saturated stays
			f := cf_remove(f, v);
			IF NOT saturated[v] THEN
				held[v] := held[v] - 1;
				total := total - 1;
			END IF;
		END IF;
		IF NOT cf_contains(f, v) AND held[v] > 0 THEN
			RETURN format('step %s: lost %s', i, v);
		END IF;
	END LOOP;
	IF NOT cf_contains_all(f, ARRAY(SELECT i FROM generate_series(1, domain) i WHERE held[i] > 0)) THEN
		RETURN 'a value was lost';
	END IF;
	IF EXISTS (SELECT cf_check(f)) THEN
		RETURN 'not sound';
	END IF;
	-- unless max_copies was lowered, all is as in the table
	IF (cf_info(f)).current_copies = copies THEN
		FOR i IN 1..domain LOOP
			IF cf_count(f, i) <> held[i] THEN
				RETURN format('%s copies of %s, %s expected', cf_count(f, i), i, held[i]);
			END IF;
		END LOOP;
		IF cf_count(f) <> total THEN
			RETURN format('%s entries, %s expected', cf_count(f), total);
		END IF;
	END IF;
	RETURN (cf_info(f)).form || ' ok';
END $$;
SELECT c AS copies, capacity, churn(capacity, rate, c, capacity + c, 3000, domain) FROM generate_series(2, 4) c,
	(VALUES (20, 0.01, 15), (60, 1e-6, 40), (500, 1e-6, 300), (3000, 1e-9, 800)) v(capacity, rate, domain);

DROP SCHEMA func CASCADE;
