"""Driving an agent over ACP: what is sent for each intent, and what comes of it."""

from __future__ import annotations

import json
from typing import Any, TypeVar

import pytest

from dragoman.errors import Unsupported
from dragoman.harnesses.acp.driving.conversation import AcpConversation
from dragoman.harnesses.contract.conversation import Answer, Refusal
from dragoman.model import intents
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Message,
    Text,
    TurnEnded,
    TurnStarted,
)
from dragoman.wire.lines import LongLine

_M = TypeVar("_M", bound=Message)
_S = "session-1"
_MODES = {
    "currentModeId": "default",
    "availableModes": [{"id": "default"}, {"id": "plan"}, {"id": "yolo"}],
}
_MODELS = {
    "currentModelId": "m-1",
    "availableModels": [{"modelId": "m-1", "name": "One"}, {"modelId": "m-2"}],
}


class Agent:
    """The other end: it answers as each test says."""

    def __init__(
        self,
        name: str = "toy",
        can: tuple[str, ...] = ("resume", "fork", "close"),
        load: bool = True,
        **opened: Any,
    ) -> None:
        number = iter(range(1, 100))
        self.talk = AcpConversation(make_id=lambda: f"turn-{next(number)}")
        self.sent: list[dict[str, Any]] = []
        self.messages: list[Message] = []
        self.answers: dict[int, Answer] = {}
        self.opened = {"sessionId": _S, "modes": _MODES, "models": _MODELS, **opened}
        self.greeted: dict[str, Any] = {
            "protocolVersion": 1,
            "agentCapabilities": {
                "loadSession": load,
                "sessionCapabilities": {each: {} for each in can},
            },
            "agentInfo": {"name": name, "version": "1.2.3"},
            "authMethods": [{"id": "api-key", "name": "API key", "description": "Set TOY_KEY"}],
        }

    def submit(self, intent: intents.Intent) -> int:
        ticket = self.talk.submit(intent)
        self.exchange()
        return ticket

    def exchange(self) -> None:
        while lines := self.talk.lines_to_send():
            self.sent += [json.loads(line) for line in lines]
        self.messages += self.talk.messages()
        self.answers |= {each.ticket: each for each in self.talk.answers()}

    def say(self, **line: Any) -> None:
        self.talk.receive_line(json.dumps({"jsonrpc": "2.0", **line}).encode())
        self.exchange()

    def update(self, kind: str, /, **update: Any) -> None:
        params = {"sessionId": _S, "update": {"sessionUpdate": kind, **update}}
        self.say(method="session/update", params=params)

    def answer(self, result: dict[str, Any] | None = None, **error: Any) -> dict[str, Any]:
        """Answer the newest request; return it."""
        asked = next(each for each in reversed(self.sent) if "method" in each and "id" in each)
        self.say(id=asked["id"], **({"error": error} if error else {"result": result or {}}))
        return asked

    def ask(self, id: int = 0, *kinds: str) -> ApprovalRequested:
        options = [
            {"optionId": kind, "kind": kind} for kind in kinds or ("allow_once", "reject_once")
        ]
        call = {"toolCallId": f"c{id}", "kind": "execute", "rawInput": {"command": "ls"}}
        params = {"sessionId": _S, "toolCall": call, "options": options}
        self.say(id=id, method="session/request_permission", params=params)
        return self.of(ApprovalRequested)[-1]

    def greet(self, **intent: Any) -> intents.ServerFacts:
        ticket = self.submit(intents.Greet(client="test", client_version="1", **intent))
        self.answer(self.greeted)
        return self.value(ticket)

    def open(self, asking: str = "on-request", **intent: Any) -> int:
        self.greet()
        opening = intents.OpenSession(cwd="/w", access="default", asking=asking, **intent)
        ticket = self.submit(opening)
        self.answer(self.opened)
        return ticket

    def start(self, text: str = "go", **intent: Any) -> int:
        return self.submit(intents.StartTurn(session_id=_S, text=text, **intent))

    def value(self, ticket: int) -> Any:
        assert self.answers[ticket].refusal is None
        return self.answers[ticket].value

    def refusal(self, ticket: int) -> Refusal:
        refusal = self.answers[ticket].refusal
        assert refusal is not None
        return refusal

    def of(self, kind: type[_M]) -> list[_M]:
        return [each for each in self.messages if isinstance(each, kind)]

    @property
    def methods(self) -> list[str]:
        return [each["method"] for each in self.sent if "method" in each]


