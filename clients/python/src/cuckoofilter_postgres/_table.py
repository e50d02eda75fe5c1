"""The table: k * 2**q buckets of four slots (docs/format.md, section 5).

A *slot* here is a fingerprint turned right by four bits within its f bits: the
nibble in the highest bits, the remainder below.  Slots in ascending order are
in the order in which a bucket is packed, and 0 is a free one.  A bucket that is
read is the list of its used slots, in that order.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Iterator, List, Optional, Sequence, Tuple

from ._geometry import Geometry, PAD_BYTES

GOLDEN = 0x9E3779B97F4A7C15
MASK64 = (1 << 64) - 1
MAX_SEARCH = 2048

Place = Tuple[int, int]

# What each nibble adds to the code of a bucket, in the place that it has.
CODE1 = [(n + 1) * n // 2 for n in range(16)]
CODE2 = [(n + 2) * (n + 1) * n // 6 for n in range(16)]
CODE3 = [(n + 3) * (n + 2) * (n + 1) * n // 24 for n in range(16)]
NCODES = 3876


def _all_nibbles() -> List[Tuple[int, int, int, int]]:
    """The nibbles of each code; what is beyond the last code has zeros."""
    nibbles = [(n0, n1, n2, n3) for n3 in range(16) for n2 in range(n3 + 1)
               for n1 in range(n2 + 1) for n0 in range(n1 + 1)]
    return nibbles + [(0, 0, 0, 0)] * (4096 - len(nibbles))


NIBBLES = _all_nibbles()


@lru_cache(maxsize=64)
def alternates(k: int) -> Tuple[List[int], List[int]]:
    """For each value of the permanent bits: the sum of the two columns, and
    the 8 bits that differ."""
    sums, flips = [], []
    for perm in range(256):
        mixed = (perm or 1) ** 2 * GOLDEN & MASK64
        sums.append((mixed >> 48) * k >> 16)
        flips.append(0x80 | (mixed >> 40 & 0x7F))
    return sums, flips


class Table:
    """What is known of a table whatever it is kept in.

    Buckets are read and written by :meth:`get` and :meth:`put`.
    """

    def __init__(self, geometry: Geometry, max_copies: int) -> None:
        self.geometry = geometry
        self.max_copies = max_copies
        self.nentries = 0
        self.kicks = 0
        self.longest_path = 0
        self.growths = 0
        self.growth_load = 0
        k, q, P = geometry
        f = geometry.f
        self.f = f
        self.rem_bits = f - 4
        self.rem_mask = (1 << (f - 4)) - 1
        self.sums, flips = alternates(k)
        # of an index of at most 8 bits, as bits of a bucket number
        self.block_bits = min(q, 8)
        self.bucket_flips = [flip >> (8 - self.block_bits) for flip in flips]
        # of a fingerprint, which has what the index does not have
        prefix_flips = [flip << (P - 8) if P >= 16 else flip >> (16 - P) << 8
                        for flip in flips]
        self.slot_flips = [(flip & ((1 << f) - 1)) >> 4
                           for flip in prefix_flips]

    def get(self, bucket: int) -> List[int]:
        raise NotImplementedError

    def put(self, bucket: int, slots: List[int]) -> None:
        raise NotImplementedError

    def places(self, hash_: int) -> Tuple[Place, Place]:
        """Both places of a hash: bucket and slot, the primary first."""
        k, q, P = self.geometry
        f = self.f
        perm = hash_ & 0xFF or 1
        prefix = (hash_ >> (56 - P) & ((1 << (P - 8)) - 1)) << 8 | perm
        column = (hash_ >> 48) * k >> 16
        index = prefix >> f
        fingerprint = prefix & ((1 << f) - 1)
        if q <= 8:
            bucket = column << q | index
        else:
            bucket = (((index & ((1 << (q - 8)) - 1)) * k + column) << 8 |
                      index >> (q - 8))
        slot = (fingerprint & 0xF) << self.rem_bits | fingerprint >> 4
        return (bucket, slot), self.other(bucket, slot)

    def perm_of(self, slot: int) -> int:
        return (slot & 0xF) << 4 | slot >> self.rem_bits

    def other(self, bucket: int, slot: int) -> Place:
        """The other place of what stands in a slot of a bucket."""
        perm = (slot & 0xF) << 4 | slot >> self.rem_bits
        k = self.geometry.k
        bits = self.block_bits
        columns = bucket >> bits
        column = columns if bits < 8 else columns % k
        other_column = (self.sums[perm] - column) % k
        return ((bucket + ((other_column - column) << bits)) ^
                self.bucket_flips[perm], slot ^ self.slot_flips[perm])

    def count(self, hash_: int) -> int:
        """Copies of a hash, in both of its places together."""
        (bucket, slot), (other_bucket, other_slot) = self.places(hash_)
        return (self.get(bucket).count(slot) +
                self.get(other_bucket).count(other_slot))

    def count_at(self, place: Place) -> int:
        """Copies of what has this place."""
        other = self.other(*place)
        return (self.get(place[0]).count(place[1]) +
                self.get(other[0]).count(other[1]))

    def values(self) -> Iterator[Tuple[Place, Place, int]]:
        """Each value once: the place where it is met first, going through the
        buckets in order, its other one, and its copies in both."""
        for bucket in range(self.geometry.nbuckets):
            slots = self.get(bucket)
            for i, slot in enumerate(slots):
                if i > 0 and slots[i - 1] == slot:
                    continue
                other = self.other(bucket, slot)
                nthere = self.get(other[0]).count(other[1])
                if nthere == 0 or (bucket, slot) < other:
                    yield (bucket, slot), other, slots.count(slot) + nthere

    def copies_above(self, nallowed: int) -> int:
        """The copies beyond a number that each value has, summed up."""
        return sum(ncopies - nallowed for _, _, ncopies in self.values()
                   if ncopies > nallowed)

    def drop_copies(self) -> None:
        """Take out the copies of each value beyond max_copies."""
        surplus = [(place, other) for place, other, ncopies in self.values()
                   if ncopies > self.max_copies]
        for place, other in surplus:
            self.drop_copies_of(place, other)

    def drop_copies_of(self, place: Place, other: Place) -> None:
        """Take out those of one value, from the place that is later first.

        Of two fingerprints in one bucket the larger one is later; they have
        the same nibble, so that slots compare as fingerprints do.
        """
        nsurplus = (self.get(place[0]).count(place[1]) +
                    self.get(other[0]).count(other[1]) - self.max_copies)
        for bucket, slot in sorted((place, other), reverse=True):
            slots = self.get(bucket)
            n = max(0, min(nsurplus, slots.count(slot)))
            for _ in range(n):
                slots.remove(slot)
            nsurplus -= n
            self.nentries -= n
            self.put(bucket, slots)

    def search(self, places: Sequence[Place]) -> Tuple[
            List[Tuple[int, int, int]], bool]:
        """The search for the free slot nearest to two full buckets.

        Returns the buckets reached, each with the index of its parent, -1 if it
        has none, and the slot of the parent's bucket; and whether the last one
        has a free slot.
        """
        nodes = [(places[0][0], -1, 0)]
        visited = {places[0][0]}
        if places[1][0] not in visited:
            nodes.append((places[1][0], -1, 0))
            visited.add(places[1][0])
        for i, (bucket, _, _) in enumerate(nodes):
            for j, slot in enumerate(self.get(bucket)):
                if len(nodes) == MAX_SEARCH:
                    return nodes, False
                next_bucket = self.other(bucket, slot)[0]
                if next_bucket in visited:
                    continue
                visited.add(next_bucket)
                nodes.append((next_bucket, i, j))
                if len(self.get(next_bucket)) < 4:
                    return nodes, True
        return nodes, False

    def add(self, places: Sequence[Place]) -> Optional[bool]:
        """Add one more copy of what has these places.

        True, False if it has max_copies, or None if there is no room; the
        table stays as it was then.
        """
        (bucket, slot), (other_bucket, other_slot) = places
        slots = self.get(bucket)
        other_slots = self.get(other_bucket)
        if (slots.count(slot) +
                other_slots.count(other_slot)) >= self.max_copies:
            return False
        if len(slots) < 4:
            self._insert(bucket, slots, slot)
        elif len(other_slots) < 4:
            self._insert(other_bucket, other_slots, other_slot)
        else:
            nodes, found = self.search(places)
            if not found:
                return None
            self._relocate(places, nodes)
        self.nentries += 1
        return True

    def _insert(self, bucket: int, slots: List[int], slot: int) -> None:
        slots.append(slot)
        slots.sort()
        self.put(bucket, slots)

    def _relocate(self, places: Sequence[Place],
                  nodes: List[Tuple[int, int, int]]) -> None:
        """Move fingerprints along the path to the last node, then add."""
        path_length = 0
        bucket, parent, j = nodes[-1]
        while parent >= 0:
            parent_bucket, next_parent, next_j = nodes[parent]
            slots = self.get(parent_bucket)
            moved = self.other(parent_bucket, slots.pop(j))
            self.put(parent_bucket, slots)
            self._insert(bucket, self.get(bucket), moved[1])
            bucket, parent, j = parent_bucket, next_parent, next_j
            path_length += 1
        self._insert(bucket, self.get(bucket),
                     places[bucket != places[0][0]][1])
        if self.kicks + path_length <= MASK64:
            self.kicks += path_length
        self.longest_path = max(self.longest_path, min(path_length, 255))

    def remove(self, hash_: int) -> bool:
        """Take out one copy of a hash, unless it has none or max_copies."""
        places = self.places(hash_)
        ncopies = sum(self.get(bucket).count(slot) for bucket, slot in places)
        if ncopies == 0 or ncopies >= self.max_copies:
            return False
        for bucket, slot in places:
            slots = self.get(bucket)
            if slot in slots:
                slots.remove(slot)
                self.put(bucket, slots)
                self.nentries -= 1
                break
        return True


class OpenTable(Table):
    """A table whose buckets are lists: for what reads and writes many."""

    def __init__(self, geometry: Geometry, max_copies: int) -> None:
        super().__init__(geometry, max_copies)
        self.buckets: List[List[int]] = [
            [] for _ in range(geometry.nbuckets)]

    def get(self, bucket: int) -> List[int]:
        return self.buckets[bucket]

    def put(self, bucket: int, slots: List[int]) -> None:
        self.buckets[bucket] = slots

    def pack(self) -> bytearray:
        """The body of the image.  The slots of each bucket are in order."""
        rem_bits, rem_mask = self.rem_bits, self.rem_mask
        shift1, shift2, shift3 = (12 + rem_bits, 12 + 2 * rem_bits,
                                  12 + 3 * rem_bits)
        bucket_bits = 4 * (self.f - 1)
        words = []
        for slots in self.buckets:
            if not slots:
                words.append(0)
                continue
            a, b, c, d = [0] * (4 - len(slots)) + slots
            words.append(
                (a >> rem_bits) + CODE1[b >> rem_bits] + CODE2[c >> rem_bits] +
                CODE3[d >> rem_bits] | (a & rem_mask) << 12 |
                (b & rem_mask) << shift1 | (c & rem_mask) << shift2 |
                (d & rem_mask) << shift3)
        if len(words) % 2:
            words.append(0)
        # two buckets together are whole bytes
        pair_bytes = self.f - 1
        body = bytearray().join(
            [(words[i] | words[i + 1] << bucket_bits).to_bytes(pair_bytes,
                                                               "little")
             for i in range(0, len(words), 2)])
        table_bytes = self.geometry.table_bytes
        del body[table_bytes - PAD_BYTES:]
        body.extend(bytes(table_bytes - len(body)))
        return body


class PackedTable(Table):
    """A table in the bytes of its image."""

    def __init__(self, geometry: Geometry, max_copies: int,
                 body: bytearray) -> None:
        super().__init__(geometry, max_copies)
        self.body = body
        rem_bits = self.rem_bits
        self.bucket_bits = 4 * (self.f - 1)
        self.load_bytes = (self.bucket_bits + 11) // 8
        self.bucket_mask = (1 << self.bucket_bits) - 1
        # lanes of the remainders, to compare all four at once
        self.low = sum(1 << (i * rem_bits) for i in range(4))
        self.high = self.low << (rem_bits - 1)
        self.lower = self.high - self.low

    def word(self, bucket: int) -> int:
        """The packed bucket, as a number."""
        bit = bucket * self.bucket_bits
        return (int.from_bytes(self.body[bit >> 3:(bit >> 3) + self.load_bytes],
                               "little") >> (bit & 4)) & self.bucket_mask

    def all_slots(self, word: int) -> List[int]:
        """The four slots of a packed bucket, free ones too."""
        rem_bits, rem_mask = self.rem_bits, self.rem_mask
        n0, n1, n2, n3 = NIBBLES[word & 0xFFF]
        word >>= 12
        return [n0 << rem_bits | word & rem_mask,
                n1 << rem_bits | word >> rem_bits & rem_mask,
                n2 << rem_bits | word >> 2 * rem_bits & rem_mask,
                n3 << rem_bits | word >> 3 * rem_bits]

    def get(self, bucket: int) -> List[int]:
        word = self.word(bucket)
        if word == 0:
            return []
        return [slot for slot in self.all_slots(word) if slot]

    def put(self, bucket: int, slots: List[int]) -> None:
        rem_bits, rem_mask = self.rem_bits, self.rem_mask
        a, b, c, d = [0] * (4 - len(slots)) + slots
        word = ((a >> rem_bits) + CODE1[b >> rem_bits] + CODE2[c >> rem_bits] +
                CODE3[d >> rem_bits])
        for i, slot in enumerate((a, b, c, d)):
            word |= (slot & rem_mask) << (12 + i * rem_bits)
        bit = bucket * self.bucket_bits
        byte, shift = bit >> 3, bit & 4
        old = int.from_bytes(self.body[byte:byte + self.load_bytes], "little")
        old &= ~(self.bucket_mask << shift)
        self.body[byte:byte + self.load_bytes] = (
            old | word << shift).to_bytes(self.load_bytes, "little")

    def contains(self, hash_: int) -> bool:
        """Has a hash a copy?  As :meth:`count`, but most often faster."""
        for bucket, slot in self.places(hash_):
            bit = bucket * self.bucket_bits
            word = int.from_bytes(
                self.body[bit >> 3:(bit >> 3) + self.load_bytes],
                "little") >> (bit & 4) & self.bucket_mask
            # a lane that is zero here is that of an equal remainder
            lanes = word >> 12 ^ (slot & self.rem_mask) * self.low
            if (((lanes & self.lower) + self.lower | lanes) & self.high !=
                    self.high and slot in self.all_slots(word)):
                return True
        return False

    def open(self) -> OpenTable:
        """The same table with its buckets as lists."""
        table = OpenTable(self.geometry, self.max_copies)
        table.buckets = [self.get(b) for b in range(self.geometry.nbuckets)]
        copy_history(self, table)
        return table

    def copy(self) -> "PackedTable":
        table = PackedTable(self.geometry, self.max_copies,
                            bytearray(self.body))
        copy_history(self, table)
        return table

    def double(self) -> "PackedTable":
        """A table of twice as many buckets, with the same entries."""
        k, q, P = self.geometry
        doubled = OpenTable(Geometry(k, q + 1, P), self.max_copies)
        rem_bits = self.rem_bits
        # the first bit of a fingerprint is the first bit of its remainder
        first = 1 << (rem_bits - 1)
        for bucket in range(self.geometry.nbuckets):
            for slot in self.get(bucket):
                child = slot >> (rem_bits - 1) & 1
                slot = slot >> rem_bits << (rem_bits - 1) | slot & (first - 1)
                doubled.buckets[self._child(bucket, child)].append(slot)
        copy_history(self, doubled)
        doubled.growths = min(self.growths + 1, 255)
        doubled.growth_load = self.nentries * 10000 // self.geometry.nslots
        return pack_table(doubled)

    def _child(self, bucket: int, child: int) -> int:
        """The bucket of an index that has one more bit at its end."""
        k, q, _ = self.geometry
        if q < 8:
            return bucket << 1 | child
        block, within = bucket >> 8, bucket & 0xFF
        s, column = block // k, block % k
        index = (within << (q - 8) | s) << 1 | child
        return (((index & ((1 << (q - 7)) - 1)) * k + column) << 8 |
                index >> (q - 7))


def copy_history(table: Table, to: Table) -> None:
    """Give a table the number of entries of another, and what happened."""
    to.nentries = table.nentries
    to.kicks = table.kicks
    to.longest_path = table.longest_path
    to.growths = table.growths
    to.growth_load = table.growth_load


def pack_table(table: OpenTable) -> PackedTable:
    packed = PackedTable(table.geometry, table.max_copies, table.pack())
    copy_history(table, packed)
    return packed


def new_table(geometry: Geometry, max_copies: int) -> PackedTable:
    return PackedTable(geometry, max_copies, bytearray(geometry.table_bytes))
