"""The shape of JSON-RPC traffic with the app-server (v1 and v2) and with the MCP server.

One shape for every message, in either direction: the parameters are the union of the fields we use.
Methods are distinguished by name, in tables; so a method that is new costs nothing but an ``unknown``.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from dragoman.harnesses.codex.items.shape import WireItem
from dragoman.model.usage import Count

ABSENT: Final = msgspec.Raw()
"""What a raw field is when the message does not have it."""


class ThreadInfo(msgspec.Struct, rename="camel", kw_only=True, gc=False):
    id: str | None = None
    model: str | None = None
    cwd: str | None = None
    cli_version: str | None = None
    parent_thread_id: str | None = None
    forked_from_id: str | None = None
    source: Any = None
    preview: str | None = None
    turns: list[Any] = []


class TurnInfo(msgspec.Struct, rename="camel", kw_only=True, gc=False):
    id: str | None = None
    status: str | None = None
    error: Any = None


class WireUsage(msgspec.Struct, rename="camel", gc=False):
    input_tokens: Count = 0
    cached_input_tokens: Count = 0
    cache_write_input_tokens: Count = 0
    output_tokens: Count = 0
    reasoning_output_tokens: Count = 0


class TokenUsage(msgspec.Struct, rename="camel", gc=False):
    total: WireUsage | None = None
    last: WireUsage | None = None
    model_context_window: int | None = None


class Params(msgspec.Struct, rename="camel", kw_only=True, gc=False):
    """The parameters of any message."""

    thread_id: str | None = None
    conversation_id: str | None = None
    turn_id: str | None = None
    item_id: str | None = None
    thread: ThreadInfo | None = None
    turn: TurnInfo | None = None
    item: msgspec.Raw = ABSENT
    delta: Any = None
    status: Any = None
    error: Any = None
    message: str | None = None
    # codex/event
    id: Any = None
    msg: msgspec.Raw = ABSENT
    meta: Any = msgspec.field(default=None, name="_meta")
    # turns
    plan: Any = None
    explanation: str | None = None
    diff: str | None = None
    token_usage: TokenUsage | None = None
    usage: Any = None
    will_retry: bool = False
    # threads and accounts
    rate_limits: Any = None
    primary: Any = None
    secondary: Any = None
    thread_name: str | None = None
    section_id: str | None = None
    goal: Any = None
    thread_settings: Any = None
    session_id: str | None = None
    model: str | None = None
    # words
    summary: str | None = None
    details: str | None = None
    name: str | None = None
    run: Any = None
    review: Any = None
    from_model: str | None = None
    to_model: str | None = None
    # requests of either side
    input: Any = None
    items: Any = None
    arguments: Any = None
    call_id: str | None = None
    approval_id: str | None = None
    command: Any = None
    cwd: str | None = None
    reason: str | None = None
    file_changes: Any = None
    available_decisions: Any = None
    questions: Any = None
    permissions: Any = None
    server_name: str | None = None
    tool: str | None = None
    namespace: str | None = None
    request_id: Any = None
    before_turn_id: str | None = None
    num_turns: Any = None
    success: Any = None


class Rpc(msgspec.Struct, rename="camel", kw_only=True, gc=False):
    """Any message."""

    id: int | str | None = None
    method: str | None = None
    params: Params | None = None
    error: Any = None
    emitted_at_ms: int | None = None


decode_item = msgspec.json.Decoder(WireItem).decode
NO_PARAMS = Params()
