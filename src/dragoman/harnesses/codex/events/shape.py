"""What all core events are: ``{"type": "exec_command_begin", …}``.

They come in ``codex exec --json`` up to 0.42, ``codex proto``, the MCP server's ``codex/event``,
app-server v1 (and beside v2 up to 0.114) as ``codex/event/<type>``, and in rollouts as ``event_msg``.
Their shapes have only the fields we use, under upstream's names.
"""

from __future__ import annotations

import msgspec


class Event(msgspec.Struct, gc=False, tag_field="type"):
    """Any of them."""


def tagged(shape: type[msgspec.Struct]) -> list[type[msgspec.Struct]]:
    """The shapes that exist on the wire, among this one and its subclasses."""
    own = [] if shape.__name__.startswith("_") or shape.__base__ is msgspec.Struct else [shape]
    return own + [one for child in shape.__subclasses__() for one in tagged(child)]


def tag_of(shape: type[msgspec.Struct]) -> str:
    return str(shape.__struct_config__.tag)