def test_we_say_that_we_offer_neither_files_nor_terminals() -> None:
    agent = Agent()
    facts = agent.greet()

    offered = agent.sent[0]["params"]["clientCapabilities"]
    assert offered["fs"] == {"readTextFile": False, "writeTextFile": False}
    assert offered["terminal"] is False
    assert (facts.agent, facts.version) == ("toy/1.2.3", "1.2.3")


def test_another_version_of_the_protocol_is_refused() -> None:
    agent = Agent()
    agent.greeted["protocolVersion"] = 2
    ticket = agent.submit(intents.Greet(client="test", client_version="1"))
    agent.answer(agent.greeted)

    assert agent.refusal(ticket).kind == "unsupported"


def test_a_session_is_opened_with_what_the_agent_applies() -> None:
    agent = Agent()
    facts = agent.value(agent.open())

    assert (facts.session_id, facts.access, facts.model) == (_S, "default", "m-1")
    assert agent.methods == ["initialize", "session/new"]


@pytest.mark.parametrize(("access", "mode"), [("read", "plan"), ("full", "yolo"), ("plan", "plan")])
def test_access_is_a_mode_of_the_agent(access: str, mode: str) -> None:
    agent = Agent()
    agent.greet()
    ticket = agent.submit(intents.OpenSession(cwd="/w", access=access))
    agent.answer(agent.opened)
    asked = agent.answer()

    assert (asked["method"], asked["params"]["modeId"]) == ("session/set_mode", mode)
    assert agent.value(ticket).access == access


def test_an_access_that_the_agent_has_no_mode_for_is_refused() -> None:
    agent = Agent(modes=None)
    agent.greet()
    ticket = agent.submit(intents.OpenSession(cwd="/w", access="full"))
    agent.answer(agent.opened)

    assert agent.refusal(ticket).kind == "unsupported"
    assert "session/prompt" not in agent.methods


def test_a_model_and_options_are_set_by_the_agents_own_names() -> None:
    options = [
        {"id": "model", "category": "model", "currentValue": "a", "options": [{"value": "b"}]},
        {"id": "thinking", "category": "thought_level", "currentValue": "low"},
    ]
    agent = Agent(models=None, configOptions=options)
    ticket = agent.open(model="b", config={"thinking": "high"})
    first, second = agent.answer(), agent.answer()

    assert first["params"] == {"sessionId": _S, "configId": "model", "value": "b"}
    assert second["params"] == {"sessionId": _S, "configId": "thinking", "value": "high"}
    assert agent.value(ticket).model == "b"


@pytest.mark.parametrize(("can", "method"), [(("resume",), "session/resume"), ((), "session/load")])
def test_a_session_is_resumed_in_the_way_that_repeats_least(
    can: tuple[str, ...], method: str
) -> None:
    agent = Agent(can=can)
    ticket = agent.open(resume=_S)

    assert agent.methods[1] == method
    assert agent.value(ticket).resumed


def test_the_history_that_an_agent_repeats_makes_no_messages() -> None:
    agent = Agent(can=())
    agent.greet()
    agent.submit(intents.OpenSession(cwd="/w", access="default", resume=_S))
    agent.update("user_message_chunk", content={"type": "text", "text": "hi"})
    agent.update("agent_message_chunk", content={"type": "text", "text": "Hello."})
    agent.answer({})

    assert agent.of(Text) == []


def test_what_the_agent_does_not_offer_is_not_asked_for() -> None:
    agent = Agent(can=(), load=False)
    agent.greet()

    wishes: list[dict[str, Any]] = [
        {"resume": _S},
        {"fork": _S},
        {"add_dirs": ["/x"]},
        {"instructions": "x"},
    ]
    for wish in wishes:
        with pytest.raises(Unsupported):
            agent.submit(intents.OpenSession(cwd="/w", access="default", **wish))


