"""The server's parser on a live connection: both directions, turns that we end, a process that is lost."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from dragoman.harnesses.opencode.reading.server import OpencodeServerParser
from dragoman.harnesses.opencode.session import OpencodeSession
from dragoman.model.messages import Message, Outcome, TurnEnded, TurnError, TurnStarted
from dragoman.wire.lines import LongLine


class OpencodeLiveReader:
    """Reads the lines of both sides in the order in which they are received and sent."""

    def __init__(self) -> None:
        self._parser = OpencodeServerParser()
        self._given_up: dict[str, str] = {}
        """The turns that were ended here, and that the agent may still be at, by their sessions."""

    def receive_line(self, line: bytes) -> None:
        self._parser.receive_line(line)

    def receive_long_line(self, line: LongLine) -> None:
        self._parser.receive_long_line(line)

    def receive_sent(self, lines: Iterable[bytes]) -> None:
        self._parser.receive_sent(lines)

    def session(self, session_id: str) -> OpencodeSession:
        return self._parser.session(session_id)

    def root(self, session_id: str) -> str:
        """The session at the top of this one: a sub-agent's has a parent."""
        seen: set[str] = set()
        while session_id not in seen:
            seen.add(session_id)
            facts = self._parser.session(session_id).assembler.facts
            if facts is None or facts.parent_session_id is None:
                break
            session_id = facts.parent_session_id
        return session_id

    def open_turn(self, session_id: str) -> str | None:
        return self._parser.session(session_id).assembler.open_turn

    def given_up(self, session_id: str) -> str | None:
        """The turn that was given up and is not over."""
        return self._given_up.get(session_id)

    def end_turn(self, session_id: str, outcome: Outcome, error: TurnError | None) -> bool:
        """End the open turn, which the agent does not end; whether there was one."""
        session = self._parser.session(session_id)
        turn_id = session.assembler.open_turn
        if turn_id is None:
            return False
        session.end_turn(outcome, error)
        self._given_up[session_id] = turn_id
        return True

    def resume(self, session_id: str) -> None:
        """The agent has come to rest."""
        self._given_up.pop(session_id, None)

    def cut_off(self, error: TurnError) -> None:
        """No more will come: end what is open."""
        for session in self._parser.all():
            if session.assembler.in_turn:
                session.end_turn("failed", error)
            session.settle_all()
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
