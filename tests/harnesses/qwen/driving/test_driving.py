"""A conversation with Qwen Code, line by line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.errors import Unsupported
from dragoman.harnesses.contract.conversation import Answer
from dragoman.harnesses.qwen.driving.conversation import QwenConversation
from dragoman.model import intents
from dragoman.model.messages import ApprovalRequested, ApprovalSettled, TurnEnded, TurnStarted
from support.qwen import NO_COUNTS, SID, answer, failed, init, of, result, said, text, tool_use


class _Talk:
    """A conversation that was greeted and opened."""

    def __init__(self, access: str = "default", **opening: Any) -> None:
        self._made = 0
        self.talk = QwenConversation((0, 24, 4), make_id=self._make_id)
        self.messages: list[Any] = []
        self.answers: list[Answer] = []
        self.greeting = self.submit(intents.Greet(client="test", client_version="1"))
        (initialize,) = self.sent()
        self.receive_answer(initialize, session_id=SID, capabilities={})
        self.opened = self.submit(intents.OpenSession(cwd="/w", access=access, **opening))

    def _make_id(self) -> str:
        self._made += 1
        return f"p{self._made}"

    def submit(self, intent: intents.Intent) -> int:
        return self.talk.submit(intent)

    def sent(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.talk.lines_to_send()]

    def receive(self, *lines: dict[str, Any]) -> None:
        for line in lines:
            self.talk.receive_line(json.dumps(line).encode() + b"\n")
        self.messages += self.talk.messages()
        self.answers += self.talk.answers()

    def receive_answer(self, request: dict[str, Any], **fields: Any) -> None:
        response = {"subtype": "success", "request_id": request["request_id"], "response": fields}
        self.receive({"type": "control_response", "response": response})

    def confirm(self, mode: str = "default") -> None:
        for request in self.sent():
            assert request["request"]["subtype"] == "set_permission_mode"
            self.receive_answer(request, status="updated", mode=mode)

    def prompt(self, value: str = "hi") -> int:
        return self.submit(intents.StartTurn(session_id=SID, text=value))

    def of(self, ticket: int) -> Answer:
        (found,) = [each for each in self.answers if each.ticket == ticket]
        return found


def _ready(**opening: Any) -> _Talk:
    talk = _Talk(**opening)
    talk.confirm()
    return talk


def test_a_session_is_open_when_its_mode_is_confirmed() -> None:
    talk = _ready()

    assert talk.of(talk.greeting).value.version == "0.24.4"
    facts = talk.of(talk.opened).value
    assert (facts.session_id, facts.access, facts.resumed) == (SID, "default", False)


def test_a_session_with_another_mode_than_was_requested_is_refused() -> None:
    talk = _Talk()
    talk.confirm("yolo")

    refusal = talk.of(talk.opened).refusal
    assert refusal is not None
    assert refusal.kind == "authority"
    assert "requested the approval mode 'default', Qwen applies 'yolo'" in refusal.message


def test_an_effort_is_set_before_the_session_is_open() -> None:
    talk = _Talk(config={"effort": "high"})
    talk.confirm()
    (request,) = talk.sent()
    assert request["request"] == {"subtype": "set_effort", "effort": "high"}
    talk.receive_answer(request, effort="high", applied=True)

    assert talk.of(talk.opened).value.session_id == SID


def test_a_turn_is_answered_when_it_begins_and_ends_with_its_result() -> None:
    talk = _ready()
    ticket = talk.prompt()
    (line,) = talk.sent()
    assert line["message"]["content"] == "hi"
    assert not [each for each in talk.answers if each.ticket == ticket]
    talk.receive(init(), said(text("Hello.")), result("Hello."))

    assert talk.of(ticket).value == "p1"
    assert [each.turn_id for each in of(TurnStarted, talk.messages)] == ["p1"]
    assert [(each.turn_id, each.outcome) for each in of(TurnEnded, talk.messages)] == [
        ("p1", "completed")
    ]


def test_a_prompt_for_an_agent_at_work_becomes_the_next_turn() -> None:
    talk = _ready()
    first, second = talk.prompt("one"), talk.prompt("two")
    talk.sent()
    talk.receive(init(), said(text("One.")))
    third = talk.prompt("three")
    talk.sent()
    talk.receive(result("One."), init(), said(text("Two."), name="m2"), result("Two."), init())

    assert [talk.of(each).value for each in (first, second, third)] == ["p1", "p2", "p3"]


def _ask(call_id: str = "c1") -> list[dict[str, Any]]:
    given = {"command": "touch x"}
    request = {
        "subtype": "can_use_tool",
        "tool_name": "run_shell_command",
        "tool_use_id": call_id,
        "input": given,
        "permission_suggestions": [{"type": "allow", "label": "Allow", "description": "Execute"}],
    }
    asked = {"type": "control_request", "request_id": f"r-{call_id}", "request": request}
    return [init(), said(tool_use("run_shell_command", given, call_id)), asked]


@pytest.mark.parametrize(
    ("decision", "message", "response"),
    [
        ("allow", None, {"behavior": "allow", "updatedInput": {"command": "touch x"}}),
        (
            "allow_for_session",
            None,
            {"behavior": "allow", "updatedInput": {"command": "touch x"}},
        ),
        ("deny", None, {"behavior": "deny", "message": "The user does not allow this."}),
        ("deny", "Ask me tomorrow.", {"behavior": "deny", "message": "Ask me tomorrow."}),
    ],
)
def test_a_decision_is_answered(
    decision: str, message: str | None, response: dict[str, Any]
) -> None:
    talk = _ready()
    talk.prompt()
    talk.sent()
    talk.receive(*_ask())
    (asked,) = of(ApprovalRequested, talk.messages)
    assert (asked.kind, asked.command, asked.choices) == (
        "command",
        "touch x",
        ["allow", "deny", "cancel"],
    )
    talk.submit(
        intents.Decide(
            session_id=SID, approval_id=asked.approval_id, decision=decision, message=message
        )
    )
    (line,) = talk.sent()
    assert line["response"]["response"] == response
    talk.receive()
    word = "allow" if decision.startswith("allow") else "deny"
    assert [each.decision for each in of(ApprovalSettled, talk.messages)] == [word]


def test_to_cancel_is_to_deny_and_to_stop_the_turn() -> None:
    talk = _ready()
    talk.prompt()
    talk.sent()
    talk.receive(*_ask())
    talk.submit(intents.Decide(session_id=SID, approval_id="r-c1", decision="cancel"))
    denied, interrupt = talk.sent()

    assert denied["response"]["response"]["behavior"] == "deny"
    assert interrupt["request"] == {"subtype": "interrupt"}


def test_a_question_is_answered_by_its_number() -> None:
    talk = _ready()
    talk.prompt()
    talk.sent()
    options = [{"label": "red"}, {"label": "blue"}]
    given = {"questions": [{"question": "Which colour?", "header": "Colour", "options": options}]}
    request = {"subtype": "can_use_tool", "tool_name": "ask_user_question", "input": given}
    talk.receive(init(), {"type": "control_request", "request_id": "q", "request": request})
    (asked,) = of(ApprovalRequested, talk.messages)
    assert (asked.kind, asked.choices) == ("question", ["red", "blue"])
    talk.submit(
        intents.Decide(
            session_id=SID,
            approval_id="q",
            decision="answered",
            answers={"Which colour?": ["red"]},
        )
    )
    (line,) = talk.sent()

    assert line["response"]["response"]["updatedInput"]["answers"] == {"0": "red"}


def test_an_interrupt_waits_until_there_is_something_to_stop() -> None:
    talk = _ready()
    talk.prompt()
    talk.sent()
    talk.receive(init(), result("x"))
    talk.prompt()
    talk.sent()
    early = talk.submit(intents.Interrupt(session_id=SID, turn_id="p2"))
    talk.receive()
    refusal = talk.of(early).refusal
    assert refusal is not None
    assert "has not started yet" in refusal.message
    talk.receive(init())
    late = talk.submit(intents.Interrupt(session_id=SID, turn_id="p2"))
    (request,) = talk.sent()
    talk.receive_answer(request, subtype="interrupt")
    talk.receive(failed("Operation cancelled."))

    assert talk.of(late).refusal is None
    assert [each.outcome for each in of(TurnEnded, talk.messages)] == ["completed", "interrupted"]


def test_a_turn_that_was_given_up_stays_ended_also_when_a_sub_agent_reports() -> None:
    talk = _Talk("yolo")
    talk.confirm("yolo")
    talk.prompt()
    talk.sent()
    agent = tool_use("agent", {"prompt": "Count."}, "c9")
    of_agent = {"parent_tool_use_id": "c9"}
    call = said(tool_use("run_shell_command", {"command": "x"}, "c10"), **of_agent)
    talk.receive(init(), said(agent), call)
    talk.talk.end_turn(SID, "failed")
    waiting = talk.submit(intents.AwaitTurnEnd(session_id=SID, turn_id="p1"))
    talk.receive(failed("CANCELLED", duration_ms=0, usage=NO_COUNTS))
    assert not [each for each in talk.answers if each.ticket == waiting]
    talk.receive(answer("Agent was cancelled by the user.", "c9"), failed("Operation cancelled."))

    assert talk.of(waiting).refusal is None
    ends = [each.outcome for each in of(TurnEnded, talk.messages) if each.session_id == SID]
    assert ends == ["failed"]


def test_more_than_was_granted_ends_the_turn() -> None:
    talk = _ready()
    talk.prompt()
    talk.sent()
    talk.receive(init(permission_mode="yolo"))

    (ended,) = of(TurnEnded, talk.messages)
    assert ended.error.kind == "authority"
    assert [each["request"]["subtype"] for each in talk.sent()] == [
        "interrupt",
        "set_permission_mode",
    ]


def test_a_process_that_is_gone_leaves_nothing_open() -> None:
    talk = _ready()
    ticket = talk.prompt()
    talk.sent()
    talk.receive(*_ask())
    late = talk.submit(intents.ListModels())
    talk.talk.receive_eof()
    talk.receive()

    assert talk.of(ticket).value == "p1"
    refusal = talk.of(late).refusal
    assert refusal is not None
    assert refusal.kind == "port_exit"
    assert [each.decision for each in of(ApprovalSettled, talk.messages)] == ["withdrawn"]
    assert [each.outcome for each in of(TurnEnded, talk.messages)] == ["failed"]


def test_models_modes_and_settings() -> None:
    talk = _ready()
    models = talk.submit(intents.ListModels())
    access = talk.submit(intents.SetAccess(session_id=SID, access="auto-edit"))
    check = talk.submit(intents.CheckTurn(session_id=SID, turn_id="p1"))
    one, two, three = talk.sent()
    talk.receive_answer(one, models=[{"id": "big", "label": "Big"}])
    talk.receive_answer(two, status="updated", mode="auto-edit")
    talk.receive_answer(three, status={})
    ticket = talk.submit(intents.StartTurn(session_id=SID, text="hi", model="big", effort="low"))
    for subtype in ("set_model", "set_effort"):
        (request,) = talk.sent()
        assert request["request"]["subtype"] == subtype
        talk.receive_answer(request)
    assert [each["type"] for each in talk.sent()] == ["user"]
    talk.receive(init())

    assert [each.id for each in talk.of(models).value] == ["big"]
    assert talk.of(access).value.access == "auto-edit"
    assert talk.of(check).value is None
    assert talk.of(ticket).value == "p1"


def test_what_it_cannot_do_is_said_before_anything_is_sent() -> None:
    talk = _ready()
    for intent in (
        intents.Steer(session_id=SID, turn_id="p1", text="x"),
        intents.StartTurn(session_id=SID, text="x", images=["data:image/png;base64,AA=="]),
        intents.StartTurn(session_id=SID, text="x", cwd="/elsewhere"),
        intents.Rename(session_id=SID, name="x"),
    ):
        with pytest.raises(Unsupported):
            talk.submit(intent)
    assert talk.sent() == []
