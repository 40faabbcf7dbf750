"""Emit what the harness itself reports: notices and compactions."""

from __future__ import annotations

from dragoman.harnesses.assembly.duplicates import Deduplicator
from dragoman.harnesses.assembly.output import SessionOutput
from dragoman.model.messages import Compacted, Level, Notice, TurnError


class SessionNotices:
    """The notices of one session, each once, whichever channels report them."""

    __slots__ = ("_compactions", "_notices", "_out")

    def __init__(self, out: SessionOutput) -> None:
        self._out = out
        self._notices = Deduplicator()
        self._compactions = Deduplicator()

    def notice(
        self,
        channel: str,
        level: Level,
        text: str,
        *,
        will_retry: bool = False,
        undone_turns: int = 0,
    ) -> None:
        if not self._notices.is_new(channel, text):
            self._out.duplicate("notice: emitted before")
            return
        self._out.emit(
            Notice, level=level, text=text, will_retry=will_retry, undone_turns=undone_turns
        )

    def compacted(self, channel: str, summary: str | None = None) -> None:
        if not self._compactions.is_new(channel, ""):
            self._out.duplicate("compaction: emitted before")
            return
        self._out.emit(Compacted, summary=summary)

    def error(self, error: TurnError) -> None:
        """Emit an error that no turn's end will carry."""
        text = "\n".join(filter(None, (error.message, error.details)))
        self._out.emit(Notice, level="error", text=text)

    def end_turn(self) -> None:
        self._notices.clear()
        self._compactions.clear()
