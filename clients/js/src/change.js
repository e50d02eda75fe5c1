/**
 * change.js: what changes a filter as a whole: adding, which can make it a
 * table or another table, removing, and building from many hashes
 * (docs/format.md, sections 6, 7 and 11).
 *
 * Every number here decides bytes: a filter made here is, to the byte, the one
 * that the server makes of the same values.
 */
import { CuckooFullError } from './errors.js';
import {
	MAX_IMAGE_BYTES, MAX_LIST_ENTRIES, MIN_FP_BITS, MIN_TABLE_CAPACITY,
	SUPERBLOCK_BITS, imageBytes, tableSlots,
} from './format.js';
import { indexBits, listLimit, loadFactor, usableSlots } from './geometry.js';
import {
	NO_ROOM, OK, SATURATED, addAddress, copiesAbove, copyTable, countAddress,
	doubleTable, dropCopies, entryAddress, hashAddress, insertInto, isDue,
	newTable, places, readBucket, removeAddress, searchRoom,
} from './table.js';

/* Statuses beyond those of a table. */
const FULL = 'full';
const COLLIDING = 'colliding';
const TOO_LARGE = 'too large';

/* A search that reaches so few buckets has found a pocket. */
const POCKET_BUCKETS = 64;
const SMALL_TABLE_BUCKETS = 1024;

/* Position of the first hash in a list that is not below the given one. */
function lowerBound(t, high, low) {
	let begin = 0;
	let end = t.entries;

	while (begin < end) {
		const middle = begin + end >>> 1;
		const middleHigh = t.list[2 * middle + 1];

		if (middleHigh < high ||
			(middleHigh === high && t.list[2 * middle] < low))
			begin = middle + 1;
		else
			end = middle;
	}
	return begin;
}

/** Copies of a hash in a list. */
export function countInList(t, high, low) {
	const begin = lowerBound(t, high, low);
	let end = begin;

	while (end < t.entries && t.list[2 * end + 1] === high &&
		t.list[2 * end] === low)
		end++;
	return end - begin;
}

function insertIntoList(t, high, low) {
	const position = 2 * lowerBound(t, high, low);

	if (t.list.length < 2 * t.entries + 2) {
		const longer = new Uint32Array(Math.min(3 * t.entries + 16,
			2 * MAX_LIST_ENTRIES));

		longer.set(t.list);
		t.list = longer;
	}
	t.list.copyWithin(position + 2, position, 2 * t.entries);
	t.list[position] = low;
	t.list[position + 1] = high;
	t.entries++;
}

/* The buckets that a search for room reaches, and what they hold. */
function lookAround(t, address) {
	const { buckets } = searchRoom(t, places(t, address));
	const keys = [0, 0, 0, 0];
	const around = {
		buckets: buckets.length, used: 0, hot: 0,
		most: countAddress(t, address) + 1,
	};

	for (const bucket of buckets) {
		readBucket(t, bucket, keys);
		for (const key of keys) {
			if (key === 0)
				continue;

			const copies = countAddress(t, entryAddress(t, bucket, key));

			around.used++;
			around.hot += copies > 2 ? 1 : 0;
			around.most = Math.max(around.most, copies);
		}
	}
	return around;
}

/* Step 1: will the table be doubled one day, and helps that now? */
function growsAnyway(t, n) {
	if (n >= t.capacity || t.f === MIN_FP_BITS ||
		t.q >= indexBits(t.k, t.capacity))
		return false;
	return 4 * n >= 3 * tableSlots(t) || t.buckets <= SMALL_TABLE_BUCKETS ||
		(3 * n >= tableSlots(t) && 8 * copiesAbove(t, 2) >= t.entries);
}

/* Step 2: are third and fourth copies what leaves no room? */
function lowersCopies(t, around, n) {
	const usable = usableSlots(t);

	if (t.maxCopies <= 2 || around.most <= 2 ||
		(n >= usable && n < t.capacity))
		return false;
	return around.buckets <= POCKET_BUCKETS ||
		(n < usable && 32 * around.hot >= around.used);
}

