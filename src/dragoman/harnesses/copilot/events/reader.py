"""Reading events, whichever way they arrive: each becomes messages of its session, or a duplicate.

| event | becomes |
|---|---|
| session.start, session.resume | session_started |
| user.message | a turn, prompt |
| system.message, system.notification | context |
| assistant.message | thinking, text, tool_call |
| assistant.idle, session.idle | turn_ended; a file has neither, and a turn ends where the next thing begins |
| tool.execution_complete | tool_result, plan |
| permission.*, user_input.*, elicitation.*, exit_plan_mode.* | approval_requested, approval_settled |
| session.usage_record, assistant.usage | usage, one for each response |
| session.error, abort | how the turn ends |
| subagent.* | session_started, turn_ended of a session of its own |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.copilot.events import agents, approvals, content, sessions, states, work
from dragoman.harnesses.copilot.events.shapes import Event
from dragoman.harnesses.copilot.session import CopilotSession


class EventReader:
    """One session with its sub-agents."""

    def __init__(self, out: Output, session_id: str | None = None) -> None:
        self._out = out
        self.main = CopilotSession(out, session_id)
        self.agents: dict[str, CopilotSession] = {}
        """The sub-agents, by their own ids and by the calls that started them."""

    def report(self, event: Event) -> bool:
        """Report an event; False if its type is not known."""
        if (at := event.at) is not None:
            self._out.at = at
        report = _REPORT.get(event.type)
        if report is not None:
            report(self, event)
            return True
        if states.is_state(event.type):
            self.session_of(event).assembler.duplicate(f"state: {event.type}")
            return True
        return False

    def session_of(self, event: Event) -> CopilotSession:
        """The session that an event is about."""
        agent = event.agent
        return self.main if agent is None else self.agent(agent)

    def agent(self, name: str) -> CopilotSession:
        """The sub-agent of this id or call, which may be new."""
        found = self.agents.get(name)
        if found is None:
            found = self.agents[name] = CopilotSession(self._out, name)
        return found

    def all(self) -> list[CopilotSession]:
        """Every session once, the sub-agents first: they end before the one that started them."""
        unique = {id(each): each for each in self.agents.values()}
        return [*unique.values(), self.main]


_Report: TypeAlias = Callable[[EventReader, Event], None]
_REPORT: Final[dict[str, _Report]] = {
    "user.message": content.user_message,
    "system.message": content.system_message,
    "system.notification": content.system_notification,
    "skill.invoked": content.skill_invoked,
    "skill.context_delivered": content.skill_context,
    "assistant.turn_start": content.turn_start,
    "assistant.message": content.assistant_message,
    "assistant.message_delta": content.message_delta,
    "assistant.reasoning": content.reasoning,
    "assistant.reasoning_delta": content.reasoning_delta,
    "assistant.usage": content.usage,
    "session.usage_record": content.usage_record,
    "assistant.idle": content.idle,
    "session.idle": content.idle,
    "abort": content.abort,
    "session.error": content.session_error,
    "session.task_complete": content.task_complete,
    "tool.execution_start": work.execution_start,
    "tool.user_requested": work.execution_start,
    "tool.execution_complete": work.execution_complete,
    "tool.shell_output": work.shell_output,
    "tool.execution_partial_result": work.partial_result,
    "tool.execution_progress": work.progress,
    "permission.requested": approvals.permission_requested,
    "permission.completed": approvals.permission_completed,
    "user_input.requested": approvals.user_input_requested,
    "user_input.completed": approvals.user_input_completed,
    "elicitation.requested": approvals.elicitation_requested,
    "elicitation.completed": approvals.elicitation_completed,
    "exit_plan_mode.requested": approvals.exit_plan_requested,
    "exit_plan_mode.completed": approvals.exit_plan_completed,
    "subagent.started": agents.started,
    "subagent.configured": agents.configured,
    "subagent.completed": agents.completed,
    "subagent.failed": agents.failed,
    "session.start": sessions.start,
    "session.resume": sessions.resume,
    "session.shutdown": sessions.shutdown,
    "session.model_change": sessions.model_change,
    "session.mode_changed": sessions.mode_changed,
    "session.permissions_changed": sessions.permissions_changed,
    "session.title_changed": sessions.title_changed,
    "session.info": sessions.info,
    "session.warning": sessions.warning,
    "session.truncation": sessions.truncation,
    "session.compaction_start": sessions.compaction_start,
    "session.compaction_complete": sessions.compaction_complete,
    "session.snapshot_rewind": sessions.rewind,
    "session.handoff": sessions.handoff,
    "session.context_changed": sessions.context_changed,
    "assistant.turn_retry": sessions.turn_retry,
    "model.call_failure": sessions.call_failure,
    "hook.end": sessions.hook_end,
}
