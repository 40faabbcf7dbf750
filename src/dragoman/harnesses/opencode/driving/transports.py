"""How opencode is found, started and driven. What drives is imported when it is used."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from dragoman.harnesses.contract.conversation import Clock, Conversation, Release
from dragoman.harnesses.contract.lazy import on_use
from dragoman.harnesses.contract.program import Program
from dragoman.harnesses.contract.transport import (
    HttpServer,
    Launch,
    SessionTransport,
    Transport,
)
from dragoman.harnesses.opencode.sign_in import KEY_NAMES, SIGN_IN
from dragoman.harnesses.opencode.sniff import SERVER
from dragoman.model.intents import OpenSession
from dragoman.wire.loose import as_dict, as_list

_NUMBER: Final = re.compile(r"(?<!\d)(\d{1,6})\.(\d{1,6})\.(\d{1,6})")
_LISTENING: Final = re.compile(rb"listening on (http://[\w.:\[\]-]+)")
_SETTINGS: Final = "OPENCODE_CONFIG_CONTENT"


def parse_release(text: str | None) -> Release | None:
    """The release in ``1.18.33``."""
    found = _NUMBER.search(text) if text else None
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


@on_use
def capabilities():
    from dragoman.harnesses.opencode.capabilities import capabilities as computed

    return computed


def _launch(program: str, release: Release | None, opening: OpenSession | None) -> Launch:
    return Launch(
        argv=(program, "serve", "--hostname", "127.0.0.1", "--port", "0"),
        env={"OPENCODE_DISABLE_AUTOUPDATE": "1"},
        stdin=False,
    )


def address_in(line: bytes) -> str | None:
    """The address in ``opencode server listening on http://127.0.0.1:4096``."""
    found = _LISTENING.search(line)
    return found[1].decode() if found else None


def guard_address() -> str:
    """Where our plug-in is, as opencode takes it."""
    folder = __file__.replace("\\", "/").rpartition("/")[0]
    return "file://" + quote(f"{'' if folder.startswith('/') else '/'}{folder}/guard.js")


def server_variables(env: Mapping[str, str], password: str) -> dict[str, str]:
    """The password, and the user's settings with our plug-in."""
    try:
        settings = as_dict(json.loads(env.get(_SETTINGS) or "{}"))
    except (ValueError, RecursionError):
        settings = {}  # opencode could not read them, either
    plugins = [*as_list(settings.get("plugin")), guard_address()]
    return {
        "OPENCODE_SERVER_PASSWORD": password,
        "OPENCODE_SERVER_USERNAME": "dragoman",
        "OPENCODE_PURE": "0",  # it would leave our plug-in out
        _SETTINGS: json.dumps({**settings, "plugin": plugins}),
    }


@on_use
def _stripped():
    from dragoman.harnesses.opencode.driving.facts import without_secrets

    return without_secrets


def _without_secrets(path: str, body: Any) -> Any:
    return _stripped(path, body)


@on_use
def _made():
    from dragoman.harnesses.opencode.driving.conversation import OpencodeConversation

    return OpencodeConversation


def _conversation(release: Release | None, clock: Clock | None) -> Conversation:
    return _made(release)


def _speaks(release: Release | None) -> list[str]:
    return ["opencode serve, HTTP with events", "opencode run --format json"]


OPENCODE_PROGRAM: Final = Program(
    command="opencode",
    parse_release=parse_release,
    install="npm install -g opencode-ai",
    speaks=_speaks,
    session_variable="OPENCODE_SESSION_ID",
    key_names=KEY_NAMES,
    sign_in=SIGN_IN,
)
OPENCODE_TRANSPORTS: Final[tuple[Transport, ...]] = (
    SessionTransport(
        name="serve",
        dialect=SERVER,
        launch=_launch,
        conversation=_conversation,
        framing="http",
        http=HttpServer(
            address=address_in,
            variables=server_variables,
            user="dragoman",
            without_secrets=_without_secrets,
        ),
        takes_paths=False,
    ),
)
