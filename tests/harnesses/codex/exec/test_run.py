from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from dragoman import (
    Malformed,
    Message,
    Notice,
    Prompt,
    SessionStarted,
    Text,
    ToolResult,
    TurnEnded,
    TurnError,
    TurnStarted,
    UsageReport,
)
from dragoman.drive.links.journal import Journal
from dragoman.harnesses import HARNESSES
from dragoman.harnesses.codex.exec.run import ExecRun
from dragoman.harnesses.codex.versions import parse_version
from dragoman.harnesses.contract.conversation import Release
from dragoman.harnesses.contract.transport import OneShot, Run
from dragoman.model.turns import fold
from dragoman.model.usage import Usage
from dragoman.reading.audit import audit
from dragoman.reading.read import read
from dragoman.testing.conformance.pairs import compare, recordings
from dragoman.testing.likeness import differences
from dragoman.wire.lines import LongLine

_ID = "01990000-0000-7000-8000-000000000000"
_OTHER = "01990000-0000-7000-8000-00000000000f"
_NEWEST = (0, 166, 0)

Line = dict[str, Any]

_BEGIN: list[Line] = [{"type": "thread.started", "thread_id": _ID}, {"type": "turn.started"}]
_SAID: Line = {"type": "item.completed", "item": {"id": "i", "type": "agent_message", "text": "hi"}}
_CALL: Line = {
    "type": "item.started",
    "item": {"id": "c", "type": "command_execution", "command": "sleep 9", "status": "in_progress"},
}


def _done(tokens: int = 10) -> Line:
    return {"type": "turn.completed", "usage": {"input_tokens": tokens, "output_tokens": 1}}


def _run(release: Release | None = _NEWEST, spent: Usage | None = None, **facts: Any) -> ExecRun:
    return ExecRun(release, OneShot(prompt="do it", cwd="/w", **facts), spent)


def _hear(run: Run, lines: Sequence[Line]) -> None:
    for line in lines:
        run.receive_line(json.dumps(line).encode())


def told(run: Run, lines: Sequence[Line], code: int | None = 0, **how: Any) -> list[Message]:
    _hear(run, lines)
    run.receive_exit(code, **how)
    return run.messages()


def _ends(messages: Sequence[Message]) -> list[TurnEnded]:
    return [message for message in messages if isinstance(message, TurnEnded)]


def _end(messages: Sequence[Message]) -> TurnEnded:
    [end] = _ends(messages)
    return end


def test_a_run_says_what_only_its_starter_knows() -> None:
    messages = told(_run(model="m", images=("a.png",)), [*_BEGIN, _SAID, _done()])

    assert messages[:3] == [
        SessionStarted(
            session_id=_ID, line=1, harness="codex", version="0.166.0", model="m", cwd="/w"
        ),
        TurnStarted(session_id=_ID, turn_id="turn-1", line=2),
        Prompt(session_id=_ID, turn_id="turn-1", line=2, text="do it", images=["a.png"]),
    ]
    assert _end(messages).outcome == "completed"


def test_a_fork_names_its_parent() -> None:
    [begun] = told(_run(None, fork=_OTHER), _BEGIN)[:1]

    assert isinstance(begun, SessionStarted)
    assert (begun.parent_session_id, begun.version) == (_OTHER, None)


