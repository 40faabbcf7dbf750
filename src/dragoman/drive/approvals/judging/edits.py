"""Judge edits: every path and the target it resolves to must be allowed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from dragoman.drive.approvals.judging.rule import NO_RULE, Rule
from dragoman.drive.approvals.judging.verdict import (
    NOT_MEANT,
    Meets,
    RequestPlace,
    RuleDecision,
    RuleMatch,
    first_match,
)
from dragoman.drive.approvals.path_globs import (
    absolute,
    in_repository,
    matches,
    meets_anywhere,
)
from dragoman.drive.approvals.policy import ALLOWING, ASK
from dragoman.drive.approvals.shell.matching import Match
from dragoman.drive.approvals.shell.paths import expanded

_YES = RuleMatch(Match.YES)


def judge_edit(
    rules: Sequence[Rule], default: str, detail: Mapping[str, Any], place: RequestPlace
) -> Iterator[RuleDecision]:
    """Yield a decision for each path that an edit touches, and for the target it resolves to."""
    if detail.get("grant_root"):
        # The edit also asks for permanent write access to a directory. No rule can allow that.
        what = f"to write below {detail['grant_root']}"
        forbidding = [NO_RULE if each.allows else each for each in rules]
        otherwise = ASK if default in ALLOWING else default
        path = str(detail["grant_root"])
        meets = _meets(path, absolute(path, place.cwd), place.own, place)
        yield first_match(forbidding, otherwise, what, meets)
    for path in changed_paths(detail.get("changes")):
        written = absolute(expanded(path, place.home), place.cwd)
        yield first_match(rules, default, path, _meets(path, written, place.own, place))
        if not place.is_plain(path, place.cwd):
            written = None  # a link before ``..`` leads elsewhere than the text says
            yield first_match(rules, default, path, _meets(path, None, place.own, place))
        if written is not None and place.resolve is not None:
            real_own = place.real(place.own) if place.own else None
            real = absolute(place.real(written), real_own)
            what = path if real == written else f"{path}, which resolves to {real}"
            yield first_match(rules, default, what, _meets(path, real, real_own, place))


def changed_paths(changes: object) -> Iterator[str]:
    """Every path that an edit touches, including the destinations of moves."""
    for change in cast("list[Any]", changes) if isinstance(changes, list) else []:
        details = cast("dict[str, Any]", change) if isinstance(change, dict) else {}
        path, moved = details.get("path"), details.get("move_path")
        yield path if isinstance(path, str) else ""
        if isinstance(moved, str) and moved:
            yield moved


def _meets(written: str, path: str | None, own: str | None, place: RequestPlace) -> Meets:
    def meets(each: Rule) -> RuleMatch:
        if each.names_commands:
            return NOT_MEANT
        if each.allows:
            if each.text:
                return RuleMatch(Match.NO, "text never allows an edit")
            if not each.path:
                return _YES
            if path is None:
                return RuleMatch(Match.NO, "the path cannot be resolved")
            if in_repository(path) and not any(map(in_repository, each.path)):
                return RuleMatch(Match.NO, "no path of the rule names .git")
            return _YES if any(matches(path, glob, own) for glob in each.path) else NOT_MEANT
        if not each.path:
            return _YES
        known = path if path is not None else expanded(written, place.home)
        return _YES if any(meets_anywhere(known, glob, own) for glob in each.path) else NOT_MEANT

    return meets
