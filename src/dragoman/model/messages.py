"""What an agent can report: one flat, frozen struct per kind of message.

The JSON names are a public contract (``dragoman convert --to messages``): a field is never
renamed, a message never changes its meaning, new ones may come. Every message carries the same
five things first: ``type``, ``session_id``, ``turn_id``, ``at`` and ``line``.

Messages are made by parsers and are equal when their contents are; the same bytes always give the
same messages. Nothing here knows a harness, a file or a clock.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, TypeAlias

import msgspec

from dragoman.model.usage import Usage

Phase: TypeAlias = Literal["commentary", "final_answer"]
ResultStatus: TypeAlias = Literal["completed", "failed", "declined", "abandoned"]
StepStatus: TypeAlias = Literal["pending", "in_progress", "completed"]
DeltaOf: TypeAlias = Literal["text", "thinking", "output", "plan"]
ApprovalKind: TypeAlias = Literal[
    "command", "edit", "permissions", "question", "elicitation", "tool"
]
Level: TypeAlias = Literal["info", "warning", "error"]
Outcome: TypeAlias = Literal["completed", "failed", "interrupted"]


class BaseMessage(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", gc=False):
    """What all messages have in common. Never sent as such."""

    session_id: str | None = None
    turn_id: str | None = None
    at: datetime | None = None
    """When it happened, in UTC; null when the dialect carries no time."""
    line: int = 0
    """The line of the source that it comes from, counted from 1."""


class SessionStarted(BaseMessage, frozen=True, kw_only=True, tag="session_started"):
    """A session started, was resumed, or continues with another model or directory."""

    harness: str
    version: str | None = None
    model: str | None = None
    cwd: str | None = None
    parent_session_id: str | None = None
    parent_call_id: str | None = None
    """For a sub-agent: the tool call of the parent that started it, if the harness reports it."""
    transport: str | None = None
    """How a live session is driven (``app-server``, ``stream-json`` …); null for what was only read."""


class TurnStarted(BaseMessage, frozen=True, kw_only=True, tag="turn_started"):
    """The agent began to work on a prompt."""


class Prompt(BaseMessage, frozen=True, kw_only=True, tag="prompt"):
    """What the user asked."""

    text: str
    images: list[str] = []
    """Paths, addresses or ``data:`` addresses, as the dialect has them."""


class Context(BaseMessage, frozen=True, kw_only=True, tag="context"):
    """Instructions the harness put before the model; readers hide it by default."""

    role: str
    text: str


class Text(BaseMessage, frozen=True, kw_only=True, tag="text"):
    """A complete text from the agent to the user."""

    text: str
    phase: Phase | None = None
    message_id: str | None = None
    item_id: str | None = None
    """The id of this one text, where ``message_id`` is shared by all parts of a model response."""


class Thinking(BaseMessage, frozen=True, kw_only=True, tag="thinking"):
    """Reasoning that the harness shows, whole: one part of a summary, or the raw chain."""

    text: str
    item_id: str | None = None


class ToolCall(BaseMessage, frozen=True, kw_only=True, tag="tool_call"):
    """The agent began to use a tool. Its :class:`ToolResult` has the same ``call_id``."""

    call_id: str
    tool: str
    """Claude's name for the tool (see :mod:`dragoman.model.tools`), or the native one."""
    native_tool: str
    input: dict[str, Any] = {}


class ToolResult(BaseMessage, frozen=True, kw_only=True, tag="tool_result"):
    """A tool call came to its end."""

    call_id: str
    output: str = ""
    is_error: bool = False
    exit_code: int | None = None
    duration_ms: int | None = None
    status: ResultStatus = "completed"
    """``abandoned``: the turn ended without a result of the call."""


class PlanStep(msgspec.Struct, frozen=True, gc=False):
    """A step of a plan."""

    text: str
    status: StepStatus = "pending"


class Plan(BaseMessage, frozen=True, kw_only=True, tag="plan"):
    """The agent's plan as it now stands."""

    steps: list[PlanStep] = []
    explanation: str | None = None


class Diff(BaseMessage, frozen=True, kw_only=True, tag="diff"):
    """All that this turn has changed in the workspace so far."""

    unified: str


class Delta(BaseMessage, frozen=True, kw_only=True, tag="delta"):
    """A part of a message that is still being written. May be dropped: the complete message always follows."""

    of: DeltaOf
    message_id: str | None = None
    """The ``message_id`` of the text, or the ``call_id`` of the tool call, it belongs to."""
    text: str


class UsageReport(BaseMessage, frozen=True, kw_only=True, tag="usage"):
    """Tokens spent: by the whole session so far, and by the newest model response."""

    total: Usage | None = None
    last: Usage | None = None
    context_window: int | None = None
    response_id: str | None = None
    """The model response that ``last`` belongs to. A ledger counts each response once, in whichever file it is."""
    model: str | None = None
    """The model that answered, if the harness reports it: a sub-agent may use another one than its session."""
    cost: float | None = None
    """US dollars that the agent itself reports for the session so far."""


