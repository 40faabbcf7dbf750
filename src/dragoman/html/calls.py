"""A tool call and its result as HTML, in one card.

``use(Use) -> Html`` is pure: the same use gives the same card, on a page that is written once and on
one that is written while the agent works (a card without a result shows the call as running).

====================  =========================================================================
class                 what
====================  =========================================================================
``use``               every card, an ``article``; besides one of ``command``, ``edit``, ``plan``,
                      ``search``, ``agent-call``, ``mcp``, ``tool``, and one of the states ``ok``,
                      ``bad``, ``declined``, ``abandoned``, ``open``
``bar``               the first line: ``name``, ``what``, ``facts`` (``exit``, ``took``), ``here``
``line``              the command, with its ``prompt-sign``
``input``             the input of a call that has no shape of its own
====================  =========================================================================
"""

from __future__ import annotations

from typing import Final

import msgspec

from dragoman.html import conversation, diffs
from dragoman.html.output import output
from dragoman.html.pieces import EMPTY, Html, clipped, element, folded, joined, permalink
from dragoman.html.prose import prose
from dragoman.model import tools
from dragoman.model.messages import ToolCall, ToolResult
from dragoman.model.turns import Use
from dragoman.rendering import render
from dragoman.rendering.calls import explanation

WHAT_WIDTH: Final = 160
_FEW_LINES: Final = 14

_NAMES: Final = {
    tools.BASH: "Command",
    tools.EDIT: "Edit",
    tools.WRITE: "Write",
    tools.WEB_SEARCH: "Web search",
    tools.WEB_FETCH: "Web page",
    tools.TASK: "Sub-agent",
    tools.TASK_OUTPUT: "Wait for sub-agent",
    tools.TASK_STOP: "Stop sub-agent",
    tools.SEND_MESSAGE: "Message to sub-agent",
    tools.TODO_WRITE: "Plan",
    tools.ASK_USER: "Question",
    tools.BASH_OUTPUT: "Command input",
}
_AGENT_TOOLS: Final = (tools.TASK, tools.TASK_OUTPUT, tools.TASK_STOP, tools.SEND_MESSAGE)


def use(used: Use, anchor: str | None = None) -> Html:
    """A call and its result."""
    call, result = used.call, used.result
    if steps := render.steps(call):
        plan = conversation.plan(steps, explanation(call), anchor)
        return joined([plan, _output(result)]) if result and render.trouble(result) else plan
    state = state_of(result)
    if (command := render.command(call)) is not None:
        return _card("command", state, call, anchor, result, "", _command(command), _output(result))
    if files := render.changes(call):
        # On success, the tool's output only repeats the names of the files.
        outputs = _output(result) if state == "bad" else EMPTY
        if len(files) == 1:
            name = element("span", _name(call), class_="name")
            facts = element("span", *_facts(result), class_="facts")
            body = diffs.change(files[0], name, joined([permalink(anchor), facts]))
            return element("article", body, outputs, class_=f"use edit {state}", id=anchor)
        what = f"{len(files)} files"
        body = diffs.changes(files)
        return _card("edit", state, call, anchor, result, what, body, outputs)
    kind, what, body = _any_call(call)
    return _card(kind, state, call, anchor, result, what, body, _output(result))


def late_result(result: ToolResult, call: ToolCall | None, anchor: str | None = None) -> Html:
    """A result that came after the card of its call was written."""
    name = render.summary(call, WHAT_WIDTH) if call else result.call_id
    bar = _bar("Result of", name, result, anchor)
    return element(
        "article", bar, _output(result), class_=f"use tool late {state_of(result)}", id=anchor
    )


def state_of(result: ToolResult | None) -> str:
    if result is None:
        return "open"
    if result.status in ("declined", "abandoned"):
        return result.status
    return "bad" if render.trouble(result) else "ok"


def _card(
    kind: str,
    state: str,
    call: ToolCall,
    anchor: str | None,
    result: ToolResult | None,
    what: str,
    *body: str,
) -> Html:
    bar = _bar(_name(call), what, result, anchor)
    return element("article", bar, *body, class_=f"use {kind} {state}", id=anchor)


def _bar(name: str, what: str, result: ToolResult | None, anchor: str | None) -> Html:
    shown = element("code", render.one_line(what, WHAT_WIDTH), class_="what") if what else ""
    facts = element("span", *_facts(result), class_="facts")
    return element(
        "header",
        element("span", name, class_="name"),
        shown,
        permalink(anchor),
        facts,
        class_="bar",
    )


def _facts(result: ToolResult | None) -> list[Html]:
    if result is None:
        return [element("span", "no result", class_="exit")]
    facts: list[Html] = []
    if result.duration_ms:
        facts.append(element("span", took(result.duration_ms), class_="took"))
    trouble = render.trouble(result)
    if trouble or result.exit_code is not None:
        facts.append(element("span", trouble or f"exit {result.exit_code}", class_="exit"))
    return facts


def took(milliseconds: int) -> str:
    if milliseconds < 1000:
        return f"{milliseconds} ms"
    seconds = milliseconds / 1000
    return (
        f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds // 60)} min {seconds % 60:02.0f} s"
    )


def _name(call: ToolCall) -> str:
    known = _NAMES.get(call.tool)
    if known is None and call.tool.startswith("mcp__"):
        server, _, tool = call.tool.removeprefix("mcp__").partition("__")
        return render.one_line(f"{server} › {tool}", WHAT_WIDTH)  # noqa: RUF001  an arrow
    return known or render.one_line(call.tool, WHAT_WIDTH)


def _command(command: str) -> Html:
    command = clipped(command.strip("\n"), 100_000)
    sign = element("span", "$ ", class_="prompt-sign", aria_hidden="true")
    lines, beyond = render.head(command, _FEW_LINES)
    if not beyond:
        return element("pre", sign, command, class_="line")
    first = element("pre", sign, "\n".join(lines), class_="line")
    rest = element("pre", "\n".join(command.split("\n")[_FEW_LINES:]), class_="line")
    more = element("details", element("summary", f"⋯ {beyond:,} more lines"), rest, class_="more")
    return joined([first, more])


def _any_call(call: ToolCall) -> tuple[str, str, Html]:
    """The kind of card, its first line, and its body."""
    kind = "tool"
    if call.tool in (tools.WEB_SEARCH, tools.WEB_FETCH, tools.TOOL_SEARCH):
        kind = "search"
    elif call.tool in _AGENT_TOOLS:
        kind = "agent-call"
        words = call.input.get("prompt") or call.input.get("message")
        if isinstance(words, str):
            name = call.input.get("description")
            return kind, name if isinstance(name, str) else "", prose(words)
    elif call.tool.startswith("mcp__"):
        kind = "mcp"
    few = render.arguments(call)
    if not call.input or (len(few) <= WHAT_WIDTH and "\n" not in few):
        return kind, few, EMPTY
    pretty = msgspec.json.format(msgspec.json.encode(call.input)).decode()
    count = pretty.count("\n") + 1
    block = output(pretty)
    if count <= _FEW_LINES:
        return kind, "", element("div", block, class_="input")
    return kind, "", folded(f"Input, {count} lines", block, class_="input")


def _output(result: ToolResult | None) -> Html:
    if result is None:
        return EMPTY
    return output(result.output, is_bad=state_of(result) == "bad")
