from __future__ import annotations

import pytest

from dragoman.crew.hub import Forbidden, KeyUsedDifferently, UnknownSession
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
from dragoman.store.database import IndexUnusable
from dragoman.web import refusing


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
    made = refusing.refuse(problem)

    assert made.status_code == status
    assert made.content.error.code == code
    assert made.content.error.message == str(problem)


def test_the_line_of_a_text_that_is_wrong_is_told() -> None:
    problem = UsageError("no")
    problem.line = 7  # pyright: ignore[reportAttributeAccessIssue] # as a policy's has

    assert refusing.refuse(problem).content.error.line == 7
