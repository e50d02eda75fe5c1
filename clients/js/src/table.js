/**
 * table.js: the table, k * 2^q buckets of four slots (docs/format.md, sections
 * 5 and 6): count, add, remove, double, check.
 *
 * A hash is two uint32. An address is a column, the first 16 and the last 24
 * of the 40 variable bits, and the permanent bits; so it does not depend on q.
 * In an unpacked bucket an entry is a number below 2^48, its sort key: the
 * nibble above the remainder. 0 is an empty slot, and empty slots come first.
 */
import {
	MIN_FP_BITS, SUPERBLOCK_BITS, damaged, tableBytes, tableSlots,
} from './format.js';
import { usableSlots } from './geometry.js';

export const OK = 0;
export const SATURATED = 1;
export const NO_ROOM = 2;

const SLOTS = 4;
const NIBBLE = 2 ** 44;
const MAX_SEARCH = 2048;

/* Nibbles of each code, the lowest first; codes that are none have zeros. */
const CODES = 3876;
const NIBBLES = new Uint16Array(4096);

for (let n3 = 0, code = 0; n3 < 16; n3++) {
	for (let n2 = 0; n2 <= n3; n2++) {
		for (let n1 = 0; n1 <= n2; n1++) {
			for (let n0 = 0; n0 <= n1; n0++)
				NIBBLES[code++] = n3 << 12 | n2 << 8 | n1 << 4 | n0;
		}
	}
}

/* What follows from the permanent bits: the sum of columns, and the flip. */
const MIXED = new Uint16Array(256);
const FLIPS = new Uint8Array(256);

for (let perm = 1; perm < 256; perm++) {
	const m = BigInt.asUintN(64,
		BigInt(perm * perm) * 0x9E3779B97F4A7C15n);

	MIXED[perm] = Number(m >> 48n);
	FLIPS[perm] = 0x80 | Number(m >> 40n & 0x7Fn);
}

/** Give a table what follows from k, q and P. */
export function prepareTable(t) {
	t.f = t.P - t.q;
	t.shift = 48 - t.P;
	t.superblock = Math.max(0, t.q - SUPERBLOCK_BITS);
	t.buckets = t.k * 2 ** t.q;
	t.lowMask = 2 ** Math.min(20, t.f - 8) - 1;
	t.highMask = t.f > 28 ? 2 ** (t.f - 28) - 1 : 0;
	t.sums = MIXED.map((top) => (top * t.k) >>> 16);
	return t;
}

/** An empty table with the header of a filter and so many index bits. */
export function newTable(filter, q) {
	return prepareTable({
		...filter,
		isTable: true, q, entries: 0, kicks: 0n, longestPath: 0, list: null,
		body: new Uint8Array(tableBytes(filter.k, q, filter.P)),
	});
}

export function copyTable(t) {
	return { ...t, body: t.body.slice() };
}

function bucketOf(t, column, index) {
	return t.q <= SUPERBLOCK_BITS ? column << t.q | index :
		(Math.imul(index & (1 << t.superblock) - 1, t.k) + column) * 256 +
		(index >>> t.superblock);
}

function indexOf(t, high, low) {
	return t.q <= 16 ? high >>> (16 - t.q) :
		high << (t.q - 16) | low >>> (40 - t.q);
}

/* Does the part of a remainder beyond 24 bits, at `bit`, match? */
function highMatches(t, start, bit, high, low) {
	const { body, shift } = t;
	const p = start + (bit >>> 3);
	const word = body[p] | body[p + 1] << 8 | body[p + 2] << 16 |
		body[p + 3] << 24;
	const wanted = shift >= 4 ? high >>> (shift - 4) :
		high << (4 - shift) | low >>> (shift + 20);

	return ((word >>> (bit & 7) ^ wanted) & t.highMask) === 0;
}

/**
 * Copies of a value in one of its buckets, without unpacking it.
 *
 * A remainder has up to 44 bits: the first 24 are compared, and if they match
 * the others.
 */
