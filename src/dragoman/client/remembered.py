"""What an agent itself remembers as always allowed: listed, and taken away line by line.

Only regular files in the harness's own folder of rules are read, and only whole lines that are rules are taken
away: a new file with the same permissions is written beside the old one and replaces it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import msgspec

from dragoman.errors import DragomanError
from dragoman.harnesses.contract.harness import Harness
from dragoman.harnesses.contract.program import Remembers

_LARGEST: Final = 1 << 20


class RulesUnwritable(DragomanError):
    """The file of a rule cannot be changed."""


class RememberedRule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule in the agent's own files."""

    id: str
    decision: str
    prefix: list[str] = []
    """Commands that begin with exactly these words …"""
    host: str | None = None
    """… or connections to this host."""
    stored_in: str
    line: int


class RememberedRules:
    """The rules below one home of a harness."""

    def __init__(self, folder: Path | None, remembers: Remembers | None) -> None:
        self._folder = folder
        self._remembers = remembers

    @classmethod
    def of(cls, harness: Harness, env: Mapping[str, str]) -> RememberedRules:
        """Those of the agent that runs in this environment, laid over our own."""
        remembers = harness.program.remembers if harness.program is not None else None
        history = harness.history
        if remembers is None or history is None:
            return cls(None, None)
        home = Path(history.home({**os.environ, **env})).expanduser()
        return cls(home / remembers.folder, remembers)

    def rules(self) -> list[RememberedRule]:
        """All of them, file by file. What cannot be read is not there."""
        return [rule for path in self._files() for rule, _ in self._read(path)]

    def remove(self, rule_id: str) -> bool:
        """Take the line of this rule out of its file. Raises :class:`RulesUnwritable`."""
        for path in self._files():
            for rule, line in self._read(path):
                if rule.id == rule_id:
                    try:
                        return _without(path, rule.line, line)
                    except OSError as problem:
                        reason = problem.strerror or problem
                        raise RulesUnwritable(f"{path} cannot be changed: {reason}") from problem
        return False

    def _files(self) -> list[Path]:
        if self._folder is None or self._remembers is None:
            return []
        suffix = self._remembers.suffix
        with contextlib.suppress(OSError):
            found = sorted(each for each in self._folder.iterdir() if each.suffix == suffix)
            return [each for each in found if stat.S_ISREG(each.lstat().st_mode)]
        return []

    def _read(self, path: Path) -> Iterator[tuple[RememberedRule, bytes]]:
        assert self._remembers is not None
        seen: dict[bytes, int] = {}
        for number, line in enumerate(_lines(path), 1):
            rule = self._remembers.read(line.decode(errors="replace").rstrip("\r\n"))
            if rule is None:
                continue
            seen[line] = seen.get(line, 0) + 1
            name = f"{path.name}\0{seen[line]}\0".encode() + line
            yield (
                RememberedRule(
                    id=hashlib.sha256(name).hexdigest()[:16],
                    decision=rule.decision,
                    prefix=list(rule.prefix),
                    host=rule.host,
                    stored_in=str(path),
                    line=number,
                ),
                line,
            )


def _lines(path: Path) -> list[bytes]:
    """The lines of a regular file, each with its end."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        number = os.open(path, flags)
    except OSError:
        return []
    with os.fdopen(number, "rb") as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > _LARGEST:
            return []
        return file.read(_LARGEST).splitlines(keepends=True)


def _without(path: Path, number: int, line: bytes) -> bool:
    """Write the file without this line, unless it has changed meanwhile."""
    lines = _lines(path)
    if number > len(lines) or lines[number - 1] != line:
        return False
    facts = path.lstat()
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(b"".join(lines[: number - 1] + lines[number:]))
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(stat.S_IMODE(facts.st_mode))
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
    return True
