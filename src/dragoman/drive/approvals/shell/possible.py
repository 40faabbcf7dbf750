"""Find every command that a line might run: through launchers, in scripts and in code.

This overestimates on purpose, because deny rules are matched against it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from dragoman.drive.approvals.path_globs import ANY
from dragoman.drive.approvals.shell.escapes.finding import command_values, is_git_command
from dragoman.drive.approvals.shell.expanding import decoded, printed
from dragoman.drive.approvals.shell.interpreters import INTERPRETERS
from dragoman.drive.approvals.shell.lexing import MANY, UNKNOWN, Simple, Words, lex
from dragoman.drive.approvals.shell.plain import is_odd
from dragoman.drive.approvals.shell.programs import (
    RESERVED,
    SHELLS,
    inner_operands,
    is_interpreter,
    is_unknown,
    names,
    program,
    reads_script,
    runs_code,
)

_DEPTH: Final = 4
_MOST: Final = 500
"""A line with more commands counts as unknown."""
_REACH: Final = 32
"""How many words of a nested command are examined."""
_SCRIPT: Final = re.compile(r"[\s;&|()`$<>{}]")
_QUOTED: Final = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_TAKES_SCRIPT: Final = re.compile(
    r"(?i)(?:-{1,2}[\w.-]*)?(?:command|cmd|exec|script|shell|hook|pager|editor|rsh|system)s?(?:([=:])|$)"
)
_WRITERS: Final = frozenset(("echo", "printf", "cat", "tee"))
_COPIERS: Final = frozenset(("tee", "dd", "sponge", "cp", "install"))
"""Programs that write their input to a file."""
_SOMETHING: Final = "some-program"
_ASSIGNMENT: Final = re.compile(r"\w+\+?=")
_FOREIGN: Final = re.compile(r"[^\x00-\x7f\ue000-\ue002]")
_DASHES: Final = re.compile(
    r"^(?=-?[\u2010-\u2015\u2212\ufe58\ufe63\uff0d])[-\u2010-\u2015\u2212\ufe58\ufe63\uff0d]+"
)
_EVALUATING: Final = names(
    "test [ [[ printf read unset let declare typeset local export readonly wait getopts mapfile readarray"
)
"""Builtins that evaluate the index in the name of a variable: ``test -v 'a[$(rm x)]'``."""
_SUBSTITUTION: Final = re.compile(r"\$\(|`")
_DUPLICATING: Final = names("cp ln mv install")
_SYSTEM_PROGRAM: Final = re.compile(r"(?:/usr|/usr/local|/opt/homebrew)?/s?bin/[^/]+")
_CONFIGURING: Final = re.compile(
    r"GIT_|LD_|DYLD_|BASH_ENV$|LESSOPEN$|LESSCLOSE$|npm_config_|NPM_CONFIG_|ENV$|PATH$|IFS$|VISUAL$|BROWSER$|MAKEFLAGS$"
    r"|PS[0-4]$|\w*(?:PAGER|EDITOR|_COMMAND|ASKPASS|SHELL|WRAPPER)$"
)


class Possible(NamedTuple):
    """A command that might run."""

    words: Words
    sure: bool = True
    """False: it runs only if an unknown program runs its arguments."""
    targets: tuple[str, ...] = ()
    """The files of its redirections."""
    directory: str | None = None
    """Where it runs, relative to the request's directory; ANY if unknown."""


def possible_in(line: str) -> list[Possible]:
    """Every command that a line might run, and some that it does not."""
    return _bounded(_line(line, _DEPTH))


def possible_of(words: Words) -> list[Possible]:
    """A command given as words, and those that it might run in turn."""
    return _bounded(_runs(Simple(words), _DEPTH))


def _bounded(commands: Iterable[Possible]) -> list[Possible]:
    found: dict[Possible, None] = {}
    for number, each in enumerate(commands):
        if number >= _MOST:
            found[Possible(UNKNOWN)] = None
            break
        found[each] = None
    return list(found)


