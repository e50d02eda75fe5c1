#!/usr/bin/env bash
#
# goals.sh
#		Every goal that is a number: the goal, what was reached, the command.
#
# Runs the benchmarks one after the other, keeps what each prints under
# build/goals, and writes the rows that have a goal into docs/benchmarks.md,
# between two marks there.
set -euo pipefail

REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=test/lib/common.sh
. "$REPO/test/lib/common.sh"

KEPT=$REPO/build/goals
DOCUMENT=$REPO/docs/benchmarks.md
QUICK=no
NAMES=(core run agg stored join inplace upkeep)
declare -A COMMAND=(
	[core]="make -C bench/core run ARGS='-t 5'"
	[run]="bench/run.sh"
	[agg]="bench/agg.sh --huge"
	[stored]="bench/stored.sh"
	[join]="bench/join.sh"
	[inplace]="bench/inplace.sh"
	[upkeep]="bench/upkeep.sh --rounds 3 --seconds 10"
)
# The same at small sizes.
declare -A QUICK_COMMAND=(
	[core]="make -C bench/core run ARGS='-t 5 -n 1e4 -r 0.01'"
	[run]="bench/run.sh --quick"
	[agg]="bench/agg.sh --quick"
	[stored]="bench/stored.sh --quick"
	[join]="bench/join.sh --small 1000 --big 100000 --rounds 1"
	[inplace]="bench/inplace.sh --adds 100000 --rounds 1"
	[upkeep]="bench/upkeep.sh --rounds 1 --batches 1 --seconds 1 --clients 2"
)

usage()
{
	cat <<TXT
Usage: bench/goals.sh [--old FILE] [--quick] [--table] [BENCHMARK...]

  --old FILE  cuckoo_filter.so of an earlier state, with which agg.sh and
              stored.sh compare
  --quick     small sizes, into build/goals-quick and not into the document: to
              see that all of it runs
  --table     run nothing: write the table from what was kept
  BENCHMARK   run only these: ${NAMES[*]}

All of them take an hour on a quiet machine.  The exit status is 0 whether goals
are reached or not; the table says which are.
TXT
}

# run_benchmark NAME
run_benchmark()
{
	local name=$1 log=$KEPT/$1.out

	say "${COMMAND[$name]}"
	TIME_LIMIT=3600
	logged "$log.new" env -C "$REPO" bash -c "${COMMAND[$name]}" || true
	if ! grep -q '^|' "$log.new"; then
		show "$log.new"
		die "\"${COMMAND[$name]}\" has printed no table"
	fi
	mv "$log.new" "$log"
}

# rows_of NAME
#		The rows with a goal: what, goal, measured, reached, command.
rows_of()
{
	if [ "$1" = core ]; then
		core_rows
	else
		# what "the same" stands for may have no goal
		awk -F' *[|] *' -v OFS='\t' '
			NF == 6 && $2 ~ /^the same/ { sub(/^the same/, same, $2) }
			NF == 6 && $2 !~ /^the same/ && (same == "" || !index($2, same ":")) { same = $2; sub(/: time$/, "", same) }
			NF == 6 && $3 ~ /^(<=|>=|=) / { print $2, $3, $4, $5 }' "$KEPT/$1.out"
	fi | awk -F'\t' -v command="${COMMAND[$1]/--old */--old FILE}" '{ print "| " $1 " | " $2 " | " $3 " | " $4 " | `" command "` |" }'
}

# core_rows
#		Of the rows of one question, the worst.  Columns of the core's table:
#		question, who, n, rate, ns of the first, of the second, ratio, spread, goal.
core_rows()
{
	awk -F' *[|] *' '
		# a whole number with separators
		function separated(n,	text) {
			for (text = ""; length(n) > 3; n = substr(n, 1, length(n) - 3))
				text = "," substr(n, length(n) - 2) text
			return n text
		}
		$10 !~ /: (met|missed)$/ { next }
		{
			key = $2 ", " $3
			split($10, goal, ":")
			in_ns = goal[1] ~ / ns$/
			gsub(/\*/, "", $8)
			value = in_ns ? $6 : $8
			if (!(key in worst)) { keys[++nkeys] = key; limit[key] = goal[1]; worst[key] = -1 }
			rows[key]++
			if (value + 0 > worst[key] + 0) {
				worst[key] = value
				text[key] = (in_ns ? value " ns" : value " (" $9 ")") " at n = " separated($4) ", " $5
			}
			if ($10 ~ /missed$/) missed[key]++
		}
		END {
			for (i = 1; i <= nkeys; i++) {
				key = keys[i]
				printf "%s, worst of %d sizes and rates\t<= %s\t%s\t%s\n", key, rows[key], limit[key], text[key],
					missed[key] ? "**no**, missed by " missed[key] : "yes"
			}
		}' "$KEPT/core.out"
}

write_table()
{
	local name

	{
		printf '| What | Goal | Measured: median (least to most) | Reached | Command |\n|---|---|---|---|---|\n'
		for name in "${NAMES[@]}"; do
			[ ! -f "$KEPT/$name.out" ] || rows_of "$name"
		done
	} >"$KEPT/table.md"
	if [ $QUICK = yes ]; then
		cat "$KEPT/table.md"
		return
	fi
	awk -v table="$KEPT/table.md" '
		/^<!-- goals: end -->/ { inside = 0 }
		!inside { print }
		/^<!-- goals: begin/ { inside = 1; while ((getline line < table) > 0) print line }' \
		"$DOCUMENT" >"$KEPT/document.md"
	grep -q '^<!-- goals: begin' "$KEPT/document.md" || die "$DOCUMENT has no place for the table"
	cat "$KEPT/document.md" >"$DOCUMENT"
	cat "$KEPT/table.md"
}

main()
{
	local name wanted=() only_table=no old=

	while (($#)); do
		case $1 in
			--old) old=$(realpath -e "$2"); shift ;;
			--quick) QUICK=yes KEPT=$REPO/build/goals-quick ;;
			--table) only_table=yes ;;
			-h|--help) usage; exit 0 ;;
			*) [ -n "${COMMAND[$1]:-}" ] || { usage >&2; exit 2; }; wanted+=("$1") ;;
		esac
		shift
	done
	if [ $QUICK = yes ]; then
		for name in "${NAMES[@]}"; do COMMAND[$name]=${QUICK_COMMAND[$name]}; done
	fi
	if [ -n "$old" ]; then
		for name in agg stored; do COMMAND[$name]+=" --old $old"; done
	fi
	arm_cleanup
	mkdir -p "$KEPT"
	((${#wanted[@]})) || wanted=("${NAMES[@]}")
	if [ $only_table = no ]; then
		for name in "${wanted[@]}"; do
			case $name in
				core|run) ;;
				*) [ -f "$REPO/bench/$name.sh" ] || { skip "there is no bench/$name.sh"; continue; } ;;
			esac
			run_benchmark "$name"
		done
	fi
	write_table
}

main "$@"
