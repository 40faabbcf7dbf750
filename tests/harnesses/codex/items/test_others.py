"""Items about searches, pictures, waiting and extensions."""

from __future__ import annotations

import msgspec
import pytest

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.codex.items.dispatch import tell_item
from dragoman.harnesses.codex.items.shape import ThreadItem
from dragoman.model.messages import ToolCall, ToolResult
from support.codex.items import tell, told

# The web, pictures, and waiting.


def test_a_search_is_told_when_it_is_known_what_it_looked_for(
    out: Output, session: SessionAssembler
) -> None:
    tell(
        session,
        '{"type":"webSearch","id":"ws","query":"","action":{"type":"other"}}',
        wire=True,
        done=False,
    )
    assert told(out) == []

    tell(
        session,
        '{"type":"webSearch","id":"ws","query":"\'rain\' in https://example.com/a","action":'
        '{"type":"findInPage","url":"https://example.com/a","pattern":"rain"}}',
        wire=True,
    )
    assert told(out) == [
        ToolCall(
            call_id="ws",
            tool="WebFetch",
            native_tool="web_search",
            input={"url": "https://example.com/a", "pattern": "rain"},
        ),
        ToolResult(call_id="ws"),
    ]


@pytest.mark.parametrize("path", ["/workspace/pic.png", "file:///workspace/pic.png"])
def test_a_picture_is_read_from_its_path(out: Output, session: SessionAssembler, path: str) -> None:
    tell(session, f'{{"type":"ImageView","id":"c","path":"{path}"}}')

    assert told(out) == [
        ToolCall(
            call_id="c",
            tool="Read",
            native_tool="view_image",
            input={"file_path": "/workspace/pic.png"},
        ),
        ToolResult(call_id="c"),
    ]


def test_a_picture_that_is_made_is_not_put_into_the_result(
    out: Output, session: SessionAssembler
) -> None:
    tell(
        session,
        '{"type":"imageGeneration","id":"ig","status":"completed","revisedPrompt":"a dot",'
        '"result":"iVBORw0KGgo=","savedPath":"/workspace/ig.png"}',
        wire=True,
    )

    assert told(out) == [
        ToolCall(
            call_id="ig",
            tool="image_generation",
            native_tool="image_generation",
            input={"prompt": "a dot"},
        ),
        ToolResult(call_id="ig", output="/workspace/ig.png"),
    ]


@pytest.mark.parametrize(
    ("row", "wire"),
    [
        ('{"type":"sleep","id":"c","durationMs":400}', True),
        ('{"type":"Sleep","id":"c","duration_ms":400}', False),
        ('{"type":"extension","kind":"clock.sleep","id":"c","durationMs":400}', True),
    ],
    ids=["app-server", "rollout", "extension"],
)
def test_sleeping_is_a_call(out: Output, session: SessionAssembler, row: str, wire: bool) -> None:
    tell(session, row, wire=wire)

    assert told(out) == [
        ToolCall(
            call_id="c",
            tool="clock.sleep",
            native_tool="clock.sleep",
            input={"duration_ms": 400},
        ),
        ToolResult(call_id="c", duration_ms=400),
    ]


def test_an_extension_goes_by_its_kind(out: Output, session: SessionAssembler) -> None:
    tell(
        session,
        '{"type":"Extension","kind":"browser.open","id":"c","arguments":{"url":"x"},'
        '"status":"failed"}',
    )

    assert told(out) == [
        ToolCall(call_id="c", tool="browser.open", native_tool="browser.open", input={"url": "x"}),
        ToolResult(call_id="c", is_error=True, status="failed"),
    ]


def test_sleep_as_an_extension_on_disk_has_its_duration() -> None:
    row = b'{"type":"Extension","kind":"clock.sleep","id":"call_000020","durationMs":400}'
    out = Output(audit=False)
    tell_item(
        SessionAssembler(out, "codex"), "item", msgspec.json.decode(row, type=ThreadItem), done=True
    )

    result = out.take_messages()[-1]
    assert isinstance(result, ToolResult)
    assert result.duration_ms == 400