def _line(line: str, depth: int) -> Iterator[Possible]:
    if depth <= 0:
        yield Possible(UNKNOWN)
        return
    if any(is_odd(char) for char in line):
        yield Possible(UNKNOWN)  # shells disagree about its meaning
    simples = lex(line)
    fed = [text for each in simples for text in each.stdin]
    aliases: dict[str, str] = {}
    directory: str | None = None
    settings: list[str] = []
    for each in simples:
        for found in _runs(each, depth, fed):
            moved = directory if found.directory is None else _below(directory, found.directory)
            yield found._replace(directory=moved)
        words = _stripped(each.words)
        if not words:
            continue
        if program(words[0]) == "git":
            if settings:
                changed = ("git", *settings, *words[1:])
                yield from _runs(each._replace(words=changed), depth - 1)
            settings += _git_setting(words)
        if words[0] == "alias":
            for name, _, value in (word.partition("=") for word in words[1:]):
                aliases[name] = value or name
                yield from _unsure(_texts([value], depth))
        elif words[:2] == ("hash", "-p") and len(words) == 4:
            aliases[words[3]] = words[2]
        elif words[0] in aliases:
            yield from _line(f"{aliases[words[0]]} {' '.join(words[1:])}", depth - 1)
        elif words[0] in ("cd", "pushd", "popd", "chdir", "set-location", "sl"):
            directory = _below(directory, _destination(words))


def _git_setting(words: Words) -> list[str]:
    """What ``git config`` stores, as an option of the git commands after it."""
    if "config" not in words:
        return []
    given = [word for word in words[words.index("config") + 1 :] if not word.startswith("-")]
    return [
        part for key, value in pairwise(given) if "." in key for part in ("-c", f"{key}={value}")
    ]


def _destination(words: Words) -> str:
    places = [word for word in words[1:] if not word.startswith("-")]
    if not places and words[0] == "cd" and len(words) == 1:
        return "~"
    return places[0] if len(places) == 1 else ANY


def _below(directory: str | None, path: str) -> str:
    if directory is None or path.startswith(("/", "~", ANY)):
        return path
    return f"{directory}/{path}"


def _stripped(words: Words) -> Words:
    """Without the shell's own words in front of the command."""
    first = 0
    while first < len(words):
        if words[first] == "function":
            first += 1  # its name is not a command
        elif words[first] not in RESERVED and not _ASSIGNMENT.match(words[first]):
            break
        first += 1
    return words[first:]


def _runs(command: Simple, depth: int, fed: Iterable[str] = ()) -> Iterator[Possible]:
    """Yield the command itself and those it may run in turn."""
    words = _stripped(command.words)
    for name, value in command.assignments:
        if _CONFIGURING.match(name):
            yield Possible((*UNKNOWN, value), sure=False)
            yield from _texts([value], depth)
        elif depth > 0 and _SCRIPT.search(value):
            # TAR_OPTIONS, RUSTC, CC and many more are commands, or options with commands.
            yield from _unsure(_texts([value, f"{_SOMETHING} {value}"], depth))
    if not words:
        if command.targets:
            yield Possible((":",), targets=command.targets)
        return
    yield Possible(words, targets=command.targets)
    yield from _look_alikes(words)
    if depth <= 0:
        yield Possible(UNKNOWN)
        return
    if words[0].startswith("!"):
        yield Possible(UNKNOWN, sure=False)  # history expansion
    if command.targets and program(words[0]) in _WRITERS:
        # Possibly a script that is written now and run later.
        yield from _unsure(_texts([*printed(words), *command.stdin], depth))
    elif program(words[0]) in _COPIERS:
        before = command.piped_from
        is_printing = before and program(before[0]) in ("echo", "printf")
        written = [*command.stdin, *(printed(before) if before and is_printing else ())]
        yield from _unsure(_texts(written, depth))
    yield from _special(words, depth)
    yield from _fed(command, words, depth, fed)
    if inner_operands(words) is not None:
        yield from _inner(command._replace(words=words, assignments=()), depth, fed)
    elif is_unknown(words):
        yield from _unsure(_inner(command._replace(words=words, assignments=()), depth, fed))
        yield from _unsure(_texts(command.stdin, depth))
        yield from _code(("", *command.stdin), depth) if command.stdin else ()
    elif runs_code(words):
        yield from _code(words, depth)


