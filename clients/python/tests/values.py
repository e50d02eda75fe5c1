"""Values and changes as test/vectors/README.md writes them."""

import datetime
import re
import uuid
from decimal import Decimal

from cuckoofilter_postgres import CuckooFilter, Family, Key

INT64_MAX = ((1 << 63) - 1).to_bytes(8, "little")
INT64_MIN = (1 << 63).to_bytes(8, "little")
HASH = "hash"


def int64(number):
    return number.to_bytes(8, "little", signed=True)


def number(value):
    if isinstance(value, int):
        return value
    return int(value) if re.fullmatch("-?[0-9]+", value) else Decimal(value)


def date(value):
    if value.endswith("infinity"):
        return Key(Family.DATE, int64(-(1 << 31) if value[0] == "-" else
                                      (1 << 31) - 1))
    return datetime.date.fromisoformat(value)


def moment(family):
    def parse(value):
        if value.endswith("infinity"):
            return Key(family, INT64_MIN if value[0] == "-" else INT64_MAX)
        # fromisoformat() takes no Z, and 3 or 6 digits only, before 3.11
        text, fraction, zone = re.fullmatch(
            r"([^.Z+]+?)(?:\.(\d+))?(Z|[+-]\d\d:?\d\d|[+-]\d\d)?",
            value).groups()
        result = datetime.datetime.fromisoformat(text).replace(
            microsecond=int((fraction or "").ljust(6, "0") or 0))
        if (zone is not None) != (family == Family.TIMESTAMPTZ):
            raise ValueError(f"zone of {value}")
        if zone is not None:
            sign = -1 if zone[0] == "-" else 1
            digits = (zone[1:].replace(":", "") + "00")[:4]
            offset = 0 if zone == "Z" else sign * (
                60 * int(digits[:2]) + int(digits[2:]))
            result = result.replace(tzinfo=datetime.timezone(
                datetime.timedelta(minutes=offset)))
        return result
    return parse


def time(value):
    if value == "24:00:00":
        return Key(Family.TIME, int64(86400000000))
    text, _, fraction = value.partition(".")
    return datetime.time.fromisoformat(text).replace(
        microsecond=int(fraction.ljust(6, "0") or 0))


PARSERS = {
    "number": number,
    "float": float,
    "text": str,
    "char(n)": lambda value: Key(Family.CHAR, value.rstrip(" ").encode()),
    "bytes": bytes.fromhex,
    "bool": bool,
    "uuid": uuid.UUID,
    "date": date,
    "timestamp": moment(Family.TIMESTAMP),
    "timestamptz": moment(Family.TIMESTAMPTZ),
    "time": time,
    HASH: int,
}


def parse(family, values):
    """Values of a family as Python has them."""
    if isinstance(values, dict):
        return list(range(values["from"], values["to"] + 1)) * values.get(
            "times", 1)
    return [PARSERS[family](value) for value in values]


def build(how):
    """The filter that cf_agg, cf_bag_agg or cf_hash_agg makes of a set."""
    values = parse(how["family"], how["values"])
    parameters = (how["capacity"], how["fpr"], how["max_copies"],
                  int(how["seed"]))
    if how["family"] == HASH:
        if parameters[0] is None:
            parameters = (max(1, len(set(values))),) + parameters[1:]
        return CuckooFilter.build_hashes(values, *parameters)
    if how["bag"]:
        return CuckooFilter.build_bag(values, *parameters)
    return CuckooFilter.build(values, *parameters)


def change(filter_, family, changes):
    """Add and remove values one after the other."""
    for step in changes:
        for verb, values in step.items():
            act = getattr(filter_, verb + "_hash" * (family == HASH))
            for value in parse(family, values):
                act(value)


def probe(filter_, family, values):
    """What is found of values, and their copies."""
    values = parse(family, values)
    if family == HASH:
        return (filter_.contains_hashes(values),
                [filter_.count_hash(value) for value in values])
    return (filter_.contains_many(values),
            [filter_.count(value) for value in values])
