"""Forms and addresses that an MCP server asks for, through the real agent to a person and back."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from dragoman.hub.hub import Hub, UnfitDecision
from dragoman.model.messages import ToolResult, TurnEnded
from support.agents.asking_server import FORM, URL
from support.agents.hubs import eventually, is_end, read_until
from support.agents.stages import SECONDS, Stage

MakeStage: TypeAlias = Callable[..., Stage]
_ASKER = Path(__file__).parents[1] / "support" / "agents" / "asking_server.py"
_CANCEL = {"decision": "cancel"}


def _script(mode: str) -> str:
    return (
        f"config:\n  mcp_servers:\n    asker: {{command: {sys.executable}, args: [{_ASKER}]}}\n"
        f"turns:\n- - mcp: {{server: asker, tool: ask, arguments: {{mode: {mode}}}}}\n  - say: Fine.\n"
        "- - say: Never.\n"
    )


def _asked(play: Stage, repo: Path, wrong: list[Any], right: dict[str, Any]) -> tuple[Any, ...]:
    """What was asked, what the tool was answered, and how the turn ended."""

    async def story() -> tuple[Any, ...]:
        hub = Hub(repo.parent / "data", connection=play.connection(), roots=[repo])
        async with asyncio.timeout(SECONDS), hub:
            session = await hub.start(cwd=repo, prompt="go", approvals="on-request")
            await eventually(hub.approvals)
            [waiting] = hub.approvals()
            for given in wrong:
                with pytest.raises(UnfitDecision):
                    hub.decide(waiting.id, session_id=session.id, **given)
            assert hub.decide(waiting.id, session_id=session.id, **right)
            await read_until(hub.subscribe(session.id), is_end)
            said = [each.message for each in hub.entries(session.id)]
            results = [each.output for each in said if isinstance(each, ToolResult)]
            [ended] = [each.outcome for each in said if isinstance(each, TurnEnded)]
            assert hub.verify() == []
            return waiting.request, results, ended

    return asyncio.run(story())


def _answer(outputs: list[str]) -> Any:
    return json.loads(outputs[0].partition("answer: ")[2])


def test_a_form_is_filled_in(stage: MakeStage, repo: Path) -> None:
    content = {"name": "Ada", "age": 36, "size": "l", "sure": True}
    wrong = [
        {"decision": "allow"},
        {"decision": "allow", "content": {"name": "Ada"}},
        {"decision": "allow", "content": {**content, "age": "36"}},
        {"decision": "allow", "content": {**content, "size": "Large"}},
        {"decision": "answered"},
    ]
    right = {"decision": "allow", "content": content}
    request, outputs, ended = _asked(stage(_script("form")), repo, wrong, right)
    assert (request.kind, request.summary, request.url) == ("elicitation", "Who are you?", None)
    assert set(request.form["properties"]) == set(FORM["properties"])
    assert request.form["required"] == FORM["required"]
    answer = _answer(outputs)
    assert (answer["action"], answer["content"], ended) == ("accept", content, "completed")


def test_an_address_is_shown(stage: MakeStage, repo: Path) -> None:
    wrong = [{"decision": "allow", "content": {"x": 1}}]
    request, outputs, ended = _asked(stage(_script("url")), repo, wrong, {"decision": "allow"})
    assert (request.kind, request.url, request.form) == ("elicitation", URL, None)
    assert (_answer(outputs)["action"], ended) == ("accept", "completed")


@pytest.mark.parametrize("mode", ["form", "url"])
def test_denying_goes_on_and_cancelling_stops_the_turn(
    stage: MakeStage, repo: Path, mode: str
) -> None:
    _, outputs, ended = _asked(stage(_script(mode)), repo, [], {"decision": "deny"})
    assert (_answer(outputs)["action"], ended) == ("decline", "completed")
    _, _, ended = _asked(stage(_script(mode)), repo, [], _CANCEL)
    assert ended == "interrupted"
