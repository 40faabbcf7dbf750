"""What the known agents do differently, as data: one row for each, found by the name that the agent gives.

An agent without a row is taken by the letter of the protocol. The rows were measured; a test reads a recording of
each agent with and without its row.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from dragoman.harnesses.contract.reading import Limit

UsageMeaning: TypeAlias = Literal["turn", "process", "response"]
"""What ``usage`` in the result of a prompt counts: this turn, the process so far, the last model response."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AcpQuirks:
    """How one agent departs from the protocol, or says what the protocol leaves open."""

    names: tuple[str, ...] = ()
    """What the agent calls itself in ``agentInfo.name``."""
    harness: str = ""
    """The harness that reads and drives this agent itself, if there is one."""
    title: str = ""
    """What people call it."""
    sign_in: str = ""
    """What a user runs to sign in, if the agent does not say so itself."""
    usage: UsageMeaning = "turn"
    error_text: re.Pattern[str] | None = None
    """Model errors that arrive as a text, although the prompt ends as if all were well. Its groups are the HTTP
    status, which may be missing, and the message."""
    edits_are_changes: bool = False
    """An edit is shown as the changes of files, with the whole text of each."""
    failure_mark: tuple[str, ...] = ()
    """Where information about a session says that the turn has failed, and the word for it."""
    echoes: tuple[str, ...] = ()
    """Beginnings of texts that only repeat what the host has set."""
    context: tuple[str, ...] = ()
    """Beginnings of prompts that the agent itself has put before the model."""
    interruptions: tuple[str, ...] = ()
    """Beginnings of prompts in a loaded session that stand for an interruption."""
    id_has_name: bool = False
    """The id of a call begins with the name of its tool, before ``__``."""
    title_has_name: bool = False
    """The first title of a call is the name of its tool."""
    thin_inputs: frozenset[str] = frozenset()
    """Keys of an input that arrive before the input itself does."""
    for_session: frozenset[str] = frozenset()
    """Options of the kind ``allow_always`` that end with the session."""
    denials_are_silent: bool = False
    """Nothing is said about a call that was denied, so it is over when anything else is said."""
    agent_title: re.Pattern[str] | None = None
    """The title of a call that starts a sub-agent; its group is the kind of agent."""
    whole_thoughts: bool = False
    """Each piece of a thought is a thought."""
    modes: tuple[tuple[str, str], ...] = ()
    """Modes by the level of access they amount to; the first of a level is meant by its name."""
    load_after: float = 0.0
    """For how many seconds a session that was begun cannot be loaded without damage."""
    repeats_late: bool = False
    """A session's history is repeated after it was loaded, up to the list of commands."""
    notes: tuple[str, ...] = ()
    """What the agent cannot do over ACP, for people."""
    limits: tuple[Limit, ...] = ()
    """What a server that others have written for an agent loses, compared with the agent's own session file."""


PLAIN: Final = AcpQuirks(for_session=frozenset(("allow_for_session",)))

