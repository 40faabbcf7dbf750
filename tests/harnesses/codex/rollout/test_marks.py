from pathlib import Path

import pytest

from dragoman.harnesses.codex.rollout.marks import MarkingRolloutParser, resume
from dragoman.model.messages import Message, TurnStarted

_DATA = Path(__file__).parents[3] / "data" / "codex"
_ROLLOUTS = sorted(path for path in _DATA.rglob("*rollout*.jsonl"))


def _lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def _whole(lines: list[bytes]) -> tuple[list[Message], MarkingRolloutParser]:
    parser = MarkingRolloutParser()
    parser.receive_lines(lines)
    parser.receive_eof()
    return parser.messages(), parser


@pytest.mark.parametrize("path", _ROLLOUTS, ids=lambda path: "/".join(path.parts[-2:]))
def test_from_every_mark_on_a_file_tells_the_same(path: Path) -> None:
    lines = _lines(path)
    messages, parser = _whole(lines)
    for mark in parser.marks():
        start = next(
            index
            for index, message in enumerate(messages)
            if isinstance(message, TurnStarted) and message.line == mark.line
        )
        part = resume(mark, None, False)
        part.receive_lines(lines[mark.line - 1 :])
        part.receive_eof()
        assert part.messages() == messages[start:]


def test_there_are_marks_for_turns_after_the_first_and_they_are_small() -> None:
    marks = [mark for path in _ROLLOUTS for mark in _whole(_lines(path))[1].marks()]
    assert len(marks) > 40
    assert max(len(mark.state) for mark in marks) < 2000


def test_marks_are_handed_out_once() -> None:
    parser = next(p for path in _ROLLOUTS if (p := _whole(_lines(path))[1])._marks)
    assert parser.marks()
    assert parser.marks() == []


def test_a_resumed_parser_makes_the_marks_that_follow() -> None:
    path = max(_ROLLOUTS, key=lambda one: len(_whole(_lines(one))[1].marks()))
    lines = _lines(path)
    marks = _whole(lines)[1].marks()
    part = resume(marks[0], None, False)
    part.receive_lines(lines[marks[0].line - 1 :])
    assert part.marks() == marks
