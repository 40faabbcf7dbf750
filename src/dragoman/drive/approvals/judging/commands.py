"""Judge commands: allow rules need certainty about what runs and where, deny rules match what might run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from dragoman.drive.approvals.judging.rule import NO_RULE, Rule
from dragoman.drive.approvals.judging.verdict import (
    NOT_MEANT,
    RequestPlace,
    RuleDecision,
    RuleMatch,
    first_match,
)
from dragoman.drive.approvals.path_globs import (
    ANY,
    HERE,
    absolute,
    covers_directory,
    in_repository,
    meets_anywhere,
    unknown_names,
)
from dragoman.drive.approvals.shell.escapes.finding import has_escapes
from dragoman.drive.approvals.shell.lexing import UNKNOWN
from dragoman.drive.approvals.shell.matching import Match, command_match
from dragoman.drive.approvals.shell.operands import file_words, only_reads, touches_files
from dragoman.drive.approvals.shell.paths import parts, shown_paths
from dragoman.drive.approvals.shell.permits import uncovered, uncovered_input
from dragoman.drive.approvals.shell.plain import (
    Certain,
    certain_commands,
    certain_words,
    read_plain,
)
from dragoman.drive.approvals.shell.possible import Possible, possible_in, possible_of
from dragoman.model.shells import shell_call

_YES: Final = RuleMatch(Match.YES)
_UNCLEAR: Final = "what it runs is not certain"
_LONGEST_FOR_REGEX: Final = 10_000
_DIRECTORY: Final = re.compile(r"~?(?:/[\w.-]+)+/")
_POWERSHELL_CALL: Final = re.compile(r"(?:^|[;|&{(\n])\s*[&.]\s*[({$]")
"""A call of what an expression gives: ``& ('r' + 'm')``."""
_MOST_PATHS: Final = 300
_GLOB: Final = re.compile(r"\*|\?|\[[^\]]*\]?")


class _Line(NamedTuple):
    text: str
    certain: list[Certain] | None
    possible: list[Possible]


def judge_command(
    rules: Sequence[Rule], default: str, command: str | Sequence[str], place: RequestPlace
) -> Iterator[RuleDecision]:
    """Yield a decision for each command that will or might run."""
    line = _read(command)
    seen: set[tuple[str, ...]] = set()
    for each in line.certain or ():
        possible = _possible_for(each)
        seen.update(one.words for one in possible)
        piece = _Piece(line.text, each, possible, place)
        yield first_match(rules, default, shlex.join(each.words), piece.meets)
    more = [one for one in line.possible if one.words not in seen]
    if line.certain is None:
        for one in [*more, None]:
            piece = _Piece(line.text, None, [one] if one else [], place)
            yield first_match(rules, default, _shown(one, line.text), piece.meets)
        return
    # Commands that only show in the line as a whole, such as a script piped into a shell.
    forbidding = [NO_RULE if each.allows else each for each in rules]
    for one in more:
        piece = _Piece(line.text, None, [one], place)
        found = first_match(forbidding, "allow_always", _shown(one, line.text), piece.meets)
        if found.rule is not None:
            yield found


def _read(command: str | Sequence[str]) -> _Line:
    """Parse both ways. The shell that the harness wraps a script in is not a command of the agent."""
    if isinstance(command, str):
        plain = read_plain(command)
        words = plain[0].words if plain is not None and len(plain) == 1 else ()
    else:
        words = tuple(command)
    call = shell_call(words)
    if call is not None:
        possible = possible_in(call.script)
        if call.family == "cmd":
            possible += possible_in(call.script.replace("^", ""))
        if call.family == "powershell" and _POWERSHELL_CALL.search(call.script):
            possible.append(Possible(UNKNOWN))
        return _Line(call.script, certain_words(words), possible)
    if isinstance(command, str):
        return _Line(command, certain_commands(command), possible_in(command))
    return _Line(shlex.join(words), certain_words(words), possible_of(words))


def _possible_for(each: Certain) -> list[Possible]:
    words = tuple(
        unknown_names(word) if at in each.loose else word for at, word in enumerate(each.words)
    )
    moved = ANY if each.moves is None else "/".join(each.moves) or None
    return [one._replace(directory=moved) for one in possible_of(words)]


def _shown(one: Possible | None, line: str) -> str:
    if one is None or one.words[:2] == UNKNOWN:
        return line if len(line) <= 200 else f"{line[:200]}…"
    return " ".join(one.words).replace(ANY, "…").replace(HERE, "").replace("\ue001", "…")


class _Piece(NamedTuple):
    """One command of a line."""

    line: str
    certain: Certain | None
    """Null: not known for certain."""
    possible: list[Possible]
    place: RequestPlace

    def meets(self, each: Rule) -> RuleMatch:
        return self._allowed(each) if each.allows else self._forbidden(each)

    # Allow rules.

    def _allowed(self, each: Rule) -> RuleMatch:
        if each.text:
            return _no("text never allows a command")
        if not each.names_commands:
            if each.path:
                return NOT_MEANT
            here = self.place.cwd
            is_in = here is not None and self.place.certainly_in(here, each.cwd)
            return _YES if is_in else _no(self._elsewhere(each))
        if self.certain is None:
            return _no("the line is ambiguous")
        named = self._named_words(each)
        if named is None:
            return NOT_MEANT
        problem = self._problem(each, self.certain, named)
        return _YES if problem is None else _no(problem)

    def _named_words(self, each: Rule) -> int | None:
        """How many of the command's words the rule names; None if the rule is about other commands."""
        words = self.certain.words if self.certain else ()
        found = [len(one) for one in each.command if words[: len(one)] == one]
        if each.command and not found:
            return None
        if each.command_regex:
            text = shlex.join(words)
            if len(text) > _LONGEST_FOR_REGEX:
                return None
            fitting = [one for one in each.command_regex if one.fullmatch(text)]
            if not fitting:
                return None
            found += [_spelled_out(words, one.pattern) for one in fitting]
        return max(found)

    def _problem(self, each: Rule, command: Certain, named: int) -> str | None:
        words = command.words
        if command.changed is not None:
            return f"{command.changed!r} before it may change the meaning of its words"
        places = self.place.after(command.moves)
        if places is None or not all(self.place.certainly_in(one, each.cwd) for one in places):
            return self._elsewhere(each, places)
        loose = [words[at] for at in command.loose if at >= named]
        if loose and (each.options is not None or each.path):
            return f"the shell replaces {loose[0]!r} with file names"
        if has_escapes(words) and any(_GLOB.match(word) for word in loose):
            return f"{loose[0]!r} may become an option: write './{loose[0]}'"
        if command.piped and (problem := uncovered_input(words)) is not None:
            return problem
        if (problem := uncovered(words, named, each.options, bool(each.path))) is not None:
            return problem
        if not each.path and not touches_files(words):
            return None
        outside = self._outside(each, words, named, places)
        return outside or self._in_repository(each, words, named, places)

    def _elsewhere(self, each: Rule, places: Sequence[str] | None = None) -> str:
        if self.place.own is None:
            return "the session's own directory is not known"
        holds = f"in {', '.join(each.cwd)}" if each.cwd else "in the session's own directory"
        shown = places[-1] if places else self.place.cwd if self.certain is None else None
        return f"it applies {holds} only, and this runs in {shown or 'an unknown directory'}"

    def _outside(
        self, each: Rule, words: Sequence[str], named: int, places: Sequence[str]
    ) -> str | None:
        """The problem with the first word that may be a path outside the rule's globs.

        A rule without globs covers the session's directory and those in which it applies.
        """
        own = self.place.own
        globs = each.path or ("**", *each.cwd)
        if each.path:
            found = ((word, part) for word in words[named:] for part in _given_parts(word))
            problem = f"is not in {', '.join(each.path)}"
        else:
            found = file_words(words, named, self.certain.loose if self.certain else frozenset())
            problem = "is outside the session's directory: give the rule a path that includes it"
        for word, part in found:
            if not each.path and any(_spells(one.pattern, part) for one in each.command_regex):
                continue
            if not all(self._is_inside(part, globs, place, own) for place in places):
                return f"{word!r} {problem}"
        return None

    def _in_repository(
        self, each: Rule, words: Sequence[str], named: int, places: Sequence[str]
    ) -> str | None:
        """The problem with a program that may write into ``.git``, if no path of the rule names it."""
        if only_reads(words) or any(map(in_repository, each.path)):
            return None
        for word in words[named:]:
            for part in _given_parts(word):
                paths = [absolute(part, place) or part for place in places]
                if any(
                    in_repository(path) or in_repository(self.place.real(path)) for path in paths
                ):
                    return f"{word!r} is in .git, whose files say what git runs: give the rule a path that includes it"
        return None

    def _is_inside(self, part: str, globs: Sequence[str], place: str, own: str | None) -> bool:
        if place.startswith("/"):
            part = part.replace("\\", "_")  # an ordinary character on POSIX
        path = absolute(part, place)
        if path is None or own is None or not self.place.is_plain(part, place):
            return False
        real, real_own = self.place.real(path), self.place.real(own)
        return any(covers_directory(path, glob, own) for glob in globs) and any(
            covers_directory(real, glob, real_own) for glob in globs
        )

    # Deny and ask rules.

    def _forbidden(self, each: Rule) -> RuleMatch:
        if each.cwd and not self.place.perhaps_in(self.place.cwd, each.cwd):
            return NOT_MEANT
        if not (each.names_commands or each.path):
            return _YES
        found = Match.NO
        if each.command_regex and not (each.command or each.path) and self._line_fits(each):
            return _YES
        for one in self.possible:
            match = Match.YES if one.sure else Match.MAYBE
            if each.command:
                match = min(match, max(command_match(one.words, prefix) for prefix in each.command))
            if each.command_regex and match and not self._line_fits(each):
                match = min(match, _regex_match(each, one))
            if each.path and match:
                match = min(match, self._path_match(each, one))
            found = max(found, match)
            if found is Match.YES:
                return _YES
        return RuleMatch(found, _UNCLEAR if found else "")

    def _line_fits(self, each: Rule) -> bool:
        line = self.line
        return len(line) > _LONGEST_FOR_REGEX or any(p.search(line) for p in each.command_regex)

    def _path_match(self, each: Rule, one: Possible) -> Match:
        if one.words[:1] == UNKNOWN[:1] and not one.targets:
            return Match.MAYBE
        found = Match.NO
        for number, path in enumerate(shown_paths(one.words, one.targets)):
            if number > _MOST_PATHS:
                return max(found, Match.MAYBE)
            for spelling in self.place.spellings(path, one.directory):
                if any(meets_anywhere(spelling, glob, self.place.own) for glob in each.path):
                    if ANY not in spelling:
                        return Match.YES
                    found = Match.MAYBE
        return found


def _given_parts(word: str) -> Iterator[str]:
    """An option is not a path, but its value may be."""
    if word not in ("-", "--"):
        yield from (part for part in parts(word) if part and (part != word or part[0] != "-"))


def _spells(pattern: str, path: str) -> bool:
    """Whether an expression spells out a directory above a path."""
    literal = pattern.replace("\\", "")
    return ".." not in path and any(map(path.startswith, _DIRECTORY.findall(literal)))


def _spelled_out(words: Sequence[str], pattern: str) -> int:
    """How many of the first words an expression spells out; ``.*`` spells out none."""
    text = pattern.replace("\\", "")
    missing = (at for at, word in enumerate(words) if word not in text)
    return next(missing, len(words))


def _regex_match(each: Rule, one: Possible) -> Match:
    if ANY in one.words[0]:
        return Match.MAYBE
    text = " ".join(one.words)
    return Match.YES if any(pattern.search(text) for pattern in each.command_regex) else Match.NO


def _no(why: str) -> RuleMatch:
    return RuleMatch(Match.NO, why)
