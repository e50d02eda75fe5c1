/**
 * filter.test.mjs: the filter as an object, its errors and its limits.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import {
	CuckooError, CuckooFamilyError, CuckooFilter, CuckooFormatError,
	CuckooFullError, CuckooParameterError, CuckooRemoveError,
	CuckooValueError, CuckooVersionError, char, date, decimal, float, text,
	timestamp, uuid,
} from '../index.js';

/* The list and the table of docs/format.md, section 9. */
const LIST = 'cf1:AQEAAQsACkQAAAAAAAAAAB4AAAAAAAAAAwAAAAAAAAAAAAAAAAAAAAAAAABD' +
	'4u6RXMaGIEPi7pFcxoYgLnnbZDVZvC+l4cvBfcKAFg==';
const TABLE = '010101010b000a4400000000000000001e0000000000000008000000000000' +
	'0000000000000000000000000000000000f0000000d04c090080c47100001ce90300c044' +
	'bf000028b80a00f803000000004a0100c0010000000000000000000000000000000010252a' +
	'd2608d5c9f';

function range(n, from = 0) {
	return Array.from({ length: n }, (_, i) => i + from);
}

describe('the worked example', () => {
	test('list', async () => {
		const filter = await CuckooFilter.new({ capacity: 30 });

		filter.addAll([1, null, 2, undefined, 2]);
		assert.equal(filter.toText(), LIST);
		assert.equal(JSON.stringify({ filter }), `{"filter":"${LIST}"}`);
	});

	test('table', async () => {
		const filter = await CuckooFilter.from(Buffer.from(TABLE, 'hex'));

		assert.deepEqual(filter.hasMany([5, 8, 9]), [true, true, false]);
		assert.deepEqual([...filter.candidates(range(9, 1))], range(8, 1));
		assert.equal(filter.hasAll(range(8, 1)), true);
		assert.equal(filter.hasAll(range(9, 1)), false);
		assert.equal(filter.hasAny([9]), false);
		assert.equal(filter.hasAny([9, 1]), true);

		const added = await CuckooFilter.new({ capacity: 30 });

		for (const value of range(8, 1))
			assert.equal(added.add(value), true);
		assert.equal(Buffer.from(added.toBytes()).toString('hex'), TABLE);
	});
});

test('what it was read from can change', async () => {
	const bytes = Buffer.from(TABLE, 'hex');
	const filter = await CuckooFilter.from(bytes);

	bytes.fill(255);
	assert.equal(filter.has(5), true);
});

test('bytes within a larger buffer', async () => {
	const all = Buffer.alloc(1000, 1);
	const image = Buffer.from(TABLE, 'hex');

	image.copy(all, 333);
	const filter = await CuckooFilter.from(
		all.subarray(333, 333 + image.length));

	assert.equal(filter.has(8), true);
	assert.equal(filter.size, 8);
});

test('no false negative, copies counted, removed again', async () => {
	for (const seed of [0, -1, 2n ** 62n]) {
		const values = range(2000).map((i) => `value ${i}`);
		const filter = await CuckooFilter.build(values.concat(values),
			{ bag: true, seed, capacity: 5000 });

		assert.equal(filter.size, 4000);
		for (const value of values)
			assert.ok(filter.count(value) >= 2);
		/* one copy of each is left, and of those that look alike more */
		for (const value of values)
			filter.remove(value);
		assert.equal(filter.hasAll(values), true);
		for (const value of values)
			filter.remove(value);
		assert.ok(filter.size <= 40, `${filter.size} left`);
	}
});

test('grows from empty by adding', async () => {
	const filter = await CuckooFilter.new({ capacity: 20000 });

	for (let i = 0; i < 20000; i++)
		filter.add(i);
	assert.equal(filter.hasAll(range(20000)), true);
	assert.ok(filter.info().growths > 3);

	const wrong = [...filter.candidates(range(100000, 100000))].length;

	/* a rate of at most 1 %: five standard deviations above are 1,158 */
	assert.ok(wrong < 1158, `${wrong} of 100000`);
	assert.equal((await CuckooFilter.from(filter.toBytes())).size, 20000);
});

