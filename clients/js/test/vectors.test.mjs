/**
 * vectors.test.mjs: test/vectors/format1.json of the extension.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';

import {
	CuckooFamilyError, CuckooFilter, CuckooFormatError, CuckooVersionError,
	key,
} from '../index.js';
import { readOptions, readValue, readValues } from './values.mjs';

const vectors = JSON.parse(readFileSync(new URL(
	'../../../test/vectors/format1.json', import.meta.url)));

/* A value of each family that can be written. */
const SAMPLES = {
	number: 1, float: 1, text: 'a', 'char(n)': 'a', bytes: '00', bool: true,
	uuid: '00000000-0000-0000-0000-000000000000', date: '2000-01-01',
	timestamp: '2000-01-01T00:00:00', timestamptz: '2000-01-01T00:00:00Z',
	time: '00:00:00',
};

/* A filter of a family, whether its values can be written or not. */
async function filterOfFamily(family) {
	if (family === 'untyped')
		return CuckooFilter.buildFromHashes([1n], { capacity: 30 });
	return CuckooFilter.build([key(family, new Uint8Array(4))],
		{ capacity: 30 });
}

function snakeCase(name) {
	return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/* Equal but for the rounding of the vectors to ten digits. */
function assertInfo(info, expected) {
	const names = Object.keys(info);

	assert.deepEqual(names.map(snakeCase).sort(),
		Object.keys(expected).sort());
	for (const name of names) {
		const value = info[name];
		const wanted = expected[snakeCase(name)];

		if (name === 'seed')
			assert.equal(String(value), wanted);
		else if (typeof value === 'number' && !Number.isInteger(value))
			assert.ok(Math.abs(value - wanted) <= 1e-9 * wanted,
				`${name}: ${value}, not ${wanted}`);
		else if (name === 'loadFactor' && wanted === null)
			assert.equal(value, 0);
		else
			assert.equal(typeof value === 'bigint' ? Number(value) : value,
				wanted, name);
	}
}

function assertProbes(filter, { family, values, copies, found }) {
	const read = readValues(family, values);
	const suffix = family === 'hash' ? 'Hash' : '';

	assert.equal(read.length, 200);
	for (const [i, value] of read.entries()) {
		const has = filter[`has${suffix}`](value);

		if (copies !== undefined)
			assert.equal(filter[`count${suffix}`](value), Number(copies[i]),
				`copies of ${values[i]}`);
		assert.equal(has, (copies ?? found)[i] !== '0', `has ${values[i]}`);
	}
}

describe('filters', () => {
	assert.ok(vectors.filters.length >= 60);
	for (const vector of vectors.filters) {
		test(vector.name, async () => {
			const filter = await CuckooFilter.from(vector.text);

			if (vector.bytes)
				assert.equal(Buffer.from(filter.toBytes()).toString('hex'),
					vector.bytes);
			assert.equal(filter.toText(), vector.text);
			assert.equal(filter.size, vector.count);
			assertInfo(filter.info(), vector.info);
			assertProbes(filter, vector.probes);

			const unchecked = await CuckooFilter.from(filter.toBytes(),
				{ check: false });

			assertProbes(unchecked, vector.probes);
		});
	}
});

describe('builds', () => {
	for (const { name, text, build } of vectors.filters) {
		if (!build)
			continue;
		test(name, async () => {
			const values = readValues(build.family, build.values);
			const options = readOptions(build);
			const filter = build.family === 'hash' ?
				await CuckooFilter.buildFromHashes(values, options) :
				await CuckooFilter.build(values, options);

			assert.equal(filter.toText(), text);
		});
	}
});

describe('changes', () => {
	for (const { name, text, steps } of vectors.filters) {
		if (!steps)
			continue;
		test(name, async () => {
			const filter = await CuckooFilter.new(readOptions(steps));
			const suffix = steps.family === 'hash' ? 'Hash' : '';

			for (const change of steps.changes) {
				for (const verb of Object.keys(change)) {
					for (const value of readValues(steps.family, change[verb]))
						filter[verb + suffix](value);
				}
			}
			assert.equal(filter.toText(), text);
		});
	}
});

describe('images', () => {
	assert.ok(vectors.images.length > 0);
	for (const [i, image] of vectors.images.entries()) {
		test(`${i} ${image.name ?? image.reason ?? image.verdict}`, async () => {
			const source = image.text ?? Buffer.from(image.bytes, 'hex');

			if (image.verdict === 'ok') {
				await CuckooFilter.from(source);
				return;
			}
			await assert.rejects(CuckooFilter.from(source),
				image.verdict === 'version' ? CuckooVersionError :
					CuckooFormatError);
		});
	}
});

test('hashes', async () => {
	for (const { family, seed, values, hashes } of vectors.hashes) {
		const filter = await CuckooFilter.new({
			capacity: 1, seed: BigInt(seed),
		});

		for (const [i, value] of values.entries())
			assert.equal(String(filter.hash(readValue(family, value))),
				hashes[i], `${family} ${value}`);
	}
});

test('families that go together', async () => {
	for (const [held, taken] of Object.entries(vectors.takes)) {
		for (const given of Object.keys(SAMPLES)) {
			const filter = await filterOfFamily(held);
			const value = readValue(given, SAMPLES[given]);
			const verbs = ['has', 'count', 'add', 'remove'];

			for (const verb of taken.includes(given) ? verbs : [])
				filter[verb](value);
			for (const verb of taken.includes(given) ? [] : verbs)
				assert.throws(() => filter[verb](value),
					CuckooFamilyError, `${held} ${verb} ${given}`);
		}
	}
});