function countAt(t, column, high, low, perm) {
	const { body, shift } = t;
	const bucket = bucketOf(t, column, indexOf(t, high, low));
	const nibble = Math.imul(bucket, t.f - 1);
	const start = nibble >>> 1;
	const first = (nibble & 1) << 2;
	const mask = t.lowMask << 4 | 15;
	const rest = (shift >= 24 ? high >>> (shift - 24) :
		high << (24 - shift) | low >>> shift) & t.lowMask;
	const wanted = rest << 4 | perm >>> 4;
	let nibbles =
		NIBBLES[(body[start] | body[start + 1] << 8) >>> first & 0xFFF];
	let bit = first + 12;
	let copies = 0;

	for (let slot = 0; slot < SLOTS; slot++) {
		if (((nibbles ^ perm) & 15) === 0) {
			const p = start + (bit >>> 3);
			const word = body[p] | body[p + 1] << 8 | body[p + 2] << 16 |
				body[p + 3] << 24;

			if ((word >>> (bit & 7) & mask) === wanted &&
				(t.highMask === 0 ||
					highMatches(t, start, bit + 24, high, low)))
				copies++;
		}
		nibbles >>>= 4;
		bit += t.f - 4;
	}
	return copies;
}

/** Copies of a hash, or at least `enough` if there are as many. */
export function countHash(t, hashHigh, hashLow, enough) {
	const perm = (hashLow & 0xFF) || 1;
	const low = hashLow >>> 8;
	const high = hashHigh & 0xFFFF;
	const column = Math.imul(hashHigh >>> 16, t.k) >>> 16;
	const copies = countAt(t, column, high, low, perm);

	if (copies >= enough)
		return copies;

	const other = t.sums[perm] - column;

	return copies + countAt(t, other < 0 ? other + t.k : other,
		high ^ FLIPS[perm] << 8, low, perm);
}

/** The address of a hash, cut to the prefix that the table knows. */
export function hashAddress(t, high, low) {
	const prefix = Math.floor(((high & 0xFFFF) * 2 ** 24 + (low >>> 8)) /
		2 ** t.shift);

	return {
		column: Math.imul(high >>> 16, t.k) >>> 16,
		v: prefix * 2 ** t.shift,
		perm: (low & 0xFF) || 1,
	};
}

/* The address that v and a perm have at the other column. */
function alternate(t, { column, v, perm }) {
	const other = t.sums[perm] - column;
	const top = Math.floor(v / 2 ** 32);
	const flipped = v + ((top ^ FLIPS[perm]) - top) * 2 ** 32;

	return {
		column: other < 0 ? other + t.k : other,
		/* the flip may reach below what is known */
		v: flipped - flipped % 2 ** t.shift,
		perm,
	};
}

/* The bucket of an address, and the sort key of its fingerprint. */
function place(t, { column, v, perm }) {
	const prefix = v / 2 ** t.shift;
	const rest = prefix % 2 ** (t.f - 8);

	return {
		bucket: bucketOf(t, column, (prefix - rest) / 2 ** (t.f - 8)),
		key: (perm & 15) * NIBBLE + rest * 16 + (perm >>> 4),
	};
}

export function places(t, address) {
	return [place(t, address), place(t, alternate(t, address))];
}

/** The address of an entry, by its bucket and sort key. */
export function entryAddress(t, bucket, key) {
	const remainder = key % NIBBLE;
	const high = remainder % 16;
	let column;
	let index;

	if (t.q <= SUPERBLOCK_BITS) {
		column = bucket >>> t.q;
		index = bucket & (1 << t.q) - 1;
	} else {
		const group = bucket >>> 8;

		column = group % t.k;
		index = (bucket & 255) << t.superblock | Math.floor(group / t.k);
	}
	return {
		column,
		v: (index * 2 ** (t.f - 8) + (remainder - high) / 16) * 2 ** t.shift,
		perm: high << 4 | (key - remainder) / NIBBLE,
	};
}

function otherPlace(t, bucket, key) {
	return place(t, alternate(t, entryAddress(t, bucket, key)));
}

function keyPerm(key) {
	const remainder = key % NIBBLE;

	return (remainder % 16) << 4 | (key - remainder) / NIBBLE;
}

/* A field of at most 24 bits. */
function getBits(body, start, bit, mask) {
	const p = start + (bit >>> 3);
	const word = body[p] | body[p + 1] << 8 | body[p + 2] << 16 |
		body[p + 3] << 24;

	return word >>> (bit & 7) & mask;
}

function putBits(body, start, bit, mask, value) {
	const p = start + (bit >>> 3);
	const shift = bit & 7;
	const word = (body[p] | body[p + 1] << 8 | body[p + 2] << 16 |
		body[p + 3] << 24) & ~(mask << shift) | value << shift;

	body[p] = word;
	body[p + 1] = word >>> 8;
	body[p + 2] = word >>> 16;
	body[p + 3] = word >>> 24;
}

