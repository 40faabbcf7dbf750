"""How opencode is started, what models it has, and who is signed in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from dragoman.harnesses.opencode import OPENCODE
from dragoman.harnesses.opencode.driving.facts import models_in, without_secrets
from dragoman.harnesses.opencode.driving.transports import (
    address_in,
    guard_address,
    parse_release,
    server_variables,
)
from dragoman.harnesses.opencode.sign_in import SIGN_IN


def test_models_are_listed_without_keys() -> None:
    provider: dict[str, Any] = {
        "id": "lab",
        "key": "sk-1",
        "options": {"apiKey": "sk-2"},
        "models": {"m1": {"name": "One", "options": {"key": "sk-3"}, "variants": {"low": {}}}},
    }
    body = without_secrets("/config/providers?directory=x", {"providers": [provider]})

    assert "sk-" not in json.dumps(body)
    (model,) = models_in({**body, "default": {"lab": "m1"}})
    assert (model.id, model.label, model.efforts, model.is_default) == (
        "lab/m1",
        "One",
        ["low"],
        True,
    )
    assert without_secrets("/session", {"key": 1}) == {"key": 1}


def test_the_password_and_the_plug_in_join_the_users_settings() -> None:
    env = {"OPENCODE_CONFIG_CONTENT": '{"model": "lab/m1", "plugin": ["mine"]}'}
    made = server_variables(env, "secret")

    settings = json.loads(made["OPENCODE_CONFIG_CONTENT"])
    assert settings == {"model": "lab/m1", "plugin": ["mine", guard_address()]}
    assert made["OPENCODE_SERVER_PASSWORD"] == "secret"
    assert Path(unquote(guard_address().removeprefix("file://"))).is_file()
    assert server_variables({"OPENCODE_CONFIG_CONTENT": "{broken"}, "x")


def test_the_launch_listens_on_loopback_and_has_no_secret() -> None:
    transport = OPENCODE.transports[0]
    launch: Any = transport.launch("/opt/opencode", (1, 18, 33), None)  # pyright: ignore[reportArgumentType, reportCallIssue, reportUnknownVariableType]

    assert launch.argv[:4] == ("/opt/opencode", "serve", "--hostname", "127.0.0.1")
    line = b"opencode server listening on http://127.0.0.1:4096\n"
    assert address_in(line) == "http://127.0.0.1:4096"
    assert address_in(b"Warning: listening\n") is None
    assert parse_release("1.18.33\n") == (1, 18, 33)
    assert parse_release("none") is None


@pytest.mark.parametrize(
    ("env", "content", "signed_in"),
    [
        ({}, b"", None),
        ({}, b"{}", None),
        ({}, b"[broken", None),
        ({}, b'{"anthropic": {"type": "oauth"}}', True),
        ({"ANTHROPIC_API_KEY": "x"}, b"", True),
    ],
)
def test_who_is_signed_in(env: dict[str, str], content: bytes, signed_in: bool | None) -> None:
    assert SIGN_IN.files({"HOME": "/h"}) == ("/h/.local/share/opencode/auth.json",)
    assert SIGN_IN.read(env, [content]).signed_in is signed_in
