"""One rule: conditions that must all hold, and a decision."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, TypeAlias, get_args

import msgspec

from dragoman.drive.approvals.policy import ALLOWING
from dragoman.drive.approvals.shell.plain import Words, read_plain
from dragoman.errors import UsageError
from dragoman.model.messages import ApprovalKind

ACTIONS: Final = ("allow", "allow_for_session", "allow_always", "ask", "deny", "cancel")
"""The decisions that a rule can make."""
KINDS: Final[tuple[str, ...]] = get_args(ApprovalKind)
_OPTION: Final = re.compile(r"[-+]\S+")

Some: TypeAlias = str | Iterable[str]


class BadRule(UsageError):
    """An invalid rule."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(field, problem)
        self.field = field
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.field}: {self.problem}"


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """Conditions that must all hold, and a decision. Created by :func:`rule`."""

    decision: str
    name: str | None = None
    message: str | None = None
    kind: tuple[str, ...] = ()
    command: tuple[Words, ...] = ()
    command_regex: tuple[re.Pattern[str], ...] = ()
    options: tuple[str, ...] | None = None
    cwd: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    tool: tuple[str, ...] = ()
    server: tuple[str, ...] = ()
    text: tuple[str, ...] = ()

    @property
    def allows(self) -> bool:
        return self.decision in ALLOWING

    @property
    def names_commands(self) -> bool:
        return bool(self.command or self.command_regex)


NO_RULE: Final = Rule(decision="ask")
"""Replaces a rule about other requests, so that the remaining rules keep their numbers."""


def rule(
    decision: str,
    *,
    name: str | None = None,
    message: str | None = None,
    kind: Some = (),
    command: Some = (),
    command_regex: Some = (),
    options: Some | None = None,
    cwd: Some = (),
    path: Some = (),
    tool: Some = (),
    server: Some = (),
    text: Some = (),
) -> Rule:
    """Create a rule. If a condition has several values, one of them must match. Raises :class:`BadRule`.

    ``command``: the first words of a command. ``command_regex``: the whole command for a rule that allows,
    any part for others. ``options``: the only options that an allowed command may use. ``cwd``: globs of
    the directories to run in; without them, an allow rule applies in the session's directory only.
    ``path``: globs. ``tool`` and ``server``: names with ``*``. ``text``: words that the question contains,
    ignoring case; they never allow a command, an edit or more permissions.
    """
    if decision not in ACTIONS:
        raise BadRule("decision", f"unknown decision {decision!r}; known: {', '.join(ACTIONS)}")
    for each in _several(kind):
        if each not in KINDS:
            raise BadRule("kind", f"unknown kind {each!r}; known: {', '.join(KINDS)}")
    return Rule(
        decision=decision,
        name=name,
        message=message,
        kind=_several(kind),
        command=tuple(map(_prefix, _several(command))),
        command_regex=tuple(map(_regex, _several(command_regex))),
        options=_options(options, decision, _several(command)),
        cwd=_several(cwd),
        path=_several(path),
        tool=_several(tool),
        server=_several(server),
        text=tuple(each.casefold() for each in _several(text)),
    )


def _several(value: Some) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _prefix(text: str) -> Words:
    commands = read_plain(text)
    if commands is None:
        raise BadRule("command", f"{text!r} is not the plain beginning of a command")
    first, *more = commands
    if more:
        raise BadRule("command", f"{text!r} is more than one command; give each its own place")
    if re.match(r"\w+\+?=", first.words[0]):
        raise BadRule("command", f"{text!r} sets a variable; a rule begins with a program")
    return first.words


def _regex(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise BadRule("command_regex", f"{text!r} is not a regular expression: {error}") from None


def _options(given: Some | None, decision: str, command: tuple[str, ...]) -> tuple[str, ...] | None:
    if given is None:
        return None
    if decision not in ALLOWING or not command:
        problem = "options list what an allowed command may use; put forbidden ones into command"
        raise BadRule("options", problem)
    for each in _several(given):
        if not _OPTION.fullmatch(each):
            raise BadRule("options", f"{each!r} is not an option, such as '-n' or '--stat'")
    return _several(given)
