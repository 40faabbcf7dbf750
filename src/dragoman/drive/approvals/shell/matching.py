"""Match a command against the words of a deny rule, whatever the order and spelling of its options.

A rule's words are a program, operands in order (``git push``, ``rm /``) and options. Options match in any
position: bundled (``-fr``), separate (``-r -f``), long or short (``--force``, ``-f``), abbreviated (``--forc``) or
with a value. Matching overestimates: ``--force`` also matches ``--force-with-lease``.
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
    """How certainly a rule matches a command."""

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
"""The usual meaning of short options. A rule may name one form and the command use the other."""
_NOT_SO: Final = {
    ("git commit", "a"),
    ("git commit", "c"),
    ("git commit", "e"),
    ("git commit", "v"),
}
_LONGEST_BUNDLE: Final = 6
_HOOKLESS: Final = re.compile(r"(?i)(?:-c|--config-env=)?core\.hookspath=")
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
"""Aliases of subcommands. npm also accepts abbreviations."""


_GROUPING: Final = frozenset(("docker", "podman", "nerdctl"))
_GROUPS: Final = frozenset(("container", "image"))


def command_match(words: Sequence[str], prefix: Sequence[str]) -> Match:
    """Whether a command begins, or may begin, with the words of a rule."""
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
    """Replace aliases of subcommands with their usual names."""
    if name in _GROUPING and given[:1] and given[0] in _GROUPS:
        given = given[1:]  # docker container run
    if name == "chmod":
        return [_mode(word, wanted) for word in given]
    same = _SAME_WORDS.get(name, {})
    usual = [same.get(word.casefold(), word) for word in given]
    if name == "npm" and wanted:
        usual = [
            wanted[0] if len(word) > 2 and wanted[0].startswith(word) else word for word in usual
        ]
    return usual


def _mode(word: str, wanted: Sequence[str]) -> str:
    """The mode that a rule names, if this one includes it: ``0777``, ``1777`` and ``a+rwx`` include ``777``."""
    bits = int(word, 8) if re.fullmatch(r"[0-7]{1,5}", word) else _symbolic_mode(word)
    for mode in wanted:
        if bits is not None and re.fullmatch(r"[0-7]{3,4}", mode):
            same = bits & 0o777 == int(mode, 8) & 0o777 and int(mode, 8) & ~bits == 0
            if same:
                return mode
    return word


def _symbolic_mode(word: str) -> int | None:
    """The bits that ``u=rwx,go+rx`` sets."""
    if not re.fullmatch(r"[ugoa]*(?:[-+=][rwxXstugo]*)+(?:,[ugoa]*(?:[-+=][rwxXstugo]*)+)*", word):
        return None
    bits = dict.fromkeys("ugo", 0)
    for clause in word.split(","):
        who = re.match(r"[ugoa]*", clause)
        whom = who[0] if who and who[0] and "a" not in who[0] else "ugo"
        for sign, letters in re.findall(r"([-+=])([rwxXstugo]*)", clause):
            given = 0
            for letter in letters:
                given |= {"r": 4, "w": 2, "x": 1, "X": 1}.get(letter, bits.get(letter, 0))
            for each in whom:
                kept = 0 if sign == "=" else bits[each]
                bits[each] = kept & ~given if sign == "-" else kept | given
    return bits["u"] << 6 | bits["g"] << 3 | bits["o"]


def _program_match(word: str, name: str) -> Match:
    if ANY in word:
        bare = program(name)
        could = fits(word.casefold(), bare) or fits(word.casefold().lstrip("/"), f"**/{bare}")
        return Match.MAYBE if could else Match.NO
    if word == name or program(word) == program(name):
        return Match.YES
    # mkfs.ext4 may be mkfs.
    return Match.MAYBE if program(word).startswith(f"{program(name)}.") else Match.NO


def _words_match(given: Sequence[str], wanted: Sequence[str]) -> Match:
    """Match the rule's operands in order, with options and their values between them."""
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
    if option in ("--no-verify", "-n") and any(map(_HOOKLESS.match, given)):
        return Match.YES
    if about == "git push" and any(word.startswith(_REFSPECS.get(option, "\0")) for word in given):
        return Match.YES
    if about == "git push" and _REFSPECS.get(option) == "+":
        mirrors = any(_says(word, "--mirror") for word in given)
        return Match.YES if mirrors else found
    return found


def _spellings(option: str, about: str) -> Iterator[list[str]]:
    """Yield the ways to spell an option: each is a list of options that must all be present."""
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
        # Abbreviated, or a prefix of a longer option.
        return (
            len(name) > 2
            and name.startswith("--")
            and (option.startswith(name) or name.startswith(option))
        )
    if len(option) == 2:
        return _in_bundle(word, option[1])
    return len(name) > 3 and option.casefold().startswith(name.casefold())


def _says_letter(word: str, letter: str) -> bool:
    """Match a letter alone, in a bundle, in either case for ``r``, or by its long name."""
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
