"""Driving opencode: what is sent for each intent, what the access decides, and what a broken stream leads to."""

from __future__ import annotations

import json
from typing import Any, TypeVar
from urllib.parse import unquote

import pytest

from dragoman.errors import Unsupported, UsageError
from dragoman.harnesses.opencode.driving.access import unguarded
from dragoman.harnesses.opencode.driving.conversation import OpencodeConversation
from dragoman.model import intents
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Message,
    Notice,
    Prompt,
    Text,
    TurnEnded,
    TurnStarted,
)

_S, _CHILD = "ses_1", "ses_2"


_GUARDED = [
    {"permission": "*", "pattern": "*", "action": "allow"},
    {"permission": "bash", "pattern": "*", "action": "ask"},
    {"permission": "edit", "pattern": "*", "action": "ask"},
    {"permission": "webfetch", "pattern": "*", "action": "ask"},
    {"permission": "websearch", "pattern": "*", "action": "ask"},
    {"permission": "dragoman", "pattern": "*", "action": "ask"},
]


_AGENTS = [{"name": name, "permission": _GUARDED} for name in ("build", "plan")]


_M = TypeVar("_M")


class _Client:
    """A conversation, with what it sent and what came of it."""

    def __init__(self, agents: Any = _AGENTS, **options: Any) -> None:
        self.talk = OpencodeConversation((1, 18, 33))
        self.sent: list[dict[str, Any]] = []
        self.messages: list[Message] = []
        self.answers: dict[int, Any] = {}
        self.agents = agents
        self._events = 0
        self.opened = self.open(**options)

    def open(self, access: str = "ask", **options: Any) -> Any:
        ticket = self.submit(intents.OpenSession(cwd="/w x", access=access, **options))
        if self.sent[-1]["path"].startswith("/event"):
            self.answer(None)
        self.answer(self.agents)
        if ticket not in self.answers:
            self.answer({"id": _S, "directory": "/w x", "version": "1.18.33"})
        return self.answers[ticket]

    def submit(self, intent: intents.Intent) -> int:
        ticket = self.talk.submit(intent)
        self.drain()
        return ticket

    def answer(self, body: Any, status: int = 200, id: int | None = None) -> None:
        """The response to the newest request, or to this one."""
        self.line({"id": id or self.sent[-1]["id"], "status": status, "body": body})

    def event(self, kind: str, session: str = _S, **properties: Any) -> None:
        self._events += 1
        given = {"sessionID": session, **properties}
        self.line({"id": f"evt_{self._events}", "type": kind, "properties": given})

    def line(self, line: Any) -> None:
        self.talk.receive_line(json.dumps(line).encode())
        self.drain()

    def drain(self) -> None:
        while lines := self.talk.lines_to_send():
            self.sent += map(json.loads, lines)
        self.messages += self.talk.messages()
        for answer in self.talk.answers():
            assert answer.ticket not in self.answers
            self.answers[answer.ticket] = answer.refusal or answer.value

    def of(self, kind: type[_M]) -> list[_M]:
        return [each for each in self.messages if isinstance(each, kind)]

    # What the server does.

    def start(self, text: str = "hi", **options: Any) -> int:
        ticket = self.submit(intents.StartTurn(session_id=_S, text=text, **options))
        self.user("msg_1", text)
        return ticket

    def user(self, name: str, text: str) -> None:
        self.event("message.updated", info={"id": name, "role": "user", "sessionID": _S})
        part = {"type": "text", "text": text, "messageID": name, "sessionID": _S, "id": f"p{name}"}
        self.event("message.part.updated", part=part)

    def agent(self, name: str = "msg_2", **more: Any) -> None:
        time = {"created": 5, **({"completed": 6} if more else {})}
        info = {"id": name, "role": "assistant", "sessionID": _S, "modelID": "m", "time": time}
        self.event("message.updated", info={**info, **more})

    def ask(self, permission: str = "bash", session: str = _S, name: str = "per_1") -> None:
        self.event(
            "permission.asked",
            session,
            id=name,
            permission=permission,
            patterns=["touch x"],
            metadata={"command": "cd /; touch x"} if permission == "bash" else {"filepath": "/f"},
            always=["touch *"],
        )

    def child(self) -> None:
        info = {"id": _CHILD, "parentID": _S, "directory": "/w x", "version": "1"}
        self.event("session.created", _CHILD, info=info)


