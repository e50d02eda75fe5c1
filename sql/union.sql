--
-- union: two filters to one, union as aggregates, intersection and overlap.
--
-- Filters of one seed and number of columns merge entry by entry, whatever
-- their sizes and rates.  The exact sets are at hand to compare with.
--
SET client_min_messages = warning;
CREATE SCHEMA unions;
SET search_path = unions, public;

-- the result of a query as text, or the error with its SQLSTATE
CREATE FUNCTION try(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE query INTO result;
	RETURN coalesce(result, 'null');
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ': ' || SQLERRM;
END $$;

-- is everything about a filter as it should be, also after a trip through text?
CREATE FUNCTION sound(f cuckoofilter) RETURNS boolean LANGUAGE sql AS $$
	SELECT NOT EXISTS (SELECT FROM cf_check(f)) AND f::text::cuckoofilter = f AND f::bytea::cuckoofilter = f
$$;

--
-- The filters: lists and tables that all have 64 columns.  Each is named, and
-- "held" has how often each value was added.  Values are disjoint but where two
-- names share them on purpose.
--
CREATE TABLE made (name text PRIMARY KEY, low int, high int, times int, capacity float8, fpr float8, max_copies int);
INSERT INTO made VALUES
	('empty',     1,    0,     1, 3906, 0.01,   4),
	('list',      1,    30,    1, 3906, 0.01,   4),
	('list2',     21,   50,    1, 3906, 0.01,   4),
	('bag',       1,    12,    3, 3906, 0.01,   4),
	('bag2',      7,    18,    2, 3906, 0.01,   4),
	('one',       1,    30,    1, 3906, 0.01,   1),
	('two',       10,   30,    2, 3906, 0.01,   2),
	('fine list', 11,   40,    2, 3906, 0.0001, 3),
	('table',     1001, 2500,  1, 3906, 0.01,   4),
	('half',      2001, 4000,  1, 3906, 0.01,   4),
	('doubled',   1501, 2000,  2, 3906, 0.01,   4),
	('fine',      2401, 3400,  1, 3906, 0.0001, 4),
	('coarse',    901,  1300,  1, 3906, 0.015,  3),
	('only one',  2001, 3000,  1, 3906, 0.01,   1),
	('large',     1001, 6000, 1,  15624, 0.001, 4),
	('full',      3001, 6800,  1, 3906, 0.01,   2);
CREATE TABLE held AS SELECT name, v, times FROM made, generate_series(low, high) v;
CREATE TABLE f AS SELECT name, cf_add_all(cf_new(capacity, fpr, max_copies), ARRAY(SELECT v FROM generate_series(low, high) v, generate_series(1, times))) AS f FROM made;
ALTER TABLE f ADD PRIMARY KEY (name);
ANALYZE made, held, f;
SELECT m.name, i.form, i.family, i.entries, i.columns, i.index_bits, i.prefix_bits, i.max_copies FROM made m JOIN f USING (name), cf_info(f) i ORDER BY m.ctid;

-- both ways of every pair, themselves included; where it is refused, the reason
CREATE TABLE pair AS SELECT a.name AS a, b.name AS b, a.f AS fa, b.f AS fb FROM f a, f b;
CREATE TABLE merged AS SELECT p.*, u, n, o FROM pair p,
	LATERAL (SELECT try(format('SELECT cf_union(%L::public.cuckoofilter, %L)', fa, fb)) AS u) u,
	LATERAL (SELECT try(format('SELECT cf_union_all(%L::public.cuckoofilter, %L)', fa, fb)) AS n) n,
	LATERAL (SELECT try(format('SELECT cf_intersection(%L::public.cuckoofilter, %L)', fa, fb)) AS o) o;
SELECT u = n AS alike, n, count(*), string_agg(a || ' with ' || b, ', ' ORDER BY a, b) FROM merged WHERE u NOT LIKE 'cf1:%' OR n NOT LIKE 'cf1:%' GROUP BY 1, 2 ORDER BY 2, 1;
SELECT o, string_agg(a || ' with ' || b, ', ' ORDER BY a, b) FROM merged WHERE o NOT LIKE 'cf1:%' GROUP BY o ORDER BY o;
CREATE TABLE result AS
	SELECT a, b, fa, fb, op, r::cuckoofilter FROM merged, LATERAL (VALUES ('union', u), ('union all', n), ('intersection', o)) v(op, r) WHERE r LIKE 'cf1:%';
ANALYZE result;
SELECT op, count(*), bool_and(sound(r)) AS sound FROM result GROUP BY op ORDER BY op;

-- what it has of both: the larger capacity, the smaller prefix and max_copies
SELECT op, count(*), bool_and(i.capacity = greatest(ia.capacity, ib.capacity)) AS capacity, bool_and(i.prefix_bits = least(ia.prefix_bits, ib.prefix_bits)) AS prefix,
	bool_and(i.max_copies = least(ia.max_copies, ib.max_copies)) AS copies, bool_and(i.current_copies <= least(ia.current_copies, ib.current_copies)) AS current_copies,
	bool_and(i.columns = ia.columns AND i.seed = ia.seed) AS same, bool_and(i.family IS NOT DISTINCT FROM coalesce(ia.family, ib.family)) AS family,
	bool_and(i.form = 'table') FILTER (WHERE ia.form = 'table' OR ib.form = 'table') AS table_if_any, bool_and(i.form = 'table') FILTER (WHERE ia.form = 'table' AND ib.form = 'table') AS table_if_both
	FROM result, cf_info(r) i, cf_info(fa) ia, cf_info(fb) ib GROUP BY op ORDER BY op;

-- nothing is lost: every value of both sides is there, as often as it must be,
-- and in lists exactly so; what both have is in the intersection.  Of tables
-- the copies of every 37th value are counted.
CREATE TABLE expected AS
	SELECT r.a, r.b, r.op, v.v, CASE op WHEN 'union' THEN greatest(x, y) WHEN 'union all' THEN x + y ELSE least(x, y) END AS times
	FROM (SELECT a, b, op FROM result) r, LATERAL (
		SELECT v, coalesce(ha.times, 0) AS x, coalesce(hb.times, 0) AS y
		FROM (SELECT v, times FROM held WHERE name = a) ha FULL JOIN (SELECT v, times FROM held WHERE name = b) hb USING (v)) v;
DELETE FROM expected WHERE times = 0;
ANALYZE expected;
CREATE TABLE compare AS SELECT r.*, i.current_copies AS copies, (cf_info(fa)).form = 'list' AND (cf_info(fb)).form = 'list' AS lists, i.form = 'list' AS is_list,
		e.v, e.n1 + CASE WHEN i.current_copies > 1 THEN e.n2 ELSE 0 END + CASE WHEN i.current_copies > 2 THEN e.n3 ELSE 0 END + CASE WHEN i.current_copies > 3 THEN e.n4 ELSE 0 END AS n
	FROM result r JOIN (SELECT a, b, op, array_agg(v) AS v, count(*) AS n1, count(*) FILTER (WHERE times > 1) AS n2, count(*) FILTER (WHERE times > 2) AS n3, count(*) FILTER (WHERE times > 3) AS n4 FROM expected GROUP BY a, b, op) e USING (a, b, op), cf_info(r) i;
SELECT op, bool_and(cf_contains_all(r, v)) AS holds, sum(n) > 10000 AS many FROM compare GROUP BY op ORDER BY op;
SELECT op, bool_and(cf_count(r, e.v) >= least(times, copies)) AS often_enough, bool_and(cf_count(r, e.v) = least(times, copies)) FILTER (WHERE lists AND is_list) AS lists_exact
	FROM expected e JOIN compare USING (a, b, op) WHERE (lists AND is_list) OR e.v % 37 = 0 GROUP BY op ORDER BY op;
-- entries of lists, exactly; a table may have fewer where values share an
-- entry: with x entries in k 2^P there are about x^2 / (k 2^P) such, here below
-- x / 64 on average, and less than x / 16 for sure
SELECT op, bool_and(cf_count(r) = n) FILTER (WHERE lists) AS lists_exact, bool_and(cf_count(r) BETWEEN n * 15 / 16 AND n) FILTER (WHERE NOT lists AND op <> 'intersection') AS tables FROM compare GROUP BY op ORDER BY op;
-- of 5,000 values in neither, no more than the rate allows: an expected
-- x = 5000 cf_fpr(), plus six standard deviations of that, plus 6
SELECT op, count(*), bool_and(n <= 5000 * cf_fpr(r) + 6 * sqrt(5000 * cf_fpr(r)) + 6) AS few_others
	FROM result, LATERAL (SELECT count(*) AS n FROM unnest(cf_contains_each(r, ARRAY(SELECT generate_series(100001, 105000)))) e WHERE e) e WHERE a <= b GROUP BY op ORDER BY op;
-- the operator is cf_union; order matters for the layout at most
SELECT bool_and((fa | fb) = r) AS operator FROM result WHERE op = 'union';
SELECT op, bool_and(cf_count(x.r) = cf_count(y.r)) AS same_entries, bool_and((cf_info(x.r)).merged = (cf_info(y.r)).merged) AS same_mark
	FROM result x JOIN result y USING (op) WHERE x.a = y.b AND x.b = y.a AND ((cf_info(x.fa)).form = (cf_info(x.fb)).form OR op <> 'intersection') GROUP BY op ORDER BY op;

--
-- The mark: where entries of both were merged, nothing can be removed
--
SELECT a, b, op, (cf_info(r)).merged FROM result WHERE (a, b) IN (('list', 'list2'), ('list', 'empty'), ('list', 'bag'), ('bag', 'list'), ('empty', 'empty'), ('list', 'list'), ('empty', 'table'), ('table', 'table'), ('table', 'half'), ('one', 'list'))
	ORDER BY a, b, op;
SELECT count(*), bool_and((cf_info(r)).merged) AS marked FROM result WHERE op = 'union' AND EXISTS (SELECT FROM held x JOIN held y USING (v) WHERE x.name = a AND y.name = b);
SELECT op, bool_or((cf_info(r)).merged) AS marked FROM result WHERE op <> 'union' GROUP BY op ORDER BY op;
-- lists without a common value are not marked
SELECT bool_or((cf_info(r)).merged) AS marked FROM result WHERE op = 'union' AND (cf_info(fa)).form = 'list' AND (cf_info(fb)).form = 'list'
	AND NOT EXISTS (SELECT FROM held x JOIN held y USING (v) WHERE x.name = a AND y.name = b);
SELECT cf_remove(cf_union(a.f, b.f), 1) FROM f a, f b WHERE a.name = 'list' AND b.name = 'list2';
SELECT try('SELECT cf_count(' || q || ') FROM unions.f a, unions.f b WHERE a.name = ''list'' AND b.name = ''list2''') FROM (VALUES ('cf_remove(a.f | b.f, 999)'), ('cf_remove_all(a.f | b.f, ARRAY[1])'), ('cf_remove_hash(a.f | b.f, cf_hash(1))'),
	('cf_remove(cf_union_all(a.f, b.f), 25)'), ('cf_remove(cf_union(a.f, cf_new(3906)), 25)'),
	-- the mark stays
	('cf_remove((a.f | b.f) | cf_new(3906), 25)'), ('cf_remove(cf_union_all(cf_new(3906), a.f | b.f), 25)'), ('cf_remove((a.f | b.f)::text::cuckoofilter, 25)'), ('cf_remove(cf_resize(a.f | b.f, 10000), 25)'),
	('cf_remove(cf_intersection(a.f | b.f, a.f), 25)'), ('cf_add(a.f | b.f, 77)')) v(q);
-- after union all each value goes as often as it came, here to the last one
SELECT count(*), bool_and(cf_contains_all(rest, v)) AS nobody_lost, bool_and(cf_count(rest) >= cf_count(fa)) AS no_less, bool_and(cf_count(rest) = cf_count(fa)) FILTER (WHERE a <> 'table' AND b = 'list2') AS all_gone
	FROM result, LATERAL (SELECT cf_remove_all(r, ARRAY(SELECT h.v FROM held h, generate_series(1, h.times) WHERE h.name = b)) AS rest, ARRAY(SELECT v FROM held h WHERE h.name = a) AS v) s
	WHERE op = 'union all' AND a IN ('list', 'bag', 'bag2', 'table', 'doubled') AND b IN ('list2', 'bag', 'bag2', 'half', 'doubled', 'fine') AND a <> b;

--
-- Copies: the larger number, or the sum, up to max_copies, which may have been
-- lowered on one side
--
SELECT x, y, m, n, cf_count(cf_union(a, b), 1) AS union_count, cf_count(cf_union_all(a, b), 1) AS union_all_count, cf_count(cf_intersection(a, b), 1) AS common
	FROM generate_series(0, 4) x, generate_series(x, 4) y, (VALUES (4, 4), (4, 2), (1, 3)) p(m, n),
		LATERAL (SELECT cf_add_all(cf_new(100, 0.01, m), array_fill(1, ARRAY[x])) AS a, cf_add_all(cf_new(100, 0.01, n), array_fill(1, ARRAY[y])) AS b) s ORDER BY m, n, x, y;
CREATE TABLE hot AS SELECT cf_bag_agg(v, 3906) AS f FROM generate_series(1, 650) v, generate_series(1, 6);
SELECT i.max_copies, i.current_copies < 4 AS is_lowered, i.current_copies = j.current_copies AS union_has_it, i.current_copies = k.current_copies AS union_all_has_it, k.max_copies, cf_count(u, 1) = i.current_copies AS count,
	cf_contains_all(cf_remove_all(n, ARRAY(SELECT v FROM generate_series(1, 650) v, generate_series(1, 5))), ARRAY(SELECT generate_series(1, 650))) AS nobody_lost, sound(u) AND sound(n) AS sound
	FROM hot, f, cf_union(hot.f, f.f) u, cf_union_all(f.f, hot.f) n, cf_info(hot.f) i, cf_info(u) j, cf_info(n) k WHERE name = 'table';

--
-- A list of hot values for which a table has no room with all their copies:
-- they stay saturated in the union, so that nobody is lost by removals.
-- Each value of the list was added eight times, and seven are removed.
--
SELECT count(*), bool_and((cf_info(l)).form = 'list' AND (cf_info(t)).form = 'table') AS forms, bool_and(sound(n) AND sound(u)) AS sound,
	bool_and(cf_contains_all(cf_remove_all(n, gone), v)) AS union_all_keeps, bool_and(cf_contains_all(cf_remove_all(m, gone), v)) AS the_other_way, bool_and((cf_info(u)).merged OR cf_contains_all(cf_remove_all(u, gone), v)) AS union_keeps
	FROM generate_series(1000, 1040, 2) capacity, (SELECT ARRAY(SELECT generate_series(1, 47)) AS v, ARRAY(SELECT v FROM generate_series(1, 47) v, generate_series(1, 7)) AS gone) s,
		LATERAL (SELECT cf_bag_agg(v, capacity, 1.2e-13) AS l FROM generate_series(1, 47) v, generate_series(1, 8)) l, LATERAL (SELECT cf_agg(v, capacity, 1.2e-13) AS t FROM generate_series(1001, 1300) v) t,
		cf_union_all(l, t) n, cf_union_all(t, l) m, cf_union(t, l) u;

--
-- Capacity: a union grows as an add does, and stops where an add stops; what
-- went in stays as it was
--
SELECT i.index_bits, j.index_bits, j.growths > i.growths AS grown, j.load_factor > 0.4 AS filled FROM f a, f b, cf_info(a.f) i, cf_info(a.f | b.f) j WHERE a.name = 'table' AND b.name = 'half';
SELECT cf_count(a.f | b.f) FROM f a, f b WHERE a.name = 'full' AND b.name = 'table';
SELECT cf_union(cf_add_all(cf_new(12), ARRAY[1,2,3,4,5,6,7]), cf_add_all(cf_new(12), ARRAY[8,9,10,11,12,13])) IS NULL AS refused;
SELECT cf_count(cf_union(cf_add_all(cf_new(12), ARRAY[1,2,3,4,5,6,7]), cf_add_all(cf_new(12), ARRAY[7,8,9,10,11,12]))) AS just_fits;
SELECT try('SELECT cf_count(cf_union_all(cf_add_all(public.cf_new(12), ARRAY[1,2,3,4,5,6,7]), cf_add_all(public.cf_new(12), ARRAY[7,8,9,10,11,12])))');
DO $$
DECLARE
	a cuckoofilter := (SELECT f FROM f WHERE name = 'full');
	b cuckoofilter := (SELECT f FROM f WHERE name = 'table');
	a_before text := a;
	b_before text := b;
BEGIN
	BEGIN
		a := cf_union(a, b);
		RAISE 'not refused';
	EXCEPTION WHEN program_limit_exceeded THEN
		NULL;
	END;
	IF a::text <> a_before OR b::text <> b_before THEN
		RAISE 'changed';
	END IF;
END $$;

--
-- What cannot be merged, with the message in full
--
SELECT cf_union(cf_new(100, seed => 1), cf_new(100, seed => -2));
SELECT cf_union_all(cf_new(1000), cf_new(1100));
SELECT cf_add(cf_new(100), 1) | cf_add(cf_new(100), 'x');
-- a large table and a prefix that is too short for it
SELECT cf_union(cf_new(973, 0.015), f) FROM f WHERE name = 'large';
SELECT cf_overlap(cf_new(973, 0.015), f) FROM f WHERE name = 'large';
\set VERBOSITY terse
SELECT cf_intersection(cf_new(100, seed => 1), cf_new(100));
SELECT cf_intersection(cf_new(1000), cf_new(1100));
SELECT cf_overlap(cf_new(100, seed => 1), cf_new(100));
SELECT cf_overlap(cf_new(1000), cf_new(1100));
SELECT cf_overlap(cf_add(cf_new(100), 1.5::float8), cf_add(cf_new(100), '2020-01-01'::date));
SELECT cf_intersection(cf_add(cf_new(100), true), cf_add(cf_new(100), 1));
SELECT cf_union_agg(f) FROM (VALUES (cf_new(100, seed => 1)), (NULL), (cf_new(100))) v(f);
SELECT cf_union_all_agg(f) FROM (VALUES (cf_add(cf_new(100), 1)), (cf_add(cf_new(100), 'x'))) v(f);
\set VERBOSITY default
SELECT q, try(q) FROM (VALUES ('SELECT public.cf_new(100, seed => 1) | public.cf_new(100)'), ('SELECT public.cf_new(1000) | public.cf_new(1100)'), ('SELECT public.cf_add(public.cf_new(100), 1) | public.cf_add(public.cf_new(100), ''x'')'),
	('SELECT public.cf_union_all(f, public.cf_new(973, 0.015)) FROM unions.f WHERE name = ''large''')) v(q);

--
-- Families: one that has none takes the other's, also if it was filled with
-- hashes
--
SELECT (cf_info(cf_new(100) | cf_new(100))).family AS none, (cf_info(cf_new(100) | cf_add(cf_new(100), 'x'))).family AS theirs, (cf_info(cf_add(cf_new(100), 'x') | cf_new(100))).family AS ours,
	(cf_info(cf_intersection(cf_new(100), cf_add(cf_new(100), 'x')))).family AS common, (cf_info(cf_union_all(cf_add_hash(cf_new(100), cf_hash(7)), cf_add(cf_new(100), 1)))).family AS hashed,
	(cf_info(cf_union(cf_add_hash(cf_new(100), 7), cf_add_hash(cf_new(100), 8)))).family AS only_hashes;
SELECT cf_contains(f, 7) AS hashed, cf_contains(f, 1) AS typed, cf_contains(f, 2) AS other FROM cf_union_all(cf_add_hash(cf_new(100), cf_hash(7)), cf_add(cf_new(100), 1)) f;
SELECT cf_contains(cf_new(100) | cf_add(cf_new(100), 'x'), 1);
SELECT cf_contains(cf_add(cf_new(100), 1::smallint) | cf_add(cf_new(100), 2.5), 2.5::numeric) AS one_family;

--
-- NULL
--
SELECT cf_union(NULL, cf_new(1)) IS NULL AS a, cf_union(cf_new(1), NULL) IS NULL AS b, cf_union_all(NULL, cf_new(1)) IS NULL AS c, cf_intersection(cf_new(1), NULL) IS NULL AS d, cf_overlap(NULL, cf_new(1)) IS NULL AS e, (cf_new(1) | NULL) IS NULL AS f;

--
-- Intersection: all common values; of those of one side only, about the rate
-- of the other side
--
SELECT a, b, cf_contains_all(r, ARRAY(SELECT v FROM held x JOIN held y USING (v) WHERE x.name = a AND y.name = b)) AS all_common,
	(SELECT count(*) FROM held h WHERE h.name IN (a, b) AND cf_contains(r, v) AND NOT EXISTS (SELECT FROM held x JOIN held y USING (v) WHERE x.name = a AND y.name = b AND x.v = h.v)) <=
	-- others: each with at most the rate of a full filter, 0.015; six deviations
	(cf_count(fa) + cf_count(fb)) * 0.015 + 6 * sqrt((cf_count(fa) + cf_count(fb)) * 0.015) + 1 AS few_others
	FROM result WHERE op = 'intersection' AND (a, b) IN (('table', 'half'), ('half', 'fine'), ('fine', 'large'), ('coarse', 'table'), ('table', 'list'), ('list2', 'list'), ('half', 'full')) ORDER BY a, b;

--
-- Overlap, exact between lists
--
SELECT bool_and(cf_overlap(fa, fb) = (SELECT count(*) FROM held x JOIN held y USING (v) WHERE x.name = a AND y.name = b)) AS exact, count(*) FROM pair WHERE (cf_info(fa)).form = 'list' AND (cf_info(fb)).form = 'list';
--
-- Between tables: of n values of the one that are not in the other, about n p
-- are found there, p being its rate, with a standard deviation of sqrt(n p);
-- the estimate takes n p off and so has a standard error of sqrt(n p) / (1 - p).
-- Values that share an entry of their own table count once; there are about
-- n p / 2 of them.  Five standard errors, and these.  p is below 0.015.
--
CREATE TABLE overlap AS SELECT a, b, cf_overlap(fa, fb) AS estimate, (SELECT count(*) FROM held x JOIN held y USING (v) WHERE x.name = a AND y.name = b) AS truth, least(cf_count(fa), cf_count(fb)) * 0.015 AS np
	FROM pair WHERE (a, b) IN (SELECT a, b FROM result WHERE op = 'intersection') AND ((cf_info(fa)).form = 'table' OR (cf_info(fb)).form = 'table');
SELECT count(*), bool_and(abs(estimate - truth) <= 5 * sqrt(np) / 0.985 + np + 1) AS within_bound, bool_and(estimate >= 0) AS not_negative FROM overlap WHERE 'doubled' NOT IN (a, b);
SELECT bool_and(o.estimate = p.estimate) AS symmetric FROM overlap o JOIN overlap p ON o.a = p.b AND o.b = p.a WHERE o.a < o.b AND (o.a, o.b) <> ('doubled', 'fine');
SELECT n, s, abs(cf_overlap(x.f, y.f) - (n - s)) <= 5 * sqrt(n * rate) / (1 - rate) + n * rate + 1 AS within_bound
	FROM (VALUES (10000, 0), (10000, 100), (10000, 5000), (10000, 9900), (10000, 10000)) v(n, s), (VALUES (0.01), (0.0001)) w(rate),
		LATERAL (SELECT cf_agg(v, 10000, rate) AS f FROM generate_series(1, n) v) x, LATERAL (SELECT cf_agg(v, 10000, rate) AS f FROM generate_series(1 + s, n + s) v) y ORDER BY rate, s;
SELECT cf_overlap(f, cf_new(3906)) AS with_empty, cf_overlap(cf_new(3906), f) AS empty_with, cf_overlap(cf_new(3906), cf_new(3906)) AS empties FROM f WHERE name = 'table';
-- bags: values, not copies
SELECT cf_overlap(a.f, b.f) FROM f a, f b WHERE a.name = 'bag' AND b.name = 'bag2';
SELECT abs(cf_overlap(a.f, b.f) - 500) <= 5 * sqrt(500 * 0.01) + 5 AS half_is_common FROM f a, f b WHERE a.name = 'doubled' AND b.name = 'table';

--
-- With itself, and in any grouping: the same values
--
SELECT name, cf_count(f | f) = cf_count(f) AS same_entries, (cf_info(f | f)).merged, cf_contains_all(f | f, (SELECT array_agg(v) FROM held h WHERE h.name = f.name)) AS holds, cf_count(cf_intersection(f, f)) = cf_count(f) AS intersection, abs(cf_overlap(f, f) - n) <= n / 50 AS overlap
	FROM f JOIN (SELECT name, count(*) AS n FROM held GROUP BY name) n USING (name) ORDER BY name;
SELECT bool_and(cf_contains_each(l, p) = cf_contains_each(r, p)) AS union_same_answers, bool_and(cf_contains_each(la, p) = cf_contains_each(ra, p)) AS union_all_same_answers, bool_and(cf_count(l) = cf_count(r) AND cf_count(la) = cf_count(ra)) AS same_counts, count(*)
	FROM (SELECT ARRAY(SELECT generate_series(1, 6000)) AS p) p,
		(SELECT (a.f | b.f) | c.f AS l, a.f | (b.f | c.f) AS r, cf_union_all(cf_union_all(a.f, b.f), c.f) AS la, cf_union_all(a.f, cf_union_all(b.f, c.f)) AS ra
			FROM f a, f b, f c WHERE a.name IN ('list', 'bag', 'empty', 'table') AND b.name IN ('list2', 'doubled', 'bag2') AND c.name IN ('half', 'list', 'two') OFFSET 0) s;
SELECT cf_contains_each((a.f | b.f) | c.f, p) = cf_contains_each(a.f | (b.f | c.f), p) AS rates_differ FROM f a, f b, f c, (SELECT ARRAY(SELECT generate_series(1, 20000)) AS p) p WHERE a.name = 'fine' AND b.name = 'large' AND c.name = 'table';

--
-- Aggregates
--
CREATE TABLE daily AS SELECT d AS day, d % 3 AS g, CASE WHEN d % 10 <> 5 THEN cf_agg(d * 50 + v, 15624) END AS f FROM generate_series(1, 100) d, generate_series(1, 80) v GROUP BY d;
ALTER TABLE daily ADD PRIMARY KEY (day);
ANALYZE daily;
CREATE VIEW day_value AS SELECT d AS day, d * 50 + v AS v FROM generate_series(1, 100) d, generate_series(1, 80) v WHERE d % 10 <> 5;
SELECT sound(u) AND sound(n) AS sound, (SELECT cf_contains_all(u, array_agg(v)) AND cf_contains_all(n, array_agg(v)) FROM day_value) AS holds, (cf_info(u)).capacity, (cf_info(u)).merged, (cf_info(n)).merged,
	cf_count(n) BETWEEN 7000 AND 7200 AS every_copy, cf_count(u) BETWEEN 4700 AND (SELECT count(DISTINCT v) FROM day_value) AS every_value,
	(SELECT count(*) FROM unnest(cf_contains_each(u, ARRAY(SELECT generate_series(100001, 120000)))) e WHERE e) <= 200 + 85 AS few_others
	FROM (SELECT cf_union_agg(f) AS u, cf_union_all_agg(f) AS n FROM daily) s;
SELECT cf_union_agg(f) IS NULL AS no_rows, cf_union_all_agg(f) IS NULL AS no_rows_all FROM daily WHERE false;
SELECT cf_union_agg(f) IS NULL AS all_null, cf_union_all_agg(f) IS NULL AS all_null_all FROM daily WHERE f IS NULL;
SELECT cf_union_agg(f) = (SELECT f FROM daily WHERE day = 7) AS one, cf_union_all_agg(f) = (SELECT f FROM daily WHERE day = 7) AS one_all FROM daily WHERE day IN (5, 7, 15);
SELECT cf_union_agg(f ORDER BY day) = (SELECT (a.f | b.f) | c.f FROM daily a, daily b, daily c WHERE a.day = 1 AND b.day = 2 AND c.day = 3) AS as_union,
	cf_union_all_agg(f ORDER BY day) = (SELECT cf_union_all(cf_union_all(a.f, b.f), c.f) FROM daily a, daily b, daily c WHERE a.day = 1 AND b.day = 2 AND c.day = 3) AS as_union_all FROM daily WHERE day <= 3;
SELECT g, (SELECT cf_contains_all(u, array_agg(v)) FROM day_value v WHERE v.day % 3 = s.g) AS holds, sound(u), cf_count(x) AS first_days FROM (SELECT g, cf_union_agg(f) AS u, cf_union_agg(f) FILTER (WHERE day <= 3) AS x FROM daily GROUP BY g) s ORDER BY g;
SET enable_hashagg = off;
SELECT count(*), bool_and(cf_contains_all(u, v)) AS holds FROM (SELECT day / 7, cf_union_agg(f ORDER BY day DESC) AS u, array_agg(day * 50 + 80) FILTER (WHERE f IS NOT NULL) AS v FROM daily GROUP BY day / 7) s;
RESET enable_hashagg;
SELECT total, count(*), bool_and(sound(u)) AS sound, max(cf_count(u)) BETWEEN 1 AND 4850 AS entries FROM (SELECT grouping(g) AS total, cf_union_agg(f) AS u FROM daily GROUP BY ROLLUP (g)) s GROUP BY total ORDER BY total;

-- large filters are merged many at a time, as far as work_mem allows: whatever
-- that is, as one after the other would be, copies and mark included
CREATE TABLE large AS
	SELECT i, cf_bag_agg(v, 1000000) AS f FROM generate_series(1, 6) i, generate_series(i * 40000, i * 40000 + 69999) v GROUP BY i
	UNION ALL SELECT 7, cf_add_all(cf_new(1000000), ARRAY(SELECT v % 30000 FROM generate_series(1, 30000) v UNION ALL SELECT v % 1000 FROM generate_series(1, 2000) v))
	UNION ALL SELECT 8, cf_agg(v, 1000000, 0.001) FROM generate_series(1, 1000) v
	UNION ALL SELECT 9, cf_agg(v, 2000000, 0.01, 2) FROM generate_series(300001, 370000) v
	UNION ALL SELECT 10, cf_agg(v, 1000000) FROM generate_series(1, 10) v
	UNION ALL SELECT i, cf_bag_agg(v, 1000000, 1e-6) FROM generate_series(11, 12) i, generate_series(i * 40000, i * 40000 + 69999) v GROUP BY i;
ANALYZE large;
SELECT i, (cf_info(f)).form, (cf_info(f)).index_bits >= 8 AS superblocks FROM large ORDER BY i;
CREATE FUNCTION fold(of int[], of_all boolean) RETURNS cuckoofilter LANGUAGE plpgsql AS $$
DECLARE
	result cuckoofilter;
	filter cuckoofilter;
BEGIN
	FOR filter IN SELECT f FROM large WHERE i = ANY (of) ORDER BY i LOOP
		result := CASE WHEN result IS NULL THEN filter WHEN of_all THEN cf_union_all(result, filter) ELSE cf_union(result, filter) END;
	END LOOP;
	RETURN result;
END $$;
CREATE TABLE fold AS SELECT n, of, fold(of, false) AS u, fold(of, true) AS a
	FROM (VALUES (1, ARRAY[1, 2, 3, 4, 5, 6]), (2, ARRAY[1, 3, 5]), (3, ARRAY[1, 7]), (4, ARRAY[1, 2, 3, 7, 10]), (5, ARRAY[1, 2, 3, 4, 8]), (6, ARRAY[3, 4, 5, 6, 9]), (7, ARRAY[11, 12])) v(n, of);
CREATE TABLE aggregated (n int, memory text, u cuckoofilter, a cuckoofilter);
SET work_mem = '64kB';
INSERT INTO aggregated SELECT n, 'little', cf_union_agg(f ORDER BY i), cf_union_all_agg(f ORDER BY i) FROM fold JOIN large ON i = ANY (of) GROUP BY n;
SET work_mem = '1MB';
INSERT INTO aggregated SELECT n, 'some', cf_union_agg(f ORDER BY i), cf_union_all_agg(f ORDER BY i) FROM fold JOIN large ON i = ANY (of) GROUP BY n;
SET work_mem = '1GB';
INSERT INTO aggregated SELECT n, 'plenty', cf_union_agg(f ORDER BY i), cf_union_all_agg(f ORDER BY i DESC) FROM fold JOIN large ON i = ANY (of) GROUP BY n;
SET enable_sort = off;
INSERT INTO aggregated SELECT n, 'hashed', cf_union_agg(f), cf_union_all_agg(f) FROM fold JOIN large ON i = ANY (of) GROUP BY n;
RESET enable_sort;
RESET work_mem;
SELECT n, count(*), bool_and(sound(x.u) AND sound(x.a)) AS sound, bool_and(cf_count(x.u) = cf_count(fold.u)) AS u, bool_and(cf_count(x.a) = cf_count(fold.a)) AS a,
	bool_and((cf_info(x.u)).merged = (cf_info(fold.u)).merged) AS mark, bool_or((cf_info(x.u)).merged) AS merged, bool_or((cf_info(x.a)).merged) AS merged_all,
	bool_and(((cf_info(x.u)).capacity, (cf_info(x.u)).prefix_bits, (cf_info(x.u)).max_copies) = ((cf_info(fold.u)).capacity, (cf_info(fold.u)).prefix_bits, (cf_info(fold.u)).max_copies)) AS header,
	bool_and(cf_contains_each(x.u, v) = cf_contains_each(fold.u, v) AND cf_contains_each(x.a, v) = cf_contains_each(fold.a, v)) AS answers
	FROM aggregated x JOIN fold USING (n), (SELECT ARRAY(SELECT generate_series(-20000, 400000)) AS v) v GROUP BY n ORDER BY n;
SELECT n, bool_and(cf_count(x.u, v) = cf_count(fold.u, v) AND cf_count(x.a, v) = cf_count(fold.a, v)) AS copies FROM aggregated x JOIN fold USING (n), generate_series(1, 400000, 577) v GROUP BY n ORDER BY n;
-- more than the capacity is refused by either way
SELECT try('SELECT cf_union_agg(f) FROM (SELECT cf_agg(v + i * 60000, 100000) AS f FROM generate_series(1, 3) i, generate_series(1, 60000) v GROUP BY i) s');

-- beyond the capacity, what is held depends on the largest table, not on the
-- order or on memory
CREATE TABLE beyond AS SELECT 1 AS i, cf_bag_agg(v % 49000, 98500, 0.001, 2) AS f FROM generate_series(1, 98000) v UNION ALL SELECT 2, cf_agg(v + 1000000, 98500, 0.001, 2) FROM generate_series(1, 55000) v;
SELECT i, (cf_info(f)).index_bits FROM beyond ORDER BY i;
SELECT cf_count(cf_union_agg(f ORDER BY i)) = n AS same, cf_count(cf_union_agg(f ORDER BY i DESC)) = n AS other_order, n > 98500 AS beyond FROM beyond, (SELECT cf_count(a.f | b.f) AS n FROM beyond a, beyond b WHERE a.i < b.i) s GROUP BY n;

-- windows: the state goes on after it has been read, and no row's result
-- changes afterwards
CREATE TABLE running AS SELECT day, cf_union_agg(f) OVER w AS u, cf_union_all_agg(f) OVER w AS n, cf_union_agg(f) OVER (ORDER BY day ROWS 2 PRECEDING) AS last3, cf_union_all_agg(f) OVER (PARTITION BY g) AS whole, g
	FROM daily WHERE day <= 30 WINDOW w AS (ORDER BY day);
SELECT count(*), bool_and(sound(u) AND sound(n)) AS sound, bool_and(u = (SELECT cf_union_agg(f ORDER BY d.day) FROM daily d WHERE d.day <= r.day)) AS u, bool_and(n = (SELECT cf_union_all_agg(f ORDER BY d.day) FROM daily d WHERE d.day <= r.day)) AS n,
	bool_and(last3 = (SELECT cf_union_agg(f ORDER BY d.day) FROM daily d WHERE d.day BETWEEN r.day - 2 AND r.day)) AS last3, bool_and(cf_count(whole) = (SELECT cf_count(cf_union_all_agg(f)) FROM daily d WHERE d.day <= 30 AND d.g = r.g)) AS whole FROM running r;
SELECT count(*), count(u) AS not_null FROM (SELECT cf_union_agg(f) OVER (ORDER BY day ROWS BETWEEN CURRENT ROW AND CURRENT ROW EXCLUDE CURRENT ROW) AS u FROM daily) s;
SELECT count(*), bool_and(f IS NULL AND u IS NULL OR u = f) AS same FROM (SELECT f, cf_union_agg(f) OVER (ORDER BY day ROWS BETWEEN CURRENT ROW AND CURRENT ROW) AS u FROM daily) s;
-- the filters that went in are as they were
SELECT count(*), bool_and(f = (SELECT cf_agg(v, 15624) FROM day_value v WHERE v.day = daily.day)) AS untouched FROM daily WHERE f IS NOT NULL;

-- parallel plans: the same answers, and a partial aggregate was really there
CREATE TABLE many AS SELECT day, f, i FROM daily, generate_series(1, 10) i;
ALTER TABLE many SET (parallel_workers = 2);
ANALYZE many;
CREATE FUNCTION is_partial(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN plan::text LIKE '%"Partial Mode": "Partial"%';
END $$;
CREATE TABLE serial AS SELECT cf_union_agg(f) AS u, cf_union_all_agg(f) FILTER (WHERE i <= 2) AS n FROM many;
CREATE TABLE serial_group AS SELECT day % 4 AS g, cf_union_agg(f) AS u, cf_union_all_agg(f) FILTER (WHERE i <= 2) AS n FROM many GROUP BY day % 4;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT is_partial('SELECT cf_union_agg(f), cf_union_all_agg(f) FILTER (WHERE i <= 2) FROM many') AS partial, is_partial('SELECT cf_union_agg(f) FROM many GROUP BY day % 4') AS partial_group;
CREATE TABLE parallel AS SELECT cf_union_agg(f) AS u, cf_union_all_agg(f) FILTER (WHERE i <= 2) AS n FROM many;
CREATE TABLE parallel_group AS SELECT day % 4 AS g, cf_union_agg(f) AS u, cf_union_all_agg(f) FILTER (WHERE i <= 2) AS n FROM many GROUP BY day % 4;
-- a filter that only one process sees
SELECT cf_count(cf_union_agg(f) FILTER (WHERE day = 7)) = (SELECT cf_count(f) FROM daily WHERE day = 7) AS same, cf_union_agg(f) FILTER (WHERE day < 0) IS NULL AS none FROM many;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;
SELECT count(*), bool_and(cf_count(p.u) = cf_count(s.u)) AS same_counts, bool_and(cf_contains_each(p.u, a) = cf_contains_each(s.u, a)) AS same_answers, bool_and(cf_contains_each(p.n, a) = cf_contains_each(s.n, a)) AS same_answers_all,
	bool_and(sound(p.u) AND sound(p.n)) AS sound,
	-- when copies are lowered, if ever, is a matter of the order
	bool_and((cf_info(p.n)).current_copies >= 2 AND cf_count(p.n) >= 2 * cf_count(p.u)) AS two_copies
	FROM (SELECT -1 AS g, u, n FROM serial UNION ALL SELECT * FROM serial_group) s JOIN (SELECT -1 AS g, u, n FROM parallel UNION ALL SELECT * FROM parallel_group) p USING (g), (SELECT ARRAY(SELECT generate_series(1, 20000)) AS a) a;

-- an aggregate of one's own without a final function: whoever looks at the state
-- first sees all that is in it
CREATE AGGREGATE unfinished(cuckoofilter) (SFUNC = cf_union_agg_transition, STYPE = cuckoofilter);
SET work_mem = '1GB';
CREATE TABLE finished AS SELECT cf_union_agg(f) AS f FROM large WHERE i <= 6;
SELECT unfinished(f) = (SELECT f FROM finished) AS equal FROM large WHERE i <= 6;
SELECT unfinished(f)::text = (SELECT f::text FROM finished) AS out FROM large WHERE i <= 6;
SELECT unfinished(f)::bytea = (SELECT f::bytea FROM finished) AS bytes FROM large WHERE i <= 6;
SELECT cuckoofilter_hash(unfinished(f)) = (SELECT cuckoofilter_hash(f) FROM finished) AS hash FROM large WHERE i <= 6;
SELECT cf_count(cf_resize(unfinished(f), fpr => NULL, capacity => 1100000)) = (SELECT cf_count(f) FROM finished) AS resized FROM large WHERE i <= 6;
SELECT cf_contains_all(unfinished(f), ARRAY(SELECT generate_series(40000, 309999))) AS contains FROM large WHERE i <= 6;
SELECT cf_count(cf_add(unfinished(f), 0)) - (SELECT cf_count(f) FROM finished) AS added FROM large WHERE i <= 6;
RESET work_mem;

-- filters whose prefix is too short for the capacity they are declared for:
-- full in any case, merged one after the other or many at a time
CREATE TABLE coarse AS SELECT cf_union(cf_agg(v, 97000, 0.0156), cf_new(32 * 97000, 0.0156)) AS f FROM generate_series(0, 479999) v GROUP BY v / 96000;
SELECT count(*), min(i.index_bits) AS index_bits, max(i.prefix_bits) AS prefix_bits, max(i.capacity) AS capacity FROM coarse, cf_info(f) i;
SET work_mem = '64kB';
SELECT try('SELECT cf_union_agg(f) FROM coarse'), try('SELECT cf_union_all_agg(f) FROM coarse');
SET work_mem = '1GB';
SELECT try('SELECT cf_union_agg(f) FROM coarse'), try('SELECT cf_union_all_agg(f) FROM coarse');
SELECT cf_union_agg(f) FROM coarse;
RESET work_mem;

-- the state in memory goes to where results go: materialized views, INSERT,
-- UPDATE, CTEs, arrays, rows and further functions
CREATE MATERIALIZED VIEW month AS SELECT g, cf_union_agg(f) AS f FROM daily GROUP BY g;
REFRESH MATERIALIZED VIEW month;
CREATE TABLE kept (g int, f cuckoofilter);
INSERT INTO kept SELECT g, cf_union_agg(f) FROM daily GROUP BY g;
INSERT INTO kept SELECT 9, cf_add(cf_union_agg(f), 123456) FROM daily;
UPDATE kept SET f = (SELECT cf_union_all_agg(d.f) FROM daily d WHERE d.g = kept.g) WHERE g = 2;
SELECT k.g, sound(k.f) AS sound, m.f = k.f AS same, cf_count(k.f) >= cf_count(m.f) AS no_less, cf_contains(k.f, 123456) AS added FROM kept k LEFT JOIN month m USING (g) ORDER BY g;
WITH u AS MATERIALIZED (SELECT cf_union_agg(f) AS f FROM daily) SELECT cf_count(a.f | b.f) = cf_count(a.f) AS itself, cf_overlap(a.f, b.f) > 4000 AS overlap, cf_count((ARRAY[a.f, b.f])[2]) = cf_count(a.f) AS in_array, cf_count((ROW(a.f)::record).f1) = cf_count(a.f) AS in_row FROM u a, u b;
SELECT cf_count(cf_union_agg(u)) = (SELECT cf_count(cf_union_agg(f)) FROM daily) AS of_aggregates FROM (SELECT cf_union_agg(f) AS u FROM daily GROUP BY g) s;
DO $$
DECLARE
	total cuckoofilter;
	other cuckoofilter;
	again cuckoofilter;
	r record;
BEGIN
	SELECT cf_union_agg(f) INTO total FROM daily WHERE day <= 20;
	again := total;
	FOR r IN SELECT f FROM daily WHERE day BETWEEN 21 AND 60 AND f IS NOT NULL ORDER BY day LOOP
		total := total | r.f;
		total := cf_union_all(total, cf_new(15624));
	END LOOP;
	other := total;
	total := cf_add(total, 654321);
	IF cf_contains(other, 654321) OR NOT cf_contains(total, 654321) OR cf_count(other) <> (SELECT cf_count(cf_union_agg(f)) FROM daily WHERE day <= 60)
		OR again <> (SELECT cf_union_agg(f) FROM daily WHERE day <= 20) THEN
		RAISE 'not the same: %, %', cf_count(other), cf_count(total);
	END IF;
	IF NOT (SELECT cf_contains_all(total, array_agg(v)) FROM day_value WHERE day <= 60) THEN
		RAISE 'values lost';
	END IF;
END $$;
-- not to be called by itself
\set VERBOSITY sqlstate
SELECT cf_union_agg_transition(cf_new(1), cf_new(1));
SELECT cf_union_all_agg_transition(NULL, NULL);
\set VERBOSITY default

-- filters that wait to be merged together are refused as those merged at once
SELECT agg, other, try(format('SELECT cf_count(%s(f)) FROM (SELECT cf_agg(i, 200000) AS f FROM generate_series(1, 100000) i UNION ALL SELECT %s FROM generate_series(1, 100000) i) s', agg, other))
	FROM unnest('{cf_union_agg,cf_union_all_agg}'::text[]) agg, unnest('{"cf_agg(i::text, 200000)","cf_agg(i, 200000, NULL, NULL, 1)","cf_agg(i, 230000)"}'::text[]) other ORDER BY 1, 2;

DROP SCHEMA unions CASCADE;
