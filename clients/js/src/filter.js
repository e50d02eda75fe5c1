/**
 * filter.js: CuckooFilter, the filter as users see it.
 */
import { CuckooRemoveError, CuckooValueError } from './errors.js';
import {
	HashCollector, addHash, build, copyFilter, countInList, fittingCapacity,
	removeHash,
} from './change.js';
import {
	FAMILY, FAMILY_NAMES, damaged, decodeImage, decodeText, encodeImage,
	encodeText, imageBytes,
} from './format.js';
import {
	currentFpr, declare, declaredFpr, loadFactor, promisedFpr,
} from './geometry.js';
import { loadHasher } from './hash.js';
import {
	Key, bytesOf, dateBytes, decimal, familyError, inexact, textBytes,
	withoutBlanks, writeFloat,
} from './key.js';
import { checkTable, countHash, prepareTable } from './table.js';

const CHECKSUM_BYTES = 8;
const TEXT = FAMILY.text;
const CHAR = FAMILY['char(n)'];
const NUMBER = FAMILY.number;
const FLOAT = FAMILY.float;

/* Short keys are written here; views[n] are its first n bytes. */
const scratch = new Uint8Array(256);
const scratchView = new DataView(scratch.buffer);
const views = Array.from({ length: scratch.length + 1 },
	(_, length) => scratch.subarray(0, length));

/*
 * The bytes of a text, those of a short one in the scratch space: for these a
 * TextEncoder takes several times as long.
 */
function shortTextBytes(value) {
	let n = 0;

	if (value.length > scratch.length / 3)
		return textBytes(value);
	for (let i = 0; i < value.length; i++) {
		let c = value.charCodeAt(i);

		if (c > 0 && c < 0x80) {
			scratch[n++] = c;
			continue;
		}
		c = value.codePointAt(i);
		if (c === 0 || (c >= 0xD800 && c <= 0xDFFF))
			return textBytes(value);
		if (c < 0x800)
			scratch[n++] = 0xC0 | c >>> 6;
		else {
			if (c < 0x10000)
				scratch[n++] = 0xE0 | c >>> 12;
			else {
				scratch[n++] = 0xF0 | c >>> 18;
				scratch[n++] = 0x80 | c >>> 12 & 0x3F;
				i++;
			}
			scratch[n++] = 0x80 | c >>> 6 & 0x3F;
		}
		scratch[n++] = 0x80 | c & 0x3F;
	}
	return views[n];
}

function isValue(value) {
	return value !== null && value !== undefined;
}

/* Does a filter that holds a family take values of another? */
function accepts(held, given) {
	return held === given || held === 0 || (held === CHAR && given === TEXT);
}

function checkList(t) {
	let copies = 1;

	for (let i = 1; i < t.entries; i++) {
		const low = t.list[2 * i];
		const high = t.list[2 * i + 1];
		const lowBefore = t.list[2 * i - 2];
		const highBefore = t.list[2 * i - 1];

		if (high < highBefore || (high === highBefore && low < lowBefore))
			throw damaged(`hash at position ${i}: the hashes are not in ` +
				'ascending order');
		copies = high === highBefore && low === lowBefore ? copies + 1 : 1;
		if (copies > t.maxCopies)
			throw damaged(`hash at position ${i}: a value has more copies ` +
				'than its header allows');
	}
}

/* A hash given as a bigint, with or without sign, as two uint32. */
function splitHash(hash) {
	if (typeof hash !== 'bigint' || (BigInt.asIntN(64, hash) !== hash &&
		BigInt.asUintN(64, hash) !== hash))
		throw new CuckooValueError(
			`a hash is a bigint of 64 bits, not ${String(hash)}`);

	const unsigned = BigInt.asUintN(64, hash);

	return [Number(unsigned >> 32n), Number(unsigned & 0xFFFFFFFFn)];
}

