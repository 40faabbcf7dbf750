"""The bundled recordings by dialect, small ones, for tests that mutate them."""

from __future__ import annotations

import json
from functools import cache
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Final

from dragoman.harnesses import dialects, sniff_dialect
from dragoman.reading.audit import audit
from dragoman.testing import mutations

RUNS: Final = Path(__file__).parents[1] / "data" / "codex" / "runs"
_DATA: Final = RUNS.parents[1]
# What we wrote ourselves names lines of another source: tests/harnesses/messages holds it to its own rules.
DIALECTS: Final = [dialect.name for dialect in dialects() if dialect.has_own_lines]

RESPONSES: Final = tuple(
    json.dumps(event).encode()
    for event in (
        {"type": "response.created", "response": {"id": "r1", "model": "gpt-5.5"}},
        {"type": "response.reasoning_summary_text.delta", "item_id": "rs1", "delta": "Hm."},
        {
            "type": "response.output_item.done",
            "item": {
                "type": "reasoning",
                "id": "rs1",
                "summary": [{"type": "summary_text", "text": "Hm."}],
            },
        },
        {"type": "response.output_text.delta", "item_id": "m1", "delta": "Look"},
        {"type": "response.output_text.done", "item_id": "m1", "text": "Looking."},
        {
            "type": "response.output_item.done",
            "item": {
                "type": "message",
                "id": "m1",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "Looking."}],
            },
        },
        {
            "type": "response.output_item.done",
            "item": {
                "type": "function_call",
                "call_id": "c1",
                "name": "shell",
                "arguments": '{"command":["bash","-lc","ls"]}',
            },
        },
        {
            "type": "response.completed",
            "response": {
                "id": "r1",
                "usage": {
                    "input_tokens": 130,
                    "input_tokens_details": {"cached_tokens": 10},
                    "output_tokens": 20,
                    "output_tokens_details": {"reasoning_tokens": 5},
                },
            },
        },
        {"type": "response.failed", "response": {"error": {"code": "x", "message": "no"}}},
        {"type": "error", "message": "gone", "sequence_number": 9},
    )
)
"""No run leaves such a stream, so it is written by hand."""

SERVER_SENT: Final = tuple(
    line for event in RESPONSES for line in (b"event: response", b"data: " + event, b"")
)

_SMALL: Final = 16_000
_SHORT: Final = 1_500


@cache
def recordings() -> dict[str, list[tuple[str, tuple[bytes, ...]]]]:
    """By dialect, the name and the lines of every bundled stream that is not too big to mutate.

    Where all are too big, it is the beginning of one.
    """
    found: dict[str, list[tuple[str, tuple[bytes, ...]]]] = {name: [] for name in DIALECTS}
    for path in sorted(RUNS.glob("*/*.jsonl")):
        data = path.read_bytes()
        dialect = audit(data).dialect
        assert dialect is not None
        if len(data) <= _SMALL:
            name = path.relative_to(RUNS).as_posix()
            found[dialect].append((name, tuple(data.rstrip(b"\n").split(b"\n"))))
    found["codex-responses"] = [("by hand, lines", RESPONSES), ("by hand, events", SERVER_SENT)]
    for path in sorted(_DATA.glob("*/*/*/wire.jsonl")):
        if path.is_relative_to(_DATA / "codex"):
            continue
        lines = _short_lines(path)
        if sum(map(len, lines)) <= _SMALL:
            found[path.parts[-3]].append((path.parts[-2], lines))
    for path in sorted((*_DATA.glob("*/*/*/wire.jsonl"), *_DATA.glob("*/*/*.live.jsonl"))):
        if not all(found.values()):
            lines = _short_lines(path)
            dialect = sniff_dialect(lines)
            if dialect is not None and not found[dialect]:
                found[dialect].append((path.parts[-2], _beginning(lines)))
    return found


def mutated(random: Random, lines: tuple[bytes, ...]) -> list[bytes]:
    """Return the lines with some damage, lines of other dialects among them."""
    known = [found for found in recordings().values() if found]  # others are larger
    _, strangers = random.choice(random.choice(known))
    return mutations.mutated(random, lines, strangers)


def _beginning(lines: tuple[bytes, ...]) -> tuple[bytes, ...]:
    sizes = accumulate(map(len, lines))
    return tuple(line for line, size in zip(lines, sizes, strict=True) if size <= _SMALL)


def _short_lines(path: Path) -> tuple[bytes, ...]:
    """The lines of a stream without those that only quote long instructions."""
    lines = path.read_bytes().rstrip(b"\n").split(b"\n")
    return tuple(line for line in lines if len(line) <= _SHORT)
