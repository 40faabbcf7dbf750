"""A compaction: a boundary, and then the summary that replaces what was before it."""

from __future__ import annotations

from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.claude.session import ClaudeSession

_CHANNEL = "compaction"


class Compactions:
    """Holds a boundary back until the line after it says what the summary is."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._held: tuple[ClaudeSession, int] | None = None

    @property
    def is_held(self) -> bool:
        return self._held is not None

    def boundary(self, session: ClaudeSession) -> None:
        self.flush()
        self._held = (session, self._out.line)

    def summary(self, text: str) -> bool:
        """Whether this is the summary that a boundary waits for."""
        if self._held is None:
            return False
        (session, line), self._held = self._held, None
        if line != self._out.line:
            self._out.duplicate_of_line(line, "compaction: its summary follows")
        session.assembler.compacted(_CHANNEL, text)
        return True

    def flush(self) -> None:
        """No summary follows."""
        if self._held is None:
            return
        (session, line), self._held = self._held, None
        now, self._out.line = self._out.line, line
        session.assembler.compacted(_CHANNEL)
        self._out.line = now