class RateWindow(msgspec.Struct, frozen=True, gc=False):
    """How much of an allowance of the account is used."""

    name: str
    used_percent: float | None = None
    resets_at: datetime | None = None


class RateLimits(BaseMessage, frozen=True, kw_only=True, tag="rate_limits"):
    """How much of the account's allowance is used up."""

    windows: list[RateWindow] = []


class AlwaysAllow(msgspec.Struct, frozen=True, kw_only=True):
    """The rule that the harness writes down when the decision is ``allow_always``."""

    prefix: list[str] = []
    """Commands that begin with exactly these words will run without being asked about."""
    host: str | None = None
    """Or: connections to this host."""
    stored_in: str | None = None
    """The file that the rule is written to, if known."""


class ApprovalRequested(BaseMessage, frozen=True, kw_only=True, tag="approval_requested"):
    """The agent asks before it does something, or asks a question."""

    approval_id: str
    kind: ApprovalKind
    tool: str | None = None
    summary: str = ""
    detail: dict[str, Any] = {}
    choices: list[str] = []
    command: str | None = None
    """The whole command line as it will run, wrapping shell included. ``detail["command"]`` is the script."""
    argv: list[str] | None = None
    """The arguments of the command, if the harness sends them instead of a line."""
    shell: str | None = None
    """The wrapping shell and its flags, ``/bin/zsh -lc``, where the command is a script for one."""
    cwd: str | None = None
    """The directory it will run in, if the harness reports it."""
    always: AlwaysAllow | None = None
    """What ``allow_always`` would remember, where the harness proposes a rule."""
    form: dict[str, Any] | None = None
    """For elicitations: the JSON schema that the content of the answer must fit."""
    url: str | None = None
    """For elicitations: an address that the person is asked to visit. It is shown and never opened."""


class ApprovalSettled(BaseMessage, frozen=True, kw_only=True, tag="approval_settled"):
    """The question was answered, withdrawn or overtaken."""

    approval_id: str
    decision: str
    detail: dict[str, Any] = {}
    """What the answer adds to the decision: ``message`` (why it was denied), ``input`` (the call as it was edited),
    ``rules`` and ``permissions`` (what is allowed from now on, in the harness's own words)."""


class Notice(BaseMessage, frozen=True, kw_only=True, tag="notice"):
    """A word from the harness itself."""

    level: Level
    text: str
    will_retry: bool = False
    undone_turns: int = 0
    """How many of the turns before this notice the harness has taken back."""


class Compacted(BaseMessage, frozen=True, kw_only=True, tag="compacted"):
    """The harness replaced the conversation so far by a summary."""

    summary: str | None = None


class TurnError(msgspec.Struct, frozen=True, gc=False):
    """Why a turn failed."""

    kind: str
    message: str
    retryable: bool
    native: str | None = None
    """The harness's own word for it."""
    details: str | None = None
    """Details besides the message."""


class TurnEnded(BaseMessage, frozen=True, kw_only=True, tag="turn_ended"):
    """The agent stopped working on a prompt."""

    outcome: Outcome
    error: TurnError | None = None
    usage: Usage | None = None
    """This turn's own tokens; null when the dialect does not report them."""


class SessionEnded(BaseMessage, frozen=True, kw_only=True, tag="session_ended"):
    """The process will report nothing more in this session."""

    reason: str


class Unknown(BaseMessage, frozen=True, kw_only=True, tag="unknown"):
    """A well-formed line that is new to us, kept whole."""

    native_type: str
    raw: str


class Malformed(BaseMessage, frozen=True, kw_only=True, tag="malformed"):
    """A line that is not JSON, kept whole or, when it is too long, by its head and tail."""

    raw: str
    problem: str


Message: TypeAlias = (
    SessionStarted
    | TurnStarted
    | Prompt
    | Context
    | Text
    | Thinking
    | ToolCall
    | ToolResult
    | Plan
    | Diff
    | Delta
    | UsageReport
    | RateLimits
    | ApprovalRequested
    | ApprovalSettled
    | Notice
    | Compacted
    | TurnEnded
    | SessionEnded
    | Unknown
    | Malformed
)

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[Message] = msgspec.json.Decoder(Message)


def encode(message: Message) -> bytes:
    """The message as one line of JSON, without the newline."""
    return _encoder.encode(message)


def decode(line: bytes | str) -> Message:
    """The message that :func:`encode` wrote. Raises ``msgspec.ValidationError`` for anything else."""
    return _decoder.decode(line)


def type_of(kind: type[BaseMessage]) -> str:
    """The JSON ``type`` of a message class: ``tool_call`` for :class:`ToolCall`."""
    return str(kind.__struct_config__.tag)


MESSAGE_TYPES: dict[str, type[BaseMessage]] = {
    type_of(kind): kind for kind in BaseMessage.__subclasses__()
}
"""Every message class by the name it has in JSON."""
