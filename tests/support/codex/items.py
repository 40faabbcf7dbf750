"""Reporting an item to a session."""

from __future__ import annotations

import msgspec

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.codex.items.dispatch import tell_item
from dragoman.harnesses.codex.items.shape import ThreadItem, WireItem
from dragoman.model.messages import Message


def tell(session: SessionAssembler, row: str, *, wire: bool = False, done: bool = True) -> None:
    item = msgspec.json.decode(row, type=WireItem if wire else ThreadItem)
    assert tell_item(session, "item", item, done=done)


def told(out: Output) -> list[Message]:
    """The messages, without their place in the stream."""
    return [
        msgspec.structs.replace(message, session_id=None, turn_id=None)
        for message in out.take_messages()
    ]
