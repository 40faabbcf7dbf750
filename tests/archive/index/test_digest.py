from __future__ import annotations

from datetime import UTC, datetime

from dragoman.archive.index.digest import Digest
from dragoman.model.messages import Message, Notice, Prompt, SessionStarted, TurnEnded, TurnStarted
from dragoman.model.usage import Usage

_AT = datetime(2026, 11, 15, tzinfo=UTC)
_MESSAGES: list[Message] = [
    SessionStarted(session_id="s", harness="x", model="m1", cwd="/w", at=_AT),
    TurnStarted(session_id="s"),
    Prompt(session_id="s", text="\n\n  fix   the test\nplease"),
    TurnEnded(session_id="s", outcome="completed", usage=Usage(10, 0, 0, 1, 0)),
    SessionStarted(session_id="s", harness="x", model="m2"),
    TurnStarted(session_id="s"),
    Prompt(session_id="s", text="more"),
    Notice(session_id="s", level="info", text="undo"),
    TurnEnded(session_id="s", outcome="failed", usage=Usage(20, 0, 0, 2, 0)),
    TurnStarted(session_id="other"),
]


def _undone(notice: Notice) -> int:
    return 9 if notice.text == "undo" else 0


def test_the_facts_of_a_session() -> None:
    digest = Digest(_undone)
    for message in _MESSAGES:
        digest.take(message)

    [row] = digest.rows(5, own="s", origin="fork", otherwise=7.0)

    assert (row.file_id, row.session_id, row.origin) == (5, "s", "fork")
    assert (row.model, row.cwd, row.title) == ("m2", "/w", "fix the test")
    assert (row.turns, row.undone, row.outcome, row.is_open) == (2, 2, "failed", False)
    assert (row.input_tokens, row.output_tokens) == (30, 3)
    assert row.started_at == row.last_at == _AT.timestamp()


def test_it_can_be_written_down_and_taken_up_at_any_place() -> None:
    whole = Digest(_undone)
    for message in _MESSAGES:
        whole.take(message)

    for cut in range(len(_MESSAGES)):
        first = Digest(_undone)
        for message in _MESSAGES[:cut]:
            first.take(message)
        second = Digest(_undone, first.encode())
        for message in _MESSAGES[cut:]:
            second.take(message)
        assert second.sessions == whole.sessions


def test_what_names_no_session_is_the_files_own() -> None:
    digest = Digest()
    digest.take(TurnStarted())

    [row] = digest.rows(1, own="file", origin=None, otherwise=7.0)

    assert (row.session_id, row.last_at, row.started_at) == ("file", 7.0, None)


def test_a_sub_agent_in_the_file_of_its_parent_is_one() -> None:
    digest = Digest()
    started = [
        SessionStarted(session_id="s", harness="x"),
        SessionStarted(session_id="a", harness="x", parent_session_id="s", parent_call_id="call-1"),
        SessionStarted(session_id="b", harness="x", parent_session_id="s"),
    ]
    for message in started:
        digest.take(message)

    origins = {
        row.session_id: row.origin for row in digest.rows(1, own="s", origin=None, otherwise=7.0)
    }
    assert origins == {"s": None, "a": "sub-agent", "b": None}