/* Go through values that come at once or one by one, but for null. */
async function forEachValue(values, use) {
	if (Symbol.asyncIterator in Object(values)) {
		for await (const value of values) {
			if (isValue(value))
				use(value);
		}
		return;
	}
	for (const value of values) {
		if (isValue(value))
			use(value);
	}
}

export class CuckooFilter {
	#t;
	#hasher;
	#checksum;

	/** For the static functions below. */
	constructor(t, hasher, checksum) {
		if (!checksum)
			throw new TypeError('use CuckooFilter.from(), new() or build()');
		this.#t = t;
		this.#hasher = hasher;
		this.#checksum = checksum;
	}

	static async #make(t) {
		return new CuckooFilter(t, await loadHasher(t.seed),
			await loadHasher(0n));
	}

	/**
	 * A filter from its binary form (filter::bytea) or text form
	 * (filter::text).
	 *
	 * Untrusted bytes are checked to the last bit. With { check: false } only
	 * the header is: quick, but wrong bytes then give wrong answers.
	 */
	static async from(source, { check = true } = {}) {
		const bytes = typeof source === 'string' ? decodeText(source) :
			bytesOf(source, 'from()');
		const end = bytes.length - CHECKSUM_BYTES;

		if (end < 0)
			throw damaged('it is too short for a checksum');

		const image = bytes.subarray(0, end);

		if (check) {
			const view = new DataView(bytes.buffer, bytes.byteOffset);
			const checksum = await loadHasher(0n);

			checksum.hash(image);
			if (view.getUint32(end, true) !== checksum.low ||
				view.getUint32(end + 4, true) !== checksum.high)
				throw damaged('the checksum does not match: the bytes were ' +
					'truncated or changed');
		}

		const t = decodeImage(image);

		if (t.isTable)
			prepareTable(t);
		if (check)
			(t.isTable ? checkTable : checkList)(t);
		return CuckooFilter.#make(t);
	}

	/** An empty filter, as cf_new() makes it. */
	static async new(options) {
		return CuckooFilter.#make(declare(options));
	}

	/**
	 * A filter of values, as cf_agg() makes it, or with { bag: true } as
	 * cf_bag_agg() does, where each value counts as often as it comes. null
	 * and undefined are skipped. values is an iterable or async iterable.
	 */
	static async build(values, { capacity, bag = false, ...options } = {}) {
		const filter = await CuckooFilter.new(
			{ ...options, capacity: capacity ?? 1 });
		const collector = new HashCollector();
		const hasher = filter.#hasher;

		await forEachValue(values, (value) => {
			filter.#stamp(filter.#hash(value, 'add'));
			collector.add(hasher.high, hasher.low);
		});
		return filter.#buildOf(collector, bag, { ...options, capacity });
	}

	/** A filter of hashes, bigints, as cf_hash_agg() makes it. */
	static async buildFromHashes(hashes, { capacity, ...options } = {}) {
		const filter = await CuckooFilter.new(
			{ ...options, capacity: capacity ?? 1 });
		const collector = new HashCollector();

		await forEachValue(hashes, (hash) =>
			collector.add(...splitHash(hash)));
		return filter.#buildOf(collector, false, { ...options, capacity });
	}

	#buildOf(collector, bag, options) {
		const ordered = collector.ordered(bag ? this.#t.maxCopies : 1);
		const empty = declare({
			...options,
			capacity: options.capacity ?? fittingCapacity(ordered),
		});

		empty.family = this.#t.family;
		this.#t = build(empty, ordered);
		return this;
	}

	/*
	 * Hash a value for this filter; the hash is the hasher's then. Returns the
	 * family of the value.
	 */
	#hash(value, use) {
		const held = this.#t.family;

		switch (typeof value) {
			case 'string':
				if (held === CHAR)
					this.#hasher.hash(shortTextBytes(withoutBlanks(value)));
				else {
					this.#require(TEXT, use);
					this.#hasher.hash(shortTextBytes(value));
				}
				return TEXT;
			case 'number':
				return this.#hashNumber(value, use);
			default:
				return this.#hashOther(value, use);
		}
	}

	/* A number is what the filter holds: its only type here is a float. */
	#hashNumber(value, use) {
		if (this.#t.family === FLOAT) {
			writeFloat(scratchView, value);
			this.#hasher.hash(views[8]);
			return FLOAT;
		}
		this.#require(NUMBER, use);
		if (!Number.isSafeInteger(value))
			throw inexact(value);
		scratchView.setUint32(0, value, true);
		scratchView.setUint32(4, Math.floor(value / 2 ** 32), true);
		this.#hasher.hash(views[8]);
		return NUMBER;
	}

	#hashOther(value, use) {
		const { family, bytes } = keyOf(value);

		this.#require(family, use);
		this.#hasher.hash(family === TEXT && this.#t.family === CHAR ?
			withoutTrailing(bytes, 32) : bytes);
		return family;
	}

	#require(family, use) {
		if (!accepts(this.#t.family, family))
			throw familyError(this.#t.family, family, use);
	}

	#stamp(family) {
		if (this.#t.family === 0)
			this.#t.family = family;
	}

	#count(high, low, enough) {
		return this.#t.isTable ? countHash(this.#t, high, low, enough) :
			countInList(this.#t, high, low);
	}

	/** Entries: the copies of all values. */
	get size() {
		return this.#t.entries;
	}

	/** What kind of values it holds, null while none was added. */
	get family() {
		return this.#t.family === 0 ? null : FAMILY_NAMES[this.#t.family];
	}

	/** false: certainly not added; true: probably added. */
	has(value) {
		this.#hash(value, 'probe');
		return this.#count(this.#hasher.high, this.#hasher.low, 1) > 0;
	}

	/** Copies of a value, 0 to maxCopies. */
	count(value) {
		this.#hash(value, 'probe');
		return this.#count(this.#hasher.high, this.#hasher.low, Infinity);
	}

	/** has() for each of many values. */
	hasMany(values) {
		return Array.from(values, (value) => this.has(value));
	}

	/** Is each of the values probably in the filter? */
	hasAll(values) {
		for (const value of values) {
			if (!this.has(value))
				return false;
		}
		return true;
	}

	/** Is one of the values probably in the filter? */
	hasAny(values) {
		for (const value of values) {
			if (this.has(value))
				return true;
		}
		return false;
	}

	/** Those of the values that are probably in the filter, as they come. */
	* candidates(values) {
		for (const value of values) {
			if (this.has(value))
				yield value;
		}
	}

	/**
	 * Add one more copy of a value. Returns false if the filter has maxCopies
	 * of it already and stays as it is. Throws CuckooFullError, with the
	 * filter as it was, if there is no room.
	 */
	add(value) {
		const family = this.#hash(value, 'add');
		const { high, low } = this.#hasher;
		const changed = addHash(this.#t, high, low);

		this.#stamp(family);
		return changed;
	}

	/** Add each of the values, but for null; or none, if one cannot be. */
	addAll(values) {
		const before = this.#t;

		this.#t = copyFilter(before);
		try {
			for (const value of values) {
				if (isValue(value))
					this.add(value);
			}
		} catch (error) {
			this.#t = before;
			throw error;
		}
		return this;
	}

	/**
	 * Take out one copy of a value that was added. Returns false if there is
	 * none, or maxCopies of it: nobody knows how often it was added then.
	 *
	 * Removing what was never added can take out another value.
	 */
	remove(value) {
		this.#requireRemovable();
		this.#hash(value, 'remove');
		return removeHash(this.#t, this.#hasher.high, this.#hasher.low);
	}

	#requireRemovable() {
		if (this.#t.declaredCopies === 1)
			throw new CuckooRemoveError(
				'cannot remove values from an append-only cuckoo filter');
		if (this.#t.merged)
			throw new CuckooRemoveError(
				'cannot remove values from a merged cuckoo filter');
	}

	/** The hash of a value, as cf_hash(value, seed) returns it. */
	hash(value) {
		this.#hash(value, 'probe');
		return BigInt.asIntN(64, BigInt(this.#hasher.high) << 32n |
			BigInt(this.#hasher.low));
	}

	/** has() of a value hashed before, with the seed of the filter. */
	hasHash(hash) {
		return this.#count(...splitHash(hash), 1) > 0;
	}

	countHash(hash) {
		return this.#count(...splitHash(hash), Infinity);
	}

	addHash(hash) {
		return addHash(this.#t, ...splitHash(hash));
	}

	removeHash(hash) {
		this.#requireRemovable();
		return removeHash(this.#t, ...splitHash(hash));
	}

	/** What cf_info() says. */
	info() {
		const t = this.#t;
		const bytes = 4 + imageBytes(t);

		return {
			form: t.isTable ? 'table' : 'list',
			family: this.family,
			capacity: t.capacity,
			entries: t.entries,
			loadFactor: loadFactor(t),
			fpr: currentFpr(t),
			promisedFpr: promisedFpr(t),
			declaredFpr: declaredFpr(t),
			bytes,
			bitsPerValue: t.entries === 0 ? null : 8 * bytes / t.entries,
			maxCopies: t.declaredCopies,
			currentCopies: t.maxCopies,
			merged: t.merged,
			seed: t.seed,
			columns: t.k,
			indexBits: t.q,
			prefixBits: t.P,
			fingerprintBits: t.isTable ? t.P - t.q : null,
			kicks: BigInt.asIntN(64, t.kicks),
			longestPath: t.longestPath,
			growths: t.growths,
			loadAtGrowth: t.growths === 0 ? null : t.growthLoad / 10000,
			formatVersion: 1,
			hashVersion: 1,
		};
	}

	/** The binary form: what filter::bytea is, and a bytea is cast from. */
	toBytes() {
		const bytes = encodeImage(this.#t, CHECKSUM_BYTES);
		const end = bytes.length - CHECKSUM_BYTES;
		const view = new DataView(bytes.buffer);

		this.#checksum.hash(bytes.subarray(0, end));
		view.setUint32(end, this.#checksum.low, true);
		view.setUint32(end + 4, this.#checksum.high, true);
		return bytes;
	}

	/** The text form: what filter::text is, and a literal is read from. */
	toText() {
		return encodeText(this.toBytes());
	}

	/** The text form, so that a filter can be put into JSON. */
	toJSON() {
		return this.toText();
	}

	/** A filter of the same content that changes on its own. */
	clone() {
		return new CuckooFilter(copyFilter(this.#t), this.#hasher,
			this.#checksum);
	}

	get [Symbol.toStringTag]() {
		return 'CuckooFilter';
	}
}

function withoutTrailing(bytes, byte) {
	let end = bytes.length;

	while (end > 0 && bytes[end - 1] === byte)
		end--;
	return bytes.subarray(0, end);
}

/* A value that is neither string nor number as its family and key bytes. */
function keyOf(value) {
	if (value instanceof Key)
		return value;
	switch (typeof value) {
		case 'bigint':
			return decimal(value);
		case 'boolean':
			return {
				family: FAMILY.bool, bytes: Uint8Array.of(value ? 1 : 0),
			};
		case 'object':
			if (value instanceof Date)
				return { family: FAMILY.timestamptz, bytes: dateBytes(value) };
			if (value instanceof ArrayBuffer || ArrayBuffer.isView(value))
				return { family: FAMILY.bytes, bytes: bytesOf(value) };
			break;
		default:
			break;
	}
	throw new CuckooValueError(value === null || value === undefined ?
		'null is no key' : 'cannot use values of type ' +
		`${value?.constructor?.name ?? typeof value} as filter keys`, '0A000');
}
