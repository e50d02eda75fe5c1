--
-- catalog: how the objects of the extension are marked.  Whoever adds one has
-- to think of this, and adds a line here only with a reason.
--
SET client_min_messages = warning;
CREATE SCHEMA catalog;
SET search_path = catalog, public;

CREATE VIEW members AS SELECT d.classid, d.objid FROM pg_depend d
	WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'cuckoo_filter');
CREATE VIEW functions AS SELECT p.*, p.oid::regprocedure::text AS name FROM members m, pg_proc p WHERE m.classid = 'pg_proc'::regclass AND m.objid = p.oid;
SELECT count(*) > 60 AS many FROM functions;

-- the same for the same arguments, in any process of a parallel query.  The
-- estimators look into statistics; what follows a table reads it and changes
-- another
SELECT name, provolatile, proparallel FROM functions WHERE provolatile <> 'i' OR proparallel <> 's' ORDER BY name COLLATE "C";
-- those that are called with NULL: it is a default, changes nothing, or is an
-- error since a value would be lost; or they belong to an aggregate
SELECT name FROM functions WHERE NOT proisstrict AND prokind = 'f' ORDER BY name COLLATE "C";
-- an error message can show the arguments, and so can the time a probe takes:
-- none is leakproof.  None is declared to run with the rights of another user;
-- those that make SQL of their own have settings for it.  All may be called by
-- anybody, and are written in C
SELECT name, proleakproof, prosecdef, proconfig, proacl, lanname FROM functions, pg_language l
	WHERE l.oid = prolang AND (proleakproof OR prosecdef OR proconfig IS NOT NULL OR proacl IS NOT NULL OR (prokind = 'f') <> (lanname = 'c')) ORDER BY name COLLATE "C";
-- whatever takes or gives internal cannot be called from SQL, and an aggregate
-- of it takes a superuser to make
SELECT name FROM functions WHERE prokind = 'f' AND ('internal'::regtype = ANY (proargtypes) OR prorettype = 'internal'::regtype) ORDER BY name COLLATE "C";
CREATE ROLE regress_cuckoo_catalog;
GRANT USAGE, CREATE ON SCHEMA catalog TO regress_cuckoo_catalog;
SET ROLE regress_cuckoo_catalog;
CREATE AGGREGATE hostile(int) (SFUNC = cf_agg_transition, STYPE = internal, FINALFUNC = cf_agg_final);
SELECT cf_agg(i) @> 5 AS built, cf_union(cf_add(cf_new(10), 1), cf_new(10)) @> 1 AS merged FROM generate_series(1, 10) i;
RESET ROLE;
SELECT cf_union_agg_transition(cf_new(10), cf_new(10));
SELECT cf_union_all_agg_transition(NULL, cf_new(10));

-- every aggregate can be combined, spread over workers, and repeated in a window
SELECT a.aggfnoid::regprocedure, aggcombinefn::regproc, aggserialfn::regproc, aggdeserialfn::regproc, aggfinalmodify, aggtranstype::regtype
	FROM pg_aggregate a, functions f WHERE f.oid = a.aggfnoid ORDER BY f.name COLLATE "C";

-- no member without a comment; none that is not in the extension's own schema
SELECT m.classid::regclass, pg_describe_object(m.classid, m.objid, 0) FROM members m
	WHERE m.classid IN ('pg_proc'::regclass, 'pg_type'::regclass, 'pg_operator'::regclass, 'pg_class'::regclass)
	AND NOT EXISTS (SELECT FROM pg_type t WHERE m.classid = 'pg_type'::regclass AND t.oid = m.objid AND (t.typcategory = 'A' OR t.typrelid <> 0))
	AND obj_description(m.objid, (m.classid::regclass)::name) IS NULL ORDER BY pg_describe_object(m.classid, m.objid, 0) COLLATE "C";
SELECT pg_describe_object(m.classid, m.objid, 0) AS elsewhere FROM members m, pg_identify_object(m.classid, m.objid, 0) i
	WHERE i.schema <> 'public' ORDER BY pg_describe_object(m.classid, m.objid, 0) COLLATE "C";
-- arguments and results are what pg_catalog or the extension defines
SELECT DISTINCT n.nspname FROM functions, unnest(proargtypes::oid[] || prorettype) a(type), pg_type t, pg_namespace n
	WHERE t.oid = a.type AND n.oid = t.typnamespace ORDER BY 1;

-- the type: by reference, of any length, kept out of line and uncompressed
SELECT typlen, typbyval, typalign, typstorage, typmodin = 0 AS no_typmod, typcollation, typcategory, typispreferred, typdelim FROM pg_type WHERE oid = 'cuckoofilter'::regtype;
-- no cast that happens by itself
SELECT castsource::regtype, casttarget::regtype, castcontext, castmethod FROM pg_cast
	WHERE 'cuckoofilter'::regtype IN (castsource, casttarget) ORDER BY castsource::regtype::text COLLATE "C";
-- the operators that the planner may turn around have their counterparts, and
-- the probes their estimators
SELECT o.oid::regoperator, oprcom::regoperator, oprnegate::regoperator, oprrest, oprjoin, oprcanmerge, oprcanhash
	FROM members m, pg_operator o WHERE m.classid = 'pg_operator'::regclass AND o.oid = m.objid ORDER BY o.oid::regoperator::text COLLATE "C";

DROP SCHEMA catalog CASCADE;
DROP ROLE regress_cuckoo_catalog;
