/**
 * geometry.js: capacity and rate to the shape of a filter, and back
 * (docs/format.md, section 7).
 *
 * Slots and buckets are below 2^53, so that numbers hold them exactly; the
 * rate, in units of 2^-62, is a BigInt.
 */
import { CuckooParameterError } from './errors.js';
import {
	HEADER_BYTES, MAX_CAPACITY, MAX_COLUMNS, MAX_COPIES, MAX_IMAGE_BYTES,
	MAX_PREFIX_BITS, MIN_COLUMNS, MIN_FP_BITS, MIN_TABLE_CAPACITY, tableBytes,
	tableSlots,
} from './format.js';

const RATE_BITS = 62;
const MAX_RATE = 1n << 56n;
const MAX_SLOTS = 2 ** 30;

/** Slots of a table that can be relied on. */
export function usableSlots(t) {
	const slots = tableSlots(t);

	return Math.min(Math.floor(24 * slots / 25) - 10,
		Math.floor(959 * slots / 1000));
}

export function neededBuckets(capacity) {
	return Math.ceil(Math.max(Math.floor(((capacity + 10) * 25 + 23) / 24),
		Math.floor((capacity * 1000 + 958) / 959)) / 4);
}

/** The fewest index bits with which k columns hold so many entries. */
export function indexBits(k, capacity) {
	const buckets = neededBuckets(capacity);
	let q = 0;

	while (k * 2 ** q < buckets)
		q++;
	return q;
}

/** The fewest prefix bits that keep the rate, or one more than there can be. */
function prefixBits(k, q, capacity, rate) {
	const limited = rate > MAX_RATE ? MAX_RATE : rate;
	const needed = 129n * BigInt(capacity);
	let P = q + MIN_FP_BITS + 1;

	if (capacity > MAX_SLOTS)
		return MAX_PREFIX_BITS + 1;
	while (P <= MAX_PREFIX_BITS &&
		needed > (limited * BigInt(k)) >> BigInt(RATE_BITS - 6 - P))
		P++;
	return P;
}

/** A rate in units of 2^-62; scaling by a power of two rounds nothing. */
function scaledRate(fpr) {
	const rate = BigInt(Math.floor(fpr * 2 ** RATE_BITS));

	return rate > 0n ? rate : 1n;
}

/** The finest rate that P bits keep for so many entries. */
function finestRate(k, P, capacity) {
	const shift = BigInt(RATE_BITS - 6 - P);
	const weight = 129n * BigInt(Math.min(capacity, MAX_SLOTS));
	const columns = BigInt(k);

	if (weight / columns >= MAX_RATE >> shift)
		return MAX_RATE;
	return ((weight << shift) + columns - 1n) / columns;
}

function choose(capacity, rate) {
	const buckets = neededBuckets(capacity);
	let q = 0;

	if (capacity > MAX_SLOTS)
		return { problem: 'too large' };
	while (Math.ceil(buckets / 2 ** q) > MAX_COLUMNS)
		q++;

	const k = Math.max(MIN_COLUMNS, Math.ceil(buckets / 2 ** q));
	const P = prefixBits(k, q, capacity, rate);

	if (P > MAX_PREFIX_BITS)
		return { problem: 'rate' };
	if (HEADER_BYTES + tableBytes(k, q, P) > MAX_IMAGE_BYTES)
		return { problem: 'too large' };
	return { k, P };
}

/**
 * Check the parameters of a new filter and choose its shape.
 *
 * Returns an empty list.
 */
export function declare({ capacity, fpr = 0.01, maxCopies = 4, seed = 0n }) {
	const size = Number(capacity);

	if (!(size >= 1 && size <= MAX_CAPACITY))
		throw new CuckooParameterError(
			`capacity must be between 1 and ${MAX_CAPACITY}: it is ` +
			`${String(capacity)}` + (size > 0 && size < 1 ?
				'; did you mean fpr?' : ''));
	if (!(fpr > 0 && fpr < 1))
		throw new CuckooParameterError(
			'false positive rate must be greater than 0 and less than 1: it ' +
			`is ${String(fpr)}; 1 % is 0.01`);
	if (!Number.isInteger(maxCopies) || maxCopies < 1 ||
		maxCopies > MAX_COPIES)
		throw new CuckooParameterError(
			`max_copies must be between 1 and ${MAX_COPIES}: it is ` +
			`${String(maxCopies)}`);

	const rounded = Math.ceil(size);
	const shape = choose(rounded, scaledRate(fpr));

	if (shape.problem === 'too large')
		throw new CuckooParameterError(
			'cuckoo filter would be larger than 512 MiB', '54000');
	if (shape.problem === 'rate')
		throw new CuckooParameterError(
			`false positive rate ${fpr} is too small for a capacity of ` +
			`${rounded}`);
	return {
		isTable: false, merged: false, family: 0,
		k: shape.k, q: 0, P: shape.P,
		declaredCopies: maxCopies, maxCopies,
		seed: checkedSeed(seed), capacity: rounded, entries: 0, kicks: 0n,
		longestPath: 0, growths: 0, growthLoad: 0,
		list: new Uint32Array(0), body: null,
	};
}

/** A seed as a bigint of 64 bits with sign, as SQL shows it. */
export function checkedSeed(seed) {
	const isInteger = typeof seed === 'bigint' || Number.isSafeInteger(seed);

	if (!isInteger || BigInt.asIntN(64, BigInt(seed)) !== BigInt(seed))
		throw new CuckooParameterError(
			`seed must be an integer of 64 bits: it is ${String(seed)}`);
	return BigInt(seed);
}

/** The most hashes with which a list is no larger than a table of q = 0. */
export function listLimit(t) {
	return Math.floor(tableBytes(t.k, 0, t.P) / 8);
}

function tableFpr(k, P, entries) {
	return -Math.expm1(-2 * entries / (k * 2 ** P) * 129 / 128);
}

/** The false positive rate as the filter is. */
export function currentFpr(t) {
	return t.isTable ? tableFpr(t.k, t.P, t.entries) : t.entries * 2 ** -64;
}

/** The rate with as many entries as the capacity. */
export function promisedFpr(t) {
	if (!t.isTable &&
		(t.capacity < MIN_TABLE_CAPACITY || t.capacity <= listLimit(t)))
		return t.capacity * 2 ** -64;
	return tableFpr(t.k, t.P, t.capacity);
}

export function loadFactor(t) {
	if (!t.isTable)
		return t.entries > 0 ? 1 : 0;
	return t.entries / tableSlots(t);
}

function nextAbove(x) {
	const view = new DataView(new ArrayBuffer(8));

	view.setFloat64(0, x);
	view.setBigUint64(0, view.getBigUint64(0) + 1n);
	return view.getFloat64(0);
}

/** The roundest rate that gives a new filter the prefix bits of this one. */
export function declaredFpr(t) {
	const full = indexBits(t.k, t.capacity);
	const finest = finestRate(t.k, t.P, t.capacity);

	for (const digit of [1, 5, 2, 3, 4, 6, 7, 8, 9]) {
		for (let power = 100; power <= 1e19; power *= 10) {
			const fpr = digit / power;

			if (fpr <= 0.01 &&
				prefixBits(t.k, full, t.capacity, scaledRate(fpr)) === t.P)
				return fpr;
		}
	}

	const fpr = Number(finest) * 2 ** -RATE_BITS;

	return scaledRate(fpr) < finest ? nextAbove(fpr) : fpr;
}