def _look_alikes(words: Words) -> Iterator[Possible]:
    """What a name or an option in other letters may stand for: some systems take them for the plain ones."""
    if _FOREIGN.search(words[0]):
        yield Possible(UNKNOWN, sure=False)
    if any(_DASHES.match(word) for word in words[1:]):
        yield Possible(tuple(_DASHES.sub(_plain_dashes, word) for word in words), sure=False)


def _plain_dashes(found: re.Match[str]) -> str:
    return "-" * len(found[0])


def _inner(command: Simple, depth: int, fed: Iterable[str]) -> Iterator[Possible]:
    """Try from each word on, because the launcher's options decide where its command starts."""
    words = command.words
    name = program(words[0])
    rest = _xargs(words) if name in ("xargs", "parallel") else words
    if name == "eval":
        yield from _line(" ".join(rest[1:]), depth - 1)
    if name in ("cmd", "call"):
        yield from _line(" ".join(rest[1:]).replace("^", ""), depth - 1)
    if name == "parallel" and not any(_is_operand(word) for word in words[1:]):
        yield Possible(UNKNOWN)  # its input is commands
    for at in range(1, len(words)):
        word = rest[at]
        if ANY in word and not word.startswith("-"):
            yield Possible(rest[at : at + _REACH])
        if _SCRIPT.search(word):
            yield from _texts([word], depth)
        elif not word.startswith("-"):
            inner = command._replace(words=rest[at : at + _REACH], targets=())
            yield from _runs(inner, depth - 1, fed)
        if word.startswith("-") and _SCRIPT.search(word):
            yield from _texts([word[2:]], depth)
        if "=" in word:
            value = word.partition("=")[2]
            yield from _texts([value], depth)
            yield from _runs(Simple((value, *rest[at + 1 : at + _REACH])), depth - 1)
        if name in ("pwsh", "powershell") and (script := decoded(word)):
            yield from _line(script, depth - 1)
    is_sourced = name in SHELLS or name in ("source", ".")
    if runs_code(words) or (is_sourced and any(ANY in word for word in words)):
        yield from _code(words, depth)


def _is_operand(word: str) -> bool:
    return not word.startswith(("-", ":"))


def _xargs(words: Words) -> Words:
    """Replace the placeholder for the input with unknown text; without one, append the input."""
    for at, word in enumerate(words[1:], 1):
        if word in ("-I", "-i", "--replace", "-J"):
            sign = words[at + 1] if at + 1 < len(words) else "{}"
            return tuple(each.replace(sign, ANY) if sign else each for each in words)
        if found := re.match(r"(?:-[Ii]|--replace=)(.+)", word):
            return tuple(each.replace(found[1], ANY) for each in words)
    return (*(each.replace("{}", ANY) for each in words), ANY, MANY)


