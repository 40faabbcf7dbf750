"""How Copilot is found, started and driven. What drives is imported when it is used."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from dragoman.harnesses.contract.conversation import Clock, Conversation, Release
from dragoman.harnesses.contract.lazy import on_use
from dragoman.harnesses.contract.program import Program
from dragoman.harnesses.contract.transport import Launch, SessionTransport, Transport
from dragoman.harnesses.copilot.sign_in import KEY_NAMES, SIGN_IN
from dragoman.harnesses.copilot.sniff import SERVER
from dragoman.model.intents import OpenSession

_NUMBER: Final = re.compile(r"(?<!\d)(\d{1,6})\.(\d{1,6})\.(\d{1,6})")


def parse_release(text: str | None) -> Release | None:
    """The release in ``GitHub Copilot CLI 1.0.102.``"""
    found = _NUMBER.search(text) if text else None
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


@on_use
def capabilities():
    from dragoman.harnesses.copilot.capabilities import capabilities as computed

    return computed


def _launch(program: str, release: Release | None, opening: OpenSession | None) -> Launch:
    return Launch(
        argv=(program, "--headless", "--no-auto-update", "--no-auto-login", "--stdio"),
        env={"COPILOT_AUTO_UPDATE": "false"},
    )


@on_use
def _made():
    from dragoman.harnesses.copilot.driving.conversation import CopilotConversation

    return CopilotConversation


def _conversation(release: Release | None, clock: Clock | None) -> Conversation:
    return _made(release)


def provider_in(env: Mapping[str, str]) -> dict[str, Any]:
    """The model provider that the environment names: the server itself ignores these variables."""
    address = env.get("COPILOT_PROVIDER_BASE_URL")
    model = env.get("COPILOT_MODEL")
    settings: dict[str, Any] = {"model": model} if model else {}
    if not address:
        return settings
    kind = env.get("COPILOT_PROVIDER_TYPE") or "openai"
    provider = {"type": kind, "baseUrl": address}
    if kind == "openai":
        provider["wireApi"] = env.get("COPILOT_PROVIDER_WIRE_API") or "completions"
    if key := env.get("COPILOT_PROVIDER_API_KEY"):
        provider["apiKey"] = key
    elif token := env.get("COPILOT_PROVIDER_BEARER_TOKEN"):
        provider["bearerToken"] = token
    return {**settings, "provider": provider}


def _speaks(release: Release | None) -> list[str]:
    return ["copilot --headless --stdio, JSON-RPC", "copilot -p PROMPT --output-format json"]


COPILOT_PROGRAM: Final = Program(
    command="copilot",
    parse_release=parse_release,
    install="npm install -g @github/copilot",
    speaks=_speaks,
    key_names=KEY_NAMES,
    sign_in=SIGN_IN,
)
COPILOT_TRANSPORTS: Final[tuple[Transport, ...]] = (
    SessionTransport(
        name="server",
        dialect=SERVER,
        launch=_launch,
        conversation=_conversation,
        framing="content-length",
        settings=provider_in,
    ),
)
