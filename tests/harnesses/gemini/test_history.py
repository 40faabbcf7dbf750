from __future__ import annotations

from dragoman.harnesses.contract.history import Origin
from dragoman.harnesses.gemini.history import GEMINI_HISTORY, identify, name_in

_HEADER = b'{"sessionId":"0f0dc369-aaf0","projectHash":"p","startTime":"t","kind":"main"}\n'
_AGENT = b'{"sessionId":"93240175-6306","projectHash":"p","startTime":"t","kind":"subagent"}\n'


def test_a_session_is_named_by_its_header_or_else_by_its_file() -> None:
    path = "/home/dev/.gemini/tmp/ws/chats/session-2026-11-19T02-10-0f0dc369.jsonl"

    assert identify(path, [_HEADER]) == Origin(session_id="0f0dc369-aaf0")
    assert identify(path, []) == Origin(session_id="0f0dc369")
    assert identify("C:\\u\\.gemini\\tmp\\ws\\chats\\logs.jsonl", []) is None


def test_a_sub_agent_is_below_the_session_that_started_it() -> None:
    path = "/home/dev/.gemini/tmp/ws/chats/0f0dc369-aaf0/93240175-6306.jsonl"
    agent = Origin(session_id="93240175-6306", kind="sub-agent", parent_session_id="0f0dc369-aaf0")

    assert identify(path, [_AGENT]) == identify(path, []) == agent
    assert identify("copy.jsonl", [b"odd", _AGENT]) == Origin(
        session_id="93240175-6306", kind="sub-agent"
    )


def test_the_title_is_the_programs_summary() -> None:
    assert name_in(b'{"$set":{"summary":"Fix it"}}') == (1, "Fix it")
    assert name_in(b'{"$set":{"lastUpdated":"t"}}') is None
    assert name_in(b'{"$set":{"summary":"{\\n  \\"response\\": 1}"}}') is None
    assert name_in(b"odd") is None


def test_the_home_can_be_moved() -> None:
    assert GEMINI_HISTORY.home({"HOME": "/home/dev"}) == "/home/dev/.gemini"
    assert GEMINI_HISTORY.home({"GEMINI_CLI_HOME": "/g"}) == "/g/.gemini"
