from __future__ import annotations

import pytest

from dragoman.export.text.page import Page, Speaker, head, hung, more, split

ONE = Speaker("one")
TWO = Speaker("two")
BELOW = Speaker("below", depth=1)


def test_things_are_set_apart_and_their_parts_are_not() -> None:
    page = Page(color=False)

    page.write(ONE, ["$ make"], part_of=("call", "c1"))
    page.write(ONE, ["  ok"], part_of=("call", "c1"))
    page.write(ONE, ["$ make"], part_of=("call", "c2"))
    page.write(ONE, ["Done."])
    page.write(ONE, ["Really."])

    assert page.drain() == b"$ make\n  ok\n\n$ make\n\nDone.\n\nReally.\n"


def test_what_has_been_drained_is_not_forgotten() -> None:
    page = Page(color=False)
    page.write(ONE, ["a"], part_of=("text", "m"))

    assert page.drain() == b"a\n"
    page.write(ONE, ["b"], part_of=("text", "m"))
    assert page.drain() == b"b\n"
    assert page.drain() == b""


def test_nothing_written_sets_nothing_apart() -> None:
    page = Page(color=False)

    page.write(ONE, ["a"])
    page.write(ONE, [], part_of=("text", "m"))
    page.write(ONE, ["b"])

    assert page.drain() == b"a\n\nb\n"


def test_the_newest_line_knows_what_it_is_part_of() -> None:
    page = Page(color=False)

    page.write(ONE, ["$ make"], part_of=("call", "c1"))

    assert page.is_at(ONE, ("call", "c1"))
    assert not page.is_at(TWO, ("call", "c1"))
    assert not page.is_at(ONE, ("approval", "c1"))


def test_a_speaker_who_takes_over_is_named_unless_introduced() -> None:
    page = Page(color=False)

    page.write(ONE, ["a"])
    page.write(TWO, ["b"])
    page.introduce(ONE)
    page.write(ONE, ["codex"])
    page.write(Speaker(None), ["by the way"])
    page.write(ONE, ["c"])

    assert page.drain().decode() == "a\n\n── two\nb\n\ncodex\n\nby the way\n\nc\n"


def test_margins_tell_who_speaks_below_whom() -> None:
    page = Page(color=False)

    page.write(ONE, ["a"])
    page.write(BELOW, ["b", "", "c"])
    page.write(BELOW, ["d"])
    page.write(ONE, ["e"])

    assert page.drain().decode() == "a\n\n│ b\n│\n│ c\n│\n│ d\n\ne\n"


def test_margins_and_lines_have_their_own_colours() -> None:
    page = Page(color=True)

    page.write(BELOW, ["b", ""], "red")

    assert page.drain().decode() == "\x1b[2m│ \x1b[0m\x1b[31mb\x1b[0m\n\x1b[2m│\x1b[0m\n"


@pytest.mark.parametrize(
    ("color", "line", "painted"),
    [(True, "a", "\x1b[1ma\x1b[0m"), (True, "", ""), (False, "a", "a")],
)
def test_only_what_can_be_seen_is_painted(*, color: bool, line: str, painted: str) -> None:
    assert Page(color=color).paint(line, "bold") == painted


def test_what_no_encoding_can_hold_is_written_as_an_escape() -> None:
    page = Page(color=False)

    page.write(ONE, ["half \ud83d"])

    assert page.drain() == b"half \\ud83d\n"


def test_a_text_is_split_without_the_empty_lines_around_it() -> None:
    assert split("\r\n\na\x1b\n\nb\n\n") == ["a␛", "", "b"]
    assert split("\n\n") == []


def test_lines_hang_below_their_mark() -> None:
    assert hung("$ ", ["a", "", "b"]) == ["$ a", "", "  b"]
    assert hung("$ ", []) == []


def test_the_head_of_something_long_says_how_much_is_left() -> None:
    assert head("aaaa\nb\nc\nd", 2, 3, "> ") == ["> aa…", "> b", "> … 2 more lines"]
    assert head("", 2, 3, "> ") == []


@pytest.mark.parametrize(
    ("count", "said"), [(-1, []), (0, []), (1, ["  … 1 more line"]), (2, ["  … 2 more lines"])]
)
def test_what_is_left_is_counted(count: int, said: list[str]) -> None:
    assert more(count) == said
