"""Reports core events in which the harness asks a question or gives a notice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.codex.events import notice_shapes as shapes
from dragoman.harnesses.codex.events.conversation import CHANNEL
from dragoman.harnesses.codex.events.shape import Event
from dragoman.harnesses.codex.events.tool_shapes import ExecCommandBegin, PatchApplyBegin
from dragoman.harnesses.codex.events.tools import exec_begin, patch_begin
from dragoman.harnesses.codex.questions import (
    always_allow,
    ask_command,
    ask_edit,
    ask_elicitation,
    ask_permissions,
    ask_question,
    choices_of,
    rule_to_remember,
)
from dragoman.harnesses.codex.tools.patches import changes_of
from dragoman.harnesses.codex.tools.reviews import review_text
from dragoman.harnesses.codex.values.loose import as_dict, as_list, as_str

if TYPE_CHECKING:
    from dragoman.harnesses.codex.events.dispatch import Events, Tell


def exec_approval(events: Events, event: shapes.ExecApproval) -> None:
    if event.call_id:
        exec_begin(events, ExecCommandBegin(call_id=event.call_id, command=event.command))
    rule = rule_to_remember(
        {
            "availableDecisions": event.available_decisions,
            "proposedExecpolicyAmendment": event.proposed_execpolicy_amendment,
        }
    )
    ask_command(
        events.session,
        event.approval_id or event.call_id or events.turn_id or "approval",
        command=event.command,
        cwd=event.cwd,
        reason=event.reason,
        choices=choices_of(event.available_decisions, rule=rule),
        always=always_allow(rule, None),
        network=as_dict(event.network_approval_context),
    )


def patch_approval(events: Events, event: shapes.PatchApproval) -> None:
    changes = event.changes if event.changes is not None else event.file_changes
    if event.call_id:
        patch_begin(events, PatchApplyBegin(call_id=event.call_id, changes=changes))
    ask_edit(
        events.session,
        event.call_id or events.turn_id or "approval",
        changes=changes_of(changes),
        reason=event.reason,
    )


def request_user_input(events: Events, event: shapes.RequestUserInput) -> None:
    ask_question(events.session, event.call_id, as_list(event.questions))


def request_permissions(events: Events, event: shapes.RequestPermissions) -> None:
    ask_permissions(events.session, event.call_id, event.permissions, event.reason)


def elicitation(events: Events, event: shapes.ElicitationRequest) -> None:
    request = as_dict(event.request)
    message = event.message or as_str(request.get("message")) or ""
    form = as_dict(request.get("requested_schema") or request.get("requestedSchema")) or None
    url = as_str(request.get("url"))
    ask_elicitation(events.session, str(event.id), event.server_name, message, form=form, url=url)


def stream_error(events: Events, event: shapes.StreamError) -> None:
    events.session.notice(CHANNEL, "warning", event.message, will_retry=True)


def background_event(events: Events, event: shapes.BackgroundEvent) -> None:
    retrying = "retrying" in event.message
    level = "warning" if retrying else "info"
    events.session.notice(CHANNEL, level, event.message, will_retry=retrying)


def warning(events: Events, event: shapes.Warning) -> None:
    events.session.notice(CHANNEL, "warning", event.message)


def deprecation(events: Events, event: shapes.DeprecationNotice) -> None:
    text = "\n".join(filter(None, (event.summary, event.details)))
    events.session.notice(CHANNEL, "warning", text)


def context_compacted(events: Events, event: shapes.ContextCompacted) -> None:
    events.session.compacted(CHANNEL)


def rolled_back(events: Events, event: shapes.ThreadRolledBack) -> None:
    tell_rollback(events.session, CHANNEL, event.num_turns)


def renamed(events: Events, event: shapes.ThreadNameUpdated) -> None:
    events.session.notice(CHANNEL, "info", f"renamed: {event.thread_name or ''}")


def goal(events: Events, event: shapes.ThreadGoalUpdated) -> None:
    events.session.notice(CHANNEL, "info", goal_text(event.goal))


def settings(events: Events, event: shapes.ThreadSettingsApplied) -> None:
    changed = event.thread_settings
    events.session.begin_session(model=changed.model, cwd=changed.cwd)


def entered_review(events: Events, event: shapes.EnteredReviewMode) -> None:
    if not events.session.says_ends:
        events.responses.end_turn()
    events.session.begin_review(event.user_facing_hint or "")


def exited_review(events: Events, event: shapes.ExitedReviewMode) -> None:
    text = review_text(event.review_output)
    events.responses.tell_announced()
    events.session.end_review()
    if text:
        events.session.text("review", text)
    else:
        events.session.notice(CHANNEL, "info", "review ended")


def mcp_startup_update(events: Events, event: shapes.McpStartupUpdate) -> None:
    status = as_dict(event.status)
    tell_mcp_startup(
        events.session, event.server, str(status.get("state", "")), as_str(status.get("error"))
    )


def mcp_startup_complete(events: Events, event: shapes.McpStartupComplete) -> None:
    failed = [as_dict(failure) for failure in event.failed]
    if not failed:
        events.session.duplicate("mcp: nothing to report")
    for failure in failed:
        tell_mcp_startup(
            events.session, str(failure.get("server")), "failed", as_str(failure.get("error"))
        )


def skills(events: Events, event: shapes.SkillsUpdateAvailable) -> None:
    events.session.notice(CHANNEL, "info", "skills changed")


def rerouted(events: Events, event: shapes.ModelReroute) -> None:
    text = f"rerouted from {event.from_model} to {event.to_model}"
    events.session.notice(CHANNEL, "warning", text)


def undo(events: Events, event: shapes.UndoStarted | shapes.UndoCompleted) -> None:
    failed = isinstance(event, shapes.UndoCompleted) and not event.success
    events.session.notice(CHANNEL, "error" if failed else "info", event.message or "undo")


def tell_rollback(session: SessionAssembler, channel: str, turns: int) -> None:
    session.notice(channel, "info", turns_rolled_back(turns), undone_turns=max(0, turns))


def turns_rolled_back(turns: int) -> str:
    return (
        f"the last {turns} turns were rolled back"
        if turns != 1
        else "the last turn was rolled back"
    )


def goal_text(goal: Any) -> str:
    given = as_dict(goal)
    return f"goal ({given.get('status', 'active')}): {given.get('objective', '')}"


def tell_mcp_startup(session: SessionAssembler, server: str, state: str, error: str | None) -> None:
    if state == "failed" or error:
        session.notice("mcp", "warning", f"MCP server {server} did not start: {error or state}")
    else:
        session.notice("mcp", "info", f"MCP server {server}: {state}")


TELL: Final[dict[type[Event], Tell]] = {
    shapes.ExecApproval: exec_approval,
    shapes.PatchApproval: patch_approval,
    shapes.RequestUserInput: request_user_input,
    shapes.RequestPermissions: request_permissions,
    shapes.ElicitationRequest: elicitation,
    shapes.StreamError: stream_error,
    shapes.BackgroundEvent: background_event,
    shapes.Warning: warning,
    shapes.GuardianWarning: warning,
    shapes.DeprecationNotice: deprecation,
    shapes.ContextCompacted: context_compacted,
    shapes.ThreadRolledBack: rolled_back,
    shapes.ThreadNameUpdated: renamed,
    shapes.ThreadGoalUpdated: goal,
    shapes.ThreadSettingsApplied: settings,
    shapes.EnteredReviewMode: entered_review,
    shapes.ExitedReviewMode: exited_review,
    shapes.McpStartupUpdate: mcp_startup_update,
    shapes.McpStartupComplete: mcp_startup_complete,
    shapes.SkillsUpdateAvailable: skills,
    shapes.ModelReroute: rerouted,
    shapes.UndoStarted: undo,
    shapes.UndoCompleted: undo,
}
