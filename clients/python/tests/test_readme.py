"""The first example of the README says what it prints; the tool answers."""

import contextlib
import doctest
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import cuckoofilter_postgres

ROOT = Path(__file__).resolve().parents[1]


def test_first_example():
    code = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(
        "utf-8"), re.DOTALL).group(1)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(code, {})
    lines = [line for line in code.splitlines() if line.startswith("print(")]
    wanted = [line.split("  # ")[1].split(":")[0] for line in lines]
    assert output.getvalue().splitlines() == wanted
    assert len(wanted) == 5


def test_docstrings():
    for module in (cuckoofilter_postgres, cuckoofilter_postgres.keys):
        result = doctest.testmod(module)
        assert result.attempted > 0 and result.failed == 0


def test_tool():
    build = {"op": "build", "family": "number", "values": [1, 2, "3.5"],
             "capacity": 30, "fpr": 0.01, "max_copies": 4, "seed": "0",
             "bag": False}

    def ask(*requests):
        lines = "".join(json.dumps(each) + "\n" for each in requests)
        result = subprocess.run(
            [sys.executable, str(ROOT / "tests" / "tool.py")],
            input=lines + "no json\n", capture_output=True, text=True,
            check=True)
        answers = [json.loads(each) for each in result.stdout.splitlines()]
        assert "error" in answers.pop()
        return answers

    data = ask(build)[0]["bytes"]
    probe = {"op": "probe", "bytes": data, "family": "number",
             "values": [1, 4, "3.50"]}
    assert ask(probe, {"op": "verdict", "bytes": data},
               {"op": "verdict", "bytes": data[:-2]},
               {**probe, "family": "text", "values": ["1"]},
               {"op": "change", "bytes": data, "family": "number",
                "changes": [{"add": [9]}, {"remove": [9]}]}) == [
        {"found": [True, False, True], "counts": [1, 0, 1]}, {"ok": True},
        {"ok": False, "version": False, "error": "invalid bytes of a "
         "cuckoofilter: the checksum does not match"},
        {"error": "filter holds number values, probed with text"},
        {"bytes": data}]
