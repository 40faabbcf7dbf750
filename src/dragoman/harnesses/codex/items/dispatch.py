"""Reports items, whichever dialect they come from.

| item | becomes |
|---|---|
| user_message | prompt |
| agent_message, assistant_message | text |
| reasoning | thinking, one for each part |
| command_execution, file_change, mcp_tool_call, dynamic_tool_call, … | tool_call, tool_result |
| collab_agent_tool_call, collab_tool_call, sub_agent_activity | the same, for sub-agents |
| web_search, image_view, image_generation, sleep, extension | the same |
| todo_list, plan | plan |
| context_compaction | compacted |
| error, entered_review_mode | notice |
| exited_review_mode | text: the review itself |
| hook_prompt | context |
"""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.codex.items import conversation, tools
from dragoman.harnesses.codex.items.shape import Tell, ThreadItem, kind_of

_BY_KIND: Final[dict[str, Tell]] = {**conversation.TELL, **tools.TELL}
_SAID: Final = frozenset(
    ("user_message", "agent_message", "reasoning", "plan", "context_compaction", "hook_prompt")
)


def _spellings(kind: str) -> tuple[str, str, str]:
    """``command_execution``, ``commandExecution`` and ``CommandExecution``."""
    pascal = "".join(word.capitalize() for word in kind.split("_"))
    return kind, pascal[0].lower() + pascal[1:], pascal


_TELL: Final = {name: tell for kind, tell in _BY_KIND.items() for name in _spellings(kind)}
SAID: Final = frozenset(name for kind in _SAID for name in _spellings(kind))
"""The types of items that are words and no tools, in every spelling."""


def knows_kind(name: str) -> bool:
    """Whether items of this type are emitted."""
    return name in _TELL


def tell_item(session: SessionAssembler, channel: str, item: ThreadItem, *, done: bool) -> bool:
    """Report an item that began (or changed), or that is done. False if its type is unknown."""
    tell = _TELL.get(item.type) or _BY_KIND.get(kind_of(item))
    if tell is None:
        return False
    tell(session, channel, item, done)
    return True
