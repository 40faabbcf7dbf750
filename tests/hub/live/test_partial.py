from __future__ import annotations

from dragoman.hub.live.partial import MOST, Partial
from dragoman.model.messages import Delta, Text, Thinking, ToolResult, TurnEnded


def delta(text: str, of: str = "text", name: str | None = "m1", session: str = "s") -> Delta:
    return Delta(of=of, text=text, message_id=name, session_id=session)  # pyright: ignore[reportArgumentType]


def texts(partial: Partial) -> list[tuple[str, str | None, str]]:
    found = [each.message for each in partial.snapshot()]
    return [(each.of, each.message_id, each.text) for each in found]


def test_each_thing_is_kept_from_its_beginning_until_its_whole_comes() -> None:
    partial = Partial()
    for each in (delta("a"), delta("x", "output", "c1"), delta("b"), delta("y", "output", "c2")):
        partial.add(each)
    assert texts(partial) == [("text", "m1", "ab"), ("output", "c1", "x"), ("output", "c2", "y")]

    partial.whole(ToolResult(session_id="s", call_id="c1", output="x"))
    partial.whole(Text(session_id="other", text="ab", message_id="m1"))
    assert texts(partial) == [("text", "m1", "ab"), ("output", "c2", "y")]
    partial.whole(Text(session_id="s", text="ab", message_id="m1"))
    assert texts(partial) == [("output", "c2", "y")]
    partial.whole(TurnEnded(session_id="s", outcome="completed"))
    assert texts(partial) == []


def test_a_text_without_an_id_is_ended_by_any_text_of_its_session() -> None:
    partial = Partial()
    partial.add(delta("a", name=None))
    partial.add(delta("b", "thinking", name="t"))
    partial.whole(Text(session_id="s", text="a", message_id="m9"))
    partial.whole(Thinking(session_id="s", text="b"))

    assert texts(partial) == []


def test_what_is_kept_is_bounded_and_says_so() -> None:
    partial = Partial()
    for number in range(3000):
        partial.add(delta(f"{number:<1000}"))
        partial.add(delta(f"{number:<1000}", "output", "c"))
    for number in range(200):
        partial.add(delta("z", "output", f"c{number}"))
    assert len(partial.snapshot()) == 64

    one = Partial()
    for number in range(3000):
        one.add(delta(f"{number:<1000}"))
        one.add(delta(f"{number:<1000}", "output", "c"))
    text, output = one.snapshot()
    assert text.is_cut
    assert output.is_cut
    assert len(text.message.text) == len(output.message.text) == MOST
    assert text.message.text.startswith("0 ")
    assert output.message.text.rstrip().endswith("2999")


def test_it_goes_on_from_what_another_one_had() -> None:
    first = Partial()
    first.add(delta("a"))

    second = Partial(first.snapshot())
    second.add(delta("b"))

    assert texts(second) == [("text", "m1", "ab")]
    assert texts(first) == [("text", "m1", "a")]
