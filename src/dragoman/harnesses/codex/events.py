"""Telling core events.

| event | becomes |
|---|---|
| session_configured | session_started |
| task_started / task_complete, turn_aborted, error | turn_started / turn_ended |
| user_message | prompt |
| agent_message, agent_reasoning(_raw_content) | text, thinking |
| …_delta | delta |
| item_started, item_completed | see items |
| raw_response_item | see response_items |
| exec_command_*, patch_apply_*, mcp_tool_call_*, web_search_*, dynamic_tool_call_* | tool_call, tool_result |
| view_image_tool_call, image_generation_*, collab_*, sub_agent_activity | the same |
| plan_update, turn_diff, token_count | plan, diff, usage and rate_limits |
| *_approval_request, request_*, elicitation_request | approval_requested |
| warning, stream_error, background_event, … | notice |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from dragoman.harnesses.codex import event_said_shapes as shapes
from dragoman.harnesses.codex import events_said, events_tools, events_words
from dragoman.harnesses.codex.event_shape import Event
from dragoman.harnesses.codex.event_shapes import AnyEvent
from dragoman.harnesses.codex.item_shape import kind_of, user_input
from dragoman.harnesses.codex.response_items import ResponseItems
from dragoman.harnesses.telling.output import Output
from dragoman.harnesses.telling.teller import Teller


class Events:
    """The core events of one session."""

    def __init__(self, out: Output, teller: Teller, responses: ResponseItems) -> None:
        self.out = out
        self.teller = teller
        self.responses = responses
        self.limits = b"null"
        self.others_count = False
        """Whether tokens are told by other rows, so that a token count only repeats them."""
        self.announces = False
        """Whether response items follow that tell texts and thoughts in their true order."""
        self.starts_have_ends = True
        """Whether a turn whose start is told will have its end told, too."""
        self.turn_id: str | None = None
        """The turn an event belongs to, where its envelope says so."""

    def tell(self, event: AnyEvent) -> bool:
        """Tell an event; False if it holds an item whose type is new to us."""
        if self.responses.held_text is not None:
            self.settle_before(event)
        self.responses.others_speak = True
        return TELL[type(event)](self, event) is not False

    def settle_before(self, event: AnyEvent) -> None:
        """A response item is held: does this event say the same?"""
        if isinstance(event, shapes.UserMessage):
            self.responses.settle(prompt=event.message)
        elif isinstance(event, shapes.ItemStarted | shapes.ItemCompleted):
            kind = kind_of(event.item)
            if kind == "user_message":
                self.responses.settle(prompt=user_input(event.item.content)[0])
            elif kind == "hook_prompt":
                self.responses.settle(is_said=True)
            elif kind != "agent_message":
                self.responses.settle()
        elif not isinstance(event, shapes.AgentMessage | shapes.TokenCount):
            self.responses.settle()


Tell: TypeAlias = Callable[[Events, Any], bool | None]
TELL: Final[dict[type[Event], Tell]] = {
    **events_said.TELL,
    **events_tools.TELL,
    **events_words.TELL,
}
