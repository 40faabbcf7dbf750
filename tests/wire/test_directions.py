"""Who sent a recorded line, in the words of several journals."""

from __future__ import annotations

import pytest

from dragoman.wire.directions import Unwrapped, unwrap


@pytest.mark.parametrize(
    ("line", "inner", "sent", "way"),
    [
        (b'{"dir":"send","t":1.5,"msg":{"a":1}}', b'{"a":1}', True, "send"),
        (b'{"dir": "recv", "msg": {"a":1}}', b'{"a":1}', False, "recv"),
        (b'{"dir": "in", "t": 0, "msg": {"a":1}}', b'{"a":1}', True, "in"),
        (b'{"t": 0.1, "dir": "out", "raw": "{\\"a\\":1}"}', b'{"a":1}', False, "out"),
        (b'{"dir": "in", "msg": "<EOF>"}', b"<EOF>", True, "in"),
        (b'{"dir": "meta", "msg": {}}', b"{}", None, "meta"),
        (b'{"dir": "meta", "cmd": []}', b'{"dir": "meta", "cmd": []}', None, "meta"),
        (b'{"a":1}', b'{"a":1}', None, ""),
        (b'{"dir": 3}', b'{"dir": 3}', None, ""),
    ],
)
def test_a_wrapper_says_who_sent_a_line(
    line: bytes, inner: bytes, sent: bool | None, way: str
) -> None:
    assert unwrap(line) == Unwrapped(inner, sent, way)