def test_a_session_is_opened_once_its_events_arrive_and_its_agents_are_checked() -> None:
    client = _Client()

    asked = [(each["method"], unquote(each["path"])) for each in client.sent]
    assert asked == [
        ("GET", "/event?directory=/w x"),
        ("GET", "/agent?directory=/w x"),
        ("POST", "/session?directory=/w x"),
    ]
    assert (client.opened.session_id, client.opened.access) == (_S, "ask")

    client.open()
    assert [each["path"].partition("?")[0] for each in client.sent[3:]] == ["/agent", "/session"]


@pytest.mark.parametrize("access", ["ask", "plan"])
@pytest.mark.parametrize(
    ("agents", "words"),
    [
        ([], "it lists no agents"),
        ([{"name": "build", "permission": _GUARDED[:-1]}], "plug-in"),
        (
            [*_AGENTS, {"name": "deploy", "permission": [*_GUARDED, {**_GUARDED[1], "action": "allow"}]}],
            "its agent 'deploy' may use 'bash'",
        ),
    ],
)  # fmt: skip
def test_a_program_that_would_not_ask_is_not_used(access: str, agents: Any, words: str) -> None:
    client = _Client(agents, access=access)

    assert client.opened.kind == "authority"
    assert words in client.opened.message
    assert [each["method"] for each in client.sent] == ["GET", "GET"]
    assert _Client(agents, access="allow").opened.access == "allow"


@pytest.mark.parametrize(
    ("rules", "is_guarded"),
    [
        ([("bash", "*", "ask")], True),
        ([("bash", "*", "ask"), ("bash", "git *", "deny")], True),
        ([("bash", "*", "ask"), ("bash", "git *", "allow")], False),
        ([("bash", "git *", "allow"), ("bash", "*", "ask")], True),
        ([("bash", "*", "ask"), ("b*", "*", "allow")], False),
        ([("bash", "*", "ask"), ("*", "x", "allow")], False),
        ([("bash", "x", "ask")], True),
        ([("*", "*", "deny"), ("bash", "*", "nonsense")], False),
    ],
)
def test_the_last_rule_that_fits_decides(
    rules: list[tuple[str, str, str]], is_guarded: bool
) -> None:
    names = ("permission", "pattern", "action")
    own = [dict(zip(names, rule, strict=True)) for rule in rules]
    agents = [{"name": "build", "permission": [*_GUARDED, *own]}]

    assert (unguarded(agents) is None) == is_guarded


def test_a_prompt_carries_its_model_images_instructions_and_agent() -> None:
    client = _Client(
        access="plan", model="lab/m1", instructions="Be brief.", config={"variant": "low"}
    )
    ticket = client.start(images=["data:image/jpeg;base64,AAAA"], model="lab/m/2")

    assert client.answers[ticket] == "msg_1", "before the response to the request"
    sent = client.sent[-1]
    assert unquote(sent["path"]) == f"/session/{_S}/prompt_async?directory=/w x"
    assert sent["body"] == {
        "model": {"providerID": "lab", "modelID": "m/2"},
        "agent": "plan",
        "variant": "low",
        "system": "Be brief.",
        "parts": [
            {"type": "text", "text": "hi"},
            {
                "type": "file",
                "mime": "image/jpeg",
                "url": "data:image/jpeg;base64,AAAA",
                "filename": "image-1",
            },
        ],
    }


def test_a_model_without_its_provider_is_a_mistake_of_the_user() -> None:
    with pytest.raises(UsageError, match="with its provider"):
        _Client(model="m1")


@pytest.mark.parametrize(
    "options", [{"ephemeral": True}, {"add_dirs": ["/x"]}, {"config": {"nonsense": 1}}]
)
def test_what_opencode_cannot_do_is_said(options: dict[str, Any]) -> None:
    with pytest.raises(Unsupported):
        _Client(**options)


def test_a_prompt_that_is_refused_starts_no_turn() -> None:
    client = _Client()
    ticket = client.submit(intents.StartTurn(session_id=_S, text="hi"))
    client.answer({"name": "NotFoundError", "data": {"message": "gone"}}, 404)
    assert client.answers[ticket].message == "gone"

    ticket = client.submit(intents.StartTurn(session_id=_S, text="hi"))
    client.answer(None, 204)
    assert ticket not in client.answers
    client.event("session.error", error={"name": "UnknownError", "data": {"message": "No agent"}})
    assert client.answers[ticket].message == "No agent"
    assert client.of(TurnStarted) == []


def test_a_turn_that_is_asked_for_while_another_runs_is_refused() -> None:
    client = _Client()
    client.start()
    ticket = client.submit(intents.StartTurn(session_id=_S, text="again"))

    assert client.answers[ticket].kind == "turn_failed"


