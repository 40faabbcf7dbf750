"""The rows of a chat, under the file's own names: as much of each as is read."""

from __future__ import annotations

from typing import Any

import msgspec


class ChatRow(msgspec.Struct, gc=False, kw_only=True):
    """A row of any kind."""

    type: str
    sessionId: str
    uuid: Any = None
    parentUuid: Any = None
    timestamp: Any = None
    subtype: Any = None
    cwd: Any = None
    version: Any = None
    forkedFrom: Any = None
    """The row that this one was copied from, when a session was forked."""
    backgroundTurn: Any = None
    """The turn that the agent began by itself, when a task had ended."""

    # A sub-agent's.
    agentId: Any = None
    agentName: Any = None
    isSidechain: Any = None

    # A message.
    message: Any = None
    model: Any = None
    usageMetadata: Any = None
    contextWindowSize: Any = None
    toolCallResult: Any = None

    # What the program itself has to say.
    systemPayload: Any = None


decode_row = msgspec.json.Decoder(ChatRow).decode
