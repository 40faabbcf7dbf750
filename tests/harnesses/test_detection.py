"""Which harness claims which recording: each exactly its own, of all recordings that come with the project.

A stream is recognized from its first lines, or when it is complete; there may be noise before it, as when a wrapper
prints a warning. None of that may make one harness claim what another has said.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from dragoman.harnesses import HARNESSES, harness_of, settle_dialect, sniff_dialect
from dragoman.harnesses.contract.harness import Harness
from dragoman.testing.conformance.sniffing import first_lines

_DATA = Path(__file__).parents[1] / "data"
_FIRST = 12
_NOISE = (
    b"npm warn deprecated something@1.0.0: use something else",
    b"",
    b'{"level":"info","message":"starting","id":1,"type":"log"}',
    b"[2026-11-19T05:00:00Z] WARN ready",
    b'["an","array"]',
)
_NAMES = [each.name for each in HARNESSES]


def _recordings() -> list[Path]:
    return sorted(
        path
        for name in _NAMES
        for path in (_DATA / name).rglob("*.jsonl")
        if path.name != "messages.jsonl"
    )


def _owner(path: Path) -> str:
    return path.relative_to(_DATA).parts[0]


def _views(lines: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    """The stream as a sniffer may see it."""
    yield lines
    for length in range(1, min(len(lines), _FIRST) + 1):
        yield lines[:length]
        yield [*_NOISE, *lines[:length]]


def _claims(harness: Harness, lines: Sequence[bytes]) -> set[str]:
    return {found for view in _views(lines) if (found := harness.sniff(view)) is not None}


@pytest.mark.parametrize("name", _NAMES)
def test_no_harness_claims_what_another_has_said(name: str) -> None:
    wrong: list[str] = []
    for path in _recordings():
        if _owner(path) != name:
            continue
        lines = [line for line in path.read_bytes().split(b"\n") if line]
        wrong += [
            f"{path.relative_to(_DATA)}: {harness.name} claims {sorted(found)}"
            for harness in HARNESSES
            if harness.name != name and (found := _claims(harness, lines))
        ]

    assert wrong == []


@pytest.mark.parametrize("name", _NAMES)
def test_each_recording_is_one_dialect_however_much_of_it_is_seen(name: str) -> None:
    wrong: list[str] = []
    for path in _recordings():
        if _owner(path) != name:
            continue
        lines = [line for line in path.read_bytes().split(b"\n") if line]
        found = {each for view in _views(lines) if (each := sniff_dialect(view)) is not None}
        whole = sniff_dialect(lines) or settle_dialect(lines)
        owner = harness_of(whole) if whole is not None else None
        if owner is None or owner.name != name or not found <= {whole}:
            wrong.append(f"{path.relative_to(_DATA)}: {whole}, and {sorted(found)}")

    assert wrong == []


def test_noise_alone_is_no_ones() -> None:
    for length in range(1, len(_NOISE) + 1):
        assert [each.name for each in HARNESSES if each.sniff(_NOISE[:length])] == []
    assert settle_dialect(_NOISE) is None


def test_every_harness_with_recordings_takes_part() -> None:
    owners = {_owner(path) for path in _recordings()}

    assert owners >= {"codex", "claude", "gemini", "copilot", "opencode", "acp"}
    assert len(_recordings()) > 300


_ODD: tuple[Any, ...] = ({}, [], 5, None)


def _with_another_value(value: Any, odd: object) -> Iterator[Any]:
    """The value with each of its parts in turn replaced."""
    yield odd
    if isinstance(value, dict):
        given = cast("dict[str, Any]", value)
        for key, inner in given.items():
            yield from ({**given, key: other} for other in _with_another_value(inner, odd))


@pytest.mark.parametrize("harness", HARNESSES, ids=lambda each: each.name)
def test_no_shape_of_a_line_makes_detection_raise(harness: Harness) -> None:
    """A name may be a list, and a list cannot be looked up in a set."""
    lines = {line for each in first_lines() for line in each.lines if len(line) < 4000}
    ours = b'{"type":"text","session_id":"s","turn_id":null,"at":null,"line":1,"text":"x"}'
    for line in sorted({*lines, ours}):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        for odd in _ODD:
            for changed in _with_another_value(value, odd):
                given = [json.dumps(changed).encode()]
                assert harness.sniff(given) in {None, *(d.name for d in harness.dialects)}
                if harness.settle is not None:
                    harness.settle(given)
