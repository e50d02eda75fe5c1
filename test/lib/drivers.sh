# shellcheck shell=bash
#
# drivers.sh
#		The programs of docs/drivers.md, run with the drivers that Debian has.
#
# Needs common.sh, packages.sh and server.sh.

# Drivers by the heading of their program.  The plain tier runs the first list,
# the other one is for --all: a JDK and Go are several hundred megabytes.
DRIVERS_PLAIN=("psycopg 2" "psycopg 3" asyncpg SQLAlchemy Django node-postgres)
DRIVERS_LARGE=(JDBC pgx)
declare -A PACKAGES_OF=(["psycopg 2"]=python3-psycopg2 ["psycopg 3"]=python3-psycopg
	[asyncpg]=python3-asyncpg [SQLAlchemy]="python3-sqlalchemy python3-psycopg2"
	[Django]="python3-django python3-psycopg2"
	[JDBC]="default-jdk-headless libpostgresql-jdbc-java")

# need_node
#		Node and its driver: Debian's, or for a Node from elsewhere, with which
#		these cannot be installed, the one that its npm gets.
need_node()
{
	local log=$SRV_ROOT$SRV_WORK/npm.log

	if ! have_package nodejs && ! command -v node >/dev/null || have_package node-pg; then
		need_packages nodejs node-pg
		return
	fi
	if need_packages node-pg >"$log" 2>&1; then
		return
	fi
	command -v npm >/dev/null || return 1
	step "the driver of Node comes from npm, since this Node is not Debian's"
	logged "$log" npm install --prefix "$SRV_ROOT$SRV_WORK/tmp" --no-audit --no-fund \
		--no-package-lock --ignore-scripts pg || { show "$log"; return 1; }
	srv_own
}

# need_pgx
#		Go and the newest pgx that Debian has.  The document shows version 5,
#		which differs from 4 in the path of its import only, as far as it goes.
need_pgx()
{
	local version

	for version in 5 4; do
		if [ -n "$(apt-cache policy "golang-github-jackc-pgx-v$version-dev" |
			sed -n 's/^  Candidate: *//p' | grep -v '(none)')" ]; then
			need_packages golang-go "golang-github-jackc-pgx-v$version-dev" || return 1
			sed -i "s|jackc/pgx/v5|jackc/pgx/v$version|" "$SRV_ROOT$SRV_WORK/src/docs/drivers.md"
			step "pgx is version $version"
			return
		fi
	done
	return 1
}

# need_driver NAME
need_driver()
{
	local packages

	case $1 in
		node-postgres) need_node ;;
		pgx) need_pgx ;;
		*)
			read -r -a packages <<<"${PACKAGES_OF[$1]}"
			need_packages "${packages[@]}"
			;;
	esac
}

# drivers_listen
#		JDBC knows no sockets of Unix: let the server listen on a port of its own
#		on this machine, with a password.  Sets DRIVERS_URL.
drivers_listen()
{
	local port password log=$SRV_ROOT$SRV_WORK/start.log

	password=$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
	srv_as psql -qX -h "$SRV_WORK/run" -U postgres -d postgres \
		-c "ALTER ROLE postgres PASSWORD '$password'" </dev/null || return 1
	srv_as sed -i '/^host/s/trust$/scram-sha-256/' data/pg_hba.conf
	for ((port = 40000 + RANDOM % 20000; port < 65000; port += 37)); do
		if srv_as env PGHOST="$SRV_WORK/run" PGUSER=postgres pg_ctl -s -w -D data -l data/log \
			-o "-c listen_addresses=127.0.0.1 -c port=$port" restart </dev/null >"$log" 2>&1; then
			DRIVERS_PORT=$port
			DRIVERS_URL="jdbc:postgresql://127.0.0.1:$port/shop?user=postgres&password=$password"
			return
		fi
	done
	show "$log"
	return 1
}

# all_drivers_known
#		Is each program of the document in one of the lists?
all_drivers_known()
{
	local listed

	listed=$(srv_as perl src/test/docs/check_drivers.pl --list src/docs/drivers.md) || return 1
	if [ "$(printf '%s\n' "$listed" | sort)" != \
		"$(printf '%s\n' "${DRIVERS_PLAIN[@]}" "${DRIVERS_LARGE[@]}" | sort)" ]; then
		step "test/lib/drivers.sh does not know the programs of docs/drivers.md"
		return 1
	fi
}

# run_drivers DRIVER...
run_drivers()
{
	local driver here=() status=0 log=$SRV_ROOT$SRV_WORK/drivers.log

	all_drivers_known || return 1
	for driver in "$@"; do
		if need_driver "$driver"; then
			here+=("$driver")
		else
			skip "docs/drivers.md, $driver: its packages could not be installed"
		fi
	done
	((${#here[@]})) || return 1
	step "${#here[@]} programs: ${here[*]}"
	srv_start || return 1
	DRIVERS_PORT=5432
	DRIVERS_URL=
	case " ${here[*]} " in
		*" JDBC "*) drivers_listen || { srv_stop; return 1; } ;;
	esac
	logged "$log" srv_as env PGHOST="$SRV_WORK/run" PGUSER=postgres PGPORT="$DRIVERS_PORT" \
		JDBC_URL="$DRIVERS_URL" GO111MODULE=off GOPATH=/usr/share/gocode \
		GOCACHE="$SRV_WORK/tmp/go" NODE_PATH=/usr/share/nodejs:"$SRV_WORK/tmp/node_modules" \
		perl src/test/docs/check_drivers.pl src/docs/drivers.md "${here[@]}" || status=$?
	if ! add_counts "$log" || ((status != 0)); then
		cat "$log"
		show_crash "$SRV_ROOT$SRV_WORK/data/log"
		status=1
	fi
	srv_stop || status=1
	return "$status"
}

# drivers_suite MAJOR DRIVER...
drivers_suite()
{
	local title
	srv_copy "$1"
	title="PostgreSQL $(srv_version)"
	shift

	if ! srv_build; then
		suite "$title, build" false
		return 0
	fi
	suite "$title, programs of docs/drivers.md" run_drivers "$@"
	drop_temp "$SRV_ROOT$SRV_WORK"
}
