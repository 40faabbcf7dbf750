"""Sessions worth looking at, as messages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Diff,
    Message,
    Notice,
    Plan,
    PlanStep,
    Prompt,
    RateLimits,
    RateWindow,
    SessionStarted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
    UsageReport,
)
from dragoman.model.usage import Usage

DIFF = "".join(
    f"{line}\n"
    for line in (
        "@@ -1,11 +1,16 @@",
        " from decimal import Decimal",
        " ",
        "-RATE = 0.2",
        '+RATE = Decimal("0.20")',
        " ",
        " ",
        "-def total(prices):",
        "-    return sum(prices) * (1 + RATE)",
        "+def total(prices: list[Decimal]) -> Decimal:",
        '+    """The sum with tax, rounded to cents."""',
        "+    whole = sum(prices, Decimal(0)) * (1 + RATE)",
        '+    return whole.quantize(Decimal("0.01"))',
        " ",
        " ",
        " def line(name, price):",
        '-    return f"{name}: {price}"',
        '+    return f"{name}: {price:.2f}"',
    )
)


ANSWER = """The totals drifted because prices were **floats**. They are `Decimal` now and are rounded once, at
the end.

| file | change |
|---|---|
| `shop/tax.py` | money as `Decimal`, rounded to cents |
| `tests/test_tax.py` | three times ten cents |

