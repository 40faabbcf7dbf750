"""A session that is being assembled, and its output."""

from __future__ import annotations

import pytest

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.output import Output


@pytest.fixture
def out() -> Output:
    return Output(audit=True)


@pytest.fixture
def session(out: Output) -> SessionAssembler:
    """A session in the middle of a turn."""
    session = SessionAssembler(out, "codex", "s")
    session.begin_turn("t")
    out.take_messages()
    return session
