"""Approvals in a hub: an answer that does not fit leaves the question open; ids are used once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from dragoman.errors import UsageError
from dragoman.hub.hub import UnfitDecision
from support.agents.hubs import SECONDS, FakeLink, Pretence, eventually

_FORM: dict[str, Any] = {
    "type": "object",
    "properties": {"age": {"type": "integer", "minimum": 0}},
    "required": ["age"],
}
_ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "command": ("item/commandExecution/requestApproval", {"itemId": "c", "command": "ls"}),
    "question": (
        "item/tool/requestUserInput",
        {"itemId": "c", "questions": [{"id": "q", "question": "Which?"}]},
    ),
    "form": (
        "mcpServer/elicitation/request",
        {"serverName": "s", "mode": "form", "message": "Who?", "requestedSchema": _FORM},
    ),
}


def _asks(pretence: Pretence, what: str) -> None:
    method, params = _ASKED[what]

    def ask(link: FakeLink) -> None:
        given = {"threadId": link.thread, "turnId": link.turn, **params}
        link.say({"id": 7, "method": method, "params": given})

    pretence.server.starts_turns(ask)


UNFIT: list[tuple[str, list[Any], Any, Any]] = [
    (
        "command",
        [
            *({"decision": "answered"}, {"decision": "allow_always"}, {"decision": "maybe"}),
            *({"decision": "allow", "content": {"x": 1}},),
        ],
        {"decision": "allow"},
        {"decision": "accept"},
    ),
    (
        "question",
        [
            *({"decision": "allow"}, {"decision": "answered"}),
            *({"decision": "answered", "answers": {"q": []}},),
        ],
        {"decision": "answered", "answers": {"q": ["x"]}},
        {"answers": {"q": {"answers": ["x"]}}},
    ),
    (
        "form",
        [
            *({"decision": "allow"}, {"decision": "allow", "content": {"age": "x"}}),
            *(
                {"decision": "allow", "content": {"age": -1}},
                {"decision": "allow_always"},
            ),
        ],
        {"decision": "allow", "content": {"age": 3}},
        {"action": "accept", "content": {"age": 3}, "_meta": None},
    ),
]


@pytest.mark.parametrize(("what", "wrong", "right", "sent"), UNFIT)
def test_a_decision_that_does_not_fit_leaves_the_question_open(
    pretence: Pretence, what: str, wrong: list[Any], right: Any, sent: Any
) -> None:
    async def story() -> None:
        server = pretence.server
        _asks(pretence, what)
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo, prompt="go")
            await eventually(hub.approvals)
            [waiting] = hub.approvals()
            for given in wrong:
                with pytest.raises(UnfitDecision):
                    hub.decide(waiting.id, session_id=session.id, **given)
                assert hub.approvals() == [waiting]
            assert hub.decide(waiting.id, session_id=session.id, **right)
            await eventually(lambda: any(line.get("id") == 7 for line in server.asked[-1:]))
            assert server.asked[-1]["result"] == sent

    asyncio.run(story())


def test_an_id_that_another_process_used_is_not_used_again(pretence: Pretence) -> None:
    """An answer to the old question must not be taken for one to the new question."""

    async def story() -> None:
        _asks(pretence, "command")
        names: list[str] = []
        session_id = None
        for _ in range(3):
            async with asyncio.timeout(SECONDS), pretence.hub() as hub:
                if session_id is None:
                    session_id = (await hub.start(cwd=pretence.repo, prompt="go")).id
                else:
                    await hub.run(session_id, "go on")
                await eventually(hub.approvals)
                [waiting] = hub.approvals()
                for old in names:
                    assert not hub.decide(old, "allow", session_id=session_id)
                assert hub.approvals() == [waiting]
                assert waiting.request.approval_id == "c"
                names.append(waiting.id)
                assert hub.decide(waiting.id, "deny", session_id=session_id)
        assert len(set(names)) == 3
        assert names[0] == "c"

    asyncio.run(story())


def test_a_deadline_that_is_no_number_is_refused(pretence: Pretence) -> None:
    async def story() -> None:
        with pytest.raises(UsageError, match="ask_seconds must be a number"):
            async with pretence.hub(ask_seconds="5"):
                raise AssertionError

    asyncio.run(story())
