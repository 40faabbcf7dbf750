"""A home of Claude Code in the shape of a real one: ``make(folder, megabytes)``.

Each response is one row for each of its blocks, which all repeat its tokens: a thought, now and then a text, a call.
A result stands twice in its row, for the model and for the terminal. Prose is in several languages, outputs are
pieces of Python's own library. The same seed always gives the same bytes.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import corpus
from corpus_prose import prose

_START = datetime(2026, 11, 15, 9, 0, tzinfo=UTC)


class ClaudeSession:
    """One transcript being written."""

    def __init__(self, seed: int, pool: str) -> None:
        self._random = random.Random(seed)
        self._pool = pool
        self._at = _START + timedelta(minutes=seed)
        self._last: str | None = None
        self._count = 0
        self.id = f"01a1e150-{seed:04x}-4a30-8813-{seed:012x}"
        self.spent = [0, 0, 0, 0]
        """Input, cache reads, cache writes, output."""

    def rows(self) -> Iterator[bytes]:
        while True:
            yield self._row("user", {"role": "user", "content": self._prose(300)})
            for _ in range(self._random.randrange(6, 18)):
                yield from self._response(calls=True)
            yield from self._response(calls=False)

    def _id(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}_{self.id[-8:]}{self._count:08d}"

    def _size(self, median: float, most: float) -> int:
        return int(min(self._random.lognormvariate(0, 1.1) * median, most))

    def _prose(self, median: float) -> str:
        return prose(self._random, max(20, self._size(median, 10 * median)))

    def _text(self, size: int) -> str:
        start = self._random.randrange(len(self._pool) - size)
        return self._pool[start : start + size]

    def _row(self, kind: str, message: dict[str, Any], **fields: Any) -> bytes:
        self._at += timedelta(milliseconds=self._random.randrange(5, 900))
        self._count += 1
        uuid = f"{self._count:08x}-0000-4000-8000-{self.id[-12:]}"
        row = {
            "parentUuid": self._last,
            "isSidechain": False,
            "message": message,
            "type": kind,
            "uuid": uuid,
            "timestamp": self._at.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z",
            **fields,
            "userType": "external",
            "entrypoint": "cli",
            "cwd": "/workspace",
            "sessionId": self.id,
            "version": "2.1.326",
            "gitBranch": "main",
        }
        self._last = uuid
        return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"

    def _response(self, *, calls: bool) -> Iterator[bytes]:
        signature = self._random.randbytes(300).hex()
        blocks: list[dict[str, Any]] = [
            {"type": "thinking", "thinking": self._prose(260), "signature": signature}
        ]
        if not calls or self._random.random() < 0.3:
            blocks.append({"type": "text", "text": self._prose(400)})
        call = self._id("toolu")
        if calls:
            command = {"command": f"rg -n {self._text(30)!r} src", "description": "Search"}
            blocks.append({"type": "tool_use", "id": call, "name": "Bash", "input": command})
        grown = self._random.randrange(900, 4000)
        usage = {
            "input_tokens": grown // 50,
            "cache_creation_input_tokens": grown,
            "cache_read_input_tokens": grown * 8,
            "output_tokens": grown // 8,
            "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
            "service_tier": "standard",
            "cache_creation": {
                "ephemeral_1h_input_tokens": 0,
                "ephemeral_5m_input_tokens": grown,
            },
        }
        name, request = self._id("msg"), self._id("req")
        for number, block in enumerate(blocks):
            message = {
                "id": name,
                "type": "message",
                "role": "assistant",
                "model": "claude-sonnet-4-5-20250929",
                "content": [block],
                "stop_reason": "tool_use" if calls else "end_turn",
                "stop_sequence": None,
                "usage": usage,
            }
            if number == 0:
                counts = (grown // 50, grown * 8, grown, grown // 8)
                self.spent = [a + b for a, b in zip(self.spent, counts, strict=True)]
            yield self._row("assistant", message, requestId=request, apiBlockIndex=number)
        if not calls:
            return
        output = self._text(max(20, self._size(2600, 30000)))
        result = {"tool_use_id": call, "type": "tool_result", "content": output, "is_error": False}
        shown = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        yield self._row("user", {"role": "user", "content": [result]}, toolUseResult=shown)


def make(home: Path, megabytes: int) -> tuple[int, int]:
    """Sessions of this size together; returns the tokens of input, with the cache, and of output."""
    pool = corpus.bodies()
    project = home / "projects" / "-workspace"
    project.mkdir(parents=True)
    left, seed, total = megabytes * 1_000_000, 0, [0, 0, 0, 0]
    while left > 0:
        session = ClaudeSession(seed, pool)
        size = min(left, 6_500_000 if seed % 10 == 0 else 600_000)
        written = 0
        with (project / f"{session.id}.jsonl").open("wb") as file:
            for row in session.rows():
                written += file.write(row)
                if written >= size:
                    break
        total = [a + b for a, b in zip(total, session.spent, strict=True)]
        left -= written
        seed += 1
    return sum(total[:3]), total[3]
