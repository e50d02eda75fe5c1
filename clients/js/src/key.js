/**
 * key.js: values to key bytes (docs/format.md, section 10).
 *
 * What JavaScript cannot tell apart is wrapped in a Key by a function named
 * after the type: uuid('...'), decimal('1.50'), date('2024-02-29').
 */
import { CuckooFamilyError, CuckooValueError } from './errors.js';
import { FAMILY, FAMILY_NAMES } from './format.js';

/** A value as its family and key bytes. Made by the functions below. */
export class Key {
	constructor(family, bytes) {
		this.family = family;
		this.bytes = bytes;
		Object.freeze(this);
	}

	get [Symbol.toStringTag]() {
		return FAMILY_NAMES[this.family];
	}
}

const INT64_MIN = -(1n << 63n);
const INT64_MAX = (1n << 63n) - 1n;
const encoder = new TextEncoder();

function int64Bytes(number) {
	const bytes = new Uint8Array(8);

	new DataView(bytes.buffer).setBigInt64(0, number, true);
	return bytes;
}

function requireString(value, type) {
	if (typeof value !== 'string')
		throw new CuckooValueError(
			`${type}() takes a string, not ${typeof value}`);
	return value;
}

function invalid(type, text) {
	return new CuckooValueError(
		`invalid input syntax for type ${type}: "${text}"`);
}

/** The text in UTF-8; not without its trailing blanks. */
export function textBytes(text) {
	if (text.includes('\0'))
		throw new CuckooValueError('text cannot contain U+0000', '22021');
	if (/[\uD800-\uDFFF]/u.test(text))
		throw new CuckooValueError(
			'text has half of a surrogate pair, which UTF-8 cannot have',
			'22021');
	return encoder.encode(text);
}

/* Not a regular expression: that takes quadratic time for some texts. */
function withoutTrailing(text, code) {
	let end = text.length;

	while (end > 0 && text.charCodeAt(end - 1) === code)
		end--;
	return text.slice(0, end);
}

/** Without trailing U+0020, the blanks that char(n) ignores. */
export function withoutBlanks(text) {
	return withoutTrailing(text, 0x20);
}

function withoutZeros(digits) {
	return withoutTrailing(digits, 0x30);
}

/** A text: what a string is anyway. */
export function text(value) {
	return new Key(FAMILY.text, textBytes(requireString(value, 'text')));
}

/** A char(n): trailing blanks mean nothing. */
export function char(value) {
	return new Key(FAMILY['char(n)'],
		textBytes(withoutBlanks(requireString(value, 'char'))));
}

/** A bytea, from bytes or from '\x0102'. */
export function bytes(value) {
	if (typeof value !== 'string')
		return new Key(FAMILY.bytes, bytesOf(value, 'bytes').slice());

	const match = /^\\x((?:[0-9a-f]{2})*)$/i.exec(value);

	if (match === null)
		throw invalid('bytea', value);
	return new Key(FAMILY.bytes, hexBytes(match[1]));
}

function hexBytes(hex) {
	const result = new Uint8Array(hex.length / 2);

	for (let i = 0; i < result.length; i++)
		result[i] = parseInt(hex.slice(2 * i, 2 * i + 2), 16);
	return result;
}

/** A view of what has bytes. */
export function bytesOf(value, what) {
	if (value instanceof Uint8Array)
		return value;
	if (value instanceof ArrayBuffer)
		return new Uint8Array(value);
	if (ArrayBuffer.isView(value))
		return new Uint8Array(value.buffer, value.byteOffset,
			value.byteLength);
	throw new CuckooValueError(`${what}: no bytes, but ${typeof value}`);
}

/** A boolean: what true and false are anyway. */
export function bool(value) {
	if (typeof value !== 'boolean')
		throw new CuckooValueError('bool() takes true or false');
	return new Key(FAMILY.bool, Uint8Array.of(value ? 1 : 0));
}

/** A uuid in any of the ways that the server reads it. */
export function uuid(value) {
	const match = /^(\{?)((?:[0-9a-f]{4}-?){7}[0-9a-f]{4})(\}?)$/i.exec(
		requireString(value, 'uuid'));

	if (match === null || (match[1] === '') !== (match[3] === ''))
		throw invalid('uuid', value);
	return new Key(FAMILY.uuid, hexBytes(match[2].replaceAll('-', '')));
}

