"""Rules: the policy that can be written down. The first rule that matches decides.

What may be compound is judged piece by piece: each simple command of a command line, each path of an edit.
The strictest of the pieces' decisions is the decision; so ``git status && rm x`` is allowed only if both
halves are. Rules that allow match only what is certain, all others whatever might be meant. Where a rule
that forbids *could* match but it cannot be seen whether it does, the answer is ``ask``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Any, Final, cast

import msgspec

from dragoman.drive.approvals.judging.commands import judge_command
from dragoman.drive.approvals.judging.edits import judge_edit
from dragoman.drive.approvals.judging.rule import ACTIONS, KINDS, NO_RULE, BadRule, Rule, Some, rule
from dragoman.drive.approvals.judging.verdict import (
    NOT_MEANT,
    Answer,
    Place,
    Verdict,
    first_match,
    strictest,
)
from dragoman.drive.approvals.policy import ALLOWING, ASK, Decision, Word
from dragoman.drive.approvals.shell.matching import Match
from dragoman.drive.approvals.unreadable import command_of, problem_with
from dragoman.model.messages import ApprovalRequested

__all__ = ["ACTIONS", "KINDS", "BadRule", "Explained", "Rule", "Rules", "Some", "rule"]

WORKSPACE: Final = "workspace"
"""Where a request's detail says which directory is the session's own."""
_NO_TEXT: Final = ("command", "edit", "permissions")
"""What no words of a question can allow: the agent chooses them."""


class Explained(msgspec.Struct, frozen=True, kw_only=True):
    """What rules say to a request, and why."""

    decision: str
    """One of the words of a decision, or ``ask``."""
    rule: str | None
    """The rule's name, or ``rule 3``; null where no rule decided."""
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
        """``resolve`` follows symbolic links (``os.path.realpath``); without it paths are compared as
        they are written. ``cwd`` is the session's own directory, for requests that do not say it."""
        if default not in ACTIONS:
            raise BadRule(
                "default", f"there is no decision {default!r}; known: {', '.join(ACTIONS)}"
            )
        self.rules = tuple(rules)
        self.default = default
        self._resolve = resolve
        self._cwd = cwd

    def __call__(self, request: ApprovalRequested) -> Decision | None:
        """The decision; None: ask."""
        found = self.explain(request)
        if found.decision == ASK:
            return None
        return Decision(word=cast("Word", found.decision), message=found.message, by=found.by)

    def explain(self, request: ApprovalRequested, *, cwd: str | None = None) -> Explained:
        """The decision with its reason. ``cwd``: the session's own directory, if the request lacks it."""
        problem = problem_with(request)
        if problem is not None:
            why = f"the request cannot be read: {problem}"
            return Explained(decision="deny", rule=None, why=why, by="unreadable request")
        found = strictest(self._verdicts(request, cwd or self._cwd))
        if found.action in ALLOWING and request.kind == "question":
            # A question needs more than a yes.
            found = found._replace(action=ASK, why="no rule can answer a question: a person must")
        return Explained(
            decision=found.action,
            rule=found.rule,
            why=found.why,
            by=found.by,
            message=found.message,
        )

    def _verdicts(self, request: ApprovalRequested, own: str | None) -> Iterator[Verdict]:
        detail = request.detail
        # The number of a rule is its place in the file, so rules about other requests stay in the list.
        rules = [each if _concerns(each, request) else NO_RULE for each in self.rules]
        own = _text(detail.get(WORKSPACE)) or own
        cwd = request.cwd or _text(detail.get("cwd")) or None
        if own is None and request.kind == "edit":
            own = cwd  # no agent chooses a directory for its edits
        place = Place.of(own, cwd, self._resolve, os.path.expanduser("~"))
        command = command_of(request)
        if request.kind == "command" and command is not None:
            yield from judge_command(rules, self.default, command, place)
        elif request.kind == "edit":
            yield from judge_edit(rules, self.default, detail, place)
        else:
            what = request.tool or request.kind
            yield first_match(rules, self.default, what, lambda each: _about_whole(each, request))


def _about_whole(each: Rule, request: ApprovalRequested) -> Answer:
    """A request that is about neither commands nor paths."""
    if each.names_commands or each.path or each.cwd:
        return NOT_MEANT
    if each.allows and each.text and request.kind in _NO_TEXT:
        return Answer(Match.NO, f"text never allows {request.kind}")
    return Answer(Match.YES)


def _concerns(each: Rule, request: ApprovalRequested) -> bool:
    """Whether the conditions hold that are about the request as a whole."""
    if each.kind and request.kind not in each.kind:
        return False
    if each.tool and not _named(request.tool, each.tool, each.allows):
        return False
    if each.server and not _named(_server(request), each.server, each.allows):
        return False
    said = f"{request.summary}\n{request.command or ''}".casefold()
    return not each.text or any(text in said for text in each.text)


def _named(name: str | None, globs: tuple[str, ...], exactly: bool) -> bool:
    if name is None:
        return False
    if exactly:
        return any(fnmatchcase(name, glob) for glob in globs)
    return any(fnmatchcase(name.casefold(), glob.casefold()) for glob in globs)


def _server(request: ApprovalRequested) -> str | None:
    told = _text(request.detail.get("server"))
    if not told and request.tool and request.tool.startswith("mcp__"):
        told = request.tool.removeprefix("mcp__").split("__")[0]
    return told or None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
