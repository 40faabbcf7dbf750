from __future__ import annotations

from dragoman.archive.transcripts import transcript
from dragoman.model.messages import Context, ToolCall, ToolResult

_OUTPUT = "\n".join(f"line {number}" for number in range(50))
_DIFF = "\n".join(f"+line {number}" for number in range(200))
_MESSAGES = [
    Context(role="developer", text="be kind"),
    ToolCall(call_id="a", tool="Bash", native_tool="shell", input={"command": "ls"}),
    ToolResult(call_id="a", output=_OUTPUT),
    ToolCall(
        call_id="b",
        tool="Edit",
        native_tool="apply_patch",
        input={"changes": [{"path": "a.py", "kind": "update", "diff": _DIFF}]},
    ),
]


def shown(*, full: bool, context: bool) -> str:
    made = transcript(full=full, context=context, colour=False, width=80)
    return (made.export(_MESSAGES) + made.finish()).decode()


def test_the_first_lines_are_shown_or_all() -> None:
    short, full = shown(full=False, context=False), shown(full=True, context=False)

    assert "  line 49" not in short
    assert "more lines" in short
    assert "  line 49" in full
    assert "+line 199" in full
    assert "more lines" not in full


def test_context_is_shown_on_demand() -> None:
    assert "be kind" not in shown(full=True, context=False)
    assert "be kind" in shown(full=False, context=True)