All 241 tests pass."""


def shop(session_id: str = "shop", at: datetime | None = None) -> list[Message]:
    """A bug found and fixed, with most of what an agent can say."""
    at = at or datetime.now(UTC) - timedelta(minutes=4)
    clock = iter(range(1000))

    def now() -> datetime:
        return at + timedelta(seconds=next(clock) * 3)

    def use(
        call: str, tool: str, given: dict[str, Any], output: str, exit_code: int | None = None
    ) -> list[Message]:
        return [
            ToolCall(
                session_id=session_id,
                turn_id="t1",
                at=now(),
                call_id=call,
                tool=tool,
                native_tool=tool,
                input=given,
            ),
            ToolResult(
                session_id=session_id,
                turn_id="t1",
                at=now(),
                call_id=call,
                output=output,
                exit_code=exit_code,
                is_error=bool(exit_code),
                duration_ms=1840,
                status="failed" if exit_code else "completed",
            ),
        ]

    steps = ["Reproduce the failing total", "Use decimals for money", "Run the whole test suite"]

    def plan(done: int) -> Plan:
        marks = [
            PlanStep(text, "completed" if n < done else "in_progress" if n == done else "pending")
            for n, text in enumerate(steps)
        ]
        return Plan(session_id=session_id, turn_id="t1", at=now(), steps=marks)

    edit = {
        "changes": [
            {"path": "shop/tax.py", "kind": "update", "diff": DIFF},
            {
                "path": "tests/test_tax.py",
                "kind": "add",
                "diff": "def test_cents():\n    assert total([Decimal('0.10')] * 3) == Decimal('0.36')\n",
            },
        ]
    }
    base: dict[str, Any] = {"session_id": session_id, "turn_id": "t1"}
    return [
        SessionStarted(
            session_id=session_id,
            at=now(),
            harness="agent",
            version="1.2",
            model="gpt-5.5",
            cwd="/home/ada/shop",
        ),
        TurnStarted(**base, at=now()),
        Prompt(
            **base,
            at=now(),
            text="The order total is off by a cent for some carts. Find out why and fix it.",
        ),
        Thinking(
            **base,
            at=now(),
            text="**Looking for float arithmetic**\n\nPrices are floats, so sums drift. Check `shop/tax.py` first.",
        ),
        Text(
            **base,
            at=now(),
            text="I'll reproduce it first, then look at how prices are added up.",
            phase="commentary",
        ),
        plan(0),
        *use(
            "c1",
            "Bash",
            {"command": "python -m pytest -q tests/test_tax.py"},
            "\x1b[31mF\x1b[0m                                    [100%]\n"
            "\x1b[31mFAILED\x1b[0m tests/test_tax.py::test_cents - "
            "assert 0.36000000000000004 == 0.36\n1 failed in 0.12s",
            1,
        ),
        *use("c2", "WebSearch", {"query": "python decimal quantize half even money"}, ""),
        *use(
            "c3",
            "mcp__tracker__get_issue",
            {"id": 481},
            '{"title": "Totals off by a cent", "state": "open", "labels": ["bug"]}',
        ),
        plan(1),
        *use("c4", "Edit", edit, "Done"),
        plan(2),
        *use(
            "c5",
            "Bash",
            {"command": "python -m pytest -q"},
            "\n".join(f"tests/test_{n}.py ......" for n in range(40))
            + "\n\x1b[32m241 passed\x1b[0m in 3.4s",
            0,
        ),
        Notice(
            **base,
            at=now(),
            level="warning",
            text="The model was overloaded; the request was sent again.",
            will_retry=True,
        ),
        UsageReport(
            session_id=session_id,
            at=now(),
            total=Usage(48200, 31000, 0, 2100, 800),
            last=Usage(38000, 30000, 0, 900, 200),
            context_window=272000,
        ),
        RateLimits(
            session_id=session_id,
            at=now(),
            windows=[
                RateWindow("5 hours", 37.0, datetime.now(UTC) + timedelta(hours=2, minutes=11)),
                RateWindow("weekly", 62.0, datetime.now(UTC) + timedelta(days=3)),
            ],
        ),
        Diff(
            **base,
            at=now(),
            unified="diff --git a/shop/tax.py b/shop/tax.py\n--- a/shop/tax.py\n+++ b/shop/tax.py\n"
            + DIFF,
        ),
        Text(**base, at=now(), phase="final_answer", message_id="f1", text=ANSWER),
        TurnEnded(**base, at=now(), outcome="completed", usage=Usage(48200, 31000, 0, 2100, 800)),
    ]


def asking(session_id: str = "shop") -> list[Message]:
    """A second turn that waits for a person."""
    base: dict[str, Any] = {"session_id": session_id, "turn_id": "t2"}
    return [
        TurnStarted(**base),
        Prompt(**base, text="Good. Now publish it to the staging server."),
        Text(
            **base,
            text="The change is committed. Publishing needs the network, so I have to ask.",
            phase="commentary",
        ),
        ApprovalRequested(
            **base,
            approval_id="a1",
            kind="command",
            tool="Bash",
            summary="./deploy.sh staging --tag 2026.11.3 && curl -fsS https://staging.shop.example/health",
            detail={
                "command": "./deploy.sh staging --tag 2026.11.3 && curl -fsS https://staging.shop.example/health",
                "cwd": "/home/ada/shop",
                "reason": "Deploying needs network access, which the sandbox does not give.",
            },
            choices=["allow", "allow_for_session", "deny", "cancel"],
        ),
    ]


def settled(session_id: str = "shop", decision: str = "allow") -> Message:
    return ApprovalSettled(session_id=session_id, turn_id="t2", approval_id="a1", decision=decision)


def long(count: int, session_id: str = "long") -> list[Message]:
    """Many entries of an ordinary mixture, in turns of fifty."""
    said: list[Message] = [
        SessionStarted(
            session_id=session_id, harness="agent", model="gpt-5.5", cwd="/home/ada/shop"
        )
    ]
    turn = 0
    while len(said) < count:
        turn += 1
        base: dict[str, Any] = {"session_id": session_id, "turn_id": f"t{turn}"}
        said += [
            TurnStarted(**base),
            Prompt(**base, text=f"Turn {turn}: look at module {turn} and tidy it up."),
        ]
        for step in range(15):
            call = f"c{turn}-{step}"
            said += [
                Text(
                    **base,
                    text=f"Step {step}: reading `module_{turn}.py` and **checking** what it needs.\n\n* one\n* two",
                ),
                ToolCall(
                    **base,
                    call_id=call,
                    tool="Bash",
                    native_tool="shell",
                    input={"command": f"rg -n 'def ' src/module_{turn}.py | head -{step}"},
                ),
                ToolResult(
                    **base,
                    call_id=call,
                    output="\n".join(f"{n}: def function_{n}(value):" for n in range(step + 3)),
                    exit_code=0,
                    duration_ms=40,
                ),
            ]
        said.append(TurnEnded(**base, outcome="completed", usage=Usage(1000, 500, 0, 100, 0)))
    return said[:count]