test('saturated values', async () => {
	const filter = await CuckooFilter.new({ capacity: 10, maxCopies: 2 });

	assert.deepEqual([filter.add('a'), filter.add('a'), filter.add('a')],
		[true, true, false]);
	assert.equal(filter.count('a'), 2);
	assert.equal(filter.remove('a'), false);
	assert.equal(filter.count('a'), 2);
	assert.equal(filter.remove('b'), false);
});

test('a failed change leaves all as it was', async () => {
	const filter = await CuckooFilter.build([1, 2, 3], { capacity: 4 });
	const before = filter.toText();

	assert.throws(() => filter.addAll([4, 5]), CuckooFullError);
	assert.equal(filter.toText(), before);
	assert.throws(() => filter.addAll([4, 'five']), CuckooFamilyError);
	assert.equal(filter.toText(), before);
	filter.add(4);
	const full = filter.toText();

	assert.throws(() => filter.add(5), { reason: 'full', code: '54000' });
	assert.equal(filter.toText(), full);

	const table = await CuckooFilter.build(range(64), { capacity: 64 });

	for (let i = 64; ; i++) {
		const text = table.toText();

		try {
			table.add(i);
		} catch (error) {
			assert.ok(error instanceof CuckooFullError);
			assert.equal(table.toText(), text);
			break;
		}
	}
});

test('hashes that collide', async () => {
	/* different in what is known of them, all in the same two buckets */
	const hashes = range(3000).map((i) => BigInt(i) << 16n | 1n);
	const parameters = { capacity: 100000, fpr: 1e-9 };
	const filter = await CuckooFilter.new(parameters);

	for (const hash of hashes)
		filter.addHash(hash);
	assert.equal(filter.info().form, 'list');
	assert.ok(hashes.every((hash) => filter.hasHash(hash)));
	await assert.rejects(
		CuckooFilter.buildFromHashes(
			range(5000).map((i) => BigInt(i) << 16n | 1n), parameters),
		{ reason: 'colliding' });
});

test('a filter of hashes has no family', async () => {
	const filter = await CuckooFilter.buildFromHashes([-1n, 2n ** 64n - 2n],
		{ capacity: 10 });

	assert.equal(filter.family, null);
	assert.deepEqual([-1n, 2n ** 64n - 1n, -2n, 1n].map(
		(hash) => filter.hasHash(hash)), [true, true, true, false]);
	assert.equal(filter.has('anything'), false);
	filter.add('a');
	assert.equal(filter.family, 'text');
	assert.equal(filter.hasHash(filter.hash('a')), true);
	assert.equal(filter.countHash(-2n), 1);
	assert.equal(filter.removeHash(-2n), true);
	for (const wrong of [1, '1', 2n ** 64n, -(2n ** 63n) - 1n])
		assert.throws(() => filter.hasHash(wrong), CuckooValueError);
});

