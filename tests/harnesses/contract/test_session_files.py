from __future__ import annotations

import pytest

from dragoman.harnesses.contract.session_files import row_in, row_line


def test_a_row_travels_as_a_line_and_comes_out_as_it_was() -> None:
    row = b'{"id": "a",  "n": 1e3}'
    line = row_line("s", "f.jsonl", row)

    assert line is not None
    assert row_in(line) == ("s", "f.jsonl", row)


@pytest.mark.parametrize(
    "line", [b'{"jsonrpc":"2.0"}', b"", b'{"dir":"file",', b'{"dir":"file","session":1}']
)
def test_any_other_line_has_no_row(line: bytes) -> None:
    assert row_in(line) is None


def test_what_is_no_json_is_no_row() -> None:
    assert row_line("s", "f.jsonl", b"cut off {") is None