/* Step 4: are the values chosen so that they share their buckets? */
function isColliding(t, around, n) {
	if (t.buckets <= SMALL_TABLE_BUCKETS)
		return false;
	if (4 * n < tableSlots(t))
		return true;
	return around.buckets <= POCKET_BUCKETS && n < usableSlots(t) &&
		(2 * n < tableSlots(t) || 16 * copiesAbove(t, 1) < t.entries);
}

/*
 * What to do about a table in which an address finds no room: { grow },
 * { copies } or { refuse }. `expected` is the number of entries that are to
 * come in a build, 0 otherwise.
 */
function chooseRemedy(t, address, expected) {
	const n = expected > t.entries ? expected - 1 : t.entries;

	if (growsAnyway(t, n))
		return { grow: true };

	const around = lookAround(t, address);

	if (lowersCopies(t, around, n))
		return { copies: Math.min(t.maxCopies, around.most) - 1 };
	if (n >= t.capacity)
		return { refuse: FULL };
	if (isColliding(t, around, n))
		return { refuse: COLLIDING };
	return t.f === MIN_FP_BITS ? { refuse: FULL } : { grow: true };
}

/* Are the buckets of another q too many for an image? */
function isTooLarge(filter, q) {
	return imageBytes({ ...filter, isTable: true, q }) > MAX_IMAGE_BYTES;
}

/*
 * Add one more copy to a table, whatever that takes. The table object is
 * given the content of another one if need be. Returns OK, SATURATED, or with
 * the table as it was FULL, COLLIDING or TOO_LARGE.
 */
function addToTable(t, address) {
	let undoubled = t;
	let current = t;
	let status;

	if (isDue(t)) {
		if (countAddress(t, address) >= t.maxCopies)
			return SATURATED;
	} else {
		status = addAddress(t, address);
		if (status !== NO_ROOM)
			return status;
	}
	do {
		const remedy = isDue(current) ? { grow: true } :
			chooseRemedy(current, address, 0);

		if (remedy.refuse)
			return remedy.refuse;
		if (remedy.copies) {
			/* where copies are lowered, doubling before did not help */
			current = copyTable(undoubled);
			current.maxCopies = remedy.copies;
			dropCopies(current);
			undoubled = current;
		} else {
			if (isTooLarge(current, current.q + 1))
				return TOO_LARGE;
			current = doubleTable(current);
		}
		status = isDue(current) &&
			countAddress(current, address) < current.maxCopies ?
			NO_ROOM : addAddress(current, address);
	} while (status === NO_ROOM);
	Object.assign(t, current);
	return OK;
}

/* A table of the hashes in a list and one more, or why there is none. */
function listToTable(t, high, low) {
	const table = newTable(t, 0);

	for (let i = 0; i <= t.entries; i++) {
		const address = i < t.entries ?
			hashAddress(table, t.list[2 * i + 1], t.list[2 * i]) :
			hashAddress(table, high, low);
		const status = addToTable(table, address);

		if (status !== OK && status !== SATURATED)
			return { refused: status };
	}
	return { table };
}

/* Is this a number of hashes at which a list tries to become a table? */
function wantsTable(t, entries) {
	const first = listLimit(t) + 1;
	const ratio = entries / first;

	if (t.capacity < MIN_TABLE_CAPACITY)
		return false;
	return entries > t.capacity || entries > MAX_LIST_ENTRIES ||
		(Number.isInteger(ratio) && (ratio & (ratio - 1)) === 0);
}

function addToList(t, high, low) {
	const entries = t.entries + 1;
	let refused = FULL;

	if (countInList(t, high, low) >= t.maxCopies)
		return SATURATED;
	if (wantsTable(t, entries)) {
		const made = listToTable(t, high, low);

		if (made.table) {
			Object.assign(t, made.table);
			return OK;
		}
		({ refused } = made);
	}
	if (entries > t.capacity || entries > MAX_LIST_ENTRIES)
		return refused;
	insertIntoList(t, high, low);
	return OK;
}

