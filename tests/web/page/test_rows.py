from __future__ import annotations

from dragoman.web.page.rows import Choices, Fragment, HarnessChoices, SessionRow


def test_a_row_needs_no_more_than_a_name() -> None:
    row = SessionRow(session_id="s")

    assert (row.state, row.is_live) == ("done", False)


def test_an_unknown_agent_has_the_choices_of_the_default_one() -> None:
    first, second = HarnessChoices(name="a"), HarnessChoices(name="b")
    choices = Choices(harnesses=[first, second])

    assert choices.of("b") == second
    assert choices.of("c") == choices.of(None) == first
    assert Choices().of("a") == HarnessChoices()
    assert Fragment(1, "") == Fragment(1, "")
