"""What a session in the making has emitted."""

from __future__ import annotations

from dragoman.harnesses.assembly.output import Output


def reasons(out: Output) -> list[str]:
    return [duplicate.reason for duplicate in out.take_duplicates()]
