from __future__ import annotations

import pytest

from dragoman.model.homes import HomeFolder

_TOY = HomeFolder("TOY_HOME", ".toy")
_BELOW = HomeFolder("TOY_DATA", ".local/share/toy", "toy")


@pytest.mark.parametrize(
    ("home", "env", "path"),
    [
        (_TOY, {"HOME": "/me"}, "/me/.toy"),
        (_TOY, {"HOME": "/me", "TOY_HOME": ""}, "/me/.toy"),
        (_TOY, {"HOME": "/me", "TOY_HOME": "/alt"}, "/alt"),
        (_TOY, {"HOME": "/me/", "TOY_HOME": "~/alt"}, "/me/alt"),
        (_TOY, {"HOME": "/me", "TOY_HOME": "~"}, "/me"),
        (_TOY, {"HOME": "/me", "TOY_HOME": "~you/alt"}, "~you/alt"),
        (_TOY, {"USERPROFILE": "C:\\me"}, "C:\\me/.toy"),
        (_TOY, {}, "~/.toy"),
        (_BELOW, {"HOME": "/me"}, "/me/.local/share/toy"),
        (_BELOW, {"HOME": "/me", "TOY_DATA": "/data/"}, "/data/toy"),
    ],
)
def test_where_a_home_is(home: HomeFolder, env: dict[str, str], path: str) -> None:
    assert home.path(env) == path
