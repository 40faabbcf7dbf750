"""Rules: the policy that can be written down. The first rule that matches decides.

What may be compound is judged piece by piece: each simple command of a command line, each path of an edit.
The strictest of the pieces' decisions is the decision; so ``git status && rm x`` is allowed only if both
halves are. Rules that allow match only what is certain (:func:`~dragoman.drive.shell_words.plain_commands`),
all others whatever might be meant. Pure: the same request always gets the same decision.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple, TypeAlias, cast, get_args

import msgspec

from dragoman.drive.path_globs import absolute, matches
from dragoman.drive.policy import ALLOWING, ASK, Decision, Word
from dragoman.drive.shell_words import (
    Words,
    begins_with,
    commands_run_by,
    might_begin_with,
    plain_commands,
    possible_commands,
)
from dragoman.errors import UsageError
from dragoman.model.messages import ApprovalKind, ApprovalRequested

ACTIONS: Final = ("allow", "allow_for_session", "allow_always", "ask", "deny", "cancel")
"""What a rule can say."""
KINDS: Final[tuple[str, ...]] = get_args(ApprovalKind)
_BY_STRICTNESS: Final = ("cancel", "deny", ASK, "allow", "allow_for_session", "allow_always")

Some: TypeAlias = str | Iterable[str]


class BadRule(UsageError):
    """A rule that cannot be meant as it is written."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(field, problem)
        self.field = field
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.field}: {self.problem}"


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """Conditions, all of which must hold, and what follows. Made by :func:`rule`."""

    decision: str
    name: str | None = None
    message: str | None = None
    kind: tuple[str, ...] = ()
    command: tuple[Words, ...] = ()
    command_regex: tuple[re.Pattern[str], ...] = ()
    path: tuple[str, ...] = ()
    tool: tuple[str, ...] = ()
    server: tuple[str, ...] = ()
    text: tuple[str, ...] = ()

    @property
    def allows(self) -> bool:
        return self.decision in ALLOWING


def rule(
    decision: str,
    *,
    name: str | None = None,
    message: str | None = None,
    kind: Some = (),
    command: Some = (),
    command_regex: Some = (),
    path: Some = (),
    tool: Some = (),
    server: Some = (),
    text: Some = (),
) -> Rule:
    """A rule. Of several values for one condition, one must hold. Raises :class:`BadRule`.

    ``command``: the first words of a command. ``command_regex``: the whole of it for a rule that allows,
    any part for others. ``path``: globs. ``tool`` and ``server``: names with ``*``. ``text``: words that
    the question contains, in any case.
    """
    if decision not in ACTIONS:
        raise BadRule("decision", f"there is no decision {decision!r}; known: {', '.join(ACTIONS)}")
    for each in _several(kind):
        if each not in KINDS:
            raise BadRule("kind", f"there is no kind {each!r}; known: {', '.join(KINDS)}")
    return Rule(
        decision=decision,
        name=name,
        message=message,
        kind=_several(kind),
        command=tuple(map(_prefix, _several(command))),
        command_regex=tuple(map(_regex, _several(command_regex))),
        path=_several(path),
        tool=_several(tool),
        server=_several(server),
        text=tuple(each.casefold() for each in _several(text)),
    )


def _several(value: Some) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _prefix(text: str) -> Words:
    commands = plain_commands(text)
    if commands is None:
        raise BadRule("command", f"{text!r} is not the plain beginning of a command")
    first, *more = commands
    if more:
        raise BadRule("command", f"{text!r} is more than one command; give each its own place")
    return first


