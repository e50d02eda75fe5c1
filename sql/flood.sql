--
-- flood: values that somebody has chosen because of their hashes.  XXH3 is no
-- cryptography: of an integer it is a permutation of 64 bits, turned back here.
-- So whoever knows the seed finds as many values as he likes that crowd a
-- filter, or that it takes for its own; who does not know it finds none.
--
SET client_min_messages = warning;
CREATE SCHEMA flood;
SET search_path = flood, public;

-- numbers modulo 2^64, as the bits that the operators |, # and << work on
CREATE FUNCTION bits(n numeric) RETURNS bit(64) LANGUAGE sql IMMUTABLE AS $$
	SELECT (CASE WHEN m >= 2 ^ 63::numeric THEN m - 2 ^ 64::numeric ELSE m END)::bigint::bit(64) FROM (SELECT mod(mod(n, 2 ^ 64::numeric) + 2 ^ 64::numeric, 2 ^ 64::numeric) AS m) s
$$;
CREATE FUNCTION num(b bit(64)) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
	SELECT mod(b::bigint + 2 ^ 64::numeric, 2 ^ 64::numeric)
$$;
-- 0x9FB21C651E98DF25 is multiplied with in XXH3; its inverse is itself to the
-- power of 2^62 - 1
CREATE FUNCTION inverse() RETURNS numeric LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
	power numeric := num(x'9FB21C651E98DF25');
	result numeric := 1;
BEGIN
	FOR i IN 1..62 LOOP
		result := mod(result * power, 2 ^ 64::numeric);
		power := mod(power * power, 2 ^ 64::numeric);
	END LOOP;
	RETURN result;
END $$;
-- the integer that has this hash
CREATE FUNCTION forge(hash bit(64), seed bigint, inverse numeric) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
	h bit(64) := hash;
	low bit(32) := substring(seed::bit(64) FROM 33);
	swapped bit(64) := substring(low FROM 25) || substring(low FROM 17 FOR 8) || substring(low FROM 9 FOR 8) || substring(low FROM 1 FOR 8) || x'00000000';
	flip bit(64) := bits(num(x'1CAD21F72C81017C' # x'DB979083E96DD4DE') - num(seed::bit(64) # swapped));
BEGIN
	h := h # (h >> 28) # (h >> 56);
	h := bits(num(h) * inverse);
	h := h # bits(num(h >> 35) + 8);
	h := bits(num(h) * inverse);
	-- done 64 times this leaves everything as it was, so 63 times undo it
	FOR i IN 1..63 LOOP
		h := h # ((h << 49) | (h >> 15)) # ((h << 24) | (h >> 40));
	END LOOP;
	h := h # flip;
	RETURN ((h << 32) | (h >> 32))::bigint;
END $$;
-- any hash can be had under any seed
SELECT s AS seed, bool_and(cf_hash(forge(h::bit(64), s, inverse()), s) = h) AS forged
	FROM unnest('{0,1,-1,4242424242424242,-9223372036854775808}'::bigint[]) s, unnest('{0,1,-1,81985529216486895,-9223372036854775808}'::bigint[]) h GROUP BY s ORDER BY s;

-- Crowding: values of one column, one pair of buckets up to a million of them,
-- and the same permanent bits
CREATE TABLE crowd AS SELECT s AS known, array_agg(forge((x'1234abcdef'::bit(40) || (i * 40503)::bit(16) || x'55')::bit(64), s, inverse())) AS a
	FROM (SELECT unnest('{0,8675309867530986753}'::bigint[]) AS s, inverse() OFFSET 0) t, generate_series(1, 200) i GROUP BY s;
CREATE FUNCTION try_to_add(f cuckoofilter, a bigint[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n int := 0;
	v bigint;
BEGIN
	FOREACH v IN ARRAY a LOOP
		f := cf_add(f, v);
		n := n + 1;
	END LOOP;
	RETURN format('all %s taken', n);
EXCEPTION WHEN program_limit_exceeded THEN
	RETURN format('refused after a dozen: %s, %s', n <= 12, SQLERRM);
END $$;
SELECT known, s AS seed, try_to_add(cf_add_all(cf_new(1e6, 1e-9, seed => s), ARRAY(SELECT generate_series(1, 5000))), a)
	FROM crowd, unnest('{0,8675309867530986753,1,-2}'::bigint[]) WITH ORDINALITY u(s, n) ORDER BY known, n;
-- an aggregate has no order to try them in: it keeps a list of them
SELECT s AS seed, form, holds FROM (SELECT s, cf_agg(v, 1e6, 1e-9, 4, s) AS f FROM crowd, unnest(a) v, unnest('{0,1}'::bigint[]) s WHERE known = 0 GROUP BY s) t,
	cf_info(f), cf_contains_all(f, (SELECT a FROM crowd WHERE known = 0)) AS holds ORDER BY s;

-- and refuses more of them than a list can hold
SELECT cf_agg(forge((x'1234abcdef'::bit(40) || i::bit(16) || x'55')::bit(64), 0, inverse), 1e6, 1e-9) FROM (SELECT inverse() OFFSET 0) t, generate_series(1, 4100) i;

-- False positives to order: the same first bits as a value that is there
CREATE TABLE held AS SELECT s AS seed, cf_add_all(cf_new(1000, seed => s), ARRAY(SELECT generate_series(1, 1000))) AS f FROM unnest('{0,8675309867530986753,1,-2}'::bigint[]) s;
CREATE TABLE liars AS SELECT s AS known, array_agg(forge(overlay(cf_hash(42, s)::bit(64) PLACING (i * 40503)::bit(16) FROM 41), s, inverse)) AS a
	FROM (SELECT unnest('{0,8675309867530986753}'::bigint[]) AS s, inverse() OFFSET 0) t, generate_series(1, 1000) i GROUP BY s;
SELECT known, seed, count(*) FILTER (WHERE f @> v) = 1000 AS all_taken, count(*) FILTER (WHERE f @> v) < 1000 * 0.01 * 2 AS as_promised
	FROM liars, unnest(a) v, held GROUP BY known, seed ORDER BY known, seed;

DROP SCHEMA flood CASCADE;