describe('families', () => {
	test('message, hint and names', async () => {
		const filter = await CuckooFilter.build([1]);

		assert.throws(() => filter.has('a'), {
			name: 'CuckooFamilyError', code: '42804', held: 'number',
			given: 'text',
			message: /^filter holds number values, probed with text: write /,
		});
		assert.throws(() => filter.add(true),
			/filter holds number values, cannot add bool/);
		assert.throws(() => filter.remove(float(1)),
			/filter holds number values, cannot remove float/);
	});

	test('a number is a float where floats are', async () => {
		const filter = await CuckooFilter.build([float(1.5), float(2)]);

		assert.equal(filter.has(1.5), true);
		assert.equal(filter.has(2), true);
		assert.equal(filter.has(NaN), false);
		assert.throws(() => filter.has(2n), CuckooFamilyError);
		assert.throws(() => filter.has(decimal('2')), CuckooFamilyError);
	});

	test('char(n) takes texts, not the other way round', async () => {
		const chars = await CuckooFilter.build([char('ab  ')]);
		const texts = await CuckooFilter.build(['ab']);

		assert.equal(chars.has('ab'), true);
		assert.equal(chars.has('ab   '), true);
		assert.equal(chars.has(text('ab ')), true);
		assert.equal(chars.has(' ab'), false);
		assert.equal(texts.has('ab '), false);
		assert.throws(() => texts.has(char('ab')), CuckooFamilyError);
	});

	test('a Date is a timestamptz', async () => {
		const filter = await CuckooFilter.build([timestamp('2024-01-01')]);

		assert.throws(() => filter.has(new Date()), CuckooFamilyError);
		assert.throws(() => filter.has(date('2024-01-01')), CuckooFamilyError);
	});

	test('kept when empty again', async () => {
		const filter = await CuckooFilter.new({ capacity: 30 });

		assert.equal(filter.has(1), false);
		assert.equal(filter.has('a'), false);
		filter.add(uuid('5b35ae5c-8c5e-4b47-9dd8-0a4a8a7c3e11'));
		filter.remove(uuid('5B35AE5C8C5E4B479DD80A4A8A7C3E11'));
		assert.equal(filter.size, 0);
		assert.throws(() => filter.add('a'), CuckooFamilyError);
	});

	test('build with values of two', async () => {
		await assert.rejects(CuckooFilter.build([1, 'a']), CuckooFamilyError);
	});
});

test('builds', async () => {
	async function* slowly() {
		yield* [1, null, 2, 2];
	}

	assert.equal((await CuckooFilter.build(slowly())).size, 2);
	assert.equal((await CuckooFilter.build(slowly(), { bag: true })).size, 3);
	assert.equal((await CuckooFilter.build(new Set(['a', 'b']))).size, 2);
	assert.equal((await CuckooFilter.build([])).info().capacity, 1);
	await assert.rejects(CuckooFilter.build(range(100), { capacity: 23 }),
		CuckooFullError);
	await assert.rejects(CuckooFilter.build(5), TypeError);
});

test('parameters', async () => {
	const wrong = [
		{}, { capacity: 0 }, { capacity: 0.5 }, { capacity: NaN },
		{ capacity: 2 ** 54 }, { capacity: 2 ** 31 }, { capacity: 9, fpr: 0 },
		{ capacity: 9, fpr: 1 }, { capacity: 9, fpr: NaN },
		{ capacity: 9, fpr: 1e-19 }, { capacity: 9, maxCopies: 0 },
		{ capacity: 9, maxCopies: 5 }, { capacity: 9, maxCopies: 1.5 },
		{ capacity: 9, seed: 2n ** 63n }, { capacity: 9, seed: 1.5 },
		{ capacity: 9, seed: '1' },
	];

	for (const options of wrong)
		await assert.rejects(CuckooFilter.new(options), CuckooParameterError);
	assert.equal((await CuckooFilter.new({ capacity: 9.5 })).info().capacity,
		10);
	assert.throws(() => new CuckooFilter(), TypeError);
});

test('removing', async () => {
	const once = await CuckooFilter.build([1], { maxCopies: 1 });
	const bytes = (await CuckooFilter.build([1])).toBytes();
	const clone = (await CuckooFilter.from(bytes)).clone();

	assert.throws(() => once.remove(1), CuckooRemoveError);
	assert.throws(() => once.removeHash(1n), CuckooRemoveError);
	assert.equal(clone.remove(1), true);
	assert.equal((await CuckooFilter.from(bytes)).has(1), true);
});

