"""What we ask an agent to do: one flat, frozen struct per wish.

Messages are what an agent reports; intents are what it is asked to do. They are plain values with our own names,
whatever a release calls the same thing: a harness's conversation turns them into lines. The answer to
a wish arrives as messages, and as one :class:`~dragoman.harnesses.contract.reading.Answer` for each intent.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from dragoman.model.answers import AgentAccount

Sandbox: TypeAlias = Literal["read-only", "workspace-write", "danger-full-access"]
"""How far the agent's commands may reach."""
ApprovalMode: TypeAlias = Literal["untrusted", "on-failure", "on-request", "never"]
"""When the agent asks before it acts. ``never``: it does what the sandbox allows, and nothing more."""
Effort: TypeAlias = str


class BaseIntent(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """What all intents have in common."""


class ToolSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A tool of ours that the model may call: a name, what it is for, a JSON schema of its input."""

    name: str
    description: str
    input_schema: dict[str, Any]
    namespace: str | None = None


class Greet(BaseIntent, frozen=True, kw_only=True, tag="greet"):
    """Start the exchange: identify ourselves, learn about the agent, sign in if necessary.

    Answered with a :class:`ServerFacts`.
    """

    client: str
    client_version: str
    api_key: str | None = None
    """Used only when no one is signed in; never shown."""


class OpenSession(BaseIntent, frozen=True, kw_only=True, tag="open_session"):
    """Start a session, resume one, or branch one off. Answered with a :class:`SessionFacts`.

    An agent that applies more access than requested is not used: the intent is refused.
    """

    cwd: str
    access: str | None = None
    """The harness's own value, one of its ``Capabilities.access``; None: derived from ``sandbox``."""
    asking: str | dict[str, Any] | None = None
    """The harness's own value, one of its ``Capabilities.asking``; None: derived from ``approvals``."""
    sandbox: Sandbox = "workspace-write"
    """The name of ``access`` in Codex."""
    approvals: ApprovalMode | dict[str, Any] = "never"
    """The name of ``asking`` in Codex."""
    session_id: str | None = None
    """The id for a new session, where the client chooses it; the engine fills it in when there is a
    process for each session."""
    model: str | None = None
    tools: list[ToolSpec] = []
    resume: str | None = None
    """The session to resume."""
    or_new: bool = False
    """Begin a new session if the one to resume is gone."""
    fork: str | None = None
    """The session to branch off from."""
    ephemeral: bool = False
    """Leave no session file."""
    instructions: str | None = None
    """Put before the model with every turn, besides what the harness puts there."""
    personality: str | None = None
    config: dict[str, Any] = {}
    """The harness's own settings, by its own names."""
    add_dirs: list[str] = []
    """Directories besides ``cwd`` that its commands may write in, with ``workspace-write``."""


class StartTurn(BaseIntent, frozen=True, kw_only=True, tag="start_turn"):
    """Ask. Answered with the turn's id when the agent has taken it up."""

    session_id: str
    text: str
    images: list[str] = []
    """Paths, or ``http(s):`` and ``data:`` addresses."""
    model: str | None = None
    effort: Effort | None = None
    cwd: str | None = None
    sandbox_policy: dict[str, Any] | None = None
    """For this turn and later ones: laid over the default (workspace writable, no network)."""
    output_schema: dict[str, Any] | None = None


class Steer(BaseIntent, frozen=True, kw_only=True, tag="steer"):
    """Send text to the running turn."""

    session_id: str
    turn_id: str
    text: str
    images: list[str] = []


class Interrupt(BaseIntent, frozen=True, kw_only=True, tag="interrupt"):
    """Stop the turn."""

    session_id: str
    turn_id: str


class Decide(BaseIntent, frozen=True, kw_only=True, tag="decide"):
    """Settle what the agent asked: an approval, a permission, a question, an elicitation.

    ``decision`` is one of our words: ``allow``, ``allow_for_session``, ``allow_always``, ``deny``,
    ``cancel`` (deny, and stop the turn), ``answered``. A release that lacks a word gets the nearest
    one that allows no more.
    """

    session_id: str
    approval_id: str
    decision: str
    answers: dict[str, list[str]] = {}
    """For questions: the answers by the question's id, or by its text."""
    content: dict[str, Any] | None = None
    """For elicitations: the form, filled in."""
    message: str | None = None
    """A word to the model with a refusal, for agents with the ability ``deny_message``."""


class AnswerTool(BaseIntent, frozen=True, kw_only=True, tag="answer_tool"):
    """The output of one of our tools."""

    session_id: str
    call_id: str
    output: str
    images: list[str] = []
    success: bool = True


class SetAccess(BaseIntent, frozen=True, kw_only=True, tag="set_access"):
    """Change what an open session may do, from its next action on; for agents with the ability ``set_access``.

    Answered with the :class:`SessionFacts` that hold from then on.
    """

    session_id: str
    access: str | None = None
    """A native value; None leaves it unchanged."""
    asking: str | dict[str, Any] | None = None


class Compact(BaseIntent, frozen=True, kw_only=True, tag="compact"):
    """Replace the conversation so far by a summary. Works as a turn."""

    session_id: str


class Review(BaseIntent, frozen=True, kw_only=True, tag="review"):
    """Review code. Works as a turn; answered with its id."""

    session_id: str
    target: dict[str, Any] = {}
    """What to review; empty: what is not committed."""


class Rename(BaseIntent, frozen=True, kw_only=True, tag="rename"):
    session_id: str
    name: str


class Archive(BaseIntent, frozen=True, kw_only=True, tag="archive"):
    """Put a session away, or bring it back."""

    session_id: str
    archived: bool = True


class StopCommands(BaseIntent, frozen=True, kw_only=True, tag="stop_commands"):
    """Stop the commands that a session has left running."""

    session_id: str


class CloseSession(BaseIntent, frozen=True, kw_only=True, tag="close_session"):
    """Stop listening to a session; it stays on disk."""

    session_id: str


class CheckTurn(BaseIntent, frozen=True, kw_only=True, tag="check_turn"):
    """Ask how a turn is doing, in case its end got lost.

    Answered with the :data:`~dragoman.model.messages.Outcome` it has come to, or None while it runs.
    """

    session_id: str
    turn_id: str | None = None


class AwaitTurnEnd(BaseIntent, frozen=True, kw_only=True, tag="await_turn_end"):
    """Send nothing, and wait until the agent itself has ended a turn that we gave up."""

    session_id: str
    turn_id: str


class ListSessions(BaseIntent, frozen=True, kw_only=True, tag="list_sessions"):
    """Answered with an :class:`~dragoman.model.answers.AgentSessions`."""

    limit: int = 50
    cursor: str | None = None
    archived: bool = False


class ReadSession(BaseIntent, frozen=True, kw_only=True, tag="read_session"):
    """Answered with an :class:`~dragoman.model.answers.AgentSession`."""

    session_id: str
    turns: bool = True


class ListModels(BaseIntent, frozen=True, kw_only=True, tag="list_models"):
    """Answered with a list of :class:`~dragoman.model.answers.Model`."""


class ReadRateLimits(BaseIntent, frozen=True, kw_only=True, tag="read_rate_limits"):
    """Answered with an :class:`~dragoman.model.answers.AccountLimits`."""


Intent: TypeAlias = (
    Greet
    | OpenSession
    | StartTurn
    | Steer
    | Interrupt
    | Decide
    | AnswerTool
    | SetAccess
    | Compact
    | Review
    | Rename
    | Archive
    | StopCommands
    | CloseSession
    | CheckTurn
    | AwaitTurnEnd
    | ListSessions
    | ReadSession
    | ListModels
    | ReadRateLimits
)


class ServerFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Who answered our greeting."""

    version: str | None = None
    agent: str | None = None
    """How the server names itself."""
    signed_in: bool | None = None
    """Null when the server does not report it."""
    needs_sign_in: bool = False
    account: AgentAccount | None = None


class SessionFacts(msgspec.Struct, frozen=True, kw_only=True):
    """An open session, with the settings that the server applies."""

    session_id: str
    model: str | None = None
    cwd: str | None = None
    access: str | None = None
    """The native access value that the agent confirms; None if it confirms none."""
    sandbox: Any = None
    """The sandbox in the harness's own form, if it has one."""
    approvals: Any = None
    resumed: bool = False
    parent_session_id: str | None = None