/** An oid, 0 to 4294967295. */
export function oid(value) {
	const isNumber = ['number', 'bigint'].includes(typeof value) ||
		(typeof value === 'string' && /^\s*\+?\d+\s*$/.test(value));
	const number = isNumber ? Number(value) : NaN;

	if (!(Number.isInteger(number) && number >= 0 && number < 2 ** 32))
		throw new CuckooValueError(`value "${String(value)}" is out of range ` +
			'for type oid', '22003');

	const result = new Uint8Array(4);

	new DataView(result.buffer).setUint32(0, number, true);
	return new Key(FAMILY.oid, result);
}

/** A double precision or real number. */
export function float(value) {
	if (typeof value !== 'number')
		throw new CuckooValueError(
			`float() takes a number, not ${typeof value}`);

	const result = new Uint8Array(8);

	writeFloat(new DataView(result.buffer), value);
	return new Key(FAMILY.float, result);
}

/** One zero, one NaN. */
export function writeFloat(view, value) {
	if (Number.isNaN(value))
		view.setBigUint64(0, 0x7FF8000000000000n, true);
	else
		view.setFloat64(0, value === 0 ? 0 : value, true);
}

/**
 * A number of any size or precision: smallint, integer, bigint or numeric.
 * Takes a string, a bigint or an integer.
 */
export function decimal(value) {
	if (typeof value === 'bigint')
		return new Key(FAMILY.number, bigintBytes(value));
	if (typeof value === 'number') {
		if (!Number.isSafeInteger(value))
			throw inexact(value);
		return new Key(FAMILY.number, int64Bytes(BigInt(value)));
	}
	return new Key(FAMILY.number, decimalBytes(requireString(value,
		'decimal')));
}

const MAX_WHOLE_DIGITS = 131072;
const MAX_SCALE = 16383;

function decimalBytes(text) {
	const trimmed = text.trim();
	const special = /^([+-]?)(nan|inf|infinity)$/i.exec(trimmed);

	if (special !== null) {
		const isNaN = special[2].toLowerCase() === 'nan';

		if (isNaN && special[1] !== '')
			throw invalid('numeric', text);
		return Uint8Array.of(isNaN ? 3 : special[1] === '-' ? 5 : 4);
	}

	const match = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:e([+-]?\d+))?$/i
		.exec(trimmed);

	if (match === null)
		throw invalid('numeric', text);

	const fraction = match[3] ?? match[4] ?? '';
	const exponent = Number(match[5] ?? 0);
	const point = (match[2] ?? '').length + exponent;
	const all = (match[2] ?? '') + fraction;
	const leading = /^0*/.exec(all)[0].length;
	const digits = withoutZeros(all.slice(leading));

	if (digits === '')
		return int64Bytes(0n);
	if (point - leading > MAX_WHOLE_DIGITS ||
		leading + digits.length - point > MAX_SCALE)
		throw new CuckooValueError(`value "${text}" is out of range for type ` +
			'numeric', '22003');
	return numericBytes(match[1] === '-', digits, point - leading);
}

/** An integer, as int64 if it is one. */
function bigintBytes(number) {
	if (number >= INT64_MIN && number <= INT64_MAX)
		return int64Bytes(number);

	const digits = (number < 0n ? -number : number).toString();

	if (digits.length > MAX_WHOLE_DIGITS)
		throw new CuckooValueError('value is out of range for type numeric',
			'22003');
	return numericBytes(number < 0n, withoutZeros(digits), digits.length);
}

/**
 * digits are decimal, without zeros at either end; `point` of them are before
 * the decimal point.
 */
function numericBytes(isNegative, digits, point) {
	if (digits.length <= point && point <= 19) {
		const whole = BigInt(digits.padEnd(point, '0'));
		const number = isNegative ? -whole : whole;

		if (number >= INT64_MIN && number <= INT64_MAX)
			return int64Bytes(number);
	}

	/* groups of four on both sides of the point */
	const weight = Math.ceil(point / 4) - 1;
	const padded = '0'.repeat(4 * (weight + 1) - point) + digits;
	const groups = Math.ceil(padded.length / 4);
	const result = new Uint8Array(5 + 2 * groups);
	const view = new DataView(result.buffer);

	view.setUint8(0, isNegative ? 2 : 1);
	view.setInt32(1, weight, true);
	for (let i = 0; i < groups; i++)
		view.setUint16(5 + 2 * i,
			Number(padded.slice(4 * i, 4 * i + 4).padEnd(4, '0')), true);
	return result;
}

