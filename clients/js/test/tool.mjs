/**
 * tool.mjs: answers requests of the suite that compares the clients, one JSON
 * object per line (test/vectors/README.md).
 */
import { createInterface } from 'node:readline';

import { CuckooFilter, CuckooVersionError } from '../index.js';
import { readOptions, readValue } from './values.mjs';

function hexBytes(hex) {
	if (!/^([0-9a-f]{2})*$/i.test(hex))
		throw new TypeError('no bytes in hex');
	return Buffer.from(hex, 'hex');
}

function filterOf({ bytes, text }) {
	return CuckooFilter.from(text ?? hexBytes(bytes));
}

function inHex(filter) {
	return { bytes: Buffer.from(filter.toBytes()).toString('hex') };
}

async function buildFilter(request) {
	const { family } = request;
	const values = request.values.map((value) => readValue(family, value));

	return inHex(family === 'hash' ?
		await CuckooFilter.buildFromHashes(values, readOptions(request)) :
		await CuckooFilter.build(values, readOptions(request)));
}

async function changeFilter(request) {
	const { family } = request;
	const filter = await filterOf(request);

	for (const [verb, values] of request.changes.flatMap(Object.entries)) {
		if (verb !== 'add' && verb !== 'remove')
			throw new TypeError(`unknown change "${verb}"`);
		for (const value of values)
			filter[family === 'hash' ? `${verb}Hash` : verb](
				readValue(family, value));
	}
	return inHex(filter);
}

async function verdict(request) {
	const source = request.text ?? hexBytes(request.bytes);

	try {
		await CuckooFilter.from(source);
		return { ok: true };
	} catch (error) {
		return {
			ok: false, error: error.message,
			version: error instanceof CuckooVersionError,
		};
	}
}

async function probe(request) {
	const { family } = request;
	const filter = await filterOf(request);
	const values = request.values.map((value) => readValue(family, value));
	const [has, count] = family === 'hash' ? ['hasHash', 'countHash'] :
		['has', 'count'];

	return {
		found: values.map((value) => filter[has](value)),
		counts: values.map((value) => filter[count](value)),
	};
}

const OPERATIONS = { build: buildFilter, change: changeFilter, verdict, probe };

async function answer(line) {
	try {
		const request = JSON.parse(line);

		if (!Object.hasOwn(OPERATIONS, request.op))
			throw new TypeError(`unknown operation "${request.op}"`);
		return await OPERATIONS[request.op](request);
	} catch (error) {
		return { error: error.message };
	}
}

for await (const line of createInterface({ input: process.stdin }))
	process.stdout.write(`${JSON.stringify(await answer(line))}\n`);
