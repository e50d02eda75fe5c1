#!/usr/bin/env bash
#
# demo.sh
#		The extension at work on real input: the words of several languages.
#
# Builds the extension, installs it into a private copy of the server, starts
# a throwaway server that listens on a socket in a temporary folder only, and
# shows what filters are good for, with the SQL of each step.  Every statement
# it makes about them is checked; the script fails when one turns out wrong.
# Leaves nothing behind but installed packages and one filter, for the page of
# clients/js/demo; with --keep also the server, and says how to remove it.
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
KEEP=no					# leave the server running?

usage()
{
	cat <<TXT
Usage: test/demo.sh [--keep] [--help]

Shows the extension at work on word lists of several languages, in a throwaway
server of its own, with the SQL of each step.  Once the packages are there, it
takes about a minute and 900 MB of disk.

  --keep   leaves the server running with all tables, and says how to open psql
           in it and how to remove it
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

# sql STATEMENT
#		Show a statement as it can be pasted into psql, run it, show its result.
sql()
{
	printf '%s;\n' "$1" | sed -e 's/^	*/    /'
	table "$1"
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
	SRV_MAKE=(with_llvm=no)
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

# part_of LANGUAGE
#		1 if all of its words are taken, 4 for every fourth of a list of millions.
part_of()
{
	if (($(wc -l <"${FILE_OF[$1]}") > 2000000)); then
		printf 4
	else
		printf 1
	fi
}

load_words()
{
	local language list=$SRV_WORK/list

	say ""
	say "1. Words of ${#LANGUAGES[@]} languages in a table, one partition each, with an index"
	sql "CREATE TABLE words (lang text, word text, PRIMARY KEY (word, lang)) PARTITION BY LIST (lang)"
	for language in "${LANGUAGES[@]}"; do
		as_utf8 "${FILE_OF[$language]}" | awk -v part="$(part_of "$language")" 'NR % part == 2 % part' |
			tr -d '\r' | sed -e '/^$/d' -e 's/\\/\\\\/g' | LC_ALL=C sort -u | sed "s/^/$language	/" >"$list"
		q -c "CREATE UNLOGGED TABLE words_$language (lang text NOT NULL, word text NOT NULL)" \
			-c "COPY words_$language FROM '$list'" \
			-c "ALTER TABLE words_$language ADD PRIMARY KEY (word, lang)" \
			-c "ALTER TABLE words ATTACH PARTITION words_$language FOR VALUES IN ('$language')"
	done
	rm -f "$list"
	q -c 'VACUUM ANALYZE words'
	table "SELECT lang, count(*) AS words FROM words GROUP BY lang ORDER BY words DESC"
	for language in "${LANGUAGES[@]}"; do
		[ "$(part_of "$language")" = 1 ] || step "of $language, whose list has millions, every fourth word"
	done
}

build_filters()
{
	local started ms nwords

	say ""
	say "2. One filter for each language"
	started=${EPOCHREALTIME/[.,]/}
	sql "CREATE TABLE languages AS
		SELECT lang, cf_agg(word) AS filter FROM words GROUP BY lang"
	ms=$(((${EPOCHREALTIME/[.,]/} - started) / 1000))
	nwords=$(q -c 'SELECT count(*) FROM words')
	step "took $ms ms for $(n "$nwords") words"
	fact "Each of them is found in the filter of its language: no filter ever misses a value it was given." \
		"(SELECT count(*) FROM languages JOIN (SELECT lang, array_agg(word) AS list FROM words GROUP BY lang) w USING (lang)
		  WHERE cf_contains_all(filter, list)) = ${#LANGUAGES[@]}"
}

show_sizes()
{
	local text bytes

	say ""
	say "3. What they cost: fpr is the share of absent words that a filter takes for present"
	sql "SELECT lang, entries, bytes, round(bits_per_value::numeric, 2) AS bits_per_value,
		    round(fpr::numeric, 5) AS fpr
		FROM languages, cf_info(filter) ORDER BY entries DESC"
	text=$(q -c 'SELECT sum(octet_length(word)) FROM words')
	bytes=$(q -c 'SELECT sum(bytes) FROM languages, cf_info(filter)')
	fact "$(kb "$bytes") of filters stand for $(kb "$text") of text: one byte in $(((text + bytes / 2) / bytes))." \
		"$text > 5 * $bytes"
	fact "No filter needs more than 9.6 bits per word, and none has a rate above the 1 % that is the default." \
		"bool_and(bits_per_value <= 9.6 AND fpr <= 0.01) FROM languages, cf_info(filter)"
}

ask_words()
{
	say ""
	say "4. Which languages may have a word?"
	sql "SELECT lang FROM languages WHERE filter @> 'zebra'"
	say "  The same for a few more, beside what the table says:"
	table "SELECT asked AS word, coalesce(string_agg(lang, ', ' ORDER BY lang), '(none)') AS \"the filters say\",
			coalesce(string_agg(lang, ', ' ORDER BY lang) FILTER (WHERE NOT really), '') AS \"of these wrong\"
		FROM unnest('{restaurant,kindergarten,siesta,problem,pizzeria,wahrscheinlich,brzmienie,qqkwzx}'::text[])
			WITH ORDINALITY AS a(asked, place)
		LEFT JOIN LATERAL (SELECT lang, EXISTS (SELECT FROM words w WHERE w.lang = l.lang AND w.word = asked) AS really
			FROM languages l WHERE filter @> asked) x ON true
		GROUP BY asked, place ORDER BY place"
}

# How often a filter is wrong, counted.
count_wrong()
{
	local language=${LANGUAGES[1]} absent wrong

	say ""
	say "5. How often is a \"yes\" wrong?  All words that are not $language, asked of its filter"
	sql "CREATE TABLE strangers AS SELECT word FROM words WHERE lang <> '$language'
		EXCEPT SELECT word FROM words WHERE lang = '$language'"
	sql "SELECT count(*) FROM strangers
		WHERE (SELECT filter FROM languages WHERE lang = '$language') @> word" |
		tee "$SRV_WORK/wrong"
	wrong=$(tail -n 1 "$SRV_WORK/wrong" | tr -d ' ')
	absent=$(q -c 'SELECT count(*) FROM strangers')
	# The rate is promised to be at most 1 %; with so many words asked, chance
	# alone moves the count by a few hundredths of that.
	fact "Of $(n "$absent") words $(n "$wrong"): $(q -c "SELECT round(100.0 * $wrong / $absent, 2)") %, and at most 1 % was promised." \
		"$absent > 500000 AND $wrong <= 0.01 * $absent"
}

join_thinned()
{
	local big=${LANGUAGES[0]} plain thinned plain_ms thinned_ms passed matched nseen

	say ""
	say "6. A join made cheap: words of texts in the other languages, joined with those of $big"
	sql "CREATE TABLE seen AS SELECT row_number() OVER () AS id, word FROM words
		WHERE lang <> '$big' LIMIT 1000000"
	q -c 'VACUUM ANALYZE seen'
	nseen=$(q -c 'SELECT count(*) FROM seen')
	plain="SELECT count(*), sum(s.id) FROM seen s JOIN words d ON d.word = s.word
		WHERE d.lang = '$big'"
	thinned="$plain AND (SELECT filter FROM languages WHERE lang = '$big') @> s.word"
	sql "$plain"
	sql "$thinned"
	matched=$(q -c "$plain")
	fact "Both find the same $(n "${matched%%|*}") rows." "'$matched' = (SELECT count || '|' || sum FROM ($thinned) x)"
	matched=${matched%%|*}
	passed=$(q -c "SELECT count(*) FROM seen s WHERE (SELECT filter FROM languages WHERE lang = '$big') @> s.word")
	fact "The filter lets $(n "$passed") of $(n "$nseen") rows through: the $(n "$matched") that match, and $(n $((passed - matched))) by mistake." \
		"$passed BETWEEN $matched AND $matched + 0.01 * ($nseen - $matched)"
	plain_ms=$(milliseconds "$plain")
	thinned_ms=$(milliseconds "$thinned")
	step "Best of three runs: plain $plain_ms ms, with the filter $thinned_ms ms, $(q -c "SELECT CASE WHEN $plain_ms >= $thinned_ms THEN round($plain_ms::numeric / $thinned_ms, 1) || ' times less' ELSE round($thinned_ms::numeric / $plain_ms, 1) || ' times MORE' END") time."
}

remove_words()
{
	local language=${LANGUAGES[1]} before still

	say ""
	say "7. Values can be removed again: 10,000 words leave the filter for $language"
	before=$(q -c "SELECT cf_count(filter) FROM languages WHERE lang = '$language'")
	sql "CREATE TABLE leaving AS SELECT word FROM words WHERE lang = '$language'
		ORDER BY hashtextextended(word, 1) LIMIT 10000"
	sql "UPDATE languages
		SET filter = cf_remove_all(filter, (SELECT array_agg(word) FROM leaving))
		WHERE lang = '$language'"
	q -c "CREATE UNLOGGED TABLE staying AS SELECT word FROM words_$language EXCEPT SELECT word FROM leaving"
	fact "The filter held $(n "$before") words and now holds $(n $((before - 10000)))." \
		"cf_count(filter) = $before - 10000 FROM languages WHERE lang = '$language'"
	fact "Every word that stayed is still found." \
		"cf_contains_all(filter, (SELECT array_agg(word) FROM staying)) FROM languages WHERE lang = '$language'"
	still=$(q -c "SELECT count(*) FROM leaving WHERE (SELECT filter FROM languages WHERE lang = '$language') @> word")
	fact "Of the 10,000 that left, $(n "$still") still look present by chance, as any absent word may." "$still < 200"
	q -c "UPDATE languages SET filter = cf_add_all(filter, (SELECT array_agg(word) FROM leaving)) WHERE lang = '$language'"
	fact "Added again (cf_add_all), all $(n "$before") are there." \
		"cf_count(filter) = $before AND cf_contains_all(filter, (SELECT array_agg(word) FROM words_$language)) FROM languages WHERE lang = '$language'"
}

follow_table()
{
	local language=${LANGUAGES[1]}

	say ""
	say "8. A filter that follows its table: triggers change it with each statement"
	sql "CREATE TABLE live AS SELECT word FROM words WHERE lang = '$language'"
	sql "CREATE TABLE live_filter (words cuckoofilter)"
	sql "SELECT cf_attach('live', '{word}', 'live_filter', 'words', '{}', 200000) AS filters"
	sql "INSERT INTO live VALUES ('frobnicate'), ('grok')"
	sql "SELECT words @> 'frobnicate' AS frobnicate, words @> 'grok' AS grok FROM live_filter"
	fact "Both are seen at once, and the filter counts every row of the table." \
		"cf_contains_all(words, '{frobnicate,grok}'::text[]) AND cf_count(words) = (SELECT count(*) FROM live) FROM live_filter"
	sql "DELETE FROM live WHERE word = 'grok'"
	fact "A word that is deleted leaves the filter, and no other does." \
		"cf_contains_all(words, (SELECT array_agg(word) FROM live)) AND cf_count(words, 'grok'::text) = 0
			AND cf_count(words) = (SELECT count(*) FROM live) FROM live_filter"
}

unite()
{
	local one=${LANGUAGES[1]} two=${LANGUAGES[4]:-${LANGUAGES[2]}}

	say ""
	say "9. Two filters made one, without their words; each has the capacity that the whole needs"
	sql "CREATE TABLE parts AS SELECT lang, cf_agg(word, 1000000) AS filter FROM words
		WHERE lang IN ('$one', '$two') GROUP BY lang"
	sql "CREATE TABLE united AS SELECT cf_union(a.filter, b.filter) AS filter
		FROM parts a, parts b WHERE a.lang = '$one' AND b.lang = '$two'"
	fact "Every word of $one and of $two is found in it." \
		"cf_contains_all(filter, (SELECT array_agg(word) FROM words WHERE lang IN ('$one', '$two'))) FROM united"
}

dump_and_restore()
{
	local dump=$SRV_WORK/dump.sql

	say ""
	say "10. Dump and restore"
	step "pg_dump -t languages demo >dump.sql; psql -f dump.sql demo"
	srv_as pg_dump -h "$SRV_WORK/run" -t languages -f "$dump" demo </dev/null
	q -c 'CREATE SCHEMA before' -c 'ALTER TABLE languages SET SCHEMA before'
	q -f "$dump" >/dev/null
	rm -f "$dump"
	fact "All ${#LANGUAGES[@]} filters came back equal to the byte, and sound (cf_check finds nothing to say)." \
		"(SELECT count(*) = ${#LANGUAGES[@]} AND bool_and(a.filter = b.filter)
		  FROM before.languages a JOIN public.languages b USING (lang))
		 AND NOT EXISTS (SELECT FROM public.languages, cf_check(filter))"
	q -c 'DROP SCHEMA before CASCADE' 2>/dev/null
}

# A filter in a file, asked by the library in C and by the page.
leave_server()
{
	local language=${LANGUAGES[1]} log=$SRV_WORK/client.log wrong asked

	say ""
	say "11. Out of the server: a program answers from a file, with no server"
	q -c "SELECT filter FROM languages WHERE lang = '$language'" >"$SRV_WORK/words.cf"
	step "psql -Atc \"SELECT filter FROM languages WHERE lang = '$language'\" demo >words.cf"
	step "make -C clients/c; clients/c/build/example zebra qqkwzx <words.cf"
	logged "$log" srv_as make -s -C src/clients/c -j2 CFLAGS=-O1 "$SRV_WORK/src/clients/c/build/example" ||
		{ show "$log"; die "the library in C does not build"; }
	srv_as src/clients/c/build/example zebra qqkwzx <"$SRV_WORK/words.cf" | sed 's/^/    /'
	# a thousand words that the filter has, a thousand that it has not been given
	q -c "CREATE TABLE asked AS
		(SELECT word FROM words WHERE lang = '$language' ORDER BY hashtextextended(word, 2) LIMIT 1000)
		UNION ALL (SELECT word FROM strangers ORDER BY hashtextextended(word, 2), word LIMIT 1000)"
	q -c 'SELECT word FROM asked' >"$SRV_WORK/asked"
	q -c "SELECT word || CASE WHEN filter @> word THEN ': may be there' ELSE ': is not there' END
		FROM asked, languages WHERE lang = '$language'" >"$SRV_WORK/server"
	mapfile -t asked <"$SRV_WORK/asked"
	srv_as src/clients/c/build/example "${asked[@]}" <"$SRV_WORK/words.cf" >"$SRV_WORK/program"
	wrong=$(($(grep -c ': may be there$' "$SRV_WORK/server") - 1000))
	if ((${#asked[@]} != 2000 || wrong < 0 || wrong > 30)) ||
		! cmp -s "$SRV_WORK/server" "$SRV_WORK/program"; then
		die "program and server answer differently"
	fi
	NFACTS=$((NFACTS + 1))
	step "Asked for 1,000 words of $language and 1,000 others, it answers as the server does: 1,000 yes,"
	step "$(n $((1000 - wrong))) no, $wrong wrong yes."
	page_put <"$SRV_WORK/words.cf"
}

# keep_server
#		Leave the server as it is, and say how to open and how to remove it.
keep_server()
{
	local kept=() dir sudo='' as=''

	for dir in "${CLEAN_DIRS[@]}"; do
		[ "$dir" = "$SRV_WORK" ] || kept+=("$dir")
	done
	CLEAN_DIRS=(${kept[@]+"${kept[@]}"})
	if is_root; then
		sudo=${SUDO_USER:+sudo }
		as="${sudo}runuser -u postgres -- "
	fi
	say ""
	say "The server still runs.  To open psql in it:"
	say "  ${sudo}psql -h $SRV_WORK/run -p 5432 -U postgres demo"
	say "To stop and remove it:"
	say "  $as$SRV_BIN/pg_ctl -D $SRV_WORK/data stop && ${sudo}rm -rf $SRV_WORK"
}

main()
{
	while (($#)); do
		case $1 in
			--keep) KEEP=yes ;;
			-h|--help) usage; exit 0 ;;
			*) usage >&2; exit 2 ;;
		esac
		shift
	done
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
	follow_table
	unite
	dump_and_restore
	leave_server
	say ""
	say "What next:"
	step "a filter on a table of your own     README.md, \"Install\" and \"Five minutes\""
	step "parameters, and where filters pay   docs/tuning.md"
	step "filters that follow a table         docs/upkeep.md"
	step "programs without a server           docs/clients.md, clients/js/demo"
	say_cluster "$SRV_MAJOR"
	if [ "$KEEP" = yes ]; then
		keep_server
	else
		drop_temp "$SRV_WORK"
	fi
	say ""
	say "Demo finished: $NFACTS statements checked, all true ($SECONDS s)."
}

main "$@"
