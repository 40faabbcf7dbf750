from __future__ import annotations

from dragoman.cli.approvals.dialog import AnswerDialog
from dragoman.cli.live.cells import cells
from dragoman.cli.live.ink import Ink
from dragoman.cli.live.keys import Key
from dragoman.model.messages import ApprovalRequested

PLAIN = Ink(colour=False)
COMMAND = ApprovalRequested(
    approval_id="a",
    kind="command",
    choices=["allow", "allow_for_session", "allow_always", "deny", "cancel"],
)


def test_no_row_is_wider_than_the_screen_and_every_key_is_there() -> None:
    for width in (10, 20, 40, 60, 80, 100):
        rows = AnswerDialog(COMMAND).rows(PLAIN, width, 30, 60, is_cut=True)
        assert all(cells(row) <= width for row in rows), rows
        assert [row[0] for row in rows if row[0] in "yapnwcv"]
        assert all(f"{key} " in " ".join(rows) for key in "yapnwcv"), rows


def test_where_there_is_no_room_the_keys_remain() -> None:
    assert AnswerDialog(COMMAND).rows(PLAIN, 80, 1, 59.5, is_cut=True) == [
        "y a p n w c v  denied in 60 s"
    ]


def test_all_of_it_can_be_asked_for() -> None:
    answering = AnswerDialog(COMMAND)
    answering.press(Key("text", "v"))

    assert answering.wants_all
    assert answering.decision is None


def test_the_end_of_the_terminal_is_a_no_unless_something_is_typed() -> None:
    answering = AnswerDialog(COMMAND)
    answering.press(Key("text", "w"))
    answering.press(Key("text", "because"))
    answering.press(Key("end-of-file"))
    assert answering.decision is None

    other = AnswerDialog(COMMAND)
    other.press(Key("end-of-file"))
    assert other.decision is not None
    assert other.decision.word == "deny"
