"""Reports notifications that are not part of the conversation: warnings, hooks, names, goals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from dragoman.harnesses.codex.app_server.sessions import ConnectionSessions
from dragoman.harnesses.codex.app_server.shapes import Params, ThreadInfo
from dragoman.harnesses.codex.events.notices import goal_text, tell_mcp_startup
from dragoman.harnesses.codex.values.loose import as_dict, as_list, as_str

CHANNEL: Final = "item"


def _warning(sessions: ConnectionSessions, params: Params) -> None:
    session = sessions.thread_of(params).session if params.thread_id else sessions.connection
    text = params.message or "\n".join(filter(None, (params.summary, params.details)))
    session.notice(CHANNEL, "warning", text)


def _mcp_startup(sessions: ConnectionSessions, params: Params) -> None:
    session = sessions.thread_of(params).session if params.thread_id else sessions.connection
    tell_mcp_startup(session, params.name or "", str(params.status), as_str(params.error))


def _remote_control(sessions: ConnectionSessions, params: Params) -> None:
    sessions.connection.notice(CHANNEL, "info", f"remote control: {params.status}")


def _signed_in(sessions: ConnectionSessions, params: Params) -> None:
    problem = as_str(params.error)
    if problem is None:
        sessions.connection.notice(CHANNEL, "info", "signed in")
    else:
        sessions.connection.notice(CHANNEL, "error", f"could not sign in: {problem}")


def _hook(sessions: ConnectionSessions, params: Params) -> None:
    run = as_dict(params.run)
    entries = [as_str(as_dict(entry).get("text")) for entry in as_list(run.get("entries"))]
    words = [f"hook {run.get('eventName')}: {run.get('status')}", *filter(None, entries)]
    session = sessions.thread_of(params).session
    session.notice(
        "hook", "warning" if run.get("status") == "blocked" else "info", "\n".join(words)
    )


def _reviewed(sessions: ConnectionSessions, params: Params) -> None:
    review = as_dict(params.review)
    risk = as_str(review.get("riskLevel"))
    words = f"automatic review: {review.get('status')}" + (f", risk {risk}" if risk else "")
    _note(sessions, params, words)


def _rerouted(sessions: ConnectionSessions, params: Params) -> None:
    text = f"rerouted from {params.from_model} to {params.to_model}"
    sessions.thread_of(params).session.notice(CHANNEL, "warning", text)


def _status(sessions: ConnectionSessions, params: Params) -> None:
    thread = sessions.thread_of(params)
    if as_dict(params.status).get("type") == "systemError":
        thread.session.notice(CHANNEL, "error", "the session is in an error state")
    else:
        thread.session.duplicate("status: turns and approvals carry it")


def _renamed(sessions: ConnectionSessions, params: Params) -> None:
    _note(sessions, params, f"renamed: {params.thread_name or ''}")


def _moved(sessions: ConnectionSessions, params: Params) -> None:
    where = (
        f"moved to section {params.section_id}" if params.section_id else "moved out of its section"
    )
    _note(sessions, params, where)


def _goal(sessions: ConnectionSessions, params: Params) -> None:
    _note(sessions, params, goal_text(params.goal))


def _settings(sessions: ConnectionSessions, params: Params) -> None:
    given = as_dict(params.thread_settings)
    model, cwd = as_str(given.get("model")), as_str(given.get("cwd"))
    sessions.begin(ThreadInfo(id=params.thread_id, model=model, cwd=cwd))


def _compacted(sessions: ConnectionSessions, params: Params) -> None:
    sessions.introduce(sessions.thread_of(params)).compacted("thread")


def _closed(sessions: ConnectionSessions, params: Params) -> None:
    sessions.thread_of(params).session.end_session("closed")


def _note(sessions: ConnectionSessions, params: Params, text: str) -> None:
    sessions.thread_of(params).session.notice(CHANNEL, "info", text)


def _duplicate(rule: str) -> Tell:
    return lambda sessions, params: sessions.out.duplicate(rule)


def _reverted(sessions: ConnectionSessions, params: Params) -> None:
    # The notification does not include how far. The client's request does, if the stream has it.
    thread = sessions.thread_of(params)
    first, thread.reverts_to = thread.reverts_to, None
    undone = thread.session.turns.undo_from(first) if first is not None else 0
    thread.session.notice(CHANNEL, "info", "reverted to an earlier turn", undone_turns=undone)


def _says(text: str) -> Tell:
    return lambda sessions, params: _note(sessions, params, text)


Tell: TypeAlias = Callable[[ConnectionSessions, Params], None]
NOTICES: Final[dict[str, Tell]] = {
    "warning": _warning,
    "guardianWarning": _warning,
    "configWarning": _warning,
    "deprecationNotice": _warning,
    "mcpServer/startupStatus/updated": _mcp_startup,
    "remoteControl/status/changed": _remote_control,
    "account/login/completed": _signed_in,
    "account/updated": _duplicate("account: about the user, not the session"),
    "hook/started": _duplicate("hook: its end carries it"),
    "hook/completed": _hook,
    "item/autoApprovalReview/started": _duplicate("review: its end carries it"),
    "item/autoApprovalReview/completed": _reviewed,
    "model/rerouted": _rerouted,
    "thread/queue/changed": _duplicate("queue: the turn it starts carries it"),
    "thread/status/changed": _status,
    "thread/readState/changed": _duplicate("read state: about the reader, not the session"),
    "thread/name/updated": _renamed,
    "thread/section/changed": _moved,
    "thread/goal/updated": _goal,
    "thread/goal/cleared": _says("goal cleared"),
    "thread/settings/updated": _settings,
    "thread/compacted": _compacted,
    "thread/reverted": _reverted,
    "thread/archived": _says("archived"),
    "thread/unarchived": _says("unarchived"),
    "thread/deleted": _says("deleted"),
    "thread/closed": _closed,
}
ASIDE: Final = frozenset(
    (
        "account/gatewayOAuth/changed", "app/list/updated", "autoApprovalReview/strictReviewRequired",
        "command/exec/outputDelta", "externalAgentConfig/import/completed",
        "externalAgentConfig/import/progress", "fs/changed", "fuzzyFileSearch/sessionCompleted",
        "fuzzyFileSearch/sessionUpdated", "mcpServer/event/stream/notification",
        "mcpServer/oauthLogin/completed", "model/safetyBuffering/updated", "model/verification",
        "modelProvider/authRecoveryCompleted", "modelProvider/authRecoveryStarted", "process/exited",
        "process/outputDelta", "project/changed", "skills/changed", "thread/attachment/updated",
        "thread/environment/connected", "thread/environment/disconnected", "thread/prediction/updated",
        "thread/project/updated", "thread/realtime/closed", "thread/realtime/error",
        "thread/realtime/item/completed", "thread/realtime/item/started",
        "thread/realtime/item/transcript/delta", "thread/realtime/itemAdded",
        "thread/realtime/outputAudio/delta", "thread/realtime/sdp", "thread/realtime/started",
        "thread/realtime/transcript/delta", "thread/realtime/transcript/done", "authStatusChange",
        "loginChatGptComplete", "turn/moderationMetadata", "windows/worldWritableWarning",
        "windowsSandbox/setupCompleted",
    )
)  # fmt: skip
"""Notifications for the program around the agent: emitted in their own words, as a notice."""
