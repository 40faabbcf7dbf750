"""How Qwen Code is found, started and spoken to.

Programs that only read load this module, too, so it imports what drives when that is used.
"""

from __future__ import annotations

import re
from typing import Final

from dragoman.harnesses.contract.conversation import Clock, Conversation, Release
from dragoman.harnesses.contract.lazy import on_use
from dragoman.harnesses.contract.program import Program
from dragoman.harnesses.contract.transport import (
    OneShot,
    Run,
    SessionTransport,
    Transport,
    TurnTransport,
)
from dragoman.harnesses.qwen.sign_in import KEY_NAMES, SIGN_IN, settings_file
from dragoman.harnesses.qwen.sniff import STREAM
from dragoman.model.usage import Usage

_NUMBER: Final = re.compile(r"(?<!\d)(\d{1,6})\.(\d{1,6})\.(\d{1,6})")


def parse_release(text: str | None) -> Release | None:
    """The release in ``0.24.4``."""
    found = _NUMBER.search(text) if text else None
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


@on_use
def capabilities():
    from dragoman.harnesses.qwen.capabilities import capabilities

    return capabilities


@on_use
def _launch_session():
    from dragoman.harnesses.qwen.driving.launch import session_launch

    return session_launch


def _make_conversation(release: Release | None, clock: Clock | None) -> Conversation:
    from dragoman.harnesses.qwen.driving.conversation import QwenConversation

    return QwenConversation(release)


@on_use
def _launch_turn():
    from dragoman.harnesses.qwen.driving.launch import turn_launch

    return turn_launch


def _make_run(release: Release | None, shot: OneShot, spent: Usage | None = None) -> Run:
    from dragoman.harnesses.qwen.stream.parser import QwenStreamParser
    from dragoman.harnesses.stream_json.driving.run import PrintRun

    return PrintRun(shot, QwenStreamParser, "qwen")


def _speaks(release: Release | None) -> list[str]:
    return ["qwen -o stream-json with the control protocol", "qwen -o stream-json PROMPT"]


QWEN_PROGRAM: Final = Program(
    command="qwen",
    parse_release=parse_release,
    install="npm install -g @qwen-code/qwen-code, with Node 22",
    speaks=_speaks,
    session_variable="QWEN_CODE_SESSION_ID",
    key_names=KEY_NAMES,
    sign_in=SIGN_IN,
    settings_file=settings_file,
)
QWEN_TRANSPORTS: Final[tuple[Transport, ...]] = (
    SessionTransport(
        name="stream-json",
        dialect=STREAM,
        launch=_launch_session,
        conversation=_make_conversation,
        sessions="one",
        takes_paths=False,
    ),
    TurnTransport(name="print", dialect=STREAM, launch=_launch_turn, make_run=_make_run),
)