/* Days from 2000-01-01 to a day of the Gregorian calendar; year 0 is 1 BC. */
function daysFrom2000(year, month, day) {
	const y = month <= 2 ? year - 1 : year;
	const era = Math.floor(y / 400);
	const yearOfEra = y - era * 400;
	const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
	const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) -
		Math.floor(yearOfEra / 100) + dayOfYear;

	return era * 146097 + dayOfEra - 730425;
}

function daysOfMonth(year, month) {
	const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);

	return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][
		month - 1];
}

const DAY = 86400000000n;
const DATE = String.raw`(\d{4,7})-(\d{2})-(\d{2})`;
const TIME = String.raw`(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6}))?)?`;
const ZONE = String.raw`(?:\s?(Z|[+-]\d{2}(?::?\d{2}(?::?\d{2})?)?))`;
const DATE_PATTERN = new RegExp(`^${DATE}( BC)?$`, 'i');
const TIMESTAMP_PATTERN =
	new RegExp(`^${DATE}(?:[T ]${TIME}${ZONE}?)?( BC)?$`, 'i');
const MAX_YEAR = { date: 5874897, timestamp: 294276, timestamptz: 294276 };

/* Year, month and day as matched, with or without BC, to days from 2000. */
function matchedDays(match, isBC, type, text) {
	const year = isBC ? 1 - Number(match[1]) : Number(match[1]);
	const month = Number(match[2]);
	const day = Number(match[3]);

	if (Number(match[1]) === 0 || month < 1 || month > 12 || day < 1 ||
		day > daysOfMonth(year, month))
		throw new CuckooValueError(
			`date/time field value out of range: "${text}"`, '22008');

	const days = daysFrom2000(year, month, day);

	/* the first day is 4714-11-24 BC, day zero of the Julian calendar */
	if (days < -2451545 || year > MAX_YEAR[type])
		throw new CuckooValueError(`${type} out of range: "${text}"`, '22008');
	return days;
}

/** A date, as '2024-02-29', 'infinity' or '-infinity'. */
export function date(value) {
	const text = requireString(value, 'date').trim();
	const infinite = infinity(text, 2147483647n, -2147483648n);

	if (infinite !== null)
		return new Key(FAMILY.date, infinite);

	const match = DATE_PATTERN.exec(text);

	if (match === null)
		throw invalid('date', value);
	return new Key(FAMILY.date, int64Bytes(BigInt(
		matchedDays(match, match[4] !== undefined, 'date', text))));
}

function infinity(text, plus, minus) {
	const match = /^([+-]?)infinity$/i.exec(text);

	return match === null ? null :
		int64Bytes(match[1] === '-' ? minus : plus);
}

/* Microseconds since 2000-01-01 00:00:00, and the zone if there is one. */
function timestampParts(text, type) {
	const match = TIMESTAMP_PATTERN.exec(text);

	if (match === null)
		throw invalid(type, text);

	const days = matchedDays(match, match[9] !== undefined, type, text);
	const hours = Number(match[4] ?? 0);
	const minutes = Number(match[5] ?? 0);
	const seconds = Number(match[6] ?? 0);

	if (hours > 23 || minutes > 59 || seconds > 59)
		throw new CuckooValueError(
			`date/time field value out of range: "${text}"`, '22008');
	return {
		micros: BigInt(days) * DAY +
			BigInt((hours * 60 + minutes) * 60 + seconds) * 1000000n +
			BigInt((match[7] ?? '').padEnd(6, '0')),
		zone: match[8],
	};
}

function zoneMicros(zone, text) {
	if (zone.toUpperCase() === 'Z')
		return 0n;

	const digits = zone.slice(1).replaceAll(':', '').padEnd(6, '0');
	const [hours, minutes, seconds] = [0, 2, 4].map((i) =>
		Number(digits.slice(i, i + 2)));

	if (hours > 15 || minutes > 59 || seconds > 59)
		throw new CuckooValueError(
			`time zone displacement out of range: "${text}"`, '22009');

	const micros = BigInt((hours * 60 + minutes) * 60 + seconds) * 1000000n;

	return zone[0] === '-' ? -micros : micros;
}

