"""What people can choose and do with a harness, computed for the release that is installed.

The command line, the API, the page and ``doctor`` show these values and contain no list of their own.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import msgspec

from dragoman.errors import UsageError

AccessLevel: TypeAlias = Literal["read", "write", "full"]
"""How far an agent reaches. ``read``: it changes nothing. ``write``: it changes files in the workspace.
``full``: nothing holds it back. Each harness maps its own modes to these."""

ACCESS_LEVELS: Final[tuple[AccessLevel, ...]] = ("read", "write", "full")
"""From the narrowest to the widest."""

Ability: TypeAlias = Literal[
    "steer",  # a prompt to a running turn joins that turn
    "queue",  # a prompt to a running turn becomes the next turn
    "interrupt",  # a turn can be stopped without ending the process
    "resume",  # a saved session can be continued
    "fork",  # a session can be branched off
    "compact",  # the conversation can be replaced by a summary on request
    "review",  # a code review can be requested
    "rename",  # a session has a name that can be set
    "archive",  # a session can be archived and brought back
    "sessions",  # the agent lists and reads its saved sessions
    "models",  # the agent lists the models it offers
    "rate_limits",  # the agent reports the account's rate limits
    "images",  # a prompt can have images
    "tools",  # the model can call tools of ours
    "schema",  # a turn's answer can be held to a JSON schema
    "ephemeral",  # a session can leave no file
    "add_dirs",  # directories besides the workspace can be made writable
    "profile",  # settings can be taken from a named profile
    "config",  # settings can be given by the harness's own names
    "instructions",  # instructions can be added to every turn
    "personality",  # the tone of the answers can be chosen
    "set_access",  # access or asking can change while a session is open
    "check_turn",  # the agent reports the outcome of a turn
    "stop_commands",  # commands left running can be stopped
    "questions",  # the agent asks questions with choices
    "deny_message",  # a refusal can carry a word to the model
    "elicitation",  # MCP servers can ask for a form to be filled in
    "plan",  # the agent reports its plan
]


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """One value of a setting, with the text that people see."""

    value: str
    """The harness's own name for it."""
    label: str
    """One to three words: ``Read only``."""
    summary: str
    """One plain sentence about what it means."""
    level: AccessLevel | None = None
    """For access: the level it amounts to."""


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """What one release of a harness offers. The first choice of each list is the usual one."""

    access: tuple[Choice, ...] = ()
    """Sandbox or permission modes."""
    asking: tuple[Choice, ...] = ()
    """When the agent asks before it acts. Empty: the access decides that, too."""
    efforts: tuple[str, ...] = ()
    """How hard the model thinks, from least to most. Empty: there is no such setting."""
    models: tuple[str, ...] = ()
    """Names of models that are known without asking the agent. Empty: ask it, or name one."""
    can: frozenset[Ability] = frozenset()
    confirms_access: bool = True
    """The agent reports which access it applies, so that a wider one can be refused."""
    icon: str = ""
    """Path data of an SVG icon in a box of 24 by 24. Empty: people see a monogram of the title."""
    sign_in_command: str = ""
    """What a user runs to sign in."""
    notes: tuple[str, ...] = ()
    """What a user should know besides, one sentence each."""


def resolve_access(capabilities: Capabilities, requested: str | None) -> Choice:
    """The choice for a level, a native value, or None for the usual one.

    Of several choices at one level the first counts. Raises :class:`UsageError`.
    """
    choices = capabilities.access
    if not choices:
        raise UsageError("this agent has no choice of access")
    if requested is None:
        return choices[0]
    for choice in choices:
        if choice.value == requested:
            return choice
    for choice in choices:
        if choice.level == requested:
            return choice
    levels = [level for level in ACCESS_LEVELS if any(each.level == level for each in choices)]
    known = list(dict.fromkeys([*levels, *(choice.value for choice in choices)]))
    raise UsageError(f"unknown access {requested!r}; choose one of: {', '.join(known)}")


def resolve_asking(capabilities: Capabilities, requested: str | None) -> Choice | None:
    """The choice for a native value, or the usual one; None if the harness has no such setting.

    Raises :class:`UsageError`.
    """
    choices = capabilities.asking
    if requested is None:
        return choices[0] if choices else None
    for choice in choices:
        if choice.value == requested:
            return choice
    if not choices:
        raise UsageError(f"this agent has no choice of when to ask, so not {requested!r}")
    known = ", ".join(choice.value for choice in choices)
    raise UsageError(f"unknown approval mode {requested!r}; choose one of: {known}")


def level_of(capabilities: Capabilities, value: str) -> AccessLevel | None:
    """The level of a native access value; None for a value that is not known."""
    return next((choice.level for choice in capabilities.access if choice.value == value), None)


def is_wider(confirmed: AccessLevel | None, requested: AccessLevel | None) -> bool:
    """Whether an agent applies more access than was requested. An unknown level counts as the widest."""
    return _rank(confirmed) > _rank(requested)


def _rank(level: AccessLevel | None) -> int:
    return ACCESS_LEVELS.index(level) if level is not None else len(ACCESS_LEVELS)
