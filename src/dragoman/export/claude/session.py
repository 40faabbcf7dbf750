"""The state of a session in the Claude format between messages.

It has the parent, the text and cost of the current turn, and the ids in use. It knows messages, but not the
lines that they become.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Final

from dragoman.model.messages import ToolCall, TurnEnded, UsageReport
from dragoman.model.usage import NOTHING, Usage

_LATE: Final = 0x8000
"""The first number for held back messages, above all others."""


@dataclass(slots=True)
class ExportedSession:
    session_id: str
    """Empty if the dialect does not have it."""
    model: str = ""
    parent_call_id: str | None = None
    """The call of another session that started this one."""
    newest_task: ToolCall | None = None
    """The call that started, or will start, a session below this one."""
    open_todo_calls: set[str] = field(default_factory=set[str])
    turns: int = 0
    # This turn.
    started_at: datetime | None = None
    last_text: str = ""
    tool_calls: int = 0
    retries: int = 0
    spent: Usage = NOTHING
    # Running totals, as usage reports have them.
    before_turn: Usage | None = None
    total: Usage | None = None
    newest: Usage = NOTHING
    # For ids.
    uuid_head: str = ""
    highest_line: int = -1
    nth: int = 0
    late: dict[int, int] = field(default_factory=dict[int, int])

    def begin_turn(self, at: datetime | None) -> None:
        self.started_at, self.last_text = at, ""
        self.tool_calls = self.retries = 0
        self.spent, self.before_turn = NOTHING, self.total
        self.open_todo_calls.clear()

    def report(self, usage: UsageReport) -> None:
        if usage.last is not None:
            self.newest = usage.last
        if usage.total is None:
            # Without a running total, the responses have to be added up.
            self.spent += usage.last or NOTHING
            return
        if self.before_turn is None:
            # The total may include time before this stream started: count from the newest response.
            self.before_turn = usage.total - usage.last if usage.last else NOTHING
        self.total, self.spent = usage.total, usage.total - self.before_turn

    def duration_ms(self, end: TurnEnded) -> int:
        """The duration of the turn that ends here; 0 if unknown."""
        if end.at is None or self.started_at is None:
            return 0
        return max(0, round((end.at - self.started_at).total_seconds() * 1000))

    def uuid(self, line: int) -> str:
        """An id for the next line written, made of the session, the source line and a number."""
        if not self.uuid_head:
            digest = sha256(self.session_id.encode()).hexdigest()
            self.uuid_head = f"{digest[:8]}-{digest[8:12]}-8{digest[12:15]}-8{digest[15:18]}"
        if line > self.highest_line:
            self.highest_line, self.nth = line, 0
        elif line == self.highest_line:
            self.nth += 1
        else:
            return self._late_uuid(line)
        return f"{self.uuid_head}-{line:08x}{self.nth:04x}"

    def _late_uuid(self, line: int) -> str:
        """An id for a message that was held back: lines after its own have been written already."""
        nth = self.late[line] = self.late.get(line, _LATE - 1) + 1
        return f"{self.uuid_head}-{line:08x}{nth:04x}"
