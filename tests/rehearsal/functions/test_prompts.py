from __future__ import annotations

import pytest

from dragoman.rehearsal.functions.prompts import (
    asks_to_go_on,
    is_helper,
    says_aborted,
    user_words,
)
from dragoman.rehearsal.reading import parse_script


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hello there", "hello there"),
        ("<current_datetime>2026-11-19T01:49:13</current_datetime>\n\nhello there", "hello there"),
        ("<session_context>\nThis is the CLI.\n</session_context>", ""),
        (
            "<system-reminder>\nskills\n</system-reminder>hi<system-reminder>x</system-reminder>",
            "hi",
        ),
        ("make it <b>bold</b>", "make it <b>bold</b>"),
    ],
)
def test_only_the_words_of_the_user_are_a_prompt(text: str, words: str) -> None:
    assert user_words(text) == words


def test_a_sub_agent_is_known_by_the_prompt_that_the_script_gave_it() -> None:
    script = parse_script("- together: [agent: 'HELPER: compute', run: ls]\n- say: done")
    assert is_helper(script, ["HELPER: compute", "more"])
    assert not is_helper(script, ["do it", "HELPER: compute"])
    assert not is_helper(script, [])


def test_the_rest_of_an_answer_and_an_interruption_are_recognized() -> None:
    assert asks_to_go_on("System: Please continue.")
    assert not asks_to_go_on("Please continue with the parser.")
    assert says_aborted("[Operation Cancelled] Reason: User cancelled")
    assert not says_aborted("one\n" * 200 + "cancelled")
