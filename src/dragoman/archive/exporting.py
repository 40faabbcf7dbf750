"""What ``dragoman export`` adds to a conversion: saved sessions, formats by file extension, secrets."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from dragoman.errors import UsageError
from dragoman.export.base import Masked
from dragoman.model.messages import Message
from dragoman.reading.conversion import Conversion

_BATCH: Final = 64
_BY_ENDING: Final = {
    ".html": "html",
    ".htm": "html",
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
    ".json": "json",
    ".jsonl": "messages",
}


def is_file(name: str) -> bool:
    """Whether a session is named by a file, or ``-`` for standard input, rather than by its id."""
    looks_so = "/" in name or name.endswith((".jsonl", ".zst", ".gz"))
    return name == "-" or looks_so or Path(name).expanduser().exists()


class SavedConversion(Conversion):
    """Converts a session of the archive, including the history that a fork or revert continues."""

    def __init__(
        self,
        messages: Iterable[Message],
        *,
        to: str,
        include: Collection[str] = (),
        color: bool = False,
        width: int = 100,
        redact: bool | None = None,
        secrets: Collection[str] = (),
    ) -> None:
        nothing: list[bytes] = []
        super().__init__(
            nothing,
            to=to,
            include=include,
            color=color,
            width=width,
            redact=redact,
            secrets=secrets,
        )
        self._messages = iter(messages)

    def _pieces(self) -> Iterator[bytes]:
        while batch := list(islice(self._messages, _BATCH)):
            yield self._exporter.export(batch)

    def _end(self) -> bytes:
        return self._exporter.finish()


def format_for(output: str) -> str:
    """Return the format for a file name, by its extension."""
    ending = Path(output).suffix.lower()
    if ending not in _BY_ENDING:
        known = " ".join(_BY_ENDING)
        raise UsageError(f"unknown format for {output!r} (known: {known}); use --to to name one")
    return _BY_ENDING[ending]


def check_target(source: str, output: str, *, force: bool) -> None:
    """Check that writing there destroys nothing. The source ``-`` is standard input."""
    path = Path(output)
    if path.is_dir():
        raise UsageError(f"{output} is a directory")
    if path.exists() and _is_read_from(path, source):
        raise UsageError(f"{output} is the input file; use another name for the output")
    if path.is_file() and not force:
        raise UsageError(f"{output} already exists; use --force to replace it")


def _is_read_from(path: Path, source: str) -> bool:
    try:
        read = os.fstat(sys.stdin.fileno()) if source == "-" else Path(source).expanduser().stat()
    except (
        OSError,
        ValueError,
        AttributeError,
    ):  # no such file; standard input is closed or not a file
        return False
    # A terminal or /dev/null may be on both sides.
    return stat.S_ISREG(read.st_mode) and os.path.samestat(read, path.stat())


def masked_summary(masked: Sequence[Masked]) -> str:
    """Return what was masked, as a sentence."""
    from dragoman.export.redact import summary

    if not masked:
        return "found no secrets to mask; review the output before you share it"
    return f"masked {summary(masked)}; review the output before you share it"
