"""The homes of all harnesses, cached in a small file next to the index.

Asking the harnesses means importing them, which takes longer than everything else a list needs. So
their answers are cached, together with a stamp of everything that could add a harness: the registry
and the folders that packages are installed in. A cache with another stamp is not used.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from dragoman.about import VERSION
from dragoman.archive.finding import Home
from dragoman.archive.sealed import sealed, unsealed
from dragoman.model.homes import HomeFolder

_NAME: Final = "homes.txt"
_PACKAGES: Final = ("site-packages", "dist-packages")
_INFO: Final = (".dist-info", ".egg-info", ".egg")
_REGISTRY: Final = os.path.join(
    os.path.dirname(os.path.dirname(__file__)), "harnesses", "__init__.py"
)


def all_homes(cache: str | os.PathLike[str] | None) -> tuple[Home, ...]:
    """Return where each harness keeps its sessions."""
    if cache is None:
        return registered()
    path = os.path.join(cache, _NAME)
    stamp = _stamp()
    with suppress(OSError, ValueError), open(path, "rb") as file:
        return _decode(unsealed(file.read()).decode(), stamp)
    homes = registered()
    with suppress(OSError):  # without the cache, each command is a little slower
        os.makedirs(cache, exist_ok=True)
        with open(path, "wb") as file:
            file.write(sealed(_encode(homes, stamp).encode()))
    return homes


def registered() -> tuple[Home, ...]:
    """Return the homes that the harnesses declare, plug-ins included."""
    from dragoman.harnesses import all_harnesses

    return tuple(
        Home(
            harness.name,
            harness.history.home_folder,
            tuple((place.folder, place.archived) for place in harness.history.places),
            harness.history.suffixes,
            harness.history.name_list.file if harness.history.name_list is not None else "",
            harness.history.database.file if harness.history.database is not None else "",
        )
        for harness in all_harnesses()
        if harness.history is not None
    )


def _stamp() -> str:
    """Return a value that changes when a harness can have been added, at the cost of a few system calls.

    Installing or removing a package changes the folder that it lies in. Any other folder on the path, such as the
    working directory, changes all the time: of these, only what describes packages counts.
    """
    states = [VERSION, f"{os.stat(_REGISTRY).st_mtime_ns:x}"]
    for path in sys.path:
        try:
            if path.endswith(_PACKAGES):
                states.append(f"{os.stat(path).st_mtime_ns:x}")
            else:
                states.append("+".join(sorted(_described(path or "."))) or "-")
        except OSError:
            states.append("-")
    return " ".join(states)


def _described(folder: str) -> Iterator[str]:
    with os.scandir(folder) as inside:
        for each in inside:
            if each.name.endswith(_INFO):
                yield f"{each.stat().st_mtime_ns:x}"


def _encode(homes: tuple[Home, ...], stamp: str) -> str:
    lines = [stamp]
    for home in homes:
        places = [f"{int(archived)}{folder}" for folder, archived in home.places]
        files = (home.name_list, home.database)
        fields = (home.harness, *home.at, *places, "", *home.suffixes, "", *files)
        lines.append("\t".join(fields))
    return "\n".join(lines) + "\n"


def _decode(text: str, stamp: str) -> tuple[Home, ...]:
    first, *lines = text.removesuffix("\n").split("\n")
    if first != stamp:
        raise ValueError(first)
    homes: list[Home] = []
    for line in lines:
        harness, variable, default, below, *rest = line.split("\t")
        middle = rest.index("")
        end = rest.index("", middle + 1)
        places = tuple((place[1:], place[0] == "1") for place in rest[:middle])
        suffixes = tuple(rest[middle + 1 : end])
        at = HomeFolder(variable, default, below)
        homes.append(Home(harness, at, places, suffixes, rest[end + 1], rest[end + 2]))
    return tuple(homes)