@pytest.mark.parametrize(
    ("decision", "message", "body"),
    [
        ("allow", None, {"reply": "once"}),
        ("allow_for_session", None, {"reply": "once"}),
        ("allow_always", None, {"reply": "once"}),
        ("deny", None, {"reply": "reject", "message": "The user denied this. Continue without it."}),
        ("deny", "No.", {"reply": "reject", "message": "No."}),
        ("nonsense", None, {"reply": "reject", "message": "The user denied this. Continue without it."}),
    ],
)  # fmt: skip
def test_a_decision_never_allows_more_than_once(
    decision: str, message: str | None, body: dict[str, str]
) -> None:
    client = _Client()
    client.start()
    client.ask()
    (asked,) = client.of(ApprovalRequested)
    assert (asked.command, asked.cwd) == ("cd /; touch x", "/w x"), "the whole command"
    assert asked.detail["always"] == ["touch *"], "what opencode's own `always` would cover"
    assert (asked.always, "allow_always" in asked.choices) == (None, False), "which is not offered"

    intent = intents.Decide(session_id=_S, approval_id="per_1", decision=decision, message=message)
    client.submit(intent)

    assert client.sent[-1]["path"].startswith("/permission/per_1/reply?directory=")
    assert client.sent[-1]["body"] == body


def test_cancelling_denies_without_a_word_and_stops_the_turn() -> None:
    client = _Client()
    client.start()
    client.child()
    client.ask(session=_CHILD)
    client.submit(intents.Decide(session_id=_CHILD, approval_id="per_1", decision="cancel"))

    assert client.sent[-2]["body"] == {"reply": "reject"}
    assert client.sent[-1]["path"].startswith(f"/session/{_S}/abort")


def test_full_access_allows_at_once_and_shows_nothing() -> None:
    client = _Client(access="allow")
    client.start()
    client.child()
    client.ask(session=_CHILD)
    assert client.sent[-1]["body"] == {"reply": "once"}
    client.event("permission.replied", _CHILD, requestID="per_1", reply="once")
    client.event("question.asked", id="que_1", questions=[{"question": "Which?"}])

    assert [each.kind for each in client.of(ApprovalRequested)] == ["question"]
    assert client.of(ApprovalSettled) == []


def test_a_plan_denies_edits_and_asks_about_commands() -> None:
    client = _Client(access="plan")
    client.start()
    client.ask("edit")
    assert client.sent[-1]["body"]["reply"] == "reject"
    client.ask("bash", name="per_2")

    assert [each.approval_id for each in client.of(ApprovalRequested)] == ["per_2"]


def test_access_can_change_while_a_session_is_open() -> None:
    client = _Client(access="allow", agents=[{"name": "build", "permission": []}])
    ticket = client.submit(intents.SetAccess(session_id=_S, access="ask"))
    assert client.answers[ticket].kind == "authority", "nothing would make it ask"

    client = _Client()
    ticket = client.submit(intents.SetAccess(session_id=_S, access="allow"))
    assert client.answers[ticket].access == "allow"
    client.start()
    client.ask()
    assert client.of(ApprovalRequested) == []


def test_questions_are_answered_in_their_order() -> None:
    client = _Client()
    client.start()
    questions = [{"question": "A?", "options": [{"label": "x"}]}, {"question": "B?"}]
    client.event("question.asked", id="que_1", questions=questions)
    answers = {"B?": ["two"], "0": ["x", "y"]}
    decide = intents.Decide(
        session_id=_S, approval_id="que_1", decision="answered", answers=answers
    )
    client.submit(decide)
    assert client.sent[-1]["path"].startswith("/question/que_1/reply")
    assert client.sent[-1]["body"] == {"answers": [["x", "y"], ["two"]]}

    client.submit(intents.Decide(session_id=_S, approval_id="que_1", decision="deny"))
    assert client.sent[-1]["path"].startswith("/question/que_1/reject")


def test_an_interrupt_that_opencode_says_nothing_about_is_one() -> None:
    """While it waits to ask the model again, it stops without an error."""
    client = _Client()
    turn = client.answers[client.start()]
    client.agent()
    client.submit(intents.Interrupt(session_id=_S, turn_id=turn))
    client.answer(True)
    client.agent(cost=0)
    client.event("session.idle")

    assert [each.outcome for each in client.of(TurnEnded)] == ["interrupted"]


