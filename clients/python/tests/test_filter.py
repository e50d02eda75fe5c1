"""Adding, removing and asking against exact multisets; values; damage."""

import copy
import datetime
import ipaddress
import pickle
import random
import uuid
from collections import Counter
from decimal import Decimal

import pytest

import cuckoofilter_postgres as package
from cuckoofilter_postgres import (CuckooFilter, CuckooFilterError, Family,
                                   FamilyError, FullError, InvalidFilterError,
                                   Key, NotRemovableError, ParameterError,
                                   TooLargeError, UnsupportedTypeError, _numpy,
                                   hash_value, key_of, shard, to_signed)

UTC = datetime.timezone.utc

# docs/format.md, sections 10 and 12, and test/golden/keys.tsv
KEYS = [
    (7, "0700000000000000"),
    (Decimal("7.00"), "0700000000000000"),
    (Decimal("-12345.6789"), "020100000001002909851a"),
    (Decimal("1.5"), "010000000001008813"),
    (Decimal("0.5"), "01ffffffff8813"),
    (Decimal("1e5"), "a086010000000000"),
    (1 << 63, "01040000009a032c0d70016515b016"),
    (Decimal("9223372036854775808"), "01040000009a032c0d70016515b016"),
    (-(1 << 63), "0000000000000080"),
    (Decimal("NaN"), "03"), (Decimal("-Infinity"), "05"),
    (-0.0, "0000000000000000"), (float("nan"), "000000000000f87f"),
    ("abc ", "61626320"), ("\u00e4", "c3a4"), (b"\x00\xff", "00ff"),
    (True, "01"), (False, "00"),
    (uuid.UUID("00112233-4455-6677-8899-aabbccddeeff"),
     "00112233445566778899aabbccddeeff"),
    (datetime.date(2000, 1, 2), "0100000000000000"),
    (datetime.datetime(1999, 12, 31, 23, 59, 59, 999999), "ff" * 8),
    (datetime.datetime(2000, 1, 1, 1, tzinfo=datetime.timezone(
        datetime.timedelta(hours=1))), "00" * 8),
    (datetime.time(0, 0, 1), "40420f0000000000"),
    (datetime.time(0, tzinfo=datetime.timezone(datetime.timedelta(hours=1))),
     "00" * 8 + "f0f1ffff"),
    (datetime.timedelta(days=30), "00403d7f5b0200000000000000000000"),
    (ipaddress.ip_interface("192.168.1.5/24"), "0418c0a80105"),
    (ipaddress.ip_network("10.0.0.0/8"), "04080a000000"),
    (ipaddress.ip_address("::1"), "0680" + "00" * 15 + "01"),
]


@pytest.mark.parametrize("value, key", KEYS, ids=[repr(k[0]) for k in KEYS])
def test_key_bytes(value, key):
    assert key_of(value).key.hex() == key
    assert hash_value(value, 5) == hash_value(Key(Family.BYTES,
                                                  bytes.fromhex(key)), 5)


def test_shards():
    assert [shard(v, 1000) for v in (1, -7, Decimal("7.5"), "one")] == [
        931, 158, 847, 735]
    assert shard("one  ", 1000) == 735
    assert shard(datetime.date(2001, 2, 3), 256) == 214


def test_worked_example():
    table = CuckooFilter.new(30)
    table.add_all(range(1, 9))
    assert table.contains_many([5, 8, 9]) == [True, True, False]
    assert to_signed(hash_value(4)) < 0 < to_signed(hash_value(1))
    assert hash_value(4) == 0xca22290ad95e7178


