/**
 * format.js: format 1, its numbers and its header (docs/format.md, sections
 * 2 to 4 and 8).
 *
 * A filter in memory is an object with the fields of the header and either
 * `list`, the hashes as pairs of uint32 (low, high), or `body`, the bytes of
 * the table as they are stored. 64-bit numbers that decide where a byte goes
 * are pairs of uint32, never BigInt.
 */
import { CuckooFormatError, CuckooVersionError } from './errors.js';

export const HEADER_BYTES = 44;
export const MAX_IMAGE_BYTES = 536870908;
export const MAX_LIST_ENTRIES = 4096;
export const MAX_CAPACITY = 2 ** 53;
export const MIN_COLUMNS = 8;
export const MAX_COLUMNS = 127;
export const MIN_PREFIX_BITS = 9;
export const MAX_PREFIX_BITS = 48;
export const MIN_FP_BITS = 8;
export const MAX_COPIES = 4;
export const MIN_TABLE_CAPACITY = 24;
export const SUPERBLOCK_BITS = 8;

const FORMAT_VERSION = 1;
const HASH_VERSION = 1;
const FLAG_TABLE = 1;
const FLAG_MERGED = 2;
const GROWTH_LOAD_UNIT = 10000;

/** Names of the key families by their numbers. */
export const FAMILY_NAMES = [
	'untyped', 'number', 'float', 'text', 'bytes', 'bool', 'uuid', 'oid',
	'macaddr', 'macaddr8', 'inet', 'bit', 'pg_lsn', 'date', 'timestamp',
	'timestamptz', 'time', 'timetz', 'interval', 'jsonb', 'array', 'record',
	'range', 'multirange', 'char(n)',
];
export const FAMILY = Object.fromEntries(
	FAMILY_NAMES.map((name, number) => [name, number]));

const DAMAGED = 'the bytes are no cuckoo filter';

export function damaged(reason) {
	return new CuckooFormatError(DAMAGED, '22P03', reason);
}

function unknownVersion(what, version, newest) {
	return new CuckooVersionError(
		`cuckoo filter has ${what} ${version}, but the newest known is ` +
		`${newest}`);
}

/** Bytes of a table; exact for any k, q and P that a header can have. */
export function tableBytes(k, q, P) {
	return Math.ceil(k * 2 ** q * 4 * (P - q - 1) / 8) + 7;
}

export function imageBytes(t) {
	return HEADER_BYTES + (t.isTable ? tableBytes(t.k, t.q, t.P) :
		8 * t.entries);
}

export function tableSlots(t) {
	return t.k * 2 ** t.q * 4;
}

function load64(view, offset) {
	return view.getUint32(offset + 4, true) * 2 ** 32 +
		view.getUint32(offset, true);
}

function requireKnownVersion(bytes) {
	if (bytes[0] !== FORMAT_VERSION)
		throw unknownVersion('format version', bytes[0], FORMAT_VERSION);
	if (bytes.length < HEADER_BYTES)
		return;
	if (bytes[1] !== HASH_VERSION)
		throw unknownVersion('hash version', bytes[1], HASH_VERSION);
	if (bytes[2] & ~(FLAG_TABLE | FLAG_MERGED))
		throw new CuckooVersionError(
			`cuckoo filter of format version ${FORMAT_VERSION} has flags 0x` +
			bytes[2].toString(16).padStart(2, '0') +
			', but the known ones are 0x03');
	if (bytes[3] >= FAMILY_NAMES.length)
		throw unknownVersion('key family', bytes[3], FAMILY_NAMES.length - 1);
}

function headerIsInRange(t) {
	if (t.k < MIN_COLUMNS || t.k > MAX_COLUMNS ||
		t.P < MIN_PREFIX_BITS || t.P > MAX_PREFIX_BITS ||
		t.q > t.P - MIN_FP_BITS ||
		t.capacity === 0 || t.capacity > MAX_CAPACITY)
		return false;
	if (t.declaredCopies < 1 || t.declaredCopies > MAX_COPIES ||
		t.maxCopies > t.declaredCopies ||
		t.maxCopies < Math.min(t.declaredCopies, 2))
		return false;
	if (t.growthLoad > GROWTH_LOAD_UNIT ||
		(t.kicks === 0n) !== (t.longestPath === 0))
		return false;
	if (t.isTable)
		return t.q <= 32 && imageBytes(t) <= MAX_IMAGE_BYTES &&
			t.entries <= tableSlots(t);
	return t.q === 0 && t.entries <= MAX_LIST_ENTRIES && t.kicks === 0n &&
		t.growths === 0 && t.growthLoad === 0;
}

/**
 * Decode an image: the header, and a copy of the body.
 *
 * Throws unless the header is in range and the length is what it asks for.
 * The body is not looked at.
 */
