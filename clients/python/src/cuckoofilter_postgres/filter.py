"""The filter."""

from __future__ import annotations

import base64
import re
from bisect import bisect_left, bisect_right, insort
from typing import (TYPE_CHECKING, Any, Iterable, List, NamedTuple, Optional,
                    Tuple, overload)

from xxhash import xxh3_64_intdigest

from . import _fill, _geometry, _image, _numpy
from ._geometry import HEADER_BYTES
from ._image import Buffer, Header
from ._table import MASK64, PackedTable
from .errors import (CollidingError, CuckooFilterError, FullError,
                     InvalidFilterError, NotRemovableError, ParameterError,
                     UnsupportedTypeError)
from .keys import FIXED, Family, encode_for, resolve, to_signed

if TYPE_CHECKING:
    import numpy
    import numpy.typing

    BoolArray = numpy.typing.NDArray[numpy.bool_]
    AnyArray = numpy.typing.NDArray[Any]

_TEXT_PREFIX = "cf1:"
_BASE64 = re.compile("[A-Za-z0-9+/]*={0,2}")
_CHECKSUM_BYTES = 8
_MAX_TEXT = 715827892


class FilterInfo(NamedTuple):
    """What ``cf_info`` of the server shows of a filter, under its names."""

    form: str
    """``"list"`` or ``"table"``."""
    family: Optional[str]
    """The server's word for the kind of values, None while none is known."""
    capacity: int
    entries: int
    load_factor: float
    """Used slots over all slots; a list has no free ones."""
    fpr: float
    """The false positive rate as it is now, a fraction."""
    promised_fpr: float
    """The rate that is kept up to the capacity, a fraction."""
    declared_fpr: float
    """A rate that makes a new filter of the same shape, a fraction."""
    bytes: int
    """Of the value in the server, with its length of four bytes."""
    bits_per_value: Optional[float]
    max_copies: int
    """As declared."""
    current_copies: int
    """As it is now."""
    merged: bool
    seed: int
    """Signed, as the server shows it."""
    columns: int
    index_bits: int
    prefix_bits: int
    fingerprint_bits: Optional[int]
    kicks: int
    longest_path: int
    growths: int
    load_at_growth: Optional[float]
    format_version: int
    hash_version: int


