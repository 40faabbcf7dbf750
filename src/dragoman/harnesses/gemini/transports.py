"""How Gemini CLI is started and driven: over ACP, one process for each session.

What drives and plays is imported when it is used. The mode is an option of the program, so that its answer to
``session/new`` confirms it.
"""

from __future__ import annotations

from typing import Final

from dragoman.errors import Unsupported
from dragoman.harnesses.contract.conversation import Clock, Conversation, Release
from dragoman.harnesses.contract.lazy import on_use
from dragoman.harnesses.contract.playback import Playback
from dragoman.harnesses.contract.transport import Launch, SessionTransport, Transport
from dragoman.harnesses.gemini.history import GEMINI_FILES
from dragoman.harnesses.gemini.sniff import ACP
from dragoman.model.intents import OpenSession

_AS_OPTION: Final = {
    "default": "default",
    "autoEdit": "auto_edit",
    "plan": "plan",
    "yolo": "yolo",
}
"""The modes of the protocol, as the option ``--approval-mode`` has them."""


def _launch(program: str, release: Release | None, opening: OpenSession | None) -> Launch:
    if opening is None:
        raise Unsupported("a Gemini process without a session")
    mode = _AS_OPTION.get(opening.access or "default", "default")
    return Launch(
        argv=(program, "--acp", "--approval-mode", mode),
        cwd=opening.cwd,
        env={"GEMINI_CLI_NO_RELAUNCH": "true"},
    )


@on_use
def _file_reader():
    from dragoman.harnesses.gemini.chat.following import GeminiFileReader

    return GeminiFileReader


@on_use
def _made():
    from dragoman.harnesses.acp.driving.conversation import AcpConversation

    return AcpConversation


def _conversation(release: Release | None, clock: Clock | None) -> Conversation:
    return _made(release, harness="gemini", files=_file_reader)


@on_use
def _run():
    from dragoman.harnesses.gemini.playback import play_alone

    return play_alone


@on_use
def _serve():
    from dragoman.harnesses.gemini.playback import serve

    return serve


GEMINI_TRANSPORTS: Final[tuple[Transport, ...]] = (
    SessionTransport(
        name="acp",
        dialect=ACP,
        launch=_launch,
        conversation=_conversation,
        sessions="one",
        takes_paths=False,
        files=GEMINI_FILES,
    ),
)
GEMINI_PLAYBACK: Final = Playback(run=_run, serve=_serve, version_line="0.61.0")
