"""Placing entries as the extension does (docs/format.md, section 11)."""

from __future__ import annotations

from typing import List, NamedTuple, Optional, Sequence, Tuple

from . import _numpy
from ._geometry import (Geometry, HEADER_BYTES, MAX_IMAGE_BYTES,
                        MAX_LIST_ENTRIES, MIN_FP_BITS, MIN_TABLE_CAPACITY, SUPERBLOCK_BITS, buckets_for,
                        index_bits_for)
from ._table import (OpenTable, PackedTable, Place, Table, new_table,
                     pack_table)
from .errors import TooLargeError

POCKET_BUCKETS = 64
SMALL_TABLE_BUCKETS = 1024
SMALL_TABLE_SLOTS = 64


class Refusal(Exception):
    """An add that is refused: the argument is "full" or "colliding"."""


class Remedy(NamedTuple):
    """What is done about a table in which an add finds no room: it grows if
    max_copies is 0, else its copies are lowered to that."""

    max_copies: int


GROW = Remedy(0)


def is_due(table: Table, capacity: int) -> bool:
    """Is a table to be doubled before the next entry is added?"""
    geometry = table.geometry
    return (table.nentries >= geometry.usable and
            table.nentries < capacity and
            geometry.nslots > SMALL_TABLE_SLOTS and
            geometry.f > MIN_FP_BITS)


def grows_anyway(table: Table, capacity: int, n: int) -> bool:
    """Will a table be doubled one day, and helps that now?"""
    geometry = table.geometry
    if (n >= capacity or geometry.f == MIN_FP_BITS or
            geometry.nbuckets >= buckets_for(capacity)):
        return False
    return (4 * n >= 3 * geometry.nslots or
            geometry.nbuckets <= SMALL_TABLE_BUCKETS or
            (3 * n >= geometry.nslots and
             8 * table.copies_above(2) >= table.nentries))


def choose_remedy(table: Table, places: Sequence[Place], capacity: int,
                  expected: Optional[int]) -> Remedy:
    """What to do about a table in which an add has found no room.

    ``expected`` is the number of entries that a build is to have.
    """
    n = table.nentries if expected is None else max(table.nentries,
                                                    expected - 1)
    geometry = table.geometry
    if grows_anyway(table, capacity, n):
        return GROW

    nodes, _ = table.search(places)
    used = hot = 0
    most = table.count_at(places[0]) + 1
    for bucket, _, _ in nodes:
        for slot in table.get(bucket):
            ncopies = table.count_at((bucket, slot))
            used += 1
            hot += ncopies > 2
            most = max(most, ncopies)
    is_pocket = len(nodes) <= POCKET_BUCKETS
    usable = geometry.usable

    if (table.max_copies > 2 and most > 2 and
            (n < usable or n >= capacity) and
            (is_pocket or (n < usable and 32 * hot >= used))):
        return Remedy(min(table.max_copies, most) - 1)
    if n >= capacity:
        raise Refusal("full")
    if geometry.nbuckets > SMALL_TABLE_BUCKETS and (
            4 * n < geometry.nslots or
            (is_pocket and n < usable and
             (2 * n < geometry.nslots or
              16 * table.copies_above(1) < table.nentries))):
        raise Refusal("colliding")
    if geometry.f == MIN_FP_BITS:
        raise Refusal("full")
    return GROW


def grow(table: PackedTable) -> PackedTable:
    """The table of twice as many buckets."""
    k, q, P = table.geometry
    check_size(Geometry(k, q + 1, P))
    return table.double()


def check_size(geometry: Geometry) -> None:
    """Refuse a table that no image has room for."""
    if HEADER_BYTES + geometry.table_bytes > MAX_IMAGE_BYTES:
        raise TooLargeError("cuckoo filter would be larger than 512 MiB")


def add_to_table(table: PackedTable, hash_: int, capacity: int) -> Tuple[
        PackedTable, bool]:
    """Add a hash to a table, whatever that takes.

    Returns the table, another one if it had to be made roomier, and whether
    anything has changed.  Raises Refusal with the table as it was.
    """
    places = table.places(hash_)
    if is_due(table, capacity):
        if table.count_at(places[0]) >= table.max_copies:
            return table, False
    else:
        added = table.add(places)
        if added is not None:
            return table, added

    # fewer copies are counted in the last table that was not doubled in vain
    undoubled = current = table
    while True:
        remedy = GROW if is_due(current, capacity) else choose_remedy(
            current, current.places(hash_), capacity, None)
        if remedy == GROW:
            current = grow(current)
        else:
            current = undoubled.copy()
            current.max_copies = remedy.max_copies
            current.drop_copies()
            undoubled = current
        places = current.places(hash_)
        if is_due(current, capacity) and (
                current.count_at(places[0]) < current.max_copies):
            continue
        if current.add(places) is not None:
            return current, True


