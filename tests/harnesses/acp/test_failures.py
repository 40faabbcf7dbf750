"""Why a prompt failed, as five agents say it."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.harnesses.acp.failures import prompt_error, stop_error, text_error
from dragoman.harnesses.acp.quirks import CLAUDE, CODEX, COPILOT, PLAIN, AcpQuirks

_GEMINI = '{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED"}}'


@pytest.mark.parametrize(
    ("error", "kind", "message", "retryable"),
    [
        ({"code": -32603, "message": "Internal error: slow down"}, "turn_failed", "slow down", True),
        ({"code": -32603, "message": "Internal error: bad 400"}, "response_error", "bad 400", False),
        ({"code": -32603, "message": "Internal error", "data": {"details": "400 bad"}}, "response_error", "400 bad", False),
        ({"code": 429, "message": _GEMINI}, "turn_failed", "slow", True),
        ({"code": 401, "message": "no key"}, "response_error", "no key", False),
        ({"code": -32603, "message": "x", "data": {"errorKind": "server_error"}}, "turn_failed", "x", True),
        ({"code": -32000, "message": "Authentication required"}, "response_error", "Authentication required", False),
        ({}, "turn_failed", "an error without a message", True),
        ("odd", "turn_failed", "an error without a message", True),
    ],
)  # fmt: skip
def test_an_error_has_a_kind_that_every_harness_uses(
    error: Any, kind: str, message: str, retryable: bool
) -> None:
    made = prompt_error(error)

    assert (made.kind, made.message, made.retryable) == (kind, message, retryable)


@pytest.mark.parametrize(
    ("text", "quirks", "kind"),
    [
        ("Error: 400 fake 400", COPILOT, "response_error"),
        ("Error: 429 slow down", COPILOT, "turn_failed"),
        ("Error: the file is missing", COPILOT, None),
        ("Error: 400 fake 400", PLAIN, None),
        ("unexpected status 401 Unauthorized: no", CODEX, "response_error"),
        ("API Error: 500 boom", CLAUDE, "turn_failed"),
        ("All is well.", CLAUDE, None),
    ],
)
def test_an_error_that_is_a_text_is_an_error_for_the_agents_that_do_so(
    text: str, quirks: AcpQuirks, kind: str | None
) -> None:
    made = text_error(text, quirks)

    assert (made.kind if made else None) == kind


def test_a_turn_that_was_stopped_by_a_limit_has_failed() -> None:
    error = stop_error("max_tokens")

    assert error is not None
    assert error.native == "max_tokens"
    assert stop_error("end_turn") is None
