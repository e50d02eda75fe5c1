"""What numpy makes faster, where it is installed; all of it works without."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, List, Optional, Sequence

from . import _table
from ._table import MASK64

if TYPE_CHECKING:
    from ._table import PackedTable, Table

np: Any
try:
    import numpy
    np = numpy
except ImportError:
    np = None

# Probes under way at a time, so that what is kept of them stays in the cache.
CHUNK = 8192

PRIME_MX2 = 0x9FB21C651E98DF25
# the bytes 8 to 23 of the secret of XXH3, as two numbers
SECRET_8 = 0x1CAD21F72C81017C
SECRET_16 = 0xDB979083E96DD4DE


def is_array(values: Any) -> bool:
    return np is not None and isinstance(values, np.ndarray)


def hash_int64(values: Any, seed: int) -> Any:
    """XXH3 of the eight bytes of each number, an array of 64 bits each."""
    seed ^= int.from_bytes((seed & 0xFFFFFFFF).to_bytes(4, "little"),
                           "big") << 32
    flip = ((SECRET_8 ^ SECRET_16) - seed) & MASK64
    x = values.astype(np.uint64)
    # the last four bytes below, the first four above
    x = (x >> np.uint64(32)) | (x << np.uint64(32))
    x ^= np.uint64(flip)
    x ^= (x << np.uint64(49) | x >> np.uint64(15)) ^ (
        x << np.uint64(24) | x >> np.uint64(40))
    x *= np.uint64(PRIME_MX2)
    x ^= (x >> np.uint64(35)) + np.uint64(8)
    x *= np.uint64(PRIME_MX2)
    x ^= x >> np.uint64(28)
    return x


def array_hashes(values: Any, seed: int) -> Optional[Any]:
    """The hashes of an array of integers or floats, None if it is neither."""
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind == "i":
        return hash_int64(values.astype(np.int64).view(np.uint64), seed)
    if kind == "u" and (size < 8 or values.size == 0 or
                        int(values.max()) < 1 << 63):
        return hash_int64(values, seed)
    if kind == "f" and size <= 8:
        floats = values.astype(np.float64) + 0.0
        bits = floats.view(np.uint64)
        bits[np.isnan(floats)] = np.uint64(0x7FF8000000000000)
        return hash_int64(bits, seed)
    return None


def integers(values: Sequence[int]) -> Optional[Any]:
    """A list of integers as an array, None if one is no int64."""
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        return None


class _Shape:
    """The constants of a table as numpy wants them."""

    def __init__(self, table: "Table") -> None:
        k, q, P = table.geometry
        self.k = np.uint64(k)
        self.q = q
        self.P = P
        self.f = table.f
        self.sums = np.array(table.sums, np.uint64)
        self.bucket_flips = np.array(table.bucket_flips, np.uint64)
        # as fingerprints have them, not as slots
        self.fp_flips = np.array(table.slot_flips, np.uint64) << np.uint64(4)

    def places(self, hashes: Any) -> Any:
        """Buckets and fingerprints of both places, as four arrays."""
        u = np.uint64
        perm = hashes & u(0xFF)
        perm[perm == 0] = 1
        prefix = (hashes >> u(56 - self.P)) & u((1 << (self.P - 8)) - 1)
        prefix = prefix << u(8) | perm
        column = (hashes >> u(48)) * self.k >> u(16)
        fp = prefix & u((1 << self.f) - 1)
        index = prefix >> u(self.f)
        sums = self.sums[perm]
        other_column = np.where(sums < column, sums + self.k, sums) - column
        if self.q <= 8:
            bits = u(self.q)
            bucket = column << bits | index
            other = (other_column << bits | index) ^ self.bucket_flips[perm]
        else:
            more = u(self.q - 8)
            block = (index & u((1 << (self.q - 8)) - 1)) * self.k
            index >>= more
            bucket = (block + column) << u(8) | index
            other = ((block + other_column) << u(8) | index) ^ \
                self.bucket_flips[perm]
        return bucket, fp, other, fp ^ self.fp_flips[perm]


_NIBBLES: Any = None


def _nibbles() -> Any:
    """The nibbles of each code as four arrays."""
    global _NIBBLES
    if _NIBBLES is None:
        _NIBBLES = np.array(_table.NIBBLES, np.uint64).T.copy()
    return _NIBBLES


class Probes:
    """Probes of a table, many at a time."""

    def __init__(self, table: "PackedTable") -> None:
        self.shape = _Shape(table)
        self.bucket_bits = table.bucket_bits
        self.rem_bits = table.rem_bits
        self.rem_mask = np.uint64(table.rem_mask)
        # every eight bytes that begin in the body
        self.loads: Any = np.ndarray((len(table.body) - 7,), "<u8", table.body,
                                strides=(1,))

    def fingerprints(self, buckets: Any) -> List[Any]:
        """The four fingerprints of each bucket, 0 where a slot is free."""
        u = np.uint64
        bits = buckets * u(self.bucket_bits)
        nibbles = _nibbles()
        if self.bucket_bits <= 60:
            words = self.loads[bits >> u(3)] >> (bits & u(4))
            codes = words & u(0xFFF)
            return [(words >> u(12 + i * self.rem_bits) & self.rem_mask) <<
                    u(4) | nibbles[i][codes] for i in range(4)]
        codes = self.loads[bits >> u(3)] >> (bits & u(4)) & u(0xFFF)
        result = []
        for i in range(4):
            at = bits + u(12 + i * self.rem_bits)
            rems = self.loads[at >> u(3)] >> (at & u(7)) & self.rem_mask
            result.append(rems << u(4) | nibbles[i][codes])
        return result

    def count(self, hashes: Any) -> Any:
        """The copies of each hash."""
        buckets, fps, others, other_fps = self.shape.places(hashes)
        return (self.count_in(buckets, fps) + self.count_in(others, other_fps))

    def count_in(self, buckets: Any, fps: Any) -> Any:
        counts = np.zeros(len(buckets), np.uint8)
        for held in self.fingerprints(buckets):
            counts += held == fps
        return counts


def ordered_places(table: "Table", ordered: Sequence[int]) -> List[List[int]]:
    """Buckets and slots of both places of ordered hashes, as four lists."""
    if np is None:
        places = [table.places(h >> 24 | h << 40 & MASK64) for h in ordered]
        return [[p[i][j] for p in places] for i in (0, 1) for j in (0, 1)]
    u = np.uint64
    hashes = np.array(ordered, np.uint64)
    hashes = hashes >> u(24) | hashes << u(40)
    bucket, fp, other, other_fp = _Shape(table).places(hashes)
    rem_bits = u(table.rem_bits)
    return [bucket.tolist(), ((fp & u(15)) << rem_bits | fp >> u(4)).tolist(),
            other.tolist(),
            ((other_fp & u(15)) << rem_bits | other_fp >> u(4)).tolist()]


def sort_ordered(hashes: Iterable[int]) -> List[int]:
    """Hashes turned left by 24 bits, in ascending order."""
    if np is None or not isinstance(hashes, (list, np.ndarray)):
        return sorted(h << 24 & MASK64 | h >> 40 for h in hashes)
    u = np.uint64
    array = np.array(hashes, np.uint64)
    array = array << u(24) | array >> u(40)
    array.sort()
    result: List[int] = array.tolist()
    return result


def _bucket_chunks(table: "PackedTable") -> Iterable[Any]:
    nbuckets = table.geometry.nbuckets
    for first in range(0, nbuckets, CHUNK):
        yield np.arange(first, min(first + CHUNK, nbuckets), dtype=np.uint64)


def check_buckets(table: "PackedTable") -> Optional[int]:
    """The number of entries of a table, None if a bucket is malformed."""
    u = np.uint64
    probes = Probes(table)
    rem_bits = u(table.rem_bits)
    nentries = 0
    for buckets in _bucket_chunks(table):
        bits = buckets * u(table.bucket_bits)
        codes = probes.loads[bits >> u(3)] >> (bits & u(4)) & u(0xFFF)
        if bool((codes >= _table.NCODES).any()):
            return None
        before = None
        for fps in probes.fingerprints(buckets):
            slots = (fps & u(15)) << rem_bits | fps >> u(4)
            if before is not None and bool((slots < before).any()):
                return None
            if bool(((fps != 0) & (fps & u(0xFF) == 0)).any()):
                return None
            nentries += int(np.count_nonzero(fps))
            before = slots
    return nentries


def has_surplus(table: "PackedTable") -> bool:
    """Has a value of a table more than max_copies?"""
    u = np.uint64
    probes = Probes(table)
    shape = probes.shape
    crowd = (table.max_copies + 2) // 2
    low = u((1 << table.block_bits) - 1)
    for buckets in _bucket_chunks(table):
        held = probes.fingerprints(buckets)
        for i in range(5 - crowd):
            # slots are in order: equal ones stand beside each other
            suspects = np.flatnonzero((held[i] != 0) &
                                      (held[i] == held[i + crowd - 1]))
            if len(suspects) == 0:
                continue
            at, fps = buckets[suspects], held[i][suspects]
            perm = fps & u(0xFF)
            columns = at >> u(table.block_bits)
            column = columns % shape.k
            sums = shape.sums[perm]
            other = np.where(sums < column, sums + shape.k, sums) - column
            others = ((columns - column + other) << u(table.block_bits) |
                      ((at & low) ^ shape.bucket_flips[perm]))
            ncopies = (probes.count_in(at, fps) +
                       probes.count_in(others, fps ^ shape.fp_flips[perm]))
            if bool((ncopies > table.max_copies).any()):
                return True
    return False
