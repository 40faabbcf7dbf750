"""Every core event in one union, to decode into."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, Union

from dragoman.harnesses.codex.events import conversation_shapes, notice_shapes, tool_shapes
from dragoman.harnesses.codex.events.shape import Event, tagged

_ALL = (conversation_shapes, tool_shapes, notice_shapes)
"""The modules whose events are meant; importing them makes their shapes known."""

if TYPE_CHECKING:
    AnyEvent: TypeAlias = Event
else:
    AnyEvent = Union[tuple(tagged(Event))]  # noqa: UP007  the members are known only now
