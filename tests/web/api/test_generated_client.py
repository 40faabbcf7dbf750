"""A client that a common generator makes of our OpenAPI document: its types, its calls, and what it makes of a refusal."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.page.web_stage import TOKEN, Web, play, web_stage
from support.terminal.chat_story import story

_SECONDS = 120


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The generated package, imported."""
    folder = tmp_path_factory.mktemp("generated")

    async def save() -> None:
        async with web_stage(folder) as web:
            document = await web.get("/api/v1/openapi.json")
            (folder / "openapi.json").write_text(json.dumps(document), encoding="utf-8")

    play(save())
    words = ["generate", "--path", str(folder / "openapi.json"), "--meta", "none"]
    done = subprocess.run(
        [sys.executable, "-m", "openapi_python_client", *words, "--output-path", "made_client"],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        timeout=_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Warning" not in done.stdout + done.stderr  # it leaves out what it does not understand
    assert "Unable to" not in done.stdout + done.stderr
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module("made_client")
    finally:
        sys.path.remove(str(folder))
        for name in [each for each in sys.modules if each.partition(".")[0] == "made_client"]:
            del sys.modules[name]


def call(name: str) -> Any:
    """The module of an operation; the generator sorts them by tag."""
    for tag in ("sessions", "turns", "approvals", "harnesses", "login", "policy", "commands"):
        try:
            return importlib.import_module(f"made_client.api.{tag}.{name}")
        except ModuleNotFoundError:
            continue
    raise AssertionError(f"there is no operation {name}")


def client(package: Any, web: Web, token: str = TOKEN) -> Any:
    return package.AuthenticatedClient(base_url=web.address, token=token)


def test_what_is_answered_has_its_types(package: Any, tmp_path: Path) -> None:
    async def look() -> None:
        async with web_stage(tmp_path) as web:
            web.hub.add("s1", title="Paint the shed")
            web.hub.tell("s1", *story())
            async with client(package, web) as ours:
                found = await call("get_session").asyncio(client=ours, session_id="s1")
                assert (type(found).__name__, found.title) == ("SessionInfo", "Paint the shed")
                page = await call("list_entries").asyncio(client=ours, session_id="s1", limit=3)
                assert [each.seq for each in page.entries] == [1, 2, 3]
                models: Any = importlib.import_module("made_client.models")
                turn = models.StartTurn(text="go")
                begun = await call("start_turn").asyncio(client=ours, session_id="s1", body=turn)
                assert begun.turn_id

    play(look())


def test_a_refusal_is_a_value_with_a_code_and_a_sentence(package: Any, tmp_path: Path) -> None:
    async def look() -> None:
        async with web_stage(tmp_path) as web:
            web.hub.add("s1")
            models: Any = importlib.import_module("made_client.models")
            start = models.StartSession(cwd="/nowhere")
            async with client(package, web) as ours, client(package, web, "wrong") as thief:
                for who, name, given, code in (
                    (ours, "get_session", {"session_id": "none"}, "no_session"),
                    (ours, "list_entries", {"session_id": "s1", "limit": 0}, "bad_request"),
                    (ours, "start_session", {"body": start}, "outside_roots"),
                    (
                        ours,
                        "steer",
                        {"session_id": "s1", "body": models.Steer(text="x")},
                        "conflict",
                    ),
                    (thief, "list_harnesses", {}, "not_signed_in"),
                ):
                    refused = await call(name).asyncio(client=who, **given)
                    assert type(refused).__name__ == "Refusal", (name, refused)
                    assert refused.error.code == code
                    assert " " in refused.error.message

    play(look())
