/**
 * cuckoofilter-postgres: filters of the PostgreSQL extension cuckoo_filter,
 * read and written without a server. README.md says how.
 */
export { CuckooFilter } from './src/filter.js';
export {
	bool, bytes, char, date, decimal, float, key, oid, text, time, timestamp,
	timestamptz, uuid,
} from './src/key.js';
export {
	CuckooError, CuckooFamilyError, CuckooFormatError, CuckooFullError,
	CuckooParameterError, CuckooRemoveError, CuckooValueError,
	CuckooVersionError,
} from './src/errors.js';