def _special(words: Words, depth: int) -> Iterator[Possible]:
    """Yield the commands in options, and git's aliases."""
    for value in command_values(words):
        yield from _texts([value], depth)
    yield from _unsure(_texts(_given_scripts(words), depth))
    name = program(words[0])
    if name in _EVALUATING:
        for word in filter(_SUBSTITUTION.search, words[1:]):
            yield from _unsure(_line(f'{_SOMETHING} "{word.replace(chr(34), "")}"', depth - 1))
    if name in _DUPLICATING:
        for word in filter(_SYSTEM_PROGRAM.fullmatch, words[1:]):
            yield Possible((word, MANY), sure=False)  # it gets another name
    if name in INTERPRETERS:
        at = next((at for at, word in enumerate(words[1:], 1) if not word.startswith("-")), None)
        if at is not None:  # python /usr/bin/pip install x
            yield from _unsure(_runs(Simple(words[at : at + _REACH]), depth - 1))
    if name in ("make", "gmake"):
        values = (word.partition("=")[2] for word in words[1:] if _ASSIGNMENT.match(word))
        yield from _unsure(_texts(values, depth))
    if name.startswith("git-"):
        yield from _runs(Simple(("git", name.removeprefix("git-"), *words[1:])), depth - 1)
    if name in ("python", "pypy", "py"):
        for at, word in enumerate(words[1:], 1):
            if found := re.match(r"-[A-Za-z]*m(.*)", word):
                module = words[at + 1 :] if not found[1] else (found[1], *words[at + 1 :])
                yield from _runs(Simple(module[:_REACH]), depth - 1) if module else ()
                break
            if not word.startswith("-"):
                break
    if name == "cpio":
        yield Possible(("cpio", ANY, MANY), sure=False)  # it reads file names from its input
    if name == "bind":
        yield from _unsure(_texts((word.partition(":")[2] for word in words[1:]), depth))
    if name != "git":
        return
    for at, word in enumerate(words[1:], 1):
        if word == "for-each-repo":
            for after in range(at + 1, len(words)):
                yield from _runs(Simple(("git", *words[after : after + _REACH])), depth - 1)
        if "ext::" in word:
            yield from _line(word.partition("ext::")[2].replace("% ", " "), depth - 1)
        if re.match(r"-[A-Za-z]*[Oxu].*\s", word):
            yield from _texts([re.split("[Oxu]", word, maxsplit=1)[1]], depth)  # git grep -O'…'
        if found := re.match(r"(?:alias\.)?[^=]*=?!(.*)", word, re.DOTALL):
            yield from _line(found[1], depth - 1)
        elif found := re.match(
            r"(?:-c|--config=|--config-env=)?[\w.-]+\.[\w.-]+=(.+)", word, re.DOTALL
        ):
            yield from _texts([found[1]], depth)
            alias = Simple(("git", *found[1].split(), MANY))
            yield from _runs(alias, depth - 1)
    sub = next((word for word in words[1:] if not word.startswith("-")), None)
    if sub is not None and not is_git_command(sub) and words[1] == sub:
        yield Possible(("git", ANY, MANY, *words[2:]), sure=False)  # possibly an alias


def _given_scripts(words: Words) -> Iterator[str]:
    """The values of options that take a command by their name: ``--command …``, ``SHELL=…``, ``EXEC:…``."""
    for at, word in enumerate(words[1:], 1):
        found = _TAKES_SCRIPT.match(word)
        if found and found[1]:
            yield word[found.end() :]
        elif found and at + 1 < len(words):
            yield words[at + 1]


def _fed(command: Simple, words: Words, depth: int, fed: Iterable[str]) -> Iterator[Possible]:
    """Yield commands from a pipe, a here-document or a file, if the program runs its input."""
    if not reads_script(words):
        return
    if command.stdin and is_interpreter(words):
        yield from _code(("", *command.stdin), depth)
        return
    yield from _texts(command.stdin, depth)
    before = command.piped_from
    if before is not None:
        yield Possible(UNKNOWN)
        yield from _texts([" ".join(before)], depth)  # 'rm x' | iex
        yield from _texts(fed, depth)
        if before and program(before[0]) in ("echo", "printf"):
            yield from _texts(printed(before), depth)
    is_sourced = program(words[0]) in SHELLS or program(words[0]) in ("source", ".")
    if any(ANY in text for text in command.stdin) or (command.targets and is_sourced):
        yield Possible(UNKNOWN, sure=False)


def _code(words: Words, depth: int) -> Iterator[Possible]:
    """Code in another language may do anything, and its strings may be commands."""
    yield Possible(UNKNOWN, sure=False)
    for word in words[1:]:
        found = _QUOTED.findall(word)
        yield from _texts((one or other for one, other in found), depth)
        listed = tuple(one or other for one, other in found)
        if len(listed) > 1:
            yield from _runs(Simple(listed), depth - 1)  # ['rm', '-rf', '/']


def _unsure(found: Iterable[Possible]) -> Iterator[Possible]:
    return (each._replace(sure=False) for each in found)


def _texts(texts: Iterable[str], depth: int) -> Iterator[Possible]:
    for text in texts:
        if text.strip():
            yield from _line(text, depth - 1)
            if text.startswith("!"):
                yield from _line(text[1:], depth - 1)
