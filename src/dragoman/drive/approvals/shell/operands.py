"""Find the words of a command that certainly lead out of its directory: ``/etc/x``, ``~/x``, ``../x``.

An allow rule without ``path`` covers the files of the session's directory. Unlike
:mod:`~dragoman.drive.approvals.shell.paths`, which finds everything that could be a path, this leaves alone what is
usually something else: a pattern of ``grep``, a script of ``sed``, a commit message, an address.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from dragoman.drive.approvals.shell.programs import names, program

_WITHOUT_FILES: Final = names(
    """
    echo printf true false : cd pushd popd chdir which type whereis basename dirname expr seq tr kill killall pkill pgrep
    sleep hostname id whoami groups bazel expand history tput
    """
)
"""Programs that open none of the files that their arguments name. What ``cd`` leads to is judged with the directory."""
_READING: Final = names(
    """
    git cat head tail less more bat nl wc stat file ls dir exa eza tree du find fd fdfind grep egrep fgrep rg ag ack ugrep
    diff cmp comm md5sum sha1sum sha256sum cksum strings od hexdump realpath readlink test [ jq cut sort uniq sed awk
    """
)
"""Programs that write no file, except by options that allow rules do not cover by themselves."""
_SEARCHING: Final = names("grep egrep fgrep rg ag ack ugrep ug sed gsed awk gawk mawk nawk jq yq")
"""Programs whose first operand is a pattern or a script."""
_PATTERN_GIVEN: Final = re.compile(r"-[A-Za-z]*[ef]|--(?:re|fi|ex|fr|ty)")
"""Options that give the pattern, so that the first operand is a file."""
_PATTERN_NEXT: Final = re.compile(r"-[A-Za-z]*e|--(?:regexp|expression)|-F")
_TEXT_NEXT: Final = re.compile(r"-[A-Za-z]*m|--message|--grep|--author|-S|-G")
_MESSAGE_NEXT: Final = re.compile(r"-[A-Za-z]*m|--message")
_SPLITTING: Final = names("cut sort awk gawk mawk nawk paste column join xargs")
_HARMLESS: Final = names("/dev/null /dev/stdout /dev/stderr")
_PARENT_PATTERN: Final = re.compile(r"(^|/)\.(?:[?*\[]|\.[?*\[])[^/]*(?=/|$)")
"""A pattern such as ``.*``, which may become the parent directory."""
_ONE_LETTER: Final = re.compile(r"-[A-Za-z](.+)", re.DOTALL)
_BUNDLE: Final = re.compile(r"-(?:[a-z]{2,4}|M[A-Z])([/~].*|\.\..*)", re.DOTALL)


def only_reads(words: Sequence[str]) -> bool:
    """Whether a program writes none of the files that its arguments name."""
    return program(words[0]) in _READING


def touches_files(words: Sequence[str]) -> bool:
    """Whether a program may open the files that its arguments name."""
    return program(words[0]) not in _WITHOUT_FILES


def file_words(
    words: Sequence[str], named: int, loose: frozenset[int] = frozenset()
) -> Iterator[tuple[str, str]]:
    """Yield the words after the first ``named`` that may name a file, each with the path in it.

    In the words of ``loose``, the shell replaces patterns with names of files.
    """
    name = program(words[0])
    texts = set(_texts(name, words))
    for at, word in enumerate(words[named:], named):
        if at in texts:
            continue
        for part in _paths(word):
            if part == "/" and name in _SPLITTING:
                continue
            if part not in _HARMLESS:
                yield word, _PARENT_PATTERN.sub(r"\1..", part) if at in loose else part


def _texts(name: str, words: Sequence[str]) -> Iterator[int]:
    """The indexes of patterns, scripts and messages."""
    if name == "git":
        is_text = _TEXT_NEXT if "blame" not in words else _MESSAGE_NEXT
        yield from (at for at in range(2, len(words)) if is_text.fullmatch(words[at - 1]))
    if name not in _SEARCHING:
        return
    yield from (at for at in range(2, len(words)) if _PATTERN_NEXT.fullmatch(words[at - 1]))
    if any(_PATTERN_GIVEN.match(word) for word in words[1:]):
        return
    yield from [at for at, word in enumerate(words) if at and not word.startswith("-")][:1]


def _paths(word: str) -> Iterator[str]:
    """The word or the values in it that are paths."""
    if not word.startswith("-"):
        yield word.removeprefix("@")
    elif found := _ONE_LETTER.match(word):
        yield found[1]
        if bundle := _BUNDLE.match(word):
            yield bundle[1]
    if re.search(r"\s", word):
        return
    for found in re.finditer("=", word):
        yield word[found.end() :].removeprefix("@")
    if re.match("file:", word):
        yield "/"