@pytest.mark.parametrize("lines", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("code", [0, 1, 2, -2, -9, -15, None])
@pytest.mark.parametrize("stopped", [True, False])
def test_wherever_a_run_is_cut_it_has_one_prompt_and_one_end(
    lines: int, code: int | None, stopped: bool
) -> None:
    messages = told(_run(), [*_BEGIN, _SAID, _CALL][:lines], code, stopped=stopped)

    assert len([each for each in messages if isinstance(each, Prompt)]) == 1
    assert _end(messages).outcome == ("interrupted" if stopped else _end(messages).outcome)
    assert _end(messages).outcome != "completed"
    assert messages[-1] == _end(messages)


@pytest.mark.parametrize("last", [_done(), {"type": "turn.failed", "error": {"message": "no"}}])
@pytest.mark.parametrize("code", [0, 1, -9])
def test_an_end_that_was_told_stands_whatever_the_process_does_afterwards(
    last: Line, code: int
) -> None:
    messages = told(_run(), [*_BEGIN, last], code, stderr_tail="Error: late")

    assert _end(messages).outcome == ("completed" if last["type"] == "turn.completed" else "failed")
    assert "late" not in str(messages)


def test_a_killed_run_leaves_no_call_open_and_may_be_tried_again() -> None:
    messages = told(_run(), [*_BEGIN, _CALL], -9)

    [result] = [each for each in messages if isinstance(each, ToolResult)]
    assert result.status == "abandoned"
    assert _end(messages).error == TurnError(
        kind="port_exit",
        message="codex exec was killed by SIGKILL before the turn had ended",
        retryable=True,
    )


def test_a_run_that_never_began_says_why_on_its_own_behalf() -> None:
    messages = told(_run(), [], 1, stderr_tail="Not inside a trusted directory and so on.\n")

    assert [type(message) for message in messages] == [TurnStarted, Prompt, TurnEnded]
    error = _end(messages).error
    assert error is not None
    assert (error.kind, error.retryable) == ("response_error", False)
    assert error.message == "Not inside a trusted directory and so on. (exited with status 1)"


def test_a_turn_that_was_given_up_does_not_begin_anew() -> None:
    run = _run()
    _hear(run, _BEGIN)
    error = TurnError(kind="stall_timeout", message="nothing was heard", retryable=True)
    run.end_turn("failed", error)
    messages = told(run, [_SAID, {"type": "turn.started"}, _done()], -9, stopped=True)

    assert _end(messages).error == error
    [late] = [each for each in messages if isinstance(each, Text)]
    assert late.turn_id == "turn-1"
    assert len([each for each in messages if isinstance(each, TurnStarted)]) == 1


def test_a_turn_that_was_given_up_before_it_began_is_told_all_the_same() -> None:
    run = _run()
    run.end_turn("failed", TurnError(kind="response_timeout", message="silence", retryable=True))
    run.end_turn("interrupted")
    messages = told(run, _BEGIN, -15, stopped=True)

    kinds = [TurnStarted, Prompt, TurnEnded, SessionStarted]
    assert [type(message) for message in messages] == kinds
    assert _end(messages).outcome == "failed"


def test_what_comes_after_the_end_belongs_to_the_turn_that_was() -> None:
    messages = told(_run(), [*_BEGIN, _done(), _SAID, {"type": "turn.started"}])

    assert len(_ends(messages)) == 1
    assert messages[-1] == Text(session_id=_ID, turn_id="turn-1", line=4, text="hi", message_id="i")


def test_an_item_without_a_turn_begins_one() -> None:
    messages = told(_run(), [_BEGIN[0], _SAID, _done()])

    assert [type(each) for each in messages[1:4]] == [TurnStarted, Text, Prompt]


def test_odd_lines_are_kept() -> None:
    run = _run()
    run.receive_line(b"Reading prompt from stdin...\n")
    run.receive_long_line(LongLine(length=10**9, head=b"{", tail=b""))
    messages = told(run, _BEGIN)

    assert [type(each) for each in messages[:2]] == [Malformed, Malformed]


@pytest.mark.parametrize(
    ("release", "spent", "total", "turn"),
    [
        ((0, 77, 0), None, 30, 30),
        ((0, 77, 0), 100, 130, 30),
        ((0, 79, 0), None, 30, None),
        ((0, 79, 0), 10, 30, 20),
        (None, 10, 30, 20),
    ],
)
def test_a_follow_up_counts_its_own_tokens_only(
    release: Release | None, spent: int | None, total: int, turn: int | None
) -> None:
    before = Usage(input_tokens=spent, output_tokens=0) if spent is not None else None
    messages = told(_run(release, before, resume=_ID), [*_BEGIN, _done(30)])

    [report] = [each for each in messages if isinstance(each, UsageReport)]
    assert report.total is not None
    assert report.total.input_tokens == total
    usage = _end(messages).usage
    assert (usage.input_tokens if usage else None) == turn


def test_what_was_spent_elsewhere_does_not_count_for_a_new_session() -> None:
    messages = told(_run(_NEWEST, Usage(input_tokens=99)), [*_BEGIN, _done(30)])

    usage = _end(messages).usage
    assert usage is not None
    assert usage.input_tokens == 30


def test_a_session_that_could_not_be_resumed_is_missed() -> None:
    """Up to 0.115 a new session begins without a word."""
    messages = told(_run((0, 104, 0), resume=_OTHER), [*_BEGIN, _done(30)])

    [missed] = [each for each in messages if isinstance(each, Notice)]
    assert missed.text == f"there is no session {_OTHER} to go on with: this is a new one"
    usage = _end(messages).usage
    assert usage is not None
    assert usage.input_tokens == 30


@pytest.mark.parametrize("name", [_ID, _ID.upper(), "my session"])
def test_a_session_that_was_resumed_is_not_missed(name: str) -> None:
    assert not any(isinstance(each, Notice) for each in told(_run(resume=name), _BEGIN))


def test_a_run_tells_the_same_conversation_as_its_session_file(runs: Path) -> None:
    """Prompts included, which a stream that we did not start cannot carry."""
    compared = 0
    for recording in recordings(runs):
        release = parse_version(recording.release)
        if recording.kind != "exec" or release is None or release < (0, 44, 0):
            continue
        for pair in compare(HARNESSES[0], recording):
            [turn] = pair.other
            [prompt] = turn.prompts
            run = ExecRun(
                release, OneShot(prompt=prompt.text, cwd="/w", images=tuple(prompt.images))
            )
            for line in recording.path.read_bytes().splitlines(keepends=True):
                run.receive_line(line)
            run.receive_exit(0)
            limits = [limit for limit in pair.limits if limit.aspect != "prompts"]
            assert not differences(fold(run.messages()), pair.other, limits), recording
            compared += 1
    assert compared


def test_a_journal_of_a_run_gives_the_same_messages_as_the_run(tmp_path: Path) -> None:
    """What only we know of a run is in its journal, and its times too."""
    shot = OneShot(prompt="fix it", cwd="/w", model="m")
    run = ExecRun((0, 163, 0), shot)
    lines = [
        b'{"type":"thread.started","thread_id":"s"}',
        b'{"type":"turn.started"}',
        b'{"type":"item.started","item":{"id":"i","type":"command_execution","command":"ls"}}',
        b'{"type":"item.completed","item":{"id":"i","type":"command_execution","command":"ls",'
        b'"aggregated_output":"a","exit_code":0,"status":"completed"}}',
        b'{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}',
    ]
    journal = Journal(tmp_path / "j.jsonl")
    began = datetime(2026, 11, 18, 12, tzinfo=UTC)
    journal.sent([run.opening()], began)
    for seconds, line in enumerate(lines):
        at = began + timedelta(seconds=seconds)
        journal.received([line], at)
        run.receive_time(at)
        run.receive_line(line)
    journal.close()
    run.receive_exit(0)

    live = run.messages()
    again = [*read(tmp_path / "j.jsonl")]

    assert [replace(each, line=0) for each in again] == [replace(each, line=0) for each in live]
    assert [each.text for each in again if isinstance(each, Prompt)] == ["fix it"]
    [result] = [each for each in again if isinstance(each, ToolResult)]
    assert (result.at, result.duration_ms) == (began + timedelta(seconds=3), 1000)
    account = audit(tmp_path / "j.jsonl")
    assert account.is_whole
    assert not account.unknown


def test_a_journal_of_a_run_that_never_began_has_its_prompt(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.jsonl")
    journal.sent([ExecRun(None, OneShot(prompt="fix it", cwd="/w")).opening()])
    journal.close()

    assert [each.text for each in read(tmp_path / "j.jsonl") if isinstance(each, Prompt)] == [
        "fix it"
    ]
