"""Answer requests of JSON, one a line: see test/vectors/README.md."""

import json
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "src"),
                str(Path(__file__).resolve().parent)]

import values as vectors  # noqa: E402
from cuckoofilter_postgres import (CuckooFilter,  # noqa: E402
                                   CuckooFilterError, NewerVersionError)


def read(request):
    if "text" in request:
        return CuckooFilter.from_text(request["text"])
    return CuckooFilter.from_bytes(bytes.fromhex(request["bytes"]))


def build(request):
    return {"bytes": vectors.build(request).to_bytes().hex()}


def change(request):
    filter_ = read(request)
    vectors.change(filter_, request["family"], request["changes"])
    return {"bytes": filter_.to_bytes().hex()}


def verdict(request):
    try:
        read(request)
    except CuckooFilterError as error:
        return {"ok": False, "error": str(error),
                "version": isinstance(error, NewerVersionError)}
    return {"ok": True}


def probe(request):
    found, counts = vectors.probe(read(request), request["family"],
                                  request["values"])
    return {"found": found, "counts": counts}


OPERATIONS = {"build": build, "change": change, "verdict": verdict,
              "probe": probe}


def answer(line):
    try:
        request = json.loads(line)
        return OPERATIONS[request["op"]](request)
    except CuckooFilterError as error:
        return {"error": str(error)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


if __name__ == "__main__":
    for each in sys.stdin:
        print(json.dumps(answer(each)), flush=True)
