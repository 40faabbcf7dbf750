from __future__ import annotations

import pytest

from dragoman.harnesses.codex.versions import (
    PAGINATED,
    PATCH_EVENTS,
    Version,
    parse_version,
    release_in,
)


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
