"""The shape of a filter (docs/format.md, section 7): integers alone decide."""

from __future__ import annotations

import math
from typing import NamedTuple

from .errors import ParameterError, TooLargeError

HEADER_BYTES = 44
PAD_BYTES = 7
MAX_IMAGE_BYTES = (512 << 20) - 4
MAX_CAPACITY = 1 << 53
MAX_SLOTS = 1 << 30
MIN_TABLE_CAPACITY = 24
MAX_LIST_ENTRIES = 4096
MIN_COLUMNS = 8
MAX_COLUMNS = 127
MIN_PREFIX_BITS = 9
MAX_PREFIX_BITS = 48
MIN_FP_BITS = 8
MAX_COPIES = 4
SUPERBLOCK_BITS = 8
MAX_RATE = 1 << 56


class Geometry(NamedTuple):
    """Columns k, index bits q and prefix bits P of a table."""

    k: int
    q: int
    P: int

    @property
    def f(self) -> int:
        """Bits of a fingerprint."""
        return self.P - self.q

    @property
    def nbuckets(self) -> int:
        return self.k << self.q

    @property
    def nslots(self) -> int:
        return 4 * (self.k << self.q)

    @property
    def table_bytes(self) -> int:
        return (self.nbuckets * 4 * (self.f - 1) + 7) // 8 + PAD_BYTES

    @property
    def list_limit(self) -> int:
        """The most hashes with which a list is no larger than a table."""
        return Geometry(self.k, 0, self.P).table_bytes // 8

    @property
    def usable(self) -> int:
        """Entries that can be relied on to find room."""
        return min(24 * self.nslots // 25 - 10, 959 * self.nslots // 1000)


def buckets_for(entries: int) -> int:
    """The fewest buckets in which so many entries can be relied on."""
    slots = max(((entries + 10) * 25 + 23) // 24, (entries * 1000 + 958) // 959)
    return (slots + 3) // 4


def index_bits_for(k: int, entries: int) -> int:
    """The fewest index bits with which k columns hold so many entries."""
    q = 0
    while k << q < buckets_for(entries):
        q += 1
    return q


def prefix_bits_for(k: int, q: int, capacity: int, rate: int) -> int:
    """The fewest prefix bits that keep the rate, 49 if none do."""
    rate = min(rate, MAX_RATE)
    P = q + MIN_FP_BITS + 1
    while P <= MAX_PREFIX_BITS and 129 * capacity > (rate * k) >> (56 - P):
        P += 1
    return P


def rate_of(k: int, P: int, capacity: int) -> int:
    """The finest rate that prefix bits keep for a capacity, in 2**-62."""
    shift = 56 - P
    weight = 129 * min(capacity, MAX_SLOTS)
    if weight // k >= MAX_RATE >> shift:
        return MAX_RATE
    return ((weight << shift) + k - 1) // k


def check_capacity(capacity: float) -> int:
    """A capacity as users give it: a fraction is rounded up."""
    if isinstance(capacity, bool) or not 1 <= capacity <= MAX_CAPACITY:
        hint = ("; the capacity comes first, the false positive rate second"
                if 0 < capacity < 1 else "")
        raise ParameterError(
            f"capacity must be between 1 and {MAX_CAPACITY}, not "
            f"{capacity}{hint}")
    return math.ceil(capacity)


def check_rate(fpr: float) -> int:
    """A rate as users give it, in units of 2**-62."""
    if not 0 < fpr < 1:
        raise ParameterError("false positive rate must be greater than 0 and "
                             f"less than 1, not {fpr}: 1 % is 0.01")
    return max(int(math.ldexp(float(fpr), 62)), 1)


def choose(capacity: int, rate: int, fpr: float) -> Geometry:
    """The smallest shape that holds a capacity at a rate, of no index bits."""
    too_large = TooLargeError(
        "cuckoo filter would be larger than 512 MiB: a capacity of "
        f"{capacity} with a false positive rate of {fpr} needs more than that")
    if capacity > MAX_SLOTS:
        raise too_large
    nbuckets = buckets_for(capacity)
    Q = 0
    while (nbuckets + (1 << Q) - 1) >> Q > MAX_COLUMNS:
        Q += 1
    k = max(MIN_COLUMNS, (nbuckets + (1 << Q) - 1) >> Q)
    P = prefix_bits_for(k, Q, capacity, rate)
    if P > MAX_PREFIX_BITS:
        raise ParameterError(f"false positive rate {fpr} is too small for a "
                             f"capacity of {capacity}")
    if HEADER_BYTES + Geometry(k, Q, P).table_bytes > MAX_IMAGE_BYTES:
        raise too_large
    return Geometry(k, 0, P)


def fpr_of(k: int, P: int, entries: int) -> float:
    """The false positive rate of a table of so many entries."""
    return -math.expm1(-2.0 * entries / math.ldexp(k, P) * 129.0 / 128.0)


def declared_fpr_of(k: int, P: int, capacity: int) -> float:
    """The roundest rate that gives these prefix bits to a new filter."""
    q = index_bits_for(k, capacity)
    for digit in (1, 5, 2, 3, 4, 6, 7, 8, 9):
        power = 100.0
        while power <= 1e19:
            fpr = digit / power
            if fpr <= 0.01 and prefix_bits_for(k, q, capacity,
                                               check_rate(fpr)) == P:
                return fpr
            power *= 10.0
    finest = rate_of(k, P, capacity)
    fpr = math.ldexp(float(finest), -62)
    if check_rate(fpr) < finest:
        mantissa, exponent = math.frexp(fpr)
        fpr += math.ldexp(1.0, exponent - 53)
    return fpr
