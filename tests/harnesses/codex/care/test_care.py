from __future__ import annotations

import json
import tomllib

import pytest

from dragoman.harnesses.codex.care.places import place, settings
from dragoman.harnesses.codex.care.salvage import completed, salvage

_ID = "01a1e150-b3eb-7a30-8813-455db931ee86"
_ROW = (
    b'{"timestamp":"2026-11-15T22:25:25.123Z","ordinal":12,"type":"response_item","payload":'
    b'{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Say \\u00e9 {"}]}}'
)


def test_a_rollout_lies_in_the_folder_of_its_day() -> None:
    name = f"rollout-2026-11-15T22-25-24-{_ID}.jsonl"

    assert place(name, _ID) == f"sessions/2026/11/15/{name}"
    assert place(f"{name}.zst", _ID) == f"sessions/2026/11/15/{name}"
    assert place("copy.jsonl", _ID).endswith(f"-{_ID}.jsonl")


def test_a_home_for_reading_knows_the_providers_name() -> None:
    header = b'{"type":"session_meta","payload":{"id":"s","model_provider":"my \\"own\\""}}'

    config = tomllib.loads(settings(header)["config.toml"])

    assert list(config["model_providers"]) == ['my "own"']
    assert "model_providers" not in tomllib.loads(settings(b"{}")["config.toml"])


@pytest.mark.parametrize("length", range(140, len(_ROW)))
def test_a_row_cut_off_in_its_text_is_closed_wherever_that_is(length: int) -> None:
    closed = completed(_ROW[:length])

    if closed is not None:
        said = json.loads(closed)["payload"]["content"]
        assert "Say é {".startswith(said[0].get("text") or "")
    if length > _ROW.index(b"Say"):
        assert closed is not None


def test_half_a_call_is_no_call() -> None:
    call = (
        b'{"timestamp":"2026-11-15T22:25:25.123Z","type":"response_item","payload":'
        b'{"type":"function_call","name":"exec_command","arguments":"{\\"cmd\\": \\"rm -rf /tm'
    )

    assert completed(call) is None


def test_rows_between_nuls_and_rows_without_a_newline_are_found() -> None:
    line = _ROW[:30] + b"\0" * 9 + _ROW + _ROW + b" oops\n"

    pieces = list(salvage(line))

    assert [piece.row for piece in pieces] == [None, _ROW, _ROW, None]
    assert b"".join(piece.raw for piece in pieces) == _ROW[:30] + _ROW + _ROW + b" oops"
