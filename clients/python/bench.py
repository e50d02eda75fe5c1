#!/usr/bin/python3
"""What a probe, an add and a build cost: python3 bench.py [values]

Processor time in microseconds per value, the least of five runs each.  The
filter holds as many values as are given, 100000 if none are; half of the values
asked for are in it.
"""

import random
import sys
import time
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "src"))

from cuckoofilter_postgres import CuckooFilter, _numpy  # noqa: E402

RUNS = 5


def microseconds(act, count, runs=RUNS):
    """The least processor time of an act, per value."""
    best = float("inf")
    for _ in range(runs):
        start = time.process_time()
        act()
        best = min(best, time.process_time() - start)
    return 1e6 * best / count


def single(filter_, values):
    for value in values:
        value in filter_


def probes(name, make, count):
    members = [make(i) for i in range(count)]
    asked = [make(i) for i in range(count // 2, count // 2 + count)]
    random.Random(1).shuffle(asked)
    build = microseconds(lambda: CuckooFilter.build(members), count, 2)
    filter_ = CuckooFilter.build(members)
    one = microseconds(lambda: single(filter_, asked), count)
    many = microseconds(lambda: filter_.contains_many(asked), count)
    print(f"{name:<16}{one:>10.2f}{many:>10.3f}{build:>10.2f}")
    return filter_, asked


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100000
    print(f"{count} values, numpy is "
          f"{'not ' if _numpy.np is None else ''}used; microseconds per value")
    print(f"{'values':<16}{'in':>10}{'many':>10}{'build':>10}")
    filter_, asked = probes("int", lambda i: i, count)
    if _numpy.np is not None:
        array = _numpy.np.array(asked)
        many = microseconds(lambda: filter_.contains_many(array), count)
        print(f"{'array of int64':<16}{'':>10}{many:>10.3f}")
    probes("str", lambda i: f"user{i}@example.com", count)
    probes("uuid", lambda i: uuid.UUID(int=i), count)

    def add():
        new = CuckooFilter.new(count)
        for i in range(count):
            new.add(i)

    print(f"add one by one  {microseconds(add, count, 1):>10.2f}")
    data = filter_.to_bytes()
    print("from_bytes      "
          f"{microseconds(lambda: CuckooFilter.from_bytes(data), count):>10.3f}")
    print("  trusted       "
          f"{microseconds(lambda: CuckooFilter.from_bytes(data, True), count):>10.3f}")


if __name__ == "__main__":
    main()
