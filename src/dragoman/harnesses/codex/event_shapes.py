"""Every core event in one union, to decode into."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, Union

from dragoman.harnesses.codex import event_said_shapes, event_tool_shapes, event_word_shapes
from dragoman.harnesses.codex.event_shape import Event, tagged

_ALL = (event_said_shapes, event_tool_shapes, event_word_shapes)
"""The modules whose events are meant; importing them makes their shapes known."""

if TYPE_CHECKING:
    AnyEvent: TypeAlias = Event
else:
    AnyEvent = Union[tuple(tagged(Event))]  # noqa: UP007  the members are known only now
