# Bytes that are no filter, but nearly: images and aggregate states of every
# kind, changed at random, through every way into the server.
#
# Most of the images get a checksum that fits again, so that they meet the
# check of what they contain.  What one way in refuses, all refuse; with an
# error that is meant for it; and what is let in is sound and works.
#
# CUCKOO_TEST_MUTANTS is how many there are of images and, half as many, of
# states; CUCKOO_TEST_SEED is what they follow from.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $nmutants = $ENV{CUCKOO_TEST_MUTANTS} || 2000;
my $seed = $ENV{CUCKOO_TEST_SEED} || 1;
my $batch = 1000;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', q{
	fsync = off
	restart_after_crash = off
	log_statement = none
	max_parallel_workers = 0
	jit = off
});
$node->start;
my $file = PostgreSQL::Test::Utils::tempdir() . '/mutant';

$node->safe_psql('postgres', qq{
	CREATE EXTENSION cuckoo_filter;
	CREATE FUNCTION mutant_file() RETURNS text LANGUAGE sql AS \$\$ SELECT '$file' \$\$;
});

$node->safe_psql('postgres', q{
	CREATE FUNCTION reversed(b bytea) RETURNS bytea LANGUAGE sql AS $$
		SELECT string_agg(substr(b, i, 1), '' ORDER BY i DESC) FROM generate_series(1, length(b)) i $$;
	-- the checksum of an image is the hash of its bytes as a key
	CREATE FUNCTION with_checksum(image bytea) RETURNS bytea LANGUAGE sql AS $$
		SELECT image || reversed(int8send(cf_hash(image, 0))) $$;

	--
	-- What mutants are made of
	--
	CREATE TABLE sample (id int GENERATED ALWAYS AS IDENTITY, filter cuckoofilter, bytes bytea);
	INSERT INTO sample (filter)
		SELECT cf_add_all(cf_new(capacity, fpr, copies), ARRAY(SELECT generate_series(1, n)))
		FROM unnest('{1,2,4}'::int[]) copies, unnest('{0.01,0.0001}'::float8[]) fpr,
			(VALUES (10, 0), (10, 7), (1e6, 20), (60, 60), (300, 290), (2000, 1900)) v(capacity, n);
	INSERT INTO sample (filter) VALUES
		(cf_add_all(cf_new(1e6), ARRAY[1, 1, 1, 1, 2, 2, 3])),
		(cf_add_all(cf_new(400), array_fill(5, ARRAY[9]) || ARRAY(SELECT i % 120 FROM generate_series(1, 400) i))),
		((SELECT cf_union(cf_agg(g, 600), cf_agg(g + 200, 600)) FROM generate_series(1, 250) g)),
		((SELECT cf_resize(cf_agg(g, 300), 320, 0.015) FROM generate_series(1, 300) g)),
		(cf_add_all(cf_new(200), ARRAY['some', 'words', 'of', 'text'])),
		(cf_add_all(cf_new(200, 0.001, 2, -5), ARRAY(SELECT g / 8.0::float8 FROM generate_series(1, 150) g))),
		-- superblocks in 14 kB: 8 columns of 2^9 buckets, prefixes of 17 bits
		(cf_add_all(with_checksum('\x010101000809114400000000000000001027'
			|| decode(repeat('00', 26 + 14336 + 7), 'hex'))::cuckoofilter, ARRAY(SELECT generate_series(1, 500))));
	UPDATE sample SET bytes = filter::bytea;

	-- the serialized state of an aggregate, from the aggregate's own functions
	CREATE AGGREGATE state_of(value anycompatible) (
		SFUNC = cf_agg_transition, STYPE = internal, FINALFUNC = cf_agg_serialize);
	CREATE AGGREGATE state_of(value anycompatible, capacity float8, fpr float8, max_copies int, seed bigint) (
		SFUNC = cf_agg_transition, STYPE = internal, FINALFUNC = cf_agg_serialize);
	CREATE AGGREGATE bag_state_of(value anycompatible) (
		SFUNC = cf_bag_agg_transition, STYPE = internal, FINALFUNC = cf_agg_serialize);
	CREATE TABLE state_sample (id int GENERATED ALWAYS AS IDENTITY, bytes bytea);
	INSERT INTO state_sample (bytes)
		SELECT state_of(g) FROM generate_series(1, 50) g UNION ALL
		SELECT state_of(g) FROM generate_series(1, 700) g UNION ALL
		SELECT state_of(g, 1000, 0.001, 2, 9) FROM generate_series(1, 300) g UNION ALL
		SELECT state_of(g::text, 10, 0.1, 1, 0) FROM generate_series(1, 5) g UNION ALL
		SELECT state_of(NULL::int, 10, 0.1, 3, 0) UNION ALL
		SELECT bag_state_of(g % 40) FROM generate_series(1, 200) g;

	-- Bytes as the state of a worker: the aggregate collects them as string_agg()
	-- does, and it is the result of that which cf_agg's functions get to see.
	-- Only with partial aggregation, which the plan below must have.
	CREATE AGGREGATE filter_of_state(bytea, bytea) (
		SFUNC = bytea_string_agg_transfn, STYPE = internal,
		SERIALFUNC = bytea_string_agg_finalfn, DESERIALFUNC = cf_agg_deserialize,
		COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final, PARALLEL = SAFE);
	CREATE TABLE state_mutant (bytes bytea);
	INSERT INTO state_mutant VALUES ('');
	ANALYZE state_mutant;
	ALTER TABLE state_mutant SET (parallel_workers = 2, autovacuum_enabled = off);
	UPDATE pg_class SET relpages = 1, reltuples = 1e6 WHERE oid = 'state_mutant'::regclass;
	ALTER DATABASE postgres SET parallel_setup_cost = 0;
	ALTER DATABASE postgres SET parallel_tuple_cost = 0;

	--
	-- Mutation
	--
	CREATE FUNCTION below(n int) RETURNS int LANGUAGE sql AS $$ SELECT floor(random() * n)::int $$;
	CREATE FUNCTION random_bytes(n int) RETURNS bytea LANGUAGE sql AS $$
		SELECT COALESCE(string_agg(set_byte('\x00', 0, below(256)), ''), '') FROM generate_series(1, n) $$;

	-- One change; header is how many bytes of a header there are.
	CREATE FUNCTION mutate_once(b bytea, header int) RETURNS bytea LANGUAGE plpgsql AS $$
	DECLARE
		n int := length(b);
		-- half of the changes are to the header, where they do most
		i int := CASE WHEN random() < 0.5 THEN below(least(header, n)) ELSE below(n) END;
		j int := below(n + 1);
		word int;
	BEGIN
		IF n = 0 THEN
			RETURN random_bytes(below(100));
		END IF;
		CASE below(12)
			WHEN 0, 1, 2 THEN	-- a bit
				RETURN set_bit(b, 8::bigint * i + below(8), below(2));
			WHEN 3, 4, 5 THEN	-- a byte, of a value that means something
				RETURN set_byte(b, i, (ARRAY[0, 1, 2, 3, 4, 8, 9, 48, 127, 128, 255, below(256)])[1 + below(12)]);
			WHEN 6 THEN			-- a byte a little larger or smaller
				RETURN set_byte(b, i, (get_byte(b, i) + 255 + 2 * below(2)) % 256);
			WHEN 7 THEN			-- truncated
				RETURN substr(b, 1, j);
			WHEN 8 THEN			-- a piece repeated or left out
				RETURN substr(b, 1, i) || substr(b, j + 1);
			WHEN 9 THEN			-- more at the end
				RETURN b || random_bytes(1 + below(16));
			WHEN 10 THEN		-- two words of a list exchanged, or one repeated
				word := (n - header) / 8;
				IF word < 1 THEN
					RETURN b;
				END IF;
				i := header + 8 * below(word);
				j := header + 8 * below(word);
				b := overlay(b PLACING substr(b, j + 1, 8) FROM i + 1 FOR 8);
				RETURN b;
			ELSE				-- random bytes
				RETURN overlay(b PLACING random_bytes(1 + below(8)) FROM i + 1);
		END CASE;
	END $$;

	CREATE FUNCTION mutate(b bytea, header int) RETURNS bytea LANGUAGE plpgsql AS $$
	BEGIN
		FOR i IN 0..below(4) LOOP
			b := mutate_once(b, header);
		END LOOP;
		RETURN b;
	END $$;

	-- An image from one sample, or the header of one and the body of another.
	-- In a list that has changed its length, the number of entries follows.
	CREATE FUNCTION make_image() RETURNS bytea LANGUAGE plpgsql AS $$
	DECLARE
		image bytea;
		other bytea;
		n int;
	BEGIN
		SELECT substr(bytes, 1, length(bytes) - 8) INTO image FROM sample
			WHERE id = (SELECT 1 + below(max(id)) FROM sample);
		IF random() < 0.1 THEN
			SELECT substr(bytes, 1, length(bytes) - 8) INTO other FROM sample
				WHERE id = (SELECT 1 + below(max(id)) FROM sample);
			image := substr(image, 1, 44) || substr(other, 45);
		END IF;
		image := mutate(image, 44);
		n := length(image) - 44;
		IF n >= 0 AND n % 8 = 0 AND get_byte(image, 2) % 2 = 0 AND random() < 0.5 THEN
			image := overlay(image PLACING reversed(int8send(n / 8)) FROM 25);
		END IF;
		RETURN image;
	END $$;

	CREATE FUNCTION make_state() RETURNS bytea LANGUAGE plpgsql AS $$
	DECLARE
		state bytea;
		n int;
	BEGIN
		SELECT bytes INTO state FROM state_sample
			WHERE id = (SELECT 1 + below(max(id)) FROM state_sample);
		state := mutate(state, 42);
		n := length(state) - 42;
		IF n >= 0 AND n % 8 = 0 AND random() < 0.7 THEN
			state := overlay(state PLACING int8send(n / 8) FROM 35);
		END IF;
		RETURN state;
	END $$;

	--
	-- The ways in
	--
	CREATE TABLE let_in (filter cuckoofilter);
	CREATE TABLE let_in_array (filters cuckoofilter[]);
	-- what has gone wrong
	CREATE TABLE outcome (mutant bytea, way text, message text, filter cuckoofilter);

	CREATE FUNCTION enter(bytes bytea, way text) RETURNS cuckoofilter LANGUAGE plpgsql AS $$
	DECLARE
		f cuckoofilter;
	BEGIN
		CASE way
			WHEN 'text' THEN
				RETURN ('cf1:' || translate(encode(bytes, 'base64'), E'\n', ''))::cuckoofilter;
			WHEN 'bytea' THEN
				RETURN bytes::cuckoofilter;
			WHEN 'binary' THEN
				-- a bytea is its bytes there, and so is a filter
				EXECUTE format('COPY (SELECT %L::bytea) TO %L (FORMAT binary)', bytes, mutant_file());
				EXECUTE format('COPY let_in FROM %L (FORMAT binary)', mutant_file());
				DELETE FROM let_in RETURNING filter INTO STRICT f;
				RETURN f;
			WHEN 'binary array' THEN
				-- as the second of two elements, in the middle of a message
				EXECUTE format('COPY (SELECT %L::bytea) TO %L (FORMAT binary)',
					int4send(1) || int4send(0) || oidsend('cuckoofilter'::regtype) || int4send(2) || int4send(1)
						|| (SELECT int4send(length(s.bytes)) || s.bytes FROM sample s WHERE id = 1)
						|| int4send(length(bytes)) || bytes, mutant_file());
				EXECUTE format('COPY let_in_array FROM %L (FORMAT binary)', mutant_file());
				DELETE FROM let_in_array RETURNING filters[2] INTO STRICT f;
				RETURN f;
			WHEN 'state' THEN
				UPDATE state_mutant SET bytes = enter.bytes;
				SELECT filter_of_state(m.bytes, '') INTO STRICT f FROM state_mutant m;
				RETURN f;
		END CASE;
	END $$;

	-- errors that input may raise
	CREATE FUNCTION is_refusal(state text) RETURNS bool LANGUAGE sql AS $$
		SELECT state IN ('22P02', '22P03', '0A000', '54000', '08P01', '22023') $$;

	-- What is wrong with a filter that was let in, or NULL.
	CREATE FUNCTION wrong(f cuckoofilter) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		operation text;
		problem text;
		g cuckoofilter;
		hash bigint := (random() * 1e18)::bigint;
	BEGIN
		SELECT string_agg(c, ', ') INTO problem FROM cf_check(f) c;
		IF problem IS NOT NULL THEN
			RETURN 'not sound: ' || problem;
		END IF;
		IF f::text::cuckoofilter <> f OR f::bytea::cuckoofilter <> f OR cuckoofilter_send(f) <> f::bytea THEN
			RETURN 'changed by going out and in';
		END IF;
		PERFORM cf_count(f), cf_fpr(f), cf_contains_hash(f, hash), f = f, f < f, cuckoofilter_hash(f);
		PERFORM * FROM cf_info(f);
		FOREACH operation IN ARRAY ARRAY['add', 'add all', 'remove', 'resize', 'larger', 'coarser', 'union', 'union all', 'intersection',
				'overlap', 'probe', 'union agg'] LOOP
			g := NULL;
			BEGIN
				CASE operation
					WHEN 'add' THEN
						g := cf_add_hash(f, hash);
						IF NOT cf_contains_hash(g, hash) THEN
							RETURN 'an added value is missing';
						END IF;
					WHEN 'add all' THEN
						g := cf_add_all(f, ARRAY(SELECT generate_series(1, 20)));
						IF NOT cf_contains_all(g, ARRAY(SELECT generate_series(1, 20))) THEN
							RETURN 'added values are missing';
						END IF;
					WHEN 'remove' THEN g := cf_remove_hash(f, hash);
					WHEN 'resize' THEN g := cf_resize(f);
					WHEN 'larger' THEN g := cf_resize(f, 2 * least((cf_info(f)).capacity, 1e9::bigint));
					WHEN 'coarser' THEN g := cf_resize(f, greatest(cf_count(f), 1), 0.015);
					WHEN 'union' THEN g := cf_union(f, f);
					WHEN 'union all' THEN g := cf_union_all(f, f);
					WHEN 'intersection' THEN
						g := cf_intersection(f, f);
						IF cf_count(g) <> cf_count(f) AND (cf_info(g)).current_copies = (cf_info(f)).current_copies THEN
							RETURN 'not its own intersection';
						END IF;
					WHEN 'overlap' THEN PERFORM cf_overlap(f, f);
					WHEN 'probe' THEN PERFORM cf_contains(f, 1), cf_count(f, 1), cf_contains_each(f, ARRAY[1, 2, 3]);
					WHEN 'union agg' THEN SELECT cf_union_agg(x) INTO g FROM unnest(ARRAY[f, f]) x;
				END CASE;
			EXCEPTION WHEN OTHERS THEN
				-- full, capacity, merged or append-only, another family
				IF SQLSTATE NOT IN ('54000', '22023', '55000', '42804') THEN
					RETURN format('%s: %s: %s', operation, SQLSTATE, SQLERRM);
				END IF;
			END;
			SELECT string_agg(c, ', ') INTO problem FROM cf_check(g) c;
			IF problem IS NOT NULL THEN
				RETURN operation || ' made something not sound: ' || problem;
			END IF;
		END LOOP;
		RETURN NULL;
	END $$;

	CREATE FUNCTION try(mutant bytea, way text) RETURNS bool LANGUAGE plpgsql AS $$
	DECLARE
		f cuckoofilter;
		problem text;
	BEGIN
		BEGIN
			f := enter(mutant, way);
		EXCEPTION WHEN OTHERS THEN
			IF NOT is_refusal(SQLSTATE) THEN
				INSERT INTO outcome VALUES (mutant, way, SQLSTATE || ': ' || SQLERRM);
			END IF;
			RETURN false;
		END;
		problem := wrong(f);
		IF problem IS NOT NULL THEN
			INSERT INTO outcome VALUES (mutant, way, problem, f);
		END IF;
		RETURN true;
	END $$;

	CREATE TABLE tally (images bigint DEFAULT 0, repaired bigint DEFAULT 0, accepted bigint DEFAULT 0, refused bigint DEFAULT 0,
		texts bigint DEFAULT 0, states bigint DEFAULT 0, states_accepted bigint DEFAULT 0);
	INSERT INTO tally DEFAULT VALUES;

	CREATE PROCEDURE run(n int, seed int) LANGUAGE plpgsql AS $$
	DECLARE
		mutant bytea;
		is_repaired bool;
		is_in bool;
		way text;
	BEGIN
		PERFORM setseed(seed % 100000 / 100000.0);
		FOR i IN 1..n LOOP
			mutant := make_image();
			is_repaired := random() < 0.8;
			IF is_repaired THEN
				mutant := with_checksum(mutant);
			END IF;
			is_in := try(mutant, 'bytea');
			FOREACH way IN ARRAY ARRAY['text', 'binary', 'binary array'] LOOP
				IF try(mutant, way) <> is_in THEN
					INSERT INTO outcome VALUES (mutant, way, CASE WHEN is_in THEN 'refused' ELSE 'let in' END || ', other than the cast');
				END IF;
			END LOOP;
			UPDATE tally SET images = images + 1, repaired = repaired + is_repaired::int, accepted = accepted + is_in::int, refused = refused + 1 - is_in::int;

			-- text with characters that are none of its own
			IF i % 4 = 0 THEN
				BEGIN
					PERFORM convert_from(mutate_once(convert_to('cf1:' || translate(encode(mutant, 'base64'), E'\n', ''), 'UTF8'), 8), 'LATIN1')::cuckoofilter;
				EXCEPTION WHEN OTHERS THEN
					-- a zero byte cannot even become a text
					IF NOT is_refusal(SQLSTATE) AND SQLSTATE <> '22021' THEN
						INSERT INTO outcome VALUES (mutant, 'characters', SQLSTATE || ': ' || SQLERRM);
					END IF;
				END;
				UPDATE tally SET texts = texts + 1;
			END IF;

			IF i % 2 = 0 THEN
				is_in := try(make_state(), 'state');
				UPDATE tally SET states = states + 1, states_accepted = states_accepted + is_in::int;
			END IF;
			IF i % 100 = 0 THEN
				TRUNCATE let_in, let_in_array;
				COMMIT;
			END IF;
		END LOOP;
	END $$;
});

