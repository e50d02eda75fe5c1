/* cuckoo_filter--1.0.0.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION cuckoo_filter" to load this file. \quit

--
-- The type.  STORAGE external: a filled filter does not compress, and what is
-- stored uncompressed out of line can be read in slices.
--

CREATE TYPE cuckoofilter;

CREATE FUNCTION cuckoofilter_in(pg_catalog.cstring) RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_in(pg_catalog.cstring) IS
    'I/O: reads cf1: and the base64 of image and checksum';

CREATE FUNCTION cuckoofilter_out(cuckoofilter) RETURNS pg_catalog.cstring
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_out(cuckoofilter) IS
    'I/O: writes cf1: and the base64 of image and checksum';

CREATE FUNCTION cuckoofilter_recv(pg_catalog.internal) RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_recv(pg_catalog.internal) IS 'I/O: reads image and checksum';

CREATE FUNCTION cuckoofilter_send(cuckoofilter) RETURNS pg_catalog.bytea
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_send(cuckoofilter) IS 'I/O: writes image and checksum';

CREATE TYPE cuckoofilter (
	INPUT = cuckoofilter_in,
	OUTPUT = cuckoofilter_out,
	RECEIVE = cuckoofilter_recv,
	SEND = cuckoofilter_send,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = int4,
	STORAGE = external
);
COMMENT ON TYPE cuckoofilter IS
    'approximate set of values: tells for certain which values are not in it';

--
-- COST is what was measured (bench/cost.sql), with a filter of 10,000 values where
-- it depends on that.  What a probe costs its support function says.
--

CREATE FUNCTION cf_whole_support(pg_catalog.internal) RETURNS pg_catalog.internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_whole_support(pg_catalog.internal) IS
    'planner support function of those that go through whole filters: their cost by size';

--
-- Making filters
--

-- not STRICT: NULL stands for the default
CREATE FUNCTION cf_new(capacity pg_catalog.float8, fpr pg_catalog.float8 DEFAULT 0.01,
    max_copies pg_catalog.int4 DEFAULT 4, seed pg_catalog.int8 DEFAULT 0) RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cf_new(pg_catalog.float8, pg_catalog.float8, pg_catalog.int4,
    pg_catalog.int8) IS
    'empty filter for capacity values, with a false positive rate of at most fpr until it is '
    'reached';

-- not STRICT: NULL leaves capacity or rate as it is
CREATE FUNCTION cf_clear(filter cuckoofilter) RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_clear(cuckoofilter) IS 'an empty filter of the same parameters';

CREATE FUNCTION cf_resize(filter cuckoofilter, capacity pg_catalog.float8 DEFAULT NULL,
    fpr pg_catalog.float8 DEFAULT NULL) RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 30000 SUPPORT cf_whole_support;
COMMENT ON FUNCTION cf_resize(cuckoofilter, pg_catalog.float8, pg_catalog.float8) IS
    'the same values declared for another capacity or a coarser rate, as small as possible';

-- not STRICT: NULL stands for several usual rates
CREATE FUNCTION cf_plan(capacity pg_catalog.float8, fpr pg_catalog.float8 DEFAULT NULL,
	OUT requested_fpr pg_catalog.float8, OUT promised_fpr pg_catalog.float8,
	OUT fingerprint_bits pg_catalog.int4, OUT bits_per_value pg_catalog.float8,
	OUT bytes pg_catalog.int8) RETURNS SETOF pg_catalog.record
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 5;
COMMENT ON FUNCTION cf_plan(pg_catalog.float8, pg_catalog.float8) IS
    'what a filter costs when it is filled to its capacity, for one rate or several';

--
-- Adding and removing.  Not STRICT: a NULL value leaves the filter as it is, and
-- a NULL filter is an error, so that no value is lost silently.
--

CREATE FUNCTION cf_change_support(pg_catalog.internal) RETURNS pg_catalog.internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_change_support(pg_catalog.internal) IS
    'lets PL/pgSQL of version 18 and later change a filter in a variable in place';

CREATE FUNCTION cf_add(filter cuckoofilter, value pg_catalog.anycompatible) RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100 SUPPORT cf_change_support;
COMMENT ON FUNCTION cf_add(cuckoofilter, pg_catalog.anycompatible) IS
    'the filter with one more copy of the value';

CREATE FUNCTION cf_add_all(filter cuckoofilter, elements pg_catalog.anycompatiblearray)
RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 700 SUPPORT cf_change_support;
COMMENT ON FUNCTION cf_add_all(cuckoofilter, pg_catalog.anycompatiblearray) IS
    'the filter with one more copy of each element';

CREATE FUNCTION cf_add_hash(filter cuckoofilter, hash pg_catalog.int8) RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100 SUPPORT cf_change_support;
COMMENT ON FUNCTION cf_add_hash(cuckoofilter, pg_catalog.int8) IS
    'the filter with one more copy of a value given as its cf_hash()';

CREATE FUNCTION cf_add_hashes(filter cuckoofilter, hashes pg_catalog.int8[]) RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 700 SUPPORT cf_change_support;
COMMENT ON FUNCTION cf_add_hashes(cuckoofilter, pg_catalog.int8[]) IS
    'the filter with one more copy of each value given as its cf_hash()';

CREATE FUNCTION cf_remove(filter cuckoofilter, value pg_catalog.anycompatible) RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100 SUPPORT cf_change_support;
COMMENT ON FUNCTION cf_remove(cuckoofilter, pg_catalog.anycompatible) IS
    'the filter with one copy of the value less; only values that were added may be removed';

CREATE FUNCTION cf_remove_all(filter cuckoofilter, elements pg_catalog.anycompatiblearray)
RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100 SUPPORT cf_change_support;
COMMENT ON FUNCTION cf_remove_all(cuckoofilter, pg_catalog.anycompatiblearray) IS
    'the filter with one copy of each element less; only values that were added may be removed';

CREATE FUNCTION cf_remove_hash(filter cuckoofilter, hash pg_catalog.int8) RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100 SUPPORT cf_change_support;
COMMENT ON FUNCTION cf_remove_hash(cuckoofilter, pg_catalog.int8) IS
    'the filter with one copy less of a value given as its cf_hash()';

CREATE FUNCTION cf_remove_hashes(filter cuckoofilter, hashes pg_catalog.int8[]) RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100 SUPPORT cf_change_support;
COMMENT ON FUNCTION cf_remove_hashes(cuckoofilter, pg_catalog.int8[]) IS
    'the filter with one copy less of each value given as its cf_hash()';

--
-- What the planner asks about a probe
--

CREATE FUNCTION cf_contains_support(pg_catalog.internal) RETURNS pg_catalog.internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_contains_support(pg_catalog.internal) IS
    'planner support function of cf_contains, cf_contained and cf_contains_hash';

CREATE FUNCTION cf_contains_any_support(pg_catalog.internal) RETURNS pg_catalog.internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_contains_any_support(pg_catalog.internal) IS
    'planner support function of cf_contains_any';

CREATE FUNCTION cf_contains_all_support(pg_catalog.internal) RETURNS pg_catalog.internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_contains_all_support(pg_catalog.internal) IS
    'planner support function of cf_contains_all';

CREATE FUNCTION cf_contains_sel(pg_catalog.internal, pg_catalog.oid, pg_catalog.internal,
    pg_catalog.int4) RETURNS pg_catalog.float8
AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_contains_sel(pg_catalog.internal, pg_catalog.oid, pg_catalog.internal,
    pg_catalog.int4) IS
    'restriction selectivity of @> and <@';

CREATE FUNCTION cf_contains_joinsel(pg_catalog.internal, pg_catalog.oid, pg_catalog.internal,
    pg_catalog.int2, pg_catalog.internal) RETURNS pg_catalog.float8
AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_contains_joinsel(pg_catalog.internal, pg_catalog.oid, pg_catalog.internal,
    pg_catalog.int2, pg_catalog.internal) IS
    'join selectivity of @> and <@';

--
-- Probing
--

CREATE FUNCTION cf_contains(filter cuckoofilter, value pg_catalog.anycompatible)
RETURNS pg_catalog.bool
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT cf_contains_support;
COMMENT ON FUNCTION cf_contains(cuckoofilter, pg_catalog.anycompatible) IS
    'false: certainly not added; true: probably added';

CREATE FUNCTION cf_contained(value pg_catalog.anycompatible, filter cuckoofilter)
RETURNS pg_catalog.bool
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT cf_contains_support;
COMMENT ON FUNCTION cf_contained(pg_catalog.anycompatible, cuckoofilter) IS
    'false: certainly not added; true: probably added';

CREATE FUNCTION cf_contains_hash(filter cuckoofilter, hash pg_catalog.int8) RETURNS pg_catalog.bool
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT cf_contains_support;
COMMENT ON FUNCTION cf_contains_hash(cuckoofilter, pg_catalog.int8) IS
    'cf_contains() of a value given as its cf_hash()';

CREATE FUNCTION cf_contains_any(filter cuckoofilter, elements pg_catalog.anycompatiblearray)
RETURNS pg_catalog.bool
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT cf_contains_any_support;
COMMENT ON FUNCTION cf_contains_any(cuckoofilter, pg_catalog.anycompatiblearray) IS
    'false: certainly none of the elements was added';

CREATE FUNCTION cf_contains_all(filter cuckoofilter, elements pg_catalog.anycompatiblearray)
RETURNS pg_catalog.bool
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT cf_contains_all_support;
COMMENT ON FUNCTION cf_contains_all(cuckoofilter, pg_catalog.anycompatiblearray) IS
    'false: certainly not all elements were added';

CREATE FUNCTION cf_contains_each(filter cuckoofilter, elements pg_catalog.anycompatiblearray)
RETURNS pg_catalog.bool[]
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 60;
COMMENT ON FUNCTION cf_contains_each(cuckoofilter, pg_catalog.anycompatiblearray) IS
    'cf_contains() of each element, in an array of the same shape';

CREATE FUNCTION cf_contains_hashes(filter cuckoofilter, hashes pg_catalog.int8[])
RETURNS pg_catalog.bool[]
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 60;
COMMENT ON FUNCTION cf_contains_hashes(cuckoofilter, pg_catalog.int8[]) IS
    'cf_contains_hash() of each hash, in an array of the same shape';

-- not STRICT: a NULL seed stands for the default
CREATE FUNCTION cf_hash(value pg_catalog.anycompatible, seed pg_catalog.int8 DEFAULT 0)
RETURNS pg_catalog.int8
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_hash(pg_catalog.anycompatible, pg_catalog.int8) IS
    'the hash that a filter with this seed takes of the value';

--
-- Looking into a filter
--

CREATE FUNCTION cf_count(filter cuckoofilter) RETURNS pg_catalog.int8
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_count(cuckoofilter) IS 'entries held: the copies of all values';

CREATE FUNCTION cf_count(filter cuckoofilter, value pg_catalog.anycompatible)
RETURNS pg_catalog.int4
AS 'MODULE_PATHNAME', 'cf_count_value' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 6;
COMMENT ON FUNCTION cf_count(cuckoofilter, pg_catalog.anycompatible) IS
    'copies of one value, up to max_copies';

CREATE FUNCTION cf_fpr(filter cuckoofilter) RETURNS pg_catalog.float8
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_fpr(cuckoofilter) IS 'false positive rate of the filter as it is';

CREATE FUNCTION cf_info(filter cuckoofilter,
	OUT form pg_catalog.text, OUT family pg_catalog.text,
	OUT capacity pg_catalog.int8, OUT entries pg_catalog.int8,
	OUT load_factor pg_catalog.float8, OUT fpr pg_catalog.float8,
	OUT promised_fpr pg_catalog.float8, OUT declared_fpr pg_catalog.float8,
	OUT bytes pg_catalog.int8,
	OUT bits_per_value pg_catalog.float8, OUT max_copies pg_catalog.int4,
	OUT current_copies pg_catalog.int4, OUT merged pg_catalog.bool,
	OUT seed pg_catalog.int8, OUT columns pg_catalog.int4,
	OUT index_bits pg_catalog.int4, OUT prefix_bits pg_catalog.int4,
	OUT fingerprint_bits pg_catalog.int4, OUT kicks pg_catalog.int8,
	OUT longest_path pg_catalog.int4, OUT growths pg_catalog.int4,
	OUT load_at_growth pg_catalog.float8, OUT format_version pg_catalog.int4,
	OUT hash_version pg_catalog.int4) RETURNS pg_catalog.record
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION cf_info(cuckoofilter) IS
    'one row: parameters, entries, rates, size and health of a filter';

CREATE FUNCTION cf_check(filter cuckoofilter) RETURNS SETOF pg_catalog.text
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 30000 ROWS 1
    SUPPORT cf_whole_support;
COMMENT ON FUNCTION cf_check(cuckoofilter) IS
    'what is wrong with a stored filter; no row if it is sound';

--
-- Aggregates.  Their support functions are not to be called directly; they are
-- not STRICT since an aggregate may have seen no row, or only NULL.  SSPACE is
-- that of a state with some twenty hashes; the planner would assume 8 kB.
--

CREATE FUNCTION cf_agg_transition(state pg_catalog.internal, value pg_catalog.anycompatible)
RETURNS pg_catalog.internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 40;
COMMENT ON FUNCTION cf_agg_transition(pg_catalog.internal, pg_catalog.anycompatible) IS
    'transition function of cf_agg';

CREATE FUNCTION cf_agg_transition(state pg_catalog.internal, value pg_catalog.anycompatible,
    capacity pg_catalog.float8) RETURNS pg_catalog.internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 40;
COMMENT ON FUNCTION cf_agg_transition(pg_catalog.internal, pg_catalog.anycompatible,
    pg_catalog.float8) IS
    'transition function of cf_agg';

CREATE FUNCTION cf_agg_transition(state pg_catalog.internal, value pg_catalog.anycompatible,
    capacity pg_catalog.float8, fpr pg_catalog.float8) RETURNS pg_catalog.internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 40;
COMMENT ON FUNCTION cf_agg_transition(pg_catalog.internal, pg_catalog.anycompatible,
    pg_catalog.float8, pg_catalog.float8) IS
    'transition function of cf_agg';

CREATE FUNCTION cf_agg_transition(state pg_catalog.internal, value pg_catalog.anycompatible,
    capacity pg_catalog.float8, fpr pg_catalog.float8, max_copies pg_catalog.int4)
RETURNS pg_catalog.internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 40;
COMMENT ON FUNCTION cf_agg_transition(pg_catalog.internal, pg_catalog.anycompatible,
    pg_catalog.float8, pg_catalog.float8, pg_catalog.int4) IS
    'transition function of cf_agg';

CREATE FUNCTION cf_agg_transition(state pg_catalog.internal, value pg_catalog.anycompatible,
    capacity pg_catalog.float8, fpr pg_catalog.float8, max_copies pg_catalog.int4,
    seed pg_catalog.int8) RETURNS pg_catalog.internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 40;
COMMENT ON FUNCTION cf_agg_transition(pg_catalog.internal, pg_catalog.anycompatible,
    pg_catalog.float8, pg_catalog.float8, pg_catalog.int4, pg_catalog.int8) IS
    'transition function of cf_agg';

CREATE FUNCTION cf_bag_agg_transition(state pg_catalog.internal, value pg_catalog.anycompatible)
RETURNS pg_catalog.internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 40;
COMMENT ON FUNCTION cf_bag_agg_transition(pg_catalog.internal, pg_catalog.anycompatible) IS
    'transition function of cf_bag_agg';

CREATE FUNCTION cf_bag_agg_transition(state pg_catalog.internal, value pg_catalog.anycompatible,
    capacity pg_catalog.float8) RETURNS pg_catalog.internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 40;
COMMENT ON FUNCTION cf_bag_agg_transition(pg_catalog.internal, pg_catalog.anycompatible,
    pg_catalog.float8) IS
    'transition function of cf_bag_agg';

CREATE FUNCTION cf_bag_agg_transition(state pg_catalog.internal, value pg_catalog.anycompatible,
    capacity pg_catalog.float8, fpr pg_catalog.float8) RETURNS pg_catalog.internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 40;
COMMENT ON FUNCTION cf_bag_agg_transition(pg_catalog.internal, pg_catalog.anycompatible,
    pg_catalog.float8, pg_catalog.float8) IS
    'transition function of cf_bag_agg';

CREATE FUNCTION cf_bag_agg_transition(state pg_catalog.internal, value pg_catalog.anycompatible,
    capacity pg_catalog.float8, fpr pg_catalog.float8, max_copies pg_catalog.int4)
RETURNS pg_catalog.internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 40;
COMMENT ON FUNCTION cf_bag_agg_transition(pg_catalog.internal, pg_catalog.anycompatible,
    pg_catalog.float8, pg_catalog.float8, pg_catalog.int4) IS
    'transition function of cf_bag_agg';

CREATE FUNCTION cf_bag_agg_transition(state pg_catalog.internal, value pg_catalog.anycompatible,
    capacity pg_catalog.float8, fpr pg_catalog.float8, max_copies pg_catalog.int4,
    seed pg_catalog.int8) RETURNS pg_catalog.internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 40;
COMMENT ON FUNCTION cf_bag_agg_transition(pg_catalog.internal, pg_catalog.anycompatible,
    pg_catalog.float8, pg_catalog.float8, pg_catalog.int4, pg_catalog.int8) IS
    'transition function of cf_bag_agg';

CREATE FUNCTION cf_agg_combine(state pg_catalog.internal, other pg_catalog.internal)
RETURNS pg_catalog.internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_combine(pg_catalog.internal, pg_catalog.internal) IS
    'combine function of cf_agg and cf_bag_agg';

CREATE FUNCTION cf_agg_serialize(state pg_catalog.internal) RETURNS pg_catalog.bytea
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_serialize(pg_catalog.internal) IS
    'serialization function of cf_agg and cf_bag_agg';

CREATE FUNCTION cf_agg_deserialize(bytes pg_catalog.bytea, pg_catalog.internal)
RETURNS pg_catalog.internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_deserialize(pg_catalog.bytea, pg_catalog.internal) IS
    'deserialization function of cf_agg and cf_bag_agg';

CREATE FUNCTION cf_agg_final(state pg_catalog.internal) RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_final(pg_catalog.internal) IS 'final function of cf_agg and cf_bag_agg';

CREATE AGGREGATE cf_agg(value pg_catalog.anycompatible) (
	SFUNC = cf_agg_transition,
	STYPE = pg_catalog.internal,
	SSPACE = 512,
	FINALFUNC = cf_agg_final,
	COMBINEFUNC = cf_agg_combine,
	SERIALFUNC = cf_agg_serialize,
	DESERIALFUNC = cf_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(pg_catalog.anycompatible) IS
    'filter of the different values, each once, fitted to them';

CREATE AGGREGATE cf_agg(value pg_catalog.anycompatible, capacity pg_catalog.float8) (
	SFUNC = cf_agg_transition,
	STYPE = pg_catalog.internal,
	SSPACE = 512,
	FINALFUNC = cf_agg_final,
	COMBINEFUNC = cf_agg_combine,
	SERIALFUNC = cf_agg_serialize,
	DESERIALFUNC = cf_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(pg_catalog.anycompatible, pg_catalog.float8) IS
    'filter of the different values, each once, for capacity values';

CREATE AGGREGATE cf_agg(value pg_catalog.anycompatible, capacity pg_catalog.float8,
    fpr pg_catalog.float8) (
	SFUNC = cf_agg_transition,
	STYPE = pg_catalog.internal,
	SSPACE = 512,
	FINALFUNC = cf_agg_final,
	COMBINEFUNC = cf_agg_combine,
	SERIALFUNC = cf_agg_serialize,
	DESERIALFUNC = cf_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(pg_catalog.anycompatible, pg_catalog.float8, pg_catalog.float8) IS
    'filter of the different values, each once, for capacity values, with a false positive rate '
    'of at most fpr';

CREATE AGGREGATE cf_agg(value pg_catalog.anycompatible, capacity pg_catalog.float8,
    fpr pg_catalog.float8, max_copies pg_catalog.int4) (
	SFUNC = cf_agg_transition,
	STYPE = pg_catalog.internal,
	SSPACE = 512,
	FINALFUNC = cf_agg_final,
	COMBINEFUNC = cf_agg_combine,
	SERIALFUNC = cf_agg_serialize,
	DESERIALFUNC = cf_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(pg_catalog.anycompatible, pg_catalog.float8, pg_catalog.float8,
    pg_catalog.int4) IS
    'filter of the different values, each once, for capacity values, with a rate of at most fpr '
    'and up to max_copies of each';

CREATE AGGREGATE cf_agg(value pg_catalog.anycompatible, capacity pg_catalog.float8,
    fpr pg_catalog.float8, max_copies pg_catalog.int4, seed pg_catalog.int8) (
	SFUNC = cf_agg_transition,
	STYPE = pg_catalog.internal,
	SSPACE = 512,
	FINALFUNC = cf_agg_final,
	COMBINEFUNC = cf_agg_combine,
	SERIALFUNC = cf_agg_serialize,
	DESERIALFUNC = cf_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(pg_catalog.anycompatible, pg_catalog.float8, pg_catalog.float8,
    pg_catalog.int4, pg_catalog.int8) IS
    'filter of the different values, each once, for capacity values, with a rate of at most fpr, '
    'up to max_copies of each, and a seed';

CREATE AGGREGATE cf_bag_agg(value pg_catalog.anycompatible) (
	SFUNC = cf_bag_agg_transition,
	STYPE = pg_catalog.internal,
	SSPACE = 512,
	FINALFUNC = cf_agg_final,
	COMBINEFUNC = cf_agg_combine,
	SERIALFUNC = cf_agg_serialize,
	DESERIALFUNC = cf_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_bag_agg(pg_catalog.anycompatible) IS
    'filter of all values, each as often as it comes, fitted to them';

CREATE AGGREGATE cf_bag_agg(value pg_catalog.anycompatible, capacity pg_catalog.float8) (
	SFUNC = cf_bag_agg_transition,
	STYPE = pg_catalog.internal,
	SSPACE = 512,
	FINALFUNC = cf_agg_final,
	COMBINEFUNC = cf_agg_combine,
	SERIALFUNC = cf_agg_serialize,
	DESERIALFUNC = cf_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_bag_agg(pg_catalog.anycompatible, pg_catalog.float8) IS
    'filter of all values, each as often as it comes, for capacity values';

CREATE AGGREGATE cf_bag_agg(value pg_catalog.anycompatible, capacity pg_catalog.float8,
    fpr pg_catalog.float8) (
	SFUNC = cf_bag_agg_transition,
	STYPE = pg_catalog.internal,
	SSPACE = 512,
	FINALFUNC = cf_agg_final,
	COMBINEFUNC = cf_agg_combine,
	SERIALFUNC = cf_agg_serialize,
	DESERIALFUNC = cf_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_bag_agg(pg_catalog.anycompatible, pg_catalog.float8, pg_catalog.float8) IS
    'filter of all values, each as often as it comes, for capacity values, with a false positive '
    'rate of at most fpr';

CREATE AGGREGATE cf_bag_agg(value pg_catalog.anycompatible, capacity pg_catalog.float8,
    fpr pg_catalog.float8, max_copies pg_catalog.int4) (
	SFUNC = cf_bag_agg_transition,
	STYPE = pg_catalog.internal,
	SSPACE = 512,
	FINALFUNC = cf_agg_final,
	COMBINEFUNC = cf_agg_combine,
	SERIALFUNC = cf_agg_serialize,
	DESERIALFUNC = cf_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_bag_agg(pg_catalog.anycompatible, pg_catalog.float8, pg_catalog.float8,
    pg_catalog.int4) IS
    'filter of all values, each as often as it comes, for capacity values, with a rate of at most '
    'fpr and up to max_copies of each';

CREATE AGGREGATE cf_bag_agg(value pg_catalog.anycompatible, capacity pg_catalog.float8,
    fpr pg_catalog.float8, max_copies pg_catalog.int4, seed pg_catalog.int8) (
	SFUNC = cf_bag_agg_transition,
	STYPE = pg_catalog.internal,
	SSPACE = 512,
	FINALFUNC = cf_agg_final,
	COMBINEFUNC = cf_agg_combine,
	SERIALFUNC = cf_agg_serialize,
	DESERIALFUNC = cf_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_bag_agg(pg_catalog.anycompatible, pg_catalog.float8, pg_catalog.float8,
    pg_catalog.int4, pg_catalog.int8) IS
    'filter of all values, each as often as it comes, for capacity values, with a rate of at most '
    'fpr, up to max_copies of each, and a seed';

--
-- Merging
--

CREATE FUNCTION cf_union(a cuckoofilter, b cuckoofilter) RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 50000 SUPPORT cf_whole_support;
COMMENT ON FUNCTION cf_union(cuckoofilter, cuckoofilter) IS
    'filter of the values of both, each with the larger number of copies; nothing can be removed '
    'from it if the two had values in common';

CREATE FUNCTION cf_union_all(a cuckoofilter, b cuckoofilter) RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 50000 SUPPORT cf_whole_support;
COMMENT ON FUNCTION cf_union_all(cuckoofilter, cuckoofilter) IS
    'filter of the values of both, each with the copies of both; values can be removed from it';

CREATE FUNCTION cf_intersection(a cuckoofilter, b cuckoofilter) RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 150000 SUPPORT cf_whole_support;
COMMENT ON FUNCTION cf_intersection(cuckoofilter, cuckoofilter) IS
    'filter that contains whatever both contain';

CREATE FUNCTION cf_overlap(a cuckoofilter, b cuckoofilter) RETURNS pg_catalog.float8
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000 SUPPORT cf_whole_support;
COMMENT ON FUNCTION cf_overlap(cuckoofilter, cuckoofilter) IS
    'estimated number of values that both contain';

-- not STRICT: NULL is no filter, and the first filter becomes the state
CREATE FUNCTION cf_union_agg_transition(state cuckoofilter, filter cuckoofilter)
RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 50000 SUPPORT cf_whole_support;
COMMENT ON FUNCTION cf_union_agg_transition(cuckoofilter, cuckoofilter) IS
    'transition and combine function of cf_union_agg; combine function of cf_hash_agg';

CREATE FUNCTION cf_union_all_agg_transition(state cuckoofilter, filter cuckoofilter)
RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 50000 SUPPORT cf_whole_support;
COMMENT ON FUNCTION cf_union_all_agg_transition(cuckoofilter, cuckoofilter) IS
    'transition and combine function of cf_union_all_agg';

CREATE FUNCTION cf_union_agg_final(state cuckoofilter) RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 250;
COMMENT ON FUNCTION cf_union_agg_final(cuckoofilter) IS
    'final function of cf_union_agg, cf_union_all_agg and cf_hash_agg';

CREATE AGGREGATE cf_union_agg(filter cuckoofilter) (
	SFUNC = cf_union_agg_transition,
	STYPE = cuckoofilter,
	FINALFUNC = cf_union_agg_final,
	COMBINEFUNC = cf_union_agg_transition,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_union_agg(cuckoofilter) IS 'cf_union() of all filters';

CREATE AGGREGATE cf_union_all_agg(filter cuckoofilter) (
	SFUNC = cf_union_all_agg_transition,
	STYPE = cuckoofilter,
	FINALFUNC = cf_union_agg_final,
	COMBINEFUNC = cf_union_all_agg_transition,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_union_all_agg(cuckoofilter) IS 'cf_union_all() of all filters';

--
-- Hashes.  The state is a filter, so that engines that split aggregates over
-- servers can send it.  There is no filter of no rows: the parameters come with
-- the rows.
--

CREATE FUNCTION cf_hash_agg_transition(state cuckoofilter, hash pg_catalog.int8,
    capacity pg_catalog.float8) RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 40;
COMMENT ON FUNCTION cf_hash_agg_transition(cuckoofilter, pg_catalog.int8, pg_catalog.float8) IS
    'transition function of cf_hash_agg';

CREATE FUNCTION cf_hash_agg_transition(state cuckoofilter, hash pg_catalog.int8,
    capacity pg_catalog.float8, fpr pg_catalog.float8) RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 40;
COMMENT ON FUNCTION cf_hash_agg_transition(cuckoofilter, pg_catalog.int8, pg_catalog.float8,
    pg_catalog.float8) IS
    'transition function of cf_hash_agg';

CREATE FUNCTION cf_hash_agg_transition(state cuckoofilter, hash pg_catalog.int8,
    capacity pg_catalog.float8, fpr pg_catalog.float8, max_copies pg_catalog.int4)
RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 40;
COMMENT ON FUNCTION cf_hash_agg_transition(cuckoofilter, pg_catalog.int8, pg_catalog.float8,
    pg_catalog.float8, pg_catalog.int4) IS
    'transition function of cf_hash_agg';

CREATE FUNCTION cf_hash_agg_transition(state cuckoofilter, hash pg_catalog.int8,
    capacity pg_catalog.float8, fpr pg_catalog.float8, max_copies pg_catalog.int4,
    seed pg_catalog.int8) RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 40;
COMMENT ON FUNCTION cf_hash_agg_transition(cuckoofilter, pg_catalog.int8, pg_catalog.float8,
    pg_catalog.float8, pg_catalog.int4, pg_catalog.int8) IS
    'transition function of cf_hash_agg';

CREATE AGGREGATE cf_hash_agg(hash pg_catalog.int8, capacity pg_catalog.float8) (
	SFUNC = cf_hash_agg_transition,
	STYPE = cuckoofilter,
	SSPACE = 2048,
	FINALFUNC = cf_union_agg_final,
	COMBINEFUNC = cf_union_agg_transition,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_hash_agg(pg_catalog.int8, pg_catalog.float8) IS
    'filter of the different hashes, for capacity hashes';

CREATE AGGREGATE cf_hash_agg(hash pg_catalog.int8, capacity pg_catalog.float8,
    fpr pg_catalog.float8) (
	SFUNC = cf_hash_agg_transition,
	STYPE = cuckoofilter,
	SSPACE = 2048,
	FINALFUNC = cf_union_agg_final,
	COMBINEFUNC = cf_union_agg_transition,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_hash_agg(pg_catalog.int8, pg_catalog.float8, pg_catalog.float8) IS
    'filter of the different hashes, for capacity hashes, with a false positive rate of at most '
    'fpr';

CREATE AGGREGATE cf_hash_agg(hash pg_catalog.int8, capacity pg_catalog.float8,
    fpr pg_catalog.float8, max_copies pg_catalog.int4) (
	SFUNC = cf_hash_agg_transition,
	STYPE = cuckoofilter,
	SSPACE = 2048,
	FINALFUNC = cf_union_agg_final,
	COMBINEFUNC = cf_union_agg_transition,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_hash_agg(pg_catalog.int8, pg_catalog.float8, pg_catalog.float8,
    pg_catalog.int4) IS
    'filter of the different hashes, for capacity hashes, with a rate of at most fpr and up to '
    'max_copies of each';

CREATE AGGREGATE cf_hash_agg(hash pg_catalog.int8, capacity pg_catalog.float8,
    fpr pg_catalog.float8, max_copies pg_catalog.int4, seed pg_catalog.int8) (
	SFUNC = cf_hash_agg_transition,
	STYPE = cuckoofilter,
	SSPACE = 2048,
	FINALFUNC = cf_union_agg_final,
	COMBINEFUNC = cf_union_agg_transition,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_hash_agg(pg_catalog.int8, pg_catalog.float8, pg_catalog.float8,
    pg_catalog.int4, pg_catalog.int8) IS
    'filter of the different hashes, for capacity hashes, with a rate of at most fpr, up to '
    'max_copies of each, and the seed they were made with';

--
-- Operators
--

CREATE OPERATOR @> (
	LEFTARG = cuckoofilter, RIGHTARG = pg_catalog.anycompatible,
	FUNCTION = cf_contains, COMMUTATOR = <@,
	RESTRICT = cf_contains_sel, JOIN = cf_contains_joinsel
);
COMMENT ON OPERATOR @> (cuckoofilter, pg_catalog.anycompatible) IS
    'may the filter contain the value?';

CREATE OPERATOR <@ (
	LEFTARG = pg_catalog.anycompatible, RIGHTARG = cuckoofilter,
	FUNCTION = cf_contained, COMMUTATOR = @>,
	RESTRICT = cf_contains_sel, JOIN = cf_contains_joinsel
);
COMMENT ON OPERATOR <@ (pg_catalog.anycompatible, cuckoofilter) IS
    'may the value be contained in the filter?';

CREATE OPERATOR | (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter,
	FUNCTION = cf_union
);
COMMENT ON OPERATOR | (cuckoofilter, cuckoofilter) IS
    'filter of the values of both, each with the larger number of copies';

--
-- Comparison, in the order of the bytes
--

CREATE FUNCTION cf_cmp(a cuckoofilter, b cuckoofilter) RETURNS pg_catalog.int4
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_cmp(cuckoofilter, cuckoofilter) IS
    'less than, equal, greater than: negative, zero, positive';

CREATE FUNCTION cf_eq(a cuckoofilter, b cuckoofilter) RETURNS pg_catalog.bool
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_eq(cuckoofilter, cuckoofilter) IS 'equal to the byte';

CREATE FUNCTION cf_ne(a cuckoofilter, b cuckoofilter) RETURNS pg_catalog.bool
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_ne(cuckoofilter, cuckoofilter) IS 'not equal';

CREATE FUNCTION cf_lt(a cuckoofilter, b cuckoofilter) RETURNS pg_catalog.bool
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_lt(cuckoofilter, cuckoofilter) IS 'less than, in byte order';

CREATE FUNCTION cf_le(a cuckoofilter, b cuckoofilter) RETURNS pg_catalog.bool
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_le(cuckoofilter, cuckoofilter) IS 'less than or equal, in byte order';

CREATE FUNCTION cf_gt(a cuckoofilter, b cuckoofilter) RETURNS pg_catalog.bool
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_gt(cuckoofilter, cuckoofilter) IS 'greater than, in byte order';

CREATE FUNCTION cf_ge(a cuckoofilter, b cuckoofilter) RETURNS pg_catalog.bool
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_ge(cuckoofilter, cuckoofilter) IS 'greater than or equal, in byte order';

CREATE FUNCTION cuckoofilter_hash(filter cuckoofilter) RETURNS pg_catalog.int4
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 600;
COMMENT ON FUNCTION cuckoofilter_hash(cuckoofilter) IS
    'hash of the bytes of a filter, for hash joins and hash indexes';

CREATE FUNCTION cuckoofilter_hash_extended(filter cuckoofilter, seed pg_catalog.int8)
RETURNS pg_catalog.int8
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 600;
COMMENT ON FUNCTION cuckoofilter_hash_extended(cuckoofilter, pg_catalog.int8) IS
    '64-bit hash of the bytes of a filter, for hash partitioning';

CREATE OPERATOR = (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter, FUNCTION = cf_eq,
	COMMUTATOR = =, NEGATOR = <>,
	HASHES, MERGES,
	RESTRICT = pg_catalog.eqsel, JOIN = pg_catalog.eqjoinsel
);
COMMENT ON OPERATOR = (cuckoofilter, cuckoofilter) IS 'equal to the byte';

CREATE OPERATOR <> (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter, FUNCTION = cf_ne,
	COMMUTATOR = <>, NEGATOR = =,
	RESTRICT = pg_catalog.neqsel, JOIN = pg_catalog.neqjoinsel
);
COMMENT ON OPERATOR <> (cuckoofilter, cuckoofilter) IS 'not equal';

CREATE OPERATOR < (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter, FUNCTION = cf_lt,
	COMMUTATOR = >, NEGATOR = >=,
	RESTRICT = pg_catalog.scalarltsel, JOIN = pg_catalog.scalarltjoinsel
);
COMMENT ON OPERATOR < (cuckoofilter, cuckoofilter) IS 'less than, in byte order';

CREATE OPERATOR <= (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter, FUNCTION = cf_le,
	COMMUTATOR = >=, NEGATOR = >,
	RESTRICT = pg_catalog.scalarlesel, JOIN = pg_catalog.scalarlejoinsel
);
COMMENT ON OPERATOR <= (cuckoofilter, cuckoofilter) IS 'less than or equal, in byte order';

CREATE OPERATOR > (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter, FUNCTION = cf_gt,
	COMMUTATOR = <, NEGATOR = <=,
	RESTRICT = pg_catalog.scalargtsel, JOIN = pg_catalog.scalargtjoinsel
);
COMMENT ON OPERATOR > (cuckoofilter, cuckoofilter) IS 'greater than, in byte order';

CREATE OPERATOR >= (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter, FUNCTION = cf_ge,
	COMMUTATOR = <=, NEGATOR = <,
	RESTRICT = pg_catalog.scalargesel, JOIN = pg_catalog.scalargejoinsel
);
COMMENT ON OPERATOR >= (cuckoofilter, cuckoofilter) IS 'greater than or equal, in byte order';

CREATE OPERATOR CLASS cuckoofilter_ops
DEFAULT FOR TYPE cuckoofilter USING btree AS
	OPERATOR 1 < ,
	OPERATOR 2 <= ,
	OPERATOR 3 = ,
	OPERATOR 4 >= ,
	OPERATOR 5 > ,
	FUNCTION 1 cf_cmp(cuckoofilter, cuckoofilter);
COMMENT ON OPERATOR CLASS cuckoofilter_ops USING btree IS
    'byte order of filters: for DISTINCT, ORDER BY and merge joins';

CREATE OPERATOR CLASS cuckoofilter_ops
DEFAULT FOR TYPE cuckoofilter USING hash AS
	OPERATOR 1 = ,
	FUNCTION 1 cuckoofilter_hash(cuckoofilter),
	FUNCTION 2 cuckoofilter_hash_extended(cuckoofilter, pg_catalog.int8);
COMMENT ON OPERATOR CLASS cuckoofilter_ops USING hash IS 'equality of filters to the byte';

--
-- Casts
--

CREATE FUNCTION cuckoofilter_to_bytea(filter cuckoofilter) RETURNS pg_catalog.bytea
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cuckoofilter_to_bytea(cuckoofilter) IS 'image and checksum of a filter';

CREATE FUNCTION cuckoofilter_from_bytea(bytes pg_catalog.bytea) RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 30000;
COMMENT ON FUNCTION cuckoofilter_from_bytea(pg_catalog.bytea) IS 'filter from image and checksum';

CREATE CAST (cuckoofilter AS pg_catalog.bytea) WITH FUNCTION cuckoofilter_to_bytea(cuckoofilter);
COMMENT ON CAST (cuckoofilter AS pg_catalog.bytea) IS 'image and checksum of a filter';

CREATE CAST (pg_catalog.bytea AS cuckoofilter)
    WITH FUNCTION cuckoofilter_from_bytea(pg_catalog.bytea);
COMMENT ON CAST (pg_catalog.bytea AS cuckoofilter) IS 'filter from image and checksum';

--
-- Filters that follow a table.  Those that build or judge filters look at all
-- rows or fail (row_security), and find nothing by search_path.  Their time is
-- spent in functions of ours, which cannot be compiled any further (jit), and
-- rows are sorted by key, since a hash table would hold all filters at once.
-- What writes, or changes a setting, has no place in a parallel plan.
--

CREATE FUNCTION cf_upkeep() RETURNS pg_catalog.trigger
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION cf_upkeep() IS
    'trigger function that keeps filters in step with a table; cf_attach() makes the triggers';

CREATE FUNCTION cf_guard() RETURNS pg_catalog.trigger
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION cf_guard() IS
    'trigger function that keeps others from changing followed filters; cf_attach() makes the '
    'triggers';

-- not STRICT: without a filter, one is made
CREATE FUNCTION cf_upkeep_apply(filter cuckoofilter) RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100;
COMMENT ON FUNCTION cf_upkeep_apply(cuckoofilter) IS
    'the filter with what a statement changed; an error anywhere but in statements of cf_upkeep()';

CREATE FUNCTION cf_upkeep_store(filter cuckoofilter, is_stored pg_catalog.bool) RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100;
COMMENT ON FUNCTION cf_upkeep_store(cuckoofilter, pg_catalog.bool) IS
    'the filter as it is; an error anywhere but in statements of cf_attach() and cf_rebuild()';

CREATE FUNCTION cf_shard(value pg_catalog.anycompatible, shards pg_catalog.int4)
RETURNS pg_catalog.int4
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_shard(pg_catalog.anycompatible, pg_catalog.int4) IS
    'which of several filters a value is in: 0 to shards - 1';

-- not STRICT, as cf_detach and cf_rebuild: NULL stands for a default
CREATE FUNCTION cf_attach(source pg_catalog.regclass, columns pg_catalog.text[],
	target pg_catalog.regclass, filter pg_catalog.text, key pg_catalog.text[],
	capacity pg_catalog.float8, fpr pg_catalog.float8 DEFAULT 0.01,
	max_copies pg_catalog.int4 DEFAULT 4, seed pg_catalog.int8 DEFAULT 0,
	target_key pg_catalog.text[] DEFAULT NULL, shards pg_catalog.int4 DEFAULT NULL,
	shard_column pg_catalog.text DEFAULT 'shard') RETURNS pg_catalog.int8
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp SET row_security = off SET jit = off SET enable_hashagg = off;
COMMENT ON FUNCTION cf_attach(pg_catalog.regclass, pg_catalog.text[], pg_catalog.regclass,
    pg_catalog.text, pg_catalog.text[], pg_catalog.float8, pg_catalog.float8, pg_catalog.int4, pg_catalog.int8, pg_catalog.text[], pg_catalog.int4, pg_catalog.text) IS
    'build the filters of a table in a column of another, and keep them in step from now on';

CREATE FUNCTION cf_detach(relation pg_catalog.regclass, filter pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.void
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION cf_detach(pg_catalog.regclass, pg_catalog.text) IS
    'leave the filters of a column, or of all that follow a table, as they are, no longer in step';

CREATE FUNCTION cf_rebuild(target pg_catalog.regclass, filter pg_catalog.text,
	capacity pg_catalog.float8 DEFAULT NULL, fpr pg_catalog.float8 DEFAULT NULL,
	max_copies pg_catalog.int4 DEFAULT NULL, seed pg_catalog.int8 DEFAULT NULL,
	shards pg_catalog.int4 DEFAULT NULL) RETURNS pg_catalog.int8
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp SET row_security = off SET jit = off SET enable_hashagg = off;
COMMENT ON FUNCTION cf_rebuild(pg_catalog.regclass, pg_catalog.text, pg_catalog.float8,
    pg_catalog.float8, pg_catalog.int4, pg_catalog.int8, pg_catalog.int4) IS
    'build the filters of an attached column anew, with other parameters if they are given';

CREATE FUNCTION cf_drift(target pg_catalog.regclass, filter pg_catalog.text,
	OUT key pg_catalog.text[], OUT source_rows pg_catalog.int8,
	OUT missing pg_catalog.int8, OUT entries pg_catalog.int8,
	OUT stale pg_catalog.int8, OUT stale_share pg_catalog.float8,
	OUT fpr pg_catalog.float8, OUT promised_fpr pg_catalog.float8,
	OUT bytes pg_catalog.int8, OUT rebuild_pays pg_catalog.bool) RETURNS SETOF pg_catalog.record
AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp SET row_security = off SET jit = off;
COMMENT ON FUNCTION cf_drift(pg_catalog.regclass, pg_catalog.text) IS
    'each filter of an attached column against its rows: missing values (always 0), stale '
    'entries, rates, whether a rebuild pays';

CREATE FUNCTION cf_attachment_list(
	OUT source pg_catalog.regclass, OUT columns pg_catalog.text[],
	OUT target pg_catalog.regclass, OUT filter pg_catalog.text,
	OUT key pg_catalog.text[], OUT target_key pg_catalog.text[],
	OUT capacity pg_catalog.float8, OUT fpr pg_catalog.float8,
	OUT max_copies pg_catalog.int4, OUT seed pg_catalog.int8,
	OUT shards pg_catalog.int4, OUT shard_column pg_catalog.text,
	OUT triggers_enabled pg_catalog.bool) RETURNS SETOF pg_catalog.record
AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL UNSAFE ROWS 10
SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION cf_attachment_list() IS 'what view cf_attachments shows';

CREATE VIEW cf_attachments AS
SELECT a.*, s.filters, s.bytes
FROM cf_attachment_list() AS a,
	LATERAL (SELECT pg_catalog.sum(GREATEST(c.reltuples, 0))::pg_catalog.int8 AS filters,
			pg_catalog.sum(pg_catalog.pg_total_relation_size(c.oid))::pg_catalog.int8 AS bytes
		FROM pg_catalog.pg_class AS c
		WHERE c.oid OPERATOR(pg_catalog.=) a.target
			OR c.oid IN (SELECT p.relid FROM pg_catalog.pg_partition_tree(a.target) AS p)) AS s;
COMMENT ON VIEW cf_attachments IS
    'what follows what: tables, columns, parameters, whether all triggers are enabled, estimated '
    'rows and size of the table of filters';
GRANT SELECT ON cf_attachments TO PUBLIC;

CREATE FUNCTION cf_filter_list(
	OUT relation pg_catalog.regclass, OUT attribute pg_catalog.text,
	OUT is_followed pg_catalog.bool, OUT filters pg_catalog.int8,
	OUT entries pg_catalog.int8, OUT capacity pg_catalog.int8,
	OUT fullest pg_catalog.float8, OUT fullest_key pg_catalog.text,
	OUT fpr pg_catalog.float8, OUT promised_fpr pg_catalog.float8,
	OUT bytes pg_catalog.int8, OUT over_capacity pg_catalog.int8,
	OUT rebuild_pays pg_catalog.bool) RETURNS SETOF pg_catalog.record
AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL UNSAFE ROWS 10
SET search_path = pg_catalog, pg_temp SET jit = off;
COMMENT ON FUNCTION cf_filter_list() IS 'what view cf_filters shows';

CREATE VIEW cf_filters AS SELECT * FROM cf_filter_list();
COMMENT ON VIEW cf_filters IS
    'every column of filters that may be read: entries, capacity, fullest filter and its key, '
    'highest rates, bytes, filters over capacity, whether building them anew pays';
GRANT SELECT ON cf_filters TO PUBLIC;