function addError(t, reason) {
	const entries = `${t.entries} ${t.entries === 1 ? 'entry' : 'entries'} ` +
		`of a capacity of ${t.capacity}`;

	if (reason === FULL)
		return new CuckooFullError(`cuckoo filter is full: it holds ${entries}` +
			`, at a load factor of ${loadFactor(t).toFixed(3)}`, reason);
	if (reason === COLLIDING)
		return new CuckooFullError('too many values collide in the cuckoo ' +
			`filter: it holds ${entries}`, reason);
	return new CuckooFullError(
		`cuckoo filter would be larger than 512 MiB: it holds ${entries}`,
		reason);
}

/**
 * Add one more copy of a hash. Returns false if it has maxCopies already;
 * throws with the filter as it was if there is no room.
 */
export function addHash(t, high, low) {
	const status = t.isTable ? addToTable(t, hashAddress(t, high, low)) :
		addToList(t, high, low);

	if (status !== OK && status !== SATURATED)
		throw addError(t, status);
	return status === OK;
}

/** Take out one copy of a hash; false if none was, or nobody knows how many. */
export function removeHash(t, high, low) {
	const copies = t.isTable ? removeAddress(t, hashAddress(t, high, low)) :
		countInList(t, high, low);

	if (copies === 0 || copies >= t.maxCopies)
		return false;
	if (!t.isTable) {
		const position = 2 * lowerBound(t, high, low);

		t.list.copyWithin(position, position + 2, 2 * t.entries);
		t.entries--;
	}
	return true;
}

/** A filter of the same content that shares nothing with it. */
export function copyFilter(t) {
	return {
		...t, list: t.list && t.list.slice(), body: t.body && t.body.slice(),
	};
}

/** Hashes of values, as they come. */
export class HashCollector {
	#words = new Uint32Array(1024);
	#length = 0;

