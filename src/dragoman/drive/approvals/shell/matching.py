"""Whether a command is one that a rule forbids, whatever the order and the spelling of its options.

A rule's words are a program, words in their order (``git push``, ``rm /``) and options. Options are found in
any place, bundled (``-fr``), apart (``-r -f``), long or short (``--force``, ``-f``), shortened (``--forc``) and
with a value. Rather one too many: ``--force`` also means ``--force-with-lease``.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import Final

from dragoman.drive.approvals.path_globs import ANY, fits
from dragoman.drive.approvals.shell.lexing import MANY
from dragoman.drive.approvals.shell.programs import program


class Match(IntEnum):
    """How certainly a command is the one that a rule means."""

    NO = 0
    MAYBE = 1
    YES = 2


_LONG_NAMES: Final = {
    "f": ("force",),
    "r": ("recursive",),
    "R": ("recursive",),
    "d": ("delete",),
    "D": ("delete", "force"),
    "y": ("yes", "assume-yes"),
    "n": ("no-verify",),
    "a": ("all",),
    "c": ("command",),
    "e": ("eval", "exec", "execute"),
    "o": ("output",),
    "i": ("in-place",),
    "g": ("global",),
    "u": ("user",),
    "X": ("request",),
    "T": ("upload-file",),
    "v": ("volume",),
    "x": ("exec",),
}
"""What a short option usually means. Rules may name the one and commands use the other."""
_NOT_SO: Final = {
    ("git commit", "a"),
    ("git commit", "c"),
    ("git commit", "e"),
    ("git commit", "v"),
}
_LONGEST_BUNDLE: Final = 6
_REFSPECS: Final = {
    "--force": "+",
    "-f": "+",
    "--force-with-lease": "+",
    "--delete": ":",
    "-d": ":",
}
_SAME_WORDS: Final = {
    "git": {"send-pack": "push", "http-push": "push", "stage": "add", "annotate": "blame"},
    "npm": {
        **dict.fromkeys(("i", "in", "ins", "inst", "insta", "instal", "add"), "install"),
        **dict.fromkeys(("un", "r", "rm", "remove", "unlink"), "uninstall"),
        **dict.fromkeys(("t", "tst"), "test"),
        **dict.fromkeys(("up", "upgrade", "udpate"), "update"),
        **dict.fromkeys(("rum", "urn"), "run"),
        "run-script": "run",
        "x": "exec",
        "c": "config",
    },
    "kubectl": {"rm": "delete"},
}
"""Other names of a program's commands. npm also takes the beginning of a name."""
"""What is pushed by force, or deleted, has a sign in front of its name as well."""


_GROUPING: Final = frozenset(("docker", "podman", "nerdctl"))
_GROUPS: Final = frozenset(("container", "image"))


def command_match(words: Sequence[str], prefix: Sequence[str]) -> Match:
    """Whether a command is, or may be, one that begins with the words of a rule."""
    if not words or not prefix:
        return Match.NO
    found = _program_match(words[0], prefix[0])
    if found is Match.NO:
        return Match.NO
    options = [word for word in prefix[1:] if _is_option(word)]
    others = [word for word in prefix[1:] if not _is_option(word)]
    given = _usual_words(program(prefix[0]), words[1:], others)
    found = min(found, _words_match(given, others))
    about = " ".join((program(prefix[0]), *others[:1]))
    for option in options:
        if found is Match.NO:
            break
        found = min(found, _option_match(given, option, about))
    return found


