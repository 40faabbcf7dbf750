"""The stream parser on a live stream: both directions, turns that we end, a process that is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

import msgspec

from dragoman.harnesses.stream_json.reader import StreamJsonReader
from dragoman.model.messages import Message, Outcome, TurnEnded, TurnError, TurnStarted
from dragoman.wire.lines import LongLine


class StreamLiveReader:
    """Reads the lines of both sides in the order in which they are received and sent."""

    def __init__(self, make_parser: Callable[[], StreamJsonReader[Any]]) -> None:
        self._parser = make_parser()
        self._parser.sent = False
        self._given_up: str | None = None
        """The turn that was ended here, and that the agent is still at."""

    def receive_line(self, line: bytes) -> None:
        self._parser.receive_line(line)

    def receive_long_line(self, line: LongLine) -> None:
        self._parser.receive_long_line(line)

    def receive_sent(self, lines: Iterable[bytes]) -> None:
        """Take lines that we send."""
        self._parser.sent = True
        self._parser.receive_lines(lines)
        self._parser.sent = False

    def receive_time(self, at: datetime) -> None:
        """The lines to come arrive at this time."""
        self._parser.receive_time(at)

    def is_main(self, message: Message) -> bool:
        """Whether a message is about the session itself, and not about a helper in it."""
        return message.session_id == self._parser.sessions.main.session_id

    @property
    def has_agents_at_work(self) -> bool:
        """Whether a sub-agent's turn is open."""
        return any(each.assembler.in_turn for each in self._parser.sessions.all()[1:])

    def begin_turn(self) -> None:
        """Make sure that a turn is open: with the prompt that waits, if the agent has not started one."""
        if not self._parser.sessions.main.assembler.in_turn:
            self._parser.begin_turn()

    def end_turn(self, outcome: Outcome, error: TurnError | None, *, is_running: bool) -> None:
        """End the open turn, which the agent does not end; ``is_running``: it may still be at it."""
        main = self._parser.sessions.main
        if not main.assembler.in_turn:
            return
        turn_id = main.assembler.open_turn
        main.end_turn(outcome, error)
        self._given_up = turn_id if is_running else None

    def give_up(self, turn_id: str | None) -> None:
        """What still comes belongs to this turn, which is over, and starts no other."""
        self._given_up = turn_id

    def resume(self) -> None:
        """The agent has come to the end of what was given up."""
        self._given_up = None

    def cut_off(self, error: TurnError) -> None:
        """No more will come: end what is open."""
        self._parser.control.drop_all()
        for session in self._parser.sessions.all():
            if session.assembler.in_turn:
                session.end_turn("failed", error)
        self.finish()

    def finish(self) -> None:
        """No more will come."""
        self._parser.receive_eof()

    def messages(self) -> list[Message]:
        """The messages since the last call."""
        messages = self._parser.messages()
        return messages if self._given_up is None else self._late(messages, self._given_up)

    def _late(self, messages: list[Message], turn_id: str) -> list[Message]:
        """What comes for a turn that was given up belongs to that turn and starts no other."""
        own = self._parser.sessions.main.session_id
        late: list[Message] = []
        for message in messages:
            if message.session_id != own or message.turn_id in (None, turn_id):
                late.append(message)
            elif not isinstance(message, TurnStarted | TurnEnded):
                late.append(msgspec.structs.replace(message, turn_id=turn_id))
        return late
