from __future__ import annotations

from dragoman.archive.eliding import Elider
from dragoman.model.messages import Prompt, Text, ToolResult


def test_images_are_named_and_not_shown() -> None:
    data = "data:image/png;base64," + "A" * 4000
    seen = Elider().view(Prompt(text="look", images=["/tmp/a.png", data], line=7))

    assert seen == Prompt(text="look", images=["/tmp/a.png", "[image/png, 3 KB in line 7]"], line=7)


def test_data_in_an_output_is_named() -> None:
    output = "before " + "QUJD" * 500 + " after"
    seen = Elider().view(ToolResult(call_id="c", output=output, line=9))

    assert isinstance(seen, ToolResult)
    assert seen.output == "before [2,000 characters of data in line 9] after"


def test_what_was_put_out_before_is_not_shown_again() -> None:
    elider = Elider()
    output = "some words " * 300
    first = ToolResult(call_id="a", output=output, line=3)
    again = elider.view(first)
    second = elider.view(ToolResult(call_id="b", output=output, line=8))

    assert again is first
    assert isinstance(second, ToolResult)
    assert second.output == "[the same 3,300 characters as in line 3]"


def test_all_else_stays() -> None:
    elider = Elider()
    short = ToolResult(call_id="a", output="fine", line=1)

    assert elider.view(short) is short
    assert elider.view(Text(text="A" * 5000)) == Text(text="A" * 5000)
