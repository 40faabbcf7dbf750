from __future__ import annotations

from dragoman.web.page.rows import Choices, SessionRow, SessionView
from dragoman.web.page.session_view import session
from page_checks import check


def test_what_an_agent_cannot_do_is_not_offered() -> None:
    row = SessionRow(session_id="s", state="working", is_live=True)

    page = session(SessionView(row=row), choices=Choices(can_steer=False, can_interrupt=False))

    assert 'data-steer="false"' in page
    interrupt = page[page.index('id="interrupt"') :]
    assert "hidden" in interrupt[: interrupt.index(">")]
    check(page)
