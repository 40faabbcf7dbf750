"""What a conversation with Claude makes of reports that never come: no request and no prompt stays open."""

from __future__ import annotations

import pytest

from dragoman.model import intents
from dragoman.model.messages import ApprovalRequested, ApprovalSettled
from harnesses.claude.driving.scripted import SESSION, Scripted


@pytest.fixture
def claude() -> Scripted:
    return Scripted()


def _start() -> intents.StartTurn:
    return intents.StartTurn(session_id=SESSION, text="hi")


def test_a_lost_process_withdraws_what_it_asked(claude: Scripted) -> None:
    claude.open()
    claude.begin()
    claude.call(command="ls")
    claude.ask("r1", tool_use_id="c1", input={"command": "ls"})
    (asked,) = claude.of(ApprovalRequested)
    claude.leave()
    (settled,) = claude.of(ApprovalSettled)
    assert (settled.approval_id, settled.decision) == (asked.approval_id, "withdrawn")
    assert settled.turn_id == asked.turn_id


def test_a_prompt_is_answered_although_claude_switches_to_another_session(
    claude: Scripted,
) -> None:
    claude.open()
    ticket = claude.submit(_start())
    uuid = claude.sent[-1]["uuid"]
    claude.report(uuid, "queued")
    claude.say(type="system", subtype="init", session_id="another", permissionMode="default")
    assert claude.value(ticket) == uuid


def test_a_prompt_that_only_a_result_names_is_answered(claude: Scripted) -> None:
    claude.open()
    turn_id = claude.begin()
    late = claude.submit(_start())
    uuid = claude.sent[-1]["uuid"]
    claude.report(turn_id, "completed")
    claude.result(uuid)
    assert claude.value(late) == turn_id
