"""The lines that every agent on this wire prints, under the wire's own names: as much of each as is read.

What an agent may put there is ``Any``: a value of the wrong type must not hide the rest of the line.
"""

from __future__ import annotations

from typing import Any

import msgspec


class StreamLine(msgspec.Struct, gc=False, kw_only=True, tag_field="type"):
    """What lines of every kind may have."""

    session_id: Any = None
    uuid: Any = None
    timestamp: Any = None
    parent_tool_use_id: Any = None
    agent_id: Any = None


class ApiMessage(msgspec.Struct, gc=False, kw_only=True):
    """A message of the Messages API."""

    id: Any = None
    model: Any = None
    content: Any = None
    stop_reason: Any = None
    usage: Any = None


class StreamEvent(StreamLine, kw_only=True, tag="stream_event"):
    event: Any = None


class ControlRequest(StreamLine, kw_only=True, tag="control_request"):
    request_id: Any = None
    request: Any = None


class ControlResponse(StreamLine, kw_only=True, tag="control_response"):
    response: Any = None


class ControlCancelRequest(StreamLine, kw_only=True, tag="control_cancel_request"):
    request_id: Any = None


class KeepAlive(StreamLine, kw_only=True, tag="keep_alive"):
    pass
