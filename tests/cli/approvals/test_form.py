from __future__ import annotations

from typing import Any

from dragoman.cli.approvals.form import Send, fill_in, shown
from dragoman.cli.approvals.steps import Came, Menu
from dragoman.cli.live.ink import Ink
from dragoman.cli.live.keys import KeyReader
from dragoman.client.deciding import Decision
from dragoman.model.messages import ApprovalRequested

PLAIN = Ink(colour=False)
BACK = Menu(ApprovalRequested(approval_id="a", kind="elicitation"))
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Full name"},
        "size": {"type": "string", "enum": ["s", "m"], "default": "m"},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}},
    },
    "required": ["name"],
}


def after(data: bytes, schema: dict[str, Any] = SCHEMA) -> Came:
    came: Came = fill_in(schema, BACK)
    for key in KeyReader().feed(data):
        assert not isinstance(came, Decision)
        assert came is not None
        came = came.press(key) or came
    return came


def head(data: bytes) -> str:
    came = after(data)
    assert not isinstance(came, Decision)
    assert came is not None
    return "\n".join(came.head(PLAIN, 60))


def test_a_form_is_sent_when_every_field_fits() -> None:
    assert after(b"Ada\r\rx, y\ry") == Decision(
        word="allow", content={"name": "Ada", "size": "m", "tags": ["x", "y"]}, by="person"
    )


def test_what_need_not_be_given_may_be_left_out() -> None:
    assert after(b"Ada\r\r\ry") == Decision(
        word="allow", content={"name": "Ada", "size": "m"}, by="person"
    )


def test_a_field_says_what_it_wants() -> None:
    assert head(b"") == "1 of 3: Full name (name)\ntext, required (Esc: back)"
    assert "Enter accepts m" in head(b"Ada\r")
    assert " 1 s\n 2 m\n" in head(b"Ada\r")
    assert "Enter skips it" in head(b"Ada\r\r")


def test_what_does_not_fit_is_asked_for_again() -> None:
    assert "! name is required" in head(b"\r")
    assert "! size must be one of" in head(b"Ada\rxl\r")
    assert "2 of 3: size" in head(b"Ada\rxl\r")
    assert "3 of 3: tags" in head(b"Ada\rxl\r1\r")


def test_escape_goes_one_step_back() -> None:
    assert after(b"\x1b") is BACK
    assert "1 of 3" in head(b"Ada\r\x1b")
    assert "3 of 3" in head(b"Ada\r\r\r\x1b")


def test_a_filled_form_may_still_be_refused() -> None:
    assert after(b"Ada\r\r\rn") == Decision(word="deny", by="person")
    assert after(b"Ada\r\r\rc") == Decision(word="cancel", by="person")


def test_a_form_without_fields_is_only_sent_if_it_may_be_empty() -> None:
    assert after(b"y", {"type": "object"}) == Decision(word="allow", content={}, by="person")
    impossible = after(b"y", {"type": "object", "required": ["gone"]})
    assert isinstance(impossible, Send)
    assert "! gone is required" in impossible.head(PLAIN, 60)


def test_values_are_shown_harmless_and_on_one_line() -> None:
    assert shown("a\x1b[2J\nb") == "a␛[2J␊b"
    assert [shown(value) for value in (True, False, 3, ["x"])] == ["yes", "no", "3", '["x"]']
