/**
 * server.test.mjs: the library and the service against a server.
 *
 * Needs a database that PGHOST, PGDATABASE and so on name, in which the user
 * may create the extension and a schema. Leaves nothing but the extension.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';

import pg from 'pg';

import {
	CuckooFilter, date, decimal, float, timestamp, timestamptz, uuid,
} from '../index.js';
import { Customers, createService } from './service.mjs';

const SCHEMA = 'cuckoofilter_js_test';
const setup = readFileSync(new URL('service.sql', import.meta.url), 'utf8');

let pool;

before(async () => {
	pool = new pg.Pool({ options: `-c search_path=${SCHEMA},public` });
	await pool.query('CREATE EXTENSION IF NOT EXISTS cuckoo_filter');
	await pool.query(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`);
	await pool.query(`CREATE SCHEMA ${SCHEMA}`);
	await pool.query(setup);
	await pool.query(`INSERT INTO customer
		SELECT 'customer' || i || '@example.com', 'Customer ' || i
		FROM generate_series(1, 5000) i`);
});

after(async () => {
	await pool.query(`DROP SCHEMA ${SCHEMA} CASCADE`);
	await pool.end();
});

function address(i) {
	return `customer${i}@example.com`;
}

test('skips what is absent, and finds all that is there', async () => {
	const customers = new Customers(pool, { maxAge: 60000 });

	for (let i = 4901; i <= 6000; i++) {
		const customer = await customers.find(address(i));

		assert.equal(customer?.name ?? null,
			i <= 5000 ? `Customer ${i}` : null);
	}

	const { asked, skipped, queried, found, fetches } = customers.stats;

	assert.deepEqual([asked, found, fetches], [1100, 100, 1]);
	assert.equal(skipped + queried, asked);
	/* a rate of at most 1 % of 1000: 26 are five standard deviations above */
	assert.ok(skipped > 974, `${skipped} skipped`);
});

test('follows changes by the version', async () => {
	const customers = new Customers(pool, { maxAge: 0 });
	const late = 'late@example.com';

	assert.equal(await customers.find(late), null);
	await customers.find(late);
	assert.equal(customers.stats.fetches, 1);
	assert.ok(customers.stats.refreshes >= 2);
	await pool.query('INSERT INTO customer VALUES ($1, $2)', [late, 'Late']);
	assert.equal((await customers.find(late)).name, 'Late');
	assert.equal(customers.stats.fetches, 2);
	await pool.query('DELETE FROM customer WHERE email = $1', [late]);
	assert.equal(await customers.find(late), null);
	assert.equal(customers.stats.fetches, 3);
});

test('sees what it has added itself after expire()', async () => {
	const customers = new Customers(pool, { maxAge: 60000 });
	const own = 'own@example.com';

	assert.equal(await customers.find(own), null);
	await pool.query('INSERT INTO customer VALUES ($1, $2)', [own, 'Own']);
	customers.expire();
	assert.equal((await customers.find(own)).name, 'Own');
});

test('a refresh on its way does not undo expire()', async () => {
	const waiting = [];
	const slow = {
		/* refreshes are answered at once, but the answer arrives later */
		async query(text, values) {
			const result = await pool.query(text, values);

			if (text.includes('xmin'))
				await new Promise((resolve) => waiting.push(resolve));
			return result;
		},
	};
	const customers = new Customers(slow, { maxAge: 60000 });
	const nextWaiting = async (n) => {
		while (waiting.length < n)
			await new Promise((resolve) => setTimeout(resolve, 5));
	};
	const raced = 'raced@example.com';
	const before = customers.find(raced);

	await nextWaiting(1);
	await pool.query('INSERT INTO customer VALUES ($1, $2)', [raced, 'Race']);
	customers.expire();

	const after = customers.find(raced);

	await nextWaiting(2);
	waiting[1]();
	assert.equal((await after).name, 'Race');
	waiting[0]();
	await before;
	assert.equal((await customers.find(raced)).name, 'Race');
});

