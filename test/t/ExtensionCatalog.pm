# What an extension is in the system catalogs, as lines of text that two
# installations of it have in common, whatever the OIDs.

package ExtensionCatalog;

use strict;
use warnings;

use Test::More;

use Exporter 'import';
our @EXPORT = qw(catalog_of same_catalog);

# The functions are made in pg_temp, so nothing of them stays.
#
# catalog_row: one row of a catalog.  A column that refers to another catalog is
# shown as what it refers to; which these are, the server knows itself.
my $functions = q{
	SET search_path = pg_catalog;
	CREATE FUNCTION pg_temp.object_names(class regclass, oids text) RETURNS text
	LANGUAGE sql AS $$
		SELECT string_agg(coalesce(pg_describe_object(class, o[1]::oid, 0), o[1]), ', ' ORDER BY n)
		FROM regexp_matches(oids, '[0-9]+', 'g') WITH ORDINALITY AS m (o, n)
	$$;
	CREATE FUNCTION pg_temp.catalog_rows(class regclass, key name, object oid) RETURNS SETOF text
	LANGUAGE plpgsql AS $$
	DECLARE
		expressions text;
	BEGIN
		SELECT string_agg(format(CASE
					WHEN a.attname IN ('oid', key) THEN '%L'
					WHEN f.pktable IS NOT NULL THEN '%L || pg_temp.object_names(%L, c.%I::oid::text)'
					WHEN v.pktable IS NOT NULL THEN '%L || pg_temp.object_names(%4$L, c.%3$I::text)'
					WHEN class = 'pg_rewrite'::regclass AND a.atttypid = 'pg_node_tree'::regtype THEN '%L || pg_get_ruledef(c.oid)'
					WHEN a.atttypid = 'pg_node_tree'::regtype THEN '%L || coalesce(pg_get_expr(c.%3$I, 0), ''-'')'
					ELSE '%L || coalesce(c.%3$I::text, ''-'')' END,
				a.attname || ': ', f.pktable, a.attname, v.pktable), ', ' ORDER BY a.attname)
		INTO expressions
		FROM pg_attribute a
			LEFT JOIN pg_get_catalog_foreign_keys() f
				ON f.fktable = class AND f.fkcols = ARRAY[a.attname::text] AND NOT f.is_array
			LEFT JOIN pg_get_catalog_foreign_keys() v
				ON v.fktable = class AND v.fkcols = ARRAY[a.attname::text] AND v.is_array
		WHERE a.attrelid = class AND a.attnum > 0;
		RETURN QUERY EXECUTE format('SELECT concat_ws(%L, %s) FROM %s c WHERE %I = $1', '; ', expressions, class, key)
			USING object;
	END
	$$;
	CREATE FUNCTION pg_temp.extension_catalog(extension name) RETURNS SETOF text
	LANGUAGE sql AS $$
		WITH RECURSIVE member (classid, objid) AS (
			SELECT classid, objid FROM pg_depend
			WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
				AND refobjid = (SELECT oid FROM pg_extension WHERE extname = extension)
			UNION
			SELECT d.classid, d.objid FROM pg_depend d
				JOIN member m ON d.refclassid = m.classid AND d.refobjid = m.objid
			WHERE d.deptype IN ('i', 'a')
		), line AS (
			SELECT classid, objid, classid::regclass::text AS catalog, row
			FROM member, pg_temp.catalog_rows(classid, 'oid', objid) AS row
			UNION ALL
			SELECT m.classid, m.objid, s.catalog, row
			FROM member m
				JOIN (VALUES ('pg_proc', 'pg_aggregate', 'aggfnoid'), ('pg_type', 'pg_enum', 'enumtypid'),
						('pg_type', 'pg_range', 'rngtypid'), ('pg_class', 'pg_attribute', 'attrelid'),
						('pg_class', 'pg_index', 'indexrelid')) s (class, catalog, key)
					ON m.classid = s.class::regclass,
				pg_temp.catalog_rows(s.catalog, s.key, m.objid) AS row
			UNION ALL
			SELECT classid, objid, 'comment', obj_description(objid, classid::regclass::text::name)
			FROM member
			UNION ALL
			SELECT classid, objid, 'dependency', d.deptype::text || ' on ' || pg_describe_object(d.refclassid, d.refobjid, d.refobjsubid)
			FROM member JOIN pg_depend d USING (classid, objid)
			UNION ALL
			SELECT classid, objid, 'initial privileges', p.privtype::text || p.initprivs::text
			FROM member JOIN pg_init_privs p ON p.classoid = classid AND p.objoid = objid
		)
		SELECT concat_ws(' | ', pg_describe_object(classid, objid, 0), catalog, row) FROM line
		UNION ALL
		SELECT 'extension | ' || row FROM pg_extension e, pg_temp.catalog_rows('pg_extension', 'oid', e.oid) AS row
		WHERE extname = extension
	$$;
};

# catalog_of(node, database, extension)
#		All of it, one line for each row of a catalog.  Some servers number the
#		columns of each view they make (pg_attver): the number says nothing.
sub catalog_of
{
	my ($node, $db, $extension) = @_;

	return $node->safe_psql($db,
		"$functions SELECT regexp_replace(replace(line, E'\\n', ' '), 'pg_attver=[0-9]+', 'pg_attver') FROM pg_temp.extension_catalog('$extension') AS line ORDER BY line COLLATE \"C\"");
}

# same_catalog(catalog, expected, label)
#		Are two catalogs the same?  One test, which shows the lines that are not.
sub same_catalog
{
	my ($catalog, $expected, $label) = @_;
	my %count;
	my @differences;

	$count{$_}++ for split /\n/, $catalog;
	$count{$_}-- for split /\n/, $expected;
	for my $line (sort grep { $count{$_} != 0 } keys %count)
	{
		push @differences, ($count{$line} > 0 ? '+ ' : '- ') . $line;
	}
	return is(join("\n", @differences), '', $label);
}

1;
