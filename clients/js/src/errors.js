/**
 * errors.js: what can go wrong, one class for each kind.
 *
 * Messages are those of the server. `code` is the SQLSTATE that the server
 * gives the same error.
 */

/** Base class of all errors of this library. */
export class CuckooError extends Error {
	constructor(message, code, detail) {
		super(detail ? `${message}: ${detail}` : message);
		this.name = new.target.name;
		this.code = code;
	}
}

/** The bytes are no filter, or damaged ones. */
export class CuckooFormatError extends CuckooError {}

/** The filter was written by a newer version of the format. */
export class CuckooVersionError extends CuckooError {
	constructor(message) {
		super(message, '0A000');
	}
}

/** The filter holds values of another family than the one given. */
export class CuckooFamilyError extends CuckooError {
	constructor(message, held, given, hint) {
		super(message, '42804', hint);
		this.held = held;
		this.given = given;
	}
}

/** The value cannot be a key, or its text cannot be read. */
export class CuckooValueError extends CuckooError {
	constructor(message, code = '22P02') {
		super(message, code);
	}
}

/** A parameter of a new filter is out of range. */
export class CuckooParameterError extends CuckooError {
	constructor(message, code = '22023') {
		super(message, code);
	}
}

/**
 * A value finds no room. `reason` is "full", "colliding" or "too large"; the
 * filter is as it was.
 */
export class CuckooFullError extends CuckooError {
	constructor(message, reason) {
		super(message, '54000');
		this.reason = reason;
	}
}

/** Nothing can be removed from this filter. */
export class CuckooRemoveError extends CuckooError {
	constructor(message) {
		super(message, '55000');
	}
}
