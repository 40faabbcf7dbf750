"""The shapes of response items: what was sent to the model and what it sent back.

They make up most of a rollout, so they are decoded straight from the bytes into these structs, with
only the fields we use: what is not named here (encrypted reasoning, metadata) is skipped unread.
In paginated rollouts outputs stay raw until they are needed, since nearly all of them are duplicates
of an item that was emitted before.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec


class ResponseItem(msgspec.Struct, gc=False, tag_field="type"):
    """Any of them."""


class Part(msgspec.Struct, gc=False):
    """One piece of a message's content, or of a reasoning's summary."""

    type: str = ""
    text: str = ""
    image_url: str | None = None


class MessageItem(ResponseItem, tag="message"):
    role: str
    content: list[Part] | str
    id: str | None = None
    phase: str | None = None


class ReasoningItem(ResponseItem, tag="reasoning"):
    summary: list[Part] = []
    content: list[Part] | None = None
    id: str | None = None


class FunctionCallItem(ResponseItem, tag="function_call"):
    name: str
    call_id: str
    arguments: Any = ""
    namespace: str | None = None


class FunctionOutputItem(ResponseItem, tag="function_call_output"):
    call_id: str | None = None
    output: Any = ""


class RawFunctionOutputItem(ResponseItem, tag="function_call_output"):
    """The same, with the output left undecoded until it is needed."""

    call_id: str | None = None
    output: msgspec.Raw = msgspec.Raw(b'""')


class CustomCallItem(ResponseItem, tag="custom_tool_call"):
    name: str
    call_id: str
    input: str = ""


class CustomOutputItem(FunctionOutputItem, tag="custom_tool_call_output"):
    pass


class RawCustomOutputItem(RawFunctionOutputItem, tag="custom_tool_call_output"):
    pass


class ShellAction(msgspec.Struct, gc=False):
    command: Any = None
    working_directory: Any = None


class LocalShellItem(ResponseItem, tag="local_shell_call"):
    action: ShellAction
    call_id: str | None = None
    id: str | None = None


class WebSearchItem(ResponseItem, tag="web_search_call"):
    id: str | None = None
    action: Any = None


class ImageGenerationItem(ResponseItem, tag="image_generation_call"):
    id: str | None = None
    status: str | None = None
    revised_prompt: str | None = None


class ToolSearchItem(ResponseItem, tag="tool_search_call"):
    call_id: str | None = None
    id: str | None = None
    arguments: Any = None


class ToolSearchOutputItem(ResponseItem, tag="tool_search_output"):
    call_id: str | None = None
    tools: Any = None


class AgentMessageItem(ResponseItem, tag="agent_message"):
    """A letter from one agent to another."""

    author: str = ""
    recipient: str = ""
    content: list[Part] = []


class AdditionalToolsItem(ResponseItem, tag="additional_tools"):
    role: str = "developer"
    tools: msgspec.Raw = msgspec.Raw(b"[]")


class GhostCommit(msgspec.Struct, frozen=True, gc=False):
    id: str = ""


class GhostSnapshotItem(ResponseItem, tag="ghost_snapshot"):
    ghost_commit: GhostCommit = GhostCommit()


class CompactionItem(ResponseItem, tag="compaction"):
    """The model's own, encrypted, summary of what went before."""


class CompactionSummaryItem(CompactionItem, tag="compaction_summary"):
    pass


class ContextCompactionItem(CompactionItem, tag="context_compaction"):
    pass


class CompactionTriggerItem(CompactionItem, tag="compaction_trigger"):
    pass


_WithoutOutput: TypeAlias = (
    MessageItem
    | ReasoningItem
    | FunctionCallItem
    | CustomCallItem
    | LocalShellItem
    | WebSearchItem
    | ImageGenerationItem
    | ToolSearchItem
    | ToolSearchOutputItem
    | AgentMessageItem
    | AdditionalToolsItem
    | GhostSnapshotItem
    | CompactionItem
    | CompactionSummaryItem
    | ContextCompactionItem
    | CompactionTriggerItem
)
AnyResponseItem: TypeAlias = _WithoutOutput | FunctionOutputItem | CustomOutputItem
AnyRawResponseItem: TypeAlias = _WithoutOutput | RawFunctionOutputItem | RawCustomOutputItem