def _usual_words(name: str, given: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """The words with the usual name of the program's command instead of another one for it."""
    if name in _GROUPING and given[:1] and given[0] in _GROUPS:
        given = given[1:]  # docker container run
    same = _SAME_WORDS.get(name, {})
    usual = [same.get(word.casefold(), word) for word in given]
    if name == "npm" and wanted:
        usual = [
            wanted[0] if len(word) > 2 and wanted[0].startswith(word) else word for word in usual
        ]
    return usual


def _program_match(word: str, name: str) -> Match:
    if ANY in word:
        bare = program(name)
        could = fits(word.casefold(), bare) or fits(word.casefold().lstrip("/"), f"**/{bare}")
        return Match.MAYBE if could else Match.NO
    if word == name or program(word) == program(name):
        return Match.YES
    # mkfs.ext4 is mkfs, perhaps.
    return Match.MAYBE if program(word).startswith(f"{program(name)}.") else Match.NO


def _words_match(given: Sequence[str], wanted: Sequence[str]) -> Match:
    """The words of a rule in their order, with options and their values between them."""
    wanted = list(wanted)
    found = Match.YES
    after_option = is_unknown = False
    for word in given:
        if not wanted:
            break
        if word == MANY or (ANY in word and fits(word.casefold(), wanted[0].casefold())):
            is_unknown = True
        elif _is_same(word, wanted[0]):
            wanted.pop(0)
            after_option = False
        elif word.startswith("-"):
            after_option = True
        elif after_option:
            after_option = False
        elif not is_unknown and not _is_path(wanted[0]):
            return Match.NO
    if not wanted:
        return found
    return Match.MAYBE if is_unknown else Match.NO


def _is_same(word: str, wanted: str) -> bool:
    if word.casefold() == wanted.casefold():
        return True
    if not _is_path(wanted):
        return False
    normal = posixpath.normpath(wanted)
    return posixpath.normpath(re.sub(r"^/+", "/", word).removesuffix("*") or ".") == normal


def _is_path(word: str) -> bool:
    return bool(re.match(r"[/~.*]", word))


def _is_option(word: str) -> bool:
    return len(word) > 1 and word.startswith("-") and word != "--"


def _option_match(given: Sequence[str], option: str, about: str) -> Match:
    found = Match.NO
    wanted = list(_spellings(option, about))
    for word in given:
        if word == MANY or (ANY in word and (word.startswith(("-", ANY)))):
            found = max(found, Match.MAYBE)
    if any(all(any(_says(word, each) for word in given) for each in way) for way in wanted):
        return Match.YES
    if about == "git push" and any(word.startswith(_REFSPECS.get(option, "\0")) for word in given):
        return Match.YES
    if about == "git push" and _REFSPECS.get(option) == "+":
        mirrors = any(_says(word, "--mirror") for word in given)
        return Match.YES if mirrors else found
    return found


def _spellings(option: str, about: str) -> Iterator[list[str]]:
    """The ways to say an option: each is a list of options, all of which must be there."""
    name = option.partition("=")[0]
    yield [name]
    if name.startswith("--"):
        for short, longs in _LONG_NAMES.items():
            if name[2:] in longs and (about, short) not in _NOT_SO:
                yield [f"-{short}"]
        return
    letters = name[1:]
    if letters == "D" and about == "git branch":
        yield ["=-d", "=-f"]
        return
    if letters.isalpha() and 1 < len(letters) <= _LONGEST_BUNDLE:
        yield [f"-{letter}" for letter in letters]
    for way in ([f"-{letter}" for letter in letters],) if len(letters) <= _LONGEST_BUNDLE else ():
        if all((about, letter) not in _NOT_SO for letter in letters):
            yield [f"={sign}" for sign in way]


def _says(word: str, option: str) -> bool:
    if option.startswith("=-"):
        return _says_letter(word, option[2:])
    name = word.partition("=")[0]
    if name.casefold() == option.casefold() and (len(option) > 2 or name == option):
        return True
    if option.startswith("--"):
        # Shortened, or one of which it is the beginning.
        return (
            len(name) > 2
            and name.startswith("--")
            and (option.startswith(name) or name.startswith(option))
        )
    if len(option) == 2:
        return _in_bundle(word, option[1])
    return len(name) > 3 and option.casefold().startswith(name.casefold())


def _says_letter(word: str, letter: str) -> bool:
    """A letter by itself, in a bundle, in the other case of ``r``, or by its long name."""
    if _in_bundle(word, letter) or (letter in "rR" and _in_bundle(word, letter.swapcase())):
        return True
    name = word.partition("=")[0]
    if not name.startswith("--") or len(name) < 3:
        return False
    return any(
        f"--{long}".startswith(name) or name == f"--{long}" for long in _LONG_NAMES.get(letter, ())
    )


def _in_bundle(word: str, letter: str) -> bool:
    return bool(re.match(r"-[A-Za-z0-9]", word)) and letter in word[1:]
