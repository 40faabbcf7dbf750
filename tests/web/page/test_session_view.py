from __future__ import annotations

from dragoman.web.page.rows import Option, SessionRow, SessionView
from dragoman.web.page.session_view import session
from support.page.checks import check
from support.page.offered import offered


def test_what_an_agent_cannot_do_is_not_offered() -> None:
    row = SessionRow(session_id="s", state="working", is_live=True)

    page = session(SessionView(row=row), choices=offered(can_steer=False, can_interrupt=False))

    assert 'data-steer="false"' in page
    interrupt = page[page.index('id="interrupt"') :]
    assert "hidden" in interrupt[: interrupt.index(">")]
    check(page)


def test_what_can_be_done_with_a_session_is_in_its_menu_and_nothing_else() -> None:
    row = SessionRow(session_id="s")

    page = session(SessionView(row=row, acts=["archive", "rename"]))

    named = ["rename", "fork", "archive", "unarchive", "stop"]
    assert [each for each in named if f'data-act="{each}"' in page] == ["rename", "archive"]
    assert page.index("Rename") < page.index("Archive") < page.index("Show context")
    check(page)


def test_a_session_can_be_handed_off_to_the_agents_that_are_there() -> None:
    to = [Option(value="claude", label="Claude <Code>")]

    page = session(SessionView(row=SessionRow(session_id="s"), receivers=to))

    assert "Hand off to Claude &lt;Code&gt;" in page
    assert 'data-act="handoff" data-to="claude"' in page
    assert "handoff" not in session(SessionView(row=SessionRow(session_id="s")))
    check(page)


def test_where_nobody_can_go_on_the_reason_stands_in_place_of_the_composer() -> None:
    page = session(SessionView(row=SessionRow(session_id="s"), closed="Not in /tmp/<b>."))

    assert '<p id="closed" class="sub">Not in /tmp/&lt;b&gt;.</p>' in page
    composer = page[page.index('id="composer"') :]
    assert " hidden" in composer[: composer.index(">")]
    check(page)
    assert 'id="closed"' not in session(SessionView(row=SessionRow(session_id="s")))
