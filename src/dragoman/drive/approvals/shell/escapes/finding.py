"""Find the words of a command that the name of its program does not cover.

A rule that allows ``rg`` means searching, and not ``rg --pre sh``: a program that runs another one, writes a
file or works elsewhere because of an option does so only if a rule names that option, in its ``command`` or
its ``options``. Three sources say which options those are: a table for each program, the names of long
options, and a table of subcommands. None of them is complete. A rule that lists its ``options`` is certain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from dragoman.drive.approvals.shell.escapes.builtins import added_subcommand
from dragoman.drive.approvals.shell.escapes.code_words import CODE_WORDS
from dragoman.drive.approvals.shell.escapes.long_names import is_telling
from dragoman.drive.approvals.shell.escapes.options import (
    ARGUMENT_FILES,
    BUNDLERS,
    EXACT,
    HARMLESS_PROPERTY,
    OPTIONS,
    PASSING_ON,
    PROPERTIES,
    SINGLE_DASH,
)
from dragoman.drive.approvals.shell.escapes.subcommands import operands, running_subcommand
from dragoman.drive.approvals.shell.programs import names, program

_GIT_GLOBAL: Final = frozenset(
    ("--no-pager", "-P", "--no-optional-locks", "--version", "--help", "-v", "-h")
)
_GIT_COMMANDS: Final = names(
    """
    add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore check-mailmap
    check-ref-format checkout checkout-index cherry cherry-pick clean clone commit commit-graph commit-tree
    config count-objects describe diff diff-files diff-index diff-tree difftool fast-export fast-import fetch
    fetch-pack filter-branch fmt-merge-msg for-each-ref for-each-repo format-patch fsck gc get-tar-commit-id
    grep gui hash-object help hook init index-pack instaweb interpret-trailers log ls-files ls-remote ls-tree
    mailinfo mailsplit maintenance merge merge-base merge-file merge-index merge-tree mergetool mktag mktree
    multi-pack-index mv name-rev notes pack-objects pack-redundant pack-refs patch-id prune prune-packed pull
    push range-diff read-tree rebase reflog remote repack replace replay request-pull rerere reset restore
    rev-list rev-parse revert rm send-email send-pack shortlog show show-branch show-index show-ref
    sparse-checkout stage stash status stripspace submodule switch symbolic-ref tag unpack-file unpack-objects
    update-index update-ref update-server-info upload-archive upload-pack var verify-commit verify-pack
    verify-tag version whatchanged worktree write-tree
    """
)
_GIT_READING: Final = {
    "config": names("get list --get --get-all --get-regexp --list -l"),
    "bisect": names("start good bad new old skip log reset next terms"),
    "submodule": names("status summary init update sync deinit add set-branch set-url"),
}
"""Subcommands of git of which only these forms run nothing and configure nothing."""
_GIT_RUNNING: Final = names(
    """
    difftool mergetool filter-branch for-each-repo hook instaweb send-email gui daemon
    upload-pack upload-archive fast-import maintenance merge-index archive bundle
    """
)
"""Subcommands of git that run programs, or configure what runs later."""
_MERGING: Final = names("merge pull rebase cherry-pick revert")
_STRATEGY: Final = re.compile(r"(?:--stra(?:t(?:e(?:gy?)?)?)?(?:=|$)|-s(?=.|$)(?!ignoff))(.*)")
_STRATEGIES: Final = names("ours ort recursive resolve octopus subtree")
"""Any other strategy is a program ``git-merge-…``."""
_CONTAINERS: Final = ("docker", "podman", "nerdctl")
_TARS: Final = ("tar", "gtar", "bsdtar")
_FULL_NAMES: Final = {
    "git": ("--text",),
    "pytest": ("--co", "--cov", "--pdb", "--log"),
    "npm": ("--global",),
    "phpunit": ("--testdox",),
    **dict.fromkeys(_TARS, ("--exclude",)),
}
"""Options that are complete names, although a longer option starts the same way."""
_METHOD: Final = re.compile(r"-[A-Za-z#0-9]*X(.*)|--(?:request|method)(?:=(.*))?$")
_READING_METHODS: Final = ("GET", "HEAD", "OPTIONS")
_INSTALLING: Final = names("install i in add a ci up upgrade update")
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+(?:#.*)?")
_ELSEWHERE: Final = re.compile(r"[/~]|[A-Za-z]:[\\/]|(?:.*/)?\.\.(?:/|$)")


def escape(words: Sequence[str], named: int = 1, *, options_matter: bool = True) -> str | None:
    """The first word that the program's name does not cover. The rule itself names the first ``named`` words.

    Pass ``options_matter=False`` if the rule lists its permitted options: then only operands are checked.
    """
    words = list(words)
    name = program(words[0])
    if name == "git" and (found := _git_escape(words, named, options_matter)) is not None:
        return found
    if name == "python" and words[1:2] == ["-m"] and len(words) > 2:
        # The rest are arguments of the module.
        return escape(words[2:], max(named - 2, 1), options_matter=options_matter)
    options = OPTIONS.get(name, "").split()
    is_over = False
    for at, word in enumerate(words[named:], named):
        follows = words[at + 1] if at + 1 < len(words) else None
        spelled = _spelled(name, word, at)
        if word.startswith(("-", "+")) and not options_matter:
            continue
        if word == "--":
            is_over = True
            if name in PASSING_ON and not {"rustc", "rustdoc"}.intersection(words):
                break
        if any(_is_given(name, spelled, option, follows) for option in options):
            return word
        if not is_over and is_telling(name, spelled, follows):
            return word
        if _is_setting(name, word, follows) or (
            name in CODE_WORDS and CODE_WORDS[name].search(word)
        ):
            return word
    return (
        running_subcommand(name, words, named)
        or added_subcommand(name, words, named)
        or _foreign_package(name, words, named)
        or _second_file(name, words[named:])
    )


def has_escapes(words: Sequence[str]) -> bool:
    """Whether the table lists options of the program."""
    return program(words[0]) in OPTIONS


def command_values(words: Sequence[str]) -> Iterator[str]:
    """The values of such options, which may contain commands."""
    name = program(words[0])
    options = OPTIONS.get(name, "").split()
    for at, word in enumerate(words[1:], 1):
        spelled = _spelled(name, word, at)
        is_option = any(_is_option(name, spelled, option.rstrip("/")) for option in options)
        if is_option or is_telling(name, spelled, None):
            option, equals, value = word.partition("=")
            if equals:
                yield value.removeprefix("exec=")
            elif len(option) > 2 and not option.startswith("--"):
                yield option[2:]
            for after in words[at + 1 : at + 2]:
                yield after
                yield after.replace(",", " ")  # gcc -wrapper rm,-rf
                yield re.split(r"[=\s]", after, maxsplit=1)[-1]  # ssh -o 'ProxyCommand rm'
    if name in PROPERTIES:
        yield from _property_values(words)


def _property_values(words: Sequence[str]) -> Iterator[str]:
    """The values of ``-Dname=value``, each alone, and a program with its arguments."""
    values: dict[str, str] = {}
    for at, word in enumerate(words):
        if word in ("-D", "--define"):
            word = f"-D{words[at + 1] if at + 1 < len(words) else ''}"
        if word.startswith("-D"):
            setting, _, value = word[2:].partition("=")
            values[setting] = value
    yield from values.values()
    arguments = [value for setting, value in values.items() if "arg" in setting.lower()]
    for setting, value in values.items():
        if setting.endswith("executable"):
            yield " ".join([value, *arguments])


def is_git_command(word: str) -> bool:
    """Whether it is a built-in subcommand of git, which no alias can replace."""
    return word in _GIT_COMMANDS


def _git_escape(words: Sequence[str], named: int, options_matter: bool) -> str | None:
    if _GIT_COMMANDS.isdisjoint(words[1:named]):
        at = named
        while at < len(words) and words[at].startswith("-"):
            if words[at] not in _GIT_GLOBAL and options_matter:
                return words[at]
            at += 1
        if not options_matter:
            # The value of a permitted option may come before the subcommand.
            known = (place for place in operands(words) if words[place] in _GIT_COMMANDS)
            at = next(known, at)
        if at < len(words) and (words[at] not in _GIT_COMMANDS or words[at] in _GIT_RUNNING):
            return words[at]
        reading = _GIT_READING.get(words[at]) if at < len(words) else None
        if reading is not None and words[at + 1 : at + 2] and words[at + 1] not in reading:
            return " ".join(words[at : at + 2])
    sub = next((word for word in words[1:] if not word.startswith("-")), "")
    short = {
        "grep": "O",
        "rebase": "x",
        "clone": "uc",
        "difftool": "xt",
        "fetch": "u",
        "format-patch": "o",
        "help": "w",
    }.get(sub, "")
    for at, word in enumerate(words[max(named, 2) :], max(named, 2)):
        is_strategy = sub in _MERGING and not (word == "-s" and sub in ("cherry-pick", "revert"))
        if is_strategy and (found := _STRATEGY.match(word)):
            if (found[1] or "".join(words[at + 1 : at + 2])) not in _STRATEGIES:
                return word
            continue
        is_short = options_matter and re.match(r"-[A-Za-z]", word)
        if is_short and any(sign in word[1:] for sign in short):
            return word
        if "ext::" in word or "fd::" in word or "://-" in word:
            return word
    return None


def _spelled(name: str, word: str, at: int) -> str:
    """The word in the spelling that the table uses."""
    if name in _TARS and at == 1 and word[:1] not in ("-", ""):
        return f"-{word}"  # tar accepts its first options without a dash
    if name in ("nim", "dotnet") and word.startswith("-"):
        return word.replace(":", "=", 1)
    if name in SINGLE_DASH and (found := re.fullmatch(r"-+([A-Za-z].*)", word, re.DOTALL)):
        bare = found[1]
        is_letter = len(bare.partition("=")[0]) == 1 or bare[:1] in "DXJ"
        return f"-{bare}" if is_letter else f"--{bare}"
    return word


def _is_given(name: str, word: str, option: str, follows: str | None) -> bool:
    """Whether a word is an option of the table. An entry that ends in ``/`` counts only if its value leads elsewhere."""
    if name in PROPERTIES and word.startswith("-D"):
        return False
    if not option.endswith("/"):
        return _is_option(name, word, option)
    option = option[:-1]
    if not _is_option(name, word, option):
        return False
    _, equals, value = word.partition("=")
    if not equals:
        value = word[word.index(option[1]) + 1 :] if len(option) == 2 else ""
    return bool(_ELSEWHERE.match(value or follows or ""))


def _is_option(name: str, word: str, option: str) -> bool:
    """Whether a word is this option: alone, with a value, abbreviated, or bundled."""
    if word == option:
        return True
    given = word.partition("=")[0]
    if option.startswith("--"):
        is_short = (
            len(given) > 2 and given not in _FULL_NAMES.get(name, ()) and option.startswith(given)
        )
        return given == option or (is_short and name not in EXACT)
    if name in BUNDLERS and len(option) > 2 and not word.startswith("--"):
        return word.startswith(option)
    if len(option) > 2 or not re.match(r"-[^-]", word) or len(option) < 2:
        return given == option
    if name in _CONTAINERS and re.match(rf"-[aDdiPqt]+{option[1]}", word):
        return True
    if name in EXACT or name in BUNDLERS:
        return word.startswith(option)
    return option[1] in re.sub(r"[^A-Za-z0-9#:].*", "", word[1:])


def _is_setting(name: str, word: str, follows: str | None) -> bool:
    """Whether a word sets an arbitrary configuration value, or names a file with more arguments."""
    if word.startswith("@") and len(word) > 1:
        return name in ARGUMENT_FILES
    if name in ("make", "gmake", "xcodebuild"):
        return "=" in word
    if name in ("curl", "wget"):
        return _sends(word, follows)
    if name in ("dotnet", "msbuild"):
        return bool(re.match(r"/\w+:|--?p(?:roperty)?:", word))
    if name in ("gcc", "g++", "cc", "c++", "clang", "clang++", "gfortran"):
        return bool(re.match(r"-Wl,.*(?:plugin|-o\b|-T)|-Wa,|-Wp,-M", word))
    if name in ("java", "javac", "kotlin", "kotlinc", "scala", "sbt") and word.startswith("-"):
        running = (
            r"-J|-Xplugin|-XX:\+?(?:On|Flags|VMOptions|.*(?:File|Path|Dir))|-X?agent|-javaagent|-Xbootclasspath"
            r"|-Xlog.*file|-Xloggc"
        )
        if re.match(running, word):
            return True
    if name not in PROPERTIES or not re.match(r"-D|--define|--system-prop", word):
        return False
    setting = re.sub(r"^(?:-D|--define|--system-prop)=?", "", word) or follows or ""
    return not HARMLESS_PROPERTY.fullmatch(setting)


def _sends(word: str, follows: str | None) -> bool:
    """Whether an option of curl or wget chooses a method that changes something."""
    found = _METHOD.match(word)
    return (
        found is not None
        and (found[1] or found[2] or follows or "").upper() not in _READING_METHODS
    )


def _foreign_package(name: str, words: Sequence[str], named: int) -> str | None:
    """The short address of a repository, which ``npm install owner/name`` takes instead of a package."""
    if name not in ("npm", "pnpm", "yarn", "bun") or _INSTALLING.isdisjoint(words[1:3]):
        return None
    return next((word for word in words[named:] if _REPOSITORY.fullmatch(word)), None)


def _second_file(name: str, words: Sequence[str]) -> str | None:
    """The output file of a program that takes an input and an output file."""
    if name not in ("uniq", "xxd"):
        return None
    operands: list[str] = []
    after_option = False
    for word in words:
        is_option = word.startswith("-") and len(word) > 1
        if not is_option and not (after_option and word.isdigit()):
            operands.append(word)
        after_option = is_option
    return operands[1] if len(operands) > 1 else None