def test_an_agent_without_a_sign_in_says_what_to_do() -> None:
    agent = Agent()
    agent.greet()
    ticket = agent.submit(intents.OpenSession(cwd="/w", access="default"))
    agent.answer(code=-32000, message="Authentication required")

    assert agent.refusal(ticket).message == "toy is not signed in; it offers: Set TOY_KEY"


def test_a_key_signs_in_once() -> None:
    agent = Agent()
    agent.greet(api_key="k")
    ticket = agent.submit(intents.OpenSession(cwd="/w", access="default"))
    agent.answer(code=-32000, message="Authentication required")
    asked = agent.answer()
    agent.answer(agent.opened)

    assert asked["params"] == {"methodId": "api-key", "_meta": {"api-key": "k"}}
    assert agent.value(ticket).session_id == _S


def test_a_turn_is_answered_with_its_id_and_the_next_one_waits_for_its_end() -> None:
    agent = Agent()
    agent.open()
    first = agent.start()
    second = agent.start()
    agent.update("agent_message_chunk", content={"type": "text", "text": "Done."})
    agent.answer({"stopReason": "end_turn"})

    assert agent.value(first) == "turn-1"
    assert agent.refusal(second).kind == "turn_failed"
    assert [each.text for each in agent.of(Text)] == ["Done."]
    assert [each.outcome for each in agent.of(TurnEnded)] == ["completed"]


def test_an_image_is_sent_only_to_an_agent_that_takes_images() -> None:
    agent = Agent()
    agent.open()

    with pytest.raises(Unsupported):
        agent.start(images=["data:image/png;base64,AA"])
    agent.greeted["agentCapabilities"]["promptCapabilities"] = {"image": True}
    agent.open()
    agent.start(images=["data:image/png;base64,AA"])
    assert agent.sent[-1]["params"]["prompt"][1] == {
        "type": "image",
        "mimeType": "image/png",
        "data": "AA",
    }


@pytest.mark.parametrize(
    ("kinds", "decision", "option", "settled"),
    [
        (("allow_once", "reject_once"), "allow", "allow_once", "allow"),
        (("allow_once", "allow_always"), "allow_always", "allow_always", "allow_always"),
        (("allow_once", "reject_once"), "allow_always", "allow_once", "allow"),
        (("allow_once", "allow_always"), "allow_for_session", "allow_once", "allow"),
        (("allow_once", "reject_always", "reject_once"), "deny", "reject_once", "deny"),
        (("allow_once", "reject_always"), "deny", "reject_always", "deny"),
    ],
)
def test_a_decision_is_the_nearest_option_that_allows_no_more(
    kinds: tuple[str, ...], decision: str, option: str, settled: str
) -> None:
    agent = Agent()
    agent.open()
    agent.start()
    asked = agent.ask(3, *kinds)
    agent.submit(intents.Decide(session_id=_S, approval_id=asked.approval_id, decision=decision))

    answer = {"outcome": {"outcome": "selected", "optionId": option}}
    assert agent.sent[-1] == {"jsonrpc": "2.0", "id": 3, "result": answer}
    assert [each.decision for each in agent.of(ApprovalSettled)] == [settled]


def test_a_request_without_an_option_to_deny_is_cancelled() -> None:
    agent = Agent()
    agent.open()
    agent.start()
    asked = agent.ask(0, "allow_once")
    agent.submit(intents.Decide(session_id=_S, approval_id=asked.approval_id, decision="deny"))

    assert agent.sent[-1]["result"] == {"outcome": {"outcome": "cancelled"}}


def test_nothing_is_allowed_that_was_not_offered() -> None:
    agent = Agent()
    agent.open()
    agent.start()
    asked = agent.ask(0, "reject_once")
    decide = intents.Decide(session_id=_S, approval_id=asked.approval_id, decision="allow")

    assert agent.refusal(agent.submit(decide)).kind == "response_error"


def test_where_no_one_is_asked_a_request_is_denied_at_once() -> None:
    agent = Agent()
    agent.open(asking="never")
    agent.start()
    agent.ask()

    assert agent.sent[-1]["result"]["outcome"]["optionId"] == "reject_once"
    assert [each.decision for each in agent.of(ApprovalSettled)] == ["deny"]


