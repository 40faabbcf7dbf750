from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.errors import Unsupported
from dragoman.harnesses.codex import versions
from dragoman.harnesses.codex.app_server.client import features
from dragoman.harnesses.codex.app_server.client.features import FEATURES as SERVER_FEATURES
from dragoman.harnesses.codex.app_server.client.features import SPELLINGS
from dragoman.harnesses.codex.versions import (
    EXEC_FORK,
    FEATURES,
    FULL_AUTO,
    PAGINATED,
    PATCH_EVENTS,
    Feature,
    Version,
    can,
    need,
    parse_version,
    release_in,
    spelled,
)

_PAGE = Path(__file__).parents[3] / "docs" / "compatibility.md"
_BEGIN = "<!-- made from harnesses/codex: begin -->\n"
_END = "<!-- made from harnesses/codex: end -->\n"
_SHOWN = ("0.44.0", "0.58.0", "0.66.0", "0.77.0", "0.98.0", "0.104.0", "0.125.0", "0.142.0",
          "0.148.0", "0.153.0", "0.166.0", "0.169.0")  # fmt: skip


@pytest.mark.parametrize(
    ("text", "release", "version"),
    [
        ("0.166.0", "0.166.0", (0, 166, 0)),
        ("codex-cli 0.60.1", "0.60.1", (0, 60, 1)),
        (
            "codex_cli_rs/0.58.0 (Debian 12.0.0; x86_64) dumb (lab; 1.0)",
            "0.58.0",
            (0, 58, 0),
        ),
        ("lab/0.104.0 (Debian 12.0.0; x86_64) dumb (lab; 1)", "0.104.0", (0, 104, 0)),
        ("0.151.0-alpha.3", "0.151.0", (0, 151, 0)),
    ],
)
def test_the_release_is_found_in_what_a_program_calls_itself(
    text: str, release: str, version: Version
) -> None:
    assert release_in(text) == release
    assert parse_version(text) == version


@pytest.mark.parametrize("text", [None, "", "dev", "0.166", "v1", f"{'1' * 5000}.0.0"])
def test_without_a_release_there_is_none(text: str | None) -> None:
    assert release_in(text) is None
    assert parse_version(text) is None


def test_releases_are_ordered_by_number_not_by_spelling() -> None:
    written = ["0.8.0", "0.60.1", "0.129.0", "0.149.0", "0.166.0"]

    assert sorted(written) != written
    assert sorted(written, key=lambda text: parse_version(text) or (0, 0, 0)) == written


@pytest.mark.parametrize(
    ("release", "has_patch_events", "is_paginated"),
    [
        ("0.128.0", False, False),
        ("0.129.0", True, False),
        ("0.148.0", True, False),
        ("0.149.0", True, True),
        ("0.166.0", True, True),
    ],
)
def test_what_changed_with_which_release(
    release: str, has_patch_events: bool, is_paginated: bool
) -> None:
    version = parse_version(release)

    assert version is not None
    assert (version >= PATCH_EVENTS) == has_patch_events
    assert (version >= PAGINATED) == is_paginated


@pytest.mark.parametrize(
    ("release", "feature", "is_there"),
    [
        ((0, 147, 0), EXEC_FORK, False),
        ((0, 148, 0), EXEC_FORK, True),
        ((1, 0, 0), EXEC_FORK, True),
        (None, EXEC_FORK, True),
        ((0, 7, 0), FULL_AUTO, False),
        ((0, 125, 0), FULL_AUTO, True),
        ((0, 128, 0), FULL_AUTO, False),
        (None, FULL_AUTO, False),
    ],
)
def test_a_release_nobody_knows_can_do_what_the_newest_can(
    release: Version | None, feature: Feature, is_there: bool
) -> None:
    assert can(release, feature) == is_there


def test_a_refusal_names_the_releases_that_can() -> None:
    with pytest.raises(
        Unsupported, match=r"it needs Codex 0\.148\.0 or later, this is Codex 0\.98\.0"
    ):
        need((0, 98, 0), EXEC_FORK)
    with pytest.raises(Unsupported, match=r"it needs Codex 0\.8\.0 to 0\.125\.0$"):
        need(None, FULL_AUTO)


def test_every_feature_is_in_the_table() -> None:
    known = ((versions, FEATURES), (features, SERVER_FEATURES + SPELLINGS))
    for module, table in known:
        named = {each for each in vars(module).values() if isinstance(each, Feature)}
        assert named == set(table)
        assert len(table) == len(named)


def _table(where: str) -> str:
    head = " | ".join(release.removesuffix(".0") for release in _SHOWN)
    rows = [f"| {where} | releases | {head} |\n", "|---|---|" + "---|" * len(_SHOWN) + "\n"]
    for feature in FEATURES + SERVER_FEATURES:
        if feature.where == where:
            marks = ("✓" if can(parse_version(release), feature) else "·" for release in _SHOWN)
            rows.append(f"| {feature.name} | {feature.releases} | {' | '.join(marks)} |\n")
    return "".join(rows)


def _tables() -> str:
    places = dict.fromkeys(feature.where for feature in FEATURES + SERVER_FEATURES)
    return "\n" + "\n".join(_table(where) for where in places) + "\n"


def test_the_page_on_compatibility_shows_this_table(request: pytest.FixtureRequest) -> None:
    text = _PAGE.read_text(encoding="utf-8")
    before, rest = text.split(_BEGIN)
    _, after = rest.split(_END)
    expected = before + _BEGIN + _tables() + _END + after
    if request.config.getoption("--update-golden"):
        _PAGE.write_text(expected, encoding="utf-8")
        text = expected
    assert text == expected


def test_a_release_is_spelled_as_it_is_read() -> None:
    assert parse_version(spelled((0, 60, 1))) == (0, 60, 1)
