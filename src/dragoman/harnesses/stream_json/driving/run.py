"""One run of a program that answers one prompt: its stream, with what only we know, and exactly one end.

The stream has no prompt, and when the process is cut off it has no end. Both are added here, so that a run
reads like the session file that it leaves.

| how it ended without a result | outcome |
|---|---|
| we stopped it | interrupted |
| SIGINT, or status 0 | interrupted |
| a status, before it began: bad option, no such session, not signed in … | failed, ``response_error``, final |
| anything else | failed, ``port_exit``, worth another try |
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final
from uuid import uuid4

import msgspec

from dragoman.harnesses.contract.transport import OneShot
from dragoman.harnesses.stream_json.driving.live import StreamLiveReader
from dragoman.harnesses.stream_json.driving.prompts import user_line
from dragoman.harnesses.stream_json.reader import StreamJsonReader
from dragoman.model.messages import Message, Outcome, TurnEnded, TurnError, TurnStarted
from dragoman.wire.lines import LongLine

_SIGINT: Final = -2
_LONGEST: Final = 500


class PrintRun:
    """One process that was given one prompt."""

    def __init__(
        self, shot: OneShot, make_parser: Callable[[], StreamJsonReader[Any]], program: str
    ) -> None:
        self._program = program
        self._reader = StreamLiveReader(make_parser)
        self._opening = msgspec.json.encode(user_line(str(uuid4()), shot.prompt, shot.images))
        self._reader.receive_sent([self._opening])
        self._messages: list[Message] = []
        self._has_begun = False
        self._is_over = False

    def opening(self) -> bytes:
        """The prompt, as the line that would have asked it."""
        return self._opening

    def receive_time(self, at: datetime) -> None:
        self._reader.receive_time(at)

    def receive_line(self, line: bytes) -> None:
        self._reader.receive_line(line)
        self._drain()

    def receive_long_line(self, line: LongLine) -> None:
        self._reader.receive_long_line(line)
        self._drain()

    def end_turn(self, outcome: Outcome, error: TurnError | None = None) -> None:
        if not self._is_over:
            self._reader.begin_turn()
            self._reader.end_turn(outcome, error, is_running=True)
            self._drain()

    def receive_exit(
        self, code: int | None, *, stopped: bool = False, stderr_tail: str = ""
    ) -> None:
        if not self._is_over:
            outcome, error = ending(
                self._program, code, stderr_tail, began=self._has_begun, stopped=stopped
            )
            self._reader.begin_turn()
            self._reader.end_turn(outcome, error, is_running=True)
        self._reader.finish()
        self._drain()

    def messages(self) -> list[Message]:
        messages, self._messages = self._messages, []
        return messages

    def _drain(self) -> None:
        for message in self._reader.messages():
            self._messages.append(message)
            if self._is_over or not self._reader.is_main(message):
                continue
            if isinstance(message, TurnStarted):
                self._has_begun = True
            elif isinstance(message, TurnEnded):
                # A helper may still report; that belongs to this turn, and is no other.
                self._is_over = True
                self._reader.give_up(message.turn_id)


def ending(
    program: str, code: int | None, stderr: str, *, began: bool, stopped: bool
) -> tuple[Outcome, TurnError | None]:
    """The end of a run that emitted none; ``began``: it had started to work."""
    if stopped or (began and code in (0, _SIGINT)):
        return "interrupted", None
    how = "was lost"
    if code is not None:
        how = f"was killed by signal {-code}" if code < 0 else f"exited with status {code}"
    said = " ".join(stderr.split())
    said = said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…"
    message = f"{said} ({how})" if said else f"{program} {how} before the turn had ended"
    if not began and code is not None and code > 0:
        return "failed", TurnError(kind="response_error", message=message, retryable=False)
    return "failed", TurnError(kind="port_exit", message=message, retryable=True)
