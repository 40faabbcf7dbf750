"""Reports response items: the history that Codex keeps for the model.

| item | becomes |
|---|---|
| message, role user | prompt if an event or item confirms it, or nothing else could; or context |
| message, role assistant | text, mostly the duplicate of an event or item |
| message, other roles; additional_tools | context |
| reasoning | thinking, mostly the duplicate of an event or item |
| function_call, custom_tool_call, local_shell_call, tool_search_call | tool_call |
| …_output | tool_result, mostly the duplicate of an item or end event |
| web_search_call, image_generation_call | tool_call and tool_result |
| agent_message | context: a letter between agents |
| ghost_snapshot | notice |
| compaction… | compacted |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.codex.responses import shapes
from dragoman.harnesses.codex.responses.calls import ResponseCalls
from dragoman.harnesses.codex.responses.messages import CHANNEL, text_of
from dragoman.harnesses.codex.tools.calls import function_call, web_call
from dragoman.harnesses.codex.values.loose import as_dict, as_list
from dragoman.model.tools import TOOL_SEARCH


class ResponseItems(ResponseCalls):
    """The response items of one session."""

    def __init__(self, out: Output, session: SessionAssembler, *, alone: bool) -> None:
        super().__init__(out, session, alone=alone)
        self.nameless_searches: list[tuple[str, dict[str, Any]]] = []
        """Web searches that an event announced, whose response items may come without their id."""

    def tell(self, item: shapes.AnyResponseItem) -> None:
        TELL[type(item)](self, item)

    def end_turn(self) -> None:
        super().end_turn()
        self.nameless_searches.clear()

    def web_search(self, item: shapes.WebSearchItem) -> None:
        tool, call = web_call(None, item.action)
        if item.id is None and (tool, call) in self.nameless_searches:
            self.nameless_searches.remove((tool, call))
            self._session.duplicate("web search: emitted before")
            return
        call_id = item.id or f"line-{self._out.line}"
        self._session.call(call_id, tool, "web_search", call)
        self._session.result(call_id)

    def image_generation(self, item: shapes.ImageGenerationItem) -> None:
        call_id = item.id or f"line-{self._out.line}"
        prompt = {"prompt": item.revised_prompt} if item.revised_prompt else {}
        self._session.call(call_id, "image_generation", "image_generation", prompt)
        self._session.result(call_id, is_error=item.status == "failed")

    def tool_search(self, item: shapes.ToolSearchItem) -> None:
        call_id = item.call_id or item.id or f"line-{self._out.line}"
        call = function_call("tool_search", None, item.arguments, None)
        self._session.call(call_id, TOOL_SEARCH, "tool_search", call.input)

    def tool_search_output(self, item: shapes.ToolSearchOutputItem) -> None:
        found = [
            f"{group.get('name')}.{tool.get('name')}"
            if group.get("tools")
            else str(tool.get("name"))
            for group in _dicts(item.tools)
            for tool in (_dicts(group.get("tools")) or [group])
        ]
        self._session.result(item.call_id or f"line-{self._out.line}", "\n".join(found))

    def agent_message(self, item: shapes.AgentMessageItem) -> None:
        letter = f"from {item.author} to {item.recipient}\n{text_of(item.content)}"
        self._session.context("agent", letter)

    def additional_tools(self, item: shapes.AdditionalToolsItem) -> None:
        self._session.context(item.role, bytes(item.tools).decode(errors="replace"))

    def ghost_snapshot(self, item: shapes.GhostSnapshotItem) -> None:
        self._session.notice(CHANNEL, "info", f"snapshot of the workspace: {item.ghost_commit.id}")

    def compaction(self, item: shapes.CompactionItem) -> None:
        self._session.compacted(CHANNEL)


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [as_dict(entry) for entry in as_list(value)]


_Tell: TypeAlias = Callable[[ResponseItems, Any], None]
TELL: Final[dict[type[shapes.ResponseItem], _Tell]] = {
    shapes.MessageItem: ResponseItems.message,
    shapes.ReasoningItem: ResponseItems.reasoning,
    shapes.FunctionCallItem: ResponseItems.function_call,
    shapes.FunctionOutputItem: ResponseItems.output,
    shapes.CustomCallItem: ResponseItems.custom_call,
    shapes.CustomOutputItem: ResponseItems.output,
    shapes.RawFunctionOutputItem: ResponseItems.raw_output,
    shapes.RawCustomOutputItem: ResponseItems.raw_output,
    shapes.LocalShellItem: ResponseItems.local_shell,
    shapes.WebSearchItem: ResponseItems.web_search,
    shapes.ImageGenerationItem: ResponseItems.image_generation,
    shapes.ToolSearchItem: ResponseItems.tool_search,
    shapes.ToolSearchOutputItem: ResponseItems.tool_search_output,
    shapes.AgentMessageItem: ResponseItems.agent_message,
    shapes.AdditionalToolsItem: ResponseItems.additional_tools,
    shapes.GhostSnapshotItem: ResponseItems.ghost_snapshot,
    shapes.CompactionItem: ResponseItems.compaction,
    shapes.CompactionSummaryItem: ResponseItems.compaction,
    shapes.ContextCompactionItem: ResponseItems.compaction,
    shapes.CompactionTriggerItem: ResponseItems.compaction,
}