/** A time without time zone, as '12:34:56.789'; '24:00:00' is another one. */
export function time(value) {
	const match = new RegExp(`^${TIME}$`).exec(
		requireString(value, 'time').trim());

	if (match === null)
		throw invalid('time', value);

	const [hours, minutes, seconds] = [1, 2, 3].map((i) =>
		Number(match[i] ?? 0));
	const micros = BigInt((hours * 60 + minutes) * 60 + seconds) * 1000000n +
		BigInt((match[4] ?? '').padEnd(6, '0'));

	if (minutes > 59 || seconds > 59 || micros > DAY)
		throw new CuckooValueError(
			`date/time field value out of range: "${value}"`, '22008');
	return new Key(FAMILY.time, int64Bytes(micros));
}

/** A timestamp without time zone, as '2024-02-29 12:34:56.789'. */
export function timestamp(value) {
	const text = requireString(value, 'timestamp').trim();
	const infinite = infinity(text, INT64_MAX, INT64_MIN);

	if (infinite !== null)
		return new Key(FAMILY.timestamp, infinite);

	const { micros, zone } = timestampParts(text, 'timestamp');

	if (zone !== undefined)
		throw new CuckooValueError(
			`a timestamp has no time zone: "${text}"; use timestamptz()`);
	return new Key(FAMILY.timestamp, int64Bytes(micros));
}

/**
 * A timestamp with time zone, as '2024-02-29 12:34:56.789+01' or a Date. The
 * zone must be given: what it is without one is a setting of the server.
 */
export function timestamptz(value) {
	if (value instanceof Date)
		return new Key(FAMILY.timestamptz, dateBytes(value));

	const text = requireString(value, 'timestamptz').trim();
	const infinite = infinity(text, INT64_MAX, INT64_MIN);

	if (infinite !== null)
		return new Key(FAMILY.timestamptz, infinite);

	const { micros, zone } = timestampParts(text, 'timestamptz');

	if (zone === undefined)
		throw new CuckooValueError(
			`a timestamptz needs a time zone: "${text}", for example ` +
			`"${text}+00"`);
	return new Key(FAMILY.timestamptz,
		int64Bytes(micros - zoneMicros(zone, text)));
}

/* A Date is a point of time with milliseconds. */
export function dateBytes(value) {
	const millis = value.getTime();

	if (Number.isNaN(millis))
		throw new CuckooValueError('invalid Date', '22008');
	return int64Bytes((BigInt(millis) - 946684800000n) * 1000n);
}

/**
 * A value of any family, by key bytes made elsewhere (docs/format.md, section
 * 10): key('inet', bytes).
 */
export function key(family, keyBytes) {
	if (typeof family !== 'string' || !(FAMILY[family] > 0))
		throw new CuckooValueError(
			`unknown key family "${String(family)}"; known are ` +
			FAMILY_NAMES.slice(1).join(', '), '22023');
	return new Key(FAMILY[family], bytesOf(keyBytes, 'key').slice());
}

export function inexact(number) {
	return new CuckooValueError(
		`the number ${number} is no exact integer: write decimal('...') for ` +
		'numeric, float(...) for real and double precision, or a bigint',
		'22003');
}

/* What to write for a value of a family, after docs/reference.md. */
const WRITE = {
	number: 'an integer, a bigint or decimal(\'...\')',
	float: 'float(...)', text: 'a string', bytes: 'a Uint8Array',
	bool: 'true or false', uuid: 'uuid(\'...\')', oid: 'oid(...)',
	date: 'date(\'...\')', timestamp: 'timestamp(\'...\')',
	timestamptz: 'a Date or timestamptz(\'...\')', time: 'time(\'...\')',
	'char(n)': 'a string',
};

/** The error of a value of another family than a filter holds. */
export function familyError(held, given, use) {
	const heldName = FAMILY_NAMES[held];
	const givenName = FAMILY_NAMES[given];
	const what = use === 'probe' ? `probed with ${givenName}` :
		`cannot ${use} ${givenName}`;
	const hint = held === FAMILY.text && given === FAMILY['char(n)'] ?
		'write a string to compare as text does, where trailing blanks count' :
		`write ${WRITE[heldName] ?? `key('${heldName}', bytes)`}`;

	return new CuckooFamilyError(`filter holds ${heldName} values, ${what}`,
		heldName, givenName, hint);
}
