"""Values to families and key bytes (docs/format.md, section 10), and hashes."""

from __future__ import annotations

import datetime
import enum
import ipaddress
import struct
import uuid
from decimal import Decimal
from typing import Any, Callable, Dict, NamedTuple, Tuple, Union

from xxhash import xxh3_64_intdigest

from .errors import FamilyError, UnsupportedTypeError

MASK64 = (1 << 64) - 1
SHARD_SEED = 0x5555555555555555
MAX_SHARDS = (1 << 31) - 1

Encoder = Callable[[Any], bytes]


class Family(enum.IntEnum):
    """What kind of values a filter holds; ``str()`` is the server's word."""

    NONE = 0
    NUMBER = 1
    FLOAT = 2
    TEXT = 3
    BYTES = 4
    BOOL = 5
    UUID = 6
    OID = 7
    MACADDR = 8
    MACADDR8 = 9
    INET = 10
    BIT = 11
    PG_LSN = 12
    DATE = 13
    TIMESTAMP = 14
    TIMESTAMPTZ = 15
    TIME = 16
    TIMETZ = 17
    INTERVAL = 18
    JSONB = 19
    ARRAY = 20
    RECORD = 21
    RANGE = 22
    MULTIRANGE = 23
    CHAR = 24

    def __str__(self) -> str:
        if self is Family.NONE:
            return "untyped"
        if self is Family.CHAR:
            return "char(n)"
        return self.name.lower()


class Key(NamedTuple):
    """A value given by the bytes that are hashed for it.

    For what Python has no type for, and where a filter takes any value: 42 as
    an oid is ``Key(Family.OID, (42).to_bytes(4, "little"))``.  The bytes of
    each family are those of docs/format.md, section 10.
    """

    family: Family
    key: bytes


_MICROSECOND = datetime.timedelta(microseconds=1)
_EPOCH = datetime.datetime(2000, 1, 1)
_EPOCH_UTC = datetime.datetime(2000, 1, 1, tzinfo=datetime.timezone.utc)
_EPOCH_DAY = datetime.date(2000, 1, 1).toordinal()
_NAN_KEY = bytes.fromhex("000000000000f87f")
_INT64_MIN = -(1 << 63)
_INT64_MAX = (1 << 63) - 1


def _int64(number: int) -> bytes:
    return number.to_bytes(8, "little", signed=True)


def _integer_key(number: int) -> bytes:
    try:
        return number.to_bytes(8, "little", signed=True)
    except OverflowError:
        return _decimal_digits_key(number < 0, abs(number), 0)


def _decimal_digits_key(negative: bool, number: int, exponent: int) -> bytes:
    """The key of number * 10**exponent, which is not an int64."""
    # base 10000, aligned to the decimal point
    number *= 10 ** (exponent % 4)
    weight = exponent // 4
    text = _decimal_text(number)
    text = "0" * (-len(text) % 4) + text
    digits = [int(text[i:i + 4]) for i in range(0, len(text), 4)]
    while digits[-1] == 0:
        digits.pop()
        weight += 1
    weight += len(digits) - 1
    return struct.pack(f"<Bi{len(digits)}H", 2 if negative else 1, weight,
                       *digits)


def _decimal_text(number: int) -> str:
    """str(), which refuses more digits than a limit of the interpreter."""
    if number.bit_length() <= 2000:
        return str(number)
    return f"{Decimal(number):f}"


def _decimal_key(number: Decimal) -> bytes:
    sign, digits, exponent = number.as_tuple()
    if not isinstance(exponent, int):
        # as in the server, NaN has no sign, and is the only one of its kind
        return (b"\x03" if exponent != "F" else
                b"\x05" if sign else b"\x04")
    if not any(digits):
        return bytes(8)

    # without zeros at the end, what is no integer has a negative exponent
    last = len(digits)
    while digits[last - 1] == 0:
        last -= 1
    exponent += len(digits) - last
    coefficient = int(Decimal((0, digits[:last], 0)))
    if exponent >= 0 and last + exponent <= 19:
        value = coefficient * 10 ** exponent
        value = -value if sign else value
        if _INT64_MIN <= value <= _INT64_MAX:
            return _int64(value)
    # numeric has at most 131072 digits before the point and 16383 behind it
    if last + exponent > 131072 or exponent < -16383:
        raise UnsupportedTypeError(
            "cannot use a Decimal beyond the range of numeric as filter key")
    return _decimal_digits_key(bool(sign), coefficient, exponent)


def _float_key(number: float) -> bytes:
    if number != number:
        return _NAN_KEY
    # adding zero makes -0 a 0
    return struct.pack("<d", number + 0.0)


def _text_key(text: str) -> bytes:
    return text.encode("utf-8")


def _char_key(text: Union[str, Key]) -> bytes:
    if isinstance(text, Key):
        return text.key.rstrip(b" ")
    return text.rstrip(" ").encode("utf-8")


def _bytes_key(value: Any) -> bytes:
    return bytes(value)


def _bool_key(value: bool) -> bytes:
    return b"\x01" if value else b"\x00"


def _uuid_key(value: uuid.UUID) -> bytes:
    return value.bytes


def _date_key(value: datetime.date) -> bytes:
    return _int64(value.toordinal() - _EPOCH_DAY)


