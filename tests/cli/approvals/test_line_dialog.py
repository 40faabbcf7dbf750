from __future__ import annotations

import io

from dragoman.cli.approvals.dialog import AnswerDialog
from dragoman.cli.approvals.line_dialog import LineDialog
from dragoman.cli.live.keys import Key, KeyReader
from dragoman.cli.live.live import LiveView
from dragoman.model.messages import ApprovalRequested, Text

COMMAND = ApprovalRequested(
    approval_id="a", kind="command", summary="rm -rf build", choices=["allow", "deny"]
)


def pressed(data: bytes) -> list[Key]:
    """One key after the other, as a person presses them."""
    return [key for byte in data for key in KeyReader().feed(bytes([byte]))]


def test_each_step_is_printed_once_and_what_is_typed_stands_on_a_line() -> None:
    out = io.StringIO()
    view = LiveView(out, colour=False, width=60, animate=False, interactive=True)
    answering = AnswerDialog(COMMAND)
    printing = LineDialog(view, answering, 240)
    view.ask(COMMAND)
    printing.go_on()
    printing.go_on()
    for key in pressed(b"wno\x7fot"):
        answering.press(key)
        printing.go_on()
    view.show(Text(text="Meanwhile."))
    for key in pressed(b" now\r"):
        answering.press(key)
        if answering.decision is None:
            printing.go_on()
    printing.end()

    assert out.getvalue() == (
        "? Run this command?\n  │ rm -rf build\n  │ directory: the session's directory\n"
        "\ny yes   n no   w no, and say why\nNo answer within 240 s counts as a denial.\n[y/n/w] \n"
        "\nWhat should the agent know or do instead? (Esc: back)\n"
        "\u203a no\b \bot\nMeanwhile.\n\u203a not now\n"
    )
