"""Every example runs, and says what it should."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_EXAMPLES = Path(__file__).parents[1] / "examples"
_SAYS = {
    "read_a_session.py": ["user:  Fix the failing test", "       exit code 1", "turn:  completed"],
    "count_tokens.py": ["fix-the-test.rollout.jsonl: 69,040 in, 673 out"],
    "stdout_hook.py": ['{"type":"init","session_id":"01a1e27b-ef5d-7c53-98ae-24eb96457561"}'],
    "drive_a_session.py": ["decided: allow", "turn: completed", "answer: You are welcome."],
    "python_tool.py": ["asked for T-7", "T-7 is about a door that does not close."],
    "rehearsing.py": ["works in greeter"],
    "hand_off.py": ["begins with: Fix the failing test"],
    "compare_live_and_disk.py": ["uses Edit", "all three alike: True"],
}


def test_every_example_has_its_words() -> None:
    assert {path.name for path in _EXAMPLES.glob("*.py")} == set(_SAYS)


@pytest.mark.parametrize("name", _SAYS)
def test_the_example_runs(name: str) -> None:
    with (_EXAMPLES / "recordings" / "fix-the-test.exec.jsonl").open("rb") as stream:
        done = subprocess.run(
            [sys.executable, _EXAMPLES / name],
            stdin=stream,
            capture_output=True,
            timeout=60,
            check=False,
        )
    assert done.stderr.decode() == ""
    assert done.returncode == 0
    lines = done.stdout.decode().split("\n")
    for words in _SAYS[name]:
        assert words in lines
