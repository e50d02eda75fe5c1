"""Headers, and the check of untrusted bytes (docs/format.md, 3 and 8)."""

from __future__ import annotations

import struct
from typing import List, NamedTuple, Optional, Union

from . import _numpy
from ._geometry import (HEADER_BYTES, MAX_CAPACITY, MAX_COLUMNS, MAX_COPIES,
                        MAX_IMAGE_BYTES, MAX_LIST_ENTRIES, MAX_PREFIX_BITS,
                        MIN_COLUMNS, MIN_FP_BITS, MIN_PREFIX_BITS, PAD_BYTES,
                        Geometry)
from ._table import NCODES, PackedTable
from .errors import NewerVersionError
from .keys import Family

FORMAT_VERSION = 1
HASH_VERSION = 1
FLAG_TABLE = 1
FLAG_MERGED = 2
FLAGS_KNOWN = FLAG_TABLE | FLAG_MERGED
FAMILY_LAST = int(max(Family))
GROWTH_LOAD_UNIT = 10000

BAD_SIZE = "its length is not what its header says"
BAD_HEADER = "a header field is out of range"
BAD_LIST = "the hashes are not in ascending order"
BAD_BUCKET = "a bucket is malformed"
BAD_TAIL = "the bits after the last bucket are not zero"
BAD_COUNT = "the number of entries is not what its header says"
BAD_COPIES = "a value has more copies than its header allows"

_STRUCT = struct.Struct("<8B4Q2BH")

Buffer = Union[bytes, bytearray, memoryview]


class Damaged(Exception):
    """An image is not sound: the argument says why."""


class Header(NamedTuple):
    """The fields of a header, but for the versions."""

    is_table: bool
    is_merged: bool
    family: Family
    geometry: Geometry
    declared_copies: int
    max_copies: int
    seed: int
    capacity: int
    entries: int
    kicks: int = 0
    longest_path: int = 0
    growths: int = 0
    growth_load: int = 0

    @property
    def body_bytes(self) -> int:
        return self.geometry.table_bytes if self.is_table else 8 * self.entries

    def encode(self) -> bytes:
        k, q, P = self.geometry
        return _STRUCT.pack(
            FORMAT_VERSION, HASH_VERSION,
            FLAG_TABLE * self.is_table | FLAG_MERGED * self.is_merged,
            self.family, k, q, P, self.max_copies << 4 | self.declared_copies,
            self.seed, self.capacity, self.entries, self.kicks,
            self.longest_path, self.growths, self.growth_load)


def decode_header(image: Buffer) -> Header:
    """The header of an image whose length is right for it.

    Raises NewerVersionError or Damaged.
    """
    if len(image) > 0 and image[0] != FORMAT_VERSION:
        raise _unknown("format version", "format", image[0], FORMAT_VERSION)
    if len(image) < HEADER_BYTES:
        raise Damaged(BAD_SIZE)
    (_, hash_version, flags, family, k, q, P, copies, seed, capacity, entries,
     kicks, longest_path, growths, growth_load) = _STRUCT.unpack_from(image)
    if hash_version != HASH_VERSION:
        raise _unknown("hash version", "hash", hash_version, HASH_VERSION)
    if flags & ~FLAGS_KNOWN:
        raise NewerVersionError(
            f"cuckoo filter of format version {FORMAT_VERSION} has flags "
            f"0x{flags:02x}, but the known ones are 0x{FLAGS_KNOWN:02x}",
            "flag", flags)
    if family > FAMILY_LAST:
        raise _unknown("key family", "family", family, FAMILY_LAST)

    header = Header(bool(flags & FLAG_TABLE), bool(flags & FLAG_MERGED),
                    Family(family), Geometry(k, q, P), copies & 0xF,
                    copies >> 4, seed, capacity, entries, kicks, longest_path,
                    growths, growth_load)
    if not _is_in_range(header):
        raise Damaged(BAD_HEADER)
    if len(image) != HEADER_BYTES + header.body_bytes:
        raise Damaged(BAD_SIZE)
    return header


def _unknown(words: str, what: str, found: int,
             newest: int) -> NewerVersionError:
    return NewerVersionError(f"cuckoo filter has {words} {found}, but the "
                             f"newest known is {newest}", what, found)


def _is_in_range(header: Header) -> bool:
    k, q, P = header.geometry
    declared = header.declared_copies
    if not (MIN_COLUMNS <= k <= MAX_COLUMNS and
            MIN_PREFIX_BITS <= P <= MAX_PREFIX_BITS and
            q <= P - MIN_FP_BITS and
            1 <= header.capacity <= MAX_CAPACITY and
            1 <= declared <= MAX_COPIES and
            min(declared, 2) <= header.max_copies <= declared and
            header.growth_load <= GROWTH_LOAD_UNIT and
            (header.kicks == 0) == (header.longest_path == 0)):
        return False
    if header.is_table:
        return (q <= 32 and
                HEADER_BYTES + header.body_bytes <= MAX_IMAGE_BYTES and
                header.entries <= header.geometry.nslots)
    return (q == 0 and header.entries <= MAX_LIST_ENTRIES and
            header.kicks == header.growths == header.growth_load == 0)


def check_list(hashes: List[int], max_copies: int) -> Optional[str]:
    """What is wrong with a list, None if it is sound."""
    ncopies = 0
    before = -1
    for hash_ in hashes:
        if hash_ < before:
            return BAD_LIST
        ncopies = ncopies + 1 if hash_ == before else 1
        if ncopies > max_copies:
            return BAD_COPIES
        before = hash_
    return None


def check_table(table: PackedTable) -> Optional[str]:
    """What is wrong with a table, None if it is sound."""
    if _numpy.np is not None:
        nentries = _numpy.check_buckets(table)
    else:
        nentries = _check_buckets(table)
    if nentries is None:
        return BAD_BUCKET

    body = table.body
    table_bits = table.geometry.nbuckets * table.bucket_bits
    if table_bits % 8 and body[table_bits // 8] >> (table_bits % 8):
        return BAD_TAIL
    if any(body[len(body) - PAD_BYTES:]):
        return BAD_TAIL
    if nentries != table.nentries:
        return BAD_COUNT

    if _numpy.np is not None:
        is_surplus = _numpy.has_surplus(table)
    else:
        is_surplus = _has_surplus(table)
    return BAD_COPIES if is_surplus else None


def _check_buckets(table: PackedTable) -> Optional[int]:
    """The number of entries, None if a bucket is malformed."""
    nentries = 0
    for bucket in range(table.geometry.nbuckets):
        word = table.word(bucket)
        if word == 0:
            continue
        if word & 0xFFF >= NCODES:
            return None
        before = 0
        for slot in table.all_slots(word):
            if slot < before or (slot and table.perm_of(slot) == 0):
                return None
            before = slot
            nentries += slot != 0
    return nentries


def _has_surplus(table: PackedTable) -> bool:
    # of more copies than max_copies, at least so many are in one bucket
    crowd = (table.max_copies + 2) // 2
    for bucket in range(table.geometry.nbuckets):
        slots = table.get(bucket)
        if len(slots) < crowd or (crowd > 1 and len(set(slots)) == len(slots)):
            continue
        for slot in slots:
            if table.count_at((bucket, slot)) > table.max_copies:
                return True
    return False
