from __future__ import annotations

from datetime import UTC, datetime

from dragoman.web.page import shell
from dragoman.web.page.rows import HarnessChoices, Option, SessionRow


def test_a_session_in_the_list_says_its_state_in_words() -> None:
    row = SessionRow(
        session_id="s", title="T", state="waiting", cwd="/a/b", at=datetime(2026, 1, 2, tzinfo=UTC)
    )

    item = shell.session_item(row, "/s/s")

    assert '<span class="aside-word">waiting for you</span>' in item
    assert '<span class="folder" title="/a/b">b</span>' in item
    assert 'aria-current="page"' in item
    assert 'class="since"' in item


def test_a_folder_has_a_name_whatever_its_path() -> None:
    assert ">b<" in shell.folder("C:\\a\\b\\")
    assert ">/<" in shell.folder("/")
    assert shell.folder(None) == ""


def test_what_is_chosen_is_offered_even_if_nobody_else_offers_it() -> None:
    picker = shell.picker("Model", "model", [Option(value="a")], "b")

    chosen, other = '<option value="b" selected>b</option>', '<option value="a">a</option>'
    assert picker.index(chosen) < picker.index(other)


def test_what_can_be_chosen_is_said_in_words_for_people() -> None:
    careful = Option(value="read-only", label="Read only", summary="It <reads>.")
    full = Option(value="danger-full-access", label="Full access", is_full=True)

    picker = shell.picker("Access", "access", [careful, full], "read-only")

    assert 'value="read-only" selected data-summary="It &lt;reads&gt;.">Read only<' in picker
    assert '<option value="danger-full-access" data-full="true">Full access</option>' in picker


def test_an_agent_without_an_icon_gets_a_monogram() -> None:
    drawn = shell.harness_icon(HarnessChoices(name="toy", title="Toy", icon="M0 0h1"))

    assert '<path d="M0 0h1">' in drawn
    assert ">To</text>" in shell.harness_icon(HarnessChoices(name="toy", title="Toy"))
