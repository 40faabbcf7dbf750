"""The server's parser on a live connection: both directions, turns that we end, a process that is lost."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from dragoman.harnesses.copilot.server import CopilotServerParser
from dragoman.harnesses.copilot.session import CopilotSession
from dragoman.model.messages import (
    Message,
    Outcome,
    TurnEnded,
    TurnError,
    TurnStarted,
)
from dragoman.wire.lines import LongLine


class CopilotLiveReader:
    """Reads the lines of both sides in the order in which they are received and sent."""

    def __init__(self) -> None:
        self._parser = CopilotServerParser()
        self._given_up: dict[str, str] = {}
        """The turns that were ended here, and that the agent may still be at, by their sessions."""

    def receive_line(self, line: bytes) -> None:
        self._parser.receive_line(line)

    def receive_long_line(self, line: LongLine) -> None:
        self._parser.receive_long_line(line)

    def receive_sent(self, lines: Iterable[bytes]) -> None:
        self._parser.receive_sent(lines)

    def main(self, session_id: str) -> CopilotSession:
        return self._parser.session(session_id).main

    def open_turn(self, session_id: str) -> str | None:
        return self.main(session_id).assembler.open_turn

    def given_up(self, session_id: str) -> str | None:
        """The turn that was given up and is not over."""
        return self._given_up.get(session_id)

    def begin_turn(self, session_id: str, turn_id: str) -> bool:
        """Open the turn for a prompt that the agent has taken up; whether it is open now."""
        session = self.main(session_id)
        if not session.assembler.in_turn and not session.assembler.has_ended(turn_id):
            session.begin_turn(turn_id)
        return session.assembler.open_turn == turn_id

    def end_turn(self, session_id: str, outcome: Outcome, error: TurnError | None) -> bool:
        """End the open turn, which the agent does not end; whether there was one."""
        session = self.main(session_id)
        turn_id = session.assembler.open_turn
        if turn_id is None:
            return False
        session.end_turn(outcome, error)
        self._given_up[session_id] = turn_id
        return True

    def resume(self, session_id: str) -> None:
        """The agent has come to rest."""
        self._given_up.pop(session_id, None)

    def settle(self, session_id: str, approval_id: str, decision: str) -> None:
        """An approval is over without an answer."""
        for reader in self._parser.readers.values():
            for session in reader.all():
                if session.session_id == session_id:
                    session.assembler.settle(approval_id, decision)
                    return

    def cut_off(self, error: TurnError) -> None:
        """No more will come: end what is open."""
        for session in self._parser.all():
            if session.assembler.in_turn:
                session.end_turn("failed", error)
        self._parser.receive_eof()

    def messages(self) -> list[Message]:
        """The messages since the last call."""
        messages = self._parser.messages()
        return [kept for each in messages if (kept := self._late(each)) is not None]

    def _late(self, message: Message) -> Message | None:
        """What comes for a turn that was given up belongs to that turn, and starts no other."""
        turn_id = self._given_up.get(message.session_id or "")
        if turn_id is None or message.turn_id in (None, turn_id):
            return message
        if isinstance(message, TurnStarted | TurnEnded):
            return None
        return msgspec.structs.replace(message, turn_id=turn_id)
