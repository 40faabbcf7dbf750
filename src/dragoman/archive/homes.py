"""The homes of all harnesses, cached in a small file next to the index.

Asking the harnesses means importing them, which takes longer than everything else a list needs. So
their answers are cached, per version of Dragoman.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Final

from dragoman.about import VERSION
from dragoman.archive.finding import Home
from dragoman.archive.sealed import sealed, unsealed

_NAME: Final = "homes.txt"


def all_homes(cache: str | os.PathLike[str] | None) -> tuple[Home, ...]:
    """Return where each harness keeps its sessions."""
    if cache is None:
        return registered()
    path = os.path.join(cache, _NAME)
    with suppress(OSError, ValueError), open(path, "rb") as file:
        return _decode(unsealed(file.read()).decode())
    homes = registered()
    with suppress(OSError):  # without the cache, each command is a little slower
        os.makedirs(cache, exist_ok=True)
        with open(path, "wb") as file:
            file.write(sealed(_encode(homes).encode()))
    return homes


def registered() -> tuple[Home, ...]:
    """Return the homes that the harnesses declare."""
    from dragoman.harnesses import HARNESSES

    return tuple(
        Home(
            harness.name,
            harness.history.home_variable,
            harness.history.home_default,
            tuple((place.folder, place.archived) for place in harness.history.places),
            harness.history.suffixes,
            harness.history.name_list.file if harness.history.name_list is not None else "",
        )
        for harness in HARNESSES
        if harness.history is not None
    )


def _encode(homes: tuple[Home, ...]) -> str:
    lines = [VERSION]
    for home in homes:
        places = [f"{int(archived)}{folder}" for folder, archived in home.places]
        fields = (
            home.harness,
            home.variable,
            home.default,
            *places,
            "",
            *home.suffixes,
            "",
            home.name_list,
        )
        lines.append("\t".join(fields))
    return "\n".join(lines) + "\n"


def _decode(text: str) -> tuple[Home, ...]:
    version, *lines = text.rstrip("\n").split("\n")
    if version != VERSION:
        raise ValueError(version)
    homes: list[Home] = []
    for line in lines:
        harness, variable, default, *rest = line.split("\t")
        middle = rest.index("")
        end = rest.index("", middle + 1)
        places = tuple((place[1:], place[0] == "1") for place in rest[:middle])
        suffixes = tuple(rest[middle + 1 : end])
        homes.append(Home(harness, variable, default, places, suffixes, rest[end + 1]))
    return tuple(homes)
