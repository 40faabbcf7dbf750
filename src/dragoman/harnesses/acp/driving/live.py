"""The parser on a live connection: both directions, turns that we end, a process that is lost."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from dragoman.harnesses.acp.files import MakeFileReader
from dragoman.harnesses.acp.parser import AcpParser
from dragoman.harnesses.acp.session import AcpSession
from dragoman.harnesses.acp.shapes import decode_line
from dragoman.model.messages import Message, Outcome, TurnEnded, TurnError, TurnStarted
from dragoman.wire.jsonl import UNREADABLE
from dragoman.wire.lines import LongLine
from dragoman.wire.loose import as_dict, as_str


class AcpLiveReader:
    """Reads the lines of both sides in the order in which they are received and sent."""

    def __init__(self, harness: str, files: MakeFileReader | None = None) -> None:
        self._parser = AcpParser(harness=harness, transport="acp", files=files)
        self._parser.sent = False
        self._parser.keeps_history = False
        self._given_up: tuple[str | None, str | None] | None = None
        """The session and the turn that was ended here, and that the agent is still at."""

    def receive_line(self, line: bytes) -> None:
        self._parser.receive_line(line)

    def receive_long_line(self, line: LongLine) -> None:
        self._parser.receive_long_line(line)

    def receive_sent(self, lines: Iterable[bytes]) -> None:
        """Take lines that we send."""
        self._parser.sent = True
        self._parser.receive_lines(lines)
        self._parser.sent = False

    def _session(self, session_id: str | None) -> AcpSession | None:
        return self._parser.sessions.get(session_id or "")

    def end_turn(self, session_id: str, outcome: Outcome, error: TurnError | None) -> None:
        """End the open turn, which the agent does not end."""
        session = self._session(session_id)
        if session is None or not session.assembler.in_turn:
            return
        turn_id = session.assembler.open_turn
        session.end_turn(outcome, error)
        self._given_up = (session_id, turn_id)

    def resume(self) -> None:
        """The agent has come to the end of what was given up."""
        self._given_up = None

    def cut_off(self, error: TurnError) -> None:
        """No more will come: end what is open."""
        self._parser.withdraw_all()
        for session in self._parser.all_sessions():
            session.end_history()
            while session.assembler.in_turn:  # a prompt that waited begins its turn, and fails, too
                session.end_turn("failed", error)
        self._parser.receive_eof()

    def mode_in(self, line: bytes) -> str | None:
        """The mode that an update names."""
        try:
            params = as_dict(decode_line(line).params)
        except UNREADABLE:
            return None
        return as_str(as_dict(params.get("update")).get("currentModeId"))

    def messages(self) -> list[Message]:
        """The messages since the last call."""
        messages = self._parser.messages()
        return messages if self._given_up is None else self._late(messages, *self._given_up)

    def _late(
        self, messages: list[Message], session_id: str | None, turn_id: str | None
    ) -> list[Message]:
        """What comes for a turn that was given up belongs to that turn and starts no other."""
        late: list[Message] = []
        for message in messages:
            if message.session_id != session_id or message.turn_id in (None, turn_id):
                late.append(message)
            elif not isinstance(message, TurnStarted | TurnEnded):
                late.append(msgspec.structs.replace(message, turn_id=turn_id))
        return late
