"""The shapes of core events in which the harness asks a question or gives a notice."""

from __future__ import annotations

from typing import Any

import msgspec

from dragoman.harnesses.codex.events.shape import Event

# Questions.


class ExecApproval(Event, tag="exec_approval_request"):
    call_id: str | None = None
    approval_id: str | None = None
    command: Any = None
    cwd: str | None = None
    reason: str | None = None
    available_decisions: Any = None
    proposed_execpolicy_amendment: Any = None
    network_approval_context: Any = None


class PatchApproval(Event, tag="apply_patch_approval_request"):
    call_id: str | None = None
    changes: Any = None
    file_changes: Any = None  # how documents spell it
    reason: str | None = None


class RequestUserInput(Event, tag="request_user_input"):
    call_id: str
    questions: Any = None


class RequestPermissions(Event, tag="request_permissions"):
    call_id: str
    reason: str | None = None
    permissions: Any = None


class ElicitationRequest(Event, tag="elicitation_request"):
    id: Any = None
    server_name: str = ""
    message: str | None = None
    request: Any = None


# Words from the harness.


class StreamError(Event, tag="stream_error"):
    message: str = ""


class BackgroundEvent(Event, tag="background_event"):
    message: str = ""


class Warning(Event, tag="warning"):
    message: str = ""


class GuardianWarning(Warning, tag="guardian_warning"):
    pass


class DeprecationNotice(Event, tag="deprecation_notice"):
    summary: str = ""
    details: str | None = None


class ContextCompacted(Event, tag="context_compacted"):
    pass


class ThreadRolledBack(Event, tag="thread_rolled_back"):
    num_turns: int = 0


class ThreadNameUpdated(Event, tag="thread_name_updated"):
    thread_name: str | None = None


class ThreadGoalUpdated(Event, tag="thread_goal_updated"):
    goal: Any = None


class ThreadSettings(msgspec.Struct, frozen=True, gc=False):
    model: str | None = None
    cwd: str | None = None


class ThreadSettingsApplied(Event, tag="thread_settings_applied"):
    thread_settings: ThreadSettings = ThreadSettings()


class EnteredReviewMode(Event, tag="entered_review_mode"):
    user_facing_hint: str | None = None


class ExitedReviewMode(Event, tag="exited_review_mode"):
    review_output: Any = None


class McpStartupUpdate(Event, tag="mcp_startup_update"):
    server: str = ""
    status: Any = None


class McpStartupComplete(Event, tag="mcp_startup_complete"):
    ready: list[str] = []
    failed: list[Any] = []
    cancelled: list[str] = []


class SkillsUpdateAvailable(Event, tag="skills_update_available"):
    pass


class ModelReroute(Event, tag="model_reroute"):
    from_model: str = ""
    to_model: str = ""
    reason: Any = None


class UndoStarted(Event, tag="undo_started"):
    message: str | None = None


class UndoCompleted(Event, tag="undo_completed"):
    message: str | None = None
    success: bool = True
