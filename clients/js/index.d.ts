/**
 * Filters of the PostgreSQL extension cuckoo_filter, read and written without
 * a server.
 */

/** A value as its family and key bytes: what the helpers below return. */
export interface Key {
	/** Number of the family (docs/format.md, section 10). */
	readonly family: number;
	readonly bytes: Uint8Array;
}

export type FamilyName =
	'number' | 'float' | 'text' | 'bytes' | 'bool' | 'uuid' | 'oid' |
	'macaddr' | 'macaddr8' | 'inet' | 'bit' | 'pg_lsn' | 'date' |
	'timestamp' | 'timestamptz' | 'time' | 'timetz' | 'interval' | 'jsonb' |
	'array' | 'record' | 'range' | 'multirange' | 'char(n)';

/**
 * What can be looked for and added.
 *
 * A string is a text; an integer or bigint is a number (of a filter of floats,
 * any number is a float); true and false are booleans; bytes are a bytea; a
 * Date is a timestamptz. All else is wrapped by a helper.
 */
export type Value =
	string | number | bigint | boolean | ArrayBuffer | ArrayBufferView |
	Date | Key;

/** text, varchar, name, enums: what a string is anyway. */
export function text(value: string): Key;
/** char(n): trailing blanks mean nothing. */
export function char(value: string): Key;
/** bytea, from bytes or from '\x0102'. */
export function bytes(value: string | ArrayBuffer | ArrayBufferView): Key;
/** boolean: what true and false are anyway. */
export function bool(value: boolean): Key;
/** uuid, in any of the ways that the server reads it. */
export function uuid(value: string): Key;
/** oid. */
export function oid(value: number | bigint | string): Key;
/** real and double precision. */
export function float(value: number): Key;
/** smallint, integer, bigint and numeric: decimal('1.50'). */
export function decimal(value: string | number | bigint): Key;
/** date: '2024-02-29', 'infinity'. */
export function date(value: string): Key;
/** time without time zone: '12:34:56.789'. */
export function time(value: string): Key;
/** timestamp without time zone: '2024-02-29 12:34:56.789'. */
export function timestamp(value: string): Key;
/** timestamp with time zone: '2024-02-29 12:34:56.789+01', or a Date. */
export function timestamptz(value: string | Date): Key;
/** Any family, by key bytes made elsewhere (docs/format.md, section 10). */
export function key(
	family: FamilyName, bytes: ArrayBuffer | ArrayBufferView): Key;

/** Parameters of a new filter, as those of cf_new(). */
export interface Parameters {
	/** The largest number of values that it is meant to hold. */
	capacity: number;
	/** The highest false positive rate up to that; 0.01 if left out. */
	fpr?: number;
	/** How many adds of one value are counted, 1 to 4; 4 if left out. */
	maxCopies?: number;
	/** Goes into every hash, 64 bits with sign; 0 if left out. */
	seed?: number | bigint;
}

export interface BuildOptions extends Omit<Parameters, 'capacity'> {
	/** What fits the values if left out. */
	capacity?: number | null;
	/** Count a value as often as it comes, as cf_bag_agg() does. */
	bag?: boolean;
}

/** What cf_info() says; docs/reference.md has the columns. */
export interface Info {
	form: 'list' | 'table';
	family: FamilyName | null;
	capacity: number;
	entries: number;
	loadFactor: number;
	fpr: number;
	promisedFpr: number;
	declaredFpr: number;
	bytes: number;
	bitsPerValue: number | null;
	maxCopies: number;
	currentCopies: number;
	merged: boolean;
	seed: bigint;
	columns: number;
	indexBits: number;
	prefixBits: number;
	fingerprintBits: number | null;
	kicks: bigint;
	longestPath: number;
	growths: number;
	loadAtGrowth: number | null;
	formatVersion: number;
	hashVersion: number;
}

export class CuckooFilter {
	private constructor();

	/**
	 * A filter from its binary form (filter::bytea) or text form
	 * (filter::text). The bytes are checked to the last bit, or with
	 * { check: false } only their header.
	 */
	static from(
		source: string | ArrayBuffer | ArrayBufferView,
		options?: { check?: boolean }): Promise<CuckooFilter>;
	/** An empty filter, as cf_new() makes it. */
	static new(parameters: Parameters): Promise<CuckooFilter>;
	/** A filter of values, as cf_agg() makes it, or cf_bag_agg(). */
	static build(
		values: Iterable<Value | null | undefined> |
			AsyncIterable<Value | null | undefined>,
		options?: BuildOptions): Promise<CuckooFilter>;
	/** A filter of hashes, as cf_hash_agg() makes it. */
	static buildFromHashes(
		hashes: Iterable<bigint | null | undefined> |
			AsyncIterable<bigint | null | undefined>,
		options?: Omit<BuildOptions, 'bag'>): Promise<CuckooFilter>;

	/** Entries: the copies of all values. */
	readonly size: number;
	/** What kind of values it holds, null while none was added. */
	readonly family: FamilyName | null;

	/** false: certainly not added; true: probably added. */
	has(value: Value): boolean;
	/** Copies of a value, 0 to maxCopies. */
	count(value: Value): number;
	/** has() for each of many values. */
	hasMany(values: Iterable<Value>): boolean[];
	/** Is each of the values probably in the filter? */
	hasAll(values: Iterable<Value>): boolean;
	/** Is one of the values probably in the filter? */
	hasAny(values: Iterable<Value>): boolean;
	/** Those of the values that are probably in the filter, as they come. */
	candidates<T extends Value>(values: Iterable<T>): IterableIterator<T>;

	/** Add one more copy; false if there are maxCopies of it already. */
	add(value: Value): boolean;
	/** Add each of the values but for null, or none if one cannot be. */
	addAll(values: Iterable<Value | null | undefined>): this;
	/** Take out one copy of a value that was added; false if none was. */
	remove(value: Value): boolean;

	/** The hash of a value, as cf_hash(value, seed) returns it. */
	hash(value: Value): bigint;
	hasHash(hash: bigint): boolean;
	countHash(hash: bigint): number;
	addHash(hash: bigint): boolean;
	removeHash(hash: bigint): boolean;

	/** What cf_info() says. */
	info(): Info;
	/** The binary form, which a bytea is cast from. */
	toBytes(): Uint8Array;
	/** The text form, which a literal is read from. */
	toText(): string;
	toJSON(): string;
	/** A filter of the same content that changes on its own. */
	clone(): CuckooFilter;
}

/** Base class of all errors; `code` is the SQLSTATE of the same in SQL. */
export class CuckooError extends Error {
	readonly code: string;
}
/** The bytes are no filter, or damaged ones. */
export class CuckooFormatError extends CuckooError {}
/** The filter was written by a newer version of the format. */
export class CuckooVersionError extends CuckooError {}
/** The filter holds values of another family than the one given. */
export class CuckooFamilyError extends CuckooError {
	readonly held: string;
	readonly given: string;
}
/** The value cannot be a key, or its text cannot be read. */
export class CuckooValueError extends CuckooError {}
/** A parameter of a new filter is out of range. */
export class CuckooParameterError extends CuckooError {}
/** A value finds no room; the filter is as it was. */
export class CuckooFullError extends CuckooError {
	readonly reason: 'full' | 'colliding' | 'too large';
}
/** Nothing can be removed from this filter. */
export class CuckooRemoveError extends CuckooError {}