def test_a_turn_that_we_end_is_stopped_and_what_it_asks_is_denied() -> None:
    client = _Client()
    turn = client.answers[client.start()]
    client.talk.end_turn(_S, "failed")
    client.drain()
    assert client.sent[-1]["path"].startswith(f"/session/{_S}/abort")
    client.ask()
    assert client.sent[-1]["body"]["reply"] == "reject"
    refused = client.submit(intents.StartTurn(session_id=_S, text="next"))
    assert client.answers[refused].kind == "turn_failed"
    waiting = client.submit(intents.AwaitTurnEnd(session_id=_S, turn_id=turn))
    client.event("session.idle")

    assert client.answers[waiting] is None
    assert len(client.of(TurnEnded)) == 1


def test_a_steer_joins_the_running_turn() -> None:
    client = _Client()
    turn = client.answers[client.start()]
    client.agent()
    ticket = client.submit(intents.Steer(session_id=_S, turn_id=turn, text="and this"))
    client.user("msg_3", "and this")
    client.answer(None, 204)
    client.agent("msg_4")

    assert client.answers[ticket] == turn
    assert [each.turn_id for each in client.of(Prompt)] == [turn, turn]
    ticket = client.submit(intents.Steer(session_id=_S, turn_id="msg_0", text="late"))
    assert "is not running" in client.answers[ticket].message


@pytest.mark.parametrize(
    ("options", "method", "path"),
    [
        ({"resume": _S}, "GET", f"/session/{_S}"),
        ({"fork": "ses_0"}, "POST", "/session/ses_0/fork"),
    ],
)
def test_sessions_are_resumed_and_branched_off(
    options: dict[str, str], method: str, path: str
) -> None:
    client = _Client(**options)

    assert client.sent[-1]["method"] == method
    assert client.sent[-1]["path"].partition("?")[0] == path
    assert client.opened.resumed == ("resume" in options)


def test_a_session_that_is_gone_is_replaced_if_that_is_wanted() -> None:
    client = _Client()
    wanted = intents.OpenSession(cwd="/w x", access="ask", resume="ses_9", or_new=True)
    ticket = client.submit(wanted)
    client.answer(_AGENTS)
    client.answer({"name": "NotFoundError", "data": {"message": "gone"}}, 404)
    client.answer({"id": "ses_5", "directory": "/w x", "version": "1"})

    assert (client.answers[ticket].session_id, client.answers[ticket].resumed) == ("ses_5", False)
    assert any("cannot be resumed" in each.text for each in client.of(Notice))


def test_what_a_stream_missed_is_asked_for() -> None:
    client = _Client()
    client.start()
    client.agent()
    client.answer(None, id=1)
    paths = {each["path"].partition("?")[0]: each["id"] for each in client.sent[-4:]}
    assert set(paths) == {
        *(f"/session/{_S}/message", f"/session/{_S}/children"),
        *("/permission", "/session/status"),
    }
    child = {"id": _CHILD, "parentID": _S, "directory": "/w x", "version": "1"}
    client.answer([child], id=paths[f"/session/{_S}/children"])
    assert client.sent[-1]["path"].startswith(f"/session/{_CHILD}/message?")
    asking = {"id": "per_1", "sessionID": _CHILD, "permission": "bash", "patterns": ["ls"]}
    info: dict[str, Any] = {"id": "msg_2", "role": "assistant", "sessionID": _S}
    info["finish"] = "stop"
    part = {"type": "text", "text": "Done.", "messageID": "msg_2", "sessionID": _S, "id": "p2"}
    info["time"] = {"created": 5, "completed": 6}
    client.answer([{"info": info, "parts": [part]}], id=paths[f"/session/{_S}/message"])
    client.answer([asking], id=paths["/permission"])
    client.answer({}, id=paths["/session/status"])

    assert [each.text for each in client.of(Text)] == ["Done."]
    assert [each.outcome for each in client.of(TurnEnded)] == ["completed"]
    assert [each.session_id for each in client.of(ApprovalRequested)] == [_CHILD]


def test_a_turn_whose_end_was_lost_is_found_to_be_over() -> None:
    client = _Client()
    turn = client.answers[client.start()]
    client.agent(finish="stop")
    ticket = client.submit(intents.CheckTurn(session_id=_S, turn_id=turn))
    client.answer({_S: {"type": "busy"}})
    assert client.answers[ticket] is None
    ticket = client.submit(intents.CheckTurn(session_id=_S, turn_id=turn))
    client.answer({})

    assert client.answers[ticket] == "completed"
    assert len(client.of(TurnEnded)) == 1
