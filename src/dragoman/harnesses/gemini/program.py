"""How Gemini CLI is found and installed, and which release of it that is."""

from __future__ import annotations

import re
from typing import Final

from dragoman.harnesses.contract.conversation import Release
from dragoman.harnesses.contract.lazy import on_use
from dragoman.harnesses.contract.program import Program
from dragoman.harnesses.gemini.sign_in import KEY_NAMES, SIGN_IN, settings_file

_NUMBER: Final = re.compile(r"(?<!\d)(\d{1,6})\.(\d{1,6})\.(\d{1,6})")


def parse_release(text: str | None) -> Release | None:
    """The release in ``0.61.0``."""
    found = _NUMBER.search(text) if text else None
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


@on_use
def capabilities():
    from dragoman.harnesses.gemini.capabilities import capabilities

    return capabilities


def _speaks(release: Release | None) -> list[str]:
    return ["gemini -p PROMPT -o stream-json", "gemini --acp"]


GEMINI_PROGRAM: Final = Program(
    command="gemini",
    parse_release=parse_release,
    install="npm install -g @google/gemini-cli",
    speaks=_speaks,
    key_names=KEY_NAMES,
    sign_in=SIGN_IN,
    settings_file=settings_file,
)
