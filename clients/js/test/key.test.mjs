/**
 * key.test.mjs: values to key bytes and hashes.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import {
	CuckooFilter, CuckooValueError, bool, bytes, char, date, decimal, float,
	key, oid, text, time, timestamp, timestamptz, uuid,
} from '../index.js';

/* Columns value, type, key, hash and family; derived from docs/format.md. */
const golden = readFileSync(
	new URL('../../../test/golden/keys.tsv', import.meta.url), 'utf8')
	.trim().split('\n').slice(1).map((line) => line.split('\t'));

const HELPERS = {
	smallint: decimal, integer: decimal, bigint: decimal, numeric: decimal,
	real: (value) => float(Math.fround(Number(value))),
	'double precision': (value) => float(Number(value)),
	text, 'character varying': text, character: char, bytea: bytes, uuid, oid,
	date, 'timestamp without time zone': timestamp,
	'timestamp with time zone': timestamptz, 'time without time zone': time,
	boolean: (value) => bool(['t', 'true', 'on', 'yes', '1'].includes(value)),
};

function hex(value) {
	return Buffer.from(value.bytes).toString('hex');
}

test('golden hashes of all families', async () => {
	const filter = await CuckooFilter.new({ capacity: 1 });

	assert.ok(golden.length > 300);
	for (const [value, , keyBytes, hash, family] of golden)
		assert.equal(
			filter.hash(key(family, Buffer.from(keyBytes, 'hex'))),
			BigInt(hash), value);
});

test('golden key bytes of values that helpers read', () => {
	let nread = 0;

	for (const [value, type, keyBytes] of golden) {
		const literal = /^'((?:[^']|'')*)'::[a-z0-9]+(?:\(\d+\))?$/.exec(value);

		if (literal === null || !Object.hasOwn(HELPERS, type))
			continue;
		assert.equal(hex(HELPERS[type](literal[1].replaceAll('\'\'', '\''))),
			keyBytes, value);
		nread++;
	}
	assert.ok(nread > 150, `${nread} read`);
});

test('long values take no longer than their length', () => {
	const zeros = '0'.repeat(100000);

	/* a quadratic pass over these takes more than a second */
	for (const read of [() => decimal(`1${zeros}1`),
		() => decimal(`1.${zeros}`), () => decimal(`${zeros}1`),
		() => char(`a${' '.repeat(100000)}b`)]) {
		const { user } = process.cpuUsage();

		read();
		assert.ok(process.cpuUsage().user - user < 1e6, read);
	}
});

test('plain values are those of helpers', async () => {
	const filter = await CuckooFilter.new({ capacity: 1, seed: -5 });
	const pairs = [
		['a', text('a')], ['', text('')], [42, decimal('42')],
		[-1, decimal('-1.00')], [-0, decimal('0')],
		[2 ** 53 - 1, decimal('9007199254740991')],
		[-(2 ** 53 - 1), decimal('-9007199254740991')],
		[2n ** 70n, decimal('1180591620717411303424')],
		[-(10n ** 30n), decimal('-1e30')],
		[true, bool(true)], [false, bool(false)],
		[Buffer.from('ab'), bytes('\\x6162')],
		[new Uint8Array([97]).buffer, bytes('\\x61')],
		[new Uint16Array([0x6261]), bytes('\\x6162')],
		[new Date('2024-02-29T12:00:00.5Z'),
			timestamptz('2024-02-29 13:00:00.5+01')],
	];

	for (const [plain, helped] of pairs)
		assert.equal(filter.hash(plain), filter.hash(helped), String(plain));
});

test('texts of all lengths and characters', async () => {
	const filter = await CuckooFilter.new({ capacity: 1 });
	const unicode = 'aé日😀';

	for (let length = 0; length < 600; length++) {
		const value = unicode.repeat(1 + length / 5).slice(0, length)
			.replace(/[\uD800-\uDBFF]$/, '');

		assert.equal(filter.hash(value),
			filter.hash(key('text', Buffer.from(value))), value);
	}
	for (const wrong of ['\0', 'a\0', '\uD800', 'a\uDC00b', '\uDC00\uD800',
		`${'x'.repeat(300)}\uD800`])
		assert.throws(() => filter.hash(wrong), { code: '22021' });
});

test('what cannot be read is an error', () => {
	const wrong = [
		[decimal, '', '1.2.3', 'e5', '0x10', '1e', '--1', '+NaN', '.',
			'1e200000', '1e-20000', NaN, 1.5, 2 ** 60, true],
		[uuid, '', 'x', '00000000-0000-0000-0000-00000000000',
			'{00000000-0000-0000-0000-000000000000', 'g'.repeat(32)],
		[bytes, 'ab', '\\x1', '\\xgg', 5],
		[oid, -1, 2 ** 32, 1.5, 'a', '', ' ', '0x10', '1e3', '1.0', null, true, [5],
			2n ** 32n],
		[float, '1', 1n],
		[bool, 1, 'true'],
		[text, 1],
		[date, '2023-02-29', '2024-13-01', '2024-00-01', '2024-01-00',
			'24-01-01', '0000-01-01', '5874898-01-01', '4714-11-23 BC',
			new Date()],
		[time, '24:00:01', '12:60:00', '12', '1:00:00'],
		[timestamp, '2024-01-01 24:00:00', '2024-01-01 00:60:00',
			'2024-01-01T00:00:00Z', '2024-01-01 00:00:00.1234567',
			'294277-01-01 00:00:00', ''],
		[timestamptz, '2024-01-01 00:00:00', '2024-01-01 00:00:00+16',
			new Date(NaN)],
	];

	for (const [helper, ...values] of wrong) {
		for (const value of values)
			assert.throws(() => helper(value), CuckooValueError,
				`${helper.name} ${String(value)}`);
	}
	assert.throws(() => key('no family', new Uint8Array(1)), CuckooValueError);
	assert.throws(() => key('untyped', new Uint8Array(1)), CuckooValueError);
});

test('values that are none', async () => {
	const filter = await CuckooFilter.new({ capacity: 1 });

	for (const value of [null, undefined, [1], {}, Symbol('a'), () => 1, 1.5,
		NaN, Infinity, 2 ** 53, new Map()]) {
		for (const verb of ['has', 'count', 'add', 'remove', 'hash'])
			assert.throws(() => filter[verb](value), CuckooValueError,
				`${verb} ${String(value)}`);
	}
});
