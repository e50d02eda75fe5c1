#!/usr/bin/env bash
#
# demo.sh
#		The extension at work on real input: the words of several languages.
#
# Builds the extension, installs it into a private copy of the server, starts
# a throwaway server that listens on a socket in a temporary folder only, and
# shows what filters are good for.  Every statement it prints is checked; the
# script fails when one turns out wrong.  Leaves nothing behind but installed
# packages and one filter, for the page of clients/js/demo.
set -euo pipefail

REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=test/lib/common.sh
. "$REPO/test/lib/common.sh"
# shellcheck source=test/lib/packages.sh
. "$REPO/test/lib/packages.sh"
# shellcheck source=test/lib/server.sh
. "$REPO/test/lib/server.sh"
# shellcheck source=test/lib/page.sh
. "$REPO/test/lib/page.sh"

# Debian's word lists and their languages; the largest one first.
PACKAGES=(wpolish wamerican wfrench wngerman wspanish witalian wportuguese wdutch wswedish)
declare -A LANGUAGE_OF=([wpolish]=Polish [wamerican]=English [wfrench]=French
	[wngerman]=German [wspanish]=Spanish [witalian]=Italian
	[wportuguese]=Portuguese [wdutch]=Dutch [wswedish]=Swedish)
LANGUAGES=()			# languages whose list is here
declare -A FILE_OF=()	# their lists
NFACTS=0				# statements checked

usage()
{
	cat <<TXT
Usage: test/demo.sh [--help]

Shows the extension at work on word lists of several languages, in a throwaway
server of its own.  Takes about a minute once the packages are there.
TXT
}

# q ARG...
#		psql on the demo's server: bare values, or as the arguments say.
q()
{
	srv_as psql -XqAt -v ON_ERROR_STOP=1 -h "$SRV_WORK/run" -d demo "$@" </dev/null
}

# table QUERY
#		Show the result of a query as a table.
table()
{
	q -P format=aligned -P tuples_only=off -P footer=off -c "$1" | sed -e '/^$/d' -e 's/^/    /'
}

# fact SENTENCE CONDITION
#		Say something that is true, or fail.
fact()
{
	local answer

	answer=$(q -c "SELECT $2")
	[ "$answer" = t ] || die "this is not true: $1 (the server says \"$answer\" to: $2)"
	NFACTS=$((NFACTS + 1))
	step "$1"
}

# n NUMBER
#		A number with separators.
n()
{
	printf '%s' "$1" | sed -e ':a' -e 's/^\([0-9]\{1,\}\)\([0-9]\{3\}\)/\1,\2/' -e ta
}

# kb BYTES
#		Bytes as a size.
kb()
{
	if (($1 < 10000000)); then
		printf '%s kB' "$(n $((($1 + 500) / 1000)))"
	else
		printf '%s MB' "$((($1 + 500000) / 1000000))"
	fi
}

# milliseconds QUERY
#		Best time of three runs, in whole milliseconds.
milliseconds()
{
	local best='' run time

	for run in 1 2 3; do
		time=$(q -c '\timing on' -c "$1" | sed -n 's/^Time: \([0-9]*\).*/\1/p' | tail -n 1)
		[ -n "$time" ] || die "run $run was not timed: $1"
		if [ -z "$best" ] || ((time < best)); then
			best=$time
		fi
	done
	printf '%s' "$((best > 0 ? best : 1))"
}