def _regex(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise BadRule("command_regex", f"{text!r} is no regular expression: {error}") from None


class _Verdict(NamedTuple):
    action: str
    by: str
    message: str | None = None


class Rules:
    """An ordered list of rules as a policy."""

    def __init__(
        self,
        rules: Iterable[Rule],
        *,
        default: str = ASK,
        resolve: Callable[[str], str] | None = None,
    ) -> None:
        """``resolve`` follows symbolic links (``os.path.realpath``); without it paths are compared as
        they are written."""
        if default not in ACTIONS:
            raise BadRule(
                "default", f"there is no decision {default!r}; known: {', '.join(ACTIONS)}"
            )
        self.rules = tuple(rules)
        self.default = default
        self._resolve = resolve

    def __call__(self, request: ApprovalRequested) -> Decision | None:
        """The decision; None: ask."""
        verdicts = [self._first(piece, request) for piece in self._pieces(request)]
        action, by, message = min(verdicts, key=lambda each: _BY_STRICTNESS.index(each.action))
        if action == ASK or (action in ALLOWING and request.kind == "question"):
            return None  # a question needs more than a yes
        return Decision(word=cast("Word", action), message=message, by=by)

    def _first(self, piece: _Piece, request: ApprovalRequested) -> _Verdict:
        for number, each in enumerate(self.rules, 1):
            if _concerns(each, request) and piece.meets(each):
                by = f"rule {each.name!r}" if each.name else f"rule {number}"
                return _Verdict(each.decision, by, each.message)
        return _Verdict(self.default, "default")

    def _pieces(self, request: ApprovalRequested) -> Iterator[_Piece]:
        if request.kind == "command":
            yield from _commands(_text(request.detail.get("command")))
        elif request.kind == "edit":
            yield from self._paths(request.detail)
        else:
            yield _Whole()

    def _paths(self, detail: dict[str, Any]) -> Iterator[_Piece]:
        cwd = _text(detail.get("cwd")) or None
        found = list(_changed(detail.get("changes")))
        if not found:
            yield _Path(None, None)
        for path in found:
            written = absolute(path, cwd)
            yield _Path(written, cwd)
            if written is not None and self._resolve is not None:
                real_cwd = self._resolve(cwd) if cwd else None
                yield _Path(absolute(self._resolve(written), real_cwd), real_cwd)


def _concerns(each: Rule, request: ApprovalRequested) -> bool:
    """Whether the conditions hold that are about the request as a whole."""
    if each.kind and request.kind not in each.kind:
        return False
    if each.tool and not _named(request.tool, each.tool):
        return False
    if each.server and not _named(_server(request), each.server):
        return False
    summary = request.summary.casefold()
    return not each.text or any(text in summary for text in each.text)


def _named(name: str | None, globs: tuple[str, ...]) -> bool:
    return name is not None and any(fnmatchcase(name, glob) for glob in globs)


def _server(request: ApprovalRequested) -> str | None:
    told = _text(request.detail.get("server"))
    if not told and request.tool and request.tool.startswith("mcp__"):
        told = request.tool.removeprefix("mcp__").split("__")[0]
    return told or None


class _Whole(NamedTuple):
    """A request that is about neither commands nor paths."""

    def meets(self, each: Rule) -> bool:
        return not (each.command or each.command_regex or each.path)


class _Command(NamedTuple):
    """One command of a line."""

    line: str
    words: Words | None
    """Null: what it is cannot be told for certain."""
    possible: list[Words]

    def meets(self, each: Rule) -> bool:
        if each.path:
            return False
        if each.allows:
            return self._certainly(each)
        return self._maybe(each)

    def _certainly(self, each: Rule) -> bool:
        if not each.command and not each.command_regex:
            return True
        words = self.words
        if words is None:
            return False
        if each.command and not any(begins_with(words, prefix) for prefix in each.command):
            return False
        whole = shlex.join(words)
        return not each.command_regex or any(r.fullmatch(whole) for r in each.command_regex)

    def _maybe(self, each: Rule) -> bool:
        if each.command and not any(
            might_begin_with(words, prefix) for words in self.possible for prefix in each.command
        ):
            return False
        return not each.command_regex or any(r.search(self.line) for r in each.command_regex)


def _commands(line: str) -> Iterator[_Command]:
    plain = plain_commands(line)
    if plain is not None:
        for words in plain:
            yield _Command(line, words, commands_run_by(words))
        return
    for words in possible_commands(line):
        yield _Command(line, None, [words])
    yield _Command(line, None, [])


class _Path(NamedTuple):
    """One way to write one path of an edit."""

    path: str | None
    cwd: str | None

    def meets(self, each: Rule) -> bool:
        if each.command or each.command_regex:
            return False
        if not each.path:
            return True
        return self.path is not None and any(
            matches(self.path, glob, self.cwd, any_case=not each.allows) for glob in each.path
        )


_Piece: TypeAlias = _Whole | _Command | _Path


def _changed(changes: Any) -> Iterator[str]:
    """Every path that an edit touches, where files go included."""
    for change in cast("list[Any]", changes) if isinstance(changes, list) else []:
        details = cast("dict[str, Any]", change) if isinstance(change, dict) else {}
        yield _text(details.get("path"))
        if moved := _text(details.get("move_path")):
            yield moved


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
