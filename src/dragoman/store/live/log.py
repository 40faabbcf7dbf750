"""Notice when the end of the store's write-ahead log is damaged, which SQLite never reports.

After a crash, SQLite reads the log up to the first frame whose checksum is wrong, and takes the rest
for an unfinished transaction. Bytes damaged in the middle thus hide everything committed after them.
The format is in https://www.sqlite.org/walformat.html.
"""

from __future__ import annotations

import struct
import time
from pathlib import Path
from typing import Final, NamedTuple

_HEADER: Final = 32
_FRAME_HEADER: Final = 24
_INDEX: Final = struct.Struct("=16xII8x8s8x")
"""In ``live.db-shm``: the last committed frame, the size of the database, and the log's salts."""
_TRIES: Final = 5
_PAUSE: Final = 0.1


class _Index(NamedTuple):
    """What SQLite knows of the log while it is open. The file outlives a killed process."""

    frames: int
    salts: bytes


class WrittenLog:
    """What the log of a store holds. Create it before SQLite opens the store."""

    def __init__(self, path: Path) -> None:
        self.path = path.with_name(f"{path.name}-wal")
        self._index_path = path.with_name(f"{path.name}-shm")
        self._before = self._index()

    def problem(self) -> str | None:
        """Compare the log with what SQLite has made of it. Call this inside a transaction that has read."""
        found = self._problem()
        for _ in range(_TRIES):
            # While another process writes, a commit can be in the file and not yet in the index.
            if found is None:
                break
            time.sleep(_PAUSE)
            found = self._problem()
        return found

    def _problem(self) -> str | None:
        written, is_sound = self._written()
        index = self._index()
        if index is None:
            return None  # SQLite keeps no log for it
        if not is_sound:
            return "the log is damaged at its beginning: what was stored last is lost"
        if written > index.frames:
            return (
                f"the log is damaged after page {index.frames} of {written}: "
                "what was stored last is lost"
            )
        return None

    def _written(self) -> tuple[int, bool]:
        """The last frame that ended a transaction, and whether the log's header is what was written."""
        try:
            with self.path.open("rb") as file:
                header = file.read(_HEADER)
                before, now = self._before, self._index()
                # Salts change when the log is restarted: what was known before no longer counts.
                is_restarted = before is None or (now is not None and now.salts != before.salts)
                known = 0 if before is None or is_restarted else before.frames
                if len(header) < _HEADER:
                    return known, True
                if not _is_sound(header):
                    return known, False
                (size,), salts = struct.unpack_from(">I", header, 8), header[16:24]
                if before is not None and before.salts != salts:
                    known = 0
                number = 0
                while len(frame := file.read(_FRAME_HEADER)) == _FRAME_HEADER:
                    number += 1
                    if frame[8:16] == salts and frame[4:8] != bytes(4):
                        known = max(known, number)
                    file.seek(size, 1)
                return known, True
        except FileNotFoundError:
            return 0, True

    def _index(self) -> _Index | None:
        try:
            with self._index_path.open("rb") as file:
                data = file.read(_INDEX.size)
        except OSError:
            return None
        if len(data) < _INDEX.size:
            return None
        frames, _, salts = _INDEX.unpack(data)
        return _Index(frames, salts)


def _is_sound(header: bytes) -> bool:
    """Whether the checksum of the log's header is right."""
    order = ">" if header[3] & 1 else "<"
    first = second = 0
    words = struct.unpack(f"{order}6I", header[:24])
    for place in range(0, 6, 2):
        first = (first + words[place] + second) & 0xFFFFFFFF
        second = (second + words[place + 1] + first) & 0xFFFFFFFF
    return struct.unpack(">2I", header[24:32]) == (first, second)
