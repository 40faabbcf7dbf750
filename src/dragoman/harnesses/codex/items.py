"""Items: the things a turn is made of, as ``codex exec``, the app-server and rollouts report them.

Three spellings of one idea: ``command_execution`` with snake_case fields (exec),
``commandExecution`` with camelCase ones (app-server), ``CommandExecution`` with snake_case ones
(rollouts and core events). One shape reads all three, one table tells them.

| item | becomes |
|---|---|
| user_message | prompt |
| agent_message, assistant_message | text |
| reasoning | thinking, one for each part |
| command_execution, file_change, mcp_tool_call, dynamic_tool_call, collab_agent_tool_call, collab_tool_call, sub_agent_activity, web_search, image_view, image_generation, sleep | tool_call and tool_result |
| todo_list, plan | plan |
| context_compaction | compacted |
| error, entered_review_mode, exited_review_mode | notice, and the review itself as text |
| hook_prompt | context |
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import msgspec

from dragoman.harnesses.codex.durations import milliseconds
from dragoman.harnesses.codex.loose import as_dict, as_int, as_list, as_str, snake_case, texts_in
from dragoman.harnesses.codex.outputs import content_text, mcp_result
from dragoman.harnesses.codex.patches import changes_of, edit_call
from dragoman.harnesses.codex.reviews import review_text
from dragoman.harnesses.codex.tools import agent_call, plan_steps, shell_call, web_call
from dragoman.harnesses.telling.teller import Teller
from dragoman.model.messages import Phase, PlanStep, ResultStatus
from dragoman.model.tools import READ, mcp_tool


class Item(msgspec.Struct, kw_only=True, gc=False):
    """Any item: the union of the fields that we use, each absent in most."""

    type: str = ""
    item_type: str | None = None  # how 0.42 spells `type` in `exec --experimental-json`
    id: str = ""
    status: str | None = None
    # messages and reasoning
    text: str | None = None
    phase: str | None = None
    content: Any = None
    fragments: Any = None
    summary: list[str] | None = None
    summary_text: list[str] | None = None
    raw_content: list[str] | None = None
    message: str | None = None
    # commands and patches
    command: Any = None
    aggregated_output: str | None = None
    exit_code: int | None = None
    duration: Any = None
    duration_ms: Any = None
    source: str | None = None
    changes: Any = None
    stdout: str | None = None
    stderr: str | None = None
    # other tools
    server: str | None = None
    tool: str | None = None
    namespace: str | None = None
    arguments: Any = None
    result: Any = None
    error: Any = None
    content_items: Any = None
    success: bool | None = None
    query: str | None = None
    action: Any = None
    path: str | None = None
    revised_prompt: str | None = None
    saved_path: str | None = None
    # sub-agents
    prompt: str | None = None
    kind: str | None = None
    receiver_thread_ids: list[str] | None = None
    agents_states: Any = None
    agent_thread_id: str | None = None
    agent_path: str | None = None
    # plans and reviews
    items: Any = None
    review: str | None = None
    review_output: Any = None
    user_facing_hint: str | None = None


if TYPE_CHECKING:
    WireItem: TypeAlias = Item
else:
    # The same shape as the app-server spells it. msgspec renames only the fields that a class
    # defines itself, so a subclass would not do.
    WireItem = msgspec.defstruct(
        "WireItem",
        [
            (field.name, field.type) if field.required else (field.name, field.type, field.default)
            for field in msgspec.structs.fields(Item)
        ],
        rename="camel",
        kw_only=True,
        gc=False,
    )


def kind_of(item: Item) -> str:
    """The item's type in one spelling."""
    return _kind(item.type or item.item_type or "")


@lru_cache(maxsize=256)
def _kind(name: str) -> str:
    return snake_case(name)


def child_sessions(item: Item) -> list[str]:
    """The sessions that the item says are children of the one it belongs to."""
    if item.agent_thread_id:
        return [item.agent_thread_id]
    spawned = (item.tool or "").lower().startswith("spawn")
    return item.receiver_thread_ids or [] if spawned else []


def tell_item(teller: Teller, channel: str, item: Item, *, done: bool) -> bool:
    """Tell an item that began (or changed), or that is done. False if its type is new to us."""
    tell = _TELL.get(kind_of(item))
    if tell is None:
        return False
    tell(teller, channel, item, done)
    return True


# Messages.


def _user_message(teller: Teller, channel: str, item: Item, done: bool) -> None:
    text, images = user_input(item.content)
    teller.prompt(channel, text, images, item.id or None)