/** The four sort keys in a bucket. */
export function readBucket(t, bucket, keys) {
	const nibble = Math.imul(bucket, t.f - 1);
	const start = nibble >>> 1;
	const mask = t.lowMask << 4 | 15;
	let bit = (nibble & 1) << 2;
	let nibbles = NIBBLES[getBits(t.body, start, bit, 0xFFF)];

	bit += 12;
	for (let slot = 0; slot < SLOTS; slot++) {
		keys[slot] = (nibbles & 15) * NIBBLE +
			getBits(t.body, start, bit, mask) + (t.highMask === 0 ? 0 :
			getBits(t.body, start, bit + 24, t.highMask) * 2 ** 24);
		nibbles >>>= 4;
		bit += t.f - 4;
	}
	return keys;
}

/**
 * Write four sort keys. They are in ascending order, unless a bucket that
 * nobody checked was not: then they are sorted.
 */
function writeBucket(t, bucket, keys) {
	if (keys[0] > keys[1] || keys[1] > keys[2] || keys[2] > keys[3])
		keys.sort((a, b) => a - b);

	const nibble = Math.imul(bucket, t.f - 1);
	const start = nibble >>> 1;
	const mask = t.lowMask << 4 | 15;
	const n = [0, 0, 0, 0];
	let bit = ((nibble & 1) << 2) + 12;

	for (let slot = 0; slot < SLOTS; slot++) {
		const remainder = keys[slot] % NIBBLE;

		n[slot] = (keys[slot] - remainder) / NIBBLE;
		putBits(t.body, start, bit, mask, remainder % 2 ** 24);
		if (t.highMask !== 0)
			putBits(t.body, start, bit + 24, t.highMask,
				Math.floor(remainder / 2 ** 24));
		bit += t.f - 4;
	}
	putBits(t.body, start, (nibble & 1) << 2, 0xFFF, n[0] +
		(n[1] + 1) * n[1] / 2 + (n[2] + 2) * (n[2] + 1) * n[2] / 6 +
		(n[3] + 3) * (n[3] + 2) * (n[3] + 1) * n[3] / 24);
}

/** Put a key into a bucket with an empty slot. */
function insertKey(keys, key) {
	let slot = 0;

	for (; slot < SLOTS - 1 && keys[slot + 1] < key; slot++)
		keys[slot] = keys[slot + 1];
	keys[slot] = key;
}

/** Put the key of a place into its bucket, which is `keys`. */
export function insertInto(t, { bucket, key }, keys) {
	insertKey(keys, key);
	writeBucket(t, bucket, keys);
}

function deleteSlot(keys, slot) {
	for (; slot > 0; slot--)
		keys[slot] = keys[slot - 1];
	keys[0] = 0;
}

function countKey(keys, key) {
	let copies = 0;

	for (let slot = 0; slot < SLOTS; slot++)
		copies += keys[slot] === key ? 1 : 0;
	return copies;
}

export function countAddress(t, address) {
	const keys = [0, 0, 0, 0];
	let copies = 0;

	for (const { bucket, key } of places(t, address))
		copies += countKey(readBucket(t, bucket, keys), key);
	return copies;
}

/*
 * Buckets visited by a search, by their place in the superblock: those with
 * the number of the search.
 */
const visits = new Uint32Array(127 * 256);
let searchNumber = 0;

/**
 * Search the nearest bucket with an empty slot, breadth first, from the two
 * buckets of an address, which are full. Changes nothing.
 *
 * Returns the buckets reached, each with its parent's position and the slot
 * there; `found` is the position of the one with an empty slot, or -1.
 */
export function searchRoom(t, roots) {
	const superblockBuckets = t.k * 2 ** Math.min(t.q, SUPERBLOCK_BITS);
	const base = roots[0].bucket - roots[0].bucket % superblockBuckets;
	const nodes = { buckets: [], parents: [], slots: [], found: -1 };
	const keys = [0, 0, 0, 0];
	const keysThere = [0, 0, 0, 0];
	const visit = (bucket, parent, slot) => {
		if (visits[bucket - base] === searchNumber)
			return false;
		visits[bucket - base] = searchNumber;
		nodes.buckets.push(bucket);
		nodes.parents.push(parent);
		nodes.slots.push(slot);
		return true;
	};

	if (++searchNumber === 2 ** 32) {
		visits.fill(0);
		searchNumber = 1;
	}
	visit(roots[0].bucket, -1, 0);
	visit(roots[1].bucket, -1, 0);
	for (let i = 0; i < nodes.buckets.length; i++) {
		readBucket(t, nodes.buckets[i], keys);
		for (let slot = 0; slot < SLOTS; slot++) {
			if (nodes.buckets.length === MAX_SEARCH)
				return nodes;
			if (keyPerm(keys[slot]) === 0)
				continue;

			const next = otherPlace(t, nodes.buckets[i], keys[slot]).bucket;

			if (visit(next, i, slot) &&
				readBucket(t, next, keysThere)[0] === 0) {
				nodes.found = nodes.buckets.length - 1;
				return nodes;
			}
		}
	}
	return nodes;
}

