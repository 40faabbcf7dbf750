"""Recognize shell calls that only run one script: ``["bash", "-lc", "git status"]``.

Only such a call may be shown and judged as its script. A shell is recognized by its bare name, which is
resolved on the PATH like any other program, or by one of the system paths below. Any other file called
``bash`` (``./bash``, ``/ws/src/bash``) is an ordinary program. So is a shell with a flag that is not listed
here: it may read other files first, or ignore the script.
"""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

Family: TypeAlias = Literal["posix", "powershell", "cmd"]

_POSIX: Final = ("bash", "sh", "zsh", "dash", "ksh", "ash", "fish")
_POWERSHELL: Final = ("pwsh", "powershell")
_SYSTEM_FOLDERS: Final = (
    "/bin/",
    "/usr/bin/",
    "/usr/local/bin/",
    "/opt/homebrew/bin/",
    "/run/current-system/sw/bin/",
)
_WINDOWS: Final[dict[str, Family]] = {
    r"c:\program files\git\bin\bash.exe": "posix",
    r"c:\program files\git\usr\bin\bash.exe": "posix",
    r"c:\program files\powershell\7\pwsh.exe": "powershell",
    r"c:\windows\system32\windowspowershell\v1.0\powershell.exe": "powershell",
    r"c:\windows\system32\cmd.exe": "cmd",
}
_PLACES: Final[dict[str, Family]] = {
    **{f"{folder}{name}": "posix" for folder in ("", *_SYSTEM_FOLDERS) for name in _POSIX},
    **{
        f"{folder}{name}": "powershell" for folder in ("", *_SYSTEM_FOLDERS) for name in _POWERSHELL
    },
    "cmd": "cmd",
}
_DEFAULT_SHELLS: Final = ("bash", "sh")
_USUAL_FLAGS: Final = ("-lc", "-c")
_FLAG_LETTERS: Final = frozenset("ceul")
"""Run the script; stop at errors; stop at unset variables; read the user's own profile first."""
_LONG_FLAGS: Final = frozenset(("--login", "--noprofile", "--norc"))
_POWERSHELL_FLAGS: Final = frozenset(("-noprofile", "-nologo", "-noninteractive"))


class ShellCall(NamedTuple):
    """A shell that runs one script and nothing else."""

    flags: tuple[str, ...]
    """The shell and its flags, unchanged."""
    script: str
    family: Family


def shell_call(words: Sequence[str]) -> ShellCall | None:
    """The script that a command runs, if the command is a known shell with known flags."""
    if len(words) < 3:
        return None
    family = _family(words[0])
    flags, script = words[1:-1], words[-1]
    if family == "posix":
        known = _are_posix(flags)
    elif family == "powershell":
        first = [flag.lower() for flag in flags]
        known = first[-1] == "-command" and _POWERSHELL_FLAGS.issuperset(first[:-1])
    else:
        known = family == "cmd" and [flag.lower() for flag in flags] == ["/c"]
    return ShellCall(tuple(words[:-1]), script, family) if known and family else None


def _family(program: str) -> Family | None:
    if program in _PLACES:
        return _PLACES[program]
    # Case does not matter only for names that end in .exe.
    name = program.lower()
    if not name.endswith(".exe"):
        return None
    return _WINDOWS.get(name) or (None if "/" in name else _PLACES.get(name.removesuffix(".exe")))


def _are_posix(flags: Sequence[str]) -> bool:
    """Only the last flag takes the script, and ``-o`` may only set ``pipefail``."""
    pending = list(flags)
    while len(pending) > 1:
        flag = pending.pop(0)
        if flag in _LONG_FLAGS:
            continue
        letters = _letters(flag)
        if letters and letters.endswith("o") and pending[0] == "pipefail" and len(pending) > 1:
            pending.pop(0)
            letters = letters[:-1]
        elif not letters:
            return False
        if "c" in letters or not _FLAG_LETTERS.issuperset(letters):
            return False
    letters = _letters(pending[0])
    return "c" in letters and _FLAG_LETTERS.issuperset(letters)


def _letters(flag: str) -> str:
    return flag[1:] if flag.startswith("-") and not flag.startswith("--") else ""


def is_users_shell(shell: str, env: Mapping[str, str]) -> bool:
    """Whether a shell with its flags is the user's normal shell.

    That is ``$SHELL``, or bash or sh if it is unset: by its bare name, by its own path, or in a system
    directory. A program called ``bash`` in any other directory is not bash.
    """
    try:
        words = shlex.split(shell)
    except ValueError:
        return False
    if len(words) != 2 or words[1] not in _USUAL_FLAGS:
        return False
    own = env.get("SHELL") or ""
    folder, name = posixpath.split(words[0])
    if name not in ((posixpath.basename(own),) if own else _DEFAULT_SHELLS):
        return False
    return not folder or words[0] == own or f"{folder}/" in _SYSTEM_FOLDERS