# Is what the mutants are made of right?
is($node->safe_psql('postgres', q{
	SELECT count(*) FILTER (WHERE with_checksum(substr(bytes, 1, length(bytes) - 8)) = bytes) = count(*) FROM sample}),
	't', 'the checksum is the hash of the image as a key');
is($node->safe_psql('postgres', q{
	SELECT count(*) FROM sample s, unnest('{text,bytea,binary,binary array}'::text[]) way WHERE enter(s.bytes, way) = s.filter}),
	$node->safe_psql('postgres', 'SELECT 4 * count(*) FROM sample'),
	'samples themselves are let in by every way');
like($node->safe_psql('postgres', q{EXPLAIN (COSTS OFF) SELECT filter_of_state(bytes, '') FROM state_mutant}),
	qr/Finalize Aggregate.*Gather.*Partial Aggregate/s, 'states go through partial aggregation');
is($node->safe_psql('postgres', q{
	SELECT (SELECT cf_agg(g) FROM generate_series(1, 50) g) = enter((SELECT bytes FROM state_sample WHERE id = 1), 'state'),
		(SELECT cf_agg(g, 1000, 0.001, 2, 9) FROM generate_series(1, 300) g) = enter((SELECT bytes FROM state_sample WHERE id = 3), 'state'),
		(SELECT cf_bag_agg(g % 40) FROM generate_series(1, 200) g) = enter((SELECT bytes FROM state_sample WHERE id = 6), 'state')}),
	't|t|t', 'states that nobody has changed give the filter of their values');

