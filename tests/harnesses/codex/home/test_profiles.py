from __future__ import annotations

import pytest

from dragoman.errors import UsageError
from dragoman.harnesses.codex.home.profiles import profile_settings

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
