"""What a client asks of a relay: a line of words, and for a sending the bytes it announces.

| request | meaning |
|---|---|
| ``attach FIRST r`` | send every record from this number on; 0: from the next one |
| ``attach FIRST w`` | the same, and be the one who writes: earlier writers are refused from here on |
| ``send FENCE ID LENGTH`` and a line | write this line to the agent, once, however often it is sent under this id |
| ``end FENCE`` | close the agent's standard input |
| ``stop`` | end the agent, and the relay |
| ``status`` | tell the relay's state |

The relay process imports this module: standard library only, so that it starts quickly.
"""

from __future__ import annotations

from typing import Final, NamedTuple

LONGEST_LINE: Final = 64 << 20
_LONGEST_HEAD: Final = 200
_WORDS: Final = {b"attach": 3, b"send": 4, b"end": 2, b"stop": 1, b"status": 1}


class RelayRequest(NamedTuple):
    """One request."""

    verb: bytes
    number: int = 0
    """The first record, or the fence."""
    name: bytes = b""
    """The id of a sending; ``r`` or ``w`` for an attachment."""
    line: bytes = b""


class BrokenRequest(Exception):
    """What was received is no request. The connection has no meaning any more."""


class RequestSplitter:
    """Splits one stream of bytes into requests, however it is chunked."""

    def __init__(self) -> None:
        self._held = bytearray()

    def receive(self, data: bytes) -> list[RelayRequest]:
        """Return the requests that ``data`` completes. Raises :class:`BrokenRequest`."""
        self._held += data
        requests: list[RelayRequest] = []
        while (found := self._next()) is not None:
            requests.append(found)
        return requests

    def _next(self) -> RelayRequest | None:
        end = self._held.find(b"\n", 0, _LONGEST_HEAD)
        if end < 0:
            if len(self._held) >= _LONGEST_HEAD:
                raise BrokenRequest("a request without an end")
            return None
        head = bytes(self._held[:end])
        verb, *words = head.split(b" ")
        if _WORDS.get(verb) != len(words) + 1:
            raise BrokenRequest(f"not a request: {head[:40]!r}")
        numbers = [
            _number(word) for word in (words[:1] + words[2:] if verb == b"send" else words[:1])
        ]
        if verb != b"send":
            del self._held[: end + 1]
            name = words[1] if verb == b"attach" else b""
            if verb == b"attach" and name not in (b"r", b"w"):
                raise BrokenRequest(f"not a request: {head[:40]!r}")
            return RelayRequest(verb, numbers[0] if numbers else 0, name)
        fence, length = numbers
        if length > LONGEST_LINE:
            raise BrokenRequest(f"a line of {length} bytes")
        if len(self._held) < end + 1 + length:
            return None
        line = bytes(self._held[end + 1 : end + 1 + length])
        del self._held[: end + 1 + length]
        return RelayRequest(verb, fence, words[1], line)


def _number(word: bytes) -> int:
    if not word.isdigit() or len(word) > 18:
        raise BrokenRequest(f"not a number: {word[:40]!r}")
    return int(word)