CLAUDE: Final = AcpQuirks(
    names=("@agentclientprotocol/claude-agent-acp", "@zed-industries/claude-code-acp"),
    title="Claude Agent",
    error_text=re.compile(r"\AAPI Error: (?:.*?\b(\d{3})\b)?(.*)\Z", re.DOTALL),
    interruptions=("[Request interrupted by user",),
    modes=(
        ("default", "write"),
        ("acceptEdits", "write"),
        ("plan", "read"),
        ("auto", "write"),
        ("bypassPermissions", "full"),
    ),
    limits=(
        Limit(
            dialect="acp",
            aspect="calls",
            why="calls that keep the plan are reported as the plan, and searches for tools not at all",
            tools=("TaskCreate", "TaskUpdate", "TodoWrite", "ToolSearch"),
        ),
        Limit(dialect="acp", aspect="reasoning tokens", why="reasoning is not counted apart"),
    ),
)
CODEX: Final = AcpQuirks(
    names=("codex-acp", "@agentclientprotocol/codex-acp", "@zed-industries/codex-acp"),
    title="Codex",
    error_text=re.compile(
        r"\A(?:Error: |stream error: |unexpected status |exceeded retry limit, last status: )"
        r"(?:.*?\b(\d{3})\b)?(.*)\Z",
        re.DOTALL,
    ),
    edits_are_changes=True,
    failure_mark=("_meta", "codex", "threadStatus", "type", "systemError"),
    modes=(("auto", "write"), ("read-only", "read"), ("full-access", "full")),
    notes=("In its default mode a reviewer model decides about approvals, not you.",),
    limits=(
        Limit(
            dialect="acp",
            aspect="calls",
            why="a plan is reported as a plan, and searches for tools not at all",
            tools=("TodoWrite", "ToolSearch"),
        ),
        Limit(dialect="acp", aspect="edit outputs", why="what an edit returned is not reported"),
    ),
)
COPILOT: Final = AcpQuirks(
    names=("Copilot", "copilot"),
    title="Copilot",
    sign_in="copilot login",
    usage="process",
    error_text=re.compile(r"\AError: (\d{3})\b ?(.*)\Z", re.DOTALL),
    for_session=frozenset(("allow_always",)),
    modes=(
        ("https://agentclientprotocol.com/protocol/session-modes#agent", "write"),
        ("https://agentclientprotocol.com/protocol/session-modes#plan", "read"),
        ("https://agentclientprotocol.com/protocol/session-modes#autopilot", "full"),
    ),
    notes=(
        "Its calls have no tool names, only titles that the model wrote.",
        "MCP servers that are given for a session do not reach the model.",
        "Denying a call ends the whole turn.",
    ),
)
GEMINI: Final = AcpQuirks(
    names=("gemini-cli",),
    harness="gemini",
    title="Gemini CLI",
    sign_in="gemini",
    echoes=("[MODE_UPDATE] ",),
    agent_title=re.compile(r"\ADelegating to agent '(.+)'"),
    whole_thoughts=True,
    denials_are_silent=True,
    context=("<session_context>",),
    id_has_name=True,
    for_session=frozenset(("proceed_always",)),
    modes=(("default", "write"), ("autoEdit", "write"), ("plan", "read"), ("yolo", "full")),
    load_after=60.0,
    repeats_late=True,
    notes=(
        "It shows neither what a command prints nor its exit code.",
        "A session cannot be resumed in its first minute.",
    ),
)
OPENCODE: Final = AcpQuirks(
    names=("OpenCode", "opencode"),
    title="opencode",
    sign_in="opencode auth login",
    usage="response",
    title_has_name=True,
    thin_inputs=frozenset(("cwd",)),
    for_session=frozenset(("always",)),
    modes=(("build", "write"), ("plan", "read")),
    notes=(
        "A sub-agent's request for permission is never asked: the turn ends at its time limit.",
        "The tokens of a turn with more than one model response are unknown.",
    ),
)
QWEN: Final = AcpQuirks(
    names=("qwen-code",),
    title="Qwen Code",
    context=("<session_context>",),
    for_session=frozenset(("proceed_always",)),
    modes=(
        ("default", "write"),
        ("auto-edit", "write"),
        ("auto", "write"),
        ("plan", "read"),
        ("yolo", "full"),
    ),
    notes=("A rate limit is retried without end: the turn ends at its time limit.",),
)

KNOWN: Final = (CLAUDE, CODEX, COPILOT, GEMINI, OPENCODE, QWEN)
LIMITS_OVER_ACP: Final = {
    each.names[0].rpartition("/")[2]: each.limits for each in KNOWN if each.limits
}
"""By the agent's short name. Recordings need each."""
_BY_NAME: Final = {name: each for each in KNOWN for name in each.names}


def quirks_of(name: str | None) -> AcpQuirks:
    """The row of the agent that calls itself this."""
    return _BY_NAME.get(name or "", PLAIN)