export function decodeImage(image) {
	const view = new DataView(image.buffer, image.byteOffset, image.length);

	if (image.length > 0)
		requireKnownVersion(image);
	if (image.length < HEADER_BYTES)
		throw damaged('its length is not what its header says');

	/* beyond 2^53 a sum is inexact, but still too large */
	const t = {
		isTable: (image[2] & FLAG_TABLE) !== 0,
		merged: (image[2] & FLAG_MERGED) !== 0,
		family: image[3],
		k: image[4],
		q: image[5],
		P: image[6],
		declaredCopies: image[7] & 15,
		maxCopies: image[7] >> 4,
		seed: view.getBigInt64(8, true),
		capacity: view.getBigUint64(16, true) > BigInt(MAX_CAPACITY) ?
			Infinity : load64(view, 16),
		entries: load64(view, 24),
		kicks: view.getBigUint64(32, true),
		longestPath: image[40],
		growths: image[41],
		growthLoad: view.getUint16(42, true),
		list: null,
		body: null,
	};

	if (!headerIsInRange(t))
		throw damaged('a header field is out of range');
	if (imageBytes(t) !== image.length)
		throw damaged('its length is not what its header says');
	if (t.isTable)
		t.body = Uint8Array.prototype.slice.call(image, HEADER_BYTES);
	else {
		t.list = new Uint32Array(2 * t.entries);
		for (let i = 0; i < t.list.length; i++)
			t.list[i] = view.getUint32(HEADER_BYTES + 4 * i, true);
	}
	return t;
}

/** Write an image into new bytes, with `extra` zero bytes behind it. */
export function encodeImage(t, extra) {
	const image = new Uint8Array(imageBytes(t) + extra);
	const view = new DataView(image.buffer);

	image[0] = FORMAT_VERSION;
	image[1] = HASH_VERSION;
	image[2] = (t.isTable ? FLAG_TABLE : 0) | (t.merged ? FLAG_MERGED : 0);
	image[3] = t.family;
	image[4] = t.k;
	image[5] = t.q;
	image[6] = t.P;
	image[7] = t.maxCopies << 4 | t.declaredCopies;
	view.setBigInt64(8, t.seed, true);
	view.setBigUint64(16, BigInt(t.capacity), true);
	view.setBigUint64(24, BigInt(t.entries), true);
	view.setBigUint64(32, t.kicks, true);
	image[40] = t.longestPath;
	image[41] = t.growths;
	view.setUint16(42, t.growthLoad, true);
	if (t.isTable)
		image.set(t.body, HEADER_BYTES);
	else {
		for (let i = 0; i < 2 * t.entries; i++)
			view.setUint32(HEADER_BYTES + 4 * i, t.list[i], true);
	}
	return image;
}

const PREFIX = 'cf1:';
const BASE64 =
	'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const BASE64_VALUES = new Int8Array(128).fill(-1);

for (let i = 0; i < 64; i++)
	BASE64_VALUES[BASE64.charCodeAt(i)] = i;

/** The bytes in a text form. */
export function decodeText(text) {
	const message = 'invalid input syntax for type cuckoofilter';
	const invalid = (detail) =>
		new CuckooFormatError(message, '22P02', detail);

	if (!text.startsWith(PREFIX))
		throw invalid(
			`the text form of a cuckoo filter begins with "${PREFIX}"`);
	if ((text.length - PREFIX.length) % 4 !== 0)
		throw invalid(`what follows "${PREFIX}" is not valid base64`);

	let end = text.length;

	for (let i = 0; i < 2 && end > PREFIX.length; i++)
		end -= text.charCodeAt(end - 1) === 61 ? 1 : 0;

	const bytes = new Uint8Array((end - PREFIX.length) * 3 >>> 2);
	let word = 0;
	let bits = 0;
	let length = 0;

	for (let i = PREFIX.length; i < end; i++) {
		const c = text.charCodeAt(i);
		const value = c < 128 ? BASE64_VALUES[c] : -1;

		if (value < 0)
			throw invalid(`what follows "${PREFIX}" is not valid base64`);
		word = (word << 6 | value) & 0xFFFFFF;
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			bytes[length++] = word >>> bits;
		}
	}
	return bytes;
}

/** The text form of bytes. */
export function encodeText(bytes) {
	const parts = [PREFIX];
	const piece = [];

	for (let i = 0; i < bytes.length; i += 3) {
		const word = bytes[i] << 16 | (bytes[i + 1] ?? 0) << 8 |
			(bytes[i + 2] ?? 0);

		piece.push(BASE64[word >> 18] + BASE64[word >> 12 & 63] +
			(i + 1 < bytes.length ? BASE64[word >> 6 & 63] : '=') +
			(i + 2 < bytes.length ? BASE64[word & 63] : '='));
		if (piece.length === 4096) {
			parts.push(piece.join(''));
			piece.length = 0;
		}
	}
	parts.push(piece.join(''));
	return parts.join('');
}
