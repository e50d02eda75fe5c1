# shellcheck shell=bash
#
# common.sh
#		What every script of the project needs: messages, temporary folders
#		that vanish, long commands that can be interrupted, counting.
#
# To be sourced by a script that has said "set -euo pipefail".

# Folders to remove and process groups to end when the script leaves.
CLEAN_DIRS=()
CLEAN_GROUPS=()

# Sums over all suites, and the lines that say which failed, each suite's
# followed by those of its tests.
TOTAL_PASSED=0
TOTAL_FAILED=0
FAILURES=()
SKIPS=()

# The suite that runs now, and what it has to report.
suite_title=
npassed=0
nfailed=0
failed_tests=()

say()
{
	printf '%s\n' "$*"
}

step()
{
	printf '  %s\n' "$*"
}

die()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# Something optional that cannot be had: said at once, and again at the end.
skip()
{
	printf '\n  ******** SKIPPED: %s\n\n' "$*"
	SKIPS+=("$*")
}

is_root()
{
	[ "$(id -u)" = 0 ]
}

# as_root CMD...
#		Run a command with root's rights.
as_root()
{
	if is_root; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo -- "$@"
	else
		die "\"$1\" needs root, and there is no sudo"
	fi
}

# ask_root
#		Let sudo ask for the password now, while it may.
ask_root()
{
	if ! is_root && command -v sudo >/dev/null; then
		sudo -v
	fi
}

# make_temp VAR [PARENT]
#		Put the name of a new folder into VAR.  The folder is readable for all
#		(another user runs the servers) and removed when the script leaves.
make_temp()
{
	local dir

	dir=$(mktemp -d "${2:-${TMPDIR:-/tmp}}/cuckoo.XXXXXX")
	chmod 0755 "$dir"
	CLEAN_DIRS+=("$dir")
	printf -v "$1" '%s' "$dir"
}

# drop_temp DIR
#		Remove a folder of make_temp early, to save space.
drop_temp()
{
	stop_servers_in "$1"
	rm -rf "$1"
}

# serves PID DIR
#		Is this process the server of the data folder DIR?
#
# A server that died leaves its postmaster.pid behind, and the number in it may
# by now be that of any other process.  A server works in its data folder.
serves()
{
	local cwd

	cwd=$(readlink "/proc/$1/cwd" 2>/dev/null) || return 1
	[ "$cwd" = "$2" ]
}

# stop_servers_in DIR
#		End every server whose data folder lies in DIR, and wait for it.
stop_servers_in()
{
	local file pid data tries

	[ -d "$1" ] || return 0
	while IFS= read -r file; do
		pid=$(head -n 1 "$file" 2>/dev/null) || continue
		case $pid in ''|*[!0-9]*) continue ;; esac
		data=$(cd "${file%/*}" && pwd -P) || continue
		serves "$pid" "$data" || continue
		kill -INT "$pid" 2>/dev/null || continue
		for ((tries = 0; tries < 100; tries++)); do
			serves "$pid" "$data" || break
			sleep 0.1
		done
		if serves "$pid" "$data"; then
			kill -QUIT "$pid" 2>/dev/null || true
		fi
	done < <(find "$1" -name postmaster.pid -type f 2>/dev/null)
}

cleanup()
{
	local status=$? item

	trap - EXIT
	trap '' INT TERM HUP
	for item in ${CLEAN_GROUPS[@]+"${CLEAN_GROUPS[@]}"}; do
		kill -TERM -- "-$item" 2>/dev/null || true
	done
	for item in ${CLEAN_DIRS[@]+"${CLEAN_DIRS[@]}"}; do
		stop_servers_in "$item"
	done
	for item in ${CLEAN_GROUPS[@]+"${CLEAN_GROUPS[@]}"}; do
		kill -KILL -- "-$item" 2>/dev/null || true
	done
	for item in ${CLEAN_DIRS[@]+"${CLEAN_DIRS[@]}"}; do
		# A dying process may still write a last file.
		rm -rf "$item" 2>/dev/null || { sleep 1; rm -rf "$item"; } || true
	done
	exit "$status"
}

# interrupted STATUS
interrupted()
{
	say "interrupted by a signal: nothing was decided"
	exit "$1"
}

# arm_cleanup
#		From here on the script leaves nothing behind, however it ends.
arm_cleanup()
{
	trap cleanup EXIT
	trap 'interrupted 129' HUP
	trap 'interrupted 130' INT
	trap 'interrupted 143' TERM
}

