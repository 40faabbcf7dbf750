"""Rows that need not be decoded, or not whole, known by a glance at their first bytes.

In a paginated rollout nearly half of the rows, and more than half of the bytes, repeat what an item
has emitted: the output that the model was given, its reasoning, its texts. They name the same id, and
their id is where it always is. A row that does not look exactly so is decoded like any other, and
emits the same.
"""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.assembly.assembler import SessionAssembler

_MARK: Final = b'"payload":{"type":"'
_REASONING: Final = b'"payload":{"type":"reasoning",'
_SECRET: Final = b'"encrypted_content":"'
_OUTPUTS: Final = (b'function_call_output"', b'custom_tool_call_output"')
_FC: Final = b"fc"
_R, _M, _T = b"rmt"


def without_secret(line: bytes) -> bytes:
    """A row of reasoning without what only the model's makers can read; other rows as they are."""
    if line.find(_REASONING, 30, 110) < 0:
        return line
    start = line.find(_SECRET) + len(_SECRET)
    end = line.find(b'"', start)
    return line if start < len(_SECRET) or end < 0 else line[:start] + line[end:]


class Glance:
    """Looks at the rows of one paginated rollout."""

    __slots__ = ("_limits", "_session", "counts_are_duplicates")

    def __init__(self, session: SessionAssembler) -> None:
        self._session = session
        self._limits = b""
        self.counts_are_duplicates = False
        """Whether tokens are reported by other rows, so that a token count can only contain rate limits."""

    def is_duplicate(self, line: bytes) -> bool:
        """Whether the row repeats what was emitted; if so, it is noted as a duplicate."""
        start = line.find(_MARK, 30, 110)
        if start < 0:
            return False
        start += len(_MARK)
        if start == len(line):
            return False  # truncated right after the mark
        first = line[start]
        session = self._session
        if first in _FC:
            if not line.startswith(_OUTPUTS, start):
                return False
            call_id = _value(line, b'"call_id":"', start, 160)
            if not call_id or not session.calls.is_closed(call_id):
                return False
            session.duplicate("tool result: emitted before")
        elif first == _R:
            if not line.startswith(b'reasoning"', start):
                return False
            return session.repeats_thought(_value(line, b'"id":"', start, 40))
        elif first == _M:
            if not line.startswith(b'message"', start):
                return False
            return session.repeats_text(_value(line, b'"id":"', start, 60))
        elif first == _T and self.counts_are_duplicates:
            if not line.startswith(b'token_count"', start):
                return False
            at = line.find(b'"rate_limits":', start)
            limits = line[at:]
            if at < 0 or limits != self._limits:
                self._limits = limits
                return False
            session.duplicate("usage: the usage record carries it")
        else:
            return False
        return True


def _value(line: bytes, key: bytes, start: int, within: int) -> str:
    """The string under this key, if it comes soon."""
    at = line.find(key, start, start + within)
    if at < 0:
        return ""
    at += len(key)
    return line[at : line.find(b'"', at)].decode(errors="replace")
