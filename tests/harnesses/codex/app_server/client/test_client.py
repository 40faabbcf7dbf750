"""Live exchanges with the app-server: recordings of real ones, and each rule by itself."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman import (
    ApprovalRequested,
    ApprovalSettled,
    Diff,
    Message,
    Notice,
    Plan,
    Prompt,
    SessionStarted,
    Text,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
    Unknown,
)
from dragoman.errors import Unsupported
from dragoman.harnesses.codex.app_server.client.conversation import AppServerConversation
from dragoman.harnesses.codex.app_server.parser import AppServerParser
from dragoman.harnesses.contract.conversation import Answer, Refusal
from dragoman.model import intents
from dragoman.model.answers import AgentAccount, Model
from dragoman.model.messages import TurnError
from dragoman.wire.lines import LongLine

M = TypeVar("M", bound=Message)
_RECORDINGS = Path(__file__).parents[4] / "data" / "codex"
_TICKET = intents.ToolSpec(
    name="lookup_ticket",
    description="Fetch a ticket by id",
    input_schema={
        "type": "object",
        "properties": {"id": {"type": "string"}},
        "required": ["id"],
    },
)
_STALLED = TurnError(kind="stall_timeout", message="nothing was heard", retryable=True)
_READ_ONLY = {"type": "readOnly", "networkAccess": False}


class Talk:
    """A conversation, and everything it has given so far."""

    def __init__(self, release: tuple[int, int, int] | None = (0, 166, 0), **more: Any) -> None:
        self.conversation = AppServerConversation(release, **more)
        self.messages: list[Message] = []
        self.answers: list[Answer] = []
        self.sent: list[dict[str, Any]] = []

    def pump(self) -> None:
        self.sent += [json.loads(line) for line in self.conversation.lines_to_send()]
        self.messages += self.conversation.messages()
        self.answers += self.conversation.answers()

    def hear(self, *lines: dict[str, Any]) -> None:
        for line in lines:
            self.conversation.receive_line(json.dumps(line).encode())
            self.pump()

    def ask(self, intent: intents.Intent) -> int:
        ticket = self.conversation.submit(intent)
        self.pump()
        return ticket

    def answer(self, ticket: int) -> Answer:
        (answer,) = [answer for answer in self.answers if answer.ticket == ticket]
        return answer

    def refusal(self, ticket: int) -> Refusal:
        refusal = self.answer(ticket).refusal
        assert refusal is not None
        return refusal

    def said(self, kind: type[M]) -> list[M]:
        return [message for message in self.messages if isinstance(message, kind)]

    def reply(self, **result: Any) -> None:
        """Answer our last request."""
        self.hear({"id": self._last_request(), "result": result})

    def refuse(self, message: str, code: int = -32600) -> None:
        self.hear({"id": self._last_request(), "error": {"code": code, "message": message}})

    def _last_request(self) -> int:
        return [line["id"] for line in self.sent if "method" in line and "id" in line][-1]


def note(method: str, **params: Any) -> dict[str, Any]:
    return {"method": method, "params": params}


def opened(thread_id: str = "t1", **more: Any) -> dict[str, Any]:
    """What the server answers to thread/start."""
    given = {
        "thread": {"id": thread_id},
        "model": "m",
        "cwd": "/w",
        "approvalPolicy": "never",
        "sandbox": _READ_ONLY,
    }
    return given | more


def open_session(**more: Any) -> intents.OpenSession:
    fields: dict[str, Any] = {"cwd": "/w", "sandbox": "read-only"} | more
    return intents.OpenSession(**fields)


def turn_started(turn_id: str = "u1") -> dict[str, Any]:
    return note("turn/started", threadId="t1", turn={"id": turn_id, "status": "inProgress"})


def turn_completed(turn_id: str = "u1", status: str = "completed") -> dict[str, Any]:
    return note("turn/completed", threadId="t1", turn={"id": turn_id, "status": status})


def item_completed(turn_id: str, **item: Any) -> dict[str, Any]:
    return note("item/completed", threadId="t1", turnId=turn_id, item=item)


def in_turn(release: tuple[int, int, int] | None = (0, 166, 0), **more: Any) -> Talk:
    """A session t1 whose turn u1 is under way."""
    talk = Talk(release, **more)
    talk.ask(open_session())
    talk.reply(**opened())
    talk.ask(intents.StartTurn(session_id="t1", text="go"))
    talk.reply(turn={"id": "u1"})
    talk.hear(turn_started())
    return talk


def command_request(request_id: int = 0, **more: Any) -> dict[str, Any]:
    params = {"threadId": "t1", "turnId": "u1", "itemId": "c1", "command": "ls"} | more
    return {"method": "item/commandExecution/requestApproval", "id": request_id, "params": params}


def decide(decision: str, approval_id: str = "c1", **more: Any) -> intents.Decide:
    return intents.Decide(session_id="t1", approval_id=approval_id, decision=decision, **more)


# Recordings of the real program, driven by this conversation.


class Player:
    """The same few wishes for every release, each as soon as it can be had."""

    def __init__(self, conversation: AppServerConversation, opening: intents.OpenSession) -> None:
        self.conversation = conversation
        self.messages: list[Message] = []
        self.answers: list[Answer] = []
        self._opening: list[intents.Intent] = [opening]
        self._decisions = ["allow", "deny", "allow_for_session"]
        conversation.submit(intents.Greet(client="dragoman", client_version="0.1.0"))

    def lines(self) -> list[bytes]:
        sent: list[bytes] = []
        while True:
            lines = self.conversation.lines_to_send()
            messages = self.conversation.messages()
            tools = self.conversation.tool_requests()
            answers = self.conversation.answers()
            if not (lines or messages or tools or answers):
                return sent
            sent += lines
            self.messages += messages
            self.answers += answers
            for wish in [*map(self._react, messages), *map(self._go_on, answers)]:
                if wish is not None:
                    self.conversation.submit(wish)
            for tool in tools:
                assert (tool.tool, tool.arguments) == ("lookup_ticket", {"id": "ABC-123"})
                self.conversation.submit(
                    intents.AnswerTool(
                        session_id=tool.session_id,
                        call_id=tool.call_id,
                        output="Ticket ABC-123 is open",
                    )
                )

    def _react(self, message: Message) -> intents.Intent | None:
        if not isinstance(message, ApprovalRequested):
            return None
        return intents.Decide(
            session_id=message.session_id or "",
            approval_id=message.approval_id,
            decision=self._decisions.pop(0),
        )

    def _go_on(self, answer: Answer) -> intents.Intent | None:
        if isinstance(answer.value, intents.SessionFacts):
            return intents.StartTurn(session_id=answer.value.session_id, text="do it")
        return self._opening.pop(0) if self._opening else None


@pytest.mark.parametrize("release", ["0.66.0", "0.104.0", "0.142.0", "0.166.0"])
def test_a_real_exchange_is_had_again_line_by_line(release: str) -> None:
    recording = _RECORDINGS / "conversations" / f"{release}.jsonl"
    wrapped = recording.read_bytes().splitlines()
    if b"task_complete" in wrapped[-1]:  # the recording stops at the event, before the notification
        params = json.loads(wrapped[-1])["msg"]["params"]
        over: dict[str, Any] = {
            "id": params["id"],
            "items": [],
            "status": "completed",
            "error": None,
        }
        told = {"threadId": params["conversationId"], "turn": over}
        last = {"dir": "recv", "msg": {"method": "turn/completed", "params": told}}
        wrapped.append(json.dumps(last).encode())
    exchange = [json.loads(line) for line in wrapped]
    has_tools = release != "0.66.0"
    opening = intents.OpenSession(
        cwd="/workspace",
        sandbox="read-only",
        approvals="on-request" if release == "0.166.0" else "untrusted",
        tools=[_TICKET] if has_tools else [],
    )
    player = Player(AppServerConversation(), opening)
    to_send = player.lines()
    for line in exchange:
        if line["dir"] == "send":
            assert json.loads(to_send.pop(0)) == line["msg"]
        else:
            assert to_send == []
            player.conversation.receive_line(json.dumps(line["msg"]).encode())
            to_send = player.lines()
    assert to_send == []
    facts, session, turn = player.answers[:3]
    assert facts.value.version == release
    assert session.value.approvals in ("on-request", "untrusted", "unlessTrusted")
    ended = player.messages[-1]
    assert isinstance(ended, TurnEnded)
    assert (ended.outcome, ended.turn_id) == ("completed", turn.value)
    assert all(answer.refusal is None for answer in player.answers)
    settled = [m.decision for m in player.messages if isinstance(m, ApprovalSettled)]
    assert settled == ["allow", "deny", "allow_for_session"]
    told = [m for m in player.messages if isinstance(m, ToolResult)]
    assert len(told) == (4 if has_tools else 3)
    # Whoever reads the journal later is told the same, under the same line numbers.
    reader = AppServerParser()
    reader.receive_lines(wrapped)
    again = [message for message in reader.messages() if not isinstance(message, Unknown)]
    assert again == player.messages


@pytest.mark.parametrize(
    ("case", "decision"),
    [
        ("codex-app-server/approval-0.160", intents.Decide),
        ("codex-app-server/approval-mcp-0.166", intents.Decide),
        ("codex-app-server/question-0.166", intents.Decide),
        ("codex-app-server/dynamic-tool-0.166", intents.AnswerTool),
    ],
)
def test_our_answers_are_those_that_another_client_gave(case: str, decision: type) -> None:
    lines = (_RECORDINGS / case / "wire.jsonl").read_text().splitlines()
    talk = Talk((0, 166, 0))
    answered: list[Any] = []
    for line in map(json.loads, lines):
        if line["dir"] == "recv":
            talk.conversation.receive_line(json.dumps(line["msg"]).encode())
            talk.pump()
        elif "method" not in line["msg"]:
            answered.append(line["msg"])
            talk.ask(_as_recorded(talk, line["msg"]["result"], decision))
    ours = [line for line in talk.sent if "method" not in line]
    assert ours == answered != []


def _as_recorded(talk: Talk, result: dict[str, Any], kind: type) -> intents.Intent:
    if kind is intents.AnswerTool:
        call = talk.said(ToolCall)[-1]
        return intents.AnswerTool(
            session_id=call.session_id or "",
            call_id=call.call_id,
            output=result["contentItems"][0]["text"],
            success=result["success"],
        )
    asked = talk.said(ApprovalRequested)[-1]
    answers = {name: given["answers"] for name, given in result.get("answers", {}).items()}
    words = {"accept": "allow", "decline": "deny", "acceptForSession": "allow_for_session"}
    word = result.get("decision") or result.get("action") or "accept"
    return intents.Decide(
        session_id=asked.session_id or "",
        approval_id=asked.approval_id,
        decision="answered" if answers else words.get(word, word),
        answers=answers,
    )


# Greeting.


def greet(talk: Talk, agent: str = "dragoman/0.166.0 (Debian)", **more: Any) -> int:
    ticket = talk.ask(intents.Greet(client="dragoman", client_version="1", **more))
    talk.reply(userAgent=agent)
    return ticket


def test_a_server_that_needs_no_sign_in_is_greeted() -> None:
    talk = Talk(None)
    ticket = greet(talk, api_key="sk-1")
    talk.reply(account=None, requiresOpenaiAuth=False)
    assert [line["method"] for line in talk.sent] == ["initialize", "initialized", "account/read"]
    facts = talk.answer(ticket).value
    assert facts == intents.ServerFacts(
        version="0.166.0", agent="dragoman/0.166.0 (Debian)", signed_in=False
    )
    assert talk.conversation.release == (0, 166, 0)


def test_a_key_is_given_only_if_nobody_is_signed_in_and_is_never_told() -> None:
    talk = Talk()
    ticket = greet(talk, api_key="sk-1")
    talk.reply(account=None, requiresOpenaiAuth=True)
    assert talk.sent[-1]["params"] == {"type": "apiKey", "apiKey": "sk-1"}
    talk.reply(type="apiKey")
    assert talk.answers == []
    talk.hear(note("account/login/completed", success=True, error=None, loginId=None))
    facts = talk.answer(ticket).value
    assert (facts.signed_in, facts.needs_sign_in, facts.account) == (
        True,
        False,
        AgentAccount(kind="api_key", native={"type": "apiKey"}),
    )
    assert "sk-1" not in repr(talk.messages)
    talk.hear(note("account/login/completed", success=False))  # somebody else's
    assert len(talk.answers) == 1


def test_without_a_key_the_facts_say_that_one_is_needed() -> None:
    talk = Talk()
    ticket = greet(talk)
    talk.reply(account=None, requiresOpenaiAuth=True)
    assert talk.answer(ticket).value.needs_sign_in is True


def test_an_account_that_is_signed_in_is_left_alone() -> None:
    talk = Talk()
    ticket = greet(talk, api_key="sk-1")
    talk.reply(account={"type": "chatgpt"}, requiresOpenaiAuth=True)
    assert talk.answer(ticket).value.signed_in is True
    assert talk.sent[-1]["method"] == "account/read"


def test_a_key_that_is_refused_is_not_shown() -> None:
    talk = Talk()
    ticket = greet(talk, api_key="sk-1")
    talk.reply(account=None, requiresOpenaiAuth=True)
    talk.refuse("bad key sk-1")
    assert talk.refusal(ticket).message == "account/login/start: bad key [key]"
    assert "sk-1" not in repr(talk.messages)


def test_a_sign_in_that_fails_says_why() -> None:
    talk = Talk()
    ticket = greet(talk, api_key="sk-1")
    talk.reply(account=None, requiresOpenaiAuth=True)
    talk.hear(note("account/login/completed", success=False, error="no"))
    assert talk.refusal(ticket).message == "signing in failed: no"


def test_a_server_that_leaves_while_signing_in_is_gone() -> None:
    talk = Talk()
    ticket = greet(talk, api_key="sk-1")
    talk.reply(account=None, requiresOpenaiAuth=True)
    talk.reply(type="apiKey")
    talk.conversation.receive_eof()
    talk.conversation.receive_eof()
    talk.pump()
    assert talk.refusal(ticket).kind == "port_exit"


def test_a_server_that_tells_no_account_may_be_signed_in() -> None:
    talk = Talk()
    ticket = greet(talk)
    talk.refuse("unknown")
    assert talk.answer(ticket).value.signed_in is None


def test_a_release_that_is_too_old_is_refused_with_the_one_needed() -> None:
    talk = Talk(None)
    ticket = greet(talk, "codex_cli_rs/0.60.1 (Debian)")
    assert talk.refusal(ticket) == Refusal(
        kind="unsupported", message="Codex 0.66.0 or later is needed, this is Codex 0.60.1"
    )


def test_a_server_built_from_source_is_taken_for_the_newest() -> None:
    talk = Talk(None)
    greet(talk, "codex/0.0.0 (Debian)")
    talk.reply(account=None, requiresOpenaiAuth=False)
    assert talk.conversation.release is None
    assert talk.answers[0].refusal is None


def test_a_greeting_that_is_refused_or_cut_off() -> None:
    talk = Talk()
    ticket = talk.ask(intents.Greet(client="d", client_version="1"))
    talk.refuse("Already initialized")
    assert talk.refusal(ticket).message == "initialize: Already initialized"
    talk = Talk()
    ticket = greet(talk)
    talk.conversation.receive_eof()
    talk.pump()
    assert talk.refusal(ticket).kind == "port_exit"


# Sessions.


def test_a_session_is_opened_with_what_the_server_applies() -> None:
    talk = Talk()
    ticket = talk.ask(open_session())
    talk.reply(**opened())
    assert talk.answer(ticket).value == intents.SessionFacts(
        session_id="t1",
        model="m",
        cwd="/w",
        access="read-only",
        sandbox=_READ_ONLY,
        approvals="never",
    )
    assert [message.session_id for message in talk.said(SessionStarted)] == ["t1"]


def test_other_authority_than_was_asked_is_refused_and_the_session_closed() -> None:
    talk = Talk()
    ticket = talk.ask(open_session())
    talk.reply(**opened(sandbox={"type": "dangerFullAccess"}))
    assert talk.refusal(ticket) == Refusal(
        kind="authority",
        message="asked for the sandbox 'read-only', the server applies 'danger-full-access'",
    )
    assert talk.sent[-1]["method"] == "thread/unsubscribe"
    talk.reply()
    assert len(talk.answers) == 1


def test_a_release_that_cannot_close_is_not_asked_to() -> None:
    talk = Talk((0, 104, 0))
    talk.ask(open_session())
    talk.reply(**opened(approvalPolicy="on-request"))
    assert talk.sent[-1]["method"] == "thread/start"
    ticket = talk.ask(intents.CloseSession(session_id="t1"))
    assert talk.answer(ticket) == Answer(ticket)


def test_a_session_without_a_name_is_refused() -> None:
    talk = Talk()
    ticket = talk.ask(open_session())
    talk.reply(**opened(thread={}))
    assert "did not name it" in talk.refusal(ticket).message


def test_a_session_that_is_gone_is_replaced_only_if_asked_to() -> None:
    talk = Talk()
    ticket = talk.ask(open_session(resume="t0"))
    talk.refuse("no rollout found for thread id t0")
    assert talk.refusal(ticket).code == -32600
    ticket = talk.ask(open_session(resume="t0", or_new=True, tools=[_TICKET]))
    talk.refuse("no rollout found for thread id t0")
    assert talk.sent[-1]["method"] == "thread/start"
    assert talk.sent[-1]["params"]["dynamicTools"][0]["name"] == "lookup_ticket"
    talk.reply(**opened())
    assert talk.answer(ticket).value.resumed is False
    assert talk.said(Notice)[-1].text == "session t0 is gone; a new one was started instead"
    assert talk.said(Notice)[-1].session_id == "t1"
    ticket = talk.ask(open_session(resume="t0", or_new=True))
    talk.refuse("thread t0 already has an active writer")
    assert "active writer" in talk.refusal(ticket).message


def test_a_resumed_and_a_branched_off_session() -> None:
    talk = Talk()
    ticket = talk.ask(open_session(resume="t1"))
    talk.reply(**opened())
    assert talk.answer(ticket).value.resumed is True
    ticket = talk.ask(open_session(fork="t1"))
    talk.reply(**opened("t2"))
    assert talk.answer(ticket).value.parent_session_id == "t1"


def test_what_a_release_lacks_is_refused_before_anything_is_said() -> None:
    talk = Talk((0, 66, 0))
    with pytest.raises(Unsupported) as raised:
        talk.ask(open_session(tools=[_TICKET]))
    assert str(raised.value) == (
        "giving the model tools of ours is not possible with this release;"
        " it needs Codex 0.97.0 or later, this is Codex 0.66.0"
    )
    with pytest.raises(Unsupported):
        talk.ask(open_session(resume="t0", or_new=True, tools=[_TICKET]))
    assert talk.sent == []


# Turns.


def test_a_turn_is_asked_for_and_named() -> None:
    talk = in_turn()
    assert talk.answers[-1].value == "u1"
    talk.hear(turn_completed())
    assert [message.turn_id for message in talk.said(TurnEnded)] == ["u1"]


def test_a_turn_that_is_refused_has_failed_and_an_overloaded_server_is_asked_again() -> None:
    talk = Talk()
    ticket = talk.ask(intents.StartTurn(session_id="t1", text="go"))
    talk.refuse("thread not found: t1")
    assert talk.refusal(ticket) == Refusal(
        kind="turn_failed", message="turn/start: thread not found: t1", code=-32600
    )
    ticket = talk.ask(intents.StartTurn(session_id="t1", text="go"))
    talk.refuse("Server overloaded; retry later.", -32001)
    assert talk.refusal(ticket).retry is True
    assert talk.said(Notice)[-1].will_retry is True


def test_a_turn_may_change_the_sandbox_and_later_ones_keep_it() -> None:
    talk = in_turn()
    talk.ask(
        intents.StartTurn(session_id="t1", text="x", sandbox_policy={"type": "workspace-write"})
    )
    wider = {"type": "workspaceWrite", "writableRoots": ["/w"], "networkAccess": False}
    assert talk.sent[-1]["params"]["sandboxPolicy"] == wider
    talk.reply(turn={"id": "u1"})
    talk.ask(intents.StartTurn(session_id="t1", text="x", sandbox_policy={"networkAccess": True}))
    assert talk.sent[-1]["params"]["sandboxPolicy"] == wider | {"networkAccess": True}
    talk.refuse("no")
    talk.ask(intents.StartTurn(session_id="t1", text="x"))
    assert "sandboxPolicy" not in talk.sent[-1]["params"]


def test_a_second_start_is_a_word_to_the_running_turn() -> None:
    for release, named in (((0, 166, 0), "u1"), ((0, 104, 0), "phantom")):
        talk = in_turn(release)
        ticket = talk.ask(intents.StartTurn(session_id="t1", text="more"))
        talk.reply(turn={"id": named})
        assert talk.answer(ticket).value == "u1"


def test_an_interrupt_is_answered_even_if_the_turn_is_over() -> None:
    talk = in_turn((0, 104, 0))
    ticket = talk.ask(intents.Interrupt(session_id="t1", turn_id="u1"))
    talk.hear(turn_completed())
    assert talk.answer(ticket) == Answer(ticket)
    talk.reply()
    again = talk.ask(intents.Interrupt(session_id="t1", turn_id="u1"))
    assert talk.answer(again) == Answer(again)
    assert len(talk.answers) == 4
    # Old servers count their turns anew when a session is resumed.
    talk.ask(intents.StartTurn(session_id="t1", text="go"))
    talk.reply(turn={"id": "u1"})
    talk.ask(intents.Interrupt(session_id="t1", turn_id="u1"))
    assert talk.sent[-1]["method"] == "turn/interrupt"


def test_a_turn_that_we_end_ends_once_and_stays_ended() -> None:
    talk = in_turn()
    talk.hear(command_request(), note("item/started", **_sleep("u1")))
    talk.conversation.end_turn("t1", "failed", _STALLED)
    talk.pump()
    (ended,) = talk.said(TurnEnded)
    assert (ended.outcome, ended.error, ended.turn_id) == ("failed", _STALLED, "u1")
    assert [message.status for message in talk.said(ToolResult)] == ["abandoned"]
    assert talk.sent[-1]["error"]["message"] == "the turn was given up"
    assert [message.decision for message in talk.said(ApprovalSettled)] == ["resolved"]
    talk.hear(
        turn_started(),
        item_completed("u1", type="agentMessage", id="m1", text="late"),
        note("turn/plan/updated", threadId="t1", turnId="u1", plan=[{"step": "x"}]),
        note("turn/diff/updated", threadId="t1", turnId="u1", diff="d"),
        note("error", threadId="t1", turnId="u1", error={"message": "x"}, willRetry=False),
        note("rawResponseItem/completed", threadId="t1", turnId="u1", item={"type": "message"}),
        note(
            "codex/event/task_started", conversationId="t1", id="u1", msg={"type": "task_started"}
        ),
        command_request(1, itemId="c2"),
        turn_completed(),
        turn_started("u2"),
        item_completed("u1", type="agentMessage", id="m2", text="later"),
        turn_completed("u1"),
        turn_completed("u2"),
    )
    assert [message.turn_id for message in talk.said(TurnStarted)] == ["u1", "u2"]
    assert [message.turn_id for message in talk.said(TurnEnded)] == ["u1", "u2"]
    assert talk.said(TurnEnded)[1].outcome == "completed"
    late: list[Message] = [*talk.said(Text), *talk.said(Plan), *talk.said(Diff)]
    assert {message.turn_id for message in late} == {"u1"}
    assert talk.sent[-1] == {"id": 1, "error": {"code": -32000, "message": "the turn was given up"}}
    assert talk.refusal(talk.ask(decide("allow"))).kind == "response_error"


def _sleep(turn_id: str) -> dict[str, Any]:
    item = {"type": "commandExecution", "id": "c9", "command": "sleep 9", "status": "inProgress"}
    return {"threadId": "t1", "turnId": turn_id, "item": item}


def test_a_turn_that_was_taken_up_but_never_begun_can_be_ended() -> None:
    talk = Talk()
    talk.ask(open_session())
    talk.reply(**opened())
    talk.ask(intents.StartTurn(session_id="t1", text="go"))
    talk.reply(turn={"id": "u1"})
    talk.conversation.end_turn("t1", "interrupted")
    talk.conversation.end_turn("t1", "interrupted")
    talk.conversation.end_turn("unknown", "interrupted")
    talk.pump()
    assert [(m.turn_id, m.outcome) for m in talk.said(TurnEnded)] == [("u1", "interrupted")]


def test_a_turn_that_we_interrupt_says_why_in_a_notice() -> None:
    talk = in_turn()
    talk.conversation.end_turn("t1", "interrupted", _STALLED)
    talk.pump()
    assert [message.text for message in talk.said(Notice)] == ["nothing was heard"]


def test_a_start_that_the_server_takes_for_a_word_to_a_turn_given_up_has_failed() -> None:
    talk = in_turn()
    talk.conversation.end_turn("t1", "failed", _STALLED)
    ticket = talk.ask(intents.StartTurn(session_id="t1", text="again"))
    talk.reply(turn={"id": "u1"})
    assert talk.refusal(ticket) == Refusal(
        kind="turn_failed", message="the server is still at turn u1, which was given up"
    )


def test_late_words_of_an_earlier_turn_stay_with_it() -> None:
    talk = in_turn()
    talk.hear(note("item/started", **_sleep("u1")), turn_completed(status="interrupted"))
    talk.hear(turn_started("u2"))
    talk.hear(item_completed("u1", **_sleep("u1")["item"] | {"status": "completed", "exitCode": 0}))
    talk.hear(turn_completed("u2"))
    assert [(m.turn_id, m.status) for m in talk.said(ToolResult)] == [
        ("u1", "abandoned"),
        ("u1", "completed"),
    ]
    assert [m.turn_id for m in talk.said(TurnEnded)] == ["u1", "u2"]


def test_other_sessions_of_the_connection_keep_their_names() -> None:
    talk = in_turn()
    child = {"id": "t2", "parentThreadId": "t1"}
    talk.hear(
        note("thread/started", thread=child),
        note("turn/started", threadId="t2", turn={"id": "v1"}),
        note("turn/completed", threadId="t2", turn={"id": "v1", "status": "completed"}),
    )
    assert talk.said(SessionStarted)[-1].parent_session_id == "t1"
    assert [message.session_id for message in talk.said(TurnEnded)] == ["t2"]


# What the server asks.


@pytest.mark.parametrize("decision", ["allow", "allow_for_session", "deny", "cancel"])
def test_a_decision_is_one_answer_and_one_message(decision: str) -> None:
    talk = in_turn()
    talk.hear(command_request())
    ticket = talk.ask(decide(decision))
    assert talk.answer(ticket) == Answer(ticket)
    talk.hear(note("serverRequest/resolved", threadId="t1", requestId=0), turn_completed())
    assert [message.decision for message in talk.said(ApprovalSettled)] == [decision]
    assert len([line for line in talk.sent if "result" in line]) == 1
    assert "nothing is open under 'c1'" in talk.refusal(talk.ask(decide(decision))).message


def test_a_word_that_is_no_decision_leaves_the_question_open() -> None:
    talk = in_turn()
    talk.hear(command_request())
    assert "'perhaps' is no answer" in talk.refusal(talk.ask(decide("perhaps"))).message
    assert talk.answer(talk.ask(decide("allow"))).refusal is None


@pytest.mark.parametrize("end", ["serverRequest/resolved", "turn/completed"])
def test_what_needs_no_answer_any_more_takes_none(end: str) -> None:
    talk = in_turn()
    talk.hear(command_request())
    resolved = note("serverRequest/resolved", threadId="t1", requestId=0)
    talk.hear(resolved if end == "serverRequest/resolved" else turn_completed())
    assert talk.refusal(talk.ask(decide("allow"))).kind == "response_error"
    assert [message.decision for message in talk.said(ApprovalSettled)] == ["resolved"]


def test_what_others_were_asked_stays_open() -> None:
    talk = in_turn()
    talk.hear(
        command_request(0, threadId="t2", turnId="v1"),
        command_request(1, itemId="c3", turnId="u0"),
        command_request(2),
        note("serverRequest/resolved", threadId="t1", requestId=None),
        turn_completed(),
    )
    assert talk.refusal(talk.ask(decide("allow"))).kind == "response_error"
    assert talk.answer(talk.ask(decide("allow", "c3"))).refusal is None
    other = intents.Decide(session_id="t2", approval_id="c1", decision="allow")
    assert talk.answer(talk.ask(other)).refusal is None


def test_an_item_may_be_asked_about_twice() -> None:
    talk = in_turn()
    talk.hear(command_request())
    talk.ask(decide("allow"))
    talk.hear(command_request(1))
    assert [message.approval_id for message in talk.said(ApprovalRequested)] == ["c1", "c1-2"]
    talk.ask(decide("deny", "c1-2"))
    assert [message.decision for message in talk.said(ApprovalSettled)] == ["allow", "deny"]


def _event(name: str, **msg: Any) -> dict[str, Any]:
    return note(f"codex/event/{name}", conversationId="t1", id="u1", msg={"type": name} | msg)


def test_who_decides_before_the_request_has_come_is_kept_waiting() -> None:
    talk = in_turn((0, 104, 0))
    talk.hear(_event("exec_approval_request", call_id="c1", command=["ls"], cwd="/w"))
    assert len(talk.said(ApprovalRequested)) == 1
    assert "no answer" in talk.refusal(talk.ask(decide("perhaps"))).message
    ticket = talk.ask(decide("allow"))
    assert talk.answer(ticket) == Answer(ticket)
    assert talk.refusal(talk.ask(decide("deny"))).kind == "response_error"
    sent = len(talk.sent)
    talk.hear(command_request())
    assert talk.sent[sent:] == [{"id": 0, "result": {"decision": "accept"}}]
    assert [message.decision for message in talk.said(ApprovalSettled)] == ["allow"]


def test_a_decision_that_waits_for_its_request_is_dropped_with_the_turn() -> None:
    talk = in_turn((0, 104, 0))
    talk.hear(_event("exec_approval_request", call_id="c1", command=["ls"], cwd="/w"))
    talk.ask(decide("allow"))
    talk.hear(turn_completed(), command_request(turnId="u2"))
    assert not [line for line in talk.sent if "result" in line]


def test_a_tool_of_ours_is_called_and_answered_once() -> None:
    talk = in_turn()
    params: dict[str, Any] = {"threadId": "t1", "turnId": "u1", "callId": "k1", "tool": "look"}
    talk.hear({"method": "item/tool/call", "id": 0, "params": params | {"arguments": {}}})
    (request,) = talk.conversation.tool_requests()
    assert (request.session_id, request.call_id, request.tool) == ("t1", "k1", "look")
    assert talk.refusal(talk.ask(decide("allow", "k1"))).kind == "response_error"
    answer = intents.AnswerTool(session_id="t1", call_id="k1", output="open", success=False)
    assert talk.answer(talk.ask(answer)).refusal is None
    assert talk.refusal(talk.ask(answer)).kind == "response_error"
    assert [(m.call_id, m.is_error) for m in talk.said(ToolResult)] == [("k1", True)]


def test_what_nobody_can_answer_is_refused_at_once_and_kept() -> None:
    talk = in_turn()
    talk.hear(
        {"method": "attestation/generate", "id": 0, "params": {}},
        {"method": "account/chatgptAuthTokens/refresh", "id": 1, "params": {}},
        {"method": "currentTime/read", "id": 2, "params": {"threadId": "t1"}},
        {"method": "new/thing", "id": 3, "params": {}},
        {"method": "item/fileChange/requestApproval", "id": 4, "params": {"itemId": 7}},
    )
    refused = {line["id"]: line["error"]["code"] for line in talk.sent if "error" in line}
    assert refused == {0: -32000, 1: -32000, 2: -32000, 3: -32601, 4: -32602}
    assert talk.said(Unknown)[0].native_type == "new/thing"
    # Their id 3 was also one of ours: refusing it settled nothing of ours.
    ticket = talk.ask(intents.ListModels())
    talk.reply(data=[{"id": "m"}])
    assert talk.answer(ticket).value == [Model(id="m", label="m", native={"id": "m"})]


def test_the_time_is_told_if_somebody_knows_it() -> None:
    talk = in_turn(now=lambda: int(datetime(2026, 1, 1, tzinfo=UTC).timestamp()))
    talk.hear({"method": "currentTime/read", "id": 2, "params": {"threadId": "t1"}})
    assert talk.sent[-1] == {"id": 2, "result": {"currentTimeAt": 1767225600}}


# The end, and odd lines.


def test_the_end_refuses_what_is_open_and_fails_the_turn() -> None:
    talk = in_turn()
    talk.hear(command_request())
    ticket = talk.ask(intents.ListModels())
    talk.conversation.receive_eof()
    talk.pump()
    assert talk.refusal(ticket).kind == "port_exit"
    (ended,) = talk.said(TurnEnded)
    assert ended.outcome == "failed"
    assert ended.error is not None
    assert (ended.error.kind, ended.error.retryable) == ("port_exit", True)
    assert [message.decision for message in talk.said(ApprovalSettled)] == ["resolved"]
    for late in (intents.ListModels(), decide("allow")):
        assert talk.refusal(talk.ask(late)).kind == "port_exit"


def test_a_turn_that_was_ended_before_the_end_is_not_ended_again() -> None:
    talk = in_turn()
    talk.conversation.end_turn("t1", "interrupted")
    talk.conversation.receive_eof()
    talk.pump()
    assert [message.outcome for message in talk.said(TurnEnded)] == ["interrupted"]


def test_an_answer_that_is_too_long_to_keep_is_a_refusal() -> None:
    talk = Talk()
    ticket = talk.ask(intents.ReadSession(session_id="t1"))
    head = b'{"id":1,"result":{"thread":'
    talk.conversation.receive_long_line(LongLine(head=head, tail=b"}}", length=10**9))
    talk.conversation.receive_long_line(LongLine(head=b'{"method":', tail=b"}}", length=10**9))
    talk.pump()
    assert talk.refusal(ticket).message == "thread/read: too long to read"


def test_answers_are_given_to_who_asked_and_not_told() -> None:
    talk = Talk()
    talk.ask(intents.ListModels())
    talk.reply(data=[])
    assert talk.messages == []


def test_a_prompt_comes_with_its_turn() -> None:
    talk = in_turn()
    item = {"type": "userMessage", "id": "i1", "content": [{"type": "text", "text": "go"}]}
    talk.hear(item_completed("u1", **item))
    assert [(m.text, m.turn_id) for m in talk.said(Prompt)] == [("go", "u1")]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
_METHODS = st.sampled_from(
    [
        "turn/completed",
        "turn/started",
        "serverRequest/resolved",
        "account/login/completed",
        "item/tool/call",
        "item/commandExecution/requestApproval",
        "mcpServer/elicitation/request",
        "currentTime/read",
        "codex/event/task_started",
        "x",
    ]
)
_PARAMS = st.fixed_dictionaries(
    {},
    optional={
        "threadId": _JSON | st.just("t1"),
        "turnId": _JSON | st.just("u1"),
        "turn": _JSON | st.just({"id": "u1"}),
        "itemId": _JSON,
        "requestId": _JSON,
    },
)
_LINES = st.fixed_dictionaries(
    {},
    optional={
        "id": st.integers(0, 4) | _JSON,
        "method": _METHODS | _JSON,
        "params": _PARAMS | _JSON,
        "result": _JSON | st.just(opened()),
        "error": _JSON,
    },
)


@given(st.lists(_LINES.map(lambda line: json.dumps(line).encode()) | st.binary(max_size=20)))
def test_nothing_they_say_raises(lines: list[bytes]) -> None:
    talk = Talk()
    talk.ask(intents.Greet(client="d", client_version="1", api_key="k"))
    talk.ask(open_session(resume="t0", or_new=True))
    talk.ask(intents.StartTurn(session_id="t1", text="go"))
    tickets = 3
    for line in lines:
        talk.conversation.receive_line(line)
        talk.pump()
        for asked in talk.said(ApprovalRequested):
            talk.ask(decide("allow", asked.approval_id))
            tickets += 1
    talk.conversation.end_turn("t1", "failed", _STALLED)
    talk.conversation.receive_eof()
    talk.pump()
    assert sorted(answer.ticket for answer in talk.answers) == list(range(1, tickets + 1))
