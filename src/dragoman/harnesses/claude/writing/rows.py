"""The rows of a transcript: a chain, each row naming the one before it (``parentUuid``)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final
from uuid import NAMESPACE_OID, uuid5

import msgspec

from dragoman.harnesses.claude.session import SYNTHETIC
from dragoman.harnesses.contract.writer import NewSession

_Row = dict[str, Any]
HANDOFF: Final = "dragoman-handoff"
"""A row of ours. Claude skips rows of a type that it does not know."""
_VERSION: Final = "2.1.0"
"""What is written if the release of the program is not known."""


class TranscriptRows:
    """Collects the rows of one transcript."""

    def __init__(self, new: NewSession) -> None:
        self._new = new
        self._at = new.at
        self._parent: str | None = None
        self._response: str | None = None
        self.lines: list[bytes] = []
        release = new.release
        self._place = {
            "isSidechain": False,
            "userType": "external",
            "cwd": new.cwd,
            "sessionId": new.session_id,
            "version": ".".join(map(str, release)) if release is not None else _VERSION,
        }

    def at(self, moment: datetime | None) -> None:
        """The rows that follow are of this time, if it is known."""
        if moment is not None:
            self._at = moment

    def origin(self, *, is_end: bool) -> None:
        """Where the session comes from; at its end, also where the handed-off history ends."""
        if is_end:
            self._at = self._new.at
        source = self._new.source
        row: _Row = {
            **self._place,
            "type": HANDOFF,
            "timestamp": _written(self._at if is_end else self._new.at),
            "handedOffFrom": {"harness": source.harness, "sessionId": source.session_id},
            "isEnd": is_end,
        }
        self.lines.append(msgspec.json.encode(row))

    def summary(self, text: str) -> None:
        """What stands for the conversation before, as after a compaction."""
        self._row(
            "system",
            subtype="compact_boundary",
            content="Conversation compacted",
            isMeta=False,
            level="info",
            compactMetadata={"trigger": "manual", "preTokens": 0},
        )
        self._row(
            "user",
            message={"role": "user", "content": text},
            isVisibleInTranscriptOnly=True,
            isCompactSummary=True,
        )

    def user(self, content: Any, **fields: Any) -> None:
        self._response = None
        self._row("user", message={"role": "user", "content": content}, **fields)

    def assistant(self, block: _Row, *, stop_reason: str, **fields: Any) -> None:
        """One block of a response. Blocks that follow each other are of the same response."""
        if self._response is None:
            self._response = f"msg_{uuid5(NAMESPACE_OID, self._named('response')).hex}"
        # The model is Claude's word for what no model of its own has said. Tokens are counted where they were spent.
        message = {
            "id": self._response,
            "type": "message",
            "role": "assistant",
            "model": SYNTHETIC,
            "content": [block],
            "stop_reason": stop_reason,
            "stop_sequence": None,
            "usage": {
                "input_tokens": 0,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0,
                "output_tokens": 0,
            },
        }
        self._row("assistant", message=message, **fields)

    def _row(self, kind: str, **fields: Any) -> None:
        row_id = str(uuid5(NAMESPACE_OID, self._named("row")))
        row: _Row = {
            "parentUuid": self._parent,
            **self._place,
            "type": kind,
            **fields,
            "uuid": row_id,
            "timestamp": _written(self._at),
        }
        self._parent = row_id
        self.lines.append(msgspec.json.encode(row))

    def _named(self, what: str) -> str:
        return f"{self._new.session_id}/{what}/{len(self.lines)}"


def _written(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