prepare()
{
	local major package language missing=()

	say "Preparing"
	find_major major
	need_server "$major" || die "the packages of PostgreSQL could not be installed"
	# What the distribution lacks is left out, as long as enough is there.
	if ! need_packages "${PACKAGES[@]}"; then
		for package in "${PACKAGES[@]}"; do
			need_packages "$package" || missing+=("$package")
		done
		skip "no word lists: ${missing[*]}"
	fi
	for package in "${PACKAGES[@]}"; do
		if have_package "$package"; then
			language=${LANGUAGE_OF[$package]}
			LANGUAGES+=("$language")
			FILE_OF[$language]=$(word_file "$package")
		fi
	done
	((${#LANGUAGES[@]} >= 4)) || die "the demo needs at least four word lists"

	srv_copy "$major"
	srv_build || die "the extension does not build"
	start_server
}

start_server()
{
	srv_start || die "the server does not start"
	srv_as createdb -h "$SRV_WORK/run" -U postgres demo
	srv_as createuser -h "$SRV_WORK/run" -U postgres -s "$(srv_as id -un)" 2>/dev/null || true
	q -c 'CREATE EXTENSION cuckoo_filter'
}

# word_file PACKAGE
#		The list of words that a package has brought.
word_file()
{
	local file

	while IFS= read -r file; do
		if [ -f "$file" ] && [ ! -L "$file" ]; then
			case $file in
				/usr/share/dict/README*) ;;
				/usr/share/dict/*) printf '%s' "$file"; return ;;
			esac
		fi
	done < <(dpkg -L "$1")
	die "the package $1 has no word list"
}

# as_utf8 FILE
#		A word list in UTF-8; the older ones are in Latin 1.
as_utf8()
{
	if iconv -f UTF-8 -t UTF-8 "$1" >/dev/null 2>&1; then
		cat "$1"
	else
		iconv -f ISO-8859-1 -t UTF-8 "$1"
	fi
}

load_words()
{
	local language list=$SRV_WORK/list

	say ""
	say "Loading the words of ${#LANGUAGES[@]} languages into a table, one partition each, with an index"
	q -c 'CREATE TABLE words (lang text, word text) PARTITION BY LIST (lang)'
	for language in "${LANGUAGES[@]}"; do
		as_utf8 "${FILE_OF[$language]}" | tr -d '\r' | sed -e '/^$/d' -e 's/\\/\\\\/g' |
			LC_ALL=C sort -u | sed "s/^/$language	/" >"$list"
		q -c "CREATE UNLOGGED TABLE words_$language PARTITION OF words FOR VALUES IN ('$language')" \
			-c "COPY words_$language FROM '$list'" \
			-c "ALTER TABLE words_$language ADD PRIMARY KEY (word, lang)"
		step "$language: $(n "$(q -c "SELECT count(*) FROM words_$language")") words"
	done
	rm -f "$list"
	q -c 'ANALYZE words'
}

build_filters()
{
	local language started ms nwords

	say ""
	say "Building one filter per language with cf_agg(word), stored in the table \"languages\""
	q -c 'CREATE TABLE languages (lang text PRIMARY KEY, filter cuckoofilter)'
	for language in "${LANGUAGES[@]}"; do
		started=${EPOCHREALTIME/[.,]/}
		q -c "INSERT INTO languages SELECT '$language', cf_agg(word) FROM words_$language"
		ms=$(((${EPOCHREALTIME/[.,]/} - started) / 1000))
		step "$language: $ms ms"
	done
	nwords=$(q -c 'SELECT count(*) FROM words')
	fact "Each of the $(n "$nwords") words is found in the filter of its language: no filter ever misses a value it was given." \
		"(SELECT count(*) FROM languages JOIN (SELECT lang, array_agg(word) AS list FROM words GROUP BY lang) w USING (lang)
		  WHERE cf_contains_all(filter, list)) = ${#LANGUAGES[@]}"
}

show_sizes()
{
	local text bytes

	say ""
	say "What the filters cost: rate is the share of absent words that a filter takes for present"
	q -c "CREATE VIEW sizes AS
		SELECT lang, w.nwords, w.text_bytes, i.bytes, i.bits_per_value, i.fpr, i.entries
		FROM languages CROSS JOIN LATERAL cf_info(filter) AS i
			JOIN (SELECT lang, count(*) AS nwords, sum(octet_length(word)) AS text_bytes
				  FROM words GROUP BY lang) w USING (lang)"
	table "SELECT lang AS language, to_char(nwords, '9,999,999') AS words,
			to_char(text_bytes / 1000, '99,999') || ' kB' AS \"their text\",
			to_char(bytes / 1000, '99,999') || ' kB' AS \"the filter\",
			round(bits_per_value::numeric, 2) AS \"bits per word\",
			round(100 * fpr::numeric, 2) || ' %' AS rate
		FROM sizes ORDER BY nwords DESC"
	text=$(q -c 'SELECT sum(text_bytes) FROM sizes')
	bytes=$(q -c 'SELECT sum(bytes) FROM sizes')
	fact "$(kb "$bytes") of filters stand for $(kb "$text") of text: one byte in $(((text + bytes / 2) / bytes))." \
		"$text > 5 * $bytes"
	fact "No filter needs more than 9.6 bits per word, and none has a rate above the 1 % asked for." \
		"bool_and(bits_per_value <= 9.6 AND fpr <= 0.01 AND entries <= nwords) FROM sizes"
}

ask_words()
{
	say ""
	say "Which languages may have this word?  SELECT lang FROM languages WHERE filter @> 'word'"
	table "SELECT asked AS word, coalesce(string_agg(lang, ', ' ORDER BY lang), '(none)') AS \"the filters say\",
			coalesce(string_agg(lang, ', ' ORDER BY lang) FILTER (WHERE NOT really), '') AS \"of these wrong\"
		FROM unnest('{restaurant,zebra,kindergarten,siesta,problem,pizzeria,wahrscheinlich,brzmienie,qqkwzx}'::text[])
			WITH ORDINALITY AS a(asked, place)
		LEFT JOIN LATERAL (SELECT lang, EXISTS (SELECT FROM words w WHERE w.lang = l.lang AND w.word = asked) AS really
			FROM languages l WHERE filter @> asked) x ON true
		GROUP BY asked, place ORDER BY place"
	step "A \"no\" is always right.  A \"yes\" is wrong for about one absent word in $(q -c 'SELECT round(1 / max(cf_fpr(filter))) FROM languages'): that is the"
	step "price of keeping a few bits and not the words.  Ask for a smaller rate and pay more bits."
}

# How often a filter is wrong, counted.
count_wrong()
{
	local language=${LANGUAGES[1]} absent wrong

	say ""
	say "How often is a \"yes\" wrong?  All words of the other languages, asked of the filter for $language"
	q -c "CREATE UNLOGGED TABLE strangers AS
		SELECT word FROM words WHERE lang <> '$language'
		EXCEPT SELECT word FROM words_$language"
	absent=$(q -c 'SELECT count(*) FROM strangers')
	wrong=$(q -c "SELECT count(*) FROM strangers
		WHERE (SELECT filter FROM languages WHERE lang = '$language') @> word")
	# The rate is promised to be at most 1 %; with so many words asked, chance
	# alone moves the count by a few hundredths of that.
	fact "Of $(n "$absent") words that are not $language the filter takes $(n "$wrong") for $language: $(q -c "SELECT round(100.0 * $wrong / $absent, 2)") %, and at most 1 % was promised." \
		"$absent > 500000 AND $wrong <= 0.01 * $absent"
	step "Among the longest of these: $(q -c "SELECT string_agg(format('\"%s\"', word), ', ') FROM (
		SELECT word FROM strangers WHERE (SELECT filter FROM languages WHERE lang = '$language') @> word
		ORDER BY length(word) DESC, word LIMIT 3) s")."
	q -c 'DROP TABLE strangers'
}

join_thinned()
{
	local big=${LANGUAGES[0]} nbig plain thinned plain_ms thinned_ms passed matched

	nbig=$(q -c "SELECT count(*) FROM words_$big")
	say ""
	say "A join made cheap: a million words from texts in the other languages, joined with the"
	say "$(n "$nbig") words of $big, to find those that both have"
	q -c "CREATE UNLOGGED TABLE seen AS
		SELECT row_number() OVER () AS id, word
		FROM (SELECT word FROM words, generate_series(1, 5) AS g
			  WHERE lang <> '$big'
			  ORDER BY g, hashtextextended(word || lang, 0) LIMIT 1000000) s" \
		-c 'VACUUM ANALYZE seen'
	plain="SELECT count(*), sum(s.id) FROM seen s JOIN words d ON d.word = s.word WHERE d.lang = '$big'"
	thinned="$plain AND (SELECT filter FROM languages WHERE lang = '$big') @> s.word"
	step "the plain join:   $plain"
	step "the thinned one:  ... AND (SELECT filter FROM languages WHERE lang = '$big') @> s.word"
	matched=$(q -c "$plain")
	fact "Both find the same $(n "${matched%%|*}") rows." "'$matched' = (SELECT count || '|' || sum FROM ($thinned) x)"
	matched=${matched%%|*}
	passed=$(q -c "SELECT count(*) FROM seen s WHERE (SELECT filter FROM languages WHERE lang = '$big') @> s.word")
	fact "The filter lets $(n "$passed") of 1,000,000 rows through: the $(n "$matched") that match, and $(n $((passed - matched))) by mistake." \
		"(SELECT count(*) FROM seen) = 1000000 AND $passed BETWEEN $matched AND $matched + 0.01 * (1000000 - $matched)"
	plain_ms=$(milliseconds "$plain")
	thinned_ms=$(milliseconds "$thinned")
	step "Best of three runs with the server's default settings: plain $plain_ms ms, thinned $thinned_ms ms:"
	step "the filter makes it take $(q -c "SELECT CASE WHEN $plain_ms >= $thinned_ms THEN round($plain_ms::numeric / $thinned_ms, 1) || ' times less' ELSE round($thinned_ms::numeric / $plain_ms, 1) || ' times MORE' END") time."
}

remove_words()
{
	local language=${LANGUAGES[1]} before still

	say ""
	say "Values can be removed again: 10,000 words leave the filter for $language"
	before=$(q -c "SELECT cf_count(filter) FROM languages WHERE lang = '$language'")
	q -c "CREATE UNLOGGED TABLE leaving AS SELECT word FROM words_$language ORDER BY hashtextextended(word, 1) LIMIT 10000" \
		-c "CREATE UNLOGGED TABLE staying AS SELECT word FROM words_$language EXCEPT SELECT word FROM leaving" \
		-c "UPDATE languages SET filter = cf_remove_all(filter, (SELECT array_agg(word) FROM leaving)) WHERE lang = '$language'"
	fact "The filter held $(n "$before") words and now holds $(n $((before - 10000)))." \
		"cf_count(filter) = $before - 10000 FROM languages WHERE lang = '$language'"
	fact "Every word that stayed is still found." \
		"cf_contains_all(filter, (SELECT array_agg(word) FROM staying)) FROM languages WHERE lang = '$language'"
	still=$(q -c "SELECT count(*) FROM leaving WHERE (SELECT filter FROM languages WHERE lang = '$language') @> word")
	fact "Of the 10,000 that left, $(n "$still") still look present by chance, as any absent word may." "$still < 200"
	q -c "UPDATE languages SET filter = cf_add_all(filter, (SELECT array_agg(word) FROM leaving)) WHERE lang = '$language'"
	fact "Added again, all $(n "$before") are there." \
		"cf_count(filter) = $before AND cf_contains_all(filter, (SELECT array_agg(word) FROM words_$language)) FROM languages WHERE lang = '$language'"
	q -c 'DROP TABLE leaving, staying'
}

dump_and_restore()
{
	local dump=$SRV_WORK/dump.sql

	say ""
	say "Dump and restore: the table of filters goes through pg_dump and comes back"
	srv_as pg_dump -h "$SRV_WORK/run" -t languages -f "$dump" demo </dev/null
	step "the dump has $(kb "$(stat -c %s "$dump")")"
	q -c 'CREATE SCHEMA before' -c 'ALTER TABLE languages SET SCHEMA before'
	q -f "$dump" >/dev/null
	fact "All ${#LANGUAGES[@]} filters came back equal to the byte (before.filter = after.filter)." \
		"count(*) = ${#LANGUAGES[@]} AND bool_and(a.filter = b.filter)
		 FROM before.languages a JOIN public.languages b USING (lang)"
	fact "The restored filters are sound (cf_check finds nothing to say)." \
		"NOT EXISTS (SELECT FROM public.languages, cf_check(filter))"
}

# A filter for the page that asks it without a server.
give_page()
{
	local language=${LANGUAGES[1]}

	say ""
	say "Out of the server: a browser answers from the filter for $language while one types"
	q -c "SELECT filter::text FROM languages WHERE lang = '$language'" | page_put
}

main()
{
	case ${1:-} in
		'') ;;
		-h|--help) usage; exit 0 ;;
		*) usage >&2; exit 2 ;;
	esac
	arm_cleanup
	cd /
	prepare
	load_words
	build_filters
	show_sizes
	ask_words
	count_wrong
	join_thinned
	remove_words
	dump_and_restore
	give_page
	srv_as pg_ctl -s -m fast -D data stop
	say ""
	say "The packages of PostgreSQL $SRV_MAJOR are installed now, a server for you is not.  To make one:"
	say "  pg_createcluster $SRV_MAJOR main --start    (pg_ctlcluster $SRV_MAJOR main start starts one that is down)"
	say ""
	say "Demo finished: $NFACTS statements checked, all true ($SECONDS s)."
}

main "$@"
