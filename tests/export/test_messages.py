from __future__ import annotations

from dragoman.export.base import Options
from dragoman.export.messages import MessagesExporter
from dragoman.model.messages import (
    Context,
    Delta,
    Malformed,
    Message,
    Text,
    Unknown,
    decode,
)


def test_every_message_is_a_line_whatever_is_included() -> None:
    said: list[Message] = [
        Text(session_id="s", line=1, text="a\u2028b\n"),
        Delta(of="text", text="a"),
        Context(role="developer", text="be careful"),
        Unknown(native_type="new", raw='{"type":"new"}'),
        Malformed(raw="oops", problem="not JSON"),
    ]

    written = MessagesExporter(Options()).export(said)

    assert [decode(line) for line in written.removesuffix(b"\n").split(b"\n")] == said


def test_a_line_is_compact() -> None:
    written = MessagesExporter(Options()).export(iter([Text(session_id="s", line=1, text="Hi")]))

    assert written == (
        b'{"type":"text","session_id":"s","turn_id":null,"at":null,"line":1,'
        b'"text":"Hi","phase":null,"message_id":null,"item_id":null}\n'
    )
