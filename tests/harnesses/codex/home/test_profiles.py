from __future__ import annotations

import pytest

from dragoman.errors import UsageError
from dragoman.harnesses.codex.home.profiles import check_profile, profile_settings

FILES = {
    "deep.config.toml": 'model = "m2"\n[features]\nplugins = false\n',
    "config.toml": '[profiles.quick]\nmodel = "m3"\n[profiles.deep]\nmodel = "old"\n',
    "bad.config.toml": "=",
}


def test_a_file_of_its_own_wins_over_the_table() -> None:
    assert profile_settings("deep", FILES.get) == {"model": "m2", "features": {"plugins": False}}
    assert profile_settings("quick", FILES.get) == {"model": "m3"}


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("none", r"no profile 'none'.*none\.config\.toml.*known: deep, quick"),
        ("../config", "not the name of a profile"),
        ("bad", r"cannot read Codex's bad\.config\.toml"),
    ],
)
def test_what_is_not_there_is_refused(name: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        profile_settings(name, FILES.get)


def test_without_any_configuration_there_is_no_profile() -> None:
    with pytest.raises(UsageError, match="no profile 'x'"):
        profile_settings("x", lambda name: None)


@pytest.mark.parametrize(
    ("name", "release", "why"),
    [
        (
            "quick",
            (0, 134, 0),
            r"0\.134\.0 and later .* quick\.config\.toml .* move \[profiles\.quick\]",
        ),
        ("quick", None, r"quick\.config\.toml in Codex's home"),
        ("own", (0, 133, 0), r"before 0\.134\.0 .* \[profiles\.own\] in config\.toml"),
        ("none", (0, 160, 0), "there is no profile 'none'"),
        ("none", (0, 120, 0), "there is no profile 'none'"),
    ],
)
def test_a_profile_where_the_release_does_not_look_is_refused(
    name: str, release: tuple[int, int, int] | None, why: str
) -> None:
    files = {**FILES, "own.config.toml": ""}
    with pytest.raises(UsageError, match=why) as refused:
        check_profile(name, release, files.get)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "release"),
    [("quick", (0, 133, 0)), ("deep", (0, 133, 0)), ("deep", (0, 134, 0)), ("deep", None)],
)
def test_a_profile_where_the_release_looks_is_taken(
    name: str, release: tuple[int, int, int] | None
) -> None:
    check_profile(name, release, FILES.get)