test('without a filter it asks the database', async () => {
	const { rows } = await pool.query(
		'SELECT emails::text AS filter FROM customer_filter');
	const filter = await CuckooFilter.from(rows[0].filter);

	assert.equal(filter.has(address(1)), true);
	await pool.query('SELECT cf_detach(\'customer\')');
	await pool.query('DELETE FROM customer_filter');

	const customers = new Customers(pool);

	assert.equal((await customers.find(address(1))).name, 'Customer 1');
	assert.equal(await customers.find('nobody'), null);
	assert.equal(customers.stats.queried, 2);
});

test('over HTTP', async () => {
	const customers = new Customers(pool);
	const service = createService(customers);

	await new Promise((resolve) => service.listen(0, '127.0.0.1', resolve));
	try {
		const base = `http://127.0.0.1:${service.address().port}`;
		const get = (path) => fetch(base + path);
		const response = await get(`/customer/${address(2)}`);

		assert.equal(response.status, 200);
		assert.equal((await response.json()).name, 'Customer 2');
		assert.equal((await get('/customer/nobody')).status, 404);
		assert.equal((await get('/elsewhere')).status, 404);
		assert.equal((await get('/customer/%ff')).status, 404);
		assert.equal((await (await get('/stats')).json()).asked, 2);
	} finally {
		service.closeAllConnections();
		service.close();
	}
});

/* Values of each type, as SQL and as JavaScript. */
const TYPES = [
	['text', ['a', 'ä', '日本 😀', ''], String],
	['varchar', ['a', 'b '], String],
	['bigint', ['1', '-7', '9223372036854775807'], BigInt],
	['integer', ['1', '-7', '0'], Number],
	['numeric', ['1.50', '-12345.6789', '1e30', 'NaN', '7.00'], decimal],
	['float8', ['1.5', '-0', '1e300', 'NaN'], (s) => float(Number(s))],
	['boolean', ['true', 'false'], (s) => s === 'true'],
	['bytea', ['\\x00ff', '\\x'], (s) => Buffer.from(s.slice(2), 'hex')],
	['uuid', ['5b35ae5c-8c5e-4b47-9dd8-0a4a8a7c3e11'], uuid],
	['date', ['2024-02-29', '1900-03-01', '0044-03-15 BC', 'infinity'], date],
	['timestamp', ['2024-02-29 12:34:56.789012', '-infinity'], timestamp],
	['timestamptz', ['2024-02-29 12:34:56.789+02', '1900-01-01 00:00+00'],
		timestamptz],
];

test('both sides find what the other has added', async () => {
	for (const [type, texts, read] of TYPES) {
		const values = texts.map(read);
		const { rows: [{ filter }] } = await pool.query(
			`SELECT cf_bag_agg(v::${type}, 100)::bytea AS filter
			FROM unnest($1::text[]) v`, [texts]);
		const theirs = await CuckooFilter.from(filter);
		const ours = await CuckooFilter.build(values,
			{ capacity: 100, bag: true });

		assert.equal(theirs.hasAll(values), true, type);
		assert.ok(filter.equals(ours.toBytes()), type);

		const { rows: [answer] } = await pool.query(
			`SELECT cf_contains_all($1::cuckoofilter, $2::text[]::${type}[])
				AS has, (SELECT count(*) FROM cf_check($1::cuckoofilter)) AS n`,
			[ours.toText(), texts]);

		assert.deepEqual(answer, { has: true, n: '0' }, type);
	}
});

test('a filter changed here goes back as bytea', async () => {
	await pool.query(`CREATE TABLE store AS
		SELECT cf_agg('item ' || i, 2000) AS f FROM generate_series(1, 500) i`);

	const { rows } = await pool.query('SELECT f::bytea AS f FROM store');
	const filter = await CuckooFilter.from(rows[0].f);

	for (let i = 501; i <= 2000; i++)
		filter.add(`item ${i}`);
	for (let i = 1; i <= 100; i++)
		filter.remove(`item ${i}`);
	await pool.query('UPDATE store SET f = $1::bytea::cuckoofilter',
		[Buffer.from(filter.toBytes())]);

	const { rows: [answer] } = await pool.query(`SELECT cf_count(f)::int AS n,
		cf_contains_all(f, ARRAY(SELECT 'item ' || i
			FROM generate_series(101, 2000) i)) AS has,
		(SELECT count(*)::int FROM cf_check(f)) AS problems FROM store`);

	assert.deepEqual(answer, { n: filter.size, has: true, problems: 0 });
});
