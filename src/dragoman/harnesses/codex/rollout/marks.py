"""Places in a rollout from which it can be read on without all that came before.

Where a turn begins, a parser needs to remember little: who the session is, what it has spent, and a few
facts about how the file is written. That is a mark. A parser made from one reads
the turn, and what follows, as if it had read the whole file.
"""

from __future__ import annotations

import msgspec

from dragoman.harnesses.assembly.memory import Memory, recall, remember
from dragoman.harnesses.codex.rollout.parser import RolloutParser
from dragoman.harnesses.contract.reading import Mark
from dragoman.model.usage import Usage

_CALLS_KEPT = 64
_OUTPUT_KEPT = 4096


class _MarkState(msgspec.Struct, array_like=True):
    """Of one file. Grows only at its end, since it is kept on disk."""

    memory: Memory
    own_id: str | None
    paginated: bool
    patches_follow: bool
    commands_follow: bool
    others_speak: bool
    others_count: bool
    limits: str
    running: dict[str, tuple[str, str]]
    """Commands that went on after their call: by what later rows call them."""


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_MarkState).decode


class MarkingRolloutParser(RolloutParser):
    """Reads a rollout, and marks the places where turns begin."""

    def __init__(self, *, only: frozenset[str] | None = None, audit: bool = False) -> None:
        super().__init__(only=only, audit=audit)
        self._marks: list[Mark] = []
        self._session.before_turn = self._mark

    def marks(self) -> list[Mark]:
        marks, self._marks = self._marks, []
        return marks

    def spent_so_far(self) -> tuple[str | None, Usage] | None:
        spent = self._session.spent_so_far()
        return (self._session.session_id, spent) if spent is not None else None

    def _mark(self) -> None:
        session, responses, events = self._session, self._responses, self._events
        if session.is_copying or session.is_reviewing or responses.announced or self._is_preamble():
            return
        running = responses.running
        if sum(len(output) for _, output in running.values()) > _OUTPUT_KEPT:
            return
        memory = remember(session)
        if len(memory.calls) > _CALLS_KEPT:
            memory.calls = {}
        state = _MarkState(
            memory=memory,
            own_id=self._own_id,
            paginated=self._glance is not None,
            patches_follow=responses.patches_follow,
            commands_follow=responses.commands_follow,
            others_speak=responses.others_speak,
            others_count=events.others_count,
            limits=events.limits.decode(errors="replace"),
            running=running,
        )
        self._marks.append(Mark(self._out.line, _encode(state)))


def resume(mark: Mark, only: frozenset[str] | None, audit: bool) -> MarkingRolloutParser:
    """A parser whose next line is the one that is marked."""
    parser = MarkingRolloutParser(only=only, audit=audit)
    state = _decode(mark.state)
    parser.know(
        own_id=state.own_id,
        line=mark.line - 1,
        paginated=state.paginated,
        others_count=state.others_count,
    )
    recall(parser._session, state.memory)
    parser._responses.patches_follow = state.patches_follow
    parser._responses.commands_follow = state.commands_follow
    parser._responses.others_speak = state.others_speak
    parser._responses.running = state.running
    parser._events.limits = state.limits.encode()
    return parser
