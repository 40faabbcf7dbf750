"""Reports items that are tool calls: commands, file changes, MCP, searches, sub-agents."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.codex.items.shape import Tell, ThreadItem
from dragoman.harnesses.codex.tools.agents import activity_call, agent_call, reported
from dragoman.harnesses.codex.tools.calls import given_arguments, shell_call, web_call
from dragoman.harnesses.codex.tools.outputs import clean_mcp, content_text, mcp_result
from dragoman.harnesses.codex.tools.patches import changes_of, directory, edit_call
from dragoman.harnesses.codex.values.durations import milliseconds
from dragoman.harnesses.codex.values.loose import as_int, as_str, snake_case
from dragoman.model.messages import ResultStatus
from dragoman.model.tools import READ, mcp_tool


def _status(item: ThreadItem, *, failed: bool) -> ResultStatus:
    if item.status == "declined":
        return "declined"
    return "failed" if failed else "completed"


def _failed(item: ThreadItem) -> bool:
    return item.status in ("failed", "declined")


def _duration(item: ThreadItem) -> int | None:
    return milliseconds(item.duration_ms if item.duration_ms is not None else item.duration)


def _command(session: SessionAssembler, channel: str, item: ThreadItem, done: bool) -> None:
    if not (done and session.calls.is_known(item.id)):  # or only its end is news
        native = "user_shell" if (item.source or "").startswith("user") else "command_execution"
        call = shell_call(native, item.command, directory(item.cwd, session.cwd))
        session.call(item.id, call.tool, call.native_tool, call.input)
        if not done:
            session.keep_native(item.id, command=item.command, cwd=item.cwd)
    if not done and item.aggregated_output:
        session.snapshot(channel, "output", item.aggregated_output, item.id)
    if done:
        exit_code = item.exit_code
        failed = bool(exit_code) or _failed(item)
        took = item.duration_ms
        session.result(
            item.id,
            item.aggregated_output or "",
            is_error=failed,
            exit_code=exit_code,
            duration_ms=milliseconds(took if took is not None else item.duration),
            status="declined" if item.status == "declined" else None,
        )


def _file_change(session: SessionAssembler, channel: str, item: ThreadItem, done: bool) -> None:
    if not (done and session.calls.is_known(item.id)):
        tool, call = edit_call(changes_of(item.changes))
        session.call(item.id, tool, "file_change", call)
    if done:
        failed = _failed(item)
        output = (item.stderr if failed else None) or item.stdout or ""
        session.result(item.id, output, is_error=failed, status=_status(item, failed=failed))


def _mcp(session: SessionAssembler, channel: str, item: ThreadItem, done: bool) -> None:
    name = mcp_tool(item.server or "", item.tool or "")
    given = given_arguments(item.arguments)
    session.call(item.id, name, f"{item.server}.{item.tool}", given)
    if not done and (item.result or item.error):
        session.snapshot(channel, "output", mcp_result(item.result, item.error).text, item.id)
    if done:
        cleaned = mcp_result(item.result, item.error)
        failed = cleaned.is_error or _failed(item)
        session.result(
            item.id,
            cleaned.text,
            is_error=failed,
            duration_ms=_duration(item),
            status=_status(item, failed=failed),
        )


def _dynamic(session: SessionAssembler, channel: str, item: ThreadItem, done: bool) -> None:
    name = f"{item.namespace}.{item.tool}" if item.namespace else item.tool or ""
    session.call(item.id, name, name, given_arguments(item.arguments))
    if done:
        failed = _failed(item) or item.success is False
        output = content_text(item.content_items) or as_str(item.error) or ""
        session.result(item.id, output, is_error=failed, duration_ms=_duration(item))


def _agents(session: SessionAssembler, channel: str, item: ThreadItem, done: bool) -> None:
    agents = item.receiver_thread_ids or []
    tool, call = agent_call(item.tool or "", item.prompt, agents)
    session.call(item.id, tool, snake_case(item.tool or ""), call)
    if done:
        output = reported(tool, agents, item.agents_states)
        session.result(item.id, output, is_error=_failed(item))


def _sub_agent(session: SessionAssembler, channel: str, item: ThreadItem, done: bool) -> None:
    kind, path = item.kind or "started", item.agent_path or item.agent_thread_id or ""
    called = activity_call(kind, path)
    if called is not None:
        session.call(item.id, called[0], f"sub_agent_{kind}", called[1])
        if done:
            session.result(item.id, path)
    elif done:
        session.notice(channel, "info", f"agent {path}: {kind}")
    else:
        session.duplicate("item: its end carries it")


def _web_search(session: SessionAssembler, channel: str, item: ThreadItem, done: bool) -> None:
    tool, call = web_call(item.query, item.action)
    if not done and not any(call.values()):
        # The search begins before anybody knows what it looks for.
        session.duplicate("item: its end carries it")
        return
    tell_search(session, item.id, tool, call, done=done, found=item.results)


def tell_search(
    session: SessionAssembler,
    call_id: str,
    tool: str,
    call: dict[str, Any],
    *,
    done: bool,
    found: Any = None,
) -> None:
    """A search on the web, as far as it is known. What only its end contains is its output."""
    begun = session.input_of(call_id)
    if not session.calls.is_known(call_id):
        session.call(call_id, tool, "web_search", call)
        begun = call
    elif not done:
        session.duplicate("tool call: emitted before")
    if done:
        news = [str(value) for value in call.values() if value and value not in begun.values()]
        if found:
            news.append(found if isinstance(found, str) else msgspec.json.encode(found).decode())
        session.result(call_id, "\n".join(news))


def _image_view(session: SessionAssembler, channel: str, item: ThreadItem, done: bool) -> None:
    path = (item.path or "").removeprefix("file://")
    session.call(item.id, READ, "view_image", {"file_path": path})
    if done:
        session.result(item.id)


def _image_generation(
    session: SessionAssembler, channel: str, item: ThreadItem, done: bool
) -> None:
    tell_picture(
        session, item.id, item.revised_prompt, done=done, path=item.saved_path, failed=_failed(item)
    )


def tell_picture(
    session: SessionAssembler,
    call_id: str,
    prompt: str | None,
    *,
    done: bool,
    path: str | None = None,
    failed: bool = False,
) -> None:
    """A picture being made. What it shows may be known only when it is done."""
    known = session.calls.is_known(call_id)
    session.call(
        call_id, "image_generation", "image_generation", {"prompt": prompt} if prompt else {}
    )
    if done:
        late = prompt if known and not session.input_of(call_id) else None
        session.result(call_id, "\n".join(filter(None, (path, late))), is_error=failed)


def _function_output(session: SessionAssembler, channel: str, item: ThreadItem, done: bool) -> None:
    name = f"{item.namespace}.{item.name}" if item.namespace else item.name or "function"
    session.call(item.id, name, name, {})
    if done:
        session.result(item.id, clean_mcp(item.output).text if item.output is not None else "")


def _sleep(session: SessionAssembler, channel: str, item: ThreadItem, done: bool) -> None:
    duration = as_int(item.duration_ms if item.duration_ms is not None else item.durationMs)
    session.call(item.id, "clock.sleep", "clock.sleep", {"duration_ms": duration})
    if done:
        session.result(item.id, duration_ms=duration)


def _extension(session: SessionAssembler, channel: str, item: ThreadItem, done: bool) -> None:
    if item.kind == "clock.sleep":
        _sleep(session, channel, item, done)
        return
    name = item.kind or "extension"
    session.call(item.id, name, name, given_arguments(item.arguments))
    if done:
        session.result(item.id, is_error=_failed(item))


TELL: Final[dict[str, Tell]] = {
    "command_execution": _command,
    "file_change": _file_change,
    "mcp_tool_call": _mcp,
    "dynamic_tool_call": _dynamic,
    "collab_agent_tool_call": _agents,
    "collab_tool_call": _agents,
    "sub_agent_activity": _sub_agent,
    "web_search": _web_search,
    "image_view": _image_view,
    "image_generation": _image_generation,
    "function_call_output": _function_output,
    "sleep": _sleep,
    "extension": _extension,
}
