"""What opencode's messages and parts become: tools, plans, tokens, errors, ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dragoman.harnesses.opencode import OPENCODE
from dragoman.harnesses.opencode.tools import call_of, outcome_of
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Message,
    Notice,
    Prompt,
    SessionStarted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
    UsageReport,
)

_DATA = Path(__file__).parents[2] / "data" / "opencode"
_S = "ses_1"


def _parsed(lines: list[bytes], ending: Any = "left") -> list[Message]:
    dialect = OPENCODE.dialect(OPENCODE.sniff(lines) or "")
    assert dialect is not None
    parser = dialect.make_parser(only=None, audit=False)
    parser.receive_lines(lines)
    parser.receive_eof(ending)
    return parser.messages()


def _read(path: str, ending: Any = "left") -> list[Message]:
    return _parsed((_DATA / path).read_bytes().splitlines(keepends=True), ending)


def _rows(*rows: tuple[str, dict[str, Any]], ending: Any = "left") -> list[Message]:
    session = ("session", {"id": _S, "directory": "/w", "version": "1.18.33"})
    lines = [json.dumps({"opencode": kind, "row": row}).encode() for kind, row in (session, *rows)]
    return _parsed(lines, ending)


def _message(name: str, **data: Any) -> tuple[str, dict[str, Any]]:
    return "message", {"id": name, "session_id": _S, "data": data}


def _part(name: str, message: str, **data: Any) -> tuple[str, dict[str, Any]]:
    return "part", {"id": name, "message_id": message, "session_id": _S, "data": data}


def test_the_ledger_counts_what_the_steps_hold() -> None:
    for path in sorted(_DATA.glob("*/*.disk*.jsonl")):
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        steps = [
            row["row"]["data"]["tokens"]
            for row in rows
            if row["opencode"] == "part" and row["row"]["data"]["type"] == "step-finish"
        ]
        messages = _read(path.relative_to(_DATA).as_posix())
        counted = [each.last for each in messages if isinstance(each, UsageReport) and each.last]

        assert sum(each.total_tokens for each in counted) == sum(step["total"] for step in steps)
        assert sum(each.cached_input_tokens for each in counted) == sum(
            step["cache"]["read"] for step in steps
        )


def test_a_fork_names_the_responses_that_it_copied() -> None:
    original = _read("opencode-store/acp_story/wire.jsonl")
    fork = _read("opencode-store/fork/wire.jsonl")
    ids = [{e.response_id for e in each if isinstance(e, UsageReport)} for each in (original, fork)]

    assert ids[1]
    assert ids[1] <= ids[0]


def test_the_cost_is_what_the_agent_reports_for_the_session_so_far() -> None:
    costs = [
        e.cost for e in _read("opencode-json/02_tools/wire.jsonl") if isinstance(e, UsageReport)
    ]

    assert costs[0] == pytest.approx(0.0001)
    assert costs[-1] == pytest.approx(0.0001 * len(costs))


def test_a_sub_agent_is_a_session_under_its_call() -> None:
    messages = _read("1.18.33/story.live.jsonl")
    task = next(each for each in messages if isinstance(each, ToolCall) and each.tool == "Task")
    started = [each for each in messages if isinstance(each, SessionStarted)]
    agent = [each for each in started if each.parent_session_id][-1]

    assert agent.parent_session_id == task.session_id
    assert agent.parent_call_id == task.call_id


def test_permissions_are_asked_and_settled_once() -> None:
    messages = _read("1.18.33/story.live.jsonl")
    asked = [each for each in messages if isinstance(each, ApprovalRequested)]
    settled = [each.decision for each in messages if isinstance(each, ApprovalSettled)]

    assert [each.command for each in asked][:2] == ["printf 'one\\ntwo\\n'", "echo bad >&2; exit 3"]
    assert settled == ["allow", "allow", "deny", "allow"]
    child = asked[-1]
    assert child.session_id != asked[0].session_id, "the sub-agent's own"


def test_exit_code_3_is_an_error() -> None:
    results = [e for e in _read("opencode-json/02_tools/wire.jsonl") if isinstance(e, ToolResult)]

    assert (results[0].exit_code, results[0].is_error, results[0].status) == (3, True, "failed")


def test_a_command_that_was_stopped_has_failed() -> None:
    stopped = {"status": "completed", "output": "…", "metadata": {"exit": None}}
    assert outcome_of(stopped)[1:4] == (True, None, "failed")
    assert outcome_of({**stopped, "metadata": {}})[1:4] == (False, None, "completed")
    assert outcome_of({**stopped, "metadata": {"exit": 0}})[1:4] == (False, 0, "completed")


def test_a_part_that_grows_is_emitted_once_and_whole() -> None:
    begun = {"start": 1}
    done = {"start": 1, "end": 2}
    user = _message("msg_1", role="user")
    prompt = _part("prt_1", "msg_1", type="text", text="hi")
    agent = _message("msg_2", role="assistant", modelID="m1", time={"created": 5})
    messages = _rows(
        user,
        prompt,
        agent,
        _part("prt_2", "msg_2", type="reasoning", text="h", time=begun),
        _part("prt_2", "msg_2", type="reasoning", text="hm", time=done),
        _part("prt_3", "msg_2", type="text", text="Hel", time=begun),
        _part("prt_3", "msg_2", type="text", text="Hello", time=done),
        _part("prt_3", "msg_2", type="text", text="Hello", time=done),
    )

    assert [e.text for e in messages if isinstance(e, Prompt | Thinking | Text)] == [
        "hi",
        "hm",
        "Hello",
    ]


def test_a_call_that_runs_before_its_text_is_complete_follows_it() -> None:
    running = {"status": "running", "input": {"command": "ls"}}
    messages = _rows(
        _message("msg_2", role="assistant", modelID="m1"),
        _part("prt_1", "msg_2", type="text", text="Run", time={"start": 1}),
        _part("prt_2", "msg_2", type="tool", tool="bash", callID="c", state=running),
        _part("prt_1", "msg_2", type="text", text="Running.", time={"start": 1, "end": 2}),
        ending="over",
    )

    kinds = [type(each) for each in messages if isinstance(each, Text | ToolCall)]
    assert kinds == [Text, ToolCall]


def test_a_message_that_ended_with_nothing_was_stopped() -> None:
    """So it is when opencode waits to ask the model again: no error is written."""
    rows = [
        _message("msg_1", role="user"),
        _part("prt_1", "msg_1", type="text", text="hi"),
        _message("msg_2", role="assistant", modelID="m1", time={"created": 5, "completed": 6}),
    ]
    (ended,) = [each for each in _rows(*rows) if isinstance(each, TurnEnded)]

    assert ended.outcome == "interrupted"


def test_a_session_without_its_end_stays_open() -> None:
    messages = _rows(
        _message("msg_1", role="user"),
        _part("prt_1", "msg_1", type="text", text="hi"),
        _message("msg_2", role="assistant", modelID="m1"),
    )

    assert [each for each in messages if isinstance(each, TurnEnded)] == []


@pytest.mark.parametrize(
    ("path", "outcome", "retryable"),
    [
        ("opencode-json/04_err_401/wire.jsonl", "failed", False),
        ("1.18.33/unauth.disk.jsonl", "failed", False),
        ("1.18.33/hello.live.jsonl", "completed", None),
    ],
)
def test_how_a_turn_ends(path: str, outcome: str, retryable: bool | None) -> None:
    (ended,) = [each for each in _read(path, "over") if isinstance(each, TurnEnded)]

    assert ended.outcome == outcome
    assert (ended.error.retryable if ended.error else None) == retryable


def test_tools_have_the_usual_names_and_inputs() -> None:
    given = {"filePath": "a", "oldString": "b", "newString": "c"}

    assert call_of("edit", given) == (
        "Edit",
        {"file_path": "a", "old_string": "b", "new_string": "c"},
    )
    assert call_of("lab_add", {"a": 1}) == ("mcp__lab__add", {"a": 1})
    assert call_of("todoread", {}).tool == "todoread"


def test_a_rejected_call_is_declined() -> None:
    error = "The user rejected permission to use this specific tool call."

    assert outcome_of({"status": "error", "error": error}).status == "declined"
    assert outcome_of({"status": "error", "error": "no such file"}).status == "failed"


def test_a_call_that_is_printed_before_the_text_in_front_of_it_follows_it() -> None:
    def line(kind: str, name: str, **part: Any) -> bytes:
        part |= {"id": name, "messageID": "msg_2", "sessionID": _S}
        return json.dumps({"type": kind, "timestamp": 1, "sessionID": _S, "part": part}).encode()

    done = {"status": "completed", "input": {"command": "ls"}, "output": "x"}
    messages = _parsed(
        [
            line("step_start", "prt_1", type="step-start"),
            line("tool_use", "prt_4", type="tool", tool="bash", callID="b", state=done),
            line("tool_use", "prt_3", type="tool", tool="bash", callID="a", state=done),
            line("text", "prt_2", type="text", text="I will look."),
            line("step_finish", "prt_5", type="step-finish", reason="tool-calls"),
            line("text", "prt_6", type="text", text="Done."),
        ]
    )

    said = [
        each.text if isinstance(each, Text) else each.call_id
        for each in messages
        if isinstance(each, Text | ToolCall)
    ]
    assert said == ["I will look.", "a", "b", "Done."]


# The server.


def _served(*events: Any, ending: Any = "left") -> list[Message]:
    lines: list[dict[str, Any]] = [
        event
        if isinstance(event, dict)
        else {"id": f"evt_{number}", "type": event[0], "properties": {"sessionID": _S, **event[1]}}
        for number, event in enumerate(events)
    ]
    first: dict[str, Any] = {"id": "evt_", "type": "server.connected", "properties": {}}
    return _parsed([json.dumps(line).encode() for line in (first, *lines)], ending)


def _user(name: str, **more: Any) -> list[tuple[str, dict[str, Any]]]:
    info = {"id": name, "role": "user", "sessionID": _S, **more}
    part = {"id": f"prt_{name}", "messageID": name, "sessionID": _S, "type": "text", "text": "hi"}
    return [("message.updated", {"info": info}), ("message.part.updated", {"part": part})]


def _agent(name: str, **more: Any) -> tuple[str, dict[str, Any]]:
    info = {"id": name, "role": "assistant", "sessionID": _S, "modelID": "m1", **more}
    return "message.updated", {"info": {"time": {"created": 5}, **info}}


def _bash(status: str, **more: Any) -> tuple[str, dict[str, Any]]:
    state = {"status": status, "input": {"command": "sleep 9"}, **more}
    part = {"id": "prt_9", "messageID": "msg_2", "sessionID": _S, "type": "tool", "tool": "bash"}
    return "message.part.updated", {"part": {**part, "callID": "c", "state": state}}


_DONE = {"created": 5, "completed": 6}
_ABORTED = {"name": "MessageAbortedError", "data": {"message": "Aborted"}}
_IDLE: tuple[str, dict[str, Any]] = ("session.idle", {})


def _ends(messages: list[Message]) -> list[tuple[str, str | None]]:
    ended = [each for each in messages if isinstance(each, TurnEnded)]
    return [(each.outcome, each.error.message if each.error else None) for each in ended]


def test_an_interrupt_that_is_reported_in_two_steps_is_one_turn() -> None:
    messages = _served(
        *_user("msg_1"),
        _agent("msg_2"),
        _bash("running"),
        ("permission.asked", {"id": "per_1", "permission": "bash", "patterns": ["sleep 9"]}),
        ("session.error", {"error": _ABORTED}),
        _IDLE,
        _bash("error", error="Tool execution aborted"),
        _agent("msg_2", error=_ABORTED, time=_DONE),
        _IDLE,
        *_user("msg_3"),
    )

    assert _ends(messages) == [("interrupted", None)]
    (result,) = [each for each in messages if isinstance(each, ToolResult)]
    assert result.output == "Tool execution aborted"
    (settled,) = [each for each in messages if isinstance(each, ApprovalSettled)]
    assert settled.decision == "cancel", "nothing waits for it any longer"
    turns = {each.turn_id for each in messages if isinstance(each, Prompt)}
    assert turns == {"msg_1", "msg_3"}, "the next prompt begins the next turn"


def test_an_error_that_follows_the_end_is_the_error_of_the_turn() -> None:
    error = {"name": "UnknownError", "data": {"message": "NotFound: x"}}
    again = {"name": "UnknownError", "data": {"message": "NotFound: x\n  at y"}}
    messages = _served(
        *_user("msg_1"),
        _agent("msg_2"),
        _IDLE,
        ("session.error", {"error": error}),
        ("session.error", {"error": again}),
    )

    assert _ends(messages) == [("failed", "NotFound: x")]
    assert [each for each in messages if isinstance(each, Notice)] == []


def test_a_session_that_is_idle_ends_its_turn_when_nothing_more_comes() -> None:
    events = (*_user("msg_1"), _agent("msg_2"), _IDLE)
    assert _ends(_served(*events)) == []
    assert _ends(_served(*events, ("server.heartbeat", {}))) == [("completed", None)]
    assert _ends(_served(*events, _IDLE)) == [("completed", None)]


def test_a_part_that_comes_after_its_turn_opens_no_other() -> None:
    messages = _served(
        *_user("msg_1"),
        _agent("msg_2", time=_DONE, finish="stop"),
        _IDLE,
        _bash("completed", output="late"),
    )

    assert _ends(messages) == [("completed", None)]
    (call,) = [each for each in messages if isinstance(each, ToolCall)]
    assert call.turn_id == "msg_1"
    assert len([each for each in messages if isinstance(each, TurnStarted)]) == 1


def test_the_copies_in_a_fork_are_not_said_again() -> None:
    info = {"id": _S, "directory": "/w", "version": "1", "time": {"created": 100}}
    messages = _served(
        ("session.created", {"info": info}),
        *_user("msg_1", time={"created": 50}),
        _agent("msg_2", time={"created": 60}),
        _bash("completed", output="copied"),
        *_user("msg_3", time={"created": 100}),
        _agent("msg_4", time={"created": 101, "completed": 102}, finish="stop"),
        _IDLE,
    )

    assert [each.turn_id for each in messages if isinstance(each, Prompt)] == ["msg_3"]
    assert [each for each in messages if isinstance(each, ToolCall)] == []


def test_an_error_of_the_server_is_no_error_of_a_session() -> None:
    error = {"name": "UnknownError", "data": {"message": "disk full"}}
    line = {"id": "evt_x", "type": "session.error", "properties": {"error": error}}
    messages = _served(*_user("msg_1"), _agent("msg_2"), line)

    assert _ends(messages) == []
    assert any(isinstance(each, Notice) and each.text == "disk full" for each in messages)


def test_the_stream_for_all_directories_is_read_the_same() -> None:
    events = [*_user("msg_1"), _agent("msg_2", time=_DONE, finish="stop"), _IDLE]
    wrapped: list[Any] = []
    for number, (kind, given) in enumerate(events):
        event = {"id": f"evt_{number}", "type": kind, "properties": {"sessionID": _S, **given}}
        wrapped.append({"directory": "/w", "project": "global", "payload": event})
        sync = {"type": "sync", "id": f"evt_{number}", "syncEvent": {"data": given}}
        wrapped.append({"directory": "/w", "payload": sync})

    assert [type(each) for each in _served(*wrapped)] == [type(each) for each in _served(*events)]
    assert OPENCODE.sniff([json.dumps(wrapped[0]).encode()]) == "opencode-server"


def test_a_request_that_got_no_response_is_a_notice() -> None:
    messages = _served(
        {"id": 3, "method": "GET", "path": "/session/status?directory=%2Fw", "body": None},
        {"id": 3, "error": "the server did not answer in time"},
    )

    (notice,) = [each for each in messages if isinstance(each, Notice)]
    assert (notice.level, notice.text) == ("error", "the server did not answer in time")


def _asks(permission: str, name: str = "per_1", **metadata: Any) -> tuple[str, dict[str, Any]]:
    given = {"id": name, "permission": permission, "patterns": ["*"], "metadata": metadata}
    return "permission.asked", {**given, "tool": {"messageID": "msg_2", "callID": "c"}}


def _call(tool: str, **given: Any) -> tuple[str, dict[str, Any]]:
    kind, properties = _bash("running")
    part = {**properties["part"], "tool": tool, "state": {"status": "running", "input": given}}
    return kind, {"part": part}


def _asked(*events: Any) -> list[ApprovalRequested]:
    info = {"id": _S, "directory": "/w", "version": "1"}
    begun = (("session.created", {"info": info}), *_user("msg_1"), _agent("msg_2"))
    messages = _served(*begun, *events)
    return [each for each in messages if isinstance(each, ApprovalRequested)]


@pytest.mark.parametrize(
    ("folder", "cwd"), [(None, "/w"), ("sub/dir", "/w/sub/dir"), ("/etc", "/etc")]
)
def test_an_approval_says_where_the_command_runs(folder: str | None, cwd: str) -> None:
    call = _call("bash", command="make", **({"workdir": folder} if folder else {}))
    asks = _asks("bash", command="make")

    for events in ((asks, call), (call, asks)):
        (asked,) = _asked(*events)
        assert (asked.kind, asked.command, asked.cwd) == ("command", "make", cwd)


def test_an_approval_of_a_tool_shows_what_it_is_called_with() -> None:
    (asked,) = _asked(_asks("tickets_find"), _call("tickets_find", number="T-7"))

    assert (asked.kind, asked.tool) == ("tool", "mcp__tickets__find")
    assert asked.detail["arguments"] == {"number": "T-7"}


_DIFF = """\
Index: /w/a.txt
===================================================================
--- /w/a.txt
+++ /w/a.txt
@@ -1,2 +1,2 @@
-old
+new
 end
