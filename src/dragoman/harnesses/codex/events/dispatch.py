"""Reports core events.

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

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.codex.events import conversation, notices, tools
from dragoman.harnesses.codex.events import conversation_shapes as shapes
from dragoman.harnesses.codex.events.shape import Event
from dragoman.harnesses.codex.events.shapes import AnyEvent
from dragoman.harnesses.codex.items.shape import kind_of, user_input
from dragoman.harnesses.codex.responses.items import ResponseItems
from dragoman.model.messages import Outcome, TurnError


class Events:
    """The core events of one session."""

    def __init__(self, out: Output, session: SessionAssembler, responses: ResponseItems) -> None:
        self.out = out
        self.session = session
        self.responses = responses
        self.limits = b"null"
        self.wants_limits = True
        """Whether rate limits are asked for: reading them takes longer than reading the tokens beside them."""
        self.others_count = False
        """Whether tokens are reported by other rows, so that a token count only repeats them."""
        self.announces = False
        """Whether response items follow that have texts and thoughts in their true order."""
        self.starts_have_ends = True
        """Whether a turn whose start is reported will have its end reported, too."""
        self.turn_id: str | None = None
        """The turn an event belongs to, if its envelope names it."""
        self.goes_on = False
        """Whether a migrated file has cut the turn in two, for a picture that the agent asked to see."""
        self.is_migrated = False
        """Whether turns have ids from a migration. Then pictures decide which of them are one turn."""
        self.ends_follow = False
        """Whether the open turn was started by a notification, so that another one will end it."""
        self.end: tuple[Outcome, TurnError | None] | None = None
        """How the turn ended, if an event reported it and the notification has not come yet."""

    def end_turn(self, outcome: Outcome, error: TurnError | None = None) -> None:
        """End the turn, or wait with that for the notification that knows more."""
        if self.ends_follow and self.session.in_turn and self.end is None:
            self.end = (outcome, error)
            self.session.duplicate("turn: its notification carries it")
        else:
            self.session.end_turn(outcome, error)

    def finish(self) -> None:
        """No notification will come."""
        end, self.end, self.ends_follow = self.end, None, False
        if end is not None and self.session.in_turn:
            self.session.end_turn(*end)

    def tell(self, event: AnyEvent) -> bool:
        """Report an event; False if it holds an item of an unknown type."""
        if self.responses.held_text is not None:
            self.settle_before(event)
        self.responses.others_speak = True
        return TELL[type(event)](self, event) is not False

    def settle_before(self, event: AnyEvent) -> None:
        """A response item is held: is this event its duplicate?"""
        if isinstance(event, shapes.UserMessage):
            self.responses.settle(prompt=event.message)
        elif isinstance(event, shapes.TaskStarted) and conversation.is_made_up(event.turn_id):
            return  # its own item comes next
        elif isinstance(event, shapes.TaskComplete) and conversation.is_made_up(event.turn_id):
            self.goes_on = self.responses.is_picture_held()
            self.responses.settle()
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
    **conversation.TELL,
    **tools.TELL,
    **notices.TELL,
}
