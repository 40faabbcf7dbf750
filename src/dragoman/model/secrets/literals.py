"""What a text must contain for a pattern to find anything in it, derived from the pattern itself.

Looking for a substring takes a hundredth of the time of searching a pattern, and nearly every text lacks one
that the pattern cannot do without. The tables of patterns remain the only place that says what is found.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any, Final, NamedTuple, TypeAlias

_MOST: Final = 4
"""How many groups of substrings are looked for: the longest ones, as they are the rarest."""
_WIDEST: Final = 24
"""How many alternatives a group may have."""
_Group: TypeAlias = tuple[bool, tuple[str, ...]]
"""Whether upper and lower case are the same, and the alternatives."""
_REPEATS: Final = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")


class Needs(NamedTuple):
    """Of each group, the text must contain at least one substring."""

    exact: tuple[tuple[str, ...], ...] = ()
    folded: tuple[tuple[str, ...], ...] = ()
    """The same in lower case, for a text in lower case."""

    def are_met(self, text: str, lower: str) -> bool:
        return _has_all(text, self.exact) and _has_all(lower, self.folded)


def needs_of(pattern: str) -> Needs:
    """What a text must contain for this pattern, which only folds the case of ASCII letters."""
    try:
        parser: Any = import_module("re._parser")
        parsed: Any = parser.parse(pattern, re.ASCII)
        is_folded = bool(parsed.state.flags & re.IGNORECASE)
        groups = {group for group in _groups(parsed, is_folded) if _length(group) > 1}
    except (ImportError, AttributeError, TypeError, ValueError, IndexError):
        return Needs()  # another version of Python: search every text
    chosen = sorted(groups, key=lambda group: (-_length(group), group))[:_MOST]
    return Needs(
        tuple(words for folded, words in chosen if not folded),
        tuple(words for folded, words in chosen if folded),
    )


def _has_all(text: str, groups: tuple[tuple[str, ...], ...]) -> bool:
    for group in groups:
        for each in group:
            if each in text:
                break
        else:
            return False
    return True


class _Run(NamedTuple):
    """Fixed text: its alternatives, and whether case is ignored, or None where there is no letter."""

    texts: tuple[str, ...] = ("",)
    folded: bool | None = None

    def joined(self, other: _Run) -> _Run | None:
        """This and then the other; None if they do not fit together."""
        if len(self.texts) * len(other.texts) > _WIDEST:
            return None
        if None not in (self.folded, other.folded) and self.folded != other.folded:
            return None
        texts = tuple(before + after for before in self.texts for after in other.texts)
        return _Run(texts, self.folded if self.folded is not None else other.folded)


def _groups(parsed: Any, folded: bool) -> list[_Group]:
    """The groups of a sequence. Neighbors of fixed text are joined."""
    found: list[_Run] = []
    inner: list[_Group] = []
    run = _Run()
    for code, given in parsed:
        name = str(code)
        fixed = _fixed(name, given, folded)
        repeated = None if fixed is not None else _first_repeat(name, given, folded)
        joined = run.joined(fixed or repeated or _Run()) if fixed or repeated else None
        if joined is not None and fixed is not None:
            run = joined
            continue
        found.append(joined or run)
        run = fixed or repeated or _Run()
        if fixed is None:
            inner += _inside(name, given, folded)
    runs = [(bool(each.folded), each.texts) for each in (*found, run) if all(each.texts)]
    return [*inner, *runs]


def _fixed(name: str, given: Any, folded: bool) -> _Run | None:
    """All texts that a part of a pattern can match; None if they are many, or unknown."""
    if name == "LITERAL":
        text = chr(given)
        if not text.isalpha():
            return _Run((text,))
        return _Run((text.lower() if folded else text,), folded)
    if name == "IN" and all(str(code) == "LITERAL" for code, _ in given):
        return _either([_fixed("LITERAL", each, folded) for _, each in given])
    if name == "SUBPATTERN":
        return _fixed_sequence(given[3], _is_folded(given, folded))
    if name == "BRANCH":
        return _either([_fixed_sequence(each, folded) for each in given[1]])
    return None


def _either(each: list[_Run | None]) -> _Run | None:
    known = [run for run in each if run is not None]
    cases = {run.folded for run in known if run.folded is not None}
    texts = tuple(dict.fromkeys(text for run in known for text in run.texts))
    if len(known) < len(each) or len(cases) > 1 or not 0 < len(texts) <= _WIDEST:
        return None
    return _Run(texts, cases.pop() if cases else None)


def _fixed_sequence(parsed: Any, folded: bool) -> _Run | None:
    run = _Run()
    for code, given in parsed:
        fixed = _fixed(str(code), given, folded)
        joined = run.joined(fixed) if fixed is not None else None
        if joined is None:
            return None
        run = joined
    return run


def _first_repeat(name: str, given: Any, folded: bool) -> _Run | None:
    """What a repeated part begins and ends with, if it must come at least once."""
    if name not in _REPEATS or not given[0]:
        return None
    return _fixed_sequence(given[2], folded)


def _inside(name: str, given: Any, folded: bool) -> list[_Group]:
    """The groups of one part of a pattern, if that part must match."""
    if name == "SUBPATTERN":
        return _groups(given[3], _is_folded(given, folded))
    if name == "ATOMIC_GROUP":
        return _groups(given, folded)
    if name == "ASSERT":
        return _groups(given[1], folded)
    if name in _REPEATS and given[0] > 0:
        return _groups(given[2], folded)
    if name == "BRANCH":
        best = [max(_groups(each, folded), key=_length, default=None) for each in given[1]]
        groups = [group for group in best if group is not None]
        if len(groups) == len(best) and len({group[0] for group in groups}) == 1:
            return [(groups[0][0], tuple(word for group in groups for word in group[1]))]
    return []


def _is_folded(given: Any, folded: bool) -> bool:
    """Whether case is ignored inside a group, which may say so or take it back."""
    return bool(given[1] & re.IGNORECASE) or (folded and not given[2] & re.IGNORECASE)


def _length(group: _Group) -> int:
    return min(map(len, group[1]), default=0)