describe('untrusted bytes', () => {
	test('any change of a bit is found', async () => {
		const bytes = Buffer.from(TABLE, 'hex');

		for (let bit = 0; bit < 8 * bytes.length; bit++) {
			const changed = Buffer.from(bytes);

			changed[bit >> 3] ^= 1 << (bit & 7);
			await assert.rejects(CuckooFilter.from(changed),
				CuckooFormatError);
		}
	});

	test('any length but its own is found', async () => {
		const bytes = Buffer.from(TABLE, 'hex');

		for (let length = 0; length < bytes.length; length++)
			await assert.rejects(CuckooFilter.from(bytes.subarray(0, length)),
				CuckooFormatError);
		await assert.rejects(
			CuckooFilter.from(Buffer.concat([bytes, Buffer.of(0)])),
			CuckooFormatError);
	});

	test('unchecked ones give answers and filters all the same', async () => {
		/* a generator of random numbers (xorshift32), the same each time */
		let state = 1;
		const random = (n) => {
			state ^= state << 13;
			state ^= state >>> 17;
			state ^= state << 5;
			return (state >>> 0) % n;
		};

		for (let i = 0; i < 100; i++) {
			const values = range(200).map((j) => j >> random(2));
			const bytes = (await CuckooFilter.build(values,
				{ bag: true, fpr: [0.01, 1e-6, 1e-10][i % 3] })).toBytes();
			const share = [2, 10, 100][random(3)];

			for (let j = 44; j < bytes.length - 8; j++)
				bytes[j] = random(share) === 0 ? random(256) : bytes[j];
			bytes[24] = random(256);

			const filter = await CuckooFilter.from(bytes, { check: false })
				.catch((error) => error);

			if (filter instanceof CuckooError)
				continue;
			for (let j = 0; j < 40; j++) {
				try {
					filter[random(3) > 0 ? 'add' : 'remove'](random(400));
				} catch (error) {
					assert.ok(error instanceof CuckooError, error.stack);
				}
				assert.equal(typeof filter.has(j), 'boolean');
			}
			await CuckooFilter.from(filter.toBytes(), { check: false });
		}
	});

	test('newer versions are told apart from damage', async () => {
		const bytes = Buffer.from(TABLE, 'hex');

		for (const [offset, value, message] of [
			[0, 2, /format version 2, but the newest known is 1/],
			[1, 2, /hash version 2, but the newest known is 1/],
			[2, 5, /flags 0x05, but the known ones are 0x03/],
			[3, 25, /key family 25, but the newest known is 24/],
		]) {
			const newer = Buffer.from(bytes);

			newer[offset] = value;
			await assert.rejects(
				CuckooFilter.from(newer, { check: false }),
				(error) => error instanceof CuckooVersionError &&
					error.code === '0A000' && message.test(error.message));
			await assert.rejects(CuckooFilter.from(newer), CuckooFormatError);
		}
	});

	test('text forms', async () => {
		for (const wrong of ['', 'cf1', 'cf2:AAAA', LIST.slice(1), `${LIST} `,
			LIST.replace('AQEA', 'AQE\n'), LIST.slice(0, -1),
			LIST.replace('==', '=A'), `${LIST}====`, LIST.replace('+', '-'),
			LIST.replace('+', 'é')])
			await assert.rejects(CuckooFilter.from(wrong), CuckooFormatError,
				wrong);
		for (const wrong of [null, undefined, 5, [], {}])
			await assert.rejects(CuckooFilter.from(wrong), CuckooValueError);
		/* unused bits of the last character do not count */
		assert.equal((await CuckooFilter.from(LIST.replace('Fg==', 'Fh==')))
			.toText(), LIST);
	});
});

test('filters of several seeds do not disturb each other', async () => {
	const filters = await Promise.all(range(20).map((seed) =>
		CuckooFilter.build([`seed ${seed}`, 'all'], { seed })));

	for (const [i, filter] of filters.entries()) {
		assert.equal(filter.has(`seed ${i}`), true);
		assert.equal(filter.has(`seed ${i + 1}`), false);
		assert.equal(filter.has('all'), true);
		assert.equal((await CuckooFilter.from(filter.toBytes())).size, 2);
	}
});
