"""Clients that others have written read our streams: npm's ``ai`` and ``@ag-ui/client``, run by node."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from dragoman.model.messages import Message
from support.isolation import DEVELOPER, kept_between_runs
from support.page.web_stage import TOKEN, Web, web_stage
from support.terminal.chat_story import first_turn, second_turn

PACKAGES = ("ai@6.0.326", "@ag-ui/client@1.0.0")
CLIENTS = Path(__file__).parent / "clients"


@pytest.fixture(scope="session")
def modules() -> Path:
    """A folder with the packages, kept from one run to the next."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            _missing(f"{program} is not here: it runs the clients that read our streams")
    folder = kept_between_runs() / "clients-1"
    if not folder.exists():
        _install(folder)
    return folder


def _install(folder: Path) -> None:
    # Beside its place first: several test runs may do this at the same time.
    draft = folder.with_name(f"{folder.name}.{os.getpid()}")
    draft.mkdir(parents=True)
    (draft / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    quiet = ["--no-audit", "--no-fund", "--no-progress", "--loglevel=error"]
    try:
        subprocess.run(
            ["npm", "install", *quiet, *PACKAGES],
            cwd=draft,
            env=DEVELOPER,
            capture_output=True,
            timeout=120,
            check=True,
        )
        with suppress(OSError):
            draft.rename(folder)
    except (OSError, subprocess.SubprocessError) as problem:
        told = getattr(problem, "stderr", b"") or b""
        _missing(f"npm cannot install {' '.join(PACKAGES)}: {problem} {told.decode()[-500:]}")
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _missing(what: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


async def run(client: str, modules: Path, web: Web) -> Any:
    # Modules are looked for beside the script.
    script = modules / client
    shutil.copy(CLIENTS / client, script)
    process = await asyncio.create_subprocess_exec(
        "node", str(script), web.address, TOKEN, "s1",
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    async with asyncio.timeout(40):
        out, problems = await process.communicate()
    assert process.returncode == 0, problems.decode()
    return json.loads(out)


def ask(client: str, modules: Path, folder: Path, reply: list[Message]) -> tuple[Any, list[Any]]:
    async def story() -> tuple[Any, list[Any]]:
        async with web_stage(folder) as web:
            web.hub.add("s1")
            web.hub.reply = reply
            return await run(client, modules, web), web.hub.asked

    return asyncio.run(story())


def test_the_ai_sdk_reads_a_turn(modules: Path, tmp_path: Path) -> None:
    told, asked = ask("ai.mjs", modules, tmp_path, first_turn())

    assert asked == [("run", "s1", "Fix the test", [])]
    message = told["answer"]["message"]
    assert told["answer"]["errors"] == []
    assert message["id"] == "t1"
    texts = [part["text"] for part in message["parts"] if part["type"] == "text"]
    assert texts == ["I will run the tests.", "A helper speaks.", "All is well now."]
    thoughts = [part["text"] for part in message["parts"] if part["type"] == "reasoning"]
    assert thoughts == ["Let me see."]
    calls = {
        part["toolCallId"]: (part["toolName"], part["state"])
        for part in message["parts"]
        if part["type"] == "dynamic-tool"
    }
    assert calls["c1"] == ("Bash", "output-error")
    assert calls["c2"] == ("Edit", "output-available")
    assert calls["c3"] == ("unknown", "output-denied")
    [asked_for] = [part["data"] for part in message["parts"] if part["type"] == "data-approval"]
    assert asked_for["summary"] == "update a.py"
    assert asked_for["decision"] == "allow"
    assert message["metadata"]["turnUsage"]["input_tokens"] == 1200
    assert told["idle"] is None  # nothing is under way: there is nothing to resume
    assert told["header"] == "v1"


def test_the_ai_sdk_hears_of_a_failure(modules: Path, tmp_path: Path) -> None:
    told, _ = ask("ai.mjs", modules, tmp_path, second_turn())

    assert told["answer"]["errors"] == ["Error: busy"]
    texts = [part["text"] for part in told["answer"]["message"]["parts"] if part["type"] == "text"]
    assert "Some of its pieces were lost." in texts


def test_ag_ui_reads_a_turn(modules: Path, tmp_path: Path) -> None:
    told, asked = ask("ag_ui.mjs", modules, tmp_path, first_turn())

    assert asked == [("run", "s1", "Fix the test", [])]
    assert told["error"] is None
    assert told["events"][0] == "RUN_STARTED"
    assert told["events"][-1] == "RUN_FINISHED"
    said = [
        each["content"]
        for each in told["messages"]
        if each["role"] == "assistant" and each.get("content")
    ]
    assert said == ["I will run the tests.", "A helper speaks.", "All is well now."]
    having = [each["toolCalls"] for each in told["messages"] if "toolCalls" in each]
    calls = [call["function"]["name"] for some in having for call in some]
    assert calls == ["Bash", "Edit"]
    results = [each["content"] for each in told["messages"] if each["role"] == "tool"]
    assert results[:2] == ["1 failed", "Done"]


def test_ag_ui_hears_of_a_failure(modules: Path, tmp_path: Path) -> None:
    told, _ = ask("ag_ui.mjs", modules, tmp_path, second_turn())

    assert "RUN_ERROR" in told["events"]
    assert told["error"] == "busy"