# A NULL argument has the default, whatever is sent for its value.
is($node->safe_psql('postgres', q{
	SELECT enter(overlay(bytes PLACING int8send(77) FROM 25), 'state') = enter(bytes, 'state') FROM state_sample WHERE id = 1}),
	't', 'the value of an argument that is NULL counts for nothing');

# Keys that nobody's values have: all in one of the parts that they are sorted
# in, and more than are kept in one run otherwise.
is($node->safe_psql('postgres', q{
	WITH crowd AS (SELECT (18::bigint << 56) | (hashint8extended(g, 1) & ((1::bigint << 56) - 1)) AS key FROM generate_series(1, 20000) g),
		crafted AS MATERIALIZED (SELECT enter(overlay((SELECT substr(bytes, 1, 42) FROM state_sample WHERE id = 1) PLACING int8send(count(*)) FROM 35)
			|| string_agg(reversed(int8send(key)), '' ORDER BY key), 'state') AS f FROM crowd)
	SELECT cf_count(f) = 20000, (SELECT bool_and(cf_contains_hash(f, ((key >> 24) & ((1::bigint << 40) - 1)) | (key << 40))) FROM crowd), wrong(f) FROM crafted}),
	't|t|', 'keys crafted to crowd a collector are all there');

# What can be known to be refused
for my $refused (
	[ 'no bytes', q{''} ],
	[ 'too few for its fields', q{substr(bytes, 1, 20)} ],
	[ 'fewer keys than it says', q{substr(bytes, 1, length(bytes) - 8)} ],
	[ 'more keys than it says', q{bytes || '\x0102030405060708'} ],
	[ 'keys out of order', q{overlay(bytes PLACING '\xffffffffffffffff' FROM 43)} ],
	[ 'a number of keys beyond measure', q{overlay(bytes PLACING '\x2000000000000032' FROM 35)} ],
	[ 'an unknown family', q{set_byte(bytes, 32, 200)} ],
	[ 'too many copies', q{set_byte(bytes, 33, 3)} ],
	[ 'no capacity', q{overlay(set_byte(bytes, 0, 0) PLACING float8send('NaN') FROM 5)} ])
{
	is($node->safe_psql('postgres', qq{SELECT try($refused->[1], 'state'), (SELECT count(*) FROM outcome) FROM state_sample WHERE id = 1}),
		'f|0', "a state with $refused->[0] is refused");
}

