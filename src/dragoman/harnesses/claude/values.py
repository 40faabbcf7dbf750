"""Small values that both dialects have: levels, and commands of the program itself."""

from __future__ import annotations

import re
from typing import Any, Final

from dragoman.model.messages import Level

_LOCAL: Final = re.compile(
    r"\A\s*<local-command-(stdout|stderr)>(.*?)(?:</local-command-\1>)?\s*\Z", re.DOTALL
)


_COMMAND: Final = re.compile(r"<command-name>\s*(/?[^<]*?)\s*</command-name>")
_ARGUMENTS: Final = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_LEVELS: Final[dict[str, Level]] = {"warning": "warning", "warn": "warning", "error": "error"}


def level_of(level: Any) -> Level:
    return _LEVELS.get(level, "info") if isinstance(level, str) else "info"


def command_line(text: str) -> str | None:
    """A slash command as it was typed, from how a file has it; None if the text is something else."""
    if not text.lstrip().startswith("<command-"):
        return None
    name = _COMMAND.search(text)
    if name is None:
        return None
    arguments = _ARGUMENTS.search(text)
    return f"{name[1]} {arguments[1].strip() if arguments else ''}".strip()


def local_output(text: str) -> str | None:
    """What a command of the program itself printed, such as ``/cost``; None if the text is something else."""
    found = _LOCAL.match(text)
    return found[2].strip() if found else None
