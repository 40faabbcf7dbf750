"""How any agent that speaks ACP is started: by the command that the user gives."""

from __future__ import annotations

import re
from typing import Final

from dragoman.errors import Unsupported
from dragoman.harnesses.contract.conversation import Clock, Conversation, Release
from dragoman.harnesses.contract.lazy import on_use
from dragoman.harnesses.contract.playback import Playback
from dragoman.harnesses.contract.program import Program
from dragoman.harnesses.contract.transport import Launch, SessionTransport, Transport
from dragoman.model.intents import OpenSession

DIALECT: Final = "acp"
_NUMBER: Final = re.compile(r"(?<!\d)(\d{1,6})\.(\d{1,6})\.(\d{1,6})")


def parse_release(text: str | None) -> Release | None:
    """The first number of three parts."""
    found = _NUMBER.search(text) if text else None
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def _launch(program: str, release: Release | None, opening: OpenSession | None) -> Launch:
    if opening is None:
        raise Unsupported("an ACP process without a session")
    return Launch(argv=(program,), cwd=opening.cwd)


def _make_conversation(release: Release | None, clock: Clock | None) -> Conversation:
    from dragoman.harnesses.acp.driving.conversation import AcpConversation

    return AcpConversation(release)


def _speaks(release: Release | None) -> list[str]:
    return ["the Agent Client Protocol, version 1"]


@on_use
def capabilities():
    from dragoman.harnesses.any_acp.capabilities import capabilities

    return capabilities


@on_use
def _run():
    from dragoman.harnesses.acp.playback.alone import play_alone

    return play_alone


@on_use
def _serve():
    from dragoman.harnesses.acp.playback.server import AcpServer

    return AcpServer


ACP_PROGRAM: Final = Program(
    command="",
    parse_release=parse_release,
    install="name it with --agent COMMAND, or connect(agent=COMMAND)",
    speaks=_speaks,
)
ACP_TRANSPORTS: Final[tuple[Transport, ...]] = (
    SessionTransport(
        name="acp",
        dialect=DIALECT,
        launch=_launch,
        conversation=_make_conversation,
        sessions="one",
        takes_paths=False,
    ),
)
ACP_PLAYBACK: Final = Playback(run=_run, serve=_serve, version_line="acp-agent 1.0.0")
