from __future__ import annotations

from dragoman.web.page.rows import Choices, Fragment, SessionRow


def test_a_row_needs_no_more_than_a_name() -> None:
    row = SessionRow(session_id="s")

    assert (row.state, row.is_live) == ("done", False)


def test_the_first_choice_is_the_careful_one() -> None:
    choices = Choices()

    assert choices.sandboxes[0] == "workspace-write"
    assert choices.approvals[0] == "on-request"
    assert Fragment(1, "") == Fragment(1, "")
