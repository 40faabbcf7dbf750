"""Telling core events.

| event | becomes |
|---|---|
| session_configured | session_started |
| task_started / task_complete, turn_aborted, error | turn_started / turn_ended |
| user_message | prompt |
| agent_message, agent_reasoning(_raw_content) | text, thinking |
| …_delta | delta |
| item_started, item_completed | see items |
| raw_response_item | see response_items |
| exec_command_*, patch_apply_*, mcp_tool_call_*, web_search_*, view_image_tool_call, dynamic_tool_call_*, image_generation_*, collab_*, sub_agent_activity | tool_call, tool_result |
| plan_update, turn_diff, token_count | plan, diff, usage and rate_limits |
| *_approval_request, request_*, elicitation_request | approval_requested |
| warning, stream_error, background_event, … | notice |
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import msgspec

from dragoman.harnesses.codex import event_shapes as shapes
from dragoman.harnesses.codex.durations import milliseconds
from dragoman.harnesses.codex.failures import turn_error
from dragoman.harnesses.codex.items import Item, kind_of, phase_of, tell_item, user_input
from dragoman.harnesses.codex.loose import as_dict, as_list, as_str, snake_case
from dragoman.harnesses.codex.outputs import content_text, mcp_result
from dragoman.harnesses.codex.patches import changes_of, edit_call
from dragoman.harnesses.codex.questions import (
    ask_command,
    ask_edit,
    ask_elicitation,
    ask_permissions,
    ask_question,
)
from dragoman.harnesses.codex.rate_limits import rate_windows
from dragoman.harnesses.codex.response_items import ResponseItems
from dragoman.harnesses.codex.reviews import review_text
from dragoman.harnesses.codex.tools import agent_call, plan_steps, shell_call, web_call
from dragoman.harnesses.telling.output import Output
from dragoman.harnesses.telling.teller import Teller
from dragoman.model.messages import ResultStatus
from dragoman.model.tools import READ, mcp_tool
from dragoman.model.usage import Usage

CHANNEL: Final = "event"
ITEM_CHANNEL: Final = "core item"


class Events:
    """The core events of one session."""

    def __init__(self, out: Output, teller: Teller, responses: ResponseItems) -> None:
        self._out = out
        self._teller = teller
        self._responses = responses
        self._limits = b"null"
        self.others_count = False
        """Whether tokens are told by other rows, so that a token count only repeats them."""
        self.announces = False
        """Whether response items follow that tell texts and thoughts in their true order."""
        self.starts_have_ends = True
        """Whether a turn whose start is told will have its end told, too."""
        self.turn_id: str | None = None
        """The turn an event belongs to, where its envelope says so."""

    def tell(self, event: shapes.AnyEvent) -> bool:
        """Tell an event; False if it holds an item whose type is new to us."""
        if self._responses.held_text is not None:
            self.settle_before(event)
        self._responses.others_speak = True
        return TELL[type(event)](self, event) is not False

    def settle_before(self, event: shapes.AnyEvent) -> None:
        """A response item is held: does this event say the same?"""
        if isinstance(event, shapes.UserMessage):
            self._responses.settle(prompt=event.message)
        elif isinstance(event, shapes.ItemStarted | shapes.ItemCompleted):
            kind = kind_of(event.item)
            if kind == "user_message":
                self._responses.settle(prompt=user_input(event.item.content)[0])
            elif kind == "hook_prompt":
                self._responses.settle(is_said=True)
            elif kind != "agent_message":
                self._responses.settle()
        elif not isinstance(event, shapes.AgentMessage | shapes.TokenCount):
            self._responses.settle()

    # Sessions and turns.

    def session_configured(self, event: shapes.SessionConfigured) -> None:
        self._teller.begin_session(
            model=event.model, cwd=event.cwd, parent_session_id=event.forked_from_id
        )

    def task_started(self, event: shapes.TaskStarted) -> None:
        teller = self._teller
        teller.says_ends = self.starts_have_ends
        if event.model_context_window is not None:
            teller.context_window = event.model_context_window
        if teller.in_turn:
            self._responses.end_turn()
        teller.begin_turn(event.turn_id or self.turn_id)

    def task_complete(self, event: shapes.TaskComplete) -> None:
        self._responses.end_turn()
        teller = self._teller
        if event.last_agent_message and teller.in_turn and not teller.turn_has_text:
            teller.text(CHANNEL, event.last_agent_message)
        error = as_dict(event.error)
        if error:
            message = as_str(error.get("message")) or ""
            info = error.get("codex_error_info", error.get("codexErrorInfo"))
            teller.end_turn("failed", turn_error(message, info))
        else:
            teller.end_turn("completed")

    def turn_aborted(self, event: shapes.TurnAborted) -> None:
        self._responses.end_turn()
        self._teller.end_turn("interrupted")

    def shutdown_complete(self, event: shapes.ShutdownComplete) -> None:
        self._teller.end_session("shutdown")

    def error(self, event: shapes.ErrorEvent) -> None:
        if (
            event.message.strip() == "Turn interrupted"
        ):  # how 0.8 to 0.20 say that a turn was aborted
            self._teller.end_turn("interrupted")
        else:
            self._teller.fail_turn(turn_error(event.message, event.codex_error_info))

    # What is said.

    def user_message(self, event: shapes.UserMessage) -> None:
        teller = self._teller
        if event.kind in ("user_instructions", "environment_context"):
            teller.context("user", event.message)  # 0.31 to 0.44 label what they inject
            return
        self._responses.tell_announced()
        if not teller.says_ends:
            self._responses.end_turn()
            teller.begin_turn()
        teller.prompt(CHANNEL, event.message, [*(event.images or []), *event.local_images])

    def agent_message(self, event: shapes.AgentMessage) -> None:
        if self.announces:
            phase = phase_of(event.phase)
            self._responses.announce(event.message, is_text=True, phase=phase)
            return
        self._teller.text(CHANNEL, event.message, phase=phase_of(event.phase))

    def agent_reasoning(self, event: shapes.AgentReasoning) -> None:
        text = event.text or event.content or ""
        if self.announces and text:
            self._responses.announce(text, is_text=False)
        else:
            self._teller.thinking(CHANNEL, [text])

    def agent_reasoning_raw(self, event: shapes.AgentReasoningRaw) -> None:
        self.agent_reasoning(shapes.AgentReasoning(text=event.text))

    def text_delta(self, event: shapes.AgentMessageDelta) -> None:
        self._teller.delta(CHANNEL, "text", event.delta)

    def text_item_delta(self, event: shapes.AgentMessageContentDelta) -> None:
        self._teller.delta(ITEM_CHANNEL, "text", event.delta, event.item_id)

    def thinking_delta(self, event: shapes.AgentReasoningDelta) -> None:
        self._teller.delta(CHANNEL, "thinking", event.delta)

    def thinking_item_delta(self, event: shapes.ReasoningDelta) -> None:
        self._teller.delta(ITEM_CHANNEL, "thinking", event.delta, event.item_id)

    def raw_delta(self, event: shapes.AgentReasoningRawDelta) -> None:
        self._teller.delta(CHANNEL, "thinking", event.delta, part="raw")

    def raw_item_delta(self, event: shapes.ReasoningRawDelta) -> None:
        self._teller.delta(ITEM_CHANNEL, "thinking", event.delta, event.item_id, part="raw")

    def reasoning_break(self, event: shapes.AgentReasoningBreak) -> None:
        self._teller.twin("thinking: the next part begins")

    def plan_delta(self, event: shapes.PlanDelta) -> None:
        self._teller.delta(ITEM_CHANNEL, "plan", event.delta, event.item_id)

    def item_started(self, event: shapes.ItemStarted) -> bool:
        return tell_item(self._teller, ITEM_CHANNEL, event.item, done=False)

    def item_completed(self, event: shapes.ItemCompleted) -> bool:
        item = event.item
        teller, responses = self._teller, self._responses
        is_late = teller.is_other_turn(event.turn_id)
        if is_late:
            teller.speak_of(event.turn_id)
        kind = kind_of(item)
        if kind not in _NOT_TOOLS:
            responses.spoken_items += 1
            if kind == "file_change":
                responses.release(item.id, *edit_call(changes_of(item.changes)))
        known = tell_item(teller, ITEM_CHANNEL, item, done=True)
        if is_late:
            teller.speak_of(None)
        return known

    def raw_response_item(self, event: shapes.RawResponseItem) -> None:
        self._responses.tell(event.item)

    # Tools.

    def exec_begin(self, event: shapes.ExecCommandBegin) -> None:
        native = "user_shell" if (event.source or "").startswith("user") else "exec_command"
        call = shell_call(native, event.command, self._teller.cwd)
        self._teller.call(event.call_id, call.tool, call.native_tool, call.input)

    def exec_output(self, event: shapes.ExecCommandOutputDelta) -> None:
        self._teller.delta(CHANNEL, "output", _chunk(event.chunk), event.call_id)

    def exec_end(self, event: shapes.ExecCommandEnd) -> None:
        output = event.aggregated_output
        failed = bool(event.exit_code) or event.status in ("failed", "declined")
        declined = event.status == "declined" or (output or event.stderr) in _REJECTIONS
        self._teller.result(
            event.call_id,
            output if output is not None else event.stdout + event.stderr,
            is_error=failed or declined,
            exit_code=None if declined else event.exit_code,
            duration_ms=milliseconds(event.duration),
            status="declined" if declined else None,
        )

    def terminal_interaction(self, event: shapes.TerminalInteraction) -> None:
        self._teller.twin("terminal: the command's output shows it")

    def patch_begin(self, event: shapes.PatchApplyBegin) -> None:
        tool, call = edit_call(changes_of(event.changes))
        self._responses.release(event.call_id, tool, call)
        self._teller.call(event.call_id, tool, "apply_patch", call)

    def patch_end(self, event: shapes.PatchApplyEnd) -> None:
        if event.changes is not None:
            tool, call = edit_call(changes_of(event.changes))
            self._responses.release(event.call_id, tool, call)
            if not self._teller.calls.is_known(event.call_id):
                self._teller.call(event.call_id, tool, "apply_patch", call)
        failed = not event.success
        status: ResultStatus | None = "declined" if event.status == "declined" else None
        output = (event.stderr if failed else "") or event.stdout or event.stderr
        self._responses.spoken_items += 1
        self._teller.result(event.call_id, output, is_error=failed, status=status)

    def mcp_begin(self, event: shapes.McpToolCallBegin) -> None:
        call = event.invocation or shapes.Invocation(event.server, event.tool, event.arguments)
        name = mcp_tool(call.server, call.tool)
        native = f"{call.server}.{call.tool}"
        self._teller.call(event.call_id, name, native, as_dict(call.arguments))

    def mcp_end(self, event: shapes.McpToolCallEnd) -> None:
        if not self._teller.calls.is_known(event.call_id) and (event.invocation or event.tool):
            self.mcp_begin(event)
        cleaned = mcp_result(event.result, event.error)
        self._responses.spoken_items += 1
        self._teller.result(
            event.call_id,
            cleaned.text,
            is_error=cleaned.is_error,
            duration_ms=milliseconds(event.duration),
        )

    def web_begin(self, event: shapes.WebSearchBegin) -> None:
        self._teller.twin("web search: its end says it")

    def web_end(self, event: shapes.WebSearchEnd) -> None:
        tool, call = web_call(event.query, event.action)
        if self.announces:
            self._responses.nameless_searches.append((tool, call))
        self._teller.call(event.call_id, tool, "web_search", call)
        self._teller.result(event.call_id)

    def view_image(self, event: shapes.ViewImage) -> None:
        self._teller.call(event.call_id, READ, "view_image", {"file_path": event.path})
        self._teller.result(event.call_id)

    def image_begin(self, event: shapes.ImageGenerationBegin) -> None:
        self._teller.call(event.call_id, "image_generation", "image_generation", {})

    def image_end(self, event: shapes.ImageGenerationEnd) -> None:
        prompt = {"prompt": event.revised_prompt} if event.revised_prompt else {}
        self._teller.call(event.call_id, "image_generation", "image_generation", prompt)
        self._teller.result(
            event.call_id, event.saved_path or "", is_error=event.status == "failed"
        )

    def dynamic_request(self, event: shapes.DynamicToolRequest) -> None:
        name = f"{event.namespace}.{event.tool}" if event.namespace else event.tool
        self._teller.call(event.callId or event.call_id, name, name, as_dict(event.arguments))

    def dynamic_response(self, event: shapes.DynamicToolResponse) -> None:
        output = content_text(event.content_items) or event.error or ""
        self._teller.result(
            event.call_id,
            output,
            is_error=not event.success,
            duration_ms=milliseconds(event.duration),
        )

    def sub_agent(self, event: shapes.SubAgentActivity) -> None:
        item = Item(
            type="sub_agent_activity",
            id=event.event_id,
            kind=event.kind,
            agent_thread_id=event.agent_thread_id,
            agent_path=event.agent_path,
        )
        tell_item(self._teller, ITEM_CHANNEL, item, done=True)

    def collab(self, event: Any) -> None:
        """``collab_agent_spawn_begin``, ``collab_waiting_end`` and their kin."""
        words = snake_case(type(event).__name__).split("_")  # collab, spawn, begin
        one = event.receiver_thread_id or event.new_thread_id
        agents = [one] if one else event.receiver_thread_ids
        tool, call = agent_call(words[1], event.prompt, agents)
        self._teller.call(event.call_id, tool, "_".join(words[:2]), call)
        if words[2] == "end":
            states = as_dict(event.statuses) or {"": event.status}
            item = Item(
                type="collab_tool_call", id=event.call_id, tool=words[1], agents_states=states
            )
            tell_item(self._teller, ITEM_CHANNEL, item, done=True)

    # Plans, diffs, tokens.

    def plan_update(self, event: shapes.PlanUpdate) -> None:
        self._teller.plan(*plan_steps({"plan": event.plan, "explanation": event.explanation}))

    def turn_diff(self, event: shapes.TurnDiff) -> None:
        self._teller.diff(event.unified_diff)

    def token_count(self, event: shapes.TokenCount) -> None:
        teller = self._teller
        info = event.info
        if self.others_count:
            teller.twin("usage: the usage record says it")
        elif info is not None:
            teller.usage(info.total_token_usage, info.last_token_usage, info.model_context_window)
        elif event.input_tokens is not None:
            last = Usage(
                input_tokens=event.input_tokens,
                cached_input_tokens=event.cached_input_tokens or 0,
                output_tokens=event.output_tokens or 0,
                reasoning_output_tokens=event.reasoning_output_tokens or 0,
            )
            teller.usage(None, last)
        else:
            teller.usage_starts()
        limits = bytes(event.rate_limits)
        if limits != self._limits:
            self._limits = limits
            teller.rate_limits(rate_windows(_limits.decode(limits), self._out.at))

    def raw_response_completed(self, event: shapes.RawResponseCompleted) -> None:
        self._teller.twin("usage: the token count says it")

    # Questions.

    def exec_approval(self, event: shapes.ExecApproval) -> None:
        if event.call_id:
            self.exec_begin(shapes.ExecCommandBegin(call_id=event.call_id, command=event.command))
        ask_command(
            self._teller,
            event.approval_id or event.call_id or self.turn_id or "approval",
            command=event.command,
            cwd=event.cwd,
            reason=event.reason,
        )

    def patch_approval(self, event: shapes.PatchApproval) -> None:
        if event.call_id:
            self.patch_begin(shapes.PatchApplyBegin(call_id=event.call_id, changes=event.changes))
        ask_edit(
            self._teller,
            event.call_id or self.turn_id or "approval",
            changes=changes_of(event.changes),
            reason=event.reason,
        )

    def request_user_input(self, event: shapes.RequestUserInput) -> None:
        ask_question(self._teller, event.call_id, as_list(event.questions))

    def request_permissions(self, event: shapes.RequestPermissions) -> None:
        ask_permissions(self._teller, event.call_id, event.permissions, event.reason)

    def elicitation(self, event: shapes.ElicitationRequest) -> None:
        message = event.message or as_str(as_dict(event.request).get("message")) or ""
        ask_elicitation(self._teller, str(event.id), event.server_name, message)

    # Words from the harness.

    def stream_error(self, event: shapes.StreamError) -> None:
        self._teller.notice(CHANNEL, "warning", event.message, will_retry=True)

    def background_event(self, event: shapes.BackgroundEvent) -> None:
        retrying = "retrying" in event.message
        level = "warning" if retrying else "info"
        self._teller.notice(CHANNEL, level, event.message, will_retry=retrying)

    def warning(self, event: shapes.Warning) -> None:
        self._teller.notice(CHANNEL, "warning", event.message)

    def deprecation(self, event: shapes.DeprecationNotice) -> None:
        text = "\n".join(filter(None, (event.summary, event.details)))
        self._teller.notice(CHANNEL, "warning", text)

    def context_compacted(self, event: shapes.ContextCompacted) -> None:
        self._teller.compacted(CHANNEL)

    def rolled_back(self, event: shapes.ThreadRolledBack) -> None:
        self._teller.notice(CHANNEL, "info", rolled_back(event.num_turns))

    def renamed(self, event: shapes.ThreadNameUpdated) -> None:
        self._teller.notice(CHANNEL, "info", f"renamed: {event.thread_name or ''}")

    def goal(self, event: shapes.ThreadGoalUpdated) -> None:
        self._teller.notice(CHANNEL, "info", goal_text(event.goal))

    def settings(self, event: shapes.ThreadSettingsApplied) -> None:
        changed = event.thread_settings
        self._teller.begin_session(model=changed.model, cwd=changed.cwd)

    def entered_review(self, event: shapes.EnteredReviewMode) -> None:
        item = Item(type="entered_review_mode", user_facing_hint=event.user_facing_hint)
        tell_item(self._teller, CHANNEL, item, done=True)

    def exited_review(self, event: shapes.ExitedReviewMode) -> None:
        text = review_text(event.review_output)
        if text:
            self._teller.text("review", text)
        else:
            self._teller.notice(CHANNEL, "info", "review ended")

    def mcp_startup_update(self, event: shapes.McpStartupUpdate) -> None:
        status = as_dict(event.status)
        tell_mcp_startup(
            self._teller, event.server, str(status.get("state", "")), as_str(status.get("error"))
        )

    def mcp_startup_complete(self, event: shapes.McpStartupComplete) -> None:
        failed = [as_dict(failure) for failure in event.failed]
        if not failed:
            self._teller.twin("mcp: nothing to report")
        for failure in failed:
            tell_mcp_startup(
                self._teller, str(failure.get("server")), "failed", as_str(failure.get("error"))
            )

    def skills(self, event: shapes.SkillsUpdateAvailable) -> None:
        self._teller.notice(CHANNEL, "info", "skills changed")

    def rerouted(self, event: shapes.ModelReroute) -> None:
        text = f"rerouted from {event.from_model} to {event.to_model}"
        self._teller.notice(CHANNEL, "warning", text)

    def undo(self, event: shapes.UndoStarted | shapes.UndoCompleted) -> None:
        failed = isinstance(event, shapes.UndoCompleted) and not event.success
        self._teller.notice(CHANNEL, "error" if failed else "info", event.message or "undo")


_NOT_TOOLS: Final = frozenset(
    ("user_message", "agent_message", "reasoning", "plan", "context_compaction", "hook_prompt")
)
_REJECTIONS: Final = ("exec command rejected by user", "command rejected by user")
_limits = msgspec.json.Decoder()


def _chunk(chunk: str | list[int]) -> str:
    """A piece of output: bytes as numbers, bytes in base64, or (in documents) plain text."""
    if isinstance(chunk, list):
        return bytes(byte & 0xFF for byte in chunk).decode(errors="replace")
    try:
        return base64.b64decode(chunk, validate=True).decode()
    except (binascii.Error, ValueError):
        return chunk


def rolled_back(turns: int) -> str:
    return (
        f"the last {turns} turns were rolled back"
        if turns != 1
        else "the last turn was rolled back"
    )


def goal_text(goal: Any) -> str:
    given = as_dict(goal)
    return f"goal ({given.get('status', 'active')}): {given.get('objective', '')}"


def tell_mcp_startup(teller: Teller, server: str, state: str, error: str | None) -> None:
    if state == "failed" or error:
        teller.notice("mcp", "warning", f"MCP server {server} did not start: {error or state}")
    else:
        teller.notice("mcp", "info", f"MCP server {server}: {state}")


_Tell: TypeAlias = Callable[[Events, Any], bool | None]
TELL: Final[dict[type[shapes.Event], _Tell]] = {
    shapes.SessionConfigured: Events.session_configured,
    shapes.TaskStarted: Events.task_started,
    shapes.TurnStartedAlias: Events.task_started,
    shapes.TaskComplete: Events.task_complete,
    shapes.TurnCompleteAlias: Events.task_complete,
    shapes.TurnAborted: Events.turn_aborted,
    shapes.ShutdownComplete: Events.shutdown_complete,
    shapes.ErrorEvent: Events.error,
    shapes.UserMessage: Events.user_message,
    shapes.AgentMessage: Events.agent_message,
    shapes.AgentReasoning: Events.agent_reasoning,
    shapes.AgentReasoningRaw: Events.agent_reasoning_raw,
    shapes.AgentMessageDelta: Events.text_delta,
    shapes.AgentMessageContentDelta: Events.text_item_delta,
    shapes.AgentReasoningDelta: Events.thinking_delta,
    shapes.ReasoningDelta: Events.thinking_item_delta,
    shapes.AgentReasoningRawDelta: Events.raw_delta,
    shapes.ReasoningRawDelta: Events.raw_item_delta,
    shapes.AgentReasoningBreak: Events.reasoning_break,
    shapes.PlanDelta: Events.plan_delta,
    shapes.ItemStarted: Events.item_started,
    shapes.ItemCompleted: Events.item_completed,
    shapes.RawResponseItem: Events.raw_response_item,
    shapes.ExecCommandBegin: Events.exec_begin,
    shapes.ExecCommandOutputDelta: Events.exec_output,
    shapes.ExecCommandEnd: Events.exec_end,
    shapes.TerminalInteraction: Events.terminal_interaction,
    shapes.PatchApplyBegin: Events.patch_begin,
    shapes.PatchApplyUpdated: Events.patch_begin,
    shapes.PatchApplyEnd: Events.patch_end,
    shapes.McpToolCallBegin: Events.mcp_begin,
    shapes.McpToolCallEnd: Events.mcp_end,
    shapes.WebSearchBegin: Events.web_begin,
    shapes.WebSearchEnd: Events.web_end,
    shapes.ViewImage: Events.view_image,
    shapes.ImageGenerationBegin: Events.image_begin,
    shapes.ImageGenerationEnd: Events.image_end,
    shapes.DynamicToolRequest: Events.dynamic_request,
    shapes.DynamicToolResponse: Events.dynamic_response,
    shapes.SubAgentActivity: Events.sub_agent,
    shapes.CollabSpawnBegin: Events.collab,
    shapes.CollabSpawnEnd: Events.collab,
    shapes.CollabSendBegin: Events.collab,
    shapes.CollabSendEnd: Events.collab,
    shapes.CollabWaitBegin: Events.collab,
    shapes.CollabWaitEnd: Events.collab,
    shapes.CollabCloseBegin: Events.collab,
    shapes.CollabCloseEnd: Events.collab,
    shapes.CollabResumeBegin: Events.collab,
    shapes.CollabResumeEnd: Events.collab,
    shapes.PlanUpdate: Events.plan_update,
    shapes.TurnDiff: Events.turn_diff,
    shapes.TokenCount: Events.token_count,
    shapes.RawResponseCompleted: Events.raw_response_completed,
    shapes.ExecApproval: Events.exec_approval,
    shapes.PatchApproval: Events.patch_approval,
    shapes.RequestUserInput: Events.request_user_input,
    shapes.RequestPermissions: Events.request_permissions,
    shapes.ElicitationRequest: Events.elicitation,
    shapes.StreamError: Events.stream_error,
    shapes.BackgroundEvent: Events.background_event,
    shapes.Warning: Events.warning,
    shapes.GuardianWarning: Events.warning,
    shapes.DeprecationNotice: Events.deprecation,
    shapes.ContextCompacted: Events.context_compacted,
    shapes.ThreadRolledBack: Events.rolled_back,
    shapes.ThreadNameUpdated: Events.renamed,
    shapes.ThreadGoalUpdated: Events.goal,
    shapes.ThreadSettingsApplied: Events.settings,
    shapes.EnteredReviewMode: Events.entered_review,
    shapes.ExitedReviewMode: Events.exited_review,
    shapes.McpStartupUpdate: Events.mcp_startup_update,
    shapes.McpStartupComplete: Events.mcp_startup_complete,
    shapes.SkillsUpdateAvailable: Events.skills,
    shapes.ModelReroute: Events.rerouted,
    shapes.UndoStarted: Events.undo,
    shapes.UndoCompleted: Events.undo,
}
