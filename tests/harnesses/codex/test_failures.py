from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.harnesses.codex.failures import RESPONSE_ERROR, TURN_FAILED, turn_error
from dragoman.model.messages import TurnError

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("word", "kind", "retryable"),
    [
        ("Unauthorized", RESPONSE_ERROR, False),
        ("BadRequest", RESPONSE_ERROR, False),
        ("ContextWindowExceeded", TURN_FAILED, False),
        ("UsageLimitExceeded", TURN_FAILED, False),
        ("SandboxError", TURN_FAILED, False),
        ("HttpConnectionFailed", TURN_FAILED, True),
        ("ResponseStreamConnectionFailed", TURN_FAILED, True),
        ("ResponseStreamDisconnected", TURN_FAILED, True),
        ("ResponseTooManyFailedAttempts", TURN_FAILED, True),
        ("InternalServerError", TURN_FAILED, True),
        ("Other", TURN_FAILED, True),
        ("SomethingBrandNew", TURN_FAILED, True),
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
        ("usageLimitExceeded", TURN_FAILED, False),
        ("contextWindowExceeded", TURN_FAILED, False),
        ("modelNotFound", TURN_FAILED, False),
        ("cyberPolicy", TURN_FAILED, False),
        ("cyber_policy", TURN_FAILED, False),
        ("invalid_prompt", TURN_FAILED, False),
        ("rateLimitExceeded", TURN_FAILED, True),
        ("serverOverloaded", TURN_FAILED, True),
        ("internalServerError", TURN_FAILED, True),
        ("other", TURN_FAILED, True),
        ({"httpConnectionFailed": {"httpStatusCode": 401}}, RESPONSE_ERROR, False),
        ({"httpConnectionFailed": {"httpStatusCode": 403}}, RESPONSE_ERROR, False),
        ({"http_connection_failed": {"http_status_code": 401}}, RESPONSE_ERROR, False),
        ({"httpConnectionFailed": {"httpStatusCode": 502}}, TURN_FAILED, True),
        ({"responseTooManyFailedAttempts": {"httpStatusCode": 429}}, TURN_FAILED, True),
        ({"responseStreamDisconnected": {"httpStatusCode": None}}, TURN_FAILED, True),
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
        ("exceeded retry limit, last status: 401 Unauthorized", RESPONSE_ERROR, False),
        ("unexpected status 401 Unauthorized: Incorrect API key", RESPONSE_ERROR, False),
        ("unexpected status 403 Forbidden: Country not supported", RESPONSE_ERROR, False),
        ("unexpected status 400 Bad Request: {}", RESPONSE_ERROR, False),
        ("exceeded retry limit, last status: 429 Too Many Requests", TURN_FAILED, True),
        ("exceeded retry limit, last status: 500 Internal Server Error", TURN_FAILED, True),
        (
            "Codex ran out of room in the model's context window. Start a new thread or clear "
            "earlier history before retrying.",
            TURN_FAILED,
            False,
        ),
        (
            "stream disconnected before completion: Your input exceeds the context window",
            TURN_FAILED,
            False,
        ),
        ("Quota exceeded. Check your plan and billing details.", TURN_FAILED, False),
        ("You\u2019ve hit your usage limit. Upgrade to Pro", TURN_FAILED, False),
        ("The model `x` does not exist", TURN_FAILED, False),
        ("Invalid prompt: flagged", TURN_FAILED, False),
        ("This content was flagged for possible cybersecurity risk", TURN_FAILED, False),
        ("We're currently experiencing high demand, which may cause", TURN_FAILED, True),
        ("Selected model is at capacity. Please try a different model.", TURN_FAILED, True),
        ("rate limit exceeded: Rate limit reached for x.", TURN_FAILED, True),
        (
            "stream disconnected before completion: Transport error: network error: "
            "error decoding response body",
            TURN_FAILED,
            True,
        ),
        ("", TURN_FAILED, True),
    ],
)
def test_a_sentence_alone_gives_the_kind_that_its_word_would(
    sentence: str, kind: str, retryable: bool, info: str | None
) -> None:
    assert turn_error(sentence, info) == TurnError(kind, sentence, retryable, info)


def test_a_word_outweighs_what_the_sentence_sounds_like() -> None:
    error = turn_error("unexpected status 401 in the context window", "serverOverloaded")

    assert (error.kind, error.retryable) == (TURN_FAILED, True)


@given(st.text(), json_values)
def test_no_reason_raises_and_the_sentence_is_kept(message: str, info: Any) -> None:
    error = turn_error(message, info)

    assert error.message == message
    assert error.kind in (RESPONSE_ERROR, TURN_FAILED)
    assert error.kind == TURN_FAILED or not error.retryable
