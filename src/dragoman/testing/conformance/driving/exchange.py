"""A conversation and the fake agent, joined without a process: every line of one is given to the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from dragoman.harnesses.contract.conversation import Answer, Release
from dragoman.harnesses.contract.harness import Harness
from dragoman.harnesses.contract.playback import Performance
from dragoman.harnesses.contract.transport import SessionTransport
from dragoman.model.intents import Greet, Intent, OpenSession, StartTurn
from dragoman.model.messages import Message, SessionStarted, TurnEnded
from dragoman.testing.conformance.driving.stories import cues, story

_CLIENT = "conformance"
_ROUNDS = 10_000
"""More exchanges than any story needs: two sides that answer each other for ever are a failure."""
_NOW = 1_800_000_000

_M = TypeVar("_M", bound=Message)


class Stuck(AssertionError):
    """The exchange did not come to what was expected."""


def _as_it_is(line: bytes) -> Sequence[bytes]:
    return (line,)


class TrialExchange:
    """One conversation with one fake agent."""

    def __init__(
        self,
        harness: Harness,
        transport: SessionTransport,
        *,
        asks: bool = False,
        pause: float = 0.0,
        damage: Callable[[bytes], Sequence[bytes]] | None = None,
    ) -> None:
        assert harness.playback is not None
        self.harness = harness
        self.release = release_of(harness)
        version = ".".join(map(str, self.release or (1, 0, 0)))
        messages = story(harness.name, version, asks=asks)
        self.agent: Performance = harness.playback.serve(cues(messages, pause))
        self.conversation = transport.conversation(self.release, lambda: _NOW)
        self.messages: list[Message] = []
        self.answers: dict[int, list[Answer]] = {}
        self.sent: list[bytes] = []
        self.now = 0.0
        self._damage = damage or _as_it_is

    def submit(self, intent: Intent) -> int:
        """Submit an intent and exchange everything that is due; return the ticket."""
        ticket = self.conversation.submit(intent)
        self.answers.setdefault(ticket, [])
        self.exchange()
        return ticket

    def exchange(self) -> None:
        """Let both sides speak until neither has anything to say now."""
        for _ in range(_ROUNDS):
            lines = self.conversation.lines_to_send()
            for line in lines:
                self.sent.append(line)
                self.agent.receive_line(line.rstrip(b"\n"), self.now)
            self._collect()
            heard = self.agent.lines_to_send(self.now)
            for line in heard:
                for given in self._damage(line):
                    self.conversation.receive_line(given)
            self._collect()
            if not lines and not heard:
                return
        raise Stuck("the two sides answer each other without end")

    def play(self, until: Callable[[Message], bool] = lambda message: False) -> None:
        """Let time pass until such a message is emitted, or the agent waits for us."""
        for _ in range(_ROUNDS):
            self.exchange()
            if any(map(until, self.messages)):
                return
            due = self.agent.due_at()
            if due is None:
                return
            self.now = max(self.now, due)
        raise Stuck("the agent has always more to say")

    def _collect(self) -> None:
        self.messages += self.conversation.messages()
        for answer in self.conversation.answers():
            self.answers.setdefault(answer.ticket, []).append(answer)

    # What every exchange begins with.

    def greet(self) -> Any:
        """Greet the agent; return its facts."""
        return self.value(self.submit(Greet(client=_CLIENT, client_version="1")))

    def open(self, **options: Any) -> Any:
        """Open a session; return its facts."""
        return self.value(self.submit(opening(self.harness, **options)))

    def start_turn(self, session_id: str, text: str = "Make the file.") -> str:
        """Send a prompt; return the id of the turn."""
        return str(self.value(self.submit(StartTurn(session_id=session_id, text=text))))

    def value(self, ticket: int) -> Any:
        """Return the value that an intent was answered with. It must be answered once, and not refused."""
        given = self.answers[ticket]
        if len(given) != 1:
            raise Stuck(f"intent {ticket} has {len(given)} answers")
        if given[0].refusal is not None:
            raise Stuck(f"intent {ticket} is refused: {given[0].refusal.message}")
        return given[0].value

    # What came of it.

    def of(self, kind: type[_M]) -> list[_M]:
        """Return the messages of a type."""
        return [message for message in self.messages if isinstance(message, kind)]

    def end(self) -> TurnEnded:
        """Return the one end of the one turn."""
        ends = self.of(TurnEnded)
        if len(ends) != 1:
            raise Stuck(f"a turn has {len(ends)} ends")
        return ends[0]

    def started(self) -> SessionStarted:
        """Return the message about the session."""
        found = self.of(SessionStarted)
        if not found:
            raise Stuck("no session_started was emitted")
        return found[0]


def release_of(harness: Harness) -> Release | None:
    """Return the release that the fake agent plays."""
    if harness.playback is None or harness.program is None:
        return None
    return harness.program.parse_release(harness.playback.version_line)


def opening(harness: Harness, **options: Any) -> OpenSession:
    """Return the intent that opens a session with the usual choices."""
    offered = harness.capabilities(release_of(harness))
    access = offered.access[0].value if offered.access else None
    asking = offered.asking[0].value if offered.asking else None
    return OpenSession(cwd="/w", access=access, asking=asking, **options)