class CuckooFilter:
    """A set of values that answers "certainly not in it" or "probably in it".

    The bytes are those of the PostgreSQL extension cuckoo_filter, read and
    written the same.  Make one with :meth:`new`, :meth:`build`,
    :meth:`build_bag`, :meth:`from_bytes` or :meth:`from_text`.

    Values are int, Decimal, float, str, bytes, bool, uuid.UUID, date, datetime
    and time (with a time zone or without), timedelta, and the addresses,
    interfaces and networks of ipaddress.  A filter holds values of one family;
    another one is a :class:`FamilyError`, which is a TypeError.

    Not safe to change from several threads at a time.
    """

    __slots__ = ("_header", "_hashes", "_table", "_probes", "_seed")

    _header: Header
    # one of the two is None
    _hashes: Optional[List[int]]
    _table: Optional[PackedTable]
    _probes: Optional[Any]
    _seed: int

    def __init__(self) -> None:
        raise TypeError("make a filter with CuckooFilter.new(capacity), "
                        "build(), from_bytes() or from_text()")

    # ---- making ----

    @classmethod
    def _make(cls, header: Header, hashes: Optional[List[int]],
              table: Optional[PackedTable]) -> "CuckooFilter":
        self = object.__new__(cls)
        self._header = header
        self._hashes = hashes
        self._table = table
        self._probes = None
        self._seed = header.seed
        return self

    @classmethod
    def new(cls, capacity: float, fpr: float = 0.01, max_copies: int = 4,
            seed: int = 0) -> "CuckooFilter":
        """An empty filter: the same as ``cf_new`` of the server makes.

        ``capacity``: how many values, copies counted, it is to have room for;
        ``fpr``: the highest false positive rate up to there, a fraction, of
        which more than 1/64 is taken as that; ``max_copies``: how many adds of
        one value are counted, 1 to 4, where 1 means that nothing can be
        removed; ``seed``: any bigint, -2**63 to 2**63 - 1.

        Raises ParameterError or TooLargeError.
        """
        capacity = _geometry.check_capacity(capacity)
        rate = _geometry.check_rate(fpr)
        if not 1 <= max_copies <= _geometry.MAX_COPIES:
            raise ParameterError(
                f"max_copies must be between 1 and 4, not {max_copies}")
        if not -(1 << 63) <= seed < 1 << 64:
            raise ParameterError("seed must be of 64 bits")
        header = Header(False, False, Family.NONE,
                        _geometry.choose(capacity, rate, fpr), max_copies,
                        max_copies, seed & MASK64, capacity, 0)
        return cls._make(header, [], None)

    @classmethod
    def build(cls, values: Iterable[Any], capacity: Optional[float] = None,
              fpr: float = 0.01, max_copies: int = 4,
              seed: int = 0) -> "CuckooFilter":
        """A filter of values, each counted once: the bytes of ``cf_agg``.

        Without a capacity it is the number of different values.  The result
        does not depend on the order of the values.  The other parameters are
        those of :meth:`new`.

        Raises FullError, CollidingError, FamilyError, UnsupportedTypeError,
        ParameterError or TooLargeError.
        """
        return cls._build_values(values, capacity, fpr, max_copies, seed, False)

    @classmethod
    def build_bag(cls, values: Iterable[Any], capacity: Optional[float] = None,
                  fpr: float = 0.01, max_copies: int = 4,
                  seed: int = 0) -> "CuckooFilter":
        """A filter of values, each as often as it comes: ``cf_bag_agg``.

        For one from which values are to be removed.  At most ``max_copies`` of
        each are counted.  Without a capacity it is the number of copies, and
        1/32 more if any value repeats, or 1/8 more if a quarter of the copies
        are repeats.  Otherwise as :meth:`build`.
        """
        return cls._build_values(values, capacity, fpr, max_copies, seed, True)

    @classmethod
    def build_hashes(cls, hashes: Iterable[int], capacity: float,
                     fpr: float = 0.01, max_copies: int = 4,
                     seed: int = 0) -> "CuckooFilter":
        """A filter of hashes, each counted once: the bytes of ``cf_hash_agg``.

        Hashes are 64 bits, signed or not; they are to be made with ``seed``.
        """
        return cls._build([_hash_of(h) for h in hashes], Family.NONE, capacity,
                          fpr, max_copies, seed, False)

    @classmethod
    def _build_values(cls, values: Iterable[Any], capacity: Optional[float],
                      fpr: float, max_copies: int, seed: int,
                      is_bag: bool) -> "CuckooFilter":
        if not _numpy.is_array(values):
            values = list(values)
        family, hashes = _batch_hashes(Family.NONE, values, seed & MASK64,
                                       "cannot add")
        return cls._build(hashes, family, capacity, fpr, max_copies, seed,
                          is_bag)

    @classmethod
    def _build(cls, hashes: Any, family: Family, capacity: Optional[float],
               fpr: float, max_copies: int, seed: int,
               is_bag: bool) -> "CuckooFilter":
        if capacity is not None:
            _geometry.check_capacity(capacity)
        if not 1 <= max_copies <= _geometry.MAX_COPIES:
            raise ParameterError(
                f"max_copies must be between 1 and 4, not {max_copies}")
        ordered, nrepeats = _at_most(_numpy.sort_ordered(hashes),
                                     max_copies if is_bag else 1)
        n = len(ordered)
        if capacity is None:
            capacity = max(n, 1)
            if nrepeats:
                capacity += n // (32 if 4 * nrepeats < n else 8)

        self = cls.new(capacity, fpr, max_copies, seed)
        header = self._header._replace(family=family)
        geometry = header.geometry
        refused: CuckooFilterError = FullError(
            f"cuckoo filter is full: it would hold {n} entries, more than its "
            f"capacity of {header.capacity}")
        if header.capacity < _geometry.MIN_TABLE_CAPACITY:
            if n > header.capacity:
                raise refused
        elif n > header.capacity or n > geometry.list_limit:
            try:
                table = _fill.build_table(geometry, max_copies, ordered,
                                          header.capacity)
            except _fill.Refusal as refusal:
                if n > header.capacity or n > _geometry.MAX_LIST_ENTRIES:
                    if refusal.args[0] == "colliding":
                        refused = CollidingError(
                            "too many values collide in the cuckoo filter: of "
                            f"{n} entries, more have the same two buckets than "
                            "these have slots; give another seed")
                    raise refused from None
            else:
                self._header = header
                self._set_table(table)
                return self
        self._hashes = sorted(h >> 24 | h << 40 & MASK64 for h in ordered)
        self._header = header._replace(entries=n)
        return self

    # ---- bytes ----

    @classmethod
    def from_bytes(cls, data: Buffer, trusted: bool = False) -> "CuckooFilter":
        """The filter in bytes as ``SELECT f::bytea`` or binary COPY give them.

        The checksum is always checked.  With ``trusted`` the check of every
        bucket is left out: for bytes of your own server, which differ from
        what it sent only if the checksum does.

        Raises InvalidFilterError, or NewerVersionError for what a later
        release has written.
        """
        return cls._from_bytes(data, trusted, "invalid bytes of a cuckoofilter")

    @classmethod
    def from_text(cls, text: str, trusted: bool = False) -> "CuckooFilter":
        """The filter in a text as ``SELECT f`` gives it: cf1: and base64.

        As :meth:`from_bytes`.
        """
        message = "invalid text of a cuckoofilter"
        if not text.startswith(_TEXT_PREFIX):
            raise InvalidFilterError(message,
                                     'it does not begin with "cf1:"')
        data = text[len(_TEXT_PREFIX):]
        if (len(data) % 4 or len(data) > _MAX_TEXT or
                not _BASE64.fullmatch(data)):
            raise InvalidFilterError(message, 'what follows "cf1:" is not '
                                     "valid base64")
        return cls._from_bytes(base64.b64decode(data), trusted, message)

    @classmethod
    def _from_bytes(cls, data: Buffer, trusted: bool,
                    message: str) -> "CuckooFilter":
        with memoryview(data) as view:
            if view.nbytes < _CHECKSUM_BYTES:
                raise InvalidFilterError(message,
                                         "it is too short for a checksum")
            image = view[:-_CHECKSUM_BYTES]
            if (xxh3_64_intdigest(image) !=
                    int.from_bytes(view[-_CHECKSUM_BYTES:], "little")):
                raise InvalidFilterError(message, "the checksum does not match")
            try:
                self = cls._decode(image)
                problem = None if trusted else self.check()
            except _image.Damaged as damaged:
                problem = damaged.args[0]
            finally:
                image.release()
        if problem is not None:
            raise InvalidFilterError(message, problem)
        return self

    @classmethod
    def _decode(cls, image: memoryview) -> "CuckooFilter":
        header = _image.decode_header(image)
        body = bytearray(image[HEADER_BYTES:])
        if not header.is_table:
            return cls._make(header, [
                int.from_bytes(body[i:i + 8], "little")
                for i in range(0, len(body), 8)], None)
        table = PackedTable(header.geometry, header.max_copies, body)
        table.nentries = header.entries
        table.kicks = header.kicks
        table.longest_path = header.longest_path
        table.growths = header.growths
        table.growth_load = header.growth_load
        return cls._make(header, None, table)

    def to_bytes(self) -> bytes:
        """The bytes that the server takes: ``SELECT $1::bytea::cuckoofilter``.

        Image and checksum, as in binary COPY and binary parameters.
        """
        image = self._image()
        return image + xxh3_64_intdigest(image).to_bytes(8, "little")

    __bytes__ = to_bytes

    def to_text(self) -> str:
        """The text that the server takes: ``SELECT 'cf1:...'::cuckoofilter``."""
        return _TEXT_PREFIX + base64.b64encode(self.to_bytes()).decode("ascii")

    def _image(self) -> bytes:
        if self._table is not None:
            return self._current_header().encode() + bytes(self._table.body)
        assert self._hashes is not None
        return self._current_header().encode() + b"".join(
            [h.to_bytes(8, "little") for h in self._hashes])

    def _current_header(self) -> Header:
        """The header with what adding and removing have changed."""
        table = self._table
        if table is None:
            assert self._hashes is not None
            return self._header._replace(entries=len(self._hashes))
        return self._header._replace(
            is_table=True, geometry=table.geometry,
            max_copies=table.max_copies, entries=table.nentries,
            kicks=table.kicks, longest_path=table.longest_path,
            growths=table.growths, growth_load=table.growth_load)

    def _set_table(self, table: PackedTable) -> None:
        if table is not self._table:
            self._table = table
            self._hashes = None
            self._probes = None
            self._header = self._header._replace(is_table=True)

    def check(self) -> Optional[str]:
        """What is wrong with the filter, as ``cf_check`` of the server says it.

        None if it is sound, which it always is unless it was read as trusted.
        Reads all of it.
        """
        if self._table is not None:
            return _image.check_table(self._table)
        assert self._hashes is not None
        return _image.check_list(self._hashes, self._header.max_copies)

    # ---- asking ----

    def __contains__(self, value: object) -> bool:
        """May the value be in the filter?  False is certain.

        Raises FamilyError for a value of another family than the filter holds,
        UnsupportedTypeError for None and types without key bytes.
        """
        known = FIXED.get(type(value))
        if known is not None and known[0] == self._header.family:
            key = known[1](value)
        elif self._is_empty():
            resolve(value)
            return False
        else:
            key = encode_for(self._header.family, value)
        return self._contains(xxh3_64_intdigest(key, self._seed))

    def _is_empty(self) -> bool:
        return not (self._hashes if self._table is None else
                    self._table.nentries)

    def _contains(self, hash_: int) -> bool:
        if self._table is not None:
            return self._table.contains(hash_)
        hashes = self._hashes
        assert hashes is not None
        i = bisect_left(hashes, hash_)
        return i < len(hashes) and hashes[i] == hash_

    def contains_hash(self, hash_: int) -> bool:
        """May a value of this hash be in the filter?  64 bits, signed or not."""
        return self._contains(_hash_of(hash_))

    def count(self, value: object) -> int:
        """The copies of a value, 0 to max_copies.

        Errors are those of ``value in filter``.
        """
        if self._is_empty():
            resolve(value)
            return 0
        key = encode_for(self._header.family, value)
        return self._count(xxh3_64_intdigest(key, self._seed))

    def count_hash(self, hash_: int) -> int:
        """The copies of a hash, 0 to max_copies."""
        return self._count(_hash_of(hash_))

    def _count(self, hash_: int) -> int:
        if self._table is not None:
            return self._table.count(hash_)
        assert self._hashes is not None
        return (bisect_right(self._hashes, hash_) -
                bisect_left(self._hashes, hash_))

    @overload
    def contains_many(  # type: ignore
            self, values: "AnyArray") -> "BoolArray": ...

    @overload
    def contains_many(self, values: Iterable[Any]) -> List[bool]: ...

    def contains_many(self, values: Any) -> Any:
        """``[value in filter for value in values]``, much faster with numpy.

        For an array of numpy (of integers, floats or objects) the result is an
        array of the same shape, else a list.  Errors are those of ``value in
        filter``, before any value is looked for.
        """
        if _numpy.is_array(values):
            found = self._contains_batch(values.ravel())
            return _numpy.np.asarray(found, bool).reshape(values.shape)
        result = self._contains_batch(list(values))
        return result.tolist() if _numpy.is_array(result) else result

    def _contains_batch(self, values: Any) -> Any:
        family = Family.NONE if self._is_empty() else self._header.family
        _, hashes = _batch_hashes(family, values, self._seed, "probed with",
                                  is_mixed=self._is_empty() or
                                  family == Family.NONE)
        return self._contains_hashes(hashes)

    @overload
    def contains_hashes(  # type: ignore
            self, hashes: "AnyArray") -> "BoolArray": ...

    @overload
    def contains_hashes(self, hashes: Iterable[int]) -> List[bool]: ...

    def contains_hashes(self, hashes: Any) -> Any:
        """:meth:`contains_hash` for many; an array of int64 or uint64 or any
        iterable."""
        if _numpy.is_array(hashes):
            if hashes.dtype.kind not in "iu":
                raise TypeError("hashes must be integers")
            found = self._contains_hashes(
                hashes.ravel().astype(_numpy.np.int64, copy=False).view(
                    _numpy.np.uint64) if hashes.dtype.kind == "i" else
                hashes.ravel().astype(_numpy.np.uint64, copy=False))
            return _numpy.np.asarray(found, bool).reshape(hashes.shape)
        result = self._contains_hashes([_hash_of(h) for h in hashes])
        return result.tolist() if _numpy.is_array(result) else result

    def _contains_hashes(self, hashes: Any) -> Any:
        """Of a list, or of an array of uint64, which is what numpy gives."""
        if _numpy.np is None:
            return [self._contains(h) for h in hashes]
        np = _numpy.np
        if not _numpy.is_array(hashes):
            hashes = np.array(hashes, np.uint64)
        if self._table is None:
            return np.isin(hashes, np.array(self._hashes, np.uint64))
        if self._probes is None:
            self._probes = _numpy.Probes(self._table)
        found = np.empty(len(hashes), bool)
        for i in range(0, len(hashes), _numpy.CHUNK):
            found[i:i + _numpy.CHUNK] = self._probes.count(
                hashes[i:i + _numpy.CHUNK]) > 0
        return found

    def __len__(self) -> int:
        """The entries of the filter: values, copies counted."""
        return (len(self._hashes or ()) if self._table is None else
                self._table.nentries)

    # ---- changing ----

    def add(self, value: object) -> bool:
        """Add one more copy of a value.

        False if it has max_copies already, and the filter stays as it was.

        Raises FamilyError, UnsupportedTypeError, FullError (only when the
        capacity is reached), CollidingError or TooLargeError, with the filter
        as it was.
        """
        family, hash_ = self._hash_to_add(value)
        added = self._add(hash_)
        self._header = self._header._replace(family=family)
        return added

    def add_hash(self, hash_: int) -> bool:
        """Add one more copy of a hash.  As :meth:`add`."""
        return self._add(_hash_of(hash_))

    def add_all(self, values: Iterable[Any]) -> None:
        """Add one more copy of each value, in this order, or of none.

        Raises what :meth:`add` raises, with the filter as it was.
        """
        family, hashes = _batch_hashes(self._header.family, list(values),
                                       self._seed, "cannot add")
        changed = self.copy()
        for hash_ in hashes.tolist() if _numpy.is_array(hashes) else hashes:
            changed._add(hash_)
        self._header = changed._header._replace(family=family)
        self._hashes = changed._hashes
        self._table = changed._table
        self._probes = None

    def _hash_to_add(self, value: object) -> Tuple[Family, int]:
        family = self._header.family
        key = encode_for(family, value, "cannot add")
        if family == Family.NONE:
            family = resolve(value)[0]
        return family, xxh3_64_intdigest(key, self._seed)

    def _add(self, hash_: int) -> bool:
        header = self._header
        try:
            if self._table is None:
                return self._add_to_list(hash_)
            table, added = _fill.add_to_table(self._table, hash_,
                                              header.capacity)
        except _fill.Refusal as refusal:
            what = (f"it holds {len(self)} entries of a capacity of "
                    f"{header.capacity}")
            if refusal.args[0] == "full":
                raise FullError(f"cuckoo filter is full: {what}") from None
            raise CollidingError("too many values collide in the cuckoo "
                                 f"filter: {what}") from None
        self._set_table(table)
        return added

    def _add_to_list(self, hash_: int) -> bool:
        hashes, header = self._hashes, self._header
        assert hashes is not None
        if self._count(hash_) >= header.max_copies:
            return False
        nentries = len(hashes) + 1
        refused = _fill.Refusal("full")
        if _fill.wants_table(header.geometry, header.capacity, nentries):
            try:
                self._set_table(_fill.table_of_list(
                    header.geometry, header.max_copies, hashes, hash_,
                    header.capacity))
                return True
            except _fill.Refusal as refusal:
                refused = refusal
        if (nentries > header.capacity or
                nentries > _geometry.MAX_LIST_ENTRIES):
            raise refused
        insort(hashes, hash_)
        return True

    def remove(self, value: object) -> bool:
        """Take out one copy of a value.

        False if there is none, or if there are max_copies, since it may have
        been added more often than was counted; the filter stays as it was.

        Only remove what was added, and no more often than that: a value that
        was not can be a false positive, and its removal takes out another.

        Raises NotRemovableError if max_copies is 1 or the filter is merged,
        FamilyError or UnsupportedTypeError.
        """
        self._require_removable()
        if self._is_empty():
            resolve(value)
            return False
        key = encode_for(self._header.family, value, "cannot remove")
        return self._remove(xxh3_64_intdigest(key, self._seed))

    def remove_hash(self, hash_: int) -> bool:
        """Take out one copy of a hash.  As :meth:`remove`."""
        self._require_removable()
        return self._remove(_hash_of(hash_))

    def remove_all(self, values: Iterable[Any]) -> None:
        """:meth:`remove` each of the values."""
        self._require_removable()
        family = Family.NONE if self._is_empty() else self._header.family
        _, hashes = _batch_hashes(family, list(values), self._seed,
                                  "cannot remove", is_mixed=True)
        for hash_ in hashes.tolist() if _numpy.is_array(hashes) else hashes:
            self._remove(hash_)

    def _require_removable(self) -> None:
        if self._header.declared_copies == 1:
            raise NotRemovableError("cannot remove values from an append-only "
                                    "cuckoo filter: max_copies is 1")
        if self._header.is_merged:
            raise NotRemovableError(
                "cannot remove values from a merged cuckoo filter")

    def _remove(self, hash_: int) -> bool:
        if self._table is not None:
            return self._table.remove(hash_)
        assert self._hashes is not None
        ncopies = self._count(hash_)
        if ncopies == 0 or ncopies >= self._header.max_copies:
            return False
        del self._hashes[bisect_left(self._hashes, hash_)]
        return True

    # ---- looking into it ----

    @property
    def family(self) -> Family:
        """What kind of values the filter holds, NONE while that is not known."""
        return self._header.family

    @property
    def capacity(self) -> int:
        """How many values, copies counted, the filter is to have room for."""
        return self._header.capacity

    @property
    def seed(self) -> int:
        """The seed of all hashes, signed, as the server shows it."""
        return to_signed(self._header.seed)

    @property
    def fpr(self) -> float:
        """The false positive rate as it is now, a fraction: ``cf_fpr``."""
        k, _, P = self._header.geometry
        if self._table is None:
            return len(self) * 2.0 ** -64
        return _geometry.fpr_of(k, P, len(self))

    @property
    def info(self) -> FilterInfo:
        """All that the header says, and what follows from it: ``cf_info``."""
        header = self._current_header()
        k, q, P = header.geometry
        entries, capacity = header.entries, header.capacity
        nbytes = 4 + HEADER_BYTES + header.body_bytes
        becomes_table = (capacity >= _geometry.MIN_TABLE_CAPACITY and
                         capacity > header.geometry.list_limit)
        return FilterInfo(
            form="table" if header.is_table else "list",
            family=None if header.family == Family.NONE else
            str(header.family),
            capacity=capacity,
            entries=entries,
            load_factor=entries / header.geometry.nslots if header.is_table
            else float(entries > 0),
            fpr=self.fpr,
            promised_fpr=_geometry.fpr_of(k, P, capacity)
            if header.is_table or becomes_table else capacity * 2.0 ** -64,
            declared_fpr=_geometry.declared_fpr_of(k, P, capacity),
            bytes=nbytes,
            bits_per_value=8.0 * nbytes / entries if entries else None,
            max_copies=header.declared_copies,
            current_copies=header.max_copies,
            merged=header.is_merged,
            seed=to_signed(header.seed),
            columns=k,
            index_bits=q,
            prefix_bits=P,
            fingerprint_bits=P - q if header.is_table else None,
            kicks=header.kicks if header.kicks < 1 << 63 else
            header.kicks - (1 << 64),
            longest_path=header.longest_path,
            growths=header.growths,
            load_at_growth=header.growth_load / 10000 if header.growths
            else None,
            format_version=_image.FORMAT_VERSION,
            hash_version=_image.HASH_VERSION)

    def copy(self) -> "CuckooFilter":
        """A filter of its own with the same bytes."""
        return self._make(
            self._header, None if self._hashes is None else
            list(self._hashes),
            None if self._table is None else self._table.copy())

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> "CuckooFilter":
        return self.copy()

    def __reduce__(self) -> Tuple[Any, ...]:
        return CuckooFilter.from_bytes, (self.to_bytes(), True)

    def __eq__(self, other: object) -> bool:
        """Have both the same bytes?  Filters of the same values can differ."""
        if not isinstance(other, CuckooFilter):
            return NotImplemented
        return self._image() == other._image()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (f"<CuckooFilter of {str(self.family)} values: {len(self)} of "
                f"{self.capacity}>")


