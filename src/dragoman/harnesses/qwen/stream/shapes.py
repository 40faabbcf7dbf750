"""The lines of the stream, under the wire's own names: as much of each as is read.

What the program may put there is ``Any``: a value of the wrong type must not hide the rest of the line.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from dragoman.harnesses.stream_json.shapes import (
    ApiMessage,
    ControlCancelRequest,
    ControlRequest,
    ControlResponse,
    KeepAlive,
    StreamEvent,
    StreamLine,
)


class System(StreamLine, kw_only=True, tag="system"):
    subtype: str = ""
    # init
    cwd: Any = None
    model: Any = None
    qwen_code_version: Any = None
    permission_mode: Any = None
    # every other kind
    data: Any = None


class Assistant(StreamLine, kw_only=True, tag="assistant"):
    message: ApiMessage


class User(StreamLine, kw_only=True, tag="user"):
    message: ApiMessage


class Result(StreamLine, kw_only=True, tag="result"):
    is_error: Any = None
    result: Any = None
    error: Any = None
    duration_ms: Any = None
    usage: Any = None


AnyLine: TypeAlias = (
    System
    | Assistant
    | User
    | StreamEvent
    | Result
    | ControlRequest
    | ControlResponse
    | ControlCancelRequest
    | KeepAlive
)

decode_line = msgspec.json.Decoder(AnyLine).decode
