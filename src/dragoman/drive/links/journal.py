"""Keeps every line that goes over the wire, before anybody understands it.

One JSON line for each: ``{"dir": "send" | "recv", "t": 1790000000.123, "msg": …}``, the wrapper that
our own recordings have, so that a journal is read like one. ``msg`` is the line unchanged; a line that
is not JSON is kept as a string, ``raw``. Values that are known to be secret are masked.

A journal is a witness, not a part of the exchange: when it cannot be written that is reported once,
and the exchange continues without it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Final, Literal

import msgspec

from dragoman.drive.secrets import Secrets
from dragoman.wire.lines import LongLine

_log = logging.getLogger(__name__)

_encode: Final = msgspec.json.Encoder().encode
_check: Final = msgspec.json.Decoder(msgspec.Raw).decode


class Journal:
    """Appends to a file that only its owner may read. Each batch of lines is one write."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        secrets: Iterable[str] = (),
        failed: Callable[[OSError], None] | None = None,
    ) -> None:
        self.path = os.fspath(path)
        self._secrets = Secrets(secrets)
        self._failed = failed
        self._file = -1
        self.error: OSError | None = None
        """Why nothing more is written; None while all is well."""
        try:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
            self._file = os.open(self.path, flags, 0o600)
            self._end_cut_line()
        except OSError as error:
            self._give_up(error)

    def sent(self, lines: Iterable[bytes], at: datetime | None = None) -> None:
        """We wrote these lines."""
        self._append("send", lines, at)

    def received(self, lines: Iterable[bytes | LongLine], at: datetime | None = None) -> None:
        """We read these lines."""
        self._append("recv", lines, at)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _append(
        self, way: Literal["send", "recv"], lines: Iterable[bytes | LongLine], at: datetime | None
    ) -> None:
        if self._file < 0:
            return
        t = (at or datetime.now(UTC)).timestamp()
        head = b'{"dir":"%s","t":%.6f,' % (way.encode("ascii"), t)
        data = b"".join([head + self._body(line) for line in lines])
        try:
            self._write(data)
        except OSError as error:
            self._give_up(error)

    def _body(self, line: bytes | LongLine) -> bytes:
        if isinstance(line, LongLine):
            mask = self._secrets.mask_line
            kept = _text(mask(line.head)) + " … " + _text(mask(line.tail))
            return b'"raw":%s,"length":%d}\n' % (_encode(kept), line.length)
        line = self._secrets.mask_line(line.strip())
        if _is_json(line):
            return b'"msg":%s}\n' % line
        return b'"raw":%s}\n' % _encode(_text(line))

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._file, view) :]

    def _end_cut_line(self) -> None:
        """An earlier writer may have been cut off in the middle of a line."""
        if os.fstat(self._file).st_size:
            with open(self.path, "rb") as file:
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    self._write(b"\n")

    def _give_up(self, error: OSError) -> None:
        self.error = error
        _log.error("the journal %s cannot be written: %s", self.path, error.strerror or error)
        try:
            self.close()
        except OSError:
            self._file = -1
        if self._failed is not None:
            self._failed(error)


def _is_json(line: bytes) -> bool:
    try:
        _check(line)
    except (msgspec.DecodeError, RecursionError):
        return False
    return b"\n" not in line  # which only a caller who cuts no lines could hand us


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace")