my ($done, $stderr) = (0, '');
while ($done < $nmutants)
{
	my $n = $nmutants - $done < $batch ? $nmutants - $done : $batch;
	my $now = $seed + $done;
	my $result = $node->psql('postgres', "CALL run($n, $now)", stderr => \$stderr);

	last unless $result == 0;
	$done += $n;
}
is($done, $nmutants, "$nmutants mutated images") or diag("with seed $seed + $done: $stderr");

is($node->safe_psql('postgres', q{SELECT way, message, encode(mutant, 'hex') FROM outcome ORDER BY 1, 2 LIMIT 5}),
	'', 'each refused with an error that is meant for it, or sound and good to use');

my $tally = $node->safe_psql('postgres', q{
	SELECT format('%s images, %s with the checksum repaired, 4 ways each: %s let in, %s refused; %s texts; %s states: %s let in',
		images, repaired, accepted, refused, texts, states, states_accepted) FROM tally});
note($tally);
is($node->safe_psql('postgres', q{
	SELECT accepted > 0, refused > accepted, states_accepted > 0, states > states_accepted FROM tally}),
	't|t|t|t', "some of both kinds: $tally");

my $log = slurp_file($node->logfile);
unlike($log, qr/PANIC|TRAP|terminated by signal|AddressSanitizer|runtime error/,
	'nothing in the log that must not be there');
$node->stop;

done_testing();
