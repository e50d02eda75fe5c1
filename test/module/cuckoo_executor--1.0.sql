\echo Use "CREATE EXTENSION cuckoo_executor" to load this file. \quit

-- The part of an aggregate that one server computes, as that would send it.
CREATE FUNCTION part_transition(state internal, aggregate regprocedure, VARIADIC "any") RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C;
CREATE FUNCTION flat_part_transition(state internal, aggregate regprocedure, VARIADIC "any") RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C;
CREATE FUNCTION lent_part_transition(state internal, aggregate regprocedure, VARIADIC "any") RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C;
CREATE FUNCTION part_final(state internal) RETURNS text
AS 'MODULE_PATHNAME' LANGUAGE C;
CREATE AGGREGATE part_of(aggregate regprocedure, VARIADIC "any") (
	SFUNC = part_transition, STYPE = internal, FINALFUNC = part_final);
COMMENT ON AGGREGATE part_of(regprocedure, VARIADIC "any") IS 'state of the aggregate over the other arguments';
CREATE AGGREGATE flat_part_of(aggregate regprocedure, VARIADIC "any") (
	SFUNC = flat_part_transition, STYPE = internal, FINALFUNC = part_final);
COMMENT ON AGGREGATE flat_part_of(regprocedure, VARIADIC "any") IS 'the same by an executor that keeps states in their flat form';
CREATE AGGREGATE lent_part_of(aggregate regprocedure, VARIADIC "any") (
	SFUNC = lent_part_transition, STYPE = internal, FINALFUNC = part_final);
COMMENT ON AGGREGATE lent_part_of(regprocedure, VARIADIC "any") IS 'the same by an executor that lends functions the expression of its own call';

-- The whole, from parts.
CREATE FUNCTION whole_transition(state internal, aggregate regprocedure, part text) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C;
CREATE FUNCTION whole_final(state internal) RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C;
CREATE AGGREGATE whole_of(aggregate regprocedure, part text) (
	SFUNC = whole_transition, STYPE = internal, FINALFUNC = whole_final);
COMMENT ON AGGREGATE whole_of(regprocedure, text) IS 'result of the aggregate that the parts belong to';

-- Rows and parts that come to one state, in any order.
CREATE FUNCTION mixed_transition(state internal, aggregate regprocedure, part text, VARIADIC "any") RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C;
CREATE AGGREGATE mixed_of(aggregate regprocedure, part text, VARIADIC "any") (
	SFUNC = mixed_transition, STYPE = internal, FINALFUNC = whole_final);
COMMENT ON AGGREGATE mixed_of(regprocedure, text, VARIADIC "any") IS 'result of the aggregate over parts and rows';
