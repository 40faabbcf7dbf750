"""Decide about one part of a request, and describe the directory it applies to."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple, TypeAlias

from dragoman.drive.approvals.judging.rule import NO_RULE, Rule
from dragoman.drive.approvals.path_globs import ANY, absolute, covers_directory
from dragoman.drive.approvals.policy import ASK
from dragoman.drive.approvals.shell.matching import Match
from dragoman.drive.approvals.shell.paths import expanded

_PER_PROCESS: Final = ("/proc/", "/dev/fd/")
_BY_STRICTNESS: Final = ("cancel", "deny", ASK, "allow", "allow_for_session", "allow_always")


class RuleDecision(NamedTuple):
    """A decision about one part of a request, with its reason."""

    action: str
    by: str
    why: str
    rule: str | None = None
    """The name or number of the rule; null: the default decided."""
    message: str | None = None


class RuleMatch(NamedTuple):
    """Whether a rule matches one part of a request."""

    match: Match
    why: str = ""
    """Why it does not match, or why that is uncertain."""


Meets: TypeAlias = Callable[[Rule], RuleMatch]
NOT_MEANT: Final = RuleMatch(Match.NO)


def first_match(rules: Sequence[Rule], default: str, what: str, meets: Meets) -> RuleDecision:
    """The decision of the first rule that matches; ``ask`` if a deny rule before it could match."""
    doubt: RuleDecision | None = None
    hint = ""
    for number, each in enumerate(rules, 1):
        if each is NO_RULE:
            continue
        answer = meets(each)
        rule = each.name or f"rule {number}"
        by = f"rule {each.name!r}" if each.name else f"rule {number}"
        if answer.match is Match.YES:
            found = RuleDecision(each.decision, by, f"{what}: {by} matches", rule, each.message)
            return strictest([doubt, found] if doubt else [found])
        if answer.match is Match.MAYBE and doubt is None:
            doubt = RuleDecision(ASK, by, f"{what}: {by} may forbid it; {answer.why}", rule)
        elif answer.why and not hint:
            hint = f" ({by}: {answer.why})"
    found = RuleDecision(default, "default", f"{what}: no rule matches{hint}; the default applies")
    return strictest([doubt, found] if doubt else [found])


def strictest(verdicts: Iterable[RuleDecision]) -> RuleDecision:
    return min(verdicts, key=lambda each: _BY_STRICTNESS.index(each.action))


class RequestPlace(NamedTuple):
    """The session's directory, and the one that this request applies to."""

    own: str | None
    cwd: str | None
    resolve: Callable[[str], str] | None = None
    """Follows symbolic links; null: paths are compared as written."""
    home: str | None = None

    @classmethod
    def of(
        cls,
        own: str | None,
        cwd: str | None,
        resolve: Callable[[str], str] | None,
        home: str | None,
    ) -> RequestPlace:
        """Without ``cwd``, use the session's directory. An ambiguous path gives no directory."""
        own = absolute(own, None) if own else None
        place = cls(own, absolute(cwd, own) if cwd else own, resolve, home)
        return place if not cwd or place.is_plain(cwd, own) else place._replace(cwd=None)

    def real(self, path: str) -> str:
        """The path with links resolved; empty, which matches nothing, if that fails."""
        if self.resolve is None:
            return path
        if path.startswith(_PER_PROCESS):
            return ""  # the agent's own links lead elsewhere than ours
        try:
            return self.resolve(path)
        except (OSError, ValueError):
            return ""

    def is_plain(self, path: str, base: str | None) -> bool:
        """Whether ``..`` in a path means what it seems to: not after a link, whose parent is elsewhere."""
        written = absolute(path, base)
        if written is None or self.resolve is None or ".." not in path:
            return True
        return self.real(posixpath.join(base or "/", path)) == self.real(written)

    def after(self, moves: Sequence[str] | None) -> list[str] | None:
        """Every directory that a line may be in after these ``cd`` commands, any of which may fail."""
        if moves is None or self.cwd is None:
            return None
        places = [self.cwd]
        for move in moves:
            moved = [absolute(move, place) for place in places]
            places += [place for place in moved if place is not None]
            if None in moved:
                return None
        return places

    def is_own(self, path: str) -> bool:
        if self.own is None:
            return False
        return path == self.own or self.real(path) == (self.real(self.own) or self.own)

    def certainly_in(self, path: str, globs: Sequence[str]) -> bool:
        """Whether a directory and its target match the globs; without globs, whether it is the session's."""
        if self.own is None or not globs:
            return self.is_own(path)
        real, real_own = self.real(path), self.real(self.own)
        return any(covers_directory(path, glob, self.own) for glob in globs) and any(
            covers_directory(real, glob, real_own) for glob in globs
        )

    def perhaps_in(self, path: str | None, globs: Sequence[str]) -> bool:
        if path is None or self.own is None:
            return True
        real, real_own = self.real(path), self.real(self.own)
        return any(
            covers_directory(path, glob, self.own) or covers_directory(real, glob, real_own)
            for glob in globs
        )

    def spellings(self, path: str, directory: str | None = None) -> list[str]:
        """A path of a command as written, as an absolute path, and with links resolved."""
        path = expanded(path, self.home)
        base = self.cwd or ANY
        if directory is not None:
            moved = expanded(directory, self.home)
            base = posixpath.join(base, moved)
        written = absolute(path, base)
        if written is None:
            return [path]
        found = [path, written]
        if ANY not in written and (real := self.real(written)):
            found.append(real)
        return found