@pytest.mark.parametrize("seed", range(12))
def test_model(seed, without_numpy):
    """No value is lost, and no copy counted too low, whatever is done."""
    print("seed", seed)
    rnd = random.Random(seed)
    capacity = rnd.choice([10, 100, 700, 3000])
    max_copies = rnd.randint(2, 4)
    filter_ = CuckooFilter.new(capacity, 10 ** -rnd.uniform(2, 8), max_copies,
                               rnd.randrange(1 << 63))
    held = Counter()
    for _ in range(3 * capacity):
        value = rnd.randrange(max(1, capacity // 2))
        if rnd.random() < 0.7:
            try:
                filter_.add(value)
            except FullError:
                assert len(filter_) >= capacity
            else:
                held[value] += 1
        elif held[value] > 0:
            filter_.remove(value)
            held[value] -= 1
    assert filter_.check() is None
    values = list(held)
    counts = [filter_.count(v) for v in values]
    least = filter_.info.current_copies
    assert all(n >= min(held[v], least) for v, n in zip(values, counts))
    assert filter_.contains_many(values) == [n > 0 for n in counts]
    assert [v in filter_ for v in values] == [n > 0 for n in counts]
    assert CuckooFilter.from_bytes(bytes(filter_)) == filter_


@pytest.mark.parametrize("seed", range(6))
def test_build_model(seed, without_numpy):
    rnd = random.Random(100 + seed)
    n = rnd.choice([5, 50, 2000, 20000])
    values = [rnd.randrange(n) for _ in range(n)]
    held = Counter(values)
    bag = CuckooFilter.build_bag(values, seed=seed)
    once = CuckooFilter.build(values, seed=seed)
    least = bag.info.current_copies
    assert len(once) <= len(held) <= len(once) + 40
    assert all(bag.count(v) >= min(m, least) for v, m in held.items())
    assert all(once.contains_many(list(held)))
    assert bag.check() is None and once.check() is None
    rnd.shuffle(values)
    assert CuckooFilter.build(values, seed=seed) == once


def test_rate():
    """Of 100,000 others at most 1 % and six standard deviations are found."""
    filter_ = CuckooFilter.build(range(20000), fpr=0.01)
    found = sum(filter_.contains_many(range(100000, 200000)))
    assert 0 < found < 1000 + 6 * 32


@pytest.mark.parametrize("make", [
    lambda: CuckooFilter.build(range(20)),
    lambda: CuckooFilter.build_bag([i % 50 for i in range(120)]),
    lambda: CuckooFilter.build(range(100), fpr=1e-9)],
    ids=["list", "table", "wide"])
def test_damage(make):
    """No change of any byte goes unseen, nor does a cut."""
    data = make().to_bytes()
    for i in range(len(data)):
        changed = bytearray(data)
        changed[i] ^= 1 << i % 8
        with pytest.raises(InvalidFilterError):
            CuckooFilter.from_bytes(changed)
        with pytest.raises(InvalidFilterError):
            CuckooFilter.from_bytes(data[:i])


def test_checks_agree():
    """Both checks say the same of bodies whose checksum is right."""
    rnd = random.Random(7)
    seen = Counter()
    for fpr in (0.01, 1e-5, 1e-9):
        data = CuckooFilter.build_bag([i % 70 for i in range(150)], fpr=fpr)
        for _ in range(300):
            damaged = data.copy()
            body = damaged._table.body
            for _ in range(rnd.randint(1, 2)):
                body[rnd.randrange(len(body))] = rnd.randrange(256)
            with_numpy = damaged.check()
            kept, _numpy.np = _numpy.np, None
            try:
                assert damaged.check() == with_numpy
            finally:
                _numpy.np = kept
            seen[with_numpy] += 1
    assert len(seen) >= 3


@pytest.mark.parametrize("text", [
    "", "cf2:AAAA", "cf1:", "cf1:A", "cf1:AAAA====", "cf1:AA=A", "cf1:AA A",
    "cf1:AAA=\n", "cf1:\u00c4AAA"])
def test_texts(text):
    with pytest.raises(InvalidFilterError):
        CuckooFilter.from_text(text)


def test_families(without_numpy):
    numbers = CuckooFilter.build([1, 2, 3])
    assert Decimal("1.0") in numbers
    for value in ("1", 1.0, True, b"1", datetime.date(2024, 1, 1)):
        with pytest.raises(FamilyError):
            value in numbers
        with pytest.raises(TypeError):
            numbers.contains_many([1, value])
        with pytest.raises(FamilyError):
            numbers.add(value)
        with pytest.raises(FamilyError):
            numbers.remove(value)
        with pytest.raises(FamilyError):
            CuckooFilter.build([1, value])
    for value in (None, object(), [1], (1, 2), 1j):
        with pytest.raises(UnsupportedTypeError):
            value in numbers
        with pytest.raises(UnsupportedTypeError):
            None in CuckooFilter.new(5)
    with pytest.raises(FamilyError) as error:
        "1" in numbers
    assert str(error.value) == "filter holds number values, probed with text"
    # an empty filter holds none, whatever it was
    numbers.remove_all([1, 2, 3])
    assert "1" not in numbers and numbers.contains_many(["1", 1]) == [
        False, False]
    assert numbers.family == Family.NUMBER
    with pytest.raises(FamilyError):
        numbers.add("1")


def test_char_takes_text():
    chars = CuckooFilter.build([Key(Family.CHAR, b"ab")], 50)
    assert "ab  " in chars and chars.contains_many(["ab ", "b"]) == [
        True, False]
    chars.add("c ")
    assert Key(Family.CHAR, b"c") in chars and Key(Family.TEXT, b"c ") in chars
    with pytest.raises(FamilyError):
        Key(Family.CHAR, b"ab") in CuckooFilter.build(["ab"])


def test_arrays():
    np = pytest.importorskip("numpy")
    ints = CuckooFilter.build(range(-500, 500), seed=-3)
    for dtype in (np.int16, np.int64, np.int32):
        asked = np.arange(-600, 600, dtype=dtype)
        assert ints.contains_many(asked).tolist() == [
            int(v) in ints for v in asked]
    assert ints.contains_many(np.array([[1, 2], [3, 4]], np.uint64)).all()
    large = np.array([1, (1 << 64) - 1], np.uint64)
    assert ints.contains_many(large).tolist() == [True, False]
    assert np.int64(5) in ints
    with pytest.raises(FamilyError):
        ints.contains_many(np.array([1.0]))
    with pytest.raises(FamilyError):
        ints.contains_many(np.array([True]))
    with pytest.raises(UnsupportedTypeError):
        ints.contains_many(np.array(["2024-01-01"], "datetime64[D]"))
    floats = CuckooFilter.build([0.0, float("nan"), 0.1, 2.0])
    assert floats.contains_many(np.array([-0.0, np.nan, 0.1, 2.0, 3.0])
                                ).tolist() == [True] * 4 + [False]
    assert CuckooFilter.build(np.arange(1000)) == CuckooFilter.build(
        range(1000))
    texts = CuckooFilter.build(np.array(["a", "b"]))
    assert texts.contains_many(np.array(["a", "c"])).tolist() == [True, False]


def test_copies():
    filter_ = CuckooFilter.new(100, max_copies=3)
    assert [filter_.add("x") for _ in range(4)] == [True] * 3 + [False]
    assert filter_.count("x") == 3 and not filter_.remove("x")
    assert not filter_.remove("y")
    assert copy.deepcopy(filter_) == filter_ == pickle.loads(
        pickle.dumps(filter_))
    other = filter_.copy()
    other.add("z")
    assert other != filter_ and "z" not in filter_
    with pytest.raises(NotRemovableError):
        CuckooFilter.new(10, max_copies=1).remove(1)


def test_all_or_none():
    filter_ = CuckooFilter.new(20)
    filter_.add_all(range(15))
    before = filter_.to_bytes()
    with pytest.raises(FullError):
        filter_.add_all(range(100, 110))
    with pytest.raises(FamilyError):
        filter_.add_all([100, "a"])
    assert filter_.to_bytes() == before
    with pytest.raises(FullError):
        CuckooFilter.build(range(30), 20)


@pytest.mark.parametrize("parameters, error", [
    ((0,), ParameterError), ((0.01, 1000), ParameterError),
    ((float("nan"),), ParameterError), ((10, 0), ParameterError),
    ((10, 1), ParameterError), ((10, 1e-30), ParameterError),
    ((10, 0.01, 5), ParameterError), ((10, 0.01, 4, 1 << 64), ParameterError),
    ((1 << 54,), ParameterError), ((1e9,), TooLargeError)])
def test_parameters(parameters, error):
    with pytest.raises(error):
        CuckooFilter.new(*parameters)
    assert issubclass(error, CuckooFilterError)


def test_all_names_are_documented():
    for name in package.__all__:
        assert getattr(package, name).__doc__, name
    for name, member in vars(CuckooFilter).items():
        if not name.startswith("_") and callable(member):
            assert member.__doc__, name
