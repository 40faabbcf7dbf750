from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.harnesses.codex.failures import turn_error
from dragoman.model.messages import TurnError

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("word", "kind", "retryable"),
    [
        ("Unauthorized", "response_error", False),
        ("BadRequest", "response_error", False),
        ("ContextWindowExceeded", "turn_failed", False),
        ("UsageLimitExceeded", "turn_failed", False),
        ("SandboxError", "turn_failed", False),
        ("HttpConnectionFailed", "turn_failed", True),
        ("ResponseStreamConnectionFailed", "turn_failed", True),
        ("ResponseStreamDisconnected", "turn_failed", True),
        ("ResponseTooManyFailedAttempts", "turn_failed", True),
        ("InternalServerError", "turn_failed", True),
        ("Other", "turn_failed", True),
        ("SomethingBrandNew", "turn_failed", True),
    ],
)
@pytest.mark.parametrize("spelling", ["Pascal", "camel", "snake", "one key"])
def test_orchestrators_get_the_kind_they_act_on(
    word: str, kind: str, retryable: bool, spelling: str
) -> None:
    """However a release spells the word, with or without details."""
    info: Any = word
    if spelling == "camel":
        info = word[0].lower() + word[1:]
    elif spelling == "snake":
        info = "".join(f"_{c.lower()}" if c.isupper() else c for c in word).lstrip("_")
    elif spelling == "one key":
        info = {word: {"httpStatusCode": None}}

    error = turn_error("it went wrong", info)

    assert (error.kind, error.retryable, error.message) == (kind, retryable, "it went wrong")
    assert error.native == (info if isinstance(info, str) else word)


@pytest.mark.parametrize(
    ("info", "kind", "retryable"),
    [
        ("usageLimitExceeded", "turn_failed", False),
        ("contextWindowExceeded", "turn_failed", False),
        ("modelNotFound", "turn_failed", False),
        ("cyberPolicy", "turn_failed", False),
        ("cyber_policy", "turn_failed", False),
        ("invalid_prompt", "turn_failed", False),
        ("rateLimitExceeded", "turn_failed", True),
        ("serverOverloaded", "turn_failed", True),
        ("internalServerError", "turn_failed", True),
        ("other", "turn_failed", True),
        ({"httpConnectionFailed": {"httpStatusCode": 401}}, "response_error", False),
        ({"httpConnectionFailed": {"httpStatusCode": 403}}, "response_error", False),
        ({"http_connection_failed": {"http_status_code": 401}}, "response_error", False),
        ({"httpConnectionFailed": {"httpStatusCode": 502}}, "turn_failed", True),
        ({"responseTooManyFailedAttempts": {"httpStatusCode": 429}}, "turn_failed", True),
        ({"responseStreamDisconnected": {"httpStatusCode": None}}, "turn_failed", True),
    ],
    ids=str,
)
def test_what_the_releases_were_seen_to_say(info: Any, kind: str, retryable: bool) -> None:
    error = turn_error("a sentence", info)

    assert (error.kind, error.retryable) == (kind, retryable)


@pytest.mark.parametrize("info", [None, "other"], ids=["exec", "app-server"])
@pytest.mark.parametrize(
    ("sentence", "kind", "retryable"),
    [
        ("exceeded retry limit, last status: 401 Unauthorized", "response_error", False),
        ("unexpected status 401 Unauthorized: Incorrect API key", "response_error", False),
        ("unexpected status 403 Forbidden: Country not supported", "response_error", False),
        ("unexpected status 400 Bad Request: {}", "response_error", False),
        ("exceeded retry limit, last status: 429 Too Many Requests", "turn_failed", True),
        ("exceeded retry limit, last status: 500 Internal Server Error", "turn_failed", True),
        (
            "Codex ran out of room in the model's context window. Start a new thread or clear "
            "earlier history before retrying.",
            "turn_failed",
            False,
        ),
        (
            "stream disconnected before completion: Your input exceeds the context window",
            "turn_failed",
            False,
        ),
        ("Quota exceeded. Check your plan and billing details.", "turn_failed", False),
        ("You\u2019ve hit your usage limit. Upgrade to Pro", "turn_failed", False),
        ("The model `x` does not exist", "turn_failed", False),
        ("Invalid prompt: flagged", "turn_failed", False),
        ("This content was flagged for possible cybersecurity risk", "turn_failed", False),
        ("We're currently experiencing high demand, which may cause", "turn_failed", True),
        ("Selected model is at capacity. Please try a different model.", "turn_failed", True),
        ("rate limit exceeded: Rate limit reached for x.", "turn_failed", True),
        (
            "stream disconnected before completion: Transport error: network error: "
            "error decoding response body",
            "turn_failed",
            True,
        ),
        ("", "turn_failed", True),
    ],
)
def test_a_sentence_alone_gives_the_kind_that_its_word_would(
    sentence: str, kind: str, retryable: bool, info: str | None
) -> None:
    assert turn_error(sentence, info) == TurnError(kind, sentence, retryable, info)


def test_a_word_outweighs_what_the_sentence_sounds_like() -> None:
    error = turn_error("unexpected status 401 in the context window", "serverOverloaded")

    assert (error.kind, error.retryable) == ("turn_failed", True)


@given(st.text(), json_values)
def test_no_reason_raises_and_the_sentence_is_kept(message: str, info: Any) -> None:
    error = turn_error(message, info)

    assert error.message == message
    assert error.kind in ("response_error", "turn_failed")
    assert error.kind == "turn_failed" or not error.retryable
