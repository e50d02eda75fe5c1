/**
 * service.mjs: a service that asks the database only for what may be there.
 *
 *     psql -f examples/service.sql mydb
 *     PGDATABASE=mydb node examples/service.mjs
 *
 *     GET /customer/ADDRESS    the customer, or 404
 *     GET /stats               what was asked, and what that saved
 */
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

import pg from 'pg';

import { CuckooFilter } from 'cuckoofilter-postgres';

/*
 * The version of a filter is the xmin of its row: every transaction that
 * writes the row gives it another one, so no column and no trigger is needed,
 * and a filter that has not changed is not sent again.
 */
const REFRESH = `SELECT xmin::text AS version,
	CASE WHEN xmin::text IS DISTINCT FROM $1 THEN emails::bytea END AS filter
	FROM customer_filter`;
const FIND = 'SELECT email, name FROM customer WHERE email = $1';

/**
 * Customers by their addresses.
 *
 * "Certainly not" holds for the moment at which the filter was fetched: a
 * customer whom another session adds is missed for at most maxAge
 * milliseconds. After adding one yourself, call expire().
 */
export class Customers {
	#pool;
	#maxAge;
	#filter = null;
	#version = null;
	#fetchedAt = -Infinity;
	#refresh = null;

	constructor(pool, { maxAge = 1000 } = {}) {
		this.#pool = pool;
		this.#maxAge = maxAge;
		this.stats = {
			asked: 0,		/* addresses looked for */
			skipped: 0,		/* of these, without the database */
			queried: 0,		/* of these, in the database */
			found: 0,		/* of those queried; the others were in vain */
			refreshes: 0,	/* looks at the version of the filter */
			fetches: 0,		/* of these, those that brought a new filter */
		};
	}

	/** Look at the version of the filter before anything else is answered. */
	expire() {
		this.#fetchedAt = -Infinity;
		if (this.#refresh !== null)
			this.#refresh.isExpired = true;
		this.#refresh = null;
	}

	/* Fetch the filter if it has changed; used unless expire() is called. */
	async #fetch(refresh) {
		const startedAt = performance.now();

		try {
			const { rows: [row] } =
				await this.#pool.query(REFRESH, [this.#version]);
			const isNew = row !== undefined && row.filter !== null;
			const filter = isNew ? await CuckooFilter.from(row.filter) :
				this.#filter;

			this.stats.refreshes++;
			if (refresh.isExpired)
				return;
			this.stats.fetches += isNew ? 1 : 0;
			this.#filter = row === undefined ? null : filter;
			this.#version = row?.version ?? null;
			this.#fetchedAt = startedAt;
		} finally {
			if (this.#refresh === refresh)
				this.#refresh = null;
		}
	}

	/* The filter, refreshed if it is too old: once for all who wait. */
	async #filterNow() {
		if (performance.now() - this.#fetchedAt <= this.#maxAge)
			return this.#filter;
		if (this.#refresh === null) {
			const refresh = { isExpired: false, done: null };

			this.#refresh = refresh;
			refresh.done = this.#fetch(refresh);
		}

		const refresh = this.#refresh;

		await refresh.done;
		return refresh.isExpired ? this.#filterNow() : this.#filter;
	}

	/** The customer with an address, null if there is none. */
	async find(email) {
		const filter = await this.#filterNow();

		this.stats.asked++;
		if (filter !== null && !filter.has(email)) {
			this.stats.skipped++;
			return null;
		}

		const { rows } = await this.#pool.query(FIND, [email]);

		this.stats.queried++;
		this.stats.found += rows.length;
		return rows[0] ?? null;
	}
}

function send(response, status, body) {
	response.writeHead(status, { 'Content-Type': 'application/json' });
	response.end(`${JSON.stringify(body)}\n`);
}

/* The path of a request, empty if it is none. */
function pathOf({ url }) {
	try {
		return decodeURIComponent(url);
	} catch {
		return '';
	}
}

/** The service over HTTP; not listening yet. */
export function createService(customers) {
	return createServer(async (request, response) => {
		try {
			const path = pathOf(request);
			const [, email] = /^\/customer\/(.+)$/.exec(path) ?? [];

			if (path === '/stats') {
				send(response, 200, customers.stats);
				return;
			}

			const customer = email === undefined ? null :
				await customers.find(email);

			send(response, customer === null ? 404 : 200, customer);
		} catch (error) {
			console.error(error);
			send(response, 500, { error: 'the request failed' });
		}
	});
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const service = createService(new Customers(new pg.Pool()));

	service.listen(8081, '127.0.0.1', () =>
		console.log('http://127.0.0.1:8081/customer/ADDRESS'));
}
