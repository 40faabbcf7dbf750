"""How Claude's transcripts are written; imported when one is (:mod:`~dragoman.harnesses.contract.lazy`)."""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.contract.lazy import on_use
from dragoman.harnesses.contract.writer import Writer


@on_use
def _new_id():
    from dragoman.harnesses.claude.writing.session import new_id

    return new_id


@on_use
def _write():
    from dragoman.harnesses.claude.writing.session import write

    return write


def _resume(session_id: str) -> tuple[str, ...]:
    return ("--resume", session_id)


CLAUDE_WRITER: Final = Writer(new_id=_new_id, write=_write, resume=_resume)