/* Insert where both buckets are full: bring an empty slot nearer. */
function insertByRelocation(t, roots) {
	const nodes = searchRoom(t, roots);
	let node = nodes.found;
	let moves = 0;

	if (node < 0)
		return NO_ROOM;

	let keys = readBucket(t, nodes.buckets[node], [0, 0, 0, 0]);

	for (; nodes.parents[node] >= 0; node = nodes.parents[node]) {
		const parent = nodes.buckets[nodes.parents[node]];
		const parentKeys = readBucket(t, parent, [0, 0, 0, 0]);
		const slot = nodes.slots[node];

		insertKey(keys, otherPlace(t, parent, parentKeys[slot]).key);
		deleteSlot(parentKeys, slot);
		writeBucket(t, nodes.buckets[node], keys);
		keys = parentKeys;
		moves++;
	}
	insertKey(keys, nodes.buckets[node] === roots[0].bucket ?
		roots[0].key : roots[1].key);
	writeBucket(t, nodes.buckets[node], keys);

	if (t.kicks + BigInt(moves) < 1n << 64n)
		t.kicks += BigInt(moves);
	t.longestPath = Math.max(t.longestPath, Math.min(moves, 255));
	return OK;
}

/** Add one more copy: OK, or with the table as it was SATURATED or NO_ROOM. */
export function addAddress(t, address) {
	const both = places(t, address);
	const contents = both.map(({ bucket }) =>
		readBucket(t, bucket, [0, 0, 0, 0]));
	let status = OK;

	if (countKey(contents[0], both[0].key) +
		countKey(contents[1], both[1].key) >= t.maxCopies)
		return SATURATED;

	const i = contents[0][0] === 0 ? 0 : contents[1][0] === 0 ? 1 : -1;

	if (i >= 0) {
		insertInto(t, both[i], contents[i]);
	} else
		status = insertByRelocation(t, both);
	/* of an unchecked table the number can be wrong, but stays a possible one */
	if (status === OK && t.entries < tableSlots(t))
		t.entries++;
	return status;
}

/**
 * Take out one copy of an address, from the primary bucket if one is there.
 *
 * Returns the copies that there were; with none or maxCopies of them the table
 * is as it was.
 */
export function removeAddress(t, address) {
	const both = places(t, address);
	const contents = both.map(({ bucket }) =>
		readBucket(t, bucket, [0, 0, 0, 0]));
	const copies = countKey(contents[0], both[0].key) +
		countKey(contents[1], both[1].key);

	if (copies === 0 || copies >= t.maxCopies)
		return copies;

	const i = contents[0].includes(both[0].key) ? 0 : 1;

	deleteSlot(contents[i], contents[i].indexOf(both[i].key));
	writeBucket(t, both[i].bucket, contents[i]);
	t.entries = Math.max(0, t.entries - 1);
	return copies;
}

/** Is the table to be doubled before the next entry is added? */
export function isDue(t) {
	return t.entries < t.capacity && tableSlots(t) > 64 &&
		t.f > MIN_FP_BITS && t.entries >= usableSlots(t);
}

/** A table of twice as many buckets with the entries of this one. */
export function doubleTable(t) {
	const doubled = newTable(t, t.q + 1);
	const childFactor = 2 ** (doubled.f - 4);
	const keys = [0, 0, 0, 0];

	doubled.entries = t.entries;
	doubled.kicks = t.kicks;
	doubled.longestPath = t.longestPath;
	doubled.growths = Math.min(t.growths + 1, 255);
	doubled.growthLoad = Math.floor(t.entries * 10000 / tableSlots(t));
	for (let bucket = 0; bucket < t.buckets; bucket++) {
		const children = [[0, 0, 0, 0], [0, 0, 0, 0]];

		readBucket(t, bucket, keys);
		for (const key of keys) {
			if (key === 0)
				continue;

			const remainder = key % NIBBLE;
			const child = remainder >= childFactor ? 1 : 0;

			insertKey(children[child], key - child * childFactor);
		}
		if (keys[SLOTS - 1] === 0)
			continue;

		const { column, v } = entryAddress(t, bucket, 0);
		const index = Math.floor(v / 2 ** (40 - t.q)) * 2;

		for (let child = 0; child < 2; child++)
			writeBucket(doubled, bucketOf(doubled, column, index + child),
				children[child]);
	}
	return doubled;
}

