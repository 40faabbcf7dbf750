"""What an agent alone says over ACP, as it would be printed for a host that only listens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from dragoman.harnesses.acp.playback.server import AcpServer
from dragoman.harnesses.contract.playback import TimedLine, TimedMessage
from dragoman.model.messages import TurnStarted

_MOST = 1_000_000


def play_alone(cues: Iterable[TimedMessage]) -> Iterator[TimedLine]:
    """Yield the lines of an agent without a name for a host that only listens."""
    return play_as(AcpServer, cues)


def play_as(
    make_server: Callable[[Sequence[TimedMessage]], AcpServer], cues: Iterable[TimedMessage]
) -> Iterator[TimedLine]:
    """Yield the agent's lines for a host that greets it, and sends a prompt for each turn."""
    timed = list(cues)
    server = make_server(timed)
    now = said_at = 0.0
    turns = sum(isinstance(cue.message, TurnStarted) for cue in timed)
    for line in (_OPENING[0], _OPENING[1], *(_prompt(number) for number in range(turns))):
        server.receive_line(line, now)
        for _ in range(_MOST):
            for sent in server.lines_to_send(now):
                yield TimedLine(now - said_at, sent)
                said_at = now
                if b'"session/request_permission"' in sent or b'"elicitation/create"' in sent:
                    server.allow(now)
            due = server.due_at()
            if due is None:
                break
            now = max(now, due)


_OPENING = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize"}',
    b'{"jsonrpc":"2.0","id":2,"method":"session/new"}',
)


def _prompt(number: int) -> bytes:
    return b'{"jsonrpc":"2.0","id":%d,"method":"session/prompt"}' % (number + 3)
