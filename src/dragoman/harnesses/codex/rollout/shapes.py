"""The shapes of rollout rows, of every age, in one union.

One decode per row: the row's tag, then the payload's, straight from the bytes. A row that fits no
shape is decoded again, loosely, and kept as ``unknown``; that costs an exception, not data.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, TypeAlias

import msgspec

from dragoman.harnesses.codex.events.shapes import AnyEvent
from dragoman.harnesses.codex.responses.shapes import AnyRawResponseItem, AnyResponseItem
from dragoman.harnesses.codex.values.loose import as_dict, as_str
from dragoman.model.usage import Usage

Moment: TypeAlias = Annotated[datetime, msgspec.Meta(tz=True)]


class Row(msgspec.Struct, kw_only=True, gc=False, tag_field="type"):
    """Any row since 0.34."""

    timestamp: Moment | None = None


class SessionMeta(msgspec.Struct, kw_only=True, gc=False):
    id: str
    cwd: str | None = None
    cli_version: str | None = None
    source: Any = None
    parent_thread_id: str | None = None
    forked_from_id: str | None = None
    history_mode: str | None = None
    dragoman_handoff: Any = None
    """Where Dragoman has handed this session off from."""

    @property
    def parent(self) -> str | None:
        """The session that spawned this one, or that it was forked from."""
        spawn = as_dict(as_dict(as_dict(self.source).get("subagent")).get("thread_spawn"))
        return (
            self.parent_thread_id
            or as_str(spawn.get("parent_thread_id"))
            or self.forked_from_id
            or as_str(as_dict(self.dragoman_handoff).get("session_id"))
        )


class SessionMetaRow(Row, kw_only=True, tag="session_meta"):
    payload: SessionMeta


class ResponseItemRow(Row, kw_only=True, tag="response_item"):
    payload: AnyResponseItem


class RawResponseItemRow(Row, kw_only=True, tag="response_item"):
    payload: AnyRawResponseItem


class EventRow(Row, kw_only=True, tag="event_msg"):
    payload: AnyEvent


class TurnContext(msgspec.Struct, gc=False):
    model: str | None = None
    cwd: str | None = None


class TurnContextRow(Row, kw_only=True, tag="turn_context"):
    payload: TurnContext


class CompactedPayload(msgspec.Struct, gc=False):
    message: str | None = None


class CompactedRow(Row, kw_only=True, tag="compacted"):
    payload: CompactedPayload


class TokenUsageRecord(msgspec.Struct, gc=False):
    usage: Usage | None = None
    thread_token_usage: Usage | None = None
    response_id: str | None = None


class TokenUsageRow(Row, kw_only=True, tag="token_usage_record"):
    payload: TokenUsageRecord


class HandoffPayload(msgspec.Struct, gc=False):
    harness: str
    session_id: str


class HandoffRow(Row, kw_only=True, tag="dragoman_handoff"):
    """Where the history ends that Dragoman has handed off."""

    payload: HandoffPayload


class WorldStateRow(Row, kw_only=True, tag="world_state"):
    pass


class RetainedContextRow(Row, kw_only=True, tag="retained_context"):
    payload: msgspec.Raw = msgspec.Raw(b"{}")


class InterAgentRow(Row, kw_only=True, tag="inter_agent_communication"):
    payload: msgspec.Raw = msgspec.Raw(b"{}")


class InterAgentMetadataRow(Row, kw_only=True, tag="inter_agent_communication_metadata"):
    pass


class SecurityRiskRow(Row, kw_only=True, tag="security_risk_score"):
    pass


_OtherRow: TypeAlias = (
    SessionMetaRow
    | EventRow
    | TurnContextRow
    | CompactedRow
    | TokenUsageRow
    | WorldStateRow
    | HandoffRow
    | RetainedContextRow
    | InterAgentRow
    | InterAgentMetadataRow
    | SecurityRiskRow
    | AnyResponseItem  # rows up to 0.29 are bare response items
)
AnyRow: TypeAlias = _OtherRow | ResponseItemRow
AnyPaginatedRow: TypeAlias = _OtherRow | RawResponseItemRow