def _hash_of(hash_: int) -> int:
    """64 bits, signed or not, as unsigned ones."""
    if not -(1 << 63) <= hash_ <= MASK64:
        raise ValueError("a hash has 64 bits")
    return hash_ & MASK64


def _at_most(ordered: List[int], most: int) -> Tuple[List[int], int]:
    """Of sorted hashes at most so many equal ones, and how many repeat."""
    kept: List[int] = []
    nrepeats = 0
    ncopies = 0
    before = -1
    for hash_ in ordered:
        if hash_ != before:
            ncopies = 0
            before = hash_
        ncopies += 1
        if ncopies <= most:
            kept.append(hash_)
            nrepeats += ncopies > 1
    return kept, nrepeats


def _batch_hashes(held: Family, values: Any, seed: int, what: str,
                  is_mixed: bool = False) -> Tuple[Family, Any]:
    """The hashes of a list, or of an array of numpy of one dimension.

    Also the family of a filter that holds ``held``, NONE for any, and is given
    them.  With ``is_mixed`` values that are given to a filter of no family may
    be of several.
    """
    if _numpy.is_array(values):
        family = {"i": Family.NUMBER, "u": Family.NUMBER,
                  "f": Family.FLOAT}.get(values.dtype.kind)
        if family is not None and held in (Family.NONE, family):
            hashes = _numpy.array_hashes(values, seed)
            if hashes is not None:
                return (family if len(values) else held), hashes
        if values.dtype.kind not in "biufOSU":
            raise UnsupportedTypeError("cannot use values of dtype "
                                       f"{values.dtype} as filter keys")
        values = values.tolist()

    hash_ = xxh3_64_intdigest
    kinds = set(map(type, values))
    if len(kinds) == 1:
        known = FIXED.get(kinds.pop())
        if known is not None and held in (Family.NONE, known[0]):
            family, encode = known
            if family == Family.NUMBER and _numpy.np is not None and type(
                    values[0]) is int:
                integers = _numpy.integers(values)
                if integers is not None:
                    return family, _numpy.array_hashes(integers, seed)
            if family in (Family.TEXT, Family.BYTES):
                # they are hashed as they are
                return family, [hash_(value, seed) for value in values]
            return family, [hash_(encode(value), seed) for value in values]

    hashes = []
    for value in values:
        hashes.append(hash_(encode_for(held, value, what), seed))
        if held == Family.NONE and not is_mixed:
            held = resolve(value)[0]
    return held, hashes
