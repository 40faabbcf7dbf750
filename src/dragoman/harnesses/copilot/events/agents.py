"""Sub-agents: sessions of their own, started by a call of another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dragoman.harnesses.copilot.session import CopilotSession
from dragoman.model.messages import TurnError
from dragoman.wire.loose import as_str

if TYPE_CHECKING:
    from dragoman.harnesses.copilot.events.reader import EventReader
    from dragoman.harnesses.copilot.events.shapes import Event


def started(reader: EventReader, event: Event) -> None:
    agent, call_id = _agent(reader, event), as_str(event.data.get("toolCallId"))
    if call_id is not None:
        reader.agents[call_id] = agent
    facts = reader.main.assembler.facts
    parent = as_str(event.data.get("parentId"))
    agent.assembler.begin_session(
        version=facts.version if facts else None,
        model=as_str(event.data.get("model")),
        cwd=facts.cwd if facts else None,
        parent_session_id=parent if parent in reader.agents else reader.main.session_id,
        parent_call_id=call_id,
    )


def configured(reader: EventReader, event: Event) -> None:
    agent = _agent(reader, event)
    if (model := as_str(event.data.get("model"))) is not None:
        agent.assembler.begin_session(model=model)
    else:
        agent.assembler.duplicate("state: subagent.configured")


def completed(reader: EventReader, event: Event) -> None:
    agent = _agent(reader, event)
    agent.end_turn("interrupted" if event.data.get("cancelled") is True else "completed")


def failed(reader: EventReader, event: Event) -> None:
    agent = _agent(reader, event)
    message = as_str(event.data.get("error")) or "the sub-agent failed"
    error = TurnError("turn_failed", message, retryable=False)
    if agent.assembler.in_turn:
        agent.end_turn("failed", error)
    else:
        agent.assembler.fail_turn(error)


def _agent(reader: EventReader, event: Event) -> CopilotSession:
    call_id = as_str(event.data.get("toolCallId"))
    found = reader.agents.get(call_id) if call_id is not None and event.agentId is None else None
    return found or reader.agent(event.agentId or call_id or event.id or "sub-agent")
