"""What the program itself tells the model at the beginning of a chat."""

from __future__ import annotations

import re
from typing import Any, Final

from dragoman.harnesses.gemini_tools.parts import parts_of
from dragoman.wire.loose import as_dict, as_list

CONTEXTS: Final = ("<session_context>", "<hook_context>", "<loaded_context>")
_WORKSPACE: Final = re.compile(
    r"^- \*\*Workspace Directories:\*\*\s*\n\s*- (.+)$|working in the directory: (.+)$",
    re.MULTILINE,
)


def workspace(patch: dict[str, Any]) -> str | None:
    """The folder that the first message of a new chat names; the first of several."""
    for message in map(as_dict, as_list(patch.get("messages"))):
        found = _WORKSPACE.search(parts_of(message.get("content")).text)
        if found is not None:
            return (found[1] or found[2]).strip()
    return None
