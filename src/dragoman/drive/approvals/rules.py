"""A policy made of rules. The first rule that matches decides.

Compound requests are judged in parts: each simple command of a line, each path of an edit. The strictest
decision applies, so ``git status && rm x`` is allowed only if both commands are. Allow rules match only what is
certain; all other rules match whatever the request could mean. If a deny rule *could* match but the request hides
whether it does, the decision is ``ask``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Any, Final, cast

import msgspec

from dragoman.drive.approvals.judging.commands import judge_command
from dragoman.drive.approvals.judging.edits import judge_edit
from dragoman.drive.approvals.judging.rule import ACTIONS, KINDS, NO_RULE, BadRule, Rule, Some, rule
from dragoman.drive.approvals.judging.verdict import (
    NOT_MEANT,
    RequestPlace,
    RuleDecision,
    RuleMatch,
    first_match,
    strictest,
)
from dragoman.drive.approvals.policy import ALLOWING, ASK, Decision, Word
from dragoman.drive.approvals.shell.matching import Match
from dragoman.drive.approvals.unreadable import command_of, problem_with
from dragoman.model.messages import ApprovalRequested

__all__ = ["ACTIONS", "KINDS", "BadRule", "Explained", "Rule", "Rules", "Some", "rule"]

WORKSPACE: Final = "workspace"
"""The key of a request's detail that holds the session's directory."""
_NO_TEXT: Final = ("command", "edit", "permissions")
"""Kinds that ``text`` never allows, because the agent chooses those words."""


class Explained(msgspec.Struct, frozen=True, kw_only=True):
    """The decision of the rules about a request, with the reason."""

    decision: str
    """A decision, or ``ask``."""
    rule: str | None
    """The rule's name, or ``rule 3``; null if no rule decided."""
    why: str
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
        cwd: str | None = None,
    ) -> None:
        """``resolve`` follows symbolic links (``os.path.realpath``); without it, paths are compared as
        written. ``cwd`` is the session's directory for requests that do not name it."""
        if default not in ACTIONS:
            raise BadRule("default", f"unknown decision {default!r}; known: {', '.join(ACTIONS)}")
        self.rules = tuple(rules)
        self.default = default
        self._resolve = resolve
        self._cwd = cwd

    def __call__(self, request: ApprovalRequested) -> Decision | None:
        """The decision; None to ask."""
        found = self.explain(request)
        if found.decision == ASK:
            return None
        return Decision(word=cast("Word", found.decision), message=found.message, by=found.by)

    def explain(self, request: ApprovalRequested, *, cwd: str | None = None) -> Explained:
        """The decision with its reason. ``cwd``: the session's directory if the request does not name it."""
        problem = problem_with(request)
        if problem is not None:
            why = f"the request cannot be read: {problem}"
            return Explained(decision="deny", rule=None, why=why, by="unreadable request")
        found = strictest(self._verdicts(request, cwd or self._cwd))
        if found.action in ALLOWING and request.kind == "question":
            # A question needs an answer, which no rule can give.
            found = found._replace(action=ASK, why="no rule can answer a question: a person must")
        return Explained(
            decision=found.action,
            rule=found.rule,
            why=found.why,
            by=found.by,
            message=found.message,
        )

    def _verdicts(self, request: ApprovalRequested, own: str | None) -> Iterator[RuleDecision]:
        detail = request.detail
        # A rule's number is its position in the file, so rules about other requests keep their place.
        rules = [each if _concerns(each, request) else NO_RULE for each in self.rules]
        own = _text(detail.get(WORKSPACE)) or own
        cwd = request.cwd or _text(detail.get("cwd")) or None
        if own is None and request.kind == "edit":
            own = cwd  # an agent cannot choose the directory of an edit
        place = RequestPlace.of(own, cwd, self._resolve, os.path.expanduser("~"))
        command = command_of(request)
        if request.kind == "command" and command is not None:
            yield from judge_command(rules, self.default, command, place)
        elif request.kind == "edit":
            yield from judge_edit(rules, self.default, detail, place)
        else:
            what = request.tool or request.kind
            yield first_match(rules, self.default, what, lambda each: _about_whole(each, request))


def _about_whole(each: Rule, request: ApprovalRequested) -> RuleMatch:
    """Match a request that involves neither commands nor paths."""
    if each.names_commands or each.path or each.cwd:
        return NOT_MEANT
    if each.allows and each.text and request.kind in _NO_TEXT:
        return RuleMatch(Match.NO, f"text never allows {request.kind}")
    return RuleMatch(Match.YES)


def _concerns(each: Rule, request: ApprovalRequested) -> bool:
    """Whether the conditions on the request as a whole hold."""
    if each.kind and request.kind not in each.kind:
        return False
    if each.tool and not _named(request.tool, each.tool, each.allows):
        return False
    if each.server and not _named(_server(request), each.server, each.allows):
        return False
    text = f"{request.summary}\n{request.command or ''}".casefold()
    return not each.text or any(words in text for words in each.text)


def _named(name: str | None, globs: tuple[str, ...], exactly: bool) -> bool:
    if name is None:
        return False
    if exactly:
        return not re.search(r"\s", name) and any(fnmatchcase(name, glob) for glob in globs)
    return any(fnmatchcase(name.casefold(), glob.casefold()) for glob in globs)


def _server(request: ApprovalRequested) -> str | None:
    server = _text(request.detail.get("server"))
    if not server and request.tool and request.tool.startswith("mcp__"):
        server = request.tool.removeprefix("mcp__").split("__")[0]
    return server or None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
