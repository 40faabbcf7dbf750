from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.harnesses.codex.home.history import (
    CODEX_HISTORY,
    identify,
    name_in,
    origin_in,
    row_ordinal,
    session_id_in,
    turns_undone,
)
from dragoman.harnesses.contract.history import Base
from dragoman.model.messages import Notice

_ID = "01a1e219-ed0b-7780-a04e-e844c9d473bc"
_OTHER = "01a1e219-eeed-77b2-b5e2-5c5b76613d37"


@pytest.mark.parametrize(
    ("name", "found"),
    [
        (f"rollout-2026-11-16T02-05-12-{_ID}.jsonl", _ID),
        (f"rollout-2026-11-16T02-05-12-{_ID}.jsonl.zst", _ID),
        (f"rollout-2026-11-16T02-05-12-{_ID}_{_OTHER}.jsonl", _ID),
        ("notes.jsonl", None),
        (f"rollout-2026-11-16T02-05-12-{_ID}.txt", None),
        (f"copy of rollout-2026-11-16T02-05-12-{_ID}.jsonl", None),
    ],
)
def test_the_name_of_a_file_tells_its_session(name: str, found: str | None) -> None:
    assert session_id_in(name) == found


@pytest.mark.parametrize("folder", ["/a/b/", "C:\\b\\", ""])
def test_the_header_identifies_a_session_and_without_one_the_name(folder: str) -> None:
    path = f"{folder}rollout-2026-11-16T02-05-12-{_ID}.jsonl"

    for lines in ((), (b"torn",), (b'{"type":"message"}',)):
        found = identify(path, lines)
        assert found is not None
        assert (found.session_id, found.kind) == (_ID, None)
    other = identify(path, (header(id=_OTHER, forked_from_id=_ID),))
    assert other is not None
    assert (other.session_id, other.kind, other.parent_session_id) == (_OTHER, "fork", _ID)
    assert identify(f"{folder}notes.jsonl", (b"torn",)) is None


def header(**meta: Any) -> bytes:
    return json.dumps({"type": "session_meta", "payload": {"id": _ID} | meta}).encode()


def test_a_session_of_the_users_own_comes_from_nowhere() -> None:
    origin = origin_in(header(source="cli"))

    assert origin is not None
    assert (origin.session_id, origin.kind, origin.parent_session_id) == (_ID, None, None)


@pytest.mark.parametrize(
    ("meta", "kind"),
    [
        ({"source": {"subagent": "review"}, "parent_thread_id": _OTHER}, "review"),
        ({"source": {"subagent": {"thread_spawn": {"parent_thread_id": _OTHER}}}}, "sub-agent"),
        ({"source": {"subagent": {"other": "guardian"}}, "parent_thread_id": _OTHER}, "sub-agent"),
        ({"forked_from_id": _OTHER}, "fork"),
    ],
)
def test_who_made_a_session(meta: dict[str, Any], kind: str) -> None:
    origin = origin_in(header(**meta))

    assert origin is not None
    assert (origin.kind, origin.parent_session_id) == (kind, _OTHER)


def test_a_fork_and_a_revert_name_what_they_go_on_from() -> None:
    base = {"thread_id": _OTHER, "end_ordinal_exclusive": 19, "end_byte_offset": 43228}
    fork = origin_in(header(forked_from_id=_OTHER, history_base=base))
    revert = origin_in(header(history_base={**base, "thread_id": _ID}))

    assert fork is not None
    assert fork.base == Base(session_id=_OTHER, end_offset=43228, end_ordinal=19)
    assert revert is not None
    assert revert.kind == "revert"


def test_old_headers_are_flat_and_other_lines_are_none() -> None:
    flat = origin_in(b'{"id":"%s","timestamp":"2025-08-01","instructions":null}' % _ID.encode())

    assert flat is not None
    assert flat.session_id == _ID
    assert origin_in(b'{"type":"message"}') is None
    assert origin_in(b"not JSON") is None


def test_rows_may_be_numbered() -> None:
    assert row_ordinal(b'{"ordinal":7,"type":"x"}') == 7
    assert row_ordinal(b'{"type":"x"}') is None
    assert row_ordinal(b"torn {") is None


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("the last turn was rolled back", 1),
        ("the last 3 turns were rolled back", 3),
        ("3 files were changed", 0),
        ("", 0),
    ],
)
def test_a_notice_may_take_turns_back(text: str, count: int) -> None:
    assert turns_undone(Notice(level="info", text=text)) == count


def test_where_the_files_lie() -> None:
    assert CODEX_HISTORY.home({"CODEX_HOME": "/alt", "HOME": "/me"}) == "/alt"
    assert CODEX_HISTORY.home({"CODEX_HOME": "~/alt", "HOME": "/me"}) == "/me/alt"
    assert CODEX_HISTORY.home({"HOME": "/me"}) == "/me/.codex"
    assert [place.folder for place in CODEX_HISTORY.places] == ["sessions", "archived_sessions"]


@pytest.mark.parametrize(
    ("line", "named"),
    [
        (b'{"id":"a","thread_name":"Shed","updated_at":"2026-11-18T06:24:06Z"}\n', ("a", "Shed")),
        (b'{"id":"a","thread_name":null}', None),
        (b'{"id":"a"}', None),
        (b"\xff\n", None),
    ],
)
def test_the_name_of_a_thread_is_in_a_list(line: bytes, named: tuple[str, str] | None) -> None:
    assert name_in(line) == named
