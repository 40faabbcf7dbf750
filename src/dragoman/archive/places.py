"""Where an archive finds sessions, and where it keeps its index."""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dragoman.archive.finding import (
    FoundFile,
    Home,
    absolute,
    by_hand,
    database_problems,
    folders_of,
    walk_all,
)
from dragoman.archive.homes import all_homes
from dragoman.folders import cache_path


class ArchivePlace(NamedTuple):
    """The homes of harnesses, or given files and folders."""

    homes: tuple[tuple[Home, str], ...]
    """Each home with its folder."""
    paths: tuple[str, ...]
    cache: str

    @classmethod
    def of(
        cls,
        home: str | os.PathLike[str] | None,
        paths: Sequence[str | os.PathLike[str]],
        cache: str | os.PathLike[str] | None,
        environment: Mapping[str, str],
        home_folders: Mapping[str, str] | None = None,
    ) -> ArchivePlace:
        """Choose what to search. ``home`` replaces the home of every harness, ``home_folders`` those it names.

        With ``paths``, only these files are used.
        """
        folder = absolute(cache) if cache is not None else cache_path(environment)
        given = home_folders or {}
        homes = tuple(
            (each, absolute(given.get(each.harness) or home or each.folder(environment)))
            for each in (all_homes(folder) if not paths else ())
        )
        return cls(homes, tuple(absolute(path) for path in paths), folder)

    @property
    def folders(self) -> list[str]:
        """The folders that are searched for sessions."""
        return list(self.paths) or list(dict.fromkeys(folder for _, folder in self.homes))

    @property
    def existing_folders(self) -> list[str]:
        """Those of :attr:`folders` that exist; the first one if none does."""
        folders = self.folders
        return [each for each in folders if os.path.exists(each)] or folders[:1]

    @property
    def index_folder(self) -> str:
        """The folder of the index. Each set of folders has its own.

        Homes at their usual places, except the first, do not count: when a harness is added, the index is
        extended instead of rebuilt.
        """
        folders = list(self.paths)
        for number, (home, folder) in enumerate(self.homes):
            if folder not in folders and (number == 0 or folder != home.usual_folder):
                folders.append(folder)
        key = "\0".join(folders)
        return os.path.join(self.cache, f"{zlib.crc32(os.fsencode(key)):08x}")

    @property
    def home_folders(self) -> dict[str, str]:
        """The home of each harness by name, with which another process finds the same sessions."""
        return {home.harness: folder for home, folder in self.homes}

    @property
    def searched(self) -> list[str]:
        """The folders in homes that hold sessions, at any depth. They need not exist."""
        named = [
            os.path.join(folder, place) for home, folder in self.homes for place, _ in home.places
        ]
        return list(dict.fromkeys(named))

    def find(self) -> list[FoundFile]:
        """Return the session files that exist now, each once."""
        if self.paths:
            return list(by_hand(self.paths))
        return walk_all(self.homes, self.cache)

    def problems(self) -> list[str]:
        """Return why databases could not be read by the last :meth:`find`, as sentences."""
        if self.paths:
            named = (path for path in self.paths if path.endswith(".db"))
            return list(database_problems(named, cache_path(os.environ)))
        databases = (
            os.path.join(folder, home.database) for home, folder in self.homes if home.database
        )
        return list(database_problems(dict.fromkeys(databases), self.cache))

    def folder_times(self) -> dict[str, int]:
        """Return the modification time of every folder that is searched."""
        now = time.time_ns()
        return {
            path: mtime_ns
            for home, folder in self.homes
            for path, mtime_ns in folders_of(home, folder, now).items()
        }
