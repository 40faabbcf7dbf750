"""What a rule says to one piece of a request, and where the request is about."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple, TypeAlias

from dragoman.drive.approvals.judging.rule import NO_RULE, Rule
from dragoman.drive.approvals.path_globs import ANY, absolute, covers_directory
from dragoman.drive.approvals.policy import ASK
from dragoman.drive.approvals.shell.matching import Match
from dragoman.drive.approvals.shell.paths import expanded

_BY_STRICTNESS: Final = ("cancel", "deny", ASK, "allow", "allow_for_session", "allow_always")


class Verdict(NamedTuple):
    """A decision about a piece of a request, with its reason."""

    action: str
    by: str
    why: str
    rule: str | None = None
    """The name or number of the rule; null: no rule, but the default."""
    message: str | None = None


class Answer(NamedTuple):
    """Whether a rule is about a piece of a request."""

    match: Match
    why: str = ""
    """Why not, or why that is not certain."""


Meets: TypeAlias = Callable[[Rule], Answer]
NOT_MEANT: Final = Answer(Match.NO)


def first_match(rules: Sequence[Rule], default: str, what: str, meets: Meets) -> Verdict:
    """The decision of the first rule that matches; ``ask`` if one that forbids could match before it."""
    doubt: Verdict | None = None
    hint = ""
    for number, each in enumerate(rules, 1):
        if each is NO_RULE:
            continue
        answer = meets(each)
        rule = each.name or f"rule {number}"
        by = f"rule {each.name!r}" if each.name else f"rule {number}"
        if answer.match is Match.YES:
            found = Verdict(each.decision, by, f"{what}: {by} says so", rule, each.message)
            return strictest([doubt, found] if doubt else [found])
        if answer.match is Match.MAYBE and doubt is None:
            doubt = Verdict(ASK, by, f"{what}: {by} may forbid it; {answer.why}", rule)
        elif answer.why and not hint:
            hint = f" ({by}: {answer.why})"
    found = Verdict(default, "default", f"{what}: no rule matches{hint}; the default holds")
    return strictest([doubt, found] if doubt else [found])


def strictest(verdicts: Iterable[Verdict]) -> Verdict:
    return min(verdicts, key=lambda each: _BY_STRICTNESS.index(each.action))


class Place(NamedTuple):
    """Where a session works, and where this request is to be carried out."""

    own: str | None
    cwd: str | None
    resolve: Callable[[str], str] | None = None
    """Follows symbolic links; null: paths are compared as they are written."""
    home: str | None = None

    @classmethod
    def of(
        cls,
        own: str | None,
        cwd: str | None,
        resolve: Callable[[str], str] | None,
        home: str | None,
    ) -> Place:
        """Silence about the directory means the session's own; a path that is not clear means no place."""
        own = absolute(own, None) if own else None
        return cls(own, absolute(cwd, own) if cwd else own, resolve, home)

    def real(self, path: str) -> str:
        """Where a path leads; empty, which is no directory, if that cannot be found out."""
        if self.resolve is None:
            return path
        try:
            return self.resolve(path)
        except (OSError, ValueError):
            return ""

    def after(self, moves: Sequence[str] | None) -> list[str] | None:
        """Every directory that a line may be in after these changes, some of which may fail."""
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
        """Whether a directory, and where it leads, fit the globs; without globs, whether it is the own."""
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
        """A path of a command as it is written, from the root, and where it leads."""
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
