"""The vectors that every client is held to: test/vectors/format1.json."""

import json
import math
from pathlib import Path

import pytest
import values as vectors

from cuckoofilter_postgres import (CuckooFilter, FamilyError,
                                   InvalidFilterError, NewerVersionError,
                                   hash_value, to_signed)

PATH = Path(__file__).resolve().parents[3] / "test" / "vectors"
VECTORS = json.loads((PATH / "format1.json").read_text("utf-8"))
FILTERS = {each["name"]: each for each in VECTORS["filters"]}


def named(filters):
    return pytest.mark.parametrize("vector", filters,
                                   ids=[each["name"] for each in filters])


def test_all_are_there():
    assert VECTORS["format"] == 1
    assert len(FILTERS) >= 60
    assert len(VECTORS["images"]) >= 500
    assert sum(each["build"] is not None for each in FILTERS.values()) >= 40
    assert sum(each["steps"] is not None for each in FILTERS.values()) >= 8


@named(VECTORS["filters"])
def test_filter(vector, without_numpy):
    read = CuckooFilter.from_text(vector["text"])
    assert len(read) == vector["count"]
    assert read.to_text() == vector["text"]
    assert CuckooFilter.from_bytes(read.to_bytes()) == read
    assert CuckooFilter.from_bytes(read.to_bytes(), trusted=True) == read
    if vector.get("bytes") is not None:
        assert read.to_bytes().hex() == vector["bytes"]

    info = read.info._asdict()
    info["seed"] = str(info["seed"])
    assert set(info) == set(vector["info"])
    for key, value in vector["info"].items():
        if isinstance(value, float) and info[key] is not None:
            assert math.isclose(info[key], value, rel_tol=1e-9), key
        else:
            assert info[key] == value, key

    probes = vector["probes"]
    assert len(probes["values"]) == 200
    found, counts = vectors.probe(read, probes["family"], probes["values"])
    if "copies" in probes:
        assert "".join(map(str, counts)) == probes["copies"]
        wanted = [each != "0" for each in probes["copies"]]
    else:
        wanted = [each != "0" for each in probes["found"]]
    assert found == wanted
    values = vectors.parse(probes["family"], probes["values"])
    if probes["family"] == vectors.HASH:
        assert [read.contains_hash(value) for value in values] == wanted
    else:
        assert [value in read for value in values] == wanted


@named([each for each in VECTORS["filters"] if each["build"] is not None])
def test_build(vector, without_numpy):
    assert vectors.build(vector["build"]).to_text() == vector["text"]


@named([each for each in VECTORS["filters"] if each["steps"] is not None])
def test_steps(vector):
    steps = vector["steps"]
    filter_ = CuckooFilter.new(steps["capacity"], steps["fpr"],
                               steps["max_copies"], int(steps["seed"]))
    vectors.change(filter_, steps["family"], steps["changes"])
    assert filter_.to_text() == vector["text"]


def verdict(image):
    try:
        if "text" in image:
            CuckooFilter.from_text(image["text"])
        else:
            CuckooFilter.from_bytes(bytes.fromhex(image["bytes"]))
    except NewerVersionError as error:
        return "version", str(error)
    except InvalidFilterError as error:
        return "damaged", error.reason
    return "ok", None


def test_images(without_numpy):
    for image in VECTORS["images"]:
        found, reason = verdict(image)
        assert found == image["verdict"], image
        if found == "version":
            assert reason == image["reason"]
        elif found == "damaged" and "is not sound" in image["reason"]:
            assert reason in image["reason"], image


def test_hashes():
    for vector in VECTORS["hashes"]:
        values = vectors.parse(vector["family"], vector["values"])
        seed = int(vector["seed"])
        assert [str(to_signed(hash_value(value, seed))) for value in
                values] == [str(each) for each in vector["hashes"]]


def one_of(family):
    """A value of each family."""
    for vector in VECTORS["hashes"]:
        if vector["family"] == family:
            return vectors.parse(family, vector["values"])[0]
    return True


def test_takes():
    families = sorted(set(vectors.PARSERS) - {vectors.HASH})
    samples = {}
    for each in FILTERS.values():
        if each["count"]:
            samples.setdefault(each["info"]["family"] or "untyped", each)
    for family, takes in VECTORS["takes"].items():
        read = CuckooFilter.from_text(samples[family]["text"])
        for given in families:
            value = one_of(given)
            acts = [lambda: value in read, lambda: read.count(value),
                    lambda: read.contains_many([value])]
            if given not in takes:
                acts += [lambda: read.add(value), lambda: read.add_all([value])]
            for act in acts:
                if given in takes:
                    act()
                else:
                    with pytest.raises(FamilyError):
                        act()