def _datetime_key(value: datetime.datetime) -> bytes:
    epoch = _EPOCH if value.utcoffset() is None else _EPOCH_UTC
    return _int64((value.replace(tzinfo=None) - epoch
                   if value.utcoffset() is None else
                   value - epoch) // _MICROSECOND)


def _time_key(value: datetime.time) -> bytes:
    microseconds = ((value.hour * 60 + value.minute) * 60 +
                    value.second) * 1000000 + value.microsecond
    offset = value.utcoffset()
    if offset is None:
        return _int64(microseconds)
    # seconds west of UTC; the server has no fractions of them
    seconds = -(offset // datetime.timedelta(seconds=1))
    return _int64(microseconds) + struct.pack("<i", seconds)


def _timedelta_key(value: datetime.timedelta) -> bytes:
    return (value // _MICROSECOND).to_bytes(16, "little", signed=True)


def _inet_key(value: Any) -> bytes:
    prefix = getattr(value, "network", value)
    bits = getattr(prefix, "prefixlen", value.max_prefixlen)
    address = getattr(value, "network_address", value)
    return bytes((value.version, bits)) + bytes(address.packed)


def _key_key(value: Key) -> bytes:
    return value.key


def _key_family(value: Key) -> Family:
    return Family(value.family)


def _moment_family(value: datetime.datetime) -> Family:
    return (Family.TIMESTAMP if value.utcoffset() is None else
            Family.TIMESTAMPTZ)


def _time_family(value: datetime.time) -> Family:
    return Family.TIME if value.utcoffset() is None else Family.TIMETZ


# Types of values: a family and an encoder.  The order tells subclasses from
# what they are a subclass of.
_TYPES: Dict[type, Tuple[Any, Encoder]] = {
    bool: (Family.BOOL, _bool_key),
    int: (Family.NUMBER, _integer_key),
    float: (Family.FLOAT, _float_key),
    str: (Family.TEXT, _text_key),
    bytes: (Family.BYTES, _bytes_key),
    bytearray: (Family.BYTES, _bytes_key),
    memoryview: (Family.BYTES, _bytes_key),
    Decimal: (Family.NUMBER, _decimal_key),
    uuid.UUID: (Family.UUID, _uuid_key),
    datetime.datetime: (_moment_family, _datetime_key),
    datetime.date: (Family.DATE, _date_key),
    datetime.time: (_time_family, _time_key),
    datetime.timedelta: (Family.INTERVAL, _timedelta_key),
    Key: (_key_family, _key_key),
    ipaddress.IPv4Interface: (Family.INET, _inet_key),
    ipaddress.IPv6Interface: (Family.INET, _inet_key),
    ipaddress.IPv4Address: (Family.INET, _inet_key),
    ipaddress.IPv6Address: (Family.INET, _inet_key),
    ipaddress.IPv4Network: (Family.INET, _inet_key),
    ipaddress.IPv6Network: (Family.INET, _inet_key),
}

# Those whose values all have one family, for the fast way.
FIXED: Dict[type, Tuple[Family, Encoder]] = {
    kind: (family, encode) for kind, (family, encode) in _TYPES.items()
    if isinstance(family, Family)
}


def resolve(value: Any) -> Tuple[Family, Encoder, Any]:
    """The family of a value, its encoder, and the value to give to that.

    Raises UnsupportedTypeError for types without key bytes, None among them.
    """
    entry = _TYPES.get(type(value))
    if entry is None:
        if type(value).__module__ == "numpy" and hasattr(value, "item"):
            value = _numpy_item(value)
        for kind, entry in _TYPES.items():
            if isinstance(value, kind):
                break
        else:
            raise UnsupportedTypeError(
                "cannot use values of type "
                f"{type(value).__qualname__} as filter keys")
    family, encode = entry
    if not isinstance(family, Family):
        family = family(value)
    return family, encode, value


def _numpy_item(value: Any) -> Any:
    """A scalar of numpy as one of Python; others are left as they are."""
    kind = value.dtype.kind
    if getattr(value, "ndim", 1) == 0 and (
            kind in "biu" or (kind == "f" and value.dtype.itemsize <= 8)):
        return value.item()
    return value


def accepts(held: Family, given: Family) -> bool:
    """Can a value of a family be one of a filter that holds another?"""
    return held == given or (held == Family.CHAR and given == Family.TEXT)


def encode_for(held: Family, value: Any, what: str = "probed with") -> bytes:
    """The key bytes of a value in a filter that holds a family, NONE for any.

    Raises FamilyError if the value is of another one; ``what`` is the middle
    of the message.
    """
    family, encode, value = resolve(value)
    if held == Family.NONE or held == family:
        return encode(value)
    if not accepts(held, family):
        raise FamilyError(f"filter holds {str(held)} values, {what} {str(family)}")
    return _char_key(value)


def key_of(value: Any) -> Key:
    """The family of a value and the bytes that are hashed for it.

    >>> key_of(7).key.hex()
    '0700000000000000'

    Raises UnsupportedTypeError for types without key bytes, None among them.
    """
    family, encode, value = resolve(value)
    return Key(family, encode(value))


def hash_value(value: Any, seed: int = 0) -> int:
    """The hash of a value, 0 to 2**64 - 1, under a seed.

    ``cf_hash(value, seed)`` of the server is the same 64 bits as a bigint:
    :func:`to_signed` makes that of it.
    """
    return xxh3_64_intdigest(key_of(value).key, seed & MASK64)


def to_signed(hash_: int) -> int:
    """64 bits as the bigint that the server shows of them."""
    return hash_ - (1 << 64) if hash_ >> 63 else hash_


def shard(value: Any, shards: int) -> int:
    """Which of several filters a value belongs to: ``cf_shard(value, shards)``.

    ``shards`` is 1 to 2**31 - 1; the result is 0 to ``shards`` - 1.
    """
    if not 1 <= shards <= MAX_SHARDS:
        raise ValueError("shards must be between 1 and 2147483647")
    family, encode, value = resolve(value)
    key = _char_key(value) if family == Family.TEXT else encode(value)
    return xxh3_64_intdigest(key, SHARD_SEED) * shards >> 64
