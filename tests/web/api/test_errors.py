from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.errors import (
    AgentError,
    AgentNotFound,
    DragomanError,
    InvalidWorkspace,
    ProcessExited,
    ProtocolError,
    ResponseTimeout,
    UnknownFormat,
    UnreadableSource,
    UsageError,
)
from dragoman.hub.hub import Forbidden, KeyUsedDifferently, UnknownSession
from dragoman.store.database import IndexUnusable
from dragoman.web.api import errors
from support.page.web_stage import play, web_stage


@pytest.mark.parametrize(
    ("problem", "status", "code"),
    [
        (UnknownSession("x"), 404, "no_session"),
        (Forbidden("/etc"), 403, "outside_roots"),
        (KeyUsedDifferently("k"), 409, "key_used_differently"),
        (UnknownFormat("pdf"), 400, "no_format"),
        (UnreadableSource("x", "gone"), 404, "unreadable"),
        (UsageError("no"), 400, "bad_request"),
        (ProtocolError("no turn"), 409, "conflict"),
        (InvalidWorkspace("no"), 400, "bad_workspace"),
        (AgentNotFound("no"), 503, "no_agent"),
        (ProcessExited("gone"), 503, "agent_exited"),
        (ResponseTimeout("late"), 504, "agent_silent"),
        (AgentError("no"), 409, "agent_refused"),
        (IndexUnusable("no"), 503, "no_index"),
        (DragomanError("no"), 503, "unavailable"),
    ],
)
def test_every_problem_has_a_status_and_a_code(
    problem: DragomanError, status: int, code: str
) -> None:
    made = errors.refuse(problem)

    assert made.status_code == status
    assert made.content.error.code == code
    assert made.content.error.message == str(problem)


def test_the_line_of_a_text_that_is_wrong_is_told() -> None:
    problem = UsageError("no")
    problem.line = 7  # pyright: ignore[reportAttributeAccessIssue] # as a policy's has

    assert errors.refuse(problem).content.error.line == 7


DEEP = b'{"token":' + b"[" * 100_000 + b"]" * 100_000 + b"}"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/v1/login"),
        ("POST", "/api/v1/sessions"),
        ("POST", "/api/v1/sessions/s1/turns"),
        ("POST", "/api/v1/sessions/s1/steer"),
        ("POST", "/api/v1/sessions/s1/chat"),
        ("POST", "/api/v1/approvals/a1"),
        ("PATCH", "/api/v1/sessions/s1"),
        ("PUT", "/api/v1/policy"),
        ("POST", "/api/v1/policy/try"),
    ],
)
def test_json_that_is_nested_too_deeply_is_the_clients_mistake(
    tmp_path: Path, method: str, path: str
) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            web.hub.add("s1")
            for name in (b"token", b"cwd", b"text", b"messages", b"content", b"title"):
                body = DEEP.replace(b"token", name)
                headers = {"Content-Type": "application/json"}
                response = await web.client.request(method, path, content=body, headers=headers)
                assert response.status_code == 400, (name, response.text)
                assert response.json()["error"]["code"] == "bad_request"

    play(story())
