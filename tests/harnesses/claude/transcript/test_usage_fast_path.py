"""The quick reader either gives up or says what the parser says."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from dragoman.harnesses.claude.dialects import plain_transcript
from dragoman.harnesses.claude.transcript.parser import TranscriptParser
from dragoman.harnesses.claude.transcript.usage_fast_path import PlainTranscript
from dragoman.model.messages import Message, SessionStarted, TurnStarted, UsageReport
from support.claude.homes import MadeHome

_DATA = Path(__file__).parents[3] / "data" / "claude"
_FILES = sorted(
    [*_DATA.glob("runs/*/*.disk*.jsonl"), *_DATA.glob("claude-transcript/*/wire.jsonl")]
)
_ONLY = frozenset(("usage", "session_started", "turn_started"))


def _parsed(lines: list[bytes]) -> list[Message]:
    parser = TranscriptParser(only=_ONLY)
    parser.receive_lines(lines)
    parser.receive_eof()
    kinds = (UsageReport, SessionStarted, TurnStarted)
    return [_without_turn(each) for each in parser.messages() if isinstance(each, kinds)]


def _without_turn(message: Message) -> Message:
    """A report of what the session has cost belongs to no turn."""
    if isinstance(message, UsageReport) and message.cost is not None:
        return msgspec.structs.replace(message, turn_id=None)
    return message


def _quickly(lines: list[bytes], step: int = 1 << 30) -> list[Message] | None:
    reader = PlainTranscript()
    messages: list[Message] = []
    for start in range(0, len(lines), step):
        if not reader.receive_lines(lines[start : start + step]):
            return None
        messages += reader.messages()
    reader.receive_eof()
    return messages + reader.messages()


def _lines(path: Path) -> list[bytes]:
    return [line + b"\n" for line in path.read_bytes().split(b"\n") if line]


@pytest.mark.parametrize("path", _FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_recording_is_read_as_the_parser_reads_it(path: Path) -> None:
    lines = _lines(path)
    found = _quickly(lines)

    assert found in (None, _parsed(lines))
    assert _quickly(lines, 3) == found


def test_most_sessions_are_plain() -> None:
    sessions = [path for path in _FILES if b'"isSidechain":true' not in path.read_bytes()]
    plain = [path for path in sessions if _quickly(_lines(path)) is not None]

    assert len(plain) > 0.8 * len(sessions)
    heads = [path.read_bytes()[:4096] for path in plain]
    assert sum(plain_transcript(head) is not None for head in heads) > 0.8 * len(plain)


@pytest.mark.parametrize("seed", [3, 5, 14])
def test_a_home_full_of_traps(seed: int, tmp_path: Path) -> None:
    MadeHome(tmp_path, seed)
    files = sorted(tmp_path.rglob("*.jsonl"))
    found = [_quickly(_lines(path)) for path in files]

    for path, each in zip(files, found, strict=True):
        assert each in (None, _parsed(_lines(path))), path


def _without_a_line(lines: list[bytes], chance: random.Random) -> list[bytes]:
    place = chance.randrange(len(lines))
    return [*lines[:place], *lines[place + 1 :]]


def _with_a_line_twice(lines: list[bytes], chance: random.Random) -> list[bytes]:
    place, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    return [*lines[:other], lines[place], *lines[other:]]


def _cut(lines: list[bytes], chance: random.Random) -> list[bytes]:
    place = chance.randrange(len(lines))
    line = lines[place]
    return [*lines[:place], line[: chance.randrange(len(line))] + b"\n", *lines[place + 1 :]]


def _renamed(lines: list[bytes], chance: random.Random) -> list[bytes]:
    place = chance.randrange(len(lines))
    words = (b'"end_turn"', b'"tool_use"', b'"sessionId"', b'"isMeta"', b"false", b"null")
    old, new = chance.choice(words), chance.choice(words)
    return [*lines[:place], lines[place].replace(old, new), *lines[place + 1 :]]


@pytest.mark.parametrize("change", [_without_a_line, _with_a_line_twice, _cut, _renamed])
def test_a_damaged_session_is_left_to_the_parser_or_read_as_it_reads_it(
    change: Callable[[list[bytes], random.Random], list[bytes]],
) -> None:
    chance = random.Random(7)
    plain = [lines for path in _FILES if _quickly(lines := _lines(path)) is not None]
    for lines in plain:
        for _ in range(6):
            changed = change(lines, chance)
            assert _quickly(changed) in (None, _parsed(changed))