/**
 * Go through the values in a bucket that are to be dealt with there: each
 * value of a table once, where it is met first.
 *
 * `meet` has the copies here and there, and the key here and place there. It
 * returns true to begin again with the bucket, which it has changed.
 */
function meetValues(t, bucket, meet) {
	const keys = readBucket(t, bucket, [0, 0, 0, 0]);
	const keysThere = [0, 0, 0, 0];

	for (let slot = 0; slot < SLOTS; slot++) {
		const key = keys[slot];

		if (keyPerm(key) === 0 || (slot > 0 && keys[slot - 1] === key))
			continue;

		const other = otherPlace(t, bucket, key);
		const here = countKey(keys, key);
		const there = countKey(readBucket(t, other.bucket, keysThere),
			other.key);

		if (there > 0 && (other.bucket < bucket ||
			(other.bucket === bucket && other.key < key)))
			continue;
		if (meet(here, there, key, other)) {
			readBucket(t, bucket, keys);
			slot = -1;
		}
	}
}

/** The copies beyond `allowed` that each value has, summed up. */
export function copiesAbove(t, allowed) {
	let above = 0;

	for (let bucket = 0; bucket < t.buckets; bucket++) {
		meetValues(t, bucket, (here, there) => {
			above += Math.max(0, here + there - allowed);
			return false;
		});
	}
	return above;
}

function dropKeys(t, bucket, key, copies) {
	const keys = readBucket(t, bucket, [0, 0, 0, 0]);

	for (let i = 0; i < copies; i++)
		deleteSlot(keys, keys.indexOf(key));
	writeBucket(t, bucket, keys);
	t.entries = Math.max(0, t.entries - copies);
}

/**
 * Take out the copies of each value beyond maxCopies, in buckets from `begin`
 * to `end`: from its other bucket first, then from the one where it is met.
 */
export function dropCopies(t, begin = 0, end = t.buckets) {
	for (let bucket = begin; bucket < end; bucket++) {
		meetValues(t, bucket, (here, there, key, other) => {
			const surplus = here + there - t.maxCopies;

			if (surplus <= 0)
				return false;
			dropKeys(t, other.bucket, other.key, Math.min(there, surplus));
			dropKeys(t, bucket, key, Math.max(0, surplus - there));
			return true;
		});
	}
}

/* Could writeBucket() have written this? */
function bucketIsSound(t, bucket, keys) {
	const nibble = Math.imul(bucket, t.f - 1);

	if (getBits(t.body, nibble >>> 1, (nibble & 1) << 2, 0xFFF) >= CODES)
		return false;
	readBucket(t, bucket, keys);
	for (let slot = 0; slot < SLOTS; slot++) {
		if ((keys[slot] !== 0 && keyPerm(keys[slot]) === 0) ||
			(slot > 0 && keys[slot - 1] > keys[slot]))
			return false;
	}
	return true;
}

/** Throw unless the body of a table is sound to the last bit. */
export function checkTable(t) {
	const keys = [0, 0, 0, 0];
	const bits = t.buckets * 4 * (t.f - 1);
	let entries = 0;

	for (let bucket = 0; bucket < t.buckets; bucket++) {
		if (!bucketIsSound(t, bucket, keys))
			throw damaged(`bucket ${bucket}: a bucket is malformed`);
		entries += SLOTS - countKey(keys, 0);
	}

	const end = Math.floor(bits / 8);

	if ((bits % 8 !== 0 && t.body[end] >>> (bits % 8) !== 0) ||
		t.body.subarray(Math.ceil(bits / 8)).some((byte) => byte !== 0))
		throw damaged('table: the bits after the last bucket are not zero');
	if (entries !== t.entries)
		throw damaged(
			'table: the number of entries is not what its header says');
	for (let bucket = 0; bucket < t.buckets; bucket++) {
		meetValues(t, bucket, (here, there) => {
			if (here + there > t.maxCopies)
				throw damaged(`bucket ${bucket}: a value has more copies ` +
					'than its header allows');
			return false;
		});
	}
}