def user_input(content: Any) -> tuple[str, list[str]]:
    """The words and the pictures in a user's input."""
    words: list[str] = []
    images: list[str] = []
    for part in map(as_dict, as_list(content)):
        image = part.get("path") or part.get("url") or part.get("image_url") or part.get("imageUrl")
        if isinstance(part.get("text"), str):
            words.append(part["text"])
        elif isinstance(data := part.get("data"), dict):
            words.append(as_str(as_dict(data).get("text")) or "")
        elif "image" in str(part.get("type")).lower() and isinstance(image, str):
            images.append(image)
    return "".join(words), images


def _agent_message(teller: Teller, channel: str, item: Item, done: bool) -> None:
    if not done:
        teller.twin("item: its end says it")
        return
    text = item.text if item.text is not None else texts_in(_untagged(item.content))
    teller.text(channel, text, phase=phase_of(item.phase), message_id=item.id or None)


def _untagged(content: Any) -> Any:
    """Releases 0.53 to 0.58 wrote ``[{"Text": {"text": …}}]``."""
    return [next(iter(as_dict(part).values()), "") if "Text" in as_dict(part) else part
            for part in as_list(content)]  # fmt: skip


def phase_of(phase: str | None) -> Phase | None:
    return cast("Phase", phase) if phase in ("commentary", "final_answer") else None


def _reasoning(teller: Teller, channel: str, item: Item, done: bool) -> None:
    if not done:
        teller.twin("item: its end says it")
        return
    raw = item.raw_content or [text for text in as_list(item.content) if isinstance(text, str)]
    parts = item.summary or item.summary_text or ([item.text] if item.text else [])
    teller.thinking(channel, [*parts, *raw], item.id or None)


def _hook_prompt(teller: Teller, channel: str, item: Item, done: bool) -> None:
    if done:
        texts = [as_str(as_dict(part).get("text")) or "" for part in as_list(item.fragments)]
        teller.context("user", "\n".join(texts))
    else:
        teller.twin("item: its end says it")


# Tools.


def _status(item: Item, *, failed: bool) -> ResultStatus:
    if item.status == "declined":
        return "declined"
    return "failed" if failed else "completed"


def _failed(item: Item) -> bool:
    return item.status in ("failed", "declined")


def _duration(item: Item) -> int | None:
    return milliseconds(item.duration_ms if item.duration_ms is not None else item.duration)


def _command(teller: Teller, channel: str, item: Item, done: bool) -> None:
    if done and teller.calls.is_known(item.id):
        pass  # the call was told before: only its end is news
    else:
        native = "user_shell" if (item.source or "").startswith("user") else "command_execution"
        call = shell_call(native, item.command, teller.cwd)
        teller.call(item.id, call.tool, call.native_tool, call.input)
    if done:
        failed = _failed(item) or bool(item.exit_code)
        teller.result(
            item.id,
            item.aggregated_output or "",
            is_error=failed,
            exit_code=item.exit_code,
            duration_ms=_duration(item),
            status=_status(item, failed=failed),
        )


def _file_change(teller: Teller, channel: str, item: Item, done: bool) -> None:
    if not (done and teller.calls.is_known(item.id)):
        tool, call = edit_call(changes_of(item.changes))
        teller.call(item.id, tool, "file_change", call)
    if done:
        failed = _failed(item)
        output = (item.stderr if failed else None) or item.stdout or ""
        teller.result(item.id, output, is_error=failed, status=_status(item, failed=failed))


def _mcp(teller: Teller, channel: str, item: Item, done: bool) -> None:
    name = mcp_tool(item.server or "", item.tool or "")
    given = as_dict(item.arguments)
    teller.call(item.id, name, f"{item.server}.{item.tool}", given)
    if done:
        cleaned = mcp_result(item.result, item.error)
        failed = cleaned.is_error or _failed(item)
        teller.result(
            item.id,
            cleaned.text,
            is_error=failed,
            duration_ms=_duration(item),
            status=_status(item, failed=failed),
        )


def _dynamic(teller: Teller, channel: str, item: Item, done: bool) -> None:
    name = f"{item.namespace}.{item.tool}" if item.namespace else item.tool or ""
    teller.call(item.id, name, name, as_dict(item.arguments))
    if done:
        failed = _failed(item) or item.success is False
        output = content_text(item.content_items) or as_str(item.error) or ""
        teller.result(item.id, output, is_error=failed, duration_ms=_duration(item))


