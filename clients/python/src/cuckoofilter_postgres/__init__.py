"""Filters of the PostgreSQL extension cuckoo_filter, outside of the server.

>>> from cuckoofilter_postgres import CuckooFilter
>>> known = CuckooFilter.build(["ann@example.com", "bob@example.com"], 1000)
>>> "ann@example.com" in known
True
>>> "eve@example.com" in known
False
"""

from .errors import (CollidingError, CuckooFilterError, FamilyError, FullError,
                     InvalidFilterError, NewerVersionError, NotRemovableError,
                     ParameterError, TooLargeError, UnsupportedTypeError)
from .filter import CuckooFilter, FilterInfo
from .keys import Family, Key, hash_value, key_of, shard, to_signed

__version__ = "1.0.0"

__all__ = [
    "CollidingError", "CuckooFilter", "CuckooFilterError", "Family",
    "FamilyError", "FilterInfo", "FullError", "InvalidFilterError", "Key",
    "NewerVersionError", "NotRemovableError", "ParameterError",
    "TooLargeError", "UnsupportedTypeError", "hash_value", "key_of", "shard",
    "to_signed",
]