# logged LOG CMD...
#		Run a command, or a shell function, with its output in LOG and no input.
#
# The command gets its own process group, so that a signal to the script is
# answered at once and ends all of it.  Says every half minute that it runs,
# and gives up after TIME_LIMIT seconds.
TIME_LIMIT=1200
logged()
{
	local log=$1 pid status started=$SECONDS told=30 line
	shift

	set -m
	"$@" >"$log" 2>&1 </dev/null &
	pid=$!
	set +m
	CLEAN_GROUPS+=("$pid")
	while kill -0 "$pid" 2>/dev/null; do
		sleep 0.2
		if ((SECONDS - started >= told)); then
			line=$(tail -n 1 "$log" | cut -c 1-70)
			step "... ${suite_title:+$suite_title, }still running after $((SECONDS - started)) s${line:+: $line}"
			told=$((told + 30))
		fi
		if ((SECONDS - started >= TIME_LIMIT)); then
			step "given up after $TIME_LIMIT s"
			stop_group "$pid"
		fi
	done
	status=0
	wait "$pid" || status=$?
	# Whatever the command left running in the background ends with it.
	kill -TERM -- "-$pid" 2>/dev/null || true
	forget_group "$pid"
	return "$status"
}

# stop_group PID
#		End a process group, politely first.
stop_group()
{
	kill -TERM -- "-$1" 2>/dev/null || return 0
	sleep 5
	kill -KILL -- "-$1" 2>/dev/null || true
}

# forget_group PID
#		Take a process group that has ended out of CLEAN_GROUPS.
forget_group()
{
	local item kept=()

	for item in "${CLEAN_GROUPS[@]}"; do
		[ "$item" = "$1" ] || kept+=("$item")
	done
	CLEAN_GROUPS=(${kept[@]+"${kept[@]}"})
}

# show LOG [LINES]
#		The end of a log, indented.
show()
{
	tail -n "${2:-60}" "$1" | awk '{ print "    | " $0 }'
}

# name_failed LOG
#		Name the tests that failed, now and again at the end of everything, each
#		with what it said about itself right before or afterwards.
name_failed()
{
	local line

	while IFS= read -r line; do
		step "  $line"
		failed_tests+=("$line")
	done < <(awk '
		function show(line) { print substr(line, 1, 300) }
		/^#/ && n > 0 { show($0); n--; next }
		/^#/ { said[++nsaid] = $0; next }
		/^not ok .*# TODO/ { n = nsaid = 0; next }
		/^not ok / || /^(test |     )[^ ].*\.\.\. FAILED/ {
			for (i = nsaid > 4 ? nsaid - 3 : 1; i <= nsaid; i++)
				show(said[i])
			show($0)
			n = 7
			nsaid = 0
			next
		}
		/./ { n = nsaid = 0 }' "$1")
}

# suite TITLE FUNCTION [ARG...]
#		Run one suite.  The function sets npassed and nfailed; one that fails
#		without counting a failure, or that ran nothing, counts as failed.
suite()
{
	local title=$1 status=0 started=$SECONDS
	shift
	suite_title=$title

	say ""
	say "== $title"
	npassed=0
	nfailed=0
	failed_tests=()
	"$@" || status=$?
	if ((nfailed == 0)); then
		if ((status != 0)); then
			nfailed=1
		elif ((npassed == 0)); then
			step "this suite ran no test, which counts as a failure"
			nfailed=1
		fi
	fi
	TOTAL_PASSED=$((TOTAL_PASSED + npassed))
	TOTAL_FAILED=$((TOTAL_FAILED + nfailed))
	if ((nfailed > 0)); then
		FAILURES+=("FAILED: $title" ${failed_tests[@]+"${failed_tests[@]/#/    }"})
	fi
	suite_title=
	say "== $title: $npassed passed, $nfailed failed ($((SECONDS - started)) s)"
}

# add_counts LOG
#		Add the last "N passed, N failed" line of a log to the suite's counts.
#		Fails when there is none.
add_counts()
{
	local line

	line=$(grep -E '^([A-Za-z_]+: )?[0-9]+ passed, [0-9]+ failed$' "$1" | tail -n 1) || true
	[[ $line =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]] || return 1
	npassed=$((npassed + BASH_REMATCH[1]))
	nfailed=$((nfailed + BASH_REMATCH[2]))
}

# report
#		What was left out, what failed, and the sum as the last line.  Fails
#		when anything failed or nothing ran.
report()
{
	local item

	say ""
	for item in ${SKIPS[@]+"${SKIPS[@]}"}; do
		say "SKIPPED: $item"
	done
	for item in ${FAILURES[@]+"${FAILURES[@]}"}; do
		say "$item"
	done
	say "$TOTAL_PASSED passed, $TOTAL_FAILED failed"
	((TOTAL_FAILED == 0 && TOTAL_PASSED > 0))
}