def wants_table(geometry: Geometry, capacity: int, nentries: int) -> bool:
    """Is this a number of hashes at which a list tries to become a table?"""
    if capacity < MIN_TABLE_CAPACITY:
        return False
    if nentries > capacity or nentries > MAX_LIST_ENTRIES:
        return True
    ratio, rest = divmod(nentries, geometry.list_limit + 1)
    return rest == 0 and ratio & (ratio - 1) == 0


def table_of_list(geometry: Geometry, max_copies: int, hashes: List[int],
                  hash_: int, capacity: int) -> PackedTable:
    """The table of the hashes of a list, and one more.  Raises Refusal."""
    table = new_table(geometry, max_copies)
    for each in hashes:
        table = add_to_table(table, each, capacity)[0]
    return add_to_table(table, hash_, capacity)[0]


def fill_table(geometry: Geometry, max_copies: int, ordered: Sequence[int],
               capacity: int) -> Tuple[OpenTable, Optional[Tuple[Place,
                                                                 Place]]]:
    """Place ordered hashes in an empty table.

    Also returns the places of the first hash that finds no room, or None.
    """
    table = OpenTable(geometry, max_copies)
    places = _numpy.ordered_places(table, ordered)
    q = geometry.q
    if q <= SUPERBLOCK_BITS:
        return table, _fill_block(table, places, 0, geometry.nbuckets)

    shift = 64 - (q - SUPERBLOCK_BITS)
    nbuckets = geometry.k << SUPERBLOCK_BITS
    begin = 0
    while begin < len(ordered):
        number = ordered[begin] >> shift
        end = _end_of_block(ordered, begin, (number + 1) << shift)
        homeless = _fill_block(table, [p[begin:end] for p in places],
                               number * nbuckets, nbuckets)
        if homeless is not None:
            return table, homeless
        begin = end
    return table, None


def _end_of_block(ordered: Sequence[int], begin: int, limit: int) -> int:
    """The first position of a hash that is not below the limit."""
    low, high = begin, len(ordered)
    while low < high:
        middle = (low + high) // 2
        if ordered[middle] < limit:
            low = middle + 1
        else:
            high = middle
    return low


def _fill_block(table: OpenTable, places: Sequence[Sequence[int]],
                first_bucket: int, nbuckets: int) -> Optional[
                    Tuple[Place, Place]]:
    """Place the hashes of a superblock; that of a hash that has no room."""
    buckets = table.buckets
    waiting: List[Tuple[Place, Place]] = []
    nplaced = 0
    for bucket, slot, other_bucket, other_slot in zip(*places):
        slots = buckets[bucket]
        other_slots = buckets[other_bucket]
        nplaced += 1
        if len(other_slots) < len(slots):
            other_slots.append(other_slot)
        elif len(slots) < 4:
            slots.append(slot)
        else:
            waiting.append(((bucket, slot), (other_bucket, other_slot)))
            if len(waiting) == nbuckets:
                break
    table.nentries += nplaced - len(waiting)

    # of more copies than max_copies, at least so many are in one bucket
    crowd = (table.max_copies + 2) // 2
    for bucket in range(first_bucket, first_bucket + nbuckets):
        slots = buckets[bucket]
        slots.sort()
        if len(slots) >= crowd and (crowd == 1 or
                                    len(set(slots)) < len(slots)):
            _drop_crowd(table, bucket, crowd)
    for each in waiting:
        if table.add(each) is None:
            return each
    for bucket, slot, other_bucket, other_slot in zip(
            *[p[nplaced:] for p in places]):
        last = ((bucket, slot), (other_bucket, other_slot))
        if table.add(last) is None:
            return last
    return None


def _drop_crowd(table: OpenTable, bucket: int, crowd: int) -> None:
    slots = table.buckets[bucket]
    for slot in sorted(set(slots)):
        if slots.count(slot) >= crowd:
            other = table.other(bucket, slot)
            table.drop_copies_of((bucket, slot), other)


def build_table(geometry: Geometry, max_copies: int, ordered: Sequence[int],
                capacity: int) -> PackedTable:
    """A table of ordered hashes.  Raises Refusal."""
    first = min(index_bits_for(geometry.k, min(len(ordered), capacity)),
                geometry.P - MIN_FP_BITS)
    q = first
    while True:
        size = Geometry(geometry.k, q, geometry.P)
        check_size(size)
        table, homeless = fill_table(size, max_copies, ordered, capacity)
        if homeless is None:
            return pack_table(table)
        remedy = choose_remedy(table, homeless, capacity, len(ordered))
        if remedy == GROW:
            q += 1
        else:
            max_copies = remedy.max_copies
            q = first
