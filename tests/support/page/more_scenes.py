"""More that a session can hold: a helper, a failure, a question, changes that wait for a yes."""

from __future__ import annotations

from typing import Any

from dragoman.model.messages import (
    ApprovalRequested,
    Compacted,
    Message,
    Notice,
    Prompt,
    SessionStarted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnError,
    TurnStarted,
)
from dragoman.model.usage import Usage
from support.page.scenes import DIFF

COMMAND = (
    "find . -type f -name '*.py' -not -path './.venv/*' -print0 | xargs -0 grep -nE 'float|round' "
    "| sort -t: -k1,1 -k2,2n | awk -F: '{print $1}' | uniq -c | sort -rn | head -20 && echo "
    + "a"
    * 90
)


def with_a_helper(session_id: str = "shop") -> list[Message]:
    """A turn that sends a helper, and fails in the end."""
    base: dict[str, Any] = {"session_id": session_id, "turn_id": "t9"}
    helper: dict[str, Any] = {"session_id": "helper", "turn_id": "h1"}
    return [
        TurnStarted(**base),
        Prompt(**base, text="Let somebody else look at the change, too."),
        ToolCall(
            **base,
            call_id="sent",
            tool="Task",
            native_tool="spawn_agent",
            input={"prompt": "Review shop/tax.py"},
        ),
        SessionStarted(
            session_id="helper",
            harness="agent",
            model="gpt-5.5-mini",
            parent_session_id=session_id,
            cwd="/home/ada/shop",
        ),
        TurnStarted(**helper),
        Prompt(**helper, text="Review shop/tax.py"),
        Thinking(**helper, text="**Reading**\n\nWhere is it rounded?"),
        ToolCall(
            **helper,
            call_id="seen",
            tool="Bash",
            native_tool="shell",
            input={"command": "git diff HEAD~1 -- shop/tax.py"},
        ),
        ToolResult(**helper, call_id="seen", output="+whole.quantize(…)", exit_code=0),
        Text(**helper, text="Looks **right**: it is rounded once."),
        TurnEnded(**helper, outcome="completed", usage=Usage(1000, 0, 0, 10, 0)),
        ToolResult(**base, call_id="sent", output="Looks right", duration_ms=9000),
        ToolCall(
            **base, call_id="far", tool="Bash", native_tool="shell", input={"command": COMMAND}
        ),
        ToolResult(**base, call_id="far", output="  12 shop/cart.py", exit_code=0),
        Notice(**base, level="info", text="The name of the session was changed."),
        Notice(**base, level="error", text="The stream was cut.", will_retry=True),
        Compacted(**base, summary="We looked at taxes."),
        TurnEnded(
            **base,
            outcome="failed",
            error=TurnError(
                kind="usage_limit", message="You have reached your limit.", retryable=False
            ),
        ),
    ]


def asking_for_changes(session_id: str = "shop") -> list[Message]:
    base: dict[str, Any] = {"session_id": session_id, "turn_id": "t3"}
    far = "/home/ada/shop/tests/a/path/that/goes/on/and/on/test_tax_rounding_of_totals.py"
    changes = [
        {"path": path, "kind": "update", "diff": DIFF}
        for path in ("/home/ada/shop/shop/tax.py", far)
    ]
    return [
        TurnStarted(**base),
        Prompt(**base, text="Now the same in the cart."),
        ApprovalRequested(
            **base,
            approval_id="edit",
            kind="edit",
            tool="Edit",
            summary="update shop/tax.py",
            detail={"changes": changes, "reason": "The folder is outside of the sandbox."},
            choices=["allow", "allow_for_session", "deny", "cancel"],
        ),
    ]


def asking_a_question(session_id: str = "shop") -> list[Message]:
    base: dict[str, Any] = {"session_id": session_id, "turn_id": "t3"}
    options = [
        {"label": "SQLite", "description": "one file, nothing to install"},
        {"label": "PostgreSQL", "description": "for many writers"},
    ]
    question = "Which database shall I use?"
    return [
        TurnStarted(**base),
        Prompt(**base, text="Keep the orders in a database."),
        ApprovalRequested(
            **base,
            approval_id="question",
            kind="question",
            summary=question,
            detail={"questions": [{"id": "db", "question": question, "options": options}]},
        ),
    ]
