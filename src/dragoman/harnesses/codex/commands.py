"""Shell commands as a person would have typed them.

Codex runs ``["bash", "-lc", "ls"]`` and reports it as a list, or as one quoted string. Either way
the command is ``ls``.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Sequence
from typing import Any, Final

from dragoman.harnesses.codex.loose import as_list

_SHELL: Final = re.compile(r"(?:.*[/\\])?(?:ba|z|da|k|fi|a)?sh(?:\.exe)?$", re.IGNORECASE)
_POWERSHELL: Final = re.compile(r"(?:.*[/\\])?(?:pwsh|powershell)(?:\.exe)?$", re.IGNORECASE)
_CMD: Final = re.compile(r"(?:.*[/\\])?cmd(?:\.exe)?$", re.IGNORECASE)
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
    if isinstance(command, list):
        words = [str(word) for word in as_list(command)]
        script = _script(words)
        return shlex.join(words) if script is None else script
    line = command if isinstance(command, str) else ""
    if not _WRAPPED.match(line):
        return line
    try:
        words = shlex.split(line)
    except ValueError:
        return line
    script = _script(words)
    return line if script is None else script


def _script(words: Sequence[str]) -> str | None:
    if len(words) == 3 and words[1] in ("-lc", "-c") and _SHELL.match(words[0]):
        return words[2]
    if len(words) >= 3 and words[-2].lower() == "-command" and _POWERSHELL.match(words[0]):
        return words[-1]
    if len(words) == 3 and words[1].lower() == "/c" and _CMD.match(words[0]):
        return words[2]
    return None


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