	add(high, low) {
		if (2 * this.#length === this.#words.length) {
			const longer = new Uint32Array(2 * this.#words.length);

			longer.set(this.#words);
			this.#words = longer;
		}
		this.#words[2 * this.#length] = low;
		this.#words[2 * this.#length + 1] = high;
		this.#length++;
	}

	/**
	 * The hashes in the order of a build: ascending as turned left by 24 bits,
	 * each at most maxEqual times. `repeats` is how many equal the one before.
	 */
	ordered(maxEqual) {
		const turned = new BigUint64Array(this.#length);
		const words = new Uint32Array(turned.buffer);
		const lowFirst = new Uint8Array(Uint32Array.of(1).buffer)[0];
		let length = 0;
		let equal = 0;
		let repeats = 0;

		for (let i = 0; i < this.#length; i++) {
			const low = this.#words[2 * i];
			const high = this.#words[2 * i + 1];

			words[2 * i + lowFirst] = high << 24 | low >>> 8;
			words[2 * i + 1 - lowFirst] = low << 24 | high >>> 8;
		}
		turned.sort();
		for (let i = 0; i < this.#length; i++) {
			equal = i > 0 && turned[i] === turned[i - 1] ? equal + 1 : 0;
			if (equal >= maxEqual)
				continue;
			repeats += equal > 0 ? 1 : 0;
			turned[length++] = turned[i];
		}

		const hashes = new Uint32Array(2 * length);

		for (let i = 0; i < length; i++) {
			const high = words[2 * i + lowFirst];
			const low = words[2 * i + 1 - lowFirst];

			hashes[2 * i] = high << 8 | low >>> 24;
			hashes[2 * i + 1] = low << 8 | high >>> 24;
		}
		return { hashes, length, repeats };
	}
}

/** The capacity that the server declares if none is given. */
export function fittingCapacity({ length, repeats }) {
	if (length === 0)
		return 1;
	if (repeats === 0)
		return length;
	return length + Math.floor(length / (4 * repeats < length ? 32 : 8));
}

/*
 * One superblock of a build, or a table without superblocks: places the hashes
 * from `begin` to `end`. Returns the one that finds no room, or null.
 */
function fillBlock(t, { hashes }, begin, end, block) {
	const blockBuckets = t.k * 2 ** Math.min(t.q, SUPERBLOCK_BITS);
	const firstBucket = block * blockBuckets;
	const waiting = [];
	const contents = [[0, 0, 0, 0], [0, 0, 0, 0]];
	let isOpen = true;

	for (let i = begin; i <= end; i++) {
		if (isOpen && (i === end || waiting.length >= blockBuckets)) {
			isOpen = false;
			dropCopies(t, firstBucket, firstBucket + blockBuckets);
			for (const address of waiting) {
				if (addAddress(t, address) === NO_ROOM)
					return address;
			}
		}
		if (i === end)
			break;

		const address = hashAddress(t, hashes[2 * i + 1], hashes[2 * i]);

		if (!isOpen) {
			if (addAddress(t, address) === NO_ROOM)
				return address;
			continue;
		}
		if (!placeAddress(t, address, contents))
			waiting.push(address);
	}
	return null;
}

/* Place an address where more slots are empty; false if none is. */
function placeAddress(t, address, contents) {
	const both = places(t, address);
	const empty = both.map(({ bucket }, i) => {
		const keys = readBucket(t, bucket, contents[i]);

		return keys[3] === 0 ? 4 : keys[2] === 0 ? 3 : keys[1] === 0 ? 2 :
			keys[0] === 0 ? 1 : 0;
	});
	const i = empty[1] > empty[0] ? 1 : 0;

	if (empty[i] === 0)
		return false;
	insertInto(t, both[i], contents[i]);
	t.entries++;
	return true;
}

/* Fill an empty table. Returns the address that finds no room, or null. */
function fillTable(t, ordered) {
	const { hashes, length } = ordered;
	/* the first bits of a hash as turned: at most 24, of its low word */
	const shift = 32 - t.superblock;
	const blockOf = (i) => t.superblock === 0 ? 0 :
		(hashes[2 * i + 1] << 24 | hashes[2 * i] >>> 8) >>> shift;

	for (let begin = 0, end; begin < length; begin = end) {
		const block = blockOf(begin);

		for (end = begin + 1; end < length && blockOf(end) === block;)
			end++;

		const homeless = fillBlock(t, ordered, begin, end, block);

		if (homeless !== null)
			return homeless;
	}
	return null;
}

/* A table of ordered hashes, or why there is none. */
function buildTable(filter, ordered) {
	const expected = ordered.length;
	const firstBits = Math.min(filter.P - MIN_FP_BITS,
		indexBits(filter.k, Math.min(expected, filter.capacity)));
	let q = firstBits;
	let { maxCopies } = filter;

	for (;;) {
		if (isTooLarge(filter, q))
			return { refused: TOO_LARGE };

		const table = newTable({ ...filter, maxCopies }, q);
		const homeless = fillTable(table, ordered);

		if (homeless === null)
			return { table };

		const remedy = chooseRemedy(table, homeless, expected);

		if (remedy.refuse)
			return { refused: remedy.refuse };
		if (remedy.copies) {
			maxCopies = remedy.copies;
			q = firstBits;
		} else
			q++;
	}
}

function buildError(filter, { length }, reason) {
	if (reason === FULL)
		return new CuckooFullError('cuckoo filter is full: it would hold ' +
			`${length} entries, more than its capacity of ${filter.capacity}`,
		reason);
	if (reason === COLLIDING)
		return new CuckooFullError('too many values collide in the cuckoo ' +
			`filter: of ${length} entries, more have the same two buckets ` +
			'than these have slots', reason);
	return new CuckooFullError(
		'cuckoo filter would be larger than 512 MiB: it would hold ' +
		`${length} entries of a capacity of ${filter.capacity}`, reason);
}

/** A whole filter of ordered hashes, with the header of an empty list. */
export function build(filter, ordered) {
	const { hashes, length } = ordered;

	if (filter.capacity < MIN_TABLE_CAPACITY) {
		if (length > filter.capacity)
			throw buildError(filter, ordered, FULL);
	} else if (length > filter.capacity || length > listLimit(filter)) {
		const { table, refused } = buildTable(filter, ordered);

		if (table)
			return table;
		if (refused === TOO_LARGE || length > filter.capacity ||
			length > MAX_LIST_ENTRIES)
			throw buildError(filter, ordered, refused);
	}

	const list = { ...filter, list: new Uint32Array(2 * length) };

	for (let i = 0; i < length; i++)
		insertIntoList(list, hashes[2 * i + 1], hashes[2 * i]);
	return list;
}