"""


def test_an_edit_is_shown_without_the_names_of_its_file() -> None:
    (asked,) = _asked(_call("edit"), _asks("edit", filepath="/w/a.txt", diff=_DIFF))
    hunk = "@@ -1,2 +1,2 @@\n-old\n+new\n end\n"
    assert asked.detail["changes"] == [{"path": "/w/a.txt", "kind": "update", "diff": hunk}]

    created = _DIFF.replace("a.txt", "b.txt").replace("-1,2", "-0,0")
    (asked,) = _asked(_call("edit"), _asks("edit", filepath="a, b", diff=_DIFF + created))
    changes = [(each["path"], each["kind"]) for each in asked.detail["changes"]]
    assert changes == [("/w/a.txt", "update"), ("/w/b.txt", "add")]
    (asked,) = _asked(_call("edit"), _asks("edit", filepath="/w/a.txt"))
    assert asked.detail["changes"] == [{"path": "/w/a.txt", "kind": "update"}]


def test_reaching_another_folder_is_a_permission_of_its_own() -> None:
    (asked,) = _asked(_call("bash", command="ls /etc"), _asks("external_directory"))

    assert asked.kind == "permissions"
    assert asked.detail["permissions"] == {"external_directory": ["*"]}


def test_an_approval_whose_call_is_never_shown_is_asked_all_the_same() -> None:
    assert _asked(_asks("bash", command="make")) == []
    (asked,) = _asked(_asks("bash", command="make"), ("server.heartbeat", {}))

    assert asked.command == "make"


def test_a_call_that_waits_for_its_text_does_not_hold_up_its_approval() -> None:
    text = {"id": "prt_1", "messageID": "msg_2", "sessionID": _S, "type": "text", "text": ""}
    growing = ("message.part.updated", {"part": {**text, "time": {"start": 1}}})
    (asked,) = _asked(growing, _call("bash", command="make", workdir="x"), _asks("bash"))

    assert (asked.command, asked.cwd) == ("make", "/w/x")
