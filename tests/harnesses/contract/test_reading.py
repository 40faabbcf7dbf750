from __future__ import annotations

from collections.abc import Sequence

import pytest

from dragoman.harnesses.contract.harness import Harness
from dragoman.harnesses.contract.reading import Dialect, Duplicate, Limit, Parser


def no_parser(*, only: frozenset[str] | None, audit: bool) -> Parser:
    raise NotImplementedError


def open_still(lines: Sequence[bytes]) -> str | None:
    return None


def dialect(name: str) -> Dialect:
    return Dialect(name=name, summary=name, releases="all", make_parser=no_parser)


def test_a_harness_knows_its_dialects_by_name() -> None:
    one, two = dialect("one"), dialect("two")
    harness = Harness(name="h", title="H", dialects=(one, two), sniff=open_still)

    assert harness.dialect("two") is two
    assert harness.dialect("three") is None
    assert harness.limits == ()


def test_a_twin_is_a_line_and_a_rule() -> None:
    assert Duplicate(3, "blank line") == (3, "blank line")


@pytest.mark.parametrize(
    ("release", "applies"),
    [
        ("0.9.0", False),
        ("0.43.9", False),
        ("0.44.0", True),
        ("0.60.1", True),
        ("0.104.0", True),
        ("0.104.1", False),
        ("1.0.0", False),
    ],
)
def test_a_limit_holds_from_its_first_release_to_its_last_counted_as_numbers(
    release: str, applies: bool
) -> None:
    limit = Limit(dialect="exec", aspect="plans", why="", since="0.44.0", until="0.104.0")

    assert limit.applies("exec", release) is applies
    assert not limit.applies("rollout", release)


@pytest.mark.parametrize("release", ["0.8.0", "0.166.0", "12.0.0"])
def test_a_limit_without_releases_always_holds(release: str) -> None:
    assert Limit(dialect="exec", aspect="plans", why="").applies("exec", release)


@pytest.mark.parametrize(
    ("since", "until", "words"),
    [
        ("0.0.0", "9999.0.0", "all"),
        ("0.44.0", "9999.0.0", "0.44.0 and later"),
        ("0.0.0", "0.42.0", "to 0.42.0"),
        ("0.44.0", "0.104.0", "0.44.0 to 0.104.0"),
    ],
)
def test_the_releases_of_a_limit_can_be_read_aloud(since: str, until: str, words: str) -> None:
    limit = Limit(dialect="exec", aspect="plans", why="", since=since, until=until)

    assert limit.releases == words


def test_a_limit_says_what_is_missing() -> None:
    assert Limit(dialect="exec", aspect="plans", why="").what == "plans"
    assert (
        Limit(dialect="exec", aspect="calls", why="", tools=("Read", "Task")).what
        == "calls (Read, Task)"
    )
