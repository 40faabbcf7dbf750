"""Shell commands as a person would have typed them.

Codex runs ``["bash", "-lc", "ls"]`` and reports it as a list, or as one quoted string. Either way
the command is ``ls``. A shell that is not known, or has flags that are not, stays a part of the command:
see :mod:`dragoman.model.shells`.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from typing import Any, Final

from dragoman.harnesses.codex.values.loose import as_list
from dragoman.model.shells import shell_call

_WRAPPED: Final = re.compile(
    r"\s*['\"]?(?:[^\s'\"]*[/\\])?(?:(?:ba|z|da|k|fi|a)?sh|pwsh|powershell|cmd)(?:\.exe)?['\"]?\s+[-/]",
    re.IGNORECASE,
)
_HEREDOC: Final = re.compile(
    r"^\s*(?:cd\s+(?P<cd>\S+)\s*&&\s*)?(?:apply_patch|applypatch)\s*<<-?\s*(?P<q>['\"]?)(?P<end>\w+)(?P=q)"
    r"[ \t]*\n(?P<patch>.*?)\n?^\s*(?P=end)\s*\Z",
    re.DOTALL | re.MULTILINE,
)


def command_line(command: Any) -> str:
    """The script inside a shell call, given as a list of words or as one quoted string."""
    words = _words(command)
    call = shell_call(words)
    if call is not None:
        return call.script
    if isinstance(command, str):
        return command
    return shlex.join(words)


def wrapping_shell(command: Any) -> str | None:
    """The shell and its flags that :func:`command_line` leaves out: ``/bin/bash -lc``."""
    call = shell_call(_words(command))
    return None if call is None else shlex.join(call.flags)


def _words(command: Any) -> list[str]:
    """The arguments of a command; those of a line only where it may be a call of a shell."""
    if isinstance(command, list):
        return [str(word) for word in as_list(command)]
    if not isinstance(command, str) or not _WRAPPED.match(command):
        return []
    try:
        return shlex.split(command)
    except ValueError:
        return []


def patch_in_words(command: Any) -> str | None:
    """The patch that is the argument of ``apply_patch``, called by name."""
    words = as_list(command)
    is_call = len(words) == 2 and words[0] in ("apply_patch", "applypatch")
    return str(words[1]) if is_call else None


def patch_in_script(script: str) -> str | None:
    """The patch that a script feeds to ``apply_patch``, if that is all it does."""
    if "*** Begin Patch" not in script:
        return None
    found = _HEREDOC.match(script)
    return found["patch"] if found else None


def patch_directory(script: str, cwd: str | None) -> str | None:
    """Where such a script applies its patch: it may change the directory first."""
    found = _HEREDOC.match(script)
    if found is None or found["cd"] is None:
        return cwd
    there = found["cd"].strip("'\"")
    return posixpath.normpath(posixpath.join(cwd, there)) if cwd else there