def test_an_interrupt_cancels_the_prompt_and_what_is_asked() -> None:
    agent = Agent()
    agent.open()
    turn = agent.value(agent.start())
    agent.ask()
    agent.submit(intents.Interrupt(session_id=_S, turn_id=turn))

    assert [each.get("method") for each in agent.sent[-2:]] == ["session/cancel", None]
    assert agent.sent[-1]["result"] == {"outcome": {"outcome": "cancelled"}}
    agent.answer({"stopReason": "cancelled"})
    assert [each.outcome for each in agent.of(TurnEnded)] == ["interrupted"]


def test_files_terminals_and_the_unknown_are_refused_at_once() -> None:
    agent = Agent()
    agent.open()
    for id, method in enumerate(("fs/write_text_file", "terminal/create", "_toy/dance")):
        agent.say(id=id, method=method, params={"sessionId": _S})

        assert (agent.sent[-1]["id"], agent.sent[-1]["error"]["code"]) == (id, -32601)


def test_a_turn_that_was_given_up_is_not_started_again() -> None:
    agent = Agent()
    agent.open()
    agent.start()
    agent.talk.end_turn(_S, "failed")
    agent.ask()
    assert agent.sent[-1]["result"] == {"outcome": {"outcome": "cancelled"}}
    refused = agent.start()
    waits = agent.submit(intents.AwaitTurnEnd(session_id=_S, turn_id="turn-1"))
    agent.say(id=agent.sent[2]["id"], result={"stopReason": "end_turn"})

    assert "was given up" in agent.refusal(refused).message
    assert agent.value(waits) is None
    assert len(agent.of(TurnStarted)) == len(agent.of(TurnEnded)) == 1
    agent.start()
    assert len(agent.of(TurnStarted)) == 2


def test_an_agent_that_widens_its_mode_by_itself_is_stopped() -> None:
    agent = Agent()
    agent.open()
    agent.start()
    agent.update("current_mode_update", currentModeId="yolo")

    ended = agent.of(TurnEnded)[0]
    assert ended.error is not None
    assert ended.error.kind == "authority"
    assert agent.methods[-2:] == ["session/cancel", "session/set_mode"]


def test_access_can_change_while_a_session_is_open() -> None:
    agent = Agent()
    agent.open()
    ticket = agent.submit(intents.SetAccess(session_id=_S, access="read"))
    asked = agent.answer()

    assert asked["params"]["modeId"] == "plan"
    assert agent.value(ticket).access == "read"


def test_the_models_are_those_of_the_session() -> None:
    agent = Agent()
    agent.open()

    models = agent.value(agent.submit(intents.ListModels()))
    assert [(each.id, each.label, each.is_default) for each in models] == [
        ("m-1", "One", True),
        ("m-2", "m-2", False),
    ]


def test_a_request_that_is_too_long_is_refused_and_a_response_is_a_failure() -> None:
    agent = Agent()
    agent.open()
    ticket = agent.start()
    head = b'{"jsonrpc":"2.0","id":9,"method":"fs/write_text_file","params":{"content":"'
    agent.talk.receive_long_line(LongLine(length=9_000_000, head=head, tail=b'"}}'))
    agent.exchange()
    assert agent.sent[-1]["id"] == 9
    assert agent.sent[-1]["error"]["code"] == -32603
    head = b'{"jsonrpc":"2.0","id":3,"result":{"stopReason":"'
    agent.talk.receive_long_line(LongLine(length=9_000_000, head=head, tail=b'"}}'))
    agent.exchange()
    assert agent.value(ticket) == "turn-1"


def test_everything_ends_with_the_process() -> None:
    agent = Agent()
    agent.open()
    agent.start()
    agent.ask()
    waits = agent.submit(intents.AwaitTurnEnd(session_id=_S, turn_id="turn-1"))
    agent.talk.receive_eof()
    agent.exchange()
    after = agent.start()

    assert [each.error and each.error.kind for each in agent.of(TurnEnded)] == ["port_exit"]
    assert [each.decision for each in agent.of(ApprovalSettled)] == ["withdrawn"]
    assert {agent.refusal(each).kind for each in (waits, after)} == {"port_exit"}
