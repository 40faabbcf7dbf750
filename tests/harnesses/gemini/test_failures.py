from __future__ import annotations

import pytest

from dragoman.harnesses.gemini.failures import exit_error, result_error
from dragoman.model.messages import TurnError


def test_an_error_of_the_service_is_taken_out_of_its_text() -> None:
    text = '[API Error: {"error":{"code":429,"message":"slow down","status":"BUSY"}}]\nTry later.'

    assert result_error({"type": "unknown", "message": text}) == TurnError(
        "turn_failed", "slow down", retryable=True, details="HTTP 429, BUSY, Try later."
    )


def test_brackets_in_the_answer_do_not_end_it() -> None:
    text = '[API Error: {"error":{"code":400,"message":"bad [x]","status":"INVALID","details":[]}}]'

    assert result_error({"message": text}) == TurnError(
        "response_error", "bad [x]", retryable=False, details="HTTP 400, INVALID"
    )
    assert result_error({"message": "[API Error: bad [x] here]\nWait."}).message == "bad [x] here"


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        (
            {"message": '[API Error: {"error":{"code":403,"message":"no"}}]'},
            "response_error",
            False,
        ),
        ({"message": "[API Error: fetch failed sending request]"}, "turn_failed", True),
        ({"message": "[API Error: odd]\nPlease wait and try again later."}, "turn_failed", True),
        ({"type": "FatalTurnLimitedError", "message": "too many"}, "turn_failed", False),
        ({}, "turn_failed", False),
    ],
)
def test_what_may_work_later(error: dict[str, str], kind: str, retryable: bool) -> None:
    made = result_error(error)

    assert (made.kind, made.retryable) == (kind, retryable)


def test_a_result_without_a_reason_has_the_newest_complaint() -> None:
    assert result_error(None, "the answer was empty").message == "the answer was empty"


@pytest.mark.parametrize(
    ("code", "status"),
    [(145, 401), (147, 403), (144, 400), (173, 429), (244, 500), (247, 503)],
)
def test_an_exit_code_is_an_http_status_modulo_256(code: int, status: int) -> None:
    made = exit_error(code)

    assert made is not None
    assert f"HTTP {status}" in made.message
    assert made.retryable == (status in (429, 500, 503))


def test_exit_codes_of_the_programs_own() -> None:
    made = exit_error(55)

    assert made is not None
    assert made.native == "FatalUntrustedWorkspaceError"
    assert exit_error(0) is exit_error(None) is exit_error(143) is None
    assert exit_error(9) == TurnError("turn_failed", "gemini ended with exit code 9", False)