def _agents(teller: Teller, channel: str, item: Item, done: bool) -> None:
    tool, call = agent_call(item.tool or "", item.prompt, item.receiver_thread_ids or [])
    teller.call(item.id, tool, snake_case(item.tool or ""), call)
    if done:
        states = [_agent_state(state) for state in as_dict(item.agents_states).values()]
        failed = _failed(item)
        teller.result(item.id, "\n".join(filter(None, states)), is_error=failed)


def _agent_state(state: Any) -> str:
    """``"pending_init"``, ``{"completed": "done"}`` or ``{"status": "completed", "message": …}``."""
    given = as_dict(state)
    if not given:
        return snake_case(as_str(state) or "")
    if "status" in given:
        return as_str(given.get("message")) or snake_case(str(given["status"]))
    return as_str(next(iter(given.values()))) or next(iter(given))


def _sub_agent(teller: Teller, channel: str, item: Item, done: bool) -> None:
    kind = item.kind or "started"
    tool, call = agent_call(
        {"started": "spawn", "interrupted": "interrupt"}.get(kind, "send"), "", []
    )
    if item.agent_path:
        call = {**call, "agent": item.agent_path}
    teller.call(item.id, tool, f"sub_agent_{kind}", call)
    if done:
        teller.result(item.id, item.agent_path or "")


def _web_search(teller: Teller, channel: str, item: Item, done: bool) -> None:
    tool, call = web_call(item.query, item.action)
    if not done:
        # The search begins before anybody knows what it looks for.
        teller.twin("item: its end says it")
        return
    teller.call(item.id, tool, "web_search", call)
    teller.result(item.id)


def _image_view(teller: Teller, channel: str, item: Item, done: bool) -> None:
    path = (item.path or "").removeprefix("file://")
    teller.call(item.id, READ, "view_image", {"file_path": path})
    if done:
        teller.result(item.id)


def _image_generation(teller: Teller, channel: str, item: Item, done: bool) -> None:
    prompt = {"prompt": item.revised_prompt} if item.revised_prompt else {}
    teller.call(item.id, "image_generation", "image_generation", prompt)
    if done:
        teller.result(item.id, item.saved_path or "", is_error=_failed(item))


def _sleep(teller: Teller, channel: str, item: Item, done: bool) -> None:
    duration = as_int(item.duration_ms)
    teller.call(item.id, "clock.sleep", "clock.sleep", {"duration_ms": duration})
    if done:
        teller.result(item.id, duration_ms=duration)


def _extension(teller: Teller, channel: str, item: Item, done: bool) -> None:
    if item.kind == "clock.sleep":
        _sleep(teller, channel, item, done)
        return
    name = item.kind or "extension"
    teller.call(item.id, name, name, as_dict(item.arguments))
    if done:
        teller.result(item.id, is_error=_failed(item))


# Plans, reviews, and words from the harness.


def _todo_list(teller: Teller, channel: str, item: Item, done: bool) -> None:
    steps, _ = plan_steps({"plan": item.items})
    teller.plan(steps)


def _plan(teller: Teller, channel: str, item: Item, done: bool) -> None:
    if not done:
        teller.twin("item: its end says it")
        return
    text = item.text or ""
    lines = [line.strip() for line in text.split("\n")]
    steps = [PlanStep(line[2:].strip()) for line in lines if line[:2] in ("- ", "* ")]
    teller.plan(steps, text or None)


def _compaction(teller: Teller, channel: str, item: Item, done: bool) -> None:
    if done:
        teller.compacted(channel)
    else:
        teller.twin("item: its end says it")


def _error(teller: Teller, channel: str, item: Item, done: bool) -> None:
    teller.notice(channel, "warning", item.message or item.text or "")


def _entered_review(teller: Teller, channel: str, item: Item, done: bool) -> None:
    what = item.review or item.user_facing_hint or ""
    teller.notice("review", "info", f"review of {what} began" if what else "review began")


def _exited_review(teller: Teller, channel: str, item: Item, done: bool) -> None:
    if not done:
        teller.twin("item: its end says it")
        return
    text = item.review or review_text(item.review_output)
    teller.text("review", text, message_id=item.id or None)


_Tell: TypeAlias = Callable[[Teller, str, Item, bool], None]
_TELL: Final[dict[str, _Tell]] = {
    "user_message": _user_message,
    "agent_message": _agent_message,
    "assistant_message": _agent_message,
    "reasoning": _reasoning,
    "hook_prompt": _hook_prompt,
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
    "sleep": _sleep,
    "extension": _extension,
    "todo_list": _todo_list,
    "plan": _plan,
    "context_compaction": _compaction,
    "error": _error,
    "entered_review_mode": _entered_review,
    "exited_review_mode": _exited_review,
}
