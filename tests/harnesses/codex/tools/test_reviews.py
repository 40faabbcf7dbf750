from __future__ import annotations

from typing import Any

import pytest

from dragoman.harnesses.codex.tools.reviews import review_text

GREETING: dict[str, Any] = {
    "title": "[P1] Wrong greeting",
    "body": "The greeting is **wrong** here.\nSecond line.",
    "confidence_score": 0.9,
    "priority": 1,
    "code_location": {
        "absolute_file_path": "/workspace/README.md",
        "line_range": {"start": 2, "end": 3},
    },
}
NIT: dict[str, Any] = {
    "title": "[P3] Nit",
    "body": "Trailing space.",
    "code_location": {
        "absolute_file_path": "/workspace/added.txt",
        "line_range": {"start": 1, "end": 1},
    },
}


def test_a_review_reads_as_the_app_server_writes_it() -> None:
    """The same review came as this text over the app-server, and as findings in the rollout."""
    output = {
        "findings": [GREETING, NIT],
        "overall_correctness": "patch is incorrect",
        "overall_explanation": "Two problems were found.",
    }

    assert review_text(output) == (
        "Two problems were found.\n\n"
        "Full review comments:\n\n"
        "- [P1] Wrong greeting — /workspace/README.md:2-3\n"
        "  The greeting is **wrong** here.\n"
        "  Second line.\n\n"
        "- [P3] Nit — /workspace/added.txt:1-1\n"
        "  Trailing space."
    )


def test_one_finding_is_one_comment() -> None:
    assert review_text({"findings": [NIT]}) == (
        "Review comment:\n\n- [P3] Nit — /workspace/added.txt:1-1\n  Trailing space."
    )


def test_a_review_in_plain_words_is_those_words() -> None:
    output: dict[str, Any] = {
        "findings": [],
        "overall_explanation": "Looks fine to me, no JSON here.",
    }

    assert review_text(output) == "Looks fine to me, no JSON here."


def test_a_finding_without_a_place_has_none() -> None:
    assert review_text({"findings": [{"title": "Slow", "body": "Very."}]}) == (
        "Review comment:\n\n- Slow\n  Very."
    )


@pytest.mark.parametrize("output", [None, {}, [], "x", {"findings": None}], ids=str)
def test_no_review_is_no_text(output: Any) -> None:
    assert review_text(output) == ""
