"""Exceptions of this package; all are :class:`CuckooFilterError`."""

from __future__ import annotations


class CuckooFilterError(Exception):
    """What every exception of this package is."""


class InvalidFilterError(CuckooFilterError, ValueError):
    """Bytes or a text that are no sound filter.

    ``reason`` is the phrase that the server has for it in the detail of its
    error, such as ``"a bucket is malformed"``.
    """

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(f"{message}: {reason}")
        self.reason = reason


class NewerVersionError(CuckooFilterError, ValueError):
    """A filter of a format, hash or key family that is not known here.

    A later release of the extension has made it: update this package.
    ``what`` is ``"format"``, ``"hash"``, ``"flag"`` or ``"family"``, ``found``
    is the number that the filter has.
    """

    def __init__(self, message: str, what: str, found: int) -> None:
        super().__init__(message)
        self.what = what
        self.found = found


class FamilyError(CuckooFilterError, TypeError):
    """A value of another family than the filter holds: a number and a text."""


class UnsupportedTypeError(CuckooFilterError, TypeError):
    """A value of a type that this package has no key bytes for."""


class ParameterError(CuckooFilterError, ValueError):
    """A capacity, rate, ``max_copies`` or seed that no filter can have."""


class FullError(CuckooFilterError):
    """The capacity is reached, and there is no room for another value."""


class CollidingError(CuckooFilterError):
    """Too many values have the same two buckets: they were chosen to.

    Build the filter again with another seed.
    """


class TooLargeError(CuckooFilterError):
    """The filter would be larger than 512 MiB."""


class NotRemovableError(CuckooFilterError):
    """Values cannot be removed: ``max_copies`` is 1, or a union was made."""
