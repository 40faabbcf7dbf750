from __future__ import annotations

from datetime import UTC, date, datetime

from dragoman.model.messages import ApprovalRequested
from dragoman.web.page import views
from dragoman.web.page.assets import asset, names
from dragoman.web.page.fragments import fragments
from dragoman.web.page.rows import (
    OpenRequest,
    PolicyView,
    SessionRow,
    SessionView,
    TurnMark,
    UsageRow,
    UsageView,
)
from support.hostile import WORDS
from support.page.checks import check
from support.page.offered import offered, other_choices
from support.page.scenes import asking, shop
from support.page.stage import Said

AT = datetime(2026, 11, 3, 12, 0, tzinfo=UTC)
ROW = SessionRow(
    session_id="s1",
    title="Fix it",
    state="waiting",
    cwd="/home/ada/shop",
    model="m",
    at=AT,
    is_live=True,
)
NAMES = ("name", "title", "icon", "status", "problem")
SCRIPTS = ["/static/theme.js", "/static/app.js"]


def test_a_session_stands_on_the_page_with_its_words_and_its_question() -> None:
    said = [Said(seq, AT, each) for seq, each in enumerate([*shop(), *asking()], 1)]
    asked = said[-1].message
    assert isinstance(asked, ApprovalRequested)
    view = SessionView(
        row=ROW,
        fragments=fragments(said, "shop"),
        has_earlier=True,
        last_seq=len(said),
        turns=[TurnMark(seq=2, title="Fix it", outcome="completed")],
        pending=[OpenRequest(asked=asked, deadline_at=AT)],
        sandbox="read-only",
    )

    page = views.session(view, sessions=[ROW], choices=offered(["m", "n"]))

    found = check(page)
    assert found.scripts == SCRIPTS
    assert '<a href="/s/s1" aria-current="page">' in page
    assert f'data-last="{len(said)}" data-earlier="true"' in page
    assert "waiting for you" in page
    assert 'data-deadline="2026-11-03T12:00:00+00:00"' in page
    assert '<option value="read-only" selected data-summary="' in page
    assert 'href="/api/v1/sessions/s1/export?format=html"' in page
    assert "<title>Fix it · Dragoman</title>" in page


def test_a_session_without_a_title_or_a_live_agent_is_shown_all_the_same() -> None:
    page = views.session(SessionView(row=SessionRow(session_id="0123456789")))

    assert "Session 01234567" in page
    assert "Resume this session" in page
    assert "End the session" not in page
    check(page)


def test_the_start_offers_folders_models_and_who_waits() -> None:
    page = views.index([ROW], offered(["n"], ["/home/ada/shop"], other_choices()))

    assert "Waiting for you" in page
    assert '<option value="/home/ada/shop">' in page
    assert '<option value="default">Default</option><option value="n">n</option>' in page
    assert '<input type="radio" name="harness" value="codex" checked>' in page
    assert '<input type="radio" name="harness" value="other">' in page
    assert '<fieldset class="choices" data-harness="other"' in page
    assert check(page).scripts == SCRIPTS


def test_the_history_marks_what_was_found_and_leads_on() -> None:
    found = SessionRow(session_id="s2", snippet="a \x02<b>word\x03 here", turn=7)

    page = views.history([found], query='"word"', following="/history?cursor=x", sessions=[ROW])
    empty = views.history([], query="nothing")
    by_day = views.history([ROW], days=[(date(2026, 11, 1), 3), (date(2026, 11, 2), 0)])

    assert "<mark>&lt;b&gt;word</mark> here" in page
    assert 'href="/s/s2#t7"' in page
    assert 'value="&quot;word&quot;"' in page
    assert 'href="/history?cursor=x"' in page
    assert "Nothing found." in empty
    assert "2026-11-01: 3 sessions" in by_day
    for each in (page, empty, by_day):
        check(each)


def test_the_login_asks_for_the_token() -> None:
    page = views.login()

    assert check(page).scripts == SCRIPTS
    assert 'type="password"' in page


def test_hostile_names_are_text() -> None:
    for words in (each[:300] for each in WORDS):
        row = SessionRow(
            session_id="s", title=words, cwd=words, model=words, harness=words, snippet=words
        )
        view = SessionView(row=row, turns=[TurnMark(seq=1, title=words)], sandbox=words)
        choices = offered([words], [words], other_choices(**dict.fromkeys(NAMES, words)))
        for page in (
            views.index([row], choices),
            views.session(view, sessions=[row], choices=choices),
            views.history([row], query=words),
            views.usage(UsageView(days=[UsageRow(key=words)], windows=[(words, 1.0, None)])),
            views.policy(PolicyView(text=words, path=words, problem=words)),
        ):
            assert check(page).scripts == SCRIPTS


def test_all_there_is_to_load_weighs_no_more_than_it_should() -> None:
    files = sum(len(found.body) for name in names() if (found := asset(name)) is not None)
    shell = len(views.session(SessionView(row=ROW), sessions=[ROW] * 60).encode())

    assert files + shell <= 169_000  # docs/page.md tells how much it is
    assert files <= 140_000
