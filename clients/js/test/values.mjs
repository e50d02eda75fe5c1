/**
 * values.mjs: values as the vectors write them (test/vectors/README.md).
 */
import {
	bool, bytes, char, date, decimal, float, text, time, timestamp,
	timestamptz, uuid,
} from '../index.js';

const READERS = {
	number: decimal,
	float: (value) => float(Number(value)),
	text,
	'char(n)': char,
	bytes: (value) => bytes(`\\x${value}`),
	bool,
	uuid,
	date,
	timestamp,
	timestamptz,
	time,
};

/** A JSON value as one that a filter takes; of the family hash, a bigint. */
export function readValue(family, value) {
	if (family === 'hash')
		return BigInt(value);

	const reader = Object.hasOwn(READERS, family) ? READERS[family] : null;

	if (reader === null)
		throw new TypeError(`unknown family "${family}"`);
	return reader(value);
}

/** All of them; also a range of integers. */
export function readValues(family, values) {
	if (Array.isArray(values))
		return values.map((value) => readValue(family, value));

	const once = Array.from({ length: values.to - values.from + 1 },
		(_, i) => values.from + i);

	return Array.from({ length: values.times ?? 1 }, () => once).flat();
}

/** The parameters of a filter as the vectors write them. */
export function readOptions({ capacity, fpr, max_copies, seed, bag }) {
	return {
		capacity, fpr, bag: bag ?? false, maxCopies: max_copies,
		seed: seed === undefined ? undefined : BigInt(seed),
	};
}
