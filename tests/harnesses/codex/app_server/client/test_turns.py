"""Turns: started, steered, interrupted, ended by us."""

from __future__ import annotations

from typing import Any

from dragoman import (
    ApprovalSettled,
    Diff,
    Message,
    Notice,
    Plan,
    SessionStarted,
    Text,
    ToolResult,
    TurnEnded,
    TurnStarted,
)
from dragoman.harnesses.contract.conversation import Answer, Refusal
from dragoman.model import intents
from support.codex.app_server_talk import (
    STALLED,
    Talk,
    command_request,
    decide,
    in_turn,
    item_completed,
    note,
    open_session,
    opened,
    turn_completed,
    turn_started,
)

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
    talk.conversation.end_turn("t1", "failed", STALLED)
    talk.pump()
    (ended,) = talk.said(TurnEnded)
    assert (ended.outcome, ended.error, ended.turn_id) == ("failed", STALLED, "u1")
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
    talk.conversation.end_turn("t1", "interrupted", STALLED)
    talk.pump()
    assert [message.text for message in talk.said(Notice)] == ["nothing was heard"]


def test_a_start_that_the_server_takes_for_a_word_to_a_turn_given_up_has_failed() -> None:
    talk = in_turn()
    talk.conversation.end_turn("t1", "failed", STALLED)
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
